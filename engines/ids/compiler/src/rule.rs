// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rules as the matcher evaluates them.

use std::collections::HashSet;
use std::sync::Arc;

pub use crate::buffers::{Absent, Group, Layer, Messages, Spoken};
pub use crate::byte_ops::{
    Amount, ByteExtract, ByteJump, ByteMath, ByteTest, Compare, Form, JumpFrom, Number, Operator,
};
pub use crate::conditions::{
    FlowBit, FlowCount, FlowSize, FlowSizeOf, HostBit, HostBitDo, HostTrack, StreamSize, Threshold, ThresholdKind,
    Track,
};
pub use crate::datasets::DatasetUse;
pub use crate::dates::{DateTest, When};
use crate::ends::Addresses;
pub use crate::events::{MessageEvent, PacketEvent};
pub use crate::packets::{ChecksumOf, HeaderGroup, Part};
use crate::ranges::Ranges;
pub use crate::transforms::Transform;
pub use crate::tuning::{Suppress, SuppressBy};

/// A rule's action for a packet that it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// Lets the packet pass and evaluates no further rule for it.
    Pass,
    /// Drops the packet, and all later ones of its flow, where the block decides.
    Drop,
    /// As drop. No reset is sent.
    Reject,
    /// Reports.
    Alert,
}

impl Action {
    /// Its name in rules.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Drop => "drop",
            Self::Reject => "reject",
            Self::Alert => "alert",
        }
    }
}

/// Packets that a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// All IP packets.
    Ip,
    /// TCP: `tcp`, `tcp-pkt` and `tcp-stream`; [`Rule::looks`] tells them apart.
    Tcp,
    /// UDP.
    Udp,
    /// ICMP and ICMPv6.
    Icmp,
}

/// The data in which the contents of a rule are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Looks {
    /// The payload of each packet.
    pub packets: bool,
    /// The stream of a direction of a TCP connection.
    pub stream: bool,
    /// The payload of a segment that belongs to no stream, because its checksum is wrong.
    pub strays: bool,
}

/// A number in a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Within {
    /// Lowest number.
    pub low: u32,
    /// Highest number.
    pub high: u32,
    /// All other numbers instead.
    pub not: bool,
    /// The bits of the number that count.
    pub mask: u32,
}

impl Within {
    /// Whether it holds for this number.
    #[must_use]
    pub fn holds(&self, number: u32) -> bool {
        (self.low..=self.high).contains(&(number & self.mask)) != self.not
    }
}

/// How the flags of a TCP header are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlagTest {
    /// These and no others.
    Exactly,
    /// All of these, and perhaps others.
    All,
    /// At least one of these.
    Any,
    /// None of these.
    None,
}

/// A condition on the headers of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// Bytes of payload.
    Size(Within),
    /// Flags of TCP, as bits of the header; bits of the last number are ignored.
    Flags(FlagTest, u8, u8),
    /// Time to live.
    Ttl(Within),
    /// Type of ICMP.
    IcmpType(Within),
    /// Code of ICMP.
    IcmpCode(Within),
    /// Sequence number of TCP.
    Sequence(u32),
    /// Acknowledgement number of TCP.
    Acknowledged(u32),
    /// Window of TCP.
    Window(Within),
    /// Protocol number of IP.
    Number(Within),
    /// Bytes of the streams of a TCP connection.
    Streams(StreamSize),
    /// Age, packets or bytes of the flow.
    Flow(FlowSize),
    /// Flags of the fragment field of IPv4: more fragments, do not fragment, reserved, from bit 0.
    FragBits(FlagTest, u8),
    /// Offset of the fragment, in units of 8 bytes.
    FragOffset(Within),
    /// Identification of IPv4.
    Id(Within),
    /// An option of IPv4; None: any.
    IpOption(Option<u8>),
    /// Source and destination address are the same.
    SameIp,
    /// Type of service of IPv4.
    Tos(Within),
    /// Largest segment size among the options of TCP.
    Mss(Within),
    /// Identifier of ICMP.
    IcmpId(Within),
    /// Sequence number of ICMP.
    IcmpSequence(Within),
    /// MTU that ICMPv6 reports.
    Mtu(Within),
    /// An event of the packet.
    Event(PacketEvent),
    /// A checksum is right, or is not.
    Checksum(ChecksumOf, bool),
}

