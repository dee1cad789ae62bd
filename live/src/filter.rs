// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Filters of captures: the common part of tcpdump's language (pcap-filter(7)).
//!
//! ```text
//! [src|dst] host ADDRESS, net PREFIX, port N, portrange A-B
//! tcp, udp, icmp, icmp6, ip, ip6, arp, proto N, vlan [ID], less N, greater N
//! and, or, not, ( )
//! ```
//!
//! Unlike tcpdump, all of them look behind VLAN tags. The compiler of pcap filters is a C library, which Penstock does
//! not need otherwise.

use std::net::IpAddr;
use std::str::FromStr;

use penstock_headers::{Field, Header, Headers};

/// Letters and tests of a filter at most; parentheses within parentheses at most.
const LONGEST: usize = 4096;
const DEEPEST: u32 = 32;
/// EtherType of ARP.
const ARP: u16 = 0x0806;

/// A filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter(Test);

/// A text that is no filter; a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}; filters are like `tcp and dst port 80`: docs/live.md lists the words")]
pub struct FilterError(String);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Test {
    And(Vec<Test>),
    Or(Vec<Test>),
    Not(Box<Test>),
    Net(Side, IpAddr, u8),
    Ports(Side, u16, u16),
    Has(Header),
    IcmpOver(Header),
    Type(u16),
    Proto(u8),
    Vlan(u16),
    AtMost(usize),
    AtLeast(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Source,
    Destination,
    Either,
}

impl Side {
    fn any(self, source: impl FnOnce() -> bool, destination: impl FnOnce() -> bool) -> bool {
        (self != Self::Destination && source()) || (self != Self::Source && destination())
    }
}

impl Filter {
    /// Whether a frame passes.
    #[must_use]
    pub fn passes(&self, frame: &[u8]) -> bool {
        self.0.passes(&Headers::parse(frame), frame)
    }
}

impl Test {
    fn passes(&self, headers: &Headers, frame: &[u8]) -> bool {
        let get = |field| headers.get(frame, field);
        match self {
            Self::And(tests) => tests.iter().all(|test| test.passes(headers, frame)),
            Self::Or(tests) => tests.iter().any(|test| test.passes(headers, frame)),
            Self::Not(test) => !test.passes(headers, frame),
            Self::Net(side, address, bits) => {
                let (wanted, unused, fields) = match address {
                    IpAddr::V4(address) => (u128::from(address.to_bits()), 32 - bits, [Field::IpSrc, Field::IpDst]),
                    IpAddr::V6(address) => (address.to_bits(), 128 - bits, [Field::Ip6Src, Field::Ip6Dst]),
                };
                let cut = |address: u128| address.checked_shr(unused.into()).unwrap_or(0);
                let is = |address: Option<u128>| address.is_some_and(|address| cut(address) == cut(wanted));
                let [source, destination] = match address {
                    // As tcpdump does.
                    IpAddr::V4(_) if get(Field::EthType) == Some(ARP.into()) => arp(headers, frame),
                    _ => fields.map(get),
                };
                side.any(|| is(source), || is(destination))
            }
            Self::Ports(side, low, high) => {
                let range = u128::from(*low)..=u128::from(*high);
                let is = |field| get(field).is_some_and(|port| range.contains(&port));
                side.any(|| is(Field::L4Sport), || is(Field::L4Dport))
            }
            Self::Has(header) => headers.has(*header),
            Self::IcmpOver(header) => headers.has(Header::Icmp) && headers.has(*header),
            Self::Type(kind) => get(Field::EthType) == Some((*kind).into()),
            Self::Proto(proto) => get(Field::L4Proto) == Some((*proto).into()),
            Self::Vlan(id) => get(Field::VlanId) == Some((*id).into()),
            Self::AtMost(bytes) => frame.len() <= *bytes,
            Self::AtLeast(bytes) => frame.len() >= *bytes,
        }
    }
}

/// The addresses of sender and target in an ARP frame for IPv4 (RFC 826).
fn arp(headers: &Headers, frame: &[u8]) -> [Option<u128>; 2] {
    const SENDER: usize = 14;
    const TARGET: usize = 24;
    let tags = [Header::Vlan, Header::Vlan2].into_iter().filter(|tag| headers.has(*tag)).count();
    let start = 14 + 4 * tags;
    [SENDER, TARGET].map(|at| {
        let bytes: [u8; 4] = frame.get(start + at..start + at + 4)?.try_into().ok()?;
        Some(u32::from_be_bytes(bytes).into())
    })
}

impl FromStr for Filter {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        if text.len() > LONGEST {
            return Err(FilterError(format!("a filter has {LONGEST} letters at most")));
        }
        let spaced: String = text.replace('(', " ( ").replace(')', " ) ").replace('!', " not ");
        let mut words = Words { all: spaced.split_whitespace().collect(), at: 0 };
        let test = words.either(0)?;
        match words.next() {
            None => Ok(Self(test)),
            Some(word) => Err(FilterError(format!("`{word}` is not expected there"))),
        }
    }
}

