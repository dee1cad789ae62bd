// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Why the headers of a frame cannot be decoded, and what is odd in those that can, by the names that Suricata has for
//! such events.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::decode::{Packet, Transport, word};

/// A fault in the headers of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// Its name.
    pub event: &'static str,
    /// Source, destination and protocol of IP; None: the header of IP itself is not whole.
    pub ends: Option<(IpAddr, IpAddr, u8)>,
}

/// EtherTypes of VLAN tags.
const TAGS: [u16; 3] = [0x8100, 0x88A8, 0x9100];

/// The fault of a frame that is not decoded because a length in it is wrong. None if the frame has no fault, or if it
/// lies behind MPLS, PPPoE or more tags than this function reads.
#[must_use]
pub fn fault(frame: &[u8]) -> Option<Fault> {
    let without = |event| Some(Fault { event, ends: None });
    let Some(mut kind) = word(frame, 12) else { return without("ethernet.pkt_too_small") };
    let mut at = 14;
    while TAGS.contains(&kind) {
        let Some(next) = word(frame, at + 2) else { return without("vlan.header_too_small") };
        (kind, at) = (next, at + 4);
    }
    let rest = frame.get(at..)?;
    match kind {
        0x0800 if rest.len() < 20 => without("ipv4.pkt_too_small"),
        0x86DD if rest.len() < 40 => without("ipv6.pkt_too_small"),
        0x0800 => {
            let address = |at: usize| IpAddr::V4(Ipv4Addr::new(rest[at], rest[at + 1], rest[at + 2], rest[at + 3]));
            let event = of_ipv4(rest)?;
            Some(Fault { event, ends: Some((address(12), address(16), rest[9])) })
        }
        0x86DD => {
            let address = |at: usize| <[u8; 16]>::try_from(&rest[at..at + 16]).map(Ipv6Addr::from).map(IpAddr::V6);
            let (event, protocol) = of_ipv6(rest)?;
            Some(Fault { event, ends: Some((address(8).ok()?, address(24).ok()?, protocol)) })
        }
        _ => None,
    }
}

/// The fault of at least 20 bytes.
fn of_ipv4(rest: &[u8]) -> Option<&'static str> {
    let (length, total) = (usize::from(rest[0] & 15) * 4, usize::from(word(rest, 2)?));
    if rest[0] >> 4 != 4 {
        Some("ipv4.wrong_ip_version")
    } else if length < 20 {
        Some("ipv4.hlen_too_small")
    } else if total < length {
        Some("ipv4.iplen_smaller_than_hlen")
    } else if rest.len() < total {
        Some("ipv4.trunc_pkt")
    } else {
        of_transport(rest[9], &rest[length..total])
    }
}

/// The fault of at least 40 bytes, and the protocol behind the extension headers.
fn of_ipv6(rest: &[u8]) -> Option<(&'static str, u8)> {
    let mut protocol = rest[6];
    if rest[0] >> 4 != 6 {
        return Some(("ipv6.wrong_ip_version", protocol));
    }
    let Some(mut body) = rest.get(40..40 + usize::from(word(rest, 4)?)) else {
        return Some(("ipv6.trunc_pkt", protocol));
    };
    while let Some(unit) = extension(protocol) {
        let length = body.get(1).map(|length| 8 + usize::from(*length) * unit);
        let Some(behind) = length.and_then(|length| body.get(length..)) else {
            return Some(("ipv6.trunc_exthdr", protocol));
        };
        (protocol, body) = (body[0], behind);
    }
    of_transport(protocol, body).map(|event| (event, protocol))
}

/// Bytes that the length of an extension header counts. A fragment header has a fixed length.
fn extension(protocol: u8) -> Option<usize> {
    match protocol {
        0 | 43 | 60 | 135 | 139 | 140 => Some(8),
        51 => Some(4),
        44 => Some(0),
        _ => None,
    }
}

fn of_transport(protocol: u8, body: &[u8]) -> Option<&'static str> {
    match protocol {
        6 if body.len() < 20 => Some("tcp.pkt_too_small"),
        6 => {
            let length = usize::from(body[12] >> 4) * 4;
            (body.len() < length).then_some("tcp.hlen_too_small").or((length < 20).then_some("tcp.invalid_optlen"))
        }
        17 if body.len() < 8 => Some("udp.hlen_too_small"),
        17 => {
            let length = usize::from(word(body, 4)?);
            (body.len() < length).then_some("udp.pkt_too_small").or((length < 8).then_some("udp.len_invalid"))
        }
        1 if body.len() < 8 => Some("icmpv4.pkt_too_small"),
        58 if body.len() < 8 => Some("icmpv6.pkt_too_small"),
        _ => None,
    }
}

