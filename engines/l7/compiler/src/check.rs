// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! From a source to a program: names, numbers and limits.

use std::collections::{HashMap, HashSet};

use crate::fault::{Fault, Span, suggest};
use crate::limits::{
    APPLICATIONS, DISPATCH_NUMBER, LABELS, LONGEST_FIELD, LONGEST_ID, LONGEST_RULE_NAME, PORTS, QUEUES, SEEN, TENANTS,
    TYPES, UNITS,
};
use crate::pattern::{ByteSet, Condition, Pattern, Step};
use crate::program::{
    Action, Application, Field, Kind, MessageType, Priority, Program, Protocol, Rule, TypeRules, Variant,
};
use crate::syntax::{self, At, Piece, Source};

/// Variants of one rule: more than this many are a fault, not a table.
const MOST_VARIANTS: usize = 256;

/// Checks a source.
///
/// # Errors
/// All faults.
pub(crate) fn check(source: &Source) -> Result<Program, Vec<Fault>> {
    let mut check = Check::default();
    check.unique("message type", OTHER_NAME, source.messages.iter().map(|message| &message.name));
    check.unique("application", OTHER_NAME, source.applications.iter().map(|application| &application.name));
    let mut messages: Vec<MessageType> = source.messages.iter().map(|message| check.message(message)).collect();
    for (name, protocol, _) in Protocol::NAMED {
        let names = |application: &syntax::Application| {
            application.protocol.as_ref().is_some_and(|protocol| protocol.value == name)
        };
        if source.applications.iter().any(names) {
            messages.extend(protocol.messages());
        }
    }
    let numbers = source.messages.iter().filter_map(|message| message.number.as_ref());
    check.distinct("message type", numbers);
    if source.applications.len() > APPLICATIONS {
        let span = source.applications[APPLICATIONS].name.span;
        check.fault(span, format!("a block has {APPLICATIONS} applications: put this one into a block of its own"));
    }
    check.distinct("application", source.applications.iter().map(|application| &application.number));
    check.distinct("UDP port", source.applications.iter().filter_map(|application| application.port.as_ref()));
    let applications =
        source.applications.iter().map(|application| check.application(application, &messages)).collect();
    let program = Program { messages, applications };
    if program.applications.is_empty() && check.faults.is_empty() {
        let span = Span { line: 1, column: 1, length: 1 };
        check.fault(
            span,
            "the file has no rules: write `application NAME = NUMBER { udp port PORT; on MESSAGE { ... } }`",
        );
    }
    if check.faults.is_empty() { Ok(program) } else { Err(check.faults) }
}

#[derive(Default)]
struct Check {
    faults: Vec<Fault>,
}

const OTHER_NAME: &str = "choose another name";

impl Check {
    fn fault(&mut self, span: Span, message: impl Into<String>) {
        self.faults.push(Fault::new(span, message));
    }

    /// A number from `least` to `most`; a fault and `least` otherwise.
    fn bounded(&mut self, what: &str, number: &At<u64>, least: u64, most: u64) -> u64 {
        if (least..=most).contains(&number.value) {
            return number.value;
        }
        self.fault(number.span, format!("{what} is {least} to {most}, not {}", number.value));
        least
    }

