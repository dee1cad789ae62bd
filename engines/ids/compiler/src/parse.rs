// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! From the text of a rule to a [`Rule`].

use crate::byte_ops::{self, Wrong};
use crate::classes;
use crate::conditions::{self, FlowBit, Threshold};
use crate::ends::{self, Variables};
use crate::numbers::{flags, number, within};
use crate::rule::{Action, Check, Content, FlowTest, Looks, Pcre, Place, Protocol, Rule, Step};
use crate::text::{self, Split};

/// Why a rule is not loaded.
#[derive(Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is wrong: a sentence.
    Wrong(String),
    /// It uses this keyword, which the engine does not support; and a sentence.
    Unsupported(String, String),
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

/// What is wrong with the value of a keyword.
fn refused(keyword: &str, wrong: Wrong) -> Refusal {
    match wrong {
        Wrong::Value(message) => Refusal::Wrong(format!("{keyword}: {message}")),
        Wrong::Unsupported(message) => unsupported(keyword, format!("{keyword}: {message}")),
    }
}

fn unsupported(keyword: &str, message: impl Into<String>) -> Refusal {
    Refusal::Unsupported(keyword.to_owned(), message.into())
}

/// Bytes that a header check of a TCP segment may count: payload of the largest IP packet.
const MOST_BYTES: u32 = 65_535;
/// Steps that PCRE2 may take for one search, in its own unit; a search that needs more counts as limited.
const PCRE_LIMITS: &str = "(*LIMIT_MATCH=100000)(*LIMIT_DEPTH=10000)(*LIMIT_HEAP=4096)";

/// What the modifiers behind a content say of it.
#[derive(Default)]
struct Modifiers {
    offset: Option<u32>,
    depth: Option<u32>,
    distance: Option<i32>,
    within: Option<u32>,
    starts: bool,
    fast: Option<Option<(usize, usize)>>,
}

/// A content that is read with its modifiers.
struct Open {
    content: Content,
    modifiers: Modifiers,
}

/// What options have said.
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
    only_stream: Option<bool>,
    checks: Vec<Check>,
    steps: Vec<Step>,
    open: Option<Open>,
    /// A content has an offset, a depth or an end.
    placed: bool,
    named: Option<(usize, std::ops::Range<usize>)>,
}

