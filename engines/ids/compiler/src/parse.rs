// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! From the text of a rule to a [`Rule`].

use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use penstock_app::{Field, Protocol as AppProtocol};

use crate::buffers::{self, Absent, Group, Layer, Messages};
use crate::byte_ops::{self, Amount, Names, Wrong};
use crate::classes;
use crate::conditions::{self, FlowBit, FlowCount, HostBit, Threshold};
use crate::datasets::Datasets;
use crate::dates::{self, DateTest};
use crate::ends::{self, EndFault};
use crate::events::{MessageEvent, PacketEvent};
use crate::numbers::{flags, number, within};
use crate::packets::{self, Part};
use crate::rule::{
    Action, Base64, Check, Content, FlowTest, HeaderGroup, Looks, Named, Pcre, Place, PlaceVariables, Protocol, Rule,
    Spoken, Step, Within,
};
use crate::set;
use crate::text::{self, Split};
use crate::transforms::Transform;

/// Why a rule is not loaded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It is wrong: a sentence.
    Wrong(String),
    /// It uses this keyword, which the engine does not support; and a sentence.
    Unsupported(String, String),
    /// It uses a variable that is wrong: a sentence.
    Variable(String),
    /// It requires something that the engine is not: a sentence.
    Unmet(String),
}

impl From<EndFault> for Refusal {
    fn from(fault: EndFault) -> Self {
        match fault {
            EndFault::Header(message) => Self::Wrong(message),
            EndFault::Variable(message) => Self::Variable(message),
        }
    }
}

impl From<String> for Refusal {
    fn from(message: String) -> Self {
        Self::Wrong(message)
    }
}

impl From<&str> for Refusal {
    fn from(message: &str) -> Self {
        Self::Wrong(message.to_owned())
    }
}

/// A fault in the value of a keyword.
fn refused(keyword: &str, wrong: Wrong) -> Refusal {
    match wrong {
        Wrong::Value(message) => Refusal::Wrong(format!("{keyword}: {message}")),
        Wrong::Unsupported(message) => unsupported(keyword, format!("{keyword}: {message}")),
    }
}

fn unknown_event(keyword: &str, name: &str) -> Refusal {
    unsupported(
        keyword,
        format!("the event `{name}` is not one that engines/ids/language.md lists: leave the rule out"),
    )
}

fn unsupported(keyword: &str, message: impl Into<String>) -> Refusal {
    Refusal::Unsupported(keyword.to_owned(), message.into())
}

/// Bytes that a header check of a TCP segment may count: payload of the largest IP packet.
const MOST_BYTES: u32 = 65_535;
/// Steps that PCRE2 may take for one search, in its own unit; a search that needs more counts as limited.
pub(crate) const PCRE_LIMITS: &str = "(*LIMIT_MATCH=100000)(*LIMIT_DEPTH=10000)(*LIMIT_HEAP=4096)";

/// The modifiers of a content.
#[derive(Default)]
struct Modifiers {
    offset: Option<Amount<i64>>,
    depth: Option<Amount<i64>>,
    distance: Option<Amount<i64>>,
    within: Option<Amount<i64>>,
    starts: bool,
    /// Index of the group that a modifier behind the content names.
    group: Option<usize>,
    fast: Option<Option<(usize, usize)>>,
}

/// A content that is read with its modifiers.
struct Open {
    content: Content,
    modifiers: Modifiers,
}

/// The options read so far.
#[derive(Default)]
struct Options {
    message: Option<String>,
    sid: Option<u32>,
    gid: Option<u32>,
    rev: Option<u32>,
    class: Option<String>,
    priority: Option<u8>,
    metadata: Vec<(String, String)>,
    flow: FlowTest,
    bits: Vec<FlowBit>,
    silent: bool,
    threshold: Option<Threshold>,
    /// The value of `detection_filter`.
    filter: Option<Threshold>,
    only_stream: Option<bool>,
    checks: Vec<Check>,
    steps: Vec<Step>,
    open: Option<Open>,
    /// A content of the payload or stream has an offset, a depth or an end.
    placed: bool,
    named: Option<Named>,
    counts: Vec<FlowCount>,
    host_bits: Vec<HostBit>,
    layers: Vec<Layer>,
    /// Folder of the file that the rule stands in.
    folder: PathBuf,
    /// Sets of values of this rule and those before it.
    datasets: Datasets,
    groups: Vec<OpenGroup>,
    dates: Vec<DateTest>,
    bounces: bool,
    /// Events of messages with their protocols.
    events: Vec<(MessageEvent, AppProtocol)>,
    headers: Vec<HeaderGroup>,
    /// The group and the number of the `base64_decode` that was read last.
    decoded: Option<(Option<usize>, usize)>,
    /// The buffer that keywords are about; None: payload or stream.
    buffer: Option<Buffer>,
    /// Group of the condition that was read last; None: it is about payload or stream.
    last: Option<usize>,
    /// Direction of the messages, and the keyword that says so.
    way: Option<(bool, String)>,
    names: Names,
}

/// The bytes of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    /// A field of messages.
    Field(Field),
    /// A header of packets.
    Part(Part),
    /// Decoded bytes: of a group, or of payload or stream; and the number of the step that decodes them.
    Decoded(Option<usize>, usize),
}

/// Conditions on a buffer.
struct OpenGroup {
    target: Target,
    transforms: Vec<Transform>,
    steps: Vec<Step>,
    absent: Absent,
}

/// The buffer that was named last.
struct Buffer {
    keyword: String,
    target: Target,
    transforms: Vec<Transform>,
    /// Its group, once it has a condition.
    group: Option<usize>,
}