    fn unique<'a>(&mut self, what: &str, way_out: &str, names: impl Iterator<Item = &'a At<String>>) {
        let mut seen: HashMap<&str, u32> = HashMap::new();
        for name in names {
            if let Some(line) = seen.insert(&name.value, name.span.line) {
                self.fault(name.span, format!("there is a {what} `{}` in line {line} already: {way_out}", name.value));
            }
        }
    }

    fn distinct<'a>(&mut self, what: &str, numbers: impl Iterator<Item = &'a At<u64>>) {
        let mut seen: HashMap<u64, u32> = HashMap::new();
        for number in numbers {
            if let Some(line) = seen.insert(number.value, number.span.line) {
                let text =
                    format!("another {what} has the number {} in line {line}: choose another number", number.value);
                self.fault(number.span, text);
            }
        }
    }

    fn message(&mut self, message: &syntax::Message) -> MessageType {
        self.unique("field", OTHER_NAME, message.fields.iter().map(|field| &field.name));
        self.distinct("field", message.fields.iter().map(|field| &field.number));
        let number = match &message.number {
            Some(number) => self.bounded("the number of a message type", number, 1, TYPES) as u8,
            None => {
                self.fault(message.name.span, "this message type has no number: write `option (type) = NUMBER;` in it");
                0
            }
        };
        let mut fields: Vec<Field> = message.fields.iter().map(|field| self.field(field)).collect();
        fields.sort_by_key(|field| (!field.dispatch, field.number));
        MessageType { name: message.name.value.clone(), protocol: Protocol::Qnp, number, fields }
    }

    fn field(&mut self, field: &syntax::Field) -> Field {
        let kind = Kind::named(&field.kind.value).unwrap_or_else(|| {
            let text = format!("there is no type `{}`; there are string, bytes, uint32 and uint64", field.kind.value);
            self.fault(field.kind.span, text);
            Kind::Bytes
        });
        let number = match field.dispatch {
            true => self.bounded("the number of a dispatch field", &field.number, 1, DISPATCH_NUMBER) as u8,
            false => self.bounded("the number of a field", &field.number, 1, 255) as u8,
        };
        Field { name: field.name.value.clone(), number, kind, dispatch: field.dispatch }
    }

    fn application(&mut self, application: &syntax::Application, messages: &[MessageType]) -> Application {
        let number = self.bounded("the number of an application", &application.number, 0, 255) as u8;
        let port = match &application.port {
            Some(port) => self.bounded("a UDP port", port, 1, 65_535),
            None => {
                self.fault(application.name.span, "this application has no port: write `udp port NUMBER;` in it");
                0
            }
        };
        self.unique(
            "part for messages of the type",
            "write all rules in one part",
            application.types.iter().map(|on| &on.message),
        );
        let protocol = application.protocol.as_ref().map_or(Some(Protocol::Qnp), |name| self.protocol(name));
        let mut types = Vec::new();
        if let Some(protocol) = protocol {
            types.extend(application.types.iter().filter_map(|on| self.on(on, protocol, messages)));
        }
        let protocol = protocol.unwrap_or_default();
        let id_bytes = self.id_bytes(application, protocol);
        let tenant = application.tenant.as_ref().map_or(0, |tenant| self.bounded("a tenant", tenant, 0, TENANTS - 1));
        // There is no message type whose fields a hash could be of.
        let name = "a message of any type".to_owned();
        let none = MessageType { name, protocol, number: 0, fields: Vec::new() };
        let others = application.others.as_ref().map_or(Action::Drop, |action| self.action(action, &none));
        Application {
            name: application.name.value.clone(),
            number,
            protocol,
            id_bytes,
            port: port as u16,
            tenant: tenant as u8,
            types,
            others,
        }
    }

    /// The protocol of this name.
    fn protocol(&mut self, name: &At<String>) -> Option<Protocol> {
        if let Some((_, protocol, _)) = Protocol::NAMED.iter().find(|(other, ..)| *other == name.value) {
            return Some(*protocol);
        }
        let near = suggest(&name.value, Protocol::NAMED.iter().map(|(other, ..)| *other));
        self.fault(name.span, format!("there is no protocol `{}`{near}", name.value));
        None
    }

    /// Bytes of a connection ID in a short header, which QUIC needs and no other protocol has.
    fn id_bytes(&mut self, application: &syntax::Application, protocol: Protocol) -> u8 {
        match (&application.id_bytes, protocol) {
            (Some(bytes), Protocol::Quic) => {
                self.bounded("the number of bytes of a connection ID", bytes, 0, LONGEST_ID as u64) as u8
            }
            (Some(bytes), _) => {
                self.fault(bytes.span, "only messages of QUIC have connection IDs: leave `id` out");
                0
            }
            (None, Protocol::Quic) => {
                let span = application.protocol.as_ref().map_or(application.name.span, |name| name.span);
                let text = "a packet with a short header does not tell how long its connection ID is: write \
                            `protocol quic id BYTES;`, with the length that your servers give out";
                self.fault(span, text);
                0
            }
            (None, _) => 0,
        }
    }

    fn on(&mut self, on: &syntax::On, protocol: Protocol, messages: &[MessageType]) -> Option<TypeRules> {
        let is_own = |message: &&MessageType| message.protocol == protocol;
        let Some(at) = messages.iter().position(|message| is_own(&message) && message.name == on.message.value) else {
            let near = suggest(&on.message.value, messages.iter().filter(is_own).map(|message| message.name.as_str()));
            self.fault(on.message.span, format!("there is no message type `{}`{near}", on.message.value));
            return None;
        };
        let message = &messages[at];
        self.unique("rule", OTHER_NAME, on.rules.iter().map(|rule| &rule.name));
        // Counters of rules go by their names, and the decision of all other messages has this one.
        for rule in on.rules.iter().filter(|rule| rule.name.value == "default") {
            self.fault(rule.name.span, "a rule needs another name: `default` is for messages that match no rule");
        }
        let longest = match &on.longest {
            Some(name) => self.dispatch_field(name, message),
            None => message.fields.iter().find(|field| field.kind == Kind::Name),
        };
        let mut rules: Vec<Rule> = on.rules.iter().map(|rule| self.rule(rule, message)).collect();
        if let Some(field) = longest {
            rules = rules.into_iter().flat_map(|rule| by_length(rule, field.number)).collect();
        }
        // The sort is stable: rules of equal priority stay in the order of the source.
        rules.sort_by_key(|rule| std::cmp::Reverse(rule.priority));
        let default = match &on.default {
            Some(action) => self.action(action, message),
            None => {
                self.fault(on.message.span, "what happens to messages that match no rule? Write `default => ACTION;`");
                Action::Drop
            }
        };
        Some(TypeRules { message: at, rules, default })
    }

    fn rule(&mut self, rule: &syntax::Rule, message: &MessageType) -> Rule {
        self.unique(
            "pattern for the field",
            "write alternatives as one pattern, with `|`",
            rule.conditions.iter().map(|condition| &condition.field),
        );
        let mut variants: Vec<Variant> = vec![Vec::new()];
        let mut seen = HashSet::new();
        for condition in rule.conditions.iter().filter(|condition| seen.insert(&condition.field.value)) {
            let Some(field) = self.dispatch_field(&condition.field, message) else { continue };
            let conditions: Vec<Condition> =
                condition.alternatives.iter().filter_map(|pieces| self.condition(pieces, field, message)).collect();
            let with = |variant: &Variant| {
                conditions.iter().map(|one| [variant.clone(), vec![(field.number, one.clone())]].concat()).collect()
            };
            variants = variants.iter().flat_map(|variant| -> Vec<Variant> { with(variant) }).collect();
            if variants.len() > MOST_VARIANTS {
                let text =
                    format!("the alternatives of this rule have more than {MOST_VARIANTS} combinations: divide it");
                self.fault(rule.name.span, text);
                variants.truncate(1);
            }
        }
        variants.iter_mut().for_each(|variant| variant.sort_by_key(|(number, _)| *number));
        // The number and the length of a field take two bytes.
        let needs = |variant: &Variant| variant.iter().map(|(_, condition)| 2 + condition.shortest()).sum::<usize>();
        if let Some(bytes) = variants.iter().map(needs).find(|bytes| message.protocol == Protocol::Qnp && *bytes > SEEN)
        {
            let text = format!(
                "this rule needs fields of {bytes} bytes or more, and the card sees the first {SEEN} bytes of a message: shorten its patterns or leave a field out"
            );
            self.fault(rule.name.span, text);
        }
        let action = self.action(&rule.action, message);
        Rule {
            name: rule.name.value.clone(),
            line: rule.name.span.line,
            priority: Priority { number: rule.priority, ..Priority::default() },
            variants,
            action,
        }
    }

    fn dispatch_field<'a>(&mut self, name: &At<String>, message: &'a MessageType) -> Option<&'a Field> {
        match message.fields.iter().find(|field| field.name == name.value) {
            Some(field) if field.dispatch => Some(field),
            Some(_) => {
                let text = format!(
                    "the card does not see `{0}`: write `[(dispatch) = true]` behind the field in `message {1}`, and senders put it into the first packet",
                    name.value, message.name
                );
                self.fault(name.span, text);
                None
            }
            None => {
                let near = suggest(&name.value, message.fields.iter().map(|field| field.name.as_str()));
                self.fault(name.span, format!("`{}` has no field `{}`{near}", message.name, name.value));
                None
            }
        }
    }

    /// A condition as it is written.
    fn condition(&mut self, pieces: &[At<Piece>], field: &Field, message: &MessageType) -> Option<Condition> {
        if let Some(width) = field.kind.width() {
            return match pieces {
                [At { value: Piece::Range(low, high), span }] => self.integer(*low, *high, width, *span, field),
                [At { value: Piece::Rest, .. }] => Some(Condition::Bytes(Pattern { steps: Vec::new(), open: true })),
                _ => {
                    let text = format!(
                        "`{}` is a {}: write a number, or a range as 1024 ..= 2047; the highest number is {}",
                        field.name,
                        field.kind.name(),
                        u64::MAX >> (64 - 8 * u32::from(width))
                    );
                    self.fault(pieces[0].span, text);
                    None
                }
            };
        }
        if field.kind == Kind::Name {
            return self.name_condition(pieces, field);
        }
        let mut pattern = Pattern::default();
        for piece in pieces {
            if pattern.open {
                self.fault(piece.span, "nothing can come behind `..`, which is the rest of the field");
                break;
            }
            if pattern.steps.len() > LONGEST_FIELD {
                break;
            }
            match &piece.value {
                Piece::Text(bytes) => pattern.steps.extend(bytes.iter().map(|byte| Step::Byte(Some(*byte)))),
                Piece::Skip(count) => {
                    let count = usize::try_from(*count).unwrap_or(usize::MAX).min(LONGEST_FIELD + 1);
                    pattern.steps.extend(std::iter::repeat_n(Step::Byte(None), count));
                }
                Piece::Until(bytes) if bytes.is_empty() => {
                    self.fault(piece.span, "`until` needs at least one delimiter")
                }
                Piece::Until(bytes) => pattern.steps.push(Step::Until(ByteSet::of(bytes))),
                Piece::Rest => pattern.open = true,
                Piece::Zone(_) => {
                    let text = format!("`{}` is no domain name: write its bytes as \"text\"", field.name);
                    self.fault(piece.span, text);
                }
                Piece::Range(..) => {
                    let text = format!("`{}` is a {}: write its bytes as \"text\"", field.name, field.kind.name());
                    self.fault(piece.span, text);
                }
            }
        }
        let (least, most) = (pattern.steps.len(), message.longest(field));
        if least > most {
            let text = match message.protocol {
                Protocol::Qnp => {
                    format!("this pattern needs {least} bytes or more, and a dispatch field has at most {most}")
                }
                _ => format!(
                    "this pattern needs {least} bytes or more, and the card sees at most {most} of `{}` in `{}`: write \
                     a shorter one, with `..` at its end",
                    field.name, message.name
                ),
            };
            self.fault(pieces[0].span, text);
            return None;
        }
        Some(Condition::Bytes(pattern))
    }

    /// A condition on a domain name: the name, or it and all names below it.
    fn name_condition(&mut self, pieces: &[At<Piece>], field: &Field) -> Option<Condition> {
        let (name, open, span) = match pieces {
            [At { value: Piece::Text(name), span }] => (name.as_slice(), false, *span),
            [At { value: Piece::Zone(name), span }] => (name.as_slice(), true, *span),
            [At { value: Piece::Rest, span }] => (&b""[..], true, *span),
            _ => {
                let text = format!(
                    "`{}` is a domain name: write \"name\", `zone \"name\"` for it and all names below it, or `..`",
                    field.name
                );
                self.fault(pieces[0].span, text);
                return None;
            }
        };
        let name = name.strip_suffix(b".").unwrap_or(name);
        let labels: Vec<&[u8]> = if name.is_empty() { Vec::new() } else { name.split(|byte| *byte == b'.').collect() };
        if labels.iter().any(|label| !(1..=63).contains(&label.len())) {
            self.fault(span, "between the dots of a domain name stand 1 to 63 bytes");
            return None;
        }
        if labels.len() > LABELS || name.len() + 1 > LONGEST_RULE_NAME {
            let text = format!(
                "rules know domain names of up to {LABELS} labels and {} bytes, as the card sees {SEEN} bytes of a message: write a zone above this name",
                LONGEST_RULE_NAME - 1
            );
            self.fault(span, text);
            return None;
        }
        let label = |label: &&[u8]| [&[label.len() as u8][..], &label.to_ascii_lowercase()].concat();
        let steps = labels.iter().rev().flat_map(label).map(|byte| Step::Byte(Some(byte))).collect();
        Some(Condition::Bytes(Pattern { steps, open }))
    }

    fn integer(&mut self, low: u64, high: u64, width: u8, span: Span, field: &Field) -> Option<Condition> {
        let bits = 8 * u32::from(width);
        let most = u64::MAX >> (64 - bits);
        if low > high || high > most {
            let text = match low > high {
                true => format!("the range is empty: {low} is above {high}"),
                false => format!("`{}` has {bits} bits: its highest value is {most}", field.name),
            };
            self.fault(span, text);
            return None;
        }
        Some(Condition::Integer { width, low, high })
    }

    fn action(&mut self, action: &At<syntax::Action>, message: &MessageType) -> Action {
        match &action.value {
            syntax::Action::Queue(queue) => Action::Queue(self.queue(queue)),
            syntax::Action::QueuesBy(low, high, name) => {
                let (first, bits) = self.queues(low, high);
                let field = self.dispatch_field(name, message).map_or(0, |field| field.number);
                Action::QueuesBy { first, bits, field }
            }
            syntax::Action::QueuesInTurn(low, high) => {
                let (first, bits) = self.queues(low, high);
                Action::QueuesInTurn { first, bits }
            }
            syntax::Action::Port(port) => {
                Action::Port(self.bounded("the number of an Ethernet port", port, 0, PORTS - 1) as u16)
            }
            syntax::Action::Unit(unit) => Action::Unit(self.bounded("the number of a unit", unit, 0, UNITS - 1) as u16),
            syntax::Action::UnitsBy(name) => {
                Action::UnitsBy(self.dispatch_field(name, message).map_or(0, |field| field.number))
            }
            syntax::Action::Drop => Action::Drop,
        }
    }

    /// The first of a group of queues, and the binary logarithm of their number.
    fn queues(&mut self, low: &At<u64>, high: &At<u64>) -> (u16, u8) {
        let (first, last) = (self.queue(low), self.queue(high));
        let count = u32::from(last) + 1 - u32::from(first.min(last));
        if first > last || !count.is_power_of_two() || count > 1 << 15 {
            let text =
                "a group has 2, 4, 8 or another power of two of queues, at most 32768: for example `queues 0 ..= 3`";
            self.fault(low.span, text);
        }
        (first, count.ilog2() as u8)
    }

    fn queue(&mut self, queue: &At<u64>) -> u16 {
        self.bounded("the number of a queue", queue, 0, QUEUES - 1) as u16
    }
}

/// A rule, divided by the length of its patterns for a field: the longest pattern has the highest priority among rules
/// that the source gives the same one, and an exact pattern a higher one than an open pattern of its length.
fn by_length(rule: Rule, field: u8) -> Vec<Rule> {
    let priority = |variant: &Variant| match variant.iter().find(|(number, _)| *number == field) {
        Some((_, Condition::Bytes(pattern))) => {
            Priority { length: pattern.steps.len(), is_exact: !pattern.open, ..rule.priority }
        }
        _ => rule.priority,
    };
    let mut priorities: Vec<Priority> = rule.variants.iter().map(priority).collect();
    priorities.sort_unstable();
    priorities.dedup();
    let part = |of: Priority| Rule {
        priority: of,
        variants: rule.variants.iter().filter(|variant| priority(variant) == of).cloned().collect(),
        ..rule.clone()
    };
    priorities.into_iter().map(part).collect()
}
