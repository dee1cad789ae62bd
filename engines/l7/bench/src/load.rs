// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rules of N skip-and-matches, and messages that need all of them.

use std::fmt::Write;

/// Bytes in front of a packet's payload: Ethernet, IPv4, UDP, QNP.
pub(crate) const HEADERS: usize = 64;

/// An application of the benches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct App {
    pub name: &'static str,
    pub number: u8,
    pub udp: u16,
    /// The Ethernet port at which its messages leave.
    pub exit: u8,
}

/// The application of benches with one.
pub(crate) const PATHS: App = App { name: "paths", number: 1, udp: 7000, exit: 1 };
/// The second application of benches with two.
pub(crate) const OTHERS: App = App { name: "others", number: 2, udp: 8000, exit: 0 };

/// The source of an application whose rules take `steps` skip-and-matches. Each skip but the first goes to the next
/// `/`. The last match tells `rules` values apart; beside them, a rule for each earlier step matches other messages.
/// Messages of [`path`] leave at the application's port, all others are dropped.
pub(crate) fn source(app: App, steps: usize, rules: usize) -> String {
    let App { name, number, udp, exit } = app;
    let mut text = format!(
        "message Request {{ option (type) = 1; bytes path = 1 [(dispatch) = true]; }}
application {name} = {number} {{ udp port {udp}; on Request {{\n"
    );
    let begin = |done: usize| (0..done).map(|step| if step == 0 { "\"/\"" } else { "until \"/\" \"b\"" });
    for done in 1..steps {
        let pattern = begin(done).collect::<Vec<_>>().join(" ");
        let _ = writeln!(text, "rule other{done} {{ path = {pattern} until \"/\" \"c\" ..; }} => drop;");
    }
    let pattern = begin(steps - 1).collect::<Vec<_>>().join(" ");
    let skip = if steps == 1 { "" } else { "until \"/\"" };
    for rule in 0..rules {
        let value = String::from_utf8_lossy(&value(steps, rule, rules)).into_owned();
        let _ = writeln!(text, "rule r{rule} {{ path = {pattern} {skip} \"{value}\" ..; }} => port {exit};");
    }
    text + "default => drop; } }\n"
}

/// The bytes that the last step compares.
fn value(steps: usize, rule: usize, rules: usize) -> Vec<u8> {
    let begin = if steps == 1 { "/" } else { "b" };
    if rules == 1 { begin.into() } else { format!("{begin}{rule:04}").into() }
}

/// The field of a message that this rule matches.
pub(crate) fn path(steps: usize, rule: usize, rules: usize) -> Vec<u8> {
    let mut path = Vec::new();
    for step in 0..steps - 1 {
        path.extend(if step == 0 { &b"/"[..] } else { b"/b" });
    }
    if steps > 1 {
        path.push(b'/');
    }
    path.extend(value(steps, rule, rules));
    path
}

/// Skip-and-matches of [`crowd`]'s rules, and the number of its rules.
pub(crate) const CROWD_STEPS: usize = 4;
pub(crate) const CROWD: usize = 4096;

/// The source of 4,096 rules for the application that overlap each other. All take four
/// skip-and-matches with two sets of delimiters, and end with up to 32 bytes:
///
/// - 2,046 values behind `v1`, each of which a rule for its first 16 bytes has, too;
/// - two values behind `w1`;
/// - a rule for all messages with `v1`, and one for all messages that begin with `/`.
///
/// Messages of [`crowd_path`] leave at the application's port, all others are dropped.
pub(crate) fn crowd() -> String {
    let App { name, number, udp, exit } = PATHS;
    let mut text = format!(
        "message Request {{ option (type) = 1; bytes path = 1 [(dispatch) = true]; }}
application {name} = {number} {{ udp port {udp}; on Request {{
rule any {{ path = \"/\" until \"/;\" ..; }} => drop;
rule v1 priority 1 {{ path = \"/\" until \"/;\" \"v1\" ..; }} => drop;\n"
    );
    for rule in 0..CROWD - 2 {
        let (branch, value) = crowd_value(rule);
        let begin = format!("\"/\" until \"/;\" \"{branch}\" until \":/\" \"b\" until \"/;\"");
        let (priority, value, action) = match rule % 2 == 0 || branch == "w1" {
            true => (3, &value[..], format!("port {exit}")),
            false => (2, &value[..16], "drop".to_owned()),
        };
        let _ = writeln!(text, "rule r{rule} priority {priority} {{ path = {begin} \"{value}\" ..; }} => {action};");
    }
    text + "default => drop; } }\n"
}

/// The second value of a rule, and its last one, of 32 bytes. Rules 2n and 2n + 1 share the last one, except for the last
/// two rules.
fn crowd_value(rule: usize) -> (&'static str, String) {
    if rule >= CROWD - 4 {
        return ("w1", format!("{rule:032}"));
    }
    // The numbers of no two values begin alike.
    let number = (rule / 2) as u64;
    let number = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ("v1", format!("{number:016x}{:016x}", !number))
}

/// The field of a message that this rule matches.
pub(crate) fn crowd_path(rule: usize) -> Vec<u8> {
    let (branch, value) = crowd_value(rule);
    format!("/;{branch}:b/{value}").into()
}

/// A message on the wire: packets of `size` bytes without FCS, or more if the path needs more.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Message<'a> {
    pub app: App,
    pub path: &'a [u8],
    pub id: u32,
    pub size: usize,
    pub packets: u8,
}

impl Message<'_> {
    /// The frames of its packets, in order.
    pub(crate) fn frames(&self) -> Vec<Vec<u8>> {
        (0..self.packets).map(|number| self.frame(number)).collect()
    }

    fn frame(&self, number: u8) -> Vec<u8> {
        let mut payload = Vec::new();
        if number == 0 {
            payload.extend([1, self.path.len() as u8]);
            payload.extend(self.path);
        }
        // The rest is one field behind those for rules, or bytes of no field where a packet is longer.
        let rest = (self.size - HEADERS).saturating_sub(payload.len());
        if rest >= 2 {
            payload.extend([200, (rest - 2).min(255) as u8]);
        }
        payload.resize(payload.len().max(self.size - HEADERS), 0);
        let length = (30 + payload.len()) as u16;
        let mut frame = vec![2; 12];
        frame.extend([8, 0, 0x45, 0]);
        frame.extend((length + 20).to_be_bytes());
        frame.extend([0, 0, 0, 0, 64, 17, 0, 0, 198, 18, 0, 1, 192, 0, 2, 1, 0x0F, 0xA0]);
        frame.extend(self.app.udp.to_be_bytes());
        frame.extend(length.to_be_bytes());
        frame.extend([0, 0, self.app.number, 1]);
        frame.extend(self.id.to_be_bytes());
        frame.extend([0, 0, 0, 0, self.packets, number, 0, 0]);
        frame.extend([0; 8]);
        frame.extend(payload);
        frame
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use penstock_l7::Rules;
    use penstock_l7_compiler::program::Action;

    /// Each path reaches its rule, after as many steps as the case says; a hash step more if the last match tells many
    /// values apart.
    #[test]
    fn messages_take_their_steps() {
        for (steps, rules) in [(1, 1), (2, 1), (4, 1), (48, 1), (4, 128)] {
            let compiled = penstock_l7_compiler::compile("bench", &source(PATHS, steps, rules)).unwrap();
            let mut native = Rules::new(&compiled.program.applications[0], &compiled.program);
            for rule in [0, rules - 1] {
                let path = path(steps, rule, rules);
                let frame = Message { app: PATHS, path: &path, id: 1, size: 128, packets: 1 }.frames().remove(0);
                assert_eq!(native.decide(1, &frame[HEADERS..]).action, Action::Port(1), "{steps} {rule}");
                assert_eq!(native.decide(1, &[1, 1, b'x']).action, Action::Drop);
            }
            let all = steps + usize::from(rules > 4);
            let told = format!("{all} step{}, {} cycles", if all == 1 { "" } else { "s" }, 9 + 2 * all);
            assert!(compiled.explain().contains(&told), "{told}: {}", compiled.explain());
        }
    }

    /// Rules of the crowd overlap, and each decides the messages that it should.
    #[test]
    fn a_crowd_overlaps() {
        let compiled = penstock_l7_compiler::compile("bench", &crowd()).unwrap();
        let rules = &compiled.program.applications[0].types[0].rules;
        assert_eq!(rules.len(), CROWD);
        let mut native = Rules::new(&compiled.program.applications[0], &compiled.program);
        let mut matching = 0;
        let some: Vec<usize> = (0..CROWD - 2).step_by(22).collect();
        for rule in some.iter().copied() {
            let path = crowd_path(rule);
            let payload = [&[1, path.len() as u8], &path[..]].concat();
            let matches = rules.iter().filter(|rule| rule.variants.iter().all(|variant| variant[0].1.matches(&path)));
            matching += matches.count();
            assert_eq!(native.decide(1, &payload).action, Action::Port(1), "{rule}");
            let shorter = [&[1, path.len() as u8 - 1], &path[..path.len() - 1]].concat();
            assert_eq!(native.decide(1, &shorter).action, Action::Drop, "{rule}");
        }
        // Four rules match each message, and two the last one, which is behind `w1`.
        assert_eq!((matching, some.last()), (4 * some.len() - 2, Some(&(CROWD - 4))));
    }
}