/// Reads a rule that begins in this line of this file. Names of lists are relative to `folder`; `datasets` has the sets
/// of values of the rules before it.
///
/// # Errors
/// The rule is wrong or uses what is not supported.
pub(crate) fn rule(
    text: &str,
    options: &set::Options,
    (folder, datasets): (&Path, &mut Datasets),
    file: usize,
    line: usize,
) -> Result<Rule, Refusal> {
    let variables = &options.variables;
    let Split { header, options: words } = text::split(text)?;
    let [action, protocol, source, source_ports, direction, destination, destination_ports] = header;
    let action = match action {
        "alert" => Action::Alert,
        "drop" => Action::Drop,
        "pass" => Action::Pass,
        "reject" | "rejectsrc" | "rejectdst" | "rejectboth" => Action::Reject,
        other => return Err(format!("`{other}` is no action: alert, drop, reject or pass").into()),
    };
    let mut read = Options { folder: folder.to_owned(), ..Options::default() };
    // The engine need not be able to read parts that it does not support.
    for (_, value) in words.iter().filter(|(keyword, _)| *keyword == "requires") {
        requires(value.unwrap_or_default())?;
    }
    let layer = Spoken::named(protocol);
    read.layers.extend(layer.map(|(protocol, _)| Layer { protocol, negated: false }));
    let (protocol, given) = match (protocol, layer) {
        (_, Some((_, carrier))) => (carrier, None),
        // Packets whatever their headers are, for rules about events of these.
        ("ip" | "pkthdr", _) => (Protocol::Ip, None),
        ("tcp", _) => (Protocol::Tcp, None),
        ("tcp-pkt", _) => (Protocol::Tcp, Some(false)),
        ("tcp-stream", _) => (Protocol::Tcp, Some(true)),
        ("udp", _) => (Protocol::Udp, None),
        ("icmp", _) => (Protocol::Icmp, None),
        (other, _) => {
            let message = format!(
                "the protocol `{other}` is not supported: use ip, tcp, tcp-pkt, tcp-stream, udp or icmp, with contents \
                 as they are in the raw bytes, or a protocol that engines/ids/language.md lists"
            );
            return Err(unsupported(other, message));
        }
    };
    let (both, exchange) = match direction {
        "->" => (false, false),
        "<-" => (false, true),
        "<>" => (true, false),
        other => return Err(format!("`{other}` is no direction: -> or <>").into()),
    };
    let mut from = (ends::addresses(source, variables)?, ends::ports(source_ports, variables)?);
    let mut to = (ends::addresses(destination, variables)?, ends::ports(destination_ports, variables)?);
    if exchange {
        std::mem::swap(&mut from, &mut to);
    }
    read.datasets = std::mem::take(datasets);
    let all = words.into_iter().try_for_each(|(keyword, value)| read.option(keyword, value));
    *datasets = std::mem::take(&mut read.datasets);
    all?;
    read.close()?;
    read.leave_buffer()?;
    read.settle()?;
    let messages = read.messages(protocol)?;
    let looks = match &messages {
        Some(_) if given == Some(false) || read.only_stream == Some(false) => {
            return Err("a rule about messages looks at streams: write it without tcp-pkt and no_stream".into());
        }
        Some(_) => Looks { packets: false, stream: false, strays: false },
        None => read.looks(protocol, given)?,
    };
    let named = |name| options.classes.class(name).unwrap_or_else(|| classes::class(name));
    let (category, class_priority) = read.class.as_deref().map_or(("", classes::PRIORITY), named);
    let rule = Rule {
        action,
        protocol,
        source: from.0,
        source_ports: from.1,
        destination: to.0,
        destination_ports: to.1,
        both,
        gid: read.gid.unwrap_or(1),
        sid: read.sid.ok_or("the rule has no sid: each rule needs its own number")?,
        rev: read.rev.unwrap_or(0),
        category: category.to_owned(),
        priority: read.priority.unwrap_or(class_priority),
        message: read.message.unwrap_or_default(),
        metadata: read.metadata,
        flow: read.flow,
        bits: read.bits,
        silent: read.silent,
        once: false,
        threshold: read.threshold,
        filter: read.filter,
        suppress: Vec::new(),
        looks,
        checks: read.checks,
        headers: read.headers,
        steps: read.steps,
        layers: read.layers,
        messages,
        counts: read.counts,
        host_bits: read.host_bits,
        named: read.named,
        line,
        file,
    };
    fault_alone(&rule)?;
    let once = matches_once(&rule, layer.is_some());
    Ok(Rule { once, ..rule })
}

/// Whether a rule matches once in each direction. Suricata's types `ip_only` and `pd_only` (rules/rule-types): nothing
/// in them can change from packet to packet. `named`: its header names a protocol of messages.
fn matches_once(rule: &Rule, named: bool) -> bool {
    let is_bare = |messages: &Messages| {
        messages.groups.is_empty() && messages.dates.is_empty() && messages.events.is_empty() && !messages.bounces
    };
    let names_nothing_else = rule.messages.as_ref().is_none_or(is_bare)
        && rule.steps.is_empty()
        && rule.headers.is_empty()
        && rule.checks.is_empty()
        && rule.counts.is_empty()
        && !rule.tests_memory()
        && !named;
    let of_ends = rule.layers.is_empty()
        && rule.messages.is_none()
        && rule.flow.is_empty()
        && !rule.source.has_exceptions
        && !rule.destination.has_exceptions;
    let of_protocol = !rule.layers.is_empty() && rule.flow.established.is_none() && rule.flow.rebuilt.is_none();
    names_nothing_else && (of_ends || of_protocol)
}

/// Refuses a rule that can never match: of a frame that cannot be decoded, nothing but its fault, its addresses and its
/// protocol is known.
fn fault_alone(rule: &Rule) -> Result<(), Refusal> {
    let faults: Vec<u64> = rule.checks.iter().filter_map(fault_of).collect();
    let Some(first) = faults.first() else { return Ok(()) };
    let alone = faults.len() == rule.checks.len()
        && faults.iter().all(|other| other == first)
        && rule.source_ports.has_all_ports()
        && rule.destination_ports.has_all_ports()
        && rule.steps.is_empty()
        && rule.headers.is_empty()
        && rule.layers.is_empty()
        && rule.messages.is_none()
        && rule.flow.is_empty()
        && !rule.tests_memory();
    if alone {
        return Ok(());
    }
    let message = "a frame with this event cannot be decoded: such a rule has no other conditions than addresses and \
                   the protocol, and its ports are any";
    Err(unsupported("decode-event", message.to_owned()))
}

/// The event of a frame that cannot be decoded, as a bit, if a condition asks for one.
fn fault_of(check: &Check) -> Option<u64> {
    match check {
        Check::Event(event) => Some(*event).filter(|event| event.is_fault()).map(PacketEvent::bit),
        _ => None,
    }
}

