// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Headers of a frame, from Ethernet to the transport protocol; and of the packets that tunnels carry in it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::tunnel::{self, MOST};

/// EtherTypes of VLAN tags: 802.1Q, 802.1ad, and the value that QinQ used before 802.1ad.
const TAGS: [u16; 3] = [0x8100, 0x88A8, 0x9100];
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86DD;
/// MPLS (RFC 3032), with a unicast and with a multicast address.
const MPLS: [u16; 2] = [0x8847, 0x8848];
/// Session stage of PPPoE (RFC 2516).
const PPPOE: u16 = 0x8864;
/// VLAN tags that are skipped. Frames with more tags are not decoded.
pub(crate) const MAX_TAGS: usize = 3;
/// MPLS labels that are skipped.
const MAX_LABELS: usize = 16;
/// IPv6 extension headers that are skipped (RFC 8200 and RFC 4302).
const MAX_EXTENSIONS: usize = 8;
/// Header of a fragment of IPv6.
pub(crate) const FRAGMENT: usize = 8;

/// Why a frame was not decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undecoded {
    /// The frame carries neither IPv4 nor IPv6.
    NotIp,
    /// A length field does not agree with the number of bytes.
    Malformed,
}

/// Header of a TCP segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tcp {
    /// Sequence number of the first byte, of the SYN if the segment has one.
    pub sequence: u32,
    /// Acknowledgement number.
    pub acknowledged: u32,
    /// The flags FIN, SYN, RST, PSH, ACK, URG, ECE, CWR from bit 0.
    pub flags: u8,
    /// Window in the header, not scaled.
    pub window: u16,
}

impl Tcp {
    /// Bits of [`Tcp::flags`].
    pub const FIN: u8 = 1;
    /// See [`Tcp::FIN`].
    pub const SYN: u8 = 2;
    /// See [`Tcp::FIN`].
    pub const RST: u8 = 4;
    /// See [`Tcp::FIN`].
    pub const ACK: u8 = 16;

    /// Whether this flag is set.
    #[must_use]
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// The layer after the IP header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// A TCP segment.
    Tcp(Tcp),
    /// A UDP datagram.
    Udp,
    /// ICMP or ICMPv6: type and code.
    Icmp(u8, u8),
    /// Another protocol, or a fragment.
    Other,
}

/// The place of a fragment in its packet (RFC 791, RFC 8200).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment {
    /// Number that all fragments of a packet share.
    pub id: u32,
    /// Position of its first byte behind the headers that all fragments have.
    pub offset: u16,
    /// More fragments follow.
    pub more: bool,
    /// Of IPv6: the offset in [`Packet::ip`] of the number that names the fragment header.
    pub named_at: usize,
}

/// A decoded packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<'a> {
    /// VLAN ids, the outer one first; 0 where there is no tag.
    pub vlans: [u16; MAX_TAGS],
    /// Number of tunnels around the packet.
    pub level: u8,
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// IP protocol number, after extension headers.
    pub protocol: u8,
    /// Time to live or hop limit.
    pub ttl: u8,
    /// Source and destination port of TCP and UDP, otherwise 0.
    pub ports: [u16; 2],
    /// The transport header.
    pub transport: Transport,
    /// The packet is a fragment: ports and transport header are not read.
    pub fragment: Option<Fragment>,
    /// The packet was put together from fragments.
    pub rebuilt: bool,
    /// IP header with options, or with extension headers.
    pub ip: &'a [u8],
    /// Bytes after it, without padding.
    pub body: &'a [u8],
    /// Bytes after the transport header, without padding; for other protocols, those after the IP headers. A fragment
    /// and a packet around another one have none.
    pub payload: &'a [u8],
    /// Offset of the payload in the bytes that were decoded.
    pub payload_at: usize,
}

impl<'a> Packet<'a> {
    /// The transport header: empty for protocols that are not decoded.
    #[must_use]
    pub fn header(&self) -> &'a [u8] {
        let length = match self.transport {
            Transport::Tcp(_) => usize::from(self.body.get(12).copied().unwrap_or_default() >> 4) * 4,
            Transport::Udp | Transport::Icmp(..) => 8,
            Transport::Other => 0,
        };
        self.body.get(..length).unwrap_or_default()
    }
}