/// Where a content may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Counted from the beginning of the payload or stream.
    Absolute {
        /// First byte of the range that is searched.
        offset: u32,
        /// Byte behind that range; None: there is no end.
        end: Option<u32>,
    },
    /// Counted from the end of the match before.
    Relative {
        /// Bytes between the two.
        distance: i32,
        /// Bytes of the range that is searched; None: there is no end.
        within: Option<u32>,
    },
}

/// A string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// The string; in lower case if `nocase`.
    pub bytes: Vec<u8>,
    /// ASCII letters match in both cases.
    pub nocase: bool,
    /// The string must not be there.
    pub negated: bool,
    /// Where it may stand.
    pub place: Place,
    /// It must end where the payload or the stream seen so far ends.
    pub at_end: bool,
    /// Variables that take the place of numbers in `place`.
    pub variables: Option<PlaceVariables>,
}

/// Variables that say where a content may stand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlaceVariables {
    /// For `offset`.
    pub offset: Option<Amount<i64>>,
    /// For `depth`.
    pub depth: Option<Amount<i64>>,
    /// For `distance`.
    pub distance: Option<Amount<i64>>,
    /// For `within`.
    pub within: Option<Amount<i64>>,
}

impl PlaceVariables {
    /// The place, with these values of the variables.
    #[must_use]
    pub fn place(&self, values: &[u64]) -> Place {
        let number = |amount: Option<Amount<i64>>| amount.map(|amount| amount.signed(values));
        let unsigned = |number: i64| u32::try_from(number).unwrap_or(if number < 0 { 0 } else { u32::MAX });
        if self.distance.is_some() || self.within.is_some() {
            let distance = number(self.distance).unwrap_or_default();
            let distance = i32::try_from(distance).unwrap_or(if distance < 0 { i32::MIN } else { i32::MAX });
            Place::Relative { distance, within: number(self.within).map(unsigned) }
        } else {
            let offset = number(self.offset).map_or(0, unsigned);
            Place::Absolute { offset, end: number(self.depth).map(|depth| offset.saturating_add(unsigned(depth))) }
        }
    }
}

/// A regular expression.
#[derive(Debug, Clone)]
pub struct Pcre {
    /// The expression.
    pub regex: pcre2::bytes::Regex,
    /// It must not match.
    pub negated: bool,
    /// It is searched behind the match before.
    pub relative: bool,
}

/// A condition on bytes, in the order of the rule.
#[derive(Debug, Clone)]
pub enum Step {
    /// A string.
    Content(Content),
    /// A regular expression.
    Pcre(Pcre),
    /// Whether so many bytes are there.
    DataAt {
        /// The position, counted from the beginning or from the end of the match before.
        at: Amount<i64>,
        /// Counted from the match before.
        relative: bool,
        /// The byte must not be there.
        negated: bool,
    },
    /// A number that is compared.
    ByteTest(ByteTest),
    /// A number that says where the next step begins.
    ByteJump(ByteJump),
    /// A number that becomes the value of a variable.
    ByteExtract(ByteExtract),
    /// A number from which the value of a variable is made.
    ByteMath(ByteMath),
    /// Bytes that the buffer has.
    Size(Within),
    /// The buffer is a number of 4 bytes, the highest first.
    Value(Within),
    /// The buffer is one of these, or is none of them.
    OneOf(Arc<HashSet<Vec<u8>>>, bool),
    /// Bytes in base64, and conditions on what they stand for.
    Base64(Base64),
    /// The buffer is in a set, or is not.
    Dataset(DatasetUse),
}

/// `base64_decode` and `base64_data`.
#[derive(Debug, Clone)]
pub struct Base64 {
    /// Letters that are decoded at most.
    pub count: usize,
    /// The first letter, counted from the beginning or from the end of the match before.
    pub at: i64,
    /// Counted from the match before.
    pub relative: bool,
    /// Conditions on the decoded bytes.
    pub steps: Vec<Step>,
}

impl Step {
    /// Whether the step names bytes that must be there.
    #[must_use]
    pub fn is_positive(&self) -> bool {
        match self {
            Self::Content(content) => !content.negated,
            Self::Pcre(pcre) => !pcre.negated,
            _ => false,
        }
    }
}

