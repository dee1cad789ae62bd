// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! How each rule is evaluated, and what the filter costs: for people, and as numbers.

use std::fmt;

use penstock_app::Protocol as AppProtocol;

use crate::buffers;
use crate::choose::Class;
use crate::filter::{BITMAPS, WAYS};
use crate::program::{Found, Program, tell};
use crate::rule::{Key, Protocol, Rule, Step};

/// The filter's resources, and its selectivity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Rules.
    pub rules: usize,
    /// Rules whose candidates the filter finds.
    pub filtered: usize,
    /// Rules that were left out.
    pub skipped: usize,
    /// Keys of 8 bytes.
    pub long_keys: usize,
    /// Keys of 3 to 7 bytes.
    pub short_keys: usize,
    /// Places of the exact table.
    pub places: usize,
    /// Rules about messages whose string for the filter is raw, transformable, for the host alone.
    pub classes: [usize; 3],
    /// Share of offsets in random data that go from the bitmaps to the exact table, by long and by short keys.
    pub random_hits: [f64; 2],
}

/// Names of the classes of frames in [`Program::tell`].
const CLASSES: [(u8, &str); 6] = [
    (tell::TCP_PAYLOAD, "TCP with payload"),
    (tell::TCP_EMPTY, "TCP without payload"),
    (tell::UDP, "UDP"),
    (tell::ICMP, "ICMP"),
    (tell::OTHER, "other IP"),
    (tell::TCP_ENDS, "TCP with SYN, FIN or RST"),
];

/// A key as text, with other bytes than printable ones between bars.
#[must_use]
pub fn key_text(key: &Key) -> String {
    let mut text = String::new();
    let mut in_bars = false;
    for byte in key.bytes() {
        let plain = (0x20..0x7F).contains(byte) && !b"|\"\\;".contains(byte);
        if plain == in_bars {
            text.push('|');
            in_bars = !plain;
        } else if !plain {
            text.push(' ');
        }
        if plain { text.push(char::from(*byte)) } else { text += &format!("{byte:02x}") }
    }
    if in_bars {
        text.push('|');
    }
    text
}

impl Program {
    /// The filter's resources, and its selectivity.
    #[must_use]
    pub fn cost(&self) -> Cost {
        let filtered = self.found.iter().filter(|found| !matches!(found, Found::Always(_))).count();
        let entries = self.filter.exact.iter().filter(|entry| entry.length > 0);
        let long_keys = entries.clone().filter(|entry| entry.length == 8).count();
        let share = |map: usize, bit: u8| {
            let set = self.filter.bitmaps[map].iter().filter(|entry| *entry & bit != 0).count();
            set as f64 / BITMAPS[map] as f64
        };
        Cost {
            rules: self.set.rules.len(),
            filtered,
            skipped: self.set.skipped.len(),
            long_keys,
            short_keys: entries.count() - long_keys,
            places: WAYS << self.filter.log,
            classes: [Class::Raw, Class::Transformable, Class::HostOnly]
                .map(|class| self.classes.iter().filter(|known| **known == Some(class)).count()),
            random_hits: [share(0, 1) * share(1, 1) * share(2, 1), share(0, 2) * share(1, 2)],
        }
    }

    /// Names of the classes of frames of which the host looks at every one.
    pub fn classes(&self) -> impl Iterator<Item = &'static str> + '_ {
        CLASSES.iter().filter(|(bit, _)| self.tell & bit != 0).map(|(_, name)| *name)
    }

    /// How a rule is evaluated, in a sentence.
    #[must_use]
    pub fn explain(&self, number: usize) -> String {
        let rule = &self.set.rules[number];
        let found = match &self.found[number] {
            Found::Key(key, id) => format!("the filter looks for \"{}\" (key {id})", key_text(key)),
            Found::Guards(protocol) => {
                format!(
                    "the host follows every direction in which the filter finds the beginning of {}",
                    protocol.map_or("a protocol that has files", AppProtocol::name)
                )
            }
            Found::Always(why) => format!("the host looks at every frame of its classes: {why}"),
        };
        let class = match self.classes.get(number).copied().flatten() {
            Some(class) => format!(" ({})", class_name(class)),
            None => String::new(),
        };
        let (place, action) = (self.set.place(rule), rule.action.name());
        format!("{place}: {}:{}: {action} {}; {found}{class}", rule.gid, rule.sid, about(rule))
    }
}

/// Name of a class.
#[must_use]
pub fn class_name(class: Class) -> &'static str {
    match class {
        Class::Raw => "raw",
        Class::Transformable => "transformable",
        Class::HostOnly => "host-only",
    }
}

/// The data that a rule inspects.
fn about(rule: &Rule) -> String {
    let protocol = match rule.protocol {
        Protocol::Ip => "ip",
        Protocol::Tcp => "tcp",
        Protocol::Udp => "udp",
        Protocol::Icmp => "icmp",
    };
    let groups = rule.messages.iter().flat_map(|messages| &messages.groups);
    let steps = || rule.steps.iter().chain(groups.clone().flat_map(|group| &group.steps));
    let contents = steps().filter(|step| matches!(step, Step::Content(_))).count();
    let expressions = steps().filter(|step| matches!(step, Step::Pcre(_))).count();
    let wheres = match (rule.looks.packets, rule.looks.stream) {
        (true, true) => "packets and streams",
        (false, true) => "streams",
        _ => "packets",
    };
    let count = |number: usize, noun: &str| match number {
        0 => String::new(),
        1 => format!(", 1 {noun}"),
        number => format!(", {number} {noun}s"),
    };
    if let Some(messages) = &rule.messages {
        let fields: Vec<&str> = messages.groups.iter().map(|group| buffers::name(group.field)).collect();
        let of = if fields.is_empty() { String::new() } else { format!(" ({})", fields.join(", ")) };
        let name = messages.protocol.map_or("any protocol that has files", AppProtocol::name);
        let contents = count(contents, "content");
        return format!("messages of {name}{of}{contents}{}", count(expressions, "pcre"));
    }
    format!("{protocol} in {wheres}{}{}", count(contents, "content"), count(expressions, "pcre"))
}

impl fmt::Display for Cost {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rules, filtered, skipped, long_keys, short_keys, places, classes, random_hits: [long, short] } =
            self;
        writeln!(to, "{rules} rules, {skipped} left out; the filter finds the candidates of {filtered}")?;
        if let [raw, transformable, host @ ..] = classes
            && classes.iter().sum::<usize>() > 0
        {
            let [host] = host;
            writeln!(to, "strings of messages: {raw} raw, {transformable} transformable, {host} host-only")?;
        }
        writeln!(
            to,
            "{} keys ({long_keys} of 8 bytes, {short_keys} shorter) in {places} places",
            long_keys + short_keys
        )?;
        write!(to, "in random data {:.4} % of offsets go to the exact table", 100.0 * (long + short))
    }
}
