// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Conditions that remember: `flowbits`, `flowint`, `xbits`, `threshold` and `detection_filter`; and `stream_size`.

use std::sync::Arc;

use crate::byte_ops::Wrong;
use crate::numbers::{number, within};
use crate::rule::Within;

/// A rule's operations on the bits of a flow, and its conditions on them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlowBit {
    /// Sets the bit when the rule matches.
    Set(Arc<str>),
    /// Clears it when the rule matches.
    Unset(Arc<str>),
    /// Inverts it when the rule matches.
    Toggle(Arc<str>),
    /// One of the bits is set.
    IsSet(Vec<Arc<str>>),
    /// None of the bits is set.
    IsNotSet(Vec<Arc<str>>),
}

impl FlowBit {
    /// Whether it asks something.
    #[must_use]
    pub fn is_test(&self) -> bool {
        matches!(self, Self::IsSet(_) | Self::IsNotSet(_))
    }
}

/// The value of `flowbits`; None: `noalert`.
///
/// # Errors
/// A sentence.
pub(crate) fn flowbits(text: &str) -> Result<Option<FlowBit>, String> {
    let (what, names) = text.split_once(',').map_or((text.trim(), ""), |(what, names)| (what.trim(), names.trim()));
    if what == "noalert" {
        return Ok(None);
    }
    let list: Vec<Arc<str>> = names.split('|').map(|name| Arc::from(name.trim())).collect();
    if list.iter().any(|name| name.is_empty()) {
        return Err("write flowbits:set,NAME".to_owned());
    }
    let only = || match &list[..] {
        [name] => Ok(Arc::clone(name)),
        _ => Err(format!("flowbits:{what} has one name")),
    };
    Ok(Some(match what {
        "set" => FlowBit::Set(only()?),
        "unset" => FlowBit::Unset(only()?),
        "toggle" => FlowBit::Toggle(only()?),
        "isset" => FlowBit::IsSet(list),
        "isnotset" => FlowBit::IsNotSet(list),
        other => return Err(format!("`{other}` is none of set, unset, toggle, isset, isnotset, noalert")),
    }))
}

/// A rule's operations on a counter of the flow, and its conditions on it: `flowint`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlowCount {
    /// Sets the counter when the rule matches.
    Set(Arc<str>, u32),
    /// Adds to it when the rule matches; a counter that was not set is 0.
    Add(Arc<str>, u32),
    /// Subtracts from it when the rule matches, down to 0.
    Subtract(Arc<str>, u32),
    /// It is set and its value is in this range.
    Is(Arc<str>, Within),
    /// It is set, or is not.
    IsSet(Arc<str>, bool),
}

impl FlowCount {
    /// Whether it asks something.
    #[must_use]
    pub fn is_test(&self) -> bool {
        matches!(self, Self::Is(..) | Self::IsSet(..))
    }
}

/// The value of `flowint`: `NAME,OPERATOR[,NUMBER]`.
///
/// # Errors
/// A sentence, or something that is not supported.
pub(crate) fn flowint(text: &str) -> Result<FlowCount, Wrong> {
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    let (name, operator, value) = match words[..] {
        [name, operator] if !name.is_empty() => (name, operator, ""),
        [name, operator, value] if !name.is_empty() => (name, operator, value),
        _ => return Err(Wrong::Value("write flowint:NAME,OPERATOR,NUMBER".to_owned())),
    };
    if value.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return Err(Wrong::Unsupported("a counter in place of the number is not supported".to_owned()));
    }
    let name = Arc::from(name);
    let is = |sign: &str| Ok(within(&format!("{sign}{}", number::<u32>(value)?), u32::MAX)?);
    Ok(match operator {
        "isset" => FlowCount::IsSet(name, true),
        "notset" | "isnotset" => FlowCount::IsSet(name, false),
        "=" => FlowCount::Set(name, number(value)?),
        "+" => FlowCount::Add(name, number(value)?),
        "-" => FlowCount::Subtract(name, number(value)?),
        "==" => FlowCount::Is(name, is("")?),
        "!=" => FlowCount::Is(name, is("!")?),
        "<" | ">" | "<=" | ">=" => FlowCount::Is(
            name,
            is(operator).map_err(|_: Wrong| Wrong::Value(format!("no number is {operator} {value}")))?,
        ),
        other => return Err(Wrong::Value(format!("`{other}` is none of isset notset = + - == != < > <= >="))),
    })
}