impl Options {
    fn option(&mut self, keyword: &str, value: Option<&str>) -> Result<(), Refusal> {
        let needed = || value.ok_or_else(|| Refusal::Wrong(format!("{keyword} has no value: write {keyword}:…;")));
        match keyword {
            "msg" => self.message = Some(text::unescaped(text::quoted(needed()?)?.1)),
            "sid" => self.sid = Some(number(needed()?)?),
            "gid" => self.gid = Some(number(needed()?)?),
            "rev" => self.rev = Some(number(needed()?)?),
            "classtype" => self.class = Some(needed()?.to_owned()),
            "priority" => {
                let priority = number(needed()?)?;
                if !(1..=255).contains(&priority) {
                    return Err("a priority is a number from 1 to 255".into());
                }
                self.priority = Some(priority);
            }
            "metadata" => self.metadata.extend(metadata(needed()?)),
            "reference" | "target" | "tag" | "requires" => drop(needed()?),
            // Nothing is stored.
            "tls.store" | "filestore" => {}
            "flow" => self.flow(needed()?)?,
            "content" | "uricontent" => {
                self.close()?;
                let (negated, inner) = text::quoted(needed()?)?;
                let bytes = text::bytes(inner)?;
                let place = Place::Absolute { offset: 0, end: None };
                let content = Content { bytes, nocase: false, negated, place, at_end: false, variables: None };
                let mut modifiers = Modifiers::default();
                if keyword == "uricontent" {
                    self.go(Some(true), keyword)?;
                    modifiers.group = Some(self.group(Target::Field(Field::Uri), &[]));
                }
                self.names.group = modifiers.group.or_else(|| self.current());
                self.open = Some(Open { content, modifiers });
            }
            "prefilter" => {
                // Behind a condition that is no content, it names what is looked at first, which changes no result.
                if let Some(open) = self.open.as_mut().filter(|_| self.named.is_none()) {
                    open.modifiers.fast.get_or_insert(None);
                }
            }
            "dataset" | "datarep" => {
                self.close()?;
                let (folder, rated) = (self.folder.clone(), keyword == "datarep");
                let step = self.datasets.read(needed()?, rated, &folder).map_err(|wrong| refused(keyword, wrong))?;
                match self.buffer.as_ref().map(|buffer| buffer.target) {
                    Some(Target::Decoded(..)) => {
                        let message = format!("{keyword} behind base64_data is not supported: use from_base64");
                        return Err(unsupported(keyword, message));
                    }
                    Some(_) => self.push(Step::Dataset(step)),
                    None => return Err(format!("{keyword} is about a buffer: write it behind one").into()),
                }
            }
            "nocase" | "rawbytes" | "offset" | "depth" | "distance" | "within" | "startswith" | "endswith"
            | "fast_pattern" => self.modifier(keyword, value)?,
            "pcre" => {
                self.close()?;
                let (pcre, buffer) = pcre(needed()?)?;
                match buffer {
                    Some((field, way)) => {
                        self.go(way, "pcre")?;
                        let group = self.group(Target::Field(field), &[]);
                        self.put(Some(group), Step::Pcre(pcre));
                    }
                    None => self.push(Step::Pcre(pcre)),
                }
            }
            "isdataat" | "byte_test" | "byte_jump" | "byte_extract" | "byte_math" => {
                self.close()?;
                let value = needed()?;
                let relative = value.split(',').any(|word| word.trim() == "relative");
                let group = self.beside(relative);
                self.names.group = group;
                let names = &mut self.names;
                let step = match keyword {
                    "isdataat" => data_at(value, names),
                    "byte_test" => byte_ops::byte_test(value, names).map(Step::ByteTest),
                    "byte_jump" => byte_ops::byte_jump(value, names).map(Step::ByteJump),
                    "byte_extract" => byte_ops::byte_extract(value, names).map(Step::ByteExtract),
                    _ => byte_ops::byte_math(value, names).map(Step::ByteMath),
                };
                self.put(group, step.map_err(|wrong| refused(keyword, wrong))?);
            }
            "bsize" => {
                self.close()?;
                if self.buffer.is_none() {
                    return Err("bsize is about a buffer: write it behind one, for example http.uri".into());
                }
                self.push(Step::Size(within(needed()?, u32::MAX)?));
            }
            "urilen" => {
                let (size, form) =
                    needed()?.split_once(',').map_or((needed()?, "norm"), |(size, form)| (size, form.trim()));
                let field = match form {
                    "norm" => Field::Uri,
                    "raw" => Field::UriRaw,
                    other => return Err(format!("urilen counts the URI as `norm` or `raw`, not `{other}`").into()),
                };
                self.ask(field, Some(true), keyword, Step::Size(within(size, u32::MAX)?))?;
            }
            "dns.opcode" => self.ask(Field::Opcode, None, keyword, Step::Value(within(needed()?, 15)?))?,
            "dns.rcode" => self.ask(Field::ResponseCode, Some(false), keyword, Step::Value(within(needed()?, 15)?))?,
            "dns.rrtype" => self.ask(Field::RecordType, None, keyword, Step::Value(within(needed()?, 65_535)?))?,
            "tls.version" | "ssl_version" => {
                let version = needed()?.trim_matches('"').to_ascii_lowercase();
                let version = version.strip_prefix("tls").unwrap_or(&version);
                self.ask(Field::TlsVersion, None, keyword, whole(version, false))?;
            }
            "tls.subject" | "tls.issuerdn" | "tls.fingerprint" => {
                let (negated, text) = text::quoted(needed()?)?;
                let field = match keyword {
                    "tls.subject" => Field::Subject,
                    "tls.issuerdn" => Field::Issuer,
                    _ => Field::Fingerprint,
                };
                let mut bytes = text::bytes(text)?;
                if field == Field::Fingerprint {
                    bytes.make_ascii_lowercase();
                }
                self.ask(field, None, keyword, anywhere(bytes, negated))?;
            }
            "tls.cert_chain_len" => {
                self.ask(Field::ChainLength, Some(false), keyword, Step::Value(within(needed()?, u32::MAX)?))?;
            }
            "ftpbounce" => {
                self.close()?;
                self.go(Some(true), keyword)?;
                self.bounces = true;
            }
            "decode-event" | "stream-event" => {
                let name = needed()?;
                let event = PacketEvent::named(keyword, name).ok_or_else(|| unknown_event(keyword, name))?;
                self.checks.push(Check::Event(event));
            }
            "app-layer-event" => {
                self.close()?;
                let name = needed()?;
                let (event, protocol, way) = MessageEvent::named(name).ok_or_else(|| unknown_event(keyword, name))?;
                self.go(way, name)?;
                self.events.push((event, protocol));
            }
            "ssl_state" => {
                let way = match needed()? {
                    "client_hello" => true,
                    "server_hello" => false,
                    other => {
                        let message =
                            format!("the state `{other}` of ssl_state is not supported: client_hello, server_hello");
                        return Err(unsupported(keyword, message));
                    }
                };
                self.close()?;
                self.go(Some(way), keyword)?;
                self.events.push((MessageEvent::Hello, AppProtocol::Tls));
            }
            "ssh.protoversion" => self.ask(Field::SshProto, None, keyword, whole(needed()?, false))?,
            "ssh.softwareversion" => {
                let (negated, text) = text::quoted(needed()?)?;
                self.ask(Field::SshSoftware, None, keyword, anywhere(text::bytes(text)?, negated))?;
            }
            "filesize" => self.ask(Field::FileSize, None, keyword, Step::Value(file_size(needed()?)?))?,
            "filename" => {
                let (negated, text) = text::quoted(needed()?)?;
                self.ask(Field::FileName, None, keyword, in_any_case(text::bytes(text)?, negated, false))?;
            }
            "fileext" => {
                let (negated, text) = text::quoted(needed()?)?;
                let bytes = [b".".to_vec(), text::bytes(text)?].concat();
                self.ask(Field::FileName, None, keyword, in_any_case(bytes, negated, true))?;
            }
            "filemd5" | "filesha1" | "filesha256" => {
                let (field, bytes) = match keyword {
                    "filemd5" => (Field::FileMd5, 16),
                    "filesha1" => (Field::FileSha1, 20),
                    _ => (Field::FileSha256, 32),
                };
                let value = needed()?;
                let (negated, name) = value.strip_prefix('!').map_or((false, value), |rest| (true, rest.trim()));
                let hashes = hashes(&self.folder.join(name.trim_matches('"')), bytes)?;
                self.ask(field, None, keyword, Step::OneOf(Arc::new(hashes), negated))?;
            }
            "app-layer-protocol" => {
                let value = needed()?;
                let (negated, name) = value.strip_prefix('!').map_or((false, value), |rest| (true, rest.trim()));
                let name = match name.split_once(',').map(|(name, mode)| (name.trim(), mode.trim())) {
                    None => name,
                    // What the engine compares: the protocol of the packet's direction, and no relative of it.
                    Some((name, "exact" | "direction")) => name,
                    Some((_, mode)) => {
                        let message = format!("the mode `{mode}` of {keyword} is not supported: exact, direction");
                        return Err(unsupported(keyword, message));
                    }
                };
                let known = || Spoken::named(name).map(|(protocol, _)| protocol);
                let protocol = if name == "failed" { Some(Spoken::Nothing) } else { known() };
                let protocol = protocol.ok_or_else(|| {
                    unsupported(keyword, format!("the protocol `{name}` is not one that engines/ids/language.md lists"))
                })?;
                self.layers.push(Layer { protocol, negated });
            }
            "pkt_data" => {
                self.close()?;
                self.last = None;
                self.leave_buffer()?;
            }
            "absent" => {
                self.close()?;
                let absent = match value.map(str::trim) {
                    None => Absent::Must,
                    Some("or_else") => Absent::OrElse,
                    Some(other) => return Err(format!("absent has the value or_else or none, not `{other}`").into()),
                };
                let group = self.current().ok_or("absent stands behind the name of a buffer")?;
                self.groups[group].absent = absent;
            }
            "base64_decode" => {
                self.close()?;
                let base64 = base64_decode(value.unwrap_or_default())?;
                let group = self.beside(true);
                let steps = group.map_or(&self.steps, |group| &self.groups[group].steps);
                self.decoded = Some((group, steps.len()));
                self.put(group, Step::Base64(base64));
            }
            "base64_data" => {
                self.close()?;
                self.leave_buffer()?;
                let (group, step) = self.decoded.ok_or("base64_data stands behind a base64_decode")?;
                self.name(keyword, Target::Decoded(group, step));
            }
            _ if packets::part(keyword).is_some() => {
                self.close()?;
                self.leave_buffer()?;
                if let Some(part) = packets::part(keyword) {
                    self.name(keyword, Target::Part(part));
                }
            }
            _ if buffers::sticky(keyword).is_some() => {
                self.close()?;
                self.leave_buffer()?;
                if let Some((field, way)) = buffers::sticky(keyword) {
                    self.go(way, keyword)?;
                    self.name(keyword, Target::Field(field));
                }
            }
            _ if buffers::modifier(keyword).is_some() => {
                if let Some((field, way)) = buffers::modifier(keyword) {
                    self.go(way, keyword)?;
                    let group = self.group(Target::Field(field), &[]);
                    let open = self.open.as_mut().ok_or_else(|| format!("{keyword} stands behind no content"))?;
                    open.modifiers.group = Some(group);
                }
            }
            "flowint" => {
                self.counts.push(conditions::flowint(needed()?).map_err(|wrong| refused(keyword, wrong))?);
            }
            "xbits" | "hostbits" if value.is_some_and(|value| value.split(',').next() == Some("noalert")) => {
                self.silent = true;
            }
            "hostbits" => {
                self.host_bits.push(conditions::hostbits(needed()?).map_err(|wrong| refused(keyword, wrong))?);
            }
            "xbits" => self.host_bits.push(conditions::xbits(needed()?).map_err(|wrong| refused(keyword, wrong))?),
            "stream_size" => self.checks.push(Check::Streams(conditions::stream_size(needed()?)?)),
            "flowbits" => match conditions::flowbits(needed()?)? {
                Some(bit) => self.bits.push(bit),
                None => self.silent = true,
            },
            "noalert" => self.silent = true,
            "threshold" | "detection_filter" => {
                let is_filter = keyword == "detection_filter";
                let threshold = conditions::threshold(needed()?, is_filter).map_err(|wrong| refused(keyword, wrong))?;
                let again = self.threshold.is_some() || self.filter.is_some();
                *(if is_filter { &mut self.filter } else { &mut self.threshold }) = Some(threshold);
                if again {
                    return Err("a rule has one threshold or detection_filter".into());
                }
            }
            "dsize" => self.checks.push(Check::Size(within(needed()?, MOST_BYTES)?)),
            "ttl" => self.checks.push(Check::Ttl(within(needed()?, 255)?)),
            "itype" => self.checks.push(Check::IcmpType(within(needed()?, 255)?)),
            "icode" => self.checks.push(Check::IcmpCode(within(needed()?, 255)?)),
            "seq" => self.checks.push(Check::Sequence(number(needed()?)?)),
            "ack" => self.checks.push(Check::Acknowledged(number(needed()?)?)),
            "window" | "tcp.window" => self.checks.push(Check::Window(within(needed()?, 65_535)?)),
            "ip_proto" => self.checks.push(Check::Number(protocol_number(needed()?)?)),
            "flags" | "tcp.flags" => {
                let (test, flags, ignored) = flags(needed()?)?;
                self.checks.push(Check::Flags(test, flags, ignored));
            }
            other => {
                if let Some(date) = dates::test(other, value)? {
                    self.close()?;
                    self.go(Some(false), other)?;
                    self.dates.push(date);
                    return Ok(());
                }
                if let Some(check) = packets::check(other, value)? {
                    self.checks.push(check);
                    return Ok(());
                }
                if let Some(size) = conditions::flow_size(other, value.unwrap_or_default())? {
                    self.checks.push(Check::Flow(size));
                    return Ok(());
                }
                if let Some(transform) = Transform::read(other, value)? {
                    self.close()?;
                    let buffer =
                        self.buffer.as_mut().filter(|buffer| buffer.group.is_none()).ok_or_else(|| {
                            format!("{other} stands between the name of a buffer and its first content")
                        })?;
                    buffer.transforms.push(transform);
                    return Ok(());
                }
                let message =
                    format!("the keyword `{other}` is not supported: write the rule without it, or leave the rule out");
                return Err(unsupported(other, message));
            }
        }
        Ok(())
    }

