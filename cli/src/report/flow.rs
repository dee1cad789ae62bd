// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The flow that a frame belongs to, read from its bytes.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const VLAN: u16 = 0x8100;
const SERVICE_VLAN: u16 = 0x88A8;
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86DD;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// Frames of one flow stay in order; docs/architecture.md, "Flow hash", defines a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Flow {
    /// Two hosts, and their ports where the protocol has them.
    Hosts { source: IpAddr, destination: IpAddr, protocol: u8, ports: Option<(u16, u16)> },
    /// No complete IP header; the Ethernet type, or 0 if the frame has no type.
    Other(u16),
}

impl Flow {
    /// Reads the headers of a frame; a header that is cut short counts as absent.
    pub(crate) fn of(frame: &[u8]) -> Self {
        let mut at = 12;
        for _ in 0..2 {
            if matches!(half(frame, at), Some(VLAN | SERVICE_VLAN)) {
                at += 4;
            }
        }
        let kind = half(frame, at).unwrap_or(0);
        let header = frame.get(at + 2..).unwrap_or(&[]);
        match kind {
            IPV4 => Self::ipv4(header),
            IPV6 => Self::ipv6(header),
            _ => None,
        }
        .unwrap_or(Self::Other(kind))
    }

    fn ipv4(header: &[u8]) -> Option<Self> {
        let fixed = header.get(..20).filter(|h| h[0] >> 4 == 4 && h[0] & 15 >= 5)?;
        let source = Ipv4Addr::from(<[u8; 4]>::try_from(&fixed[12..16]).ok()?);
        let destination = Ipv4Addr::from(<[u8; 4]>::try_from(&fixed[16..20]).ok()?);
        let fragment = half(fixed, 6)? & 0x3FFF != 0;
        let plain = fixed[0] & 15 == 5 && !fragment;
        let ports = if plain { ports(fixed[9], &header[20..]) } else { None };
        Some(Self::Hosts { source: source.into(), destination: destination.into(), protocol: fixed[9], ports })
    }

    fn ipv6(header: &[u8]) -> Option<Self> {
        let fixed = header.get(..40).filter(|h| h[0] >> 4 == 6)?;
        let source = Ipv6Addr::from(<[u8; 16]>::try_from(&fixed[8..24]).ok()?);
        let destination = Ipv6Addr::from(<[u8; 16]>::try_from(&fixed[24..40]).ok()?);
        let ports = ports(fixed[6], &header[40..]);
        Some(Self::Hosts { source: source.into(), destination: destination.into(), protocol: fixed[6], ports })
    }
}

/// Big-endian 16 bits.
fn half(bytes: &[u8], at: usize) -> Option<u16> {
    let pair = bytes.get(at..at + 2)?;
    Some(u16::from_be_bytes([pair[0], pair[1]]))
}

fn ports(protocol: u8, segment: &[u8]) -> Option<(u16, u16)> {
    matches!(protocol, TCP | UDP).then_some(())?;
    Some((half(segment, 0)?, half(segment, 2)?))
}

impl fmt::Display for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (source, destination, protocol, ports) = match self {
            Self::Hosts { source, destination, protocol, ports } => (source, destination, *protocol, ports),
            Self::Other(0x0806) => return write!(f, "ARP"),
            Self::Other(kind) => return write!(f, "Ethernet type 0x{kind:04x}"),
        };
        let name = match protocol {
            TCP => "TCP".to_owned(),
            UDP => "UDP".to_owned(),
            1 => "ICMP".to_owned(),
            58 => "ICMPv6".to_owned(),
            number => format!("protocol {number}"),
        };
        match ports {
            Some((from, to)) => write!(f, "{name} {source} port {from} → {destination} port {to}"),
            None => write!(f, "{name} {source} → {destination}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Flow;

    fn frame(before: &[u8], flags: u8) -> Vec<u8> {
        let mut bytes = vec![0u8; 12];
        bytes.extend_from_slice(before);
        bytes.extend_from_slice(&[8, 0, 0x45, 0, 0, 28, 0, 0, flags, 0, 64, 17, 0, 0, 198, 51, 100, 7, 192, 0, 2, 53]);
        bytes.extend_from_slice(&[0x30, 0x39, 0, 53, 0, 8, 0, 0]);
        bytes
    }

    #[test]
    fn reads_ports_behind_tags_but_not_of_fragments() {
        let words = "UDP 198.51.100.7 port 12345 → 192.0.2.53 port 53";
        assert_eq!(Flow::of(&frame(&[], 0)).to_string(), words);
        assert_eq!(Flow::of(&frame(&[0x88, 0xA8, 0, 1, 0x81, 0, 0, 2], 0)).to_string(), words);
        assert_eq!(Flow::of(&frame(&[], 0x20)).to_string(), "UDP 198.51.100.7 → 192.0.2.53");
    }

    #[test]
    fn cut_frames_are_no_flow_of_hosts() {
        let whole = frame(&[], 0);
        assert_eq!(Flow::of(&whole[..33]), Flow::Other(0x0800));
        assert_eq!(Flow::of(&whole[..36]).to_string(), "UDP 198.51.100.7 → 192.0.2.53");
        assert_eq!(Flow::of(&[]), Flow::Other(0));
    }
}