pub(crate) fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

pub(crate) fn long(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// The IP layer of a packet.
struct Ip<'a> {
    source: IpAddr,
    destination: IpAddr,
    protocol: u8,
    ttl: u8,
    fragment: Option<Fragment>,
    /// The headers.
    header: &'a [u8],
    /// Offset of `rest` in the frame.
    at: usize,
    /// Bytes after the IP headers, without padding.
    rest: &'a [u8],
}

fn ipv4(frame: &[u8], at: usize) -> Option<Ip<'_>> {
    let header = frame.get(at..at + 20)?;
    let length = usize::from(header[0] & 15) * 4;
    let total = usize::from(word(header, 2)?);
    if header[0] >> 4 != 4 || length < 20 || total < length {
        return None;
    }
    let address = |at: usize| Some(IpAddr::V4(Ipv4Addr::from(long(header, at)?)));
    let place = word(header, 6)?;
    let (offset, more) = (place << 3, place & 0x2000 != 0);
    let fragment = Fragment { id: word(header, 4)?.into(), offset, more, named_at: 0 };
    Some(Ip {
        source: address(12)?,
        destination: address(16)?,
        protocol: header[9],
        ttl: header[8],
        fragment: (more || offset > 0).then_some(fragment),
        header: frame.get(at..at + length)?,
        at: at + length,
        rest: frame.get(at + length..at + total)?,
    })
}

fn ipv6(frame: &[u8], at: usize) -> Option<Ip<'_>> {
    let header = frame.get(at..at + 40)?;
    if header[0] >> 4 != 6 {
        return None;
    }
    let address = |at: usize| Some(IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(header.get(at..at + 16)?).ok()?)));
    let mut rest = frame.get(at + 40..at + 40 + usize::from(word(header, 4)?))?;
    let (mut protocol, mut begin, mut fragment, mut named_at) = (header[6], at + 40, None, 6);
    for _ in 0..MAX_EXTENSIONS {
        let length = match protocol {
            // Hop-by-hop options, routing header, destination options, mobility, HIP, shim6.
            0 | 43 | 60 | 135 | 139 | 140 => 8 + usize::from(*rest.get(1)?) * 8,
            // Authentication header, in words of 4 bytes.
            51 => 8 + usize::from(*rest.get(1)?) * 4,
            44 => {
                let place = word(rest, 2)?;
                let (offset, more) = (place & 0xFFF8, place & 1 != 0);
                // An atomic fragment is whole (RFC 6946).
                fragment = (more || offset > 0).then_some(Fragment { id: long(rest, 4)?, offset, more, named_at });
                FRAGMENT
            }
            _ => break,
        };
        protocol = *rest.first()?;
        named_at = begin - at;
        rest = rest.get(length..)?;
        begin += length;
        if fragment.is_some() {
            break;
        }
    }
    let header = frame.get(at..begin)?;
    let ttl = header[7];
    Some(Ip { source: address(8)?, destination: address(24)?, protocol, ttl, fragment, header, at: begin, rest })
}

/// Decodes a frame without FCS.
///
/// # Errors
/// The frame is not IP, or its headers are wrong.
pub fn decode(frame: &[u8]) -> Result<Packet<'_>, Undecoded> {
    ethernet(frame, 0, [0; MAX_TAGS], 0)
}

/// Decodes an Ethernet header and what follows it.
pub(crate) fn ethernet(frame: &[u8], begin: usize, vlans: [u16; MAX_TAGS], level: u8) -> Result<Packet<'_>, Undecoded> {
    let kind = word(frame, begin + 12).ok_or(Undecoded::Malformed)?;
    typed(frame, kind, begin + 14, vlans, level)
}