    /// The messages of the rule go this way, says a keyword.
    fn go(&mut self, way: Option<bool>, keyword: &str) -> Result<(), Refusal> {
        match (way, &self.way) {
            (Some(way), Some((known, other))) if way != *known => {
                Err(format!("{keyword} and {other} are about messages of opposite directions: make two rules of it")
                    .into())
            }
            (Some(way), None) => {
                self.way = Some((way, keyword.to_owned()));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The group of conditions on this field; of fields that come several times, a new one.
    fn group(&mut self, target: Target, transforms: &[Transform]) -> usize {
        let same = |group: &OpenGroup| group.target == target && group.transforms == transforms;
        let many = matches!(target, Target::Field(field) if buffers::is_many(field));
        let known = self.groups.iter().position(same).filter(|_| !many);
        known.unwrap_or_else(|| {
            let transforms = transforms.to_vec();
            self.groups.push(OpenGroup { target, transforms, steps: Vec::new(), absent: Absent::Never });
            self.groups.len() - 1
        })
    }

    /// The group of the buffer that was named last.
    fn current(&mut self) -> Option<usize> {
        let mut buffer = self.buffer.take()?;
        let group = buffer.group.unwrap_or_else(|| self.group(buffer.target, &buffer.transforms));
        buffer.group = Some(group);
        self.buffer = Some(buffer);
        Some(group)
    }

    /// Adds a condition on the buffer that was named last, or on payload or stream.
    fn push(&mut self, step: Step) {
        let group = self.current();
        self.put(group, step);
    }

    /// The group of a condition that may be `relative` to the one before it: without a buffer before it, this is the
    /// buffer that a modifier behind that one names.
    fn beside(&mut self, relative: bool) -> Option<usize> {
        self.current().or(self.last.filter(|_| relative))
    }

    /// Adds a condition to a group, or to those on payload or stream.
    fn put(&mut self, group: Option<usize>, step: Step) {
        group.map_or(&mut self.steps, |group| &mut self.groups[group].steps).push(step);
        self.last = group;
    }

    /// Adds a condition that is a keyword of its own.
    fn ask(&mut self, field: Field, way: Option<bool>, keyword: &str, step: Step) -> Result<(), Refusal> {
        self.close()?;
        self.go(way, keyword)?;
        let group = self.group(Target::Field(field), &[]);
        self.groups[group].steps.push(step);
        Ok(())
    }

    /// The next keywords are about this buffer.
    fn name(&mut self, keyword: &str, target: Target) {
        self.buffer = Some(Buffer { keyword: keyword.to_owned(), target, transforms: Vec::new(), group: None });
    }

    /// Parts the conditions on buffers: those on decoded bytes go to the step that decodes, those on headers to the
    /// conditions on packets.
    fn settle(&mut self) -> Result<(), Refusal> {
        // A group on decoded bytes stands behind the one that decodes them, and may decode some of its own: the last
        // group goes first, so each one takes along what belongs to it.
        for at in (0..self.groups.len()).rev() {
            let Target::Decoded(group, step) = self.groups[at].target else { continue };
            if !self.groups[at].transforms.is_empty() {
                let message = "base64_data: decoded bytes cannot be transformed: write the rule without the transform";
                return Err(unsupported("base64_data", message));
            }
            if self.groups[at].absent != Absent::Never {
                return Err("absent is about a field of messages, not about base64_data".into());
            }
            let steps = std::mem::take(&mut self.groups[at].steps);
            let decoding = group.map_or(&mut self.steps, |group| &mut self.groups[group].steps);
            if let Some(Step::Base64(base64)) = decoding.get_mut(step) {
                base64.steps = steps;
            }
        }
        let is_message = |group: &OpenGroup| matches!(group.target, Target::Field(_));
        if let Some(named) = self.named.take() {
            let place = |group: usize| self.groups[..group].iter().filter(|group| is_message(group)).count();
            // Only strings that stand in payload or messages are looked for.
            self.named = match named.group {
                Some(group) if !is_message(&self.groups[group]) => None,
                group => Some(Named { group: group.map(place), ..named }),
            };
        }
        let all = std::mem::take(&mut self.groups);
        for group in all {
            let OpenGroup { target, transforms, steps, absent } = group;
            match target {
                Target::Part(_) if absent != Absent::Never => {
                    return Err("absent is about a field of messages".into());
                }
                Target::Part(part) => self.headers.push(HeaderGroup { part, transforms, steps }),
                _ => self.groups.push(OpenGroup { target, transforms, steps, absent }),
            }
        }
        self.groups.retain(is_message);
        Ok(())
    }

    /// Keywords are about payload or stream again.
    fn leave_buffer(&mut self) -> Result<(), Refusal> {
        match self.buffer.take() {
            Some(Buffer { keyword, group: None, .. }) => {
                Err(format!("nothing is asked of {keyword}: write a content, pcre or bsize behind it").into())
            }
            _ => Ok(()),
        }
    }

    /// The rule's conditions on messages.
    fn messages(&mut self, protocol: Protocol) -> Result<Option<Messages>, Refusal> {
        let mut named = self.layers.iter().filter(|layer| !layer.negated).map(|layer| layer.protocol);
        let (layer, known) = match named.next() {
            Some(Spoken::Read(protocol)) => (Some(protocol), None),
            Some(Spoken::Known(wire)) => (None, Some(wire)),
            Some(Spoken::Nothing) | None => (None, None),
        };
        let message = |group: OpenGroup| match group.target {
            Target::Field(field) => {
                Some(Group { field, transforms: group.transforms, steps: group.steps, absent: group.absent })
            }
            _ => None,
        };
        let groups: Vec<Group> = std::mem::take(&mut self.groups).into_iter().filter_map(message).collect();
        let dates = std::mem::take(&mut self.dates);
        let asked = std::mem::take(&mut self.events);
        if groups.is_empty() && dates.is_empty() && asked.is_empty() && !self.bounces {
            // A rule that names a protocol and no bytes is about all messages of it.
            let any = self.steps.is_empty() && self.checks.is_empty() && self.headers.is_empty();
            let to_server = self.flow.to_server;
            let (groups, dates) = (Vec::new(), Vec::new());
            let messages =
                |_| Messages { protocol: layer, to_server, groups, dates, bounces: false, events: Vec::new() };
            return Ok(layer.filter(|_| any).map(messages));
        }
        if let Some(wire) = known {
            let message = format!("the engine does not read messages of {}: leave the rule out", wire.name());
            return Err(unsupported("messages", message));
        }
        let mut app = layer;
        let ftp = self.bounces.then_some((Some(AppProtocol::Ftp), "ftpbounce"));
        let fields = groups.iter().map(|group| group.field).chain(dates.iter().map(|date| date.field));
        let named = fields.map(|field| (field.protocol(), buffers::name(field))).chain(ftp);
        let named = named.chain(asked.iter().map(|(_, protocol)| (Some(*protocol), "app-layer-event")));
        let mut before = None;
        for (protocol, name) in named.filter(|(protocol, _)| protocol.is_some()) {
            match (app == protocol, before) {
                (true, _) => before = Some(name),
                (false, Some(before)) => {
                    return Err(format!("{before} and {name} are of different protocols: no message has both").into());
                }
                (false, None) if app.is_some() => {
                    return Err(format!("{name} is not of the protocol that the rule names").into());
                }
                (false, None) => (app, before) = (protocol, Some(name)),
            }
        }
        let name = groups.first().map_or("the buffer", |group| buffers::name(group.field));
        let fits = match protocol {
            Protocol::Tcp | Protocol::Ip => true,
            Protocol::Udp => app == Some(AppProtocol::Dns),
            Protocol::Icmp => false,
        };
        if !fits {
            return Err(format!("{name} does not come in packets of this protocol").into());
        }
        let way = self.way.as_ref().map(|(way, _)| *way);
        if let (Some((way, keyword)), Some(asked)) = (&self.way, self.flow.to_server)
            && *way != asked
        {
            return Err(format!("{keyword} is about messages of the other direction than flow says").into());
        }
        if self.checks.iter().any(is_of_packet) || !self.headers.is_empty() {
            return Err(unsupported(
                "messages",
                "conditions on headers of packets beside buffers are not supported: leave one of the two out",
            ));
        }
        for group in &groups {
            if group.absent == Absent::Must && !group.steps.is_empty() {
                return Err("a field that is absent meets no condition: write absent:or_else, or absent alone".into());
            }
            for step in &group.steps {
                if let (Field::Host, Step::Content(content)) = (group.field, step)
                    && group.transforms.is_empty()
                    && content.bytes.iter().any(u8::is_ascii_uppercase)
                {
                    return Err("http.host is in lower case: write the content so, or use http.host.raw".into());
                }
            }
        }
        let (to_server, bounces) = (way.or(self.flow.to_server), self.bounces);
        let events = asked.into_iter().map(|(event, _)| event).collect();
        Ok(Some(Messages { protocol: app, to_server, groups, dates, bounces, events }))
    }

    fn flow(&mut self, value: &str) -> Result<(), Refusal> {
        for word in value.split(',') {
            match word.trim() {
                "established" => self.flow.established = Some(true),
                "not_established" => self.flow.established = Some(false),
                "stateless" => self.flow.established = None,
                "to_server" | "from_client" => self.flow.to_server = Some(true),
                "to_client" | "from_server" => self.flow.to_server = Some(false),
                "only_stream" => self.only_stream = Some(true),
                "no_stream" => self.only_stream = Some(false),
                "only_frag" => self.flow.rebuilt = Some(true),
                "no_frag" => self.flow.rebuilt = Some(false),
                other => {
                    let message = format!("`{other}` of the keyword flow is not supported: leave it or the rule out");
                    return Err(unsupported("flow", message));
                }
            }
        }
        Ok(())
    }

    fn modifier(&mut self, keyword: &str, value: Option<&str>) -> Result<(), Refusal> {
        let open = self.open.as_mut().ok_or_else(|| format!("{keyword} stands behind no content"))?;
        let needed = || value.ok_or_else(|| Refusal::Wrong(format!("{keyword} has no value: write {keyword}:…;")));
        let modifiers = &mut open.modifiers;
        let names = &self.names;
        let amount = |low: i64, high: i64| {
            let amount = names.position(needed()?).map_err(|wrong| refused(keyword, wrong))?;
            match amount {
                Amount::Fixed(number) if !(low..=high).contains(&number) => {
                    Err(Refusal::Wrong(format!("{keyword}: `{number}` is out of range")))
                }
                amount => Ok(Some(amount)),
            }
        };
        let (unsigned, signed) = ((0, i64::from(u32::MAX)), (i64::from(i32::MIN), i64::from(i32::MAX)));
        match keyword {
            "nocase" => open.content.nocase = true,
            "offset" => modifiers.offset = amount(unsigned.0, unsigned.1)?,
            "depth" => modifiers.depth = amount(unsigned.0, unsigned.1)?,
            "distance" => modifiers.distance = amount(signed.0, signed.1)?,
            "within" => modifiers.within = amount(unsigned.0, unsigned.1)?,
            "startswith" => modifiers.starts = true,
            "endswith" => open.content.at_end = true,
            "fast_pattern" => {
                modifiers.fast = Some(match value {
                    None | Some("only") => None,
                    Some(part) => {
                        let (from, length) = part.split_once(',').ok_or("write fast_pattern:OFFSET,LENGTH")?;
                        Some((number(from)?, number(length)?))
                    }
                });
            }
            // All contents are matched on raw bytes.
            _ => {}
        }
        Ok(())
    }

    /// Ends the content that is read.
    fn close(&mut self) -> Result<(), Refusal> {
        let Some(Open { mut content, modifiers }) = self.open.take() else { return Ok(()) };
        let Modifiers { mut offset, mut depth, distance, within, starts, group, fast } = modifiers;
        let length = u32::try_from(content.bytes.len()).unwrap_or(u32::MAX);
        if starts {
            if offset.is_some() || depth.is_some() || distance.is_some() || within.is_some() {
                return Err("startswith stands with none of offset, depth, distance and within".into());
            }
            (offset, depth) = (Some(Amount::Fixed(0)), Some(Amount::Fixed(length.into())));
        }
        let relative = distance.is_some() || within.is_some();
        if relative && (offset.is_some() || depth.is_some()) {
            return Err("a content has either offset and depth or distance and within".into());
        }
        for (name, range) in [("depth", depth), ("within", within)] {
            if matches!(range, Some(Amount::Fixed(range)) if range < i64::from(length)) {
                return Err(format!("{name} is shorter than the content, which has {length} bytes").into());
            }
        }
        let group = group.or_else(|| self.current());
        self.placed |= group.is_none() && (offset.is_some() || depth.is_some() || content.at_end);
        let variables = PlaceVariables { offset, depth, distance, within };
        content.place = variables.place(&[]);
        let named = [offset, depth, distance, within].into_iter().flatten();
        content.variables = named.into_iter().any(|amount| matches!(amount, Amount::Variable(_))).then_some(variables);
        if content.nocase {
            content.bytes.make_ascii_lowercase();
        }
        if let Some(part) = fast {
            if self.named.is_some() {
                return Err("fast_pattern stands behind one content of a rule".into());
            }
            let part = part.map_or(0..content.bytes.len(), |(from, length)| from..from.saturating_add(length));
            if part.is_empty() || part.end > content.bytes.len() {
                return Err(format!("fast_pattern names bytes outside of the content, which has {length}").into());
            }
            if !content.negated {
                let step = group.map_or(self.steps.len(), |group| self.groups[group].steps.len());
                self.named = Some(Named { group, step, part });
            }
        }
        self.put(group, Step::Content(content));
        Ok(())
    }

    /// Whether contents are searched in packets or streams.
    fn looks(&self, protocol: Protocol, given: Option<bool>) -> Result<Looks, Refusal> {
        let packets = Looks { packets: true, stream: false, strays: true };
        let stream = Looks { packets: false, stream: true, strays: true };
        if protocol != Protocol::Tcp && protocol != Protocol::Ip {
            return Ok(packets);
        }
        let positive = self.steps.iter().any(Step::is_positive);
        Ok(match given.or(self.only_stream) {
            Some(true) if positive => Looks { strays: false, ..stream },
            Some(false) => packets,
            // Conditions on headers are about packets, and so are rules without bytes that must be there.
            _ if self.checks.iter().any(is_of_packet) || !self.headers.is_empty() || !positive => packets,
            _ if self.placed => Looks { packets: true, ..stream },
            _ => stream,
        })
    }
}

/// Whether a condition is about one packet.
fn is_of_packet(check: &Check) -> bool {
    !matches!(check, Check::Streams(_) | Check::Flow(_))
}

/// Letters that one `base64_decode` decodes at most.
const LETTERS: usize = 65_535;

/// The value of `base64_decode`: `[bytes n][, offset n][, relative]`.
fn base64_decode(text: &str) -> Result<Base64, String> {
    let mut base64 = Base64 { count: LETTERS, at: 0, relative: false, steps: Vec::new() };
    for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        match word.split_whitespace().collect::<Vec<_>>()[..] {
            ["bytes", count] => base64.count = number::<usize>(count)?.min(LETTERS),
            ["offset", at] => base64.at = i64::from(number::<u32>(at)?),
            ["relative"] => base64.relative = true,
            _ => return Err(format!("base64_decode has no option `{word}`: bytes n, offset n and relative")),
        }
    }
    Ok(base64)
}

/// Pairs of words, separated by commas.
fn metadata(value: &str) -> Vec<(String, String)> {
    let pair = |text: &str| {
        let (key, value) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
        (key.to_owned(), value.trim().to_owned())
    };
    value.split(',').map(pair).filter(|(key, _)| !key.is_empty()).collect()
}

/// A content that may stand anywhere.
fn anywhere(bytes: Vec<u8>, negated: bool) -> Step {
    let place = Place::Absolute { offset: 0, end: None };
    Step::Content(Content { bytes, nocase: false, negated, place, at_end: false, variables: None })
}

/// A content in any case, anywhere or at the end.
fn in_any_case(mut bytes: Vec<u8>, negated: bool, at_end: bool) -> Step {
    bytes.make_ascii_lowercase();
    let place = Place::Absolute { offset: 0, end: None };
    Step::Content(Content { bytes, nocase: true, negated, place, at_end, variables: None })
}

/// The value of `filesize`: numbers may have a unit of KB, MB or GB.
fn file_size(text: &str) -> Result<Within, String> {
    let mut plain = text.replace(' ', "");
    for (unit, bytes) in [("KB", 1_u64 << 10), ("MB", 1 << 20), ("GB", 1 << 30)] {
        while let Some(at) = plain.to_ascii_uppercase().find(unit) {
            let begin = plain[..at].trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
            let size = number::<u64>(&plain[begin..at])?.saturating_mul(bytes).min(u32::MAX.into());
            plain.replace_range(begin..at + 2, &size.to_string());
        }
    }
    within(&plain, u32::MAX)
}

/// Bytes of a file with hashes.
const HASHES: u64 = 64 << 20;

/// The hashes in a file: the first word of each line in hexadecimal, of this many bytes.
fn hashes(file: &Path, bytes: usize) -> Result<HashSet<Vec<u8>>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", file.display());
    // A device or a pipe may have no end, or wait for a writer when it is opened.
    if !std::fs::metadata(file).map_err(failed)?.is_file() {
        return Err(format!("{}: this is no regular file: name a file with a hash in each line", file.display()));
    }
    let mut text = String::new();
    let opened = std::fs::File::open(file).map_err(failed)?;
    let size = opened.take(HASHES + 1).read_to_string(&mut text).map_err(failed)?;
    if size as u64 > HASHES {
        return Err(format!("{}: a file of hashes has {} MiB at most", file.display(), HASHES >> 20));
    }
    let mut hashes = HashSet::new();
    for (at, line) in (1..).zip(text.lines()) {
        let word = line.split_whitespace().next().unwrap_or_default();
        if word.is_empty() || word.starts_with('#') {
            continue;
        }
        let digits: Option<Vec<u8>> = word.chars().map(|digit| Some(digit.to_digit(16)? as u8)).collect();
        let hash: Vec<u8> =
            digits.unwrap_or_default().chunks(2).map(|pair| pair[0] << 4 | pair[pair.len() - 1]).collect();
        if hash.len() != bytes || word.len() != 2 * bytes {
            return Err(format!("{}:{at}: `{word}` is no hash of {bytes} bytes in hexadecimal", file.display()));
        }
        hashes.insert(hash);
    }
    Ok(hashes)
}

/// A content that is the whole buffer.
fn whole(text: &str, negated: bool) -> Step {
    let place = Place::Absolute { offset: 0, end: u32::try_from(text.len()).ok() };
    let bytes = text.as_bytes().to_vec();
    Step::Content(Content { bytes, nocase: false, negated, place, at_end: true, variables: None })
}

/// A field, and the direction of its messages if that is known.
type Buffered = Option<(Field, Option<bool>)>;

/// The value of `pcre`: `"/EXPRESSION/FLAGS"`, and the buffer that a flag names.
fn pcre(value: &str) -> Result<(Pcre, Buffered), Refusal> {
    let (not, plain) = value.strip_prefix('!').map_or((false, value), |rest| (true, rest.trim_start()));
    let (negated, inner) = if plain.starts_with('/') { (not, plain) } else { text::quoted(value)? };
    let inner = inner.strip_prefix('/').ok_or("pcre is \"/EXPRESSION/FLAGS\"")?;
    let (expression, letters) = inner.rsplit_once('/').ok_or("pcre is \"/EXPRESSION/FLAGS\"")?;
    let mut builder = pcre2::bytes::RegexBuilder::new();
    let (mut relative, mut anchor, mut lazy, mut buffer) = (false, false, false, None);
    for letter in letters.chars() {
        match letter {
            'i' => drop(builder.caseless(true)),
            's' => drop(builder.dotall(true)),
            'm' => drop(builder.multi_line(true)),
            'x' => drop(builder.extended(true)),
            'A' => anchor = true,
            'G' => lazy = true,
            'R' => relative = true,
            // Limits are always ours; raw bytes are always what is searched.
            'O' | 'B' => {}
            other => match buffers::flag(other) {
                Some(_) if buffer.is_some() => return Err("pcre has two flags that name buffers".into()),
                Some(named) => buffer = Some(named),
                None => {
                    let message = format!(
                        "the flag {other} of pcre is not supported: i, s, m, x, A, G, R, O, B and those of buffers are"
                    );
                    return Err(unsupported("pcre", message));
                }
            },
        }
    }
    let anchor = if anchor { "\\A" } else { "" };
    let lazy = if lazy { "(?U)" } else { "" };
    // With the flag x the expression may end in a comment.
    let end = if letters.contains('x') { "\n" } else { "" };
    let compile = |builder: &pcre2::bytes::RegexBuilder, text: &str| {
        builder.build(text).map_err(|error| {
            let text = error.to_string();
            format!("pcre does not compile: {}", text.rsplit(": ").next().unwrap_or(&text))
        })
    };
    // Alone first: the surrounding expression must not close its groups.
    compile(&builder, expression)?;
    let text = format!("{PCRE_LIMITS}{anchor}(?:{lazy}{expression}{end})");
    let regex = compile(builder.jit_if_available(true), &text)?;
    Ok((Pcre { regex, negated, relative }, buffer))
}

/// The version of Suricata whose language the engine follows.
const VERSION: [u32; 3] = [8, 0, 0];
/// Features of Suricata that rules may require and that are always there.
const FEATURES: [&str; 2] = ["ja3", "ja4"];

/// The value of `requires`: `feature NAME`, `keyword NAME` and `version >= 7.0.3 < 8 | …` with commas between them.
fn requires(text: &str) -> Result<(), Refusal> {
    for part in text.split(',').map(str::trim) {
        let (kind, value) = part.split_once(char::is_whitespace).unwrap_or((part, ""));
        let value = value.trim();
        let met = match kind {
            "feature" => FEATURES.contains(&value),
            "keyword" => is_keyword(value),
            "version" => {
                let all = value.split('|').map(is_version).collect::<Result<Vec<bool>, String>>()?;
                all.contains(&true)
            }
            other => return Err(format!("requires has `feature`, `keyword` and `version`, not `{other}`").into()),
        };
        if !met {
            return Err(Refusal::Unmet(format!("the rule requires `{part}`, which does not hold here")));
        }
    }
    Ok(())
}

/// Whether there is a keyword with this name.
fn is_keyword(name: &str) -> bool {
    // A known keyword fails without its value, if at all, and not because of its name.
    let tried = Options::default().option(name, None);
    !matches!(tried, Err(Refusal::Unsupported(keyword, _)) if keyword == name)
}

/// Whether conditions on the version all hold: `>= 7.0.3 < 8`, also without the spaces behind the signs.
fn is_version(text: &str) -> Result<bool, String> {
    let wrong = || format!("`{}` is no condition on a version: write version >= 7.0.3 < 9", text.trim());
    let (mut rest, mut all) = (text.trim(), true);
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let signs = ["<=", ">=", "==", "<", ">", "="];
        let sign = signs.into_iter().find(|sign| rest.starts_with(sign)).ok_or_else(wrong)?;
        let behind = rest[sign.len()..].trim_start();
        let end = behind.find(|letter: char| letter.is_whitespace() || "<>=".contains(letter)).unwrap_or(behind.len());
        let (version, more) = behind.split_at(end);
        let parts: Vec<&str> = version.split('.').collect();
        if parts.len() > VERSION.len() {
            return Err(wrong());
        }
        let mut numbers = [0; 3];
        for (number_of, part) in numbers.iter_mut().zip(parts) {
            *number_of = number(part)?;
        }
        all &= match sign {
            "<" => VERSION < numbers,
            "<=" => VERSION <= numbers,
            ">" => VERSION > numbers,
            ">=" => VERSION >= numbers,
            _ => VERSION == numbers,
        };
        rest = more.trim_start();
    }
    Ok(all)
}

