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

/// Rules of an application: all take `steps` skip-and-matches, each of which matches `bytes` bytes. The last match
/// tells `rules` values apart, of at least five bytes if there are several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Paths {
    pub steps: usize,
    pub rules: usize,
    pub bytes: usize,
}

impl Paths {
    /// One rule of so many steps, each of which matches a byte.
    pub(crate) const fn of(steps: usize) -> Self {
        Self { steps, rules: 1, bytes: 1 }
    }

    /// The source of an application with these rules. Each skip but the first goes to the next `/`. Beside the rules,
    /// one for each earlier step matches other messages. Messages of [`Self::path`] leave at the application's port,
    /// all others are dropped.
    pub(crate) fn source(self, app: App) -> String {
        let App { name, number, udp, exit } = app;
        let mut text = format!(
            "message Request {{ option (type) = 1; bytes path = 1 [(dispatch) = true]; }}
application {name} = {number} {{ udp port {udp}; on Request {{\n"
        );
        let until =
            |at: usize, value: &str| if at == 0 { format!("\"{value}\"") } else { format!("until \"/\" \"{value}\"") };
        let begin = |steps: usize| (0..steps).map(|at| until(at, &self.value(at))).collect::<Vec<_>>().join(" ");
        for done in 1..self.steps {
            let _ = writeln!(text, "rule other{done} {{ path = {} until \"/\" \"c\" ..; }} => drop;", begin(done));
        }
        let last = self.steps - 1;
        for rule in 0..self.rules {
            let pattern = format!("{} {}", begin(last), until(last, &self.last(rule)));
            let _ = writeln!(text, "rule r{rule} {{ path = {pattern} ..; }} => port {exit};");
        }
        text + "default => drop; } }\n"
    }

    /// The field of a message that this rule matches.
    pub(crate) fn path(self, rule: usize) -> Vec<u8> {
        let mut values: Vec<String> = (0..self.steps - 1).map(|at| self.value(at)).collect();
        values.push(self.last(rule));
        values.join("/").into()
    }

    /// The bytes that a step compares.
    fn value(self, step: usize) -> String {
        if step == 0 { format!("{:a<1$}", "/", self.bytes) } else { "b".repeat(self.bytes) }
    }

    /// The bytes that the last step compares.
    fn last(self, rule: usize) -> String {
        let value = self.value(self.steps - 1);
        if self.rules == 1 {
            return value;
        }
        format!("{}{rule:04}", &value[..self.bytes.saturating_sub(4).max(1)])
    }
}

/// The number of a crowd's rules.
pub(crate) const CROWD: usize = 4096;

/// 4,096 rules that overlap each other. All take `steps` skip-and-matches with two sets of delimiters, and end with up
/// to 32 bytes:
///
/// - 2,046 values behind `/v`, each of which a rule for its first 16 bytes has, too;
/// - two values behind `/w`;
/// - a rule for all messages with `/v`, and one for all messages that begin with `/`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crowd {
    pub steps: usize,
}

impl Crowd {
    /// The source of the application. Messages of [`Self::path`] leave at the application's port, all others are
    /// dropped.
    pub(crate) fn source(self) -> String {
        let App { name, number, udp, exit } = PATHS;
        let mut text = format!(
            "message Request {{ option (type) = 1; bytes path = 1 [(dispatch) = true]; }}
application {name} = {number} {{ udp port {udp}; on Request {{
rule any {{ path = \"/\" ..; }} => drop;
rule v priority 1 {{ path = {} ..; }} => drop;\n",
            self.pattern("v", &[]),
        );
        for rule in 0..CROWD - 2 {
            let (branch, value) = self.value(rule);
            let (priority, value, action) = match rule % 2 == 0 || branch == "w" {
                true => (3, &value[..], format!("port {exit}")),
                false => (2, &value[..16], "drop".to_owned()),
            };
            let path = self.pattern(branch, &[value]);
            let _ = writeln!(text, "rule r{rule} priority {priority} {{ path = {path} ..; }} => {action};");
        }
        text + "default => drop; } }\n"
    }

    /// The field of a message that this rule matches.
    pub(crate) fn path(self, rule: usize) -> Vec<u8> {
        let (branch, value) = self.value(rule);
        match self.steps {
            1 => format!("/{branch}{value}"),
            2 => format!("/{branch};{value}"),
            steps => format!("/;{branch}{}/{value}", ":b".repeat(steps - 3)),
        }
        .into()
    }

    /// The pattern of a rule: up to its branch, or up to its end with a value.
    fn pattern(self, branch: &str, value: &[&str]) -> String {
        let begin = match self.steps {
            1 => return format!("\"/{branch}{}\"", value.concat()),
            2 => format!("\"/{branch}\""),
            _ => format!("\"/\" until \"/;\" \"{branch}\""),
        };
        let Some(value) = value.first() else { return begin };
        let middle = " until \":/\" \"b\"".repeat(self.steps.saturating_sub(3));
        format!("{begin}{middle} until \"/;\" \"{value}\"")
    }

    /// The second value of a rule, and its last one: of 32 bytes, with the branch if that is in the same match. Rules
    /// 2n and 2n + 1 share the last one, except for the last two rules.
    fn value(self, rule: usize) -> (&'static str, String) {
        let (branch, mut value) = if rule >= CROWD - 4 {
            ("w", format!("{rule:032}"))
        } else {
            // The numbers of no two values begin alike.
            let number = (rule / 2) as u64;
            let number = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            ("v", format!("{number:016x}{:016x}", !number))
        };
        if self.steps == 1 {
            value = match branch {
                "w" => value.split_off(2),
                _ => value[..30].to_owned(),
            };
        }
        (branch, value)
    }
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
        for (steps, rules, bytes) in
            [(1, 1, 1), (2, 1, 1), (4, 1, 1), (48, 1, 1), (4, 128, 1), (4, 1, 8), (4, 1, 32), (4, 32, 32)]
        {
            let paths = Paths { steps, rules, bytes };
            let compiled = penstock_l7_compiler::compile("bench", &paths.source(PATHS)).unwrap();
            let mut native = Rules::new(&compiled.program.applications[0], &compiled.program);
            for rule in [0, rules - 1] {
                let path = paths.path(rule);
                let last = if rules == 1 { bytes } else { bytes.max(5) };
                assert_eq!(path.len(), (steps - 1) * (bytes + 1) + last, "{paths:?}");
                let frame = Message { app: PATHS, path: &path, id: 1, size: 256, packets: 1 }.frames().remove(0);
                assert_eq!(native.decide(1, &frame[HEADERS..]).action, Action::Port(1), "{paths:?} {rule}");
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
        for steps in [1, 2, 4, 48] {
            let crowd = Crowd { steps };
            let compiled = penstock_l7_compiler::compile("bench", &crowd.source()).unwrap();
            let rules = &compiled.program.applications[0].types[0].rules;
            assert_eq!(rules.len(), CROWD);
            let mut native = Rules::new(&compiled.program.applications[0], &compiled.program);
            let mut matching = 0;
            let some: Vec<usize> = (0..CROWD - 2).step_by(22).collect();
            for rule in some.iter().copied() {
                let path = crowd.path(rule);
                // It ends within the first two beats of a payload.
                assert!(path.len() <= 126);
                let payload = [&[1, path.len() as u8], &path[..]].concat();
                let matches =
                    rules.iter().filter(|rule| rule.variants.iter().all(|variant| variant[0].1.matches(&path)));
                matching += matches.count();
                assert_eq!(native.decide(1, &payload).action, Action::Port(1), "{rule}");
                let shorter = [&[1, path.len() as u8 - 1], &path[..path.len() - 1]].concat();
                assert_eq!(native.decide(1, &shorter).action, Action::Drop, "{rule}");
            }
            // Four rules match each message, and two the last one, which is behind `/w`.
            assert_eq!((matching, some.last()), (4 * some.len() - 2, Some(&(CROWD - 4))), "{steps}");
        }
    }
}