/// Reads a rule that begins in this line of this file.
///
/// # Errors
/// The rule is wrong or uses what is not supported.
pub fn rule(text: &str, variables: &Variables, file: usize, line: usize) -> Result<Rule, Refusal> {
    let Split { header, options } = text::split(text)?;
    let [action, protocol, source, source_ports, direction, destination, destination_ports] = header;
    let action = match action {
        "alert" => Action::Alert,
        "drop" => Action::Drop,
        "pass" => Action::Pass,
        "reject" | "rejectsrc" | "rejectdst" | "rejectboth" => Action::Reject,
        other => return Err(format!("`{other}` is no action: alert, drop, reject or pass").into()),
    };
    let (protocol, given) = match protocol {
        "ip" => (Protocol::Ip, None),
        "tcp" => (Protocol::Tcp, None),
        "tcp-pkt" => (Protocol::Tcp, Some(false)),
        "tcp-stream" => (Protocol::Tcp, Some(true)),
        "udp" => (Protocol::Udp, None),
        "icmp" => (Protocol::Icmp, None),
        other => {
            let message = format!(
                "the protocol `{other}` is not supported: use ip, tcp, tcp-pkt, tcp-stream, udp or icmp, with contents \
                 as they are in the raw bytes"
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
    let mut read = Options::default();
    for (keyword, value) in options {
        read.option(keyword, value)?;
    }
    read.close()?;
    let looks = read.looks(protocol, given)?;
    let (category, class_priority) = read.class.as_deref().map_or(("", classes::PRIORITY), classes::class);
    Ok(Rule {
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
        threshold: read.threshold,
        looks,
        checks: read.checks,
        steps: read.steps,
        named: read.named,
        line,
        file,
    })
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
            "reference" | "target" => drop(needed()?),
            "flow" => self.flow(needed()?)?,
            "content" => {
                self.close()?;
                let (negated, inner) = text::quoted(needed()?)?;
                let bytes = text::bytes(inner)?;
                let place = Place::Absolute { offset: 0, end: None };
                let content = Content { bytes, nocase: false, negated, place, at_end: false };
                self.open = Some(Open { content, modifiers: Modifiers::default() });
            }
            "nocase" | "rawbytes" | "offset" | "depth" | "distance" | "within" | "startswith" | "endswith"
            | "fast_pattern" => self.modifier(keyword, value)?,
            "pcre" => {
                self.close()?;
                self.steps.push(Step::Pcre(pcre(needed()?)?));
            }
            "isdataat" => {
                self.close()?;
                self.steps.push(data_at(needed()?)?);
            }
            "byte_test" => {
                self.close()?;
                let test = byte_ops::byte_test(needed()?).map_err(|wrong| refused(keyword, wrong))?;
                self.steps.push(Step::ByteTest(test));
            }
            "byte_jump" => {
                self.close()?;
                let jump = byte_ops::byte_jump(needed()?).map_err(|wrong| refused(keyword, wrong))?;
                self.steps.push(Step::ByteJump(jump));
            }
            "flowbits" => match conditions::flowbits(needed()?)? {
                Some(bit) => self.bits.push(bit),
                None => self.silent = true,
            },
            "noalert" => self.silent = true,
            "threshold" | "detection_filter" => {
                let threshold = conditions::threshold(needed()?, keyword == "detection_filter");
                let again = self.threshold.replace(threshold.map_err(|wrong| refused(keyword, wrong))?);
                if again.is_some() {
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
                let message =
                    format!("the keyword `{other}` is not supported: write the rule without it, or leave the rule out");
                return Err(unsupported(other, message));
            }
        }
        Ok(())
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
        // A name instead of a number is a variable of byte_extract.
        let variable = || value.is_some_and(|value| value.starts_with(|first: char| first.is_ascii_alphabetic()));
        if matches!(keyword, "offset" | "depth" | "distance" | "within") && variable() {
            return Err(unsupported(
                keyword,
                format!("{keyword} with a variable is not supported: leave the rule out"),
            ));
        }
        match keyword {
            "nocase" => open.content.nocase = true,
            "offset" => modifiers.offset = Some(number(needed()?)?),
            "depth" => modifiers.depth = Some(number(needed()?)?),
            "distance" => modifiers.distance = Some(number(needed()?)?),
            "within" => modifiers.within = Some(number(needed()?)?),
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
        let Modifiers { mut offset, mut depth, distance, within, starts, fast } = modifiers;
        let length = u32::try_from(content.bytes.len()).unwrap_or(u32::MAX);
        if starts {
            if offset.is_some() || depth.is_some() || distance.is_some() || within.is_some() {
                return Err("startswith stands with none of offset, depth, distance and within".into());
            }
            (offset, depth) = (Some(0), Some(length));
        }
        let relative = distance.is_some() || within.is_some();
        if relative && (offset.is_some() || depth.is_some()) {
            return Err("a content has either offset and depth or distance and within".into());
        }
        for (name, range) in [("depth", depth), ("within", within)] {
            if range.is_some_and(|range| range < length) {
                return Err(format!("{name} is shorter than the content, which has {length} bytes").into());
            }
        }
        self.placed |= offset.is_some() || depth.is_some() || content.at_end;
        content.place = if relative {
            Place::Relative { distance: distance.unwrap_or(0), within }
        } else {
            let offset = offset.unwrap_or(0);
            Place::Absolute { offset, end: depth.map(|depth| offset.saturating_add(depth)) }
        };
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
                self.named = Some((self.steps.len(), part));
            }
        }
        self.steps.push(Step::Content(content));
        Ok(())
    }

    /// Whether contents are searched in packets or streams.
    fn looks(&self, protocol: Protocol, given: Option<bool>) -> Result<Looks, Refusal> {
        let packets = Looks { packets: true, stream: false };
        let stream = Looks { packets: false, stream: true };
        if protocol != Protocol::Tcp && protocol != Protocol::Ip {
            return Ok(packets);
        }
        let positive = self.steps.iter().any(Step::is_positive);
        if given == Some(true) && !positive {
            return Err("tcp-stream needs a content or pcre that is not negated".into());
        }
        Ok(match given.or(self.only_stream) {
            Some(true) if positive => stream,
            Some(false) => packets,
            // Conditions on headers are about packets; so are rules that name no bytes that must be there.
            _ if !self.checks.is_empty() || !positive => packets,
            _ if self.placed => Looks { packets: true, stream: true },
            _ => stream,
        })
    }
}

/// Pairs of words, separated by commas.
fn metadata(value: &str) -> Vec<(String, String)> {
    let pair = |text: &str| {
        let (key, value) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
        (key.to_owned(), value.trim().to_owned())
    };
    value.split(',').map(pair).filter(|(key, _)| !key.is_empty()).collect()
}

/// The value of `pcre`: `"/EXPRESSION/FLAGS"`.
fn pcre(value: &str) -> Result<Pcre, Refusal> {
    let (negated, inner) = text::quoted(value)?;
    let inner = inner.strip_prefix('/').ok_or("pcre is \"/EXPRESSION/FLAGS\"")?;
    let (expression, letters) = inner.rsplit_once('/').ok_or("pcre is \"/EXPRESSION/FLAGS\"")?;
    let mut builder = pcre2::bytes::RegexBuilder::new();
    let (mut relative, mut anchor) = (false, false);
    for letter in letters.chars() {
        match letter {
            'i' => drop(builder.caseless(true)),
            's' => drop(builder.dotall(true)),
            'm' => drop(builder.multi_line(true)),
            'x' => drop(builder.extended(true)),
            'A' => anchor = true,
            'R' => relative = true,
            // Limits are always ours; raw bytes are always what is searched.
            'O' | 'B' => {}
            other => {
                let message = format!("the flag {other} of pcre is not supported: i, s, m, x, A, R and O are");
                return Err(unsupported("pcre", message));
            }
        }
    }
    let anchor = if anchor { "\\A" } else { "" };
    // With the flag x the expression may end in a comment.
    let end = if letters.contains('x') { "\n" } else { "" };
    let compile = |builder: &pcre2::bytes::RegexBuilder, text: &str| {
        builder.build(text).map_err(|error| {
            let text = error.to_string();
            format!("pcre does not compile: {}", text.rsplit(": ").next().unwrap_or(&text))
        })
    };
    // Alone first: what is around it must not close its groups.
    compile(&builder, expression)?;
    let text = format!("{PCRE_LIMITS}{anchor}(?:{expression}{end})");
    let regex = compile(builder.jit_if_available(true), &text)?;
    Ok(Pcre { regex, negated, relative })
}

/// The value of `isdataat`: `[!]n[,relative]`.
fn data_at(value: &str) -> Result<Step, Refusal> {
    let mut words = value.split(',').map(str::trim);
    let first = words.next().unwrap_or_default();
    let (negated, at) = first.strip_prefix('!').map_or((false, first), |rest| (true, rest.trim()));
    if at.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return Err(unsupported("isdataat", "isdataat with a variable is not supported: leave the rule out"));
    }
    let mut relative = false;
    for word in words {
        match word {
            "relative" => relative = true,
            "rawbytes" => {}
            other => return Err(format!("isdataat has no `{other}`: write isdataat:NUMBER[,relative]").into()),
        }
    }
    Ok(Step::DataAt { at: number::<u32>(at)?.into(), relative, negated })
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