/// The value of `isdataat`: `[!]n[,relative]`.
fn data_at(value: &str, names: &Names) -> Result<Step, Wrong> {
    let mut words = value.split(',').map(str::trim);
    let first = words.next().unwrap_or_default();
    let (negated, at) = first.strip_prefix('!').map_or((false, first), |rest| (true, rest.trim()));
    let mut relative = false;
    for word in words {
        match word {
            "relative" => relative = true,
            "rawbytes" => {}
            other => {
                return Err(Wrong::Value(format!("there is no `{other}`: write isdataat:NUMBER[,relative]")));
            }
        }
    }
    let at = if byte_ops::is_name(at) { names.position(at)? } else { Amount::Fixed(number::<u32>(at)?.into()) };
    Ok(Step::DataAt { at, relative, negated })
}

/// A protocol of IP by name or number.
fn protocol_number(value: &str) -> Result<crate::rule::Within, Refusal> {
    let (not, name) = value.strip_prefix('!').map_or(("", value), |rest| ("!", rest.trim()));
    let number = match name.to_ascii_lowercase().as_str() {
        "icmp" => "1",
        "igmp" => "2",
        "ipip" => "4",
        "tcp" => "6",
        "udp" => "17",
        "gre" => "47",
        "esp" => "50",
        "ah" => "51",
        "icmpv6" | "ipv6-icmp" => "58",
        "ospf" => "89",
        "sctp" => "132",
        _ => name,
    };
    Ok(within(&format!("{not}{number}"), 255)?)
}
