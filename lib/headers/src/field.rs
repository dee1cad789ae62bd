// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Fields and headers by name.

use crate::table::{FIELDS, Field, HEADERS, Header, Layer, Part, SINKS};

/// A field's row of the table.
pub(crate) struct FieldRow {
    pub(crate) field: Field,
    pub(crate) name: &'static str,
    pub(crate) bits: u32,
    /// The part that the frame must have; None: the field is metadata and not in the frame.
    pub(crate) part: Option<Part>,
    /// Its first bit, counted from a layer's first byte in network order; none: the parser computes it.
    pub(crate) at: Option<(Layer, u16)>,
    pub(crate) set: bool,
    /// Number of its lowest word in hardware.
    pub(crate) word: u8,
    pub(crate) what: &'static str,
}

/// A header's row of the table.
pub(crate) struct HeaderRow {
    pub(crate) header: Header,
    pub(crate) part: Part,
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
}

impl Field {
    /// All fields, in the order of the documentation; `Field::ALL[field as usize]` is `field`.
    pub const ALL: [Field; FIELDS.len()] = {
        let mut all = [Field::Port; FIELDS.len()];
        let mut at = 0;
        while at < all.len() {
            all[at] = FIELDS[at].field;
            at += 1;
        }
        all
    };

    /// The field of that name.
    ///
    /// ```
    /// use penstock_headers::Field;
    /// assert_eq!(Field::parse("ip.src"), Some(Field::IpSrc));
    /// assert_eq!(Field::parse("ip.source"), None);
    /// ```
    pub fn parse(name: &str) -> Option<Field> {
        FIELDS.iter().find(|row| row.name == name).map(|row| row.field)
    }

    /// Its name: `ip.src`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Its width: 1 to 128 bits.
    pub fn bits(self) -> u32 {
        self.row().bits
    }

    /// Whether edits may set it. Other fields determine the format of the rest of the frame, or its source.
    pub fn can_be_set(self) -> bool {
        self.row().set
    }

    /// The sink to which hardware's edits write a word of it, the lowest is word 0: a number of fields_pkg.sv's sinks.
    /// None for fields that may not be set, and for words that the field does not have.
    ///
    /// ```
    /// use penstock_headers::Field;
    /// // IPv4 addresses lie where words of IPv6 addresses do.
    /// assert_eq!(Field::IpSrc.sink(0), Field::Ip6Src.sink(2));
    /// assert_eq!(Field::IpSrc.sink(1), None);
    /// assert_eq!(Field::IpProto.sink(0), None);
    /// ```
    pub fn sink(self, word: u8) -> Option<u8> {
        let first = SINKS[self as usize].filter(|_| u32::from(word) * 32 < self.bits())?;
        Some(first + word)
    }

    /// Whether it is metadata (`port`, `time`) and not in the frame.
    pub fn is_metadata(self) -> bool {
        self.row().part.is_none()
    }

    /// The header that a frame must have for the field to be there: `ip` for `ip.src`. None for metadata, Ethernet and
    /// what both TCP and UDP have.
    pub fn header(self) -> Option<Header> {
        let part = self.row().part?;
        HEADERS.iter().find(|row| row.part == part).map(|row| row.header)
    }

    /// The part of a frame that must be there for the field to be: of `l4.sport` TCP or UDP. None for metadata.
    pub fn part(self) -> Option<Part> {
        self.row().part
    }

    /// The number by which hardware chooses the field's lowest 32 bits (`WORDS` in lib/headers/fields_pkg.sv); the
    /// words above have those behind it. Fields in one place share them: `tcp.sport` and `l4.sport`.
    pub fn word(self) -> u8 {
        self.row().word
    }

    /// A short description.
    pub fn what(self) -> &'static str {
        self.row().what
    }

    pub(crate) fn row(self) -> &'static FieldRow {
        &FIELDS[self as usize]
    }
}

impl Header {
    /// All headers; `Header::ALL[header as usize]` is `header`.
    pub const ALL: [Header; HEADERS.len()] = {
        let mut all = [Header::Vlan; HEADERS.len()];
        let mut at = 0;
        while at < all.len() {
            all[at] = HEADERS[at].header;
            at += 1;
        }
        all
    };

    /// The header of that name.
    pub fn parse(name: &str) -> Option<Header> {
        HEADERS.iter().find(|row| row.name == name).map(|row| row.header)
    }

    /// Its name: `vlan2`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The part of a frame that it is.
    pub fn part(self) -> Part {
        self.row().part
    }

    /// A short description.
    pub fn what(self) -> &'static str {
        self.row().what
    }

    pub(crate) fn row(self) -> &'static HeaderRow {
        &HEADERS[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_in_the_order_of_their_enums() {
        assert!(Field::ALL.iter().enumerate().all(|(at, field)| *field as usize == at));
        assert!(Header::ALL.iter().enumerate().all(|(at, header)| *header as usize == at));
    }

    #[test]
    fn names_lead_back() {
        assert!(Field::ALL.iter().all(|field| Field::parse(field.name()) == Some(*field)));
        assert!(Header::ALL.iter().all(|header| Header::parse(header.name()) == Some(*header)));
    }

    #[test]
    fn fields_know_their_headers() {
        assert_eq!(Field::IpSrc.header(), Some(Header::Ip));
        assert_eq!(Field::TcpLen.header(), Some(Header::Tcp));
        for field in [Field::Port, Field::EthType, Field::L4Sport, Field::Data0] {
            assert_eq!(field.header(), None);
        }
    }
}
