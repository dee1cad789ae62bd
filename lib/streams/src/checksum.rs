// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The Internet checksum (RFC 1071) of packets.

use std::net::IpAddr;

use crate::decode::{Packet, Transport, word};

/// The sum of bytes as words of 16 bits in network order, with its carries added back.
fn sum(bytes: &[u8]) -> u32 {
    // Words of any order have the same sum but for the order of its bytes, and larger words have the same remainder by
    // 0xFFFF (RFC 1071, section 2).
    let (words, rest) = bytes.as_chunks::<4>();
    let mut sum: u64 = words.iter().map(|four| u64::from(u32::from_ne_bytes(*four))).sum();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    sum += u64::from(u32::from_ne_bytes(last));
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    u16::from_be_bytes((sum as u16).to_ne_bytes()).into()
}

/// The checksum that a header has, whose field for it is zero.
pub(crate) fn of(header: &[u8]) -> u16 {
    !(sum(header) as u16)
}

/// The sum of an address.
fn of_address(address: IpAddr) -> u32 {
    match address {
        IpAddr::V4(address) => sum(&address.octets()),
        IpAddr::V6(address) => sum(&address.octets()),
    }
}

impl Packet<'_> {
    /// Whether the checksum of the transport header is right: of TCP, of UDP unless it says that there is none, of ICMP
    /// and ICMPv6. None: there is no such header.
    #[must_use]
    pub fn has_right_checksum(&self) -> Option<bool> {
        let bytes = match self.transport {
            Transport::Tcp(_) | Transport::Icmp(..) => self.body,
            Transport::Udp => self.body.get(..8 + self.payload.len())?,
            Transport::Other => return None,
        };
        if self.transport == Transport::Udp && self.source.is_ipv4() && word(bytes, 6) == Some(0) {
            return Some(true);
        }
        // The pseudo header, which ICMP over IPv4 does not have.
        let pseudo = if self.protocol == 1 {
            0
        } else {
            let length = bytes.len() as u32;
            let length = (length & 0xFFFF) + (length >> 16);
            of_address(self.source) + of_address(self.destination) + u32::from(self.protocol) + length
        };
        let sum = sum(bytes) + pseudo;
        Some(sum > 0 && sum.is_multiple_of(0xFFFF))
    }

    /// Whether the checksum of the header of IPv4 is right. None: the packet is of IPv6.
    #[must_use]
    pub fn has_right_ip_checksum(&self) -> Option<bool> {
        let sum = sum(self.ip);
        self.source.is_ipv4().then_some(sum > 0 && sum.is_multiple_of(0xFFFF))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_rfc_1071() {
        // The example of section 3 of the RFC.
        assert_eq!(sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), 0xddf2);
        // An odd number of bytes is padded with a zero.
        assert_eq!((sum(&[1]), sum(&[0, 0, 1]), sum(&[0xFF; 6])), (0x0100, 0x0100, 0xFFFF));
    }
}