struct Words<'a> {
    all: Vec<&'a str>,
    at: usize,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let word = self.all.get(self.at).copied();
        self.at += usize::from(word.is_some());
        word
    }

    /// Takes the next word if it is one of these.
    fn takes(&mut self, words: &[&str]) -> bool {
        let is_next = self.all.get(self.at).is_some_and(|word| words.contains(word));
        self.at += usize::from(is_next);
        is_next
    }

    fn either(&mut self, depth: u32) -> Result<Test, FilterError> {
        let mut tests = vec![self.both(depth)?];
        while self.takes(&["or", "||"]) {
            tests.push(self.both(depth)?);
        }
        Ok(if tests.len() == 1 { tests.remove(0) } else { Test::Or(tests) })
    }

    fn both(&mut self, depth: u32) -> Result<Test, FilterError> {
        let mut tests = vec![self.one(depth)?];
        while self.takes(&["and", "&&"]) {
            tests.push(self.one(depth)?);
        }
        Ok(if tests.len() == 1 { tests.remove(0) } else { Test::And(tests) })
    }

    fn one(&mut self, depth: u32) -> Result<Test, FilterError> {
        if depth > DEEPEST {
            return Err(FilterError(format!("more than {DEEPEST} parentheses and `not` within each other")));
        }
        if self.takes(&["not"]) {
            return Ok(Test::Not(Box::new(self.one(depth + 1)?)));
        }
        if self.takes(&["("]) {
            let test = self.either(depth + 1)?;
            return if self.takes(&[")"]) { Ok(test) } else { Err(FilterError("a `(` has no `)`".to_owned())) };
        }
        let side = match self.all.get(self.at) {
            Some(&"src") => Side::Source,
            Some(&"dst") => Side::Destination,
            _ => Side::Either,
        };
        self.at += usize::from(side != Side::Either);
        // `tcp port 80` is `tcp and port 80`.
        let is_port = |words: &Self| {
            matches!(words.all.get(words.at), Some(&"port" | &"portrange"))
                || matches!(words.all.get(words.at..words.at + 2), Some([way, "port" | "portrange"]) if ["src", "dst"].contains(way))
        };
        let word = self.next().ok_or_else(|| FilterError("a test is missing at the end".to_owned()))?;
        if side != Side::Either && !["host", "net", "port", "portrange"].contains(&word) {
            return Err(FilterError(format!("`{word}` cannot stand behind `src` or `dst`")));
        }
        let simple = match word {
            "tcp" => Test::Has(Header::Tcp),
            "udp" => Test::Has(Header::Udp),
            "icmp" => Test::IcmpOver(Header::Ip),
            "icmp6" => Test::IcmpOver(Header::Ip6),
            "ip" => Test::Has(Header::Ip),
            "ip6" => Test::Has(Header::Ip6),
            "arp" => Test::Type(ARP),
            "host" => {
                let address = self.value(word, "an address", |text| text.parse::<IpAddr>().ok())?;
                Test::Net(side, address, if address.is_ipv4() { 32 } else { 128 })
            }
            "net" => {
                let (address, bits) = self.value(word, "a prefix such as 192.0.2.0/24", prefix)?;
                Test::Net(side, address, bits)
            }
            "port" => {
                let port = self.value(word, "a number up to 65535", |text| text.parse().ok())?;
                Test::Ports(side, port, port)
            }
            "portrange" => {
                let range = |text: &str| {
                    let (low, high) = text.split_once('-')?;
                    Some((low.parse().ok()?, high.parse().ok()?))
                };
                let (low, high) = self.value(word, "two numbers such as 8000-8080", range)?;
                Test::Ports(side, low, high)
            }
            "proto" => Test::Proto(self.value(word, "a number up to 255", |text| text.parse().ok())?),
            "vlan" => match self.all.get(self.at).and_then(|text| text.parse().ok()) {
                Some(id) => {
                    self.at += 1;
                    Test::Vlan(id)
                }
                None => Test::Has(Header::Vlan),
            },
            "less" => Test::AtMost(self.value(word, "a number of bytes", |text| text.parse().ok())?),
            "greater" => Test::AtLeast(self.value(word, "a number of bytes", |text| text.parse().ok())?),
            other => return Err(FilterError(format!("`{other}` is not a word of filters"))),
        };
        match word {
            "tcp" | "udp" if is_port(self) => Ok(Test::And(vec![simple, self.one(depth + 1)?])),
            _ => Ok(simple),
        }
    }

    fn value<T>(&mut self, word: &str, what: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T, FilterError> {
        let text = self.next();
        text.and_then(parse).ok_or_else(|| match text {
            Some(text) => FilterError(format!("`{word}` takes {what}, not `{text}`")),
            None => FilterError(format!("`{word}` takes {what}")),
        })
    }
}

