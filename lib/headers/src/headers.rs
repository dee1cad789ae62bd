// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Which headers a frame has, and where.

use crate::table::{FIELDS, Field, Header, Layer, Part};

/// How many layers there are.
const LAYERS: usize = Layer::Data as usize + 1;

/// Which headers a frame has and where they begin: 16 bytes, which hold nothing of the frame itself.
///
/// Fields are read from the frame when they are asked for. The frame that is given then must be the one that was parsed, in the state to which
/// edits have brought it. With another one the answers mean nothing, but nothing worse happens.
#[derive(Clone, Copy, Debug, Default)]
pub struct Headers {
    /// A bit for each [`Part`].
    parts: u32,
    /// Where layers begin: at even places, as far as they are there.
    at: [u8; LAYERS],
    /// Bytes of TCP's payload.
    pub(crate) tcp_len: u16,
}

/// Where the parser and edits find a field.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// The bit of its part; 0 when the field does not stand in the frame.
    mask: u32,
    layer: Layer,
    /// The first byte of the 16-bit words that it has a share in, from the layer's.
    byte: u8,
    /// How many bytes these words are: 2, 4, 6 or 16.
    pub(crate) bytes: u8,
    /// How far its lowest bit lies above theirs.
    pub(crate) shift: u8,
    bits: u8,
}

impl Place {
    /// The bits of the field, at the bottom.
    pub(crate) const fn ones(self) -> u128 {
        u128::MAX >> (128 - self.bits as u32)
    }
}

/// By [`Field`].
static PLACES: [Place; FIELDS.len()] = {
    let mut places = [Place { mask: 0, layer: Layer::Eth, byte: 0, bytes: 0, shift: 0, bits: 1 }; FIELDS.len()];
    let mut field = 0;
    while field < places.len() {
        let row = &FIELDS[field];
        if let (Some(part), Some((layer, first))) = (row.part, row.at) {
            let (first, end) = (first as u32 / 16 * 16, first as u32 + row.bits);
            let words = (end - first).div_ceil(16);
            places[field] = Place {
                mask: 1 << part as u32,
                layer,
                byte: (first / 8) as u8,
                bytes: (words * 2) as u8,
                shift: (first + words * 16 - end) as u8,
                bits: row.bits as u8,
            };
        }
        field += 1;
    }
    places
};

impl Headers {
    /// Whether the frame has this header.
    #[inline]
    pub fn has(&self, header: Header) -> bool {
        self.has_part(header.row().part)
    }

    /// Whether the frame has this field; it has no metadata.
    #[inline]
    pub fn has_field(&self, field: Field) -> bool {
        field.row().part.is_some_and(|part| self.has_part(part))
    }

    /// A field of the frame, in its low bits; none when the frame does not have it, and for metadata, which do not stand in the frame.
    ///
    /// ```
    /// use penstock_headers::{Field, Headers};
    /// let frame = *b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x88\xb5";
    /// let headers = Headers::parse(&frame);
    /// assert_eq!(headers.get(&frame, Field::EthType), Some(0x88b5));
    /// assert_eq!(headers.get(&frame, Field::IpSrc), None);
    /// ```
    #[inline]
    pub fn get(&self, frame: &[u8], field: Field) -> Option<u128> {
        let place = PLACES[field as usize];
        if self.parts & place.mask == 0 {
            return self.computed(field);
        }
        let words: u128 = match *frame.get(self.start(place)..)?.get(..place.bytes.into())? {
            [a, b] => u16::from_be_bytes([a, b]).into(),
            [a, b, c, d] => u32::from_be_bytes([a, b, c, d]).into(),
            [a, b, c, d, e, f] => u64::from_be_bytes([0, 0, a, b, c, d, e, f]).into(),
            ref bytes => u128::from_be_bytes(bytes.try_into().ok()?),
        };
        Some(words >> place.shift & place.ones())
    }

    /// The length of TCP's payload is the one field that does not stand in the frame.
    #[inline]
    fn computed(&self, field: Field) -> Option<u128> {
        (field == Field::TcpLen && self.has_part(Part::Tcp)).then_some(self.tcp_len.into())
    }

    /// The field's place, when it stands in the frame.
    pub(crate) fn place(&self, field: Field) -> Option<Place> {
        let place = PLACES[field as usize];
        (self.parts & place.mask != 0).then_some(place)
    }

    /// Where in the frame the place begins.
    #[inline]
    pub(crate) fn start(&self, place: Place) -> usize {
        self.at(place.layer) + usize::from(place.byte)
    }

    #[inline]
    pub(crate) fn has_part(&self, part: Part) -> bool {
        self.parts & 1 << part as u32 != 0
    }

    #[inline]
    pub(crate) fn set_part(&mut self, part: Part, there: bool) {
        self.parts = self.parts & !(1 << part as u32) | u32::from(there) << part as u32;
    }

    #[inline]
    pub(crate) fn at(&self, layer: Layer) -> usize {
        self.at[layer as usize].into()
    }

    #[inline]
    pub(crate) fn set_at(&mut self, layer: Layer, at: u8) {
        self.at[layer as usize] = at;
    }

    /// So many 32-bit words of payload are there; more than eight are eight.
    #[inline]
    pub(crate) fn set_data(&mut self, words: usize) {
        self.parts |= ((1 << words.min(8)) - 1) << Part::Data0 as u32;
    }

    /// Layers from this one on have moved, also those that are not there: their places mean nothing.
    pub(crate) fn move_from(&mut self, layer: Layer, by: i8) {
        for at in &mut self.at[layer as usize..] {
            *at = at.wrapping_add_signed(by);
        }
    }
}
