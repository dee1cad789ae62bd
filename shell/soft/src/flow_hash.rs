// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The flow hash (docs/architecture.md, contracts): Toeplitz as receive side scaling defines it, over addresses and
//! ports.

/// Microsoft's key of the verification suite ("Verifying the RSS hash calculation").
const KEY: [u8; 40] = [
    0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b,
    0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac,
    0x01, 0xfa,
];

/// Longest input: two IPv6 addresses and two ports.
const MAX_INPUT: usize = 36;

/// The card does not parse bytes after these.
const PARSED: usize = 64;

/// The value that byte `v` at place `p` of the input adds to the hash.
static TABLE: [[u32; 256]; MAX_INPUT] = table();

const fn table() -> [[u32; 256]; MAX_INPUT] {
    let mut table = [[0; 256]; MAX_INPUT];
    let mut place = 0;
    while place < MAX_INPUT {
        // 40 bits of the key: bit b of this byte (from the left) adds those that start at b.
        let mut window = 0u64;
        let mut i = 0;
        while i < 5 {
            window = window << 8 | KEY[place + i] as u64;
            i += 1;
        }
        let mut value = 0;
        while value < 256 {
            let mut bit = 0;
            while bit < 8 {
                if value & (0x80 >> bit) != 0 {
                    table[place][value] ^= (window >> (8 - bit)) as u32;
                }
                bit += 1;
            }
            value += 1;
        }
        place += 1;
    }
    table
}

/// Toeplitz hash of up to 36 bytes, the first of which is the leftmost; further bytes are ignored.
#[must_use]
pub fn toeplitz(input: &[u8]) -> u32 {
    input.iter().zip(&TABLE).fold(0, |hash, (&byte, row)| hash ^ row[usize::from(byte)])
}

/// Flow hash of an Ethernet frame; 0 when it has no whole IPv4 or IPv6 header.
#[must_use]
pub fn flow_hash(frame: &[u8]) -> u32 {
    let bytes = &frame[..frame.len().min(PARSED)];
    let half = |at: usize| bytes.get(at..at + 2).map(|b| u16::from_be_bytes([b[0], b[1]]));
    let is_tag = |at: usize| matches!(half(at), Some(0x8100 | 0x88A8));

    let mut type_at = 12;
    for _ in 0..2 {
        if is_tag(type_at) {
            type_at += 4;
        }
    }
    let header = type_at + 2;
    match half(type_at) {
        Some(0x0800) => ipv4_hash(bytes.get(header..).unwrap_or(&[])),
        Some(0x86DD) => ipv6_hash(bytes.get(header..).unwrap_or(&[])),
        _ => 0,
    }
}

fn has_ports(protocol: u8) -> bool {
    const TCP: u8 = 6;
    const UDP: u8 = 17;
    matches!(protocol, TCP | UDP)
}

fn ipv4_hash(ip: &[u8]) -> u32 {
    const HEADER: usize = 20;
    if ip.len() < HEADER || ip[0] >> 4 != 4 || ip[0] & 0xF < 5 {
        return 0;
    }
    let is_fragment = u16::from_be_bytes([ip[6], ip[7]]) & 0x3FFF != 0;
    let with_ports = has_ports(ip[9]) && ip[0] & 0xF == 5 && !is_fragment && ip.len() >= HEADER + 4;
    // Addresses and ports are adjacent.
    toeplitz(&ip[12..if with_ports { HEADER + 4 } else { HEADER }])
}