/// Decodes what an EtherType announces at an offset. Tags are added to those that are known.
pub(crate) fn typed(
    frame: &[u8],
    mut kind: u16,
    mut at: usize,
    mut vlans: [u16; MAX_TAGS],
    level: u8,
) -> Result<Packet<'_>, Undecoded> {
    let mut tags = vlans.iter().take_while(|id| **id != 0).count();
    while TAGS.contains(&kind) && tags < MAX_TAGS {
        vlans[tags] = word(frame, at).ok_or(Undecoded::Malformed)? & 0xFFF;
        kind = word(frame, at + 2).ok_or(Undecoded::Malformed)?;
        at += 4;
        tags += 1;
    }
    match kind {
        IPV4 | IPV6 => ip(frame, at, kind == IPV6, vlans, level),
        kind if MPLS.contains(&kind) => mpls(frame, at, vlans, level),
        PPPOE => ppp(frame, at + 6, vlans, level),
        _ => Err(Undecoded::NotIp),
    }
}

/// Decodes labels and the packet behind them, which has IP's version in its first bits.
fn mpls(frame: &[u8], mut at: usize, vlans: [u16; MAX_TAGS], level: u8) -> Result<Packet<'_>, Undecoded> {
    for _ in 0..MAX_LABELS {
        let label = long(frame, at).ok_or(Undecoded::Malformed)?;
        at += 4;
        if label & 0x100 == 0 {
            continue;
        }
        return match frame.get(at).map(|first| first >> 4) {
            Some(4) => ip(frame, at, false, vlans, level),
            Some(6) => ip(frame, at, true, vlans, level),
            // The control word of a pseudowire (RFC 4385) before an Ethernet header. The bound is that of tunnels: a
            // sender may put more of them in each other than the stack has room for.
            Some(0) if level < MOST => ethernet(frame, at + 4, vlans, level + 1),
            _ => Err(Undecoded::NotIp),
        };
    }
    Err(Undecoded::NotIp)
}

/// Decodes the number of a PPP protocol (RFC 1661), of which one byte may be left out, and the packet behind it.
pub(crate) fn ppp(frame: &[u8], at: usize, vlans: [u16; MAX_TAGS], level: u8) -> Result<Packet<'_>, Undecoded> {
    let first = *frame.get(at).ok_or(Undecoded::Malformed)?;
    let (number, at) =
        if first & 1 == 1 { (first.into(), at + 1) } else { (word(frame, at).ok_or(Undecoded::Malformed)?, at + 2) };
    match number {
        0x21 => ip(frame, at, false, vlans, level),
        0x57 => ip(frame, at, true, vlans, level),
        _ => Err(Undecoded::NotIp),
    }
}

/// Decodes an IP header and what follows it.
pub(crate) fn ip(
    frame: &[u8],
    at: usize,
    is_v6: bool,
    vlans: [u16; MAX_TAGS],
    level: u8,
) -> Result<Packet<'_>, Undecoded> {
    let ip = if is_v6 { ipv6(frame, at) } else { ipv4(frame, at) };
    ip.and_then(|ip| transport(vlans, level, ip)).ok_or(Undecoded::Malformed)
}

