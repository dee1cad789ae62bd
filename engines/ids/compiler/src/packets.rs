// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Conditions on headers of packets: single fields, and buffers that hold a whole header.

use crate::numbers::{number, tested, within};
use crate::rule::{Check, FlagTest, Step, Within};
use crate::transforms::Transform;

/// A header of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// IPv4 with options.
    Ipv4,
    /// IPv6 with extension headers.
    Ipv6,
    /// TCP with options.
    Tcp,
    /// UDP.
    Udp,
    /// ICMP, 8 bytes.
    Icmpv4,
    /// ICMPv6, 8 bytes.
    Icmpv6,
    /// The source address, 4 or 16 bytes.
    Source,
    /// The destination address.
    Destination,
}

/// Buffers that hold a header.
const PARTS: [(&str, Part); 8] = [
    ("ipv4.hdr", Part::Ipv4),
    ("ipv6.hdr", Part::Ipv6),
    ("tcp.hdr", Part::Tcp),
    ("udp.hdr", Part::Udp),
    ("icmpv4.hdr", Part::Icmpv4),
    ("icmpv6.hdr", Part::Icmpv6),
    ("ip.src", Part::Source),
    ("ip.dst", Part::Destination),
];

/// The header with this name.
pub(crate) fn part(keyword: &str) -> Option<Part> {
    PARTS.iter().find(|(name, _)| *name == keyword).map(|(_, part)| *part)
}

/// Conditions on a header.
#[derive(Debug, Clone)]
pub struct HeaderGroup {
    /// The header.
    pub part: Part,
    /// The transforms of its bytes.
    pub transforms: Vec<Transform>,
    /// The conditions.
    pub steps: Vec<Step>,
}

/// A checksum, and the version of IP under it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChecksumOf {
    /// The header of IPv4.
    Ipv4,
    /// The transport protocol with this number, over IPv4 if the flag says so, otherwise over IPv6.
    Transport(u8, bool),
}

/// Keywords of checksums.
const CHECKSUMS: [(&str, ChecksumOf); 7] = [
    ("ipv4-csum", ChecksumOf::Ipv4),
    ("tcpv4-csum", ChecksumOf::Transport(6, true)),
    ("tcpv6-csum", ChecksumOf::Transport(6, false)),
    ("udpv4-csum", ChecksumOf::Transport(17, true)),
    ("udpv6-csum", ChecksumOf::Transport(17, false)),
    ("icmpv4-csum", ChecksumOf::Transport(1, true)),
    ("icmpv6-csum", ChecksumOf::Transport(58, false)),
];

/// Options of IPv4 by name.
const OPTIONS: [(&str, u8); 10] = [
    ("eol", 0),
    ("nop", 1),
    ("rr", 7),
    ("ts", 68),
    ("sec", 130),
    ("lsrr", 131),
    ("esec", 133),
    ("cipso", 134),
    ("satid", 136),
    ("ssrr", 137),
];

/// A number in decimal, or in hexadecimal behind an `x`.
fn tos(text: &str) -> Result<Within, String> {
    let (not, text) = text.strip_prefix('!').map_or(("", text), |rest| ("!", rest.trim()));
    let value = match text.strip_prefix(['x', 'X']) {
        Some(digits) => {
            u8::from_str_radix(digits, 16).map_err(|_| format!("`{text}` is no number in hexadecimal"))?.into()
        }
        None => number::<u32>(text)?,
    };
    within(&format!("{not}{value}"), 255)
}

/// The value of `fragbits`: letters of M (more fragments), D (do not fragment) and R (reserved).
fn fragbits(text: &str) -> Result<(FlagTest, u8), String> {
    let (test, letters) = tested(text.trim());
    let mut bits = 0;
    for letter in letters.chars() {
        bits |= match letter.to_ascii_uppercase() {
            'M' => 1,
            'D' => 2,
            'R' => 4,
            _ => return Err(format!("fragbits: `{letter}` is none of M, D and R")),
        };
    }
    if bits == 0 { Err("fragbits needs letters of M, D and R".to_owned()) } else { Ok((test, bits)) }
}

/// The condition of a keyword; None: it is not one of these.
///
/// # Errors
/// Its value is wrong: a sentence.
pub(crate) fn check(keyword: &str, value: Option<&str>) -> Result<Option<Check>, String> {
    let needed = || value.ok_or_else(|| format!("{keyword} has no value: write {keyword}:…;"));
    let plain = || needed().map(|value| value.trim_matches('"').trim());
    Ok(Some(match keyword {
        "fragbits" => {
            let (test, bits) = fragbits(needed()?)?;
            Check::FragBits(test, bits)
        }
        "fragoffset" => Check::FragOffset(within(needed()?, 8191)?),
        "id" => Check::Id(within(plain()?, 65_535)?),
        "ipopts" => match plain()? {
            "any" => Check::IpOption(None),
            name => {
                let known = OPTIONS.iter().find(|(known, _)| *known == name);
                let (_, kind) = known.ok_or_else(|| format!("ipopts: `{name}` is no option of IPv4"))?;
                Check::IpOption(Some(*kind))
            }
        },
        "sameip" => Check::SameIp,
        "tos" => Check::Tos(tos(plain()?)?),
        "tcp.mss" => Check::Mss(within(needed()?, 65_535)?),
        "icmp_id" => Check::IcmpId(within(plain()?, 65_535)?),
        "icmp_seq" => Check::IcmpSequence(within(plain()?, 65_535)?),
        "icmpv6.mtu" => Check::Mtu(within(needed()?, u32::MAX)?),
        _ => {
            let Some((_, of)) = CHECKSUMS.iter().find(|(name, _)| *name == keyword) else { return Ok(None) };
            match plain()? {
                "valid" => Check::Checksum(*of, true),
                "invalid" => Check::Checksum(*of, false),
                other => return Err(format!("{keyword} is `valid` or `invalid`, not `{other}`")),
            }
        }
    }))
}