/// Events of a packet whose headers can be decoded.
#[must_use]
pub fn oddities(packet: &Packet<'_>) -> Vec<&'static str> {
    let mut all = match packet.transport {
        Transport::Tcp(_) => tcp_options(packet.header().get(20..).unwrap_or_default()),
        Transport::Icmp(kind, code) if packet.protocol == 1 => match icmp_codes(kind) {
            None => vec!["icmpv4.unknown_type"],
            Some(most) if code > most => vec!["icmpv4.unknown_code"],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    };
    if packet.source.is_ipv6() {
        all.extend(extensions(packet.ip));
    }
    all
}

/// The highest code of a type of ICMP (RFC 792, RFC 950, RFC 1256, RFC 1812).
fn icmp_codes(kind: u8) -> Option<u8> {
    Some(match kind {
        3 => 15,
        5 => 3,
        9 => 16,
        11 => 1,
        12 => 2,
        0 | 4 | 8 | 10 | 13..=18 => 0,
        _ => return None,
    })
}

/// Events of the options of TCP (RFC 9293, RFC 7323, RFC 2018).
fn tcp_options(mut rest: &[u8]) -> Vec<&'static str> {
    let (mut all, mut known) = (Vec::new(), [false; 9]);
    while let [kind, behind @ ..] = rest {
        match (*kind, behind.first()) {
            (0, _) => break,
            (1, _) => rest = behind,
            (kind, Some(length)) if *length >= 2 && usize::from(*length) <= rest.len() => {
                let fits = match kind {
                    2 => *length == 4,
                    3 => *length == 3,
                    4 => *length == 2,
                    5 => *length >= 10 && (length - 2) % 8 == 0,
                    8 => *length == 10,
                    _ => true,
                };
                if !fits {
                    all.push("tcp.opt_invalid_len");
                }
                if let Some(known) = known.get_mut(usize::from(kind))
                    && matches!(kind, 2..=5 | 8)
                    && std::mem::replace(known, true)
                {
                    all.push("tcp.opt_duplicate");
                }
                rest = &rest[usize::from(*length)..];
            }
            _ => {
                all.push("tcp.opt_invalid_len");
                break;
            }
        }
    }
    all
}

/// Events of the extension headers of IPv6.
fn extensions(header: &[u8]) -> Vec<&'static str> {
    let (mut all, mut counts) = (Vec::new(), [0_u8; 61]);
    let mut protocol = header.get(6).copied().unwrap_or_default();
    let mut rest = header.get(40..).unwrap_or_default();
    while let (Some(unit), [next, length, behind @ ..]) = (extension(protocol), rest) {
        if protocol == 43 && behind.first() == Some(&0) {
            all.push("ipv6.rh_type_0");
        }
        let count = counts.get_mut(usize::from(protocol)).map_or(0, |count| {
            *count = count.saturating_add(1);
            *count
        });
        match (protocol, count) {
            (0, 2) => all.push("ipv6.exthdr_dupl_hh"),
            (43, 2) => all.push("ipv6.exthdr_dupl_rh"),
            (44, 2) => all.push("ipv6.exthdr_dupl_fh"),
            (51, 2) => all.push("ipv6.exthdr_dupl_ah"),
            // Destination options may stand before a routing header and at the end (RFC 8200).
            (60, 3) => all.push("ipv6.exthdr_dupl_dh"),
            _ => {}
        }
        rest = rest.get(8 + usize::from(*length) * unit..).unwrap_or_default();
        protocol = *next;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::{Undecoded, decode};

    fn frame(kind: u16, rest: &[u8]) -> Vec<u8> {
        [&[2; 12][..], &kind.to_be_bytes(), rest].concat()
    }

    fn ip4(protocol: u8, total: u16, first: u8, body: &[u8]) -> Vec<u8> {
        let [high, low] = total.to_be_bytes();
        let header = [first, 0, high, low, 0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        frame(0x0800, &[&header[..], body].concat())
    }

    fn ip6(next: u8, length: u8, body: &[u8]) -> Vec<u8> {
        frame(0x86DD, &[&[0x60, 0, 0, 0, 0, length, next, 9][..], &[0xFD; 32], body].concat())
    }

    /// Every frame here is one that the decoder refuses.
    #[test]
    fn faults_have_names() {
        let tcp = |offset: u8| [&[0; 12][..], &[offset << 4], &[0; 7]].concat();
        for (bytes, event) in [
            (vec![2; 13], "ethernet.pkt_too_small"),
            (frame(0x8100, &[0, 5]), "vlan.header_too_small"),
            (frame(0x0800, &[0x45; 19]), "ipv4.pkt_too_small"),
            (frame(0x86DD, &[0x60; 39]), "ipv6.pkt_too_small"),
            (ip4(17, 20, 0x65, &[]), "ipv4.wrong_ip_version"),
            (ip4(17, 20, 0x44, &[]), "ipv4.hlen_too_small"),
            (ip4(17, 19, 0x45, &[]), "ipv4.iplen_smaller_than_hlen"),
            (ip4(17, 21, 0x45, &[]), "ipv4.trunc_pkt"),
            (ip4(6, 39, 0x45, &[0; 19]), "tcp.pkt_too_small"),
            (ip4(6, 40, 0x45, &tcp(6)), "tcp.hlen_too_small"),
            (ip4(6, 40, 0x45, &tcp(4)), "tcp.invalid_optlen"),
            (ip4(17, 27, 0x45, &[0; 7]), "udp.hlen_too_small"),
            (ip4(17, 28, 0x45, &[0, 1, 0, 1, 0, 9, 0, 0]), "udp.pkt_too_small"),
            (ip4(17, 28, 0x45, &[0, 1, 0, 1, 0, 7, 0, 0]), "udp.len_invalid"),
            (ip4(1, 27, 0x45, &[0; 7]), "icmpv4.pkt_too_small"),
            (ip6(58, 7, &[0; 7]), "icmpv6.pkt_too_small"),
            (ip6(17, 9, &[0; 8]), "ipv6.trunc_pkt"),
            (ip6(0, 8, &[17, 1, 0, 0, 0, 0, 0, 0]), "ipv6.trunc_exthdr"),
            (ip6(0, 15, &[6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), "tcp.pkt_too_small"),
        ] {
            assert_eq!(decode(&bytes), Err(Undecoded::Malformed), "{event}");
            let fault = fault(&bytes).unwrap();
            assert_eq!(fault.event, event);
            let protocol = fault.ends.map(|(.., protocol)| protocol);
            assert!(!event.starts_with("tcp") || protocol == Some(6), "{event}");
        }
        assert_eq!(fault(&frame(0x0806, &[0; 28])), None);
    }

    #[test]
    fn oddities_have_names() {
        let tcp = |options: &[u8]| {
            let header = [&[0; 12][..], &[(5 + options.len() as u8 / 4) << 4], &[0; 7], options].concat();
            ip4(6, 20 + header.len() as u16, 0x45, &header)
        };
        let routing = |kind: u8| [59, 0, kind, 0, 0, 0, 0, 0];
        let chain = |kinds: &[u8]| kinds.iter().flat_map(|next| [*next, 0, 9, 0, 0, 0, 0, 0]).collect::<Vec<_>>();
        for (bytes, events) in [
            (tcp(&[2, 4, 5, 0xB4]), &[][..]),
            (tcp(&[2, 4, 5, 0xB4, 1, 1, 4, 2]), &[]),
            (tcp(&[2, 4, 5, 0xB4, 2, 4, 5, 0xB4]), &["tcp.opt_duplicate"]),
            (tcp(&[3, 4, 5, 0]), &["tcp.opt_invalid_len"]),
            (tcp(&[1, 1, 8, 10]), &["tcp.opt_invalid_len"]),
            (tcp(&[0, 8, 1, 1]), &[]),
            (ip4(1, 28, 0x45, &[8, 0, 0, 0, 0, 0, 0, 0]), &[]),
            (ip4(1, 28, 0x45, &[8, 1, 0, 0, 0, 0, 0, 0]), &["icmpv4.unknown_code"]),
            (ip4(1, 28, 0x45, &[7, 0, 0, 0, 0, 0, 0, 0]), &["icmpv4.unknown_type"]),
            (ip6(43, 8, &routing(0)), &["ipv6.rh_type_0"]),
            (ip6(43, 8, &routing(2)), &[]),
            (ip6(0, 16, &chain(&[0, 59])), &["ipv6.exthdr_dupl_hh"]),
            (ip6(60, 16, &chain(&[60, 59])), &[]),
            (ip6(60, 24, &chain(&[60, 60, 59])), &["ipv6.exthdr_dupl_dh"]),
        ] {
            assert_eq!(oddities(&decode(&bytes).unwrap()), events, "{bytes:?}");
        }
    }
}
