// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Finds the headers of a frame.

use crate::{
    headers::Headers,
    table::{Layer, Part},
};

/// How many bytes of a frame the parser sees: two beats of the card's streams.
pub const WINDOW: usize = 128;

/// How many IPv6 extension headers it passes.
pub const EXTENSIONS: usize = 4;

/// Types of frames.
pub(crate) mod ether_type {
    pub(crate) const IP: u16 = 0x0800;
    pub(crate) const IP6: u16 = 0x86DD;
    /// IEEE 802.1Q.
    pub(crate) const VLAN: u16 = 0x8100;
    /// IEEE 802.1ad, a provider's tag.
    pub(crate) const PROVIDER: u16 = 0x88A8;
    /// RFC 3032, unicast.
    pub(crate) const MPLS: u16 = 0x8847;
}

/// Protocols over IP.
mod protocol {
    pub(super) const HOP_BY_HOP: u8 = 0;
    pub(super) const ICMP: u8 = 1;
    pub(super) const TCP: u8 = 6;
    pub(super) const UDP: u8 = 17;
    pub(super) const ROUTING: u8 = 43;
    pub(super) const FRAGMENT: u8 = 44;
    pub(super) const ICMP6: u8 = 58;
    pub(super) const DESTINATION: u8 = 60;

    /// Whether the parser passes it.
    pub(super) fn is_extension(proto: u8) -> bool {
        matches!(proto, HOP_BY_HOP | ROUTING | FRAGMENT | DESTINATION)
    }
}

impl Headers {
    /// Finds the headers of a frame: Ethernet, without its FCS. Any bytes are valid input: a damaged header is not
    /// present.
    pub fn parse(frame: &[u8]) -> Headers {
        let mut headers = Headers::default();
        headers.find(frame);
        headers
    }

    /// The same, with its final place in memory.
    #[inline]
    pub fn find(&mut self, frame: &[u8]) {
        *self = Headers::default();
        let mut parser = Parser { seen: &frame[..frame.len().min(WINDOW)], end: frame.len(), found: self };
        // The place of the end gives no information beyond the recorded fields.
        let _ = parser.ethernet();
    }
}

struct Parser<'a> {
    /// The bytes within the window.
    seen: &'a [u8],
    /// The end of the frame and, once IP is found, of its packet: padding belongs to no header.
    end: usize,
    found: &'a mut Headers,
}

impl<'a> Parser<'a> {
    #[inline]
    fn ethernet(&mut self) -> Option<()> {
        let mut at = 12;
        let mut kind = self.word(at)?;
        self.found.set_part(Part::Eth, true);
        for tag in [Part::Vlan, Part::Vlan2] {
            if kind != ether_type::VLAN && kind != ether_type::PROVIDER {
                break;
            }
            kind = self.word(at + 4)?;
            self.found.set_part(tag, true);
            at += 4;
        }
        self.found.set_part(Part::Type, true);
        self.found.set_at(Layer::Kind, at as u8);
        at += 2;
        match kind {
            ether_type::IP => self.ip(at),
            ether_type::IP6 => self.ip6(at),
            ether_type::MPLS => self.mpls(at),
            _ => None,
        }
    }

    /// One label. Only the routers that agreed on it know the protocol after it; all others decide by the version of IP
    /// (RFC 4928).
    fn mpls(&mut self, at: usize) -> Option<()> {
        let [_, _, bottom, _] = self.bytes(at)?;
        self.found.set_part(Part::Mpls, true);
        self.found.set_at(Layer::Mpls, at as u8);
        if bottom & 1 == 0 {
            return None;
        }
        match self.seen.get(at + 4)? >> 4 {
            4 => self.ip(at + 4),
            6 => self.ip6(at + 4),
            _ => None,
        }
    }

    #[inline]
    fn ip(&mut self, at: usize) -> Option<()> {
        let header = self.bytes::<20>(at)?;
        let size = usize::from(header[0] & 15) * 4;
        let len = usize::from(u16::from_be_bytes([header[2], header[3]]));
        if header[0] >> 4 != 4 || size < 20 || len < size || self.end - at < len {
            return None;
        }
        self.network(Part::Ip, at, at + len);
        self.found.set_at(Layer::Proto, at as u8 + 9);
        let (more, offset) = (header[6] & 0x20 != 0, u16::from_be_bytes([header[6] & 0x1F, header[7]]));
        self.found.set_part(Part::Fragment, more || offset != 0);
        match header[9] {
            _ if offset != 0 => None,
            protocol::TCP => self.tcp(at + size),
            protocol::UDP => self.udp(at + size),
            protocol::ICMP => self.icmp(at + size),
            _ => None,
        }
    }