fn prefix(text: &str) -> Option<(IpAddr, u8)> {
    let (address, bits) = text.split_once('/')?;
    let address: IpAddr = address.parse().ok()?;
    let bits: u8 = bits.parse().ok()?;
    (bits <= if address.is_ipv4() { 32 } else { 128 }).then_some((address, bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// IPv4 with UDP from 192.0.2.1:53 to 198.51.100.7:8000, in VLAN 100 if `tagged`.
    fn frame(tagged: bool) -> Vec<u8> {
        let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
        frame.extend(if tagged { &[0x81, 0, 0, 100, 8, 0][..] } else { &[8, 0] });
        frame.extend([0x45, 0, 0, 36, 0, 0, 0, 0, 64, 17, 0, 0, 192, 0, 2, 1, 198, 51, 100, 7]);
        frame.extend([0, 53, 0x1f, 0x40, 0, 16, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
        frame
    }

    #[test]
    fn filters_choose_frames() {
        for (filter, expected) in [
            ("udp", true),
            ("tcp", false),
            ("ip and not ip6", true),
            ("host 192.0.2.1", true),
            ("dst host 192.0.2.1", false),
            ("src net 192.0.2.0/31 and dst net 198.51.100.0/24", true),
            ("net 0.0.0.0/0", true),
            ("net ::/0", false),
            ("port 53", true),
            ("dst port 53", false),
            ("udp dst port 8000", true),
            ("tcp port 53 or udp port 54", false),
            ("portrange 7999-8000", true),
            ("proto 17 && !(arp || icmp)", true),
            ("less 50 and greater 50", true),
            ("less 49", false),
            ("vlan", false),
        ] {
            let parsed: Filter = filter.parse().unwrap();
            assert_eq!(parsed.passes(&frame(false)), expected, "{filter}");
        }
        for (filter, expected) in [("vlan", true), ("vlan 100 and port 53", true), ("vlan 101", false)] {
            assert_eq!(filter.parse::<Filter>().unwrap().passes(&frame(true)), expected, "{filter}");
        }
        assert!(!"ip".parse::<Filter>().unwrap().passes(&[]));
    }

    #[test]
    fn faults_name_the_word() {
        for (filter, words) in [
            ("", "a test is missing at the end"),
            ("tcp and", "a test is missing"),
            ("hots 1.2.3.4", "`hots` is not a word"),
            ("host 1.2.3", "`host` takes an address, not `1.2.3`"),
            ("port 65536", "`port` takes a number up to 65535"),
            ("net 10.0.0.0/33", "`net` takes a prefix"),
            ("port", "`port` takes"),
            ("(tcp", "has no `)`"),
            ("tcp)", "`)` is not expected"),
            ("src tcp", "`tcp` cannot stand behind"),
        ] {
            let error = filter.parse::<Filter>().unwrap_err().to_string();
            assert!(error.contains(words), "{filter}: {error}");
        }
        for deep in ["(".repeat(4000), "not ".repeat(1000), "tcp or ".repeat(1000)] {
            assert!(deep.parse::<Filter>().is_err());
        }
    }
}
