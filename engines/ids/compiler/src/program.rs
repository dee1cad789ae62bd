// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rules with the filter that finds their candidates.

use std::collections::HashSet;

use penstock_app::{Field, Protocol as AppProtocol};

use crate::choose::{self, Class};
use crate::filter::Filter;
use crate::rule::{Check, FlagTest, Key, PacketEvent, Protocol, Rule, Spoken, Step};
use crate::set::Ruleset;

/// Classes of frames that the host looks at whatever the filter finds: bits of the register TELL.
pub mod tell {
    /// TCP with payload.
    pub const TCP_PAYLOAD: u8 = 1 << 0;
    /// TCP without payload.
    pub const TCP_EMPTY: u8 = 1 << 1;
    /// UDP.
    pub const UDP: u8 = 1 << 2;
    /// ICMP.
    pub const ICMP: u8 = 1 << 3;
    /// Other IP.
    pub const OTHER: u8 = 1 << 4;
    /// Frames without IP.
    pub const NOT_IP: u8 = 1 << 5;
    /// TCP with SYN, FIN or RST.
    pub const TCP_ENDS: u8 = 1 << 6;
}

/// How candidates of a rule are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// The filter finds this key, which has this number.
    Key(Key, u16),
    /// Keys that stand for all messages of a protocol are found; every frame behind them is a candidate.
    Guards(Option<AppProtocol>),
    /// Every frame of the rule's classes is a candidate, for this reason.
    Always(&'static str),
}

/// Rules and filter.
#[derive(Debug, Clone)]
pub struct Program {
    /// The rules.
    pub set: Ruleset,
    /// The filter's tables.
    pub filter: Filter,
    /// How candidates of each rule are found, in the order of the rules.
    pub found: Vec<Found>,
    /// Rules by number of their key.
    pub by_key: Vec<Vec<u32>>,
    /// Keys that announce messages for rules, by number: those of rules about messages, and those that stand for
    /// protocols.
    pub announces: Vec<bool>,
    /// Rules about messages by number of their key in `filter`.
    pub by_message_key: Vec<Vec<u32>>,
    /// A rule about messages whose string is in their body has no place for its key in `filter`.
    pub searches_bodies: bool,
    /// Rules without a key.
    pub always: Vec<u32>,
    /// Classes of frames for which there are rules without a key ([`tell`]).
    pub tell: u8,
    /// How strings of rules about messages stand in streams, in the order of the rules; None: the rule is not about
    /// messages.
    pub classes: Vec<Option<Class>>,
    /// The filter that finds candidates among the rules about messages in the fields of a message.
    pub fields: Filter,
    /// Rules about messages by number of their key in `fields`.
    pub by_field_key: Vec<Vec<u32>>,
    /// Fields of messages that may have a key in `fields`.
    pub keyed_fields: HashSet<Field>,
    /// Rules about messages without a key.
    pub always_messages: Vec<u32>,
    /// Classes of frames that are told whatever the rules are.
    also: u8,
}

/// Adds a rule to those of a key.
fn add(by_key: &mut Vec<Vec<u32>>, id: u16, number: u32) {
    if by_key.len() <= usize::from(id) {
        by_key.resize(usize::from(id) + 1, Vec::new());
    }
    by_key[usize::from(id)].push(number);
}

impl Program {
    /// Chooses keys and fills the tables.
    #[must_use]
    pub fn new(set: Ruleset) -> Self {
        Self::telling(set, 0)
    }

    /// The same for a host that looks at all frames of these classes, whatever the rules are.
    #[must_use]
    pub fn telling(set: Ruleset, also: u8) -> Self {
        let with_key = |rule: &&Rule| rule.messages.is_some() || !choose::keys(rule).is_empty();
        let guards = if set.rules.iter().any(|rule| rule.messages.is_some()) { GUARDS } else { 0 };
        let filter = Filter::for_keys(set.rules.iter().filter(with_key).count() + guards);
        Self::fill(set, filter, also)
    }