/// A rule's condition on the flow of a packet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FlowTest {
    /// Whether the flow is established.
    pub established: Option<bool>,
    /// Whether the packet goes to the server.
    pub to_server: Option<bool>,
    /// Whether the packet was put together from fragments.
    pub rebuilt: Option<bool>,
}

impl FlowTest {
    /// Whether the rule asks nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A piece of a string for which the filter looks: 3 to 8 bytes in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(Vec<u8>);

impl Key {
    /// Shortest and longest key.
    pub const LENGTHS: std::ops::RangeInclusive<usize> = 3..=8;

    /// These bytes as a key, if there are 3 to 8.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        Self::LENGTHS.contains(&bytes.len()).then(|| Self(bytes.to_ascii_lowercase()))
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// The part of a content that a rule names for the filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Index of the group of conditions on messages; None: it is a condition on payload or stream.
    pub group: Option<usize>,
    /// Index of the content among the conditions.
    pub step: usize,
    /// The part.
    pub part: std::ops::Range<usize>,
}

/// A rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// What it does.
    pub action: Action,
    /// Packets that it is about.
    pub protocol: Protocol,
    /// Source addresses.
    pub source: Addresses,
    /// Source ports.
    pub source_ports: Ranges,
    /// Destination addresses.
    pub destination: Addresses,
    /// Destination ports.
    pub destination_ports: Ranges,
    /// Source and destination may be exchanged.
    pub both: bool,
    /// Group of the rule.
    pub gid: u32,
    /// Number of the rule in its group.
    pub sid: u32,
    /// Revision.
    pub rev: u32,
    /// What it reports.
    pub message: String,
    /// Description of its class, empty if the class has no description.
    pub category: String,
    /// 1 is the most important.
    pub priority: u8,
    /// Words for other programs.
    pub metadata: Vec<(String, String)>,
    /// Its condition on the flow.
    pub flow: FlowTest,
    /// Its operations on bits of the flow, and its conditions on them.
    pub bits: Vec<FlowBit>,
    /// It matches, and reports nothing.
    pub silent: bool,
    /// It matches once in each direction of a flow, and its action is about the flow: it names nothing but the ends, or
    /// nothing but the protocol.
    pub once: bool,
    /// When it reports.
    pub threshold: Option<Threshold>,
    /// From when on it matches: its `detection_filter`.
    pub filter: Option<Threshold>,
    /// Addresses for which it reports nothing.
    pub suppress: Vec<Suppress>,
    /// The data in which its contents are searched.
    pub looks: Looks,
    /// Conditions on headers.
    pub checks: Vec<Check>,
    /// Conditions on the bytes of headers.
    pub headers: Vec<HeaderGroup>,
    /// Conditions on bytes.
    pub steps: Vec<Step>,
    /// Its conditions on the protocol of its direction.
    pub layers: Vec<Layer>,
    /// Its conditions on messages. If there are any, `steps` are about the stream or datagram of the message.
    pub messages: Option<Messages>,
    /// Counters of the flow that it changes or compares.
    pub counts: Vec<FlowCount>,
    /// Bits of addresses that it changes or asks for.
    pub host_bits: Vec<HostBit>,
    /// The content that the rule names for the filter.
    pub named: Option<Named>,
    /// Line of the file where it begins.
    pub line: usize,
    /// Number of the file among those of the set.
    pub file: usize,
}

impl Rule {
    /// Whether it asks for what other rules remember: bits and counters of the flow, bits of addresses.
    #[must_use]
    pub fn tests_memory(&self) -> bool {
        self.bits.iter().any(FlowBit::is_test)
            || self.counts.iter().any(FlowCount::is_test)
            || self.host_bits.iter().any(HostBit::is_test)
    }

    /// Whether it changes what other rules ask for.
    #[must_use]
    pub fn changes_memory(&self) -> bool {
        !(self.bits.iter().all(FlowBit::is_test)
            && self.counts.iter().all(FlowCount::is_test)
            && self.host_bits.iter().all(HostBit::is_test))
    }

    /// Order of evaluation in a packet: rules that change what others ask for come before rules that only ask.
    #[must_use]
    pub fn level(&self) -> usize {
        match (self.tests_memory(), self.changes_memory()) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => 2,
        }
    }
}
