// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Changes frames, and keeps their checksums right.

use thiserror::Error;

use crate::{
    checksum,
    chunk::Chunk,
    headers::Headers,
    parse::ether_type,
    table::{Field, Layer, Part},
};

/// Why a frame cannot be changed so. Nothing has been changed then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum EditError {
    #[error("the frame has no {}", .0.name())]
    Missing(Field),
    #[error("{} cannot be set: it says where the frame came from or what the rest of it is", .0.name())]
    Fixed(Field),
    #[error("{} cannot be set: a checksum over it lies behind what the parser sees", .0.name())]
    Hidden(Field),
    #[error("{} has {} bits and {} has {}: fields of one width can be swapped", .0.name(), .0.bits(), .1.name(), .1.bits())]
    Widths(Field, Field),
    #[error("the frame has two VLAN tags: there is no place for another")]
    TwoTags,
    #[error("the frame has no VLAN tag")]
    NoTag,
    #[error("only IPv4 and IPv6 without an MPLS label can be given one")]
    NoPlaceForLabel,
    #[error("the frame has no MPLS label, or not just one before IPv4 or IPv6")]
    NoLabel,
}

/// The offset of tags: after the addresses.
const TAGS: usize = 12;
/// The size of a VLAN tag, and of an MPLS label.
const TAG: i8 = 4;
/// An MPLS label's bit that marks the last label.
const BOTTOM: u32 = 1 << 8;

impl Headers {
    /// Sets a field to the low bits of `value`. Checksums that cover it are as they were until
    /// [`repair`](Headers::repair).
    ///
    /// ```
    /// use penstock_headers::{EditError, Field, Headers};
    /// let mut frame = *b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x88\xb5";
    /// let mut headers = Headers::parse(&frame);
    /// headers.set(&mut frame, Field::EthDst, 0x0200_0000_0009)?;
    /// assert_eq!(frame[..6], *b"\x02\0\0\0\0\x09");
    /// assert_eq!(headers.set(&mut frame, Field::IpTtl, 1), Err(EditError::Missing(Field::IpTtl)));
    /// # Ok::<(), EditError>(())
    /// ```
    pub fn set(&mut self, frame: &mut [u8], field: Field, value: u128) -> Result<(), EditError> {
        let place = self.place(field)?;
        let write =
            |chunk: Chunk, value, frame: &mut _| chunk.write(self, frame, value).ok_or(EditError::Missing(field));
        let mut added = write(place.low, value as u64, frame)?;
        if let Some(high) = place.high {
            added += write(high, (value >> 64) as u64, frame)?;
        }
        let covered = place.sums.map(|when| when.holds(self));
        for (sum, covered) in self.added.iter_mut().zip(covered) {
            if covered {
                *sum = checksum::fold(u32::from(*sum) + added);
            }
        }
        Ok(())
    }

    /// Repairs the checksums of IPv4, TCP, UDP, ICMP and ICMPv6 for the edits since the frame was parsed or last
    /// repaired (RFC 1624): a wrong checksum stays wrong. A UDP checksum of 0 means that the datagram has no checksum,
    /// and stays 0. Edits that cancel each other change nothing: a checksum that represents 0 as 0xFFFF stays so, as in
    /// hardware (lib/rtl/deparser.sv), which takes all edits of a frame as one.
    #[inline]
    pub fn repair(&mut self, frame: &mut [u8]) {
        if self.added != [0; 2] {
            self.repair_changed(frame);
        }
    }

    fn repair_changed(&mut self, frame: &mut [u8]) {
        let [net, l4] = std::mem::take(&mut self.added);
        if self.has_part(Part::Ip) {
            repair_at(frame, self.at(Layer::Net) + 10, net);
        }
        let start = self.at(Layer::L4);
        if self.has_part(Part::Tcp) {
            repair_at(frame, start + 16, l4);
        } else if self.has_part(Part::Udp) {
            repair_udp(frame, start + 6, l4);
        } else if self.has_part(Part::Icmp) {
            repair_at(frame, start + 2, l4);
        }
    }

    /// Gives two fields of one width each other's values.
    pub fn swap(&mut self, frame: &mut [u8], one: Field, other: Field) -> Result<(), EditError> {
        if one.bits() != other.bits() {
            return Err(EditError::Widths(one, other));
        }
        self.can_set(one)?;
        self.can_set(other)?;
        let was = self.get(frame, one).ok_or(EditError::Missing(one))?;
        let becomes = self.get(frame, other).ok_or(EditError::Missing(other))?;
        self.set(frame, one, becomes)?;
        self.set(frame, other, was)
    }