/// Addresses that a bit of `xbits` or `hostbits` belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HostTrack {
    /// The source of the packet.
    Source,
    /// Its destination.
    Destination,
    /// Both, in either order.
    Pair,
}

/// A rule's operation on such a bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostBitDo {
    /// Sets it when the rule matches.
    Set,
    /// Clears it.
    Unset,
    /// Inverts it.
    Toggle,
    /// It is set.
    IsSet,
    /// It is not set.
    IsNotSet,
}

/// A bit of an address or of a pair of addresses: `xbits`, `hostbits`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostBit {
    /// The operation.
    pub what: HostBitDo,
    /// Its name.
    pub name: Arc<str>,
    /// Whose bit it is.
    pub track: HostTrack,
    /// Seconds after which a bit that is set is no longer set.
    pub expire: u32,
}

impl HostBit {
    /// Whether it asks something.
    #[must_use]
    pub fn is_test(&self) -> bool {
        matches!(self.what, HostBitDo::IsSet | HostBitDo::IsNotSet)
    }
}

/// Seconds for which `xbits` are set if a rule does not say it.
const EXPIRE: u32 = 30;

/// The value of `xbits`: `set,NAME,track ip_src[,expire 60]`.
///
/// # Errors
/// A sentence, or something that is not supported.
pub(crate) fn xbits(text: &str) -> Result<HostBit, Wrong> {
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    let [what, name, track, rest @ ..] = &words[..] else {
        return Err(Wrong::Value("write xbits:set,NAME,track ip_src,expire 60".to_owned()));
    };
    let what = match *what {
        "set" => HostBitDo::Set,
        "unset" => HostBitDo::Unset,
        "toggle" => HostBitDo::Toggle,
        "isset" => HostBitDo::IsSet,
        "isnotset" => HostBitDo::IsNotSet,
        other => return Err(Wrong::Value(format!("`{other}` is none of set, unset, toggle, isset, isnotset"))),
    };
    let track = match track.split_whitespace().collect::<Vec<_>>()[..] {
        ["track", "ip_src"] => HostTrack::Source,
        ["track", "ip_dst"] => HostTrack::Destination,
        ["track", "ip_pair"] => HostTrack::Pair,
        _ => return Err(Wrong::Unsupported(format!("`{track}` is not supported: ip_src, ip_dst and ip_pair are"))),
    };
    let mut expire = EXPIRE;
    for word in rest {
        let seconds = word.strip_prefix("expire").map(str::trim);
        expire = number(seconds.ok_or_else(|| Wrong::Value(format!("there is no `{word}`")))?)?;
    }
    if name.is_empty() || expire == 0 {
        return Err(Wrong::Value("a bit has a name, and expires after a second or more".to_owned()));
    }
    Ok(HostBit { what, name: Arc::from(*name), track, expire })
}

/// Whose bytes `stream_size` counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamOf {
    /// Those of the server.
    Server,
    /// Those of the client.
    Client,
    /// Those of each: both numbers are in the range.
    Both,
    /// One of the numbers is in the range.
    Either,
}

/// `stream_size`: bytes of payload that came in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamSize {
    /// Whose bytes count.
    pub of: StreamOf,
    /// How many there are.
    pub bytes: Within,
}