    /// The same rules with ways of 2^`log` entries, for a card that has such ways.
    #[must_use]
    pub fn sized(&self, log: u32) -> Self {
        Self::fill(self.set.clone(), Filter::new(log), self.also)
    }

    /// Whether there are rules about application protocols.
    #[must_use]
    pub fn reads_messages(&self) -> bool {
        self.set.rules.iter().any(|rule| rule.messages.is_some() || !rule.layers.is_empty())
    }

    /// Whether this key of the filter is that of a rule about messages.
    #[must_use]
    pub fn finds_messages(&self, key: u16) -> bool {
        self.by_message_key.get(usize::from(key)).is_some_and(|rules| !rules.is_empty())
    }

    fn fill(set: Ruleset, filter: Filter, also: u8) -> Self {
        let messages = || set.rules.iter().filter(|rule| rule.messages.is_some());
        let mut program = Self {
            filter,
            found: Vec::new(),
            by_key: Vec::new(),
            announces: Vec::new(),
            by_message_key: Vec::new(),
            searches_bodies: false,
            always: Vec::new(),
            tell: also,
            classes: Vec::new(),
            fields: Filter::for_keys(messages().count()),
            by_field_key: Vec::new(),
            keyed_fields: HashSet::new(),
            always_messages: Vec::new(),
            also,
            set: Ruleset::default(),
        };
        for (number, rule) in (0..).zip(&set.rules) {
            if rule.checks.iter().any(|check| matches!(check, Check::Streams(_))) {
                // The host has to see the bytes of both directions.
                program.tell |= tell::TCP_PAYLOAD;
            }
            if rule.checks.iter().any(|check| matches!(check, Check::Flow(_))) {
                // The host has to count all packets of a flow.
                program.tell |= class(rule) | if rule.protocol == Protocol::Udp { 0 } else { tell::TCP_EMPTY };
            }
            if events(rule).any(PacketEvent::is_fault) {
                // A frame that cannot be decoded may be of any class to the card.
                program.tell |= EVERY_CLASS;
            }
            if events(rule).any(PacketEvent::is_of_stream) {
                // The host has to see the segments before this one, whatever the rule looks for.
                program.tell |= tell::TCP_PAYLOAD | tell::TCP_EMPTY;
            }
            if events(rule).any(PacketEvent::is_of_fragments) {
                program.tell |= class(rule);
            }
            if asks_for_first_bytes(rule) {
                // The first bytes of either direction name the protocol, whatever the rule looks for.
                program.tell |= tell::TCP_PAYLOAD;
            }
            let (found, class) = match &rule.messages {
                Some(messages) => program.place_message(number, rule, messages.protocol),
                None => (program.place(number, rule), None),
            };
            program.found.push(found);
            program.classes.push(class);
        }
        Self { set, ..program }
    }

    /// Finds a key for a rule about payload or streams.
    fn place(&mut self, number: u32, rule: &Rule) -> Found {
        let keys = choose::keys(rule);
        match keys.iter().find_map(|key| Some((key, self.filter.add(key)?))) {
            Some((key, id)) => {
                add(&mut self.by_key, id, number);
                // The card searches TCP and UDP only, so the host searches all else.
                self.tell |= class(rule) & (tell::ICMP | tell::OTHER);
                Found::Key(key.clone(), id)
            }
            None => {
                self.always.push(number);
                self.tell |= if is_about_ends(rule) { tell::TCP_ENDS } else { class(rule) };
                Found::Always(reason(rule, !keys.is_empty()))
            }
        }
    }