fn ipv6_hash(ip: &[u8]) -> u32 {
    const HEADER: usize = 40;
    if ip.len() < HEADER || ip[0] >> 4 != 6 {
        return 0;
    }
    let with_ports = has_ports(ip[6]) && ip.len() >= HEADER + 4;
    toeplitz(&ip[8..if with_ports { HEADER + 4 } else { HEADER }])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ipv4(source: [u8; 4], destination: [u8; 4]) -> Vec<u8> {
        [source, destination].concat()
    }

    /// The verification suite of Microsoft's RSS documentation: destination and source, hash with ports, hash without.
    #[test]
    fn verification_suite() {
        let ipv4_rows = [
            ([161, 142, 100, 80], 1766, [66, 9, 149, 187], 2794, 0x51ccc178, 0x323e8fc2),
            ([65, 69, 140, 83], 4739, [199, 92, 111, 2], 14230, 0xc626b0ea, 0xd718262a),
            ([12, 22, 207, 184], 38024, [24, 19, 198, 95], 12898, 0x5c2b394a, 0xd2d0a5de),
            ([209, 142, 163, 6], 2217, [38, 27, 205, 30], 48228, 0xafc7327f, 0x82989176),
            ([202, 188, 127, 2], 1303, [153, 39, 163, 191], 44251, 0x10e828a2, 0x5d1809c5),
        ];
        for (destination, destination_port, source, source_port, with_ports, without) in ipv4_rows {
            let mut input = ipv4(source, destination);
            let (source_port, destination_port): (u16, u16) = (source_port, destination_port);
            assert_eq!(toeplitz(&input), without);
            input.extend(source_port.to_be_bytes());
            input.extend(destination_port.to_be_bytes());
            assert_eq!(toeplitz(&input), with_ports);
        }
        let ipv6_rows = [
            ("3ffe:2501:200:3::1", 1766, "3ffe:2501:200:1fff::7", 2794, 0x40207d3d, 0x2cc18cd5),
            ("ff02::1", 4739, "3ffe:501:8::260:97ff:fe40:efab", 14230, 0xdde51bbf, 0x0f0c461c),
            ("fe80::200:f8ff:fe21:67cf", 38024, "3ffe:1900:4545:3:200:f8ff:fe21:67cf", 44251, 0x02d1feef, 0x4b61e985),
        ];
        for (destination, destination_port, source, source_port, with_ports, without) in ipv6_rows {
            let octets = |text: &str| text.parse::<std::net::Ipv6Addr>().map(|a| a.octets()).unwrap_or_default();
            let mut input = [octets(source), octets(destination)].concat();
            assert_eq!(toeplitz(&input), without);
            input.extend((source_port as u16).to_be_bytes());
            input.extend((destination_port as u16).to_be_bytes());
            assert_eq!(toeplitz(&input), with_ports);
        }
    }

    /// An Ethernet header with tags, then an IPv4 header followed by ports.
    fn frame(tags: usize, patch: impl Fn(&mut [u8])) -> Vec<u8> {
        let mut ip = vec![0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6, 0, 0];
        ip.extend(ipv4([66, 9, 149, 187], [161, 142, 100, 80]));
        ip.extend(2794u16.to_be_bytes());
        ip.extend(1766u16.to_be_bytes());
        ip.resize(60, 0);
        patch(&mut ip);
        let mut frame = vec![0; 12];
        for _ in 0..tags {
            frame.extend([0x81, 0x00, 0, 7]);
        }
        frame.extend([0x08, 0x00]);
        frame.extend(ip);
        frame
    }

    const WITH_PORTS: u32 = 0x51ccc178;
    const WITHOUT: u32 = 0x323e8fc2;

    #[test]
    fn tags_are_skipped_up_to_two() {
        for (tags, expected) in [(0, WITH_PORTS), (1, WITH_PORTS), (2, WITH_PORTS), (3, 0)] {
            assert_eq!(flow_hash(&frame(tags, |_| ())), expected, "{tags} tags");
        }
    }

    #[test]
    fn ports_count_only_where_they_are() {
        type Change = fn(&mut [u8]);
        let changes: [(&str, Change, u32); 8] = [
            ("don't fragment alone", |ip| ip[6] = 0x40, WITH_PORTS),
            ("UDP", |ip| ip[9] = 17, WITH_PORTS),
            ("first fragment", |ip| ip[6] = 0x20, WITHOUT),
            ("later fragment", |ip| ip[7] = 1, WITHOUT),
            ("ICMP", |ip| ip[9] = 1, WITHOUT),
            ("options", |ip| ip[0] = 0x46, WITHOUT),
            ("short header", |ip| ip[0] = 0x44, 0),
            ("other version", |ip| ip[0] = 0x65, 0),
        ];
        for (name, change, expected) in changes {
            assert_eq!(flow_hash(&frame(0, change)), expected, "{name}");
        }
    }

    #[test]
    fn a_cut_frame_has_the_hash_of_what_is_there() {
        let whole = frame(0, |_| ());
        for length in 0..whole.len() {
            let expected = match length {
                0..34 => 0,
                34..38 => WITHOUT,
                _ => WITH_PORTS,
            };
            assert_eq!(flow_hash(&whole[..length]), expected, "{length} bytes");
        }
    }

    #[test]
    fn ipv6_ports_must_lie_in_the_first_64_bytes() {
        let octets = |text: &str| text.parse::<std::net::Ipv6Addr>().map(|a| a.octets()).unwrap_or_default();
        for (tags, expected) in [(0, 0x40207d3d), (1, 0x40207d3d), (2, 0x2cc18cd5)] {
            let mut frame = vec![0; 12];
            (0..tags).for_each(|_| frame.extend([0x88, 0xA8, 0, 1]));
            frame.extend([0x86, 0xDD, 0x60, 0, 0, 0, 0, 20, 6, 64]);
            frame.extend(octets("3ffe:2501:200:1fff::7"));
            frame.extend(octets("3ffe:2501:200:3::1"));
            frame.extend(2794u16.to_be_bytes());
            frame.extend(1766u16.to_be_bytes());
            frame.resize(100, 0);
            assert_eq!(flow_hash(&frame), expected, "{tags} tags");
        }
    }
}