    /// Puts a VLAN tag before the others: 802.1Q for the first, 802.1ad, a provider's, before another. `tci` is
    /// priority, drop eligible bit and VLAN. There may be two.
    pub fn push_vlan(&mut self, frame: &mut Vec<u8>, tci: u16) -> Result<(), EditError> {
        if self.has_part(Part::Vlan2) {
            return Err(EditError::TwoTags);
        }
        let tagged = self.has_part(Part::Vlan);
        let kind = if tagged { ether_type::PROVIDER } else { ether_type::VLAN };
        insert(frame, TAGS, u32::from(kind) << 16 | u32::from(tci));
        self.set_part(if tagged { Part::Vlan2 } else { Part::Vlan }, true);
        self.move_from(Layer::Kind, TAG);
        Ok(())
    }

    /// Removes the outer VLAN tag. A third one that the parser has not seen stays unseen.
    pub fn pop_vlan(&mut self, frame: &mut Vec<u8>) -> Result<(), EditError> {
        if !self.has_part(Part::Vlan) {
            return Err(EditError::NoTag);
        }
        remove(frame, TAGS);
        self.set_part(if self.has_part(Part::Vlan2) { Part::Vlan2 } else { Part::Vlan }, false);
        self.move_from(Layer::Kind, -TAG);
        Ok(())
    }

    /// Puts an MPLS label before IPv4 or IPv6: the low 20 bits of `label`, traffic class 0, the packet's time to live
    /// (RFC 3443). There may be one.
    pub fn push_mpls(&mut self, frame: &mut Vec<u8>, label: u32) -> Result<(), EditError> {
        let ttl = [Field::IpTtl, Field::Ip6Hops].into_iter().find_map(|field| self.get(frame, field));
        let Some(ttl) = ttl.filter(|_| !self.has_part(Part::Mpls)) else { return Err(EditError::NoPlaceForLabel) };
        self.set_type(frame, ether_type::MPLS);
        let at = self.at(Layer::Kind) + 2;
        insert(frame, at, label << 12 | BOTTOM | ttl as u32);
        self.set_part(Part::Mpls, true);
        self.move_from(Layer::Net, TAG);
        self.set_at(Layer::Mpls, at as u8);
        Ok(())
    }

    /// Removes an MPLS label that is the only one before IPv4 or IPv6. The packet's time to live does not change.
    pub fn pop_mpls(&mut self, frame: &mut Vec<u8>) -> Result<(), EditError> {
        if !self.has_part(Part::Mpls) || !self.has_part(Part::Net) {
            return Err(EditError::NoLabel);
        }
        self.set_type(frame, if self.has_part(Part::Ip) { ether_type::IP } else { ether_type::IP6 });
        remove(frame, self.at(Layer::Mpls));
        self.set_part(Part::Mpls, false);
        self.move_from(Layer::Net, -TAG);
        Ok(())
    }

    /// Whether [`set`](Headers::set) would set the field.
    pub fn can_set(&self, field: Field) -> Result<(), EditError> {
        self.place(field).map(|_| ())
    }

    fn set_type(&self, frame: &mut [u8], kind: u16) {
        write(frame, self.at(Layer::Kind), kind);
    }
}

fn repair_at(frame: &mut [u8], at: usize, added: u16) {
    if let Some(checksum) = read(frame, at) {
        write(frame, at, checksum::repair(checksum, added));
    }
}

/// UDP's 0 means no checksum, so a result of 0 is written in its other form (RFC 768).
fn repair_udp(frame: &mut [u8], at: usize, added: u16) {
    if let Some(checksum @ 1..) = read(frame, at) {
        let repaired = checksum::repair(checksum, added);
        write(frame, at, if repaired == 0 { 0xFFFF } else { repaired });
    }
}

fn read(frame: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(frame.get(at..at + 2)?.try_into().ok()?))
}

fn write(frame: &mut [u8], at: usize, word: u16) {
    if let Some(bytes) = frame.get_mut(at..at + 2) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
}

fn insert(frame: &mut Vec<u8>, at: usize, tag: u32) {
    let at = at.min(frame.len());
    frame.splice(at..at, tag.to_be_bytes());
}

fn remove(frame: &mut Vec<u8>, at: usize) {
    frame.drain(at.min(frame.len())..(at + TAG as usize).min(frame.len()));
}