    /// Finds keys for a rule about messages: one for the fields, and those that tell the host of such messages.
    fn place_message(&mut self, number: u32, rule: &Rule, protocol: Option<AppProtocol>) -> (Found, Option<Class>) {
        match choose::message_keys(rule).iter().find_map(|key| self.fields.add(key)) {
            Some(id) => {
                add(&mut self.by_field_key, id, number);
                self.keyed_fields.extend(choose::message_fields(rule));
            }
            None => self.always_messages.push(number),
        }
        let (class_of, card) = choose::on_card(rule);
        let without = |program: &mut Self, why| {
            program.tell |= class(rule);
            (Found::Always(why), Some(Class::HostOnly))
        };
        let Some(card) = card else {
            return without(self, "no bytes that must be in a frame announce its messages");
        };
        let no_place = |program: &mut Self| {
            program.searches_bodies = true;
            without(program, "the exact table has no place for its keys")
        };
        let guards: Option<Vec<u16>> = card.guards.iter().map(|key| self.filter.add(key)).collect();
        let Some(guards) = guards else { return no_place(self) };
        for id in guards {
            self.announce(id);
        }
        if card.keys.is_empty() {
            return (Found::Guards(protocol), Some(class_of));
        }
        match card.keys.iter().find_map(|key| Some((key, self.filter.add(key)?))) {
            Some((key, id)) => {
                self.announce(id);
                add(&mut self.by_message_key, id, number);
                (Found::Key(key.clone(), id), Some(class_of))
            }
            None => no_place(self),
        }
    }

    /// Takes a key of messages, which may have no rule about payload or streams.
    fn announce(&mut self, id: u16) {
        let id = usize::from(id);
        if self.by_key.len() <= id {
            self.by_key.resize(id + 1, Vec::new());
        }
        if self.announces.len() <= id {
            self.announces.resize(id + 1, false);
        }
        self.announces[id] = true;
    }
}

/// All classes of [`tell`].
const EVERY_CLASS: u8 = tell::TCP_PAYLOAD | tell::TCP_EMPTY | tell::UDP | tell::ICMP | tell::OTHER | tell::NOT_IP;

/// Keys that stand for all messages of protocols, at most.
const GUARDS: usize = 50;

/// Whether a rule asks what a TCP connection speaks by its first bytes. A datagram says it itself.
fn asks_for_first_bytes(rule: &Rule) -> bool {
    matches!(rule.protocol, Protocol::Tcp | Protocol::Ip)
        && rule.layers.iter().any(|layer| matches!(layer.protocol, Spoken::Known(_) | Spoken::Nothing))
}

/// Classes of frames that a rule can match.
fn class(rule: &Rule) -> u8 {
    let with_bytes = rule.messages.is_some() || rule.steps.iter().any(Step::is_positive);
    let tcp = tell::TCP_PAYLOAD | if with_bytes { 0 } else { tell::TCP_EMPTY };
    match rule.protocol {
        Protocol::Tcp => tcp,
        Protocol::Udp => tell::UDP,
        Protocol::Icmp => tell::ICMP,
        Protocol::Ip if rule.messages.is_some() || rule.layers.iter().any(|layer| !layer.negated) => tcp | tell::UDP,
        Protocol::Ip => tcp | tell::UDP | tell::ICMP | tell::OTHER,
    }
}

/// Whether a rule can match TCP packets with SYN, FIN or RST only, and needs no others to know the flow.
fn is_about_ends(rule: &Rule) -> bool {
    let asks = |check: &Check| match check {
        Check::Flags(FlagTest::Exactly | FlagTest::All, flags, _) => flags & ENDS != 0,
        Check::Flags(FlagTest::Any, flags, _) => *flags != 0 && flags & !ENDS == 0,
        _ => false,
    };
    rule.protocol == Protocol::Tcp && !rule.looks.stream && rule.flow.is_empty() && rule.checks.iter().any(asks)
}

/// FIN, SYN and RST as bits of TCP's header.
const ENDS: u8 = 7;

/// Why a rule has no key.
fn reason(rule: &Rule, has_keys: bool) -> &'static str {
    let contents = || {
        rule.steps.iter().filter_map(|step| match step {
            Step::Content(content) => Some(content),
            _ => None,
        })
    };
    if has_keys {
        "the exact table has no place for its keys"
    } else if contents().any(|content| !content.negated) {
        "all its contents are shorter than 3 bytes"
    } else if rule.steps.iter().any(Step::is_positive) {
        "it has a pcre and no content that must be there"
    } else {
        "it has no content that must be there"
    }
}