impl StreamSize {
    /// Whether it holds for so many bytes of the client and of the server.
    #[must_use]
    pub fn holds(&self, [client, server]: [u64; 2]) -> bool {
        let holds = |bytes: u64| self.bytes.holds(u32::try_from(bytes).unwrap_or(u32::MAX));
        match self.of {
            StreamOf::Server => holds(server),
            StreamOf::Client => holds(client),
            StreamOf::Both => holds(client) && holds(server),
            StreamOf::Either => holds(client) || holds(server),
        }
    }
}

/// The value of `stream_size`: `server,>,100`.
///
/// # Errors
/// A sentence.
pub(crate) fn stream_size(text: &str) -> Result<StreamSize, String> {
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    let [of, operator, value] = words[..] else { return Err("write stream_size:server,>,100".to_owned()) };
    let of = match of {
        "server" => StreamOf::Server,
        "client" => StreamOf::Client,
        "both" => StreamOf::Both,
        "either" => StreamOf::Either,
        other => return Err(format!("`{other}` is none of server, client, both, either")),
    };
    let sign = match operator {
        "=" | "==" => "",
        "!=" => "!",
        "<" | ">" | "<=" | ">=" => operator,
        other => return Err(format!("`{other}` is none of < > <= >= = !=")),
    };
    Ok(StreamSize { of, bytes: within(&format!("{sign}{value}"), u32::MAX)? })
}

/// A number that a flow has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlowSizeOf {
    /// Seconds since its first packet.
    Age,
    /// Packets.
    Packets(StreamOf),
    /// Bytes of its packets, with all headers.
    Bytes(StreamOf),
}

/// `flow.age`, `flow.pkts` and `flow.bytes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowSize {
    /// The number.
    pub of: FlowSizeOf,
    /// Its values.
    pub within: Within,
}

impl FlowSize {
    /// Whether it holds for a flow of this age in ns, with these packets and bytes of client and server.
    #[must_use]
    pub fn holds(&self, age: u64, packets: [u64; 2], bytes: [u64; 2]) -> bool {
        let (of, numbers) = match self.of {
            FlowSizeOf::Age => {
                return self.within.holds(u32::try_from(age / 1_000_000_000).unwrap_or(u32::MAX));
            }
            FlowSizeOf::Packets(of) => (of, packets),
            FlowSizeOf::Bytes(of) => (of, bytes),
        };
        StreamSize { of, bytes: self.within }.holds(numbers)
    }
}

/// The value of one of these keywords; None: it is none of them.
///
/// # Errors
/// A sentence.
pub(crate) fn flow_size(keyword: &str, text: &str) -> Result<Option<FlowSize>, String> {
    let (of, text) = match keyword {
        "flow.age" => (FlowSizeOf::Age, text),
        "flow.pkts_toserver" => (FlowSizeOf::Packets(StreamOf::Client), text),
        "flow.pkts_toclient" => (FlowSizeOf::Packets(StreamOf::Server), text),
        "flow.bytes_toserver" => (FlowSizeOf::Bytes(StreamOf::Client), text),
        "flow.bytes_toclient" => (FlowSizeOf::Bytes(StreamOf::Server), text),
        "flow.pkts" | "flow.bytes" => {
            let (way, text) = text.split_once(',').ok_or_else(|| format!("write {keyword}:toserver,>100"))?;
            let of = match way.trim() {
                "toserver" => StreamOf::Client,
                "toclient" => StreamOf::Server,
                "both" => StreamOf::Both,
                "either" => StreamOf::Either,
                other => return Err(format!("`{other}` is none of toserver, toclient, both, either")),
            };
            (if keyword == "flow.pkts" { FlowSizeOf::Packets(of) } else { FlowSizeOf::Bytes(of) }, text)
        }
        _ => return Ok(None),
    };
    Ok(Some(FlowSize { of, within: within(text.trim(), u32::MAX)? }))
}

/// Seconds for which `hostbits` are set if a rule does not say it.
const HOST_EXPIRE: u32 = 300;