fn transport(vlans: [u16; MAX_TAGS], level: u8, ip: Ip<'_>) -> Option<Packet<'_>> {
    let Ip { source, destination, protocol, ttl, fragment, header, at, rest } = ip;
    let mut packet = Packet {
        vlans,
        level,
        source,
        destination,
        protocol,
        ttl,
        ports: [0; 2],
        transport: Transport::Other,
        fragment,
        rebuilt: false,
        ip: header,
        body: rest,
        payload: rest,
        payload_at: at,
    };
    let (length, end) = match protocol {
        _ if fragment.is_some() || tunnel::PROTOCOLS.contains(&protocol) => (0, 0),
        6 => {
            let length = usize::from(*rest.get(12)? >> 4) * 4;
            if length < 20 {
                return None;
            }
            packet.transport = Transport::Tcp(Tcp {
                sequence: long(rest, 4)?,
                acknowledged: long(rest, 8)?,
                flags: *rest.get(13)?,
                window: word(rest, 14)?,
            });
            (length, rest.len())
        }
        17 => {
            packet.transport = Transport::Udp;
            (8, usize::from(word(rest, 4)?))
        }
        1 | 58 if packet.source.is_ipv4() == (protocol == 1) => {
            packet.transport = Transport::Icmp(*rest.first()?, *rest.get(1)?);
            (8, rest.len())
        }
        _ => return Some(packet),
    };
    if matches!(packet.transport, Transport::Tcp(_) | Transport::Udp) {
        packet.ports = [word(rest, 0)?, word(rest, 2)?];
    }
    packet.payload = rest.get(length..end)?;
    packet.payload_at = at + length;
    Some(packet)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame: Ethernet with tags, then bytes.
    fn frame(tags: &[(u16, u16)], kind: u16, rest: &[u8]) -> Vec<u8> {
        let mut frame = vec![2; 12];
        for (kind, id) in tags {
            frame.extend([kind.to_be_bytes(), id.to_be_bytes()].concat());
        }
        frame.extend(kind.to_be_bytes());
        frame.extend(rest);
        frame
    }

    fn ip4(protocol: u8, options: usize, fragment: u16, rest: &[u8]) -> Vec<u8> {
        let total = (20 + options + rest.len()) as u16;
        let mut header =
            vec![0x45 + options as u8 / 4, 0, 0, 0, 0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        header[2..4].copy_from_slice(&total.to_be_bytes());
        header[6..8].copy_from_slice(&fragment.to_be_bytes());
        header.resize(20 + options, 1);
        [&header, rest].concat()
    }

    fn ip6(next: u8, rest: &[u8]) -> Vec<u8> {
        let mut header = vec![0x60, 0, 0, 0, 0, 0, next, 9];
        header[4..6].copy_from_slice(&(rest.len() as u16).to_be_bytes());
        header.extend([0xFD; 32]);
        [&header, rest].concat()
    }

    fn tcp(options: usize, payload: &[u8]) -> Vec<u8> {
        let mut header = vec![0x1F, 0x90, 0, 80, 0xFF, 0xFF, 0xFF, 0xFE, 0, 0, 0, 7, 0, 0x12, 1, 0, 0, 0, 0, 0];
        header[12] = (5 + options as u8 / 4) << 4;
        header.resize(20 + options, 1);
        [&header, payload].concat()
    }

    #[test]
    fn padding_is_no_payload() {
        let mut bytes = frame(&[], IPV4, &ip4(6, 0, 0x4000, &tcp(0, b"hi")));
        bytes.resize(60, b'x');
        let packet = decode(&bytes).unwrap();
        assert_eq!((packet.payload, packet.payload_at, packet.ports), (&b"hi"[..], 54, [8080, 80]));
        let Transport::Tcp(header) = packet.transport else { panic!("{packet:?}") };
        assert_eq!((header.sequence, header.acknowledged, header.window), (0xFFFF_FFFE, 7, 256));
        assert!(header.has(Tcp::SYN) && header.has(Tcp::ACK) && !header.has(Tcp::FIN));
    }

    #[test]
    fn headers_have_any_length() {
        for (ip_options, tcp_options, tags) in [(0, 12, 1), (8, 0, 0), (40, 40, 2)] {
            let tags = &[(0x88A8, 0x2005), (0x8100, 7)][..tags];
            let bytes = frame(tags, IPV4, &ip4(6, ip_options, 0, &tcp(tcp_options, b"data")));
            assert_eq!(decode(&bytes).unwrap().payload, b"data", "{ip_options} {tcp_options}");
        }
        let bytes = frame(&[(0x88A8, 0x2005), (0x8100, 7)], IPV6, &ip6(58, &[128, 0, 0, 0, 0, 0, 0, 0, 1]));
        let packet = decode(&bytes).unwrap();
        assert_eq!((packet.vlans, packet.transport, packet.payload), ([5, 7, 0], Transport::Icmp(128, 0), &[1u8][..]));
    }

    #[test]
    fn extension_headers_are_skipped() {
        let hop = |next: u8, words: u8| [&[next, words][..], &vec![0; 6 + 8 * usize::from(words)]].concat();
        let udp = [0, 53, 0, 53, 0, 10, 0, 0, b'o', b'k'];
        let chain = [hop(60, 0), hop(44, 2), vec![17, 0, 0, 0, 0, 0, 0, 1], udp.to_vec()].concat();
        let bytes = frame(&[], IPV6, &ip6(0, &chain));
        let packet = decode(&bytes).unwrap();
        assert_eq!((packet.protocol, packet.payload, packet.fragment), (17, &b"ok"[..], None));
        assert_eq!(packet.payload_at, bytes.len() - 2);
        // Without the headers that a length promises, the frame is malformed.
        assert_eq!(decode(&frame(&[], IPV6, &ip6(0, &hop(17, 2)[..16]))), Err(Undecoded::Malformed));
    }

    #[test]
    fn fragments_have_no_ports() {
        for fragment in [0x2000, 1] {
            let bytes = frame(&[], IPV4, &ip4(6, 0, fragment, &tcp(0, b"")));
            let packet = decode(&bytes).unwrap();
            assert_eq!((packet.transport, packet.ports, packet.payload), (Transport::Other, [0, 0], &b""[..]));
            let place = packet.fragment.unwrap();
            assert_eq!((place.offset, place.more), if fragment == 1 { (8, false) } else { (0, true) });
        }
        let bytes = frame(&[], IPV6, &ip6(44, &[17, 0, 0, 1, 0, 0, 0, 1, 0xFF]));
        let place = decode(&bytes).unwrap().fragment.unwrap();
        assert_eq!(place, Fragment { id: 1, offset: 0, more: true, named_at: 6 });
    }

    /// A label, a control word and an Ethernet header, many times.
    #[test]
    fn pseudowires_are_counted() {
        let nested = |times: usize| {
            let wire = [&[0, 0, 1, 64, 0, 0, 0, 0][..], &[2; 12]].concat();
            let mut bytes = frame(&[], MPLS[0], &[]);
            for at in 1..=times {
                bytes.extend(&wire);
                bytes.extend(if at == times { IPV4 } else { MPLS[0] }.to_be_bytes());
            }
            bytes.extend(ip4(6, 0, 0, &tcp(0, b"data")));
            bytes
        };
        for times in [1, MOST] {
            let bytes = nested(times.into());
            let packet = decode(&bytes).unwrap();
            assert_eq!((packet.payload, packet.level), (&b"data"[..], times));
        }
        assert_eq!(decode(&nested(usize::from(MOST) + 1)), Err(Undecoded::NotIp));
        assert_eq!(decode(&nested(100_000)), Err(Undecoded::NotIp));
    }

    #[test]
    fn lengths_are_not_trusted() {
        assert_eq!(decode(&frame(&[], 0x0806, &[0; 28])), Err(Undecoded::NotIp));
        let whole = frame(&[], IPV4, &ip4(6, 4, 0, &tcp(4, b"data")));
        assert!(decode(&whole).is_ok());
        for length in 0..whole.len() {
            assert_eq!(decode(&whole[..length]).unwrap_err(), Undecoded::Malformed, "{length}");
        }
        // Each byte of a good frame takes every value: decoding ends, and payload is within the frame.
        for at in 0..whole.len() {
            for value in 0..=255 {
                let mut bytes = whole.clone();
                bytes[at] = value;
                if let Ok(packet) = decode(&bytes) {
                    assert!(bytes[packet.payload_at..].starts_with(packet.payload));
                }
            }
        }
        let udp = |length: u16| {
            let header = [&[0, 1, 0, 2][..], &length.to_be_bytes(), &[0, 0], b"four"].concat();
            frame(&[], IPV4, &ip4(17, 0, 0, &header))
        };
        assert_eq!(decode(&udp(10)).unwrap().payload, b"fo");
        assert_eq!((decode(&udp(13)), decode(&udp(7))), (Err(Undecoded::Malformed), Err(Undecoded::Malformed)));
    }
}