/// Events of packets that a rule asks for.
fn events(rule: &Rule) -> impl Iterator<Item = PacketEvent> {
    rule.checks.iter().filter_map(|check| if let Check::Event(event) = check { Some(*event) } else { None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::set::{Options, RuleFile};

    fn program(rules: &[&str]) -> Program {
        let text: String = rules
            .iter()
            .enumerate()
            .map(|(at, rule)| {
                let (protocol, options) = rule.split_once(' ').unwrap();
                format!("alert {protocol} any any -> any any ({options} sid:{at};)\n")
            })
            .collect();
        Program::new(Ruleset::read(&[RuleFile { name: "r".into(), text }], &Options::default()).unwrap())
    }

    #[test]
    fn first_bytes_of_connections_are_told() {
        let told = |rule: &str| program(&[rule]).tell;
        assert_eq!(told("smb content:\"word of mine\";"), tell::TCP_PAYLOAD);
        assert_eq!(told("sip content:\"word of mine\";"), tell::TCP_PAYLOAD);
        assert_eq!(told("tcp content:\"word of mine\"; app-layer-protocol:!pop3;"), tell::TCP_PAYLOAD);
        assert_eq!(told("snmp content:\"word of mine\";"), 0);
        assert_eq!(told("http content:\"word of mine\";"), 0);
    }

    /// The key of such a rule may stand in another frame than those that decide about the event.
    #[test]
    fn frames_before_an_event_are_told() {
        let told = |rule: &str| program(&[&format!("{rule} content:\"word of mine\";")]).tell;
        assert_eq!(told("tcp stream-event:pkt_retransmission;"), tell::TCP_PAYLOAD | tell::TCP_EMPTY);
        assert_eq!(told("udp decode-event:ipv4.frag_overlap;"), tell::UDP);
        assert_eq!(told("tcp decode-event:tcp.opt_duplicate;"), 0);
    }

    #[test]
    fn rules_have_their_rarest_key() {
        let program = program(&[
            "tcp content:\"User-Agent: Mozilla/5.0\"; content:\"Xq7zWv\";",
            "tcp content:\"xQ7zwV\"; nocase;",
            "udp content:\"ab\";",
            "icmp content:!\"abcdef\";",
            "tcp content:\"GET\"; fast_pattern; content:\"very-rare\";",
            "tcp pcre:\"/abc/\";",
        ]);
        let key = |at: usize| match &program.found[at] {
            Found::Key(key, id) => (String::from_utf8(key.bytes().to_vec()).unwrap(), *id),
            Found::Always(why) => ((*why).to_owned(), u16::MAX),
            Found::Guards(_) => panic!("no rule here has only guards"),
        };
        assert_eq!((key(0), key(1)), (("xq7zwv".into(), 0), ("xq7zwv".into(), 0)));
        assert_eq!(program.by_key, [vec![0, 1], vec![4]]);
        assert_eq!(key(2).0, "all its contents are shorter than 3 bytes");
        assert_eq!(key(3).0, "it has no content that must be there");
        assert_eq!(key(4), ("get".into(), 1));
        assert_eq!(key(5).0, "it has a pcre and no content that must be there");
        assert_eq!((program.always.clone(), program.tell), (vec![2, 3, 5], tell::UDP | tell::ICMP | tell::TCP_PAYLOAD));
    }

    /// A rule that asks for a flag of the ends needs no other frames; one that may match without them does.
    #[test]
    fn rules_about_ends_want_only_these() {
        let all = tell::TCP_PAYLOAD | tell::TCP_EMPTY;
        for (options, classes) in [
            ("flags:S,12;", tell::TCP_ENDS),
            ("flags:FA;", tell::TCP_ENDS),
            ("flags:+SP;", tell::TCP_ENDS),
            ("flags:*SR;", tell::TCP_ENDS),
            ("flags:*SA;", all),
            ("flags:!S;", all),
            ("flags:0;", all),
            ("flags:PA;", all),
            ("flags:F; flow:established;", all),
            ("dsize:0;", all),
        ] {
            assert_eq!(program(&[&format!("tcp {options}")]).tell, classes, "{options}");
        }
    }
}