/// The value of `hostbits`: `set,NAME[,src|dst[,SECONDS]]`.
///
/// # Errors
/// A sentence, or something that is not supported.
pub(crate) fn hostbits(text: &str) -> Result<HostBit, Wrong> {
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    let [what, name, rest @ ..] = &words[..] else {
        return Err(Wrong::Value("write hostbits:set,NAME,src".to_owned()));
    };
    let track = match rest.first() {
        None | Some(&"src") => "track ip_src",
        Some(&"dst") => "track ip_dst",
        Some(other) => return Err(Wrong::Unsupported(format!("`{other}` is not supported: src and dst are"))),
    };
    let expire = rest.get(1).map_or(Ok(HOST_EXPIRE), |seconds| number(seconds))?;
    xbits(&format!("{what},{name},{track},expire {expire}"))
}

/// When a rule that matches often reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThresholdKind {
    /// With the first `count` matches of a period.
    Limit,
    /// With every `count`-th match of a period.
    Threshold,
    /// Once in a period, with the `count`-th match.
    Both,
    /// With every match of a period behind the `count`-th: `detection_filter`.
    Filter,
    /// With the `count`-th match, and each time that this many times more have come as before.
    Backoff(u32),
}

/// The key by which matches are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Track {
    /// Source address.
    Source,
    /// Destination address.
    Destination,
    /// Both addresses.
    Both,
    /// All matches of the rule.
    Rule,
    /// The flow.
    Flow,
}

/// `threshold` or `detection_filter`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threshold {
    /// When the rule reports.
    pub kind: ThresholdKind,
    /// The key by which matches are counted.
    pub track: Track,
    /// Matches.
    pub count: u32,
    /// Length of a period in s. It begins with a match.
    pub seconds: u32,
}

/// The value of `threshold`, or of `detection_filter` if `filter`.
///
/// # Errors
/// A sentence, or something that is not supported.
pub(crate) fn threshold(text: &str, filter: bool) -> Result<Threshold, Wrong> {
    let mut kind = filter.then_some(ThresholdKind::Filter);
    let (mut track, mut count, mut seconds, mut multiplier, mut backoff) = (None, None, None, None, false);
    for part in text.split(',') {
        let (key, value) = part.trim().split_once(char::is_whitespace).unwrap_or((part.trim(), ""));
        match (key, value.trim()) {
            ("type", "limit") if !filter => kind = Some(ThresholdKind::Limit),
            ("type", "threshold") if !filter => kind = Some(ThresholdKind::Threshold),
            ("type", "both") if !filter => kind = Some(ThresholdKind::Both),
            ("type", "backoff") if !filter => backoff = true,
            ("multiplier", value) => multiplier = Some(number(value)?),
            ("type", other) => return Err(Wrong::Unsupported(format!("the type `{other}` is not supported"))),
            ("track", "by_src") => track = Some(Track::Source),
            ("track", "by_dst") => track = Some(Track::Destination),
            ("track", "by_both") => track = Some(Track::Both),
            ("track", "by_rule") => track = Some(Track::Rule),
            ("track", "by_flow") => track = Some(Track::Flow),
            ("track", other) => return Err(Wrong::Unsupported(format!("track `{other}` is not supported"))),
            ("count", value) => count = Some(number(value)?),
            ("seconds", value) => seconds = Some(number(value)?),
            (other, _) => return Err(Wrong::Value(format!("there is no `{other}`"))),
        }
    }
    if backoff {
        let (Some(Track::Flow), Some(count @ 1..), Some(multiplier @ 2..)) = (track, count, multiplier) else {
            return Err(Wrong::Value("write type backoff, track by_flow, count 1, multiplier 10".to_owned()));
        };
        let kind = ThresholdKind::Backoff(multiplier);
        return Ok(Threshold { kind, track: Track::Flow, count, seconds: u32::MAX });
    }
    match (kind, track, count, seconds) {
        (Some(kind), Some(track), Some(count @ 1..), Some(seconds @ 1..)) => {
            Ok(Threshold { kind, track, count, seconds })
        }
        _ => Err(Wrong::Value("write type limit, track by_src, count 1, seconds 60".to_owned())),
    }
}