    fn ip6(&mut self, at: usize) -> Option<()> {
        let header = self.bytes::<40>(at)?;
        let len = 40 + usize::from(u16::from_be_bytes([header[4], header[5]]));
        if header[0] >> 4 != 6 || self.end - at < len {
            return None;
        }
        self.network(Part::Ip6, at, at + len);
        let (mut proto, mut proto_at, mut at) = (header[6], at + 6, at + 40);
        let (mut passed, mut offset) = (0, 0);
        while protocol::is_extension(proto) && offset == 0 {
            if passed == EXTENSIONS {
                return self.hidden();
            }
            let header = self.within::<8>(at)?;
            let size = match proto {
                protocol::FRAGMENT => 8,
                _ => 8 + usize::from(header[1]) * 8,
            };
            if self.end - at < size {
                return None;
            }
            match proto {
                protocol::FRAGMENT => {
                    let word = u16::from_be_bytes([header[2], header[3]]);
                    offset = word >> 3;
                    if offset != 0 || word & 1 != 0 {
                        self.found.set_part(Part::Fragment, true);
                    }
                }
                protocol::ROUTING if header[3] != 0 => self.found.set_part(Part::Routed, true),
                _ => {}
            }
            (proto, proto_at, at) = (header[0], at, at + size);
            passed += 1;
        }
        // In a later fragment, the number may be that of an extension header in the first one, so the next header is
        // unknown.
        if protocol::is_extension(proto) {
            return None;
        }
        self.found.set_part(Part::Proto, true);
        self.found.set_at(Layer::Proto, proto_at as u8);
        match proto {
            _ if offset != 0 => None,
            protocol::TCP => self.tcp(at),
            protocol::UDP => self.udp(at),
            protocol::ICMP6 => self.icmp(at),
            _ => None,
        }
    }

    #[inline]
    fn network(&mut self, part: Part, at: usize, end: usize) {
        self.end = end;
        self.found.set_part(part, true);
        self.found.set_part(Part::Net, true);
        self.found.set_part(Part::Sums, true);
        self.found.set_at(Layer::Net, at as u8);
    }

    #[inline]
    fn tcp(&mut self, at: usize) -> Option<()> {
        let header = self.within::<20>(at)?;
        let size = usize::from(header[12] >> 4) * 4;
        if size < 20 || self.end - at < size {
            return None;
        }
        self.transport(Part::Tcp, at);
        self.found.tcp_len = (self.end - at - size) as u16;
        self.payload(at + size, self.end)
    }

    #[inline]
    fn udp(&mut self, at: usize) -> Option<()> {
        let header = self.within::<8>(at)?;
        let len = usize::from(u16::from_be_bytes([header[4], header[5]]));
        // A first fragment has the length of the whole.
        if len < 8 || self.end - at < len && !self.found.has_part(Part::Fragment) {
            return None;
        }
        self.transport(Part::Udp, at);
        self.payload(at + 8, self.end.min(at + len))
    }

    /// ICMP and ICMPv6: all messages have eight bytes.
    fn icmp(&mut self, at: usize) -> Option<()> {
        self.within::<8>(at)?;
        self.found.set_part(Part::Icmp, true);
        self.found.set_at(Layer::L4, at as u8);
        Some(())
    }

    #[inline]
    fn transport(&mut self, part: Part, at: usize) {
        self.found.set_part(part, true);
        self.found.set_part(Part::L4, true);
        self.found.set_at(Layer::L4, at as u8);
    }

    #[inline]
    fn payload(&mut self, at: usize, end: usize) -> Option<()> {
        self.found.set_at(Layer::Data, at as u8);
        self.found.set_data(end.min(WINDOW).saturating_sub(at) / 4);
        Some(())
    }

    /// The limits hide a header, and so perhaps a checksum: treat the header as not present.
    fn hidden<T>(&mut self) -> Option<T> {
        self.found.set_part(Part::Sums, false);
        None
    }

    /// The bytes of a header that must be within the packet. The window may hide them.
    #[inline]
    fn within<const N: usize>(&mut self, at: usize) -> Option<&'a [u8; N]> {
        if self.end - at < N {
            return None;
        }
        match self.bytes(at) {
            Some(bytes) => Some(bytes),
            None => self.hidden(),
        }
    }

    #[inline]
    fn bytes<const N: usize>(&self, at: usize) -> Option<&'a [u8; N]> {
        self.seen.get(at..)?.first_chunk()
    }

    #[inline]
    fn word(&self, at: usize) -> Option<u16> {
        self.bytes(at).copied().map(u16::from_be_bytes)
    }
}
