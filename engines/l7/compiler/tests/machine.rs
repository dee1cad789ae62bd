// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The words of compiled rules, executed according to engines/l7/machine.md, against the rules themselves.

#![allow(clippy::panic, clippy::unwrap_used)]

use std::fmt::Write;

use penstock_l7_compiler::hash::crc16;
use penstock_l7_compiler::image::{AppImage, ROW_WORDS};
use penstock_l7_compiler::pattern::Condition;
use penstock_l7_compiler::program::TypeRules;
use penstock_l7_compiler::{Compiled, compile};

/// Fields of a message as the walker finds them: offset and length by number.
type Fields = [Option<(usize, usize)>; 16];

/// A matcher: decision, steps.
struct Machine {
    rows: Vec<[u32; ROW_WORDS]>,
    starts: [u32; 16],
    classes: [u32; 32],
}

const BASE: usize = 1000;
const DECISIONS: usize = 4090;

impl Machine {
    fn new(image: &AppImage) -> Self {
        Self { rows: image.rows(BASE, DECISIONS), starts: image.starts(BASE, DECISIONS), classes: image.class_words() }
    }

    /// Decision, hash and steps of a message.
    fn run(&self, of_type: u8, payload: &[u8]) -> (usize, u16, usize) {
        let fields = walk(payload);
        let (mut branch, mut pos, mut end) = (self.starts[usize::from(of_type)], 0, 0);
        let mut hash = 0;
        for steps in 0..128 {
            if branch >> 13 & 1 == 1 {
                return ((branch & 0x1FFF) as usize - DECISIONS, hash, steps);
            }
            let row = &self.rows[(branch & 0x1FFF) as usize - BASE];
            hash = 0;
            let Some((new, new_end)) = self.skip(branch, pos, end, &fields, payload) else {
                branch = row[44];
                continue;
            };
            let rest = &payload[new..new_end];
            let length = ((row[45] & 63) as usize).min(rest.len());
            if row[45] >> 31 == 1 {
                let bucket = u32::from(crc16(&rest[..length])) & ((1 << (row[45] >> 20 & 15)) - 1);
                (pos, end, branch) = (new, new_end, (row[45] >> 8 & 0xFFF) + bucket);
                continue;
            }
            match (0..4).find(|at| fits(&row[11 * at..11 * at + 11], rest)) {
                Some(at) => {
                    hash = crc16(&rest[..length]);
                    (pos, end) = (new + (row[11 * at + 9] & 63) as usize, new_end);
                    branch = row[11 * at + 10];
                }
                None => branch = row[44],
            }
        }
        panic!("no decision");
    }

    fn skip(&self, branch: u32, pos: usize, end: usize, fields: &Fields, payload: &[u8]) -> Option<(usize, usize)> {
        let operand = branch >> 16;
        let (pos, end) = match branch >> 14 & 3 {
            0 => (pos + (operand & 0xFF) as usize, end),
            1 => {
                let class = |byte: u8| self.classes[usize::from(byte >> 3)] >> (4 * (byte & 7)) & 15;
                let at = payload[pos..end].iter().position(|byte| operand >> class(*byte) & 1 == 1)?;
                (pos + at + 1, end)
            }
            2 => {
                let (offset, length) = fields[(operand & 15) as usize]?;
                (offset + (operand >> 8) as usize, offset + length)
            }
            kind => panic!("skip {kind}"),
        };
        (pos <= end).then_some((pos, end))
    }
}

fn walk(payload: &[u8]) -> Fields {
    let mut fields = Fields::default();
    let mut at = 0;
    while let Some(&[number, length]) = payload.get(at..at + 2) {
        let (begin, length) = (at + 2, usize::from(length));
        if begin + length > payload.len().min(256) {
            break;
        }
        if let Some(field @ None) = fields.get_mut(usize::from(number)).filter(|_| number > 0) {
            *field = Some((begin, length));
        }
        at = begin + length;
    }
    fields
}

fn fits(words: &[u32], rest: &[u8]) -> bool {
    let byte = |at: usize| (words[at / 4] >> (8 * (at % 4))) as u8;
    let (mask, control) = (words[8], words[9]);
    let length = (control & 63) as usize;
    if rest.len() < length || (control >> 8 & 1 == 1 && rest.len() != length) {
        return false;
    }
    if control >> 9 & 1 == 1 {
        let number = |of: &dyn Fn(usize) -> u8| (0..8).fold(0u64, |number, at| number << 8 | u64::from(of(at)));
        let here = number(&|at| if mask >> at & 1 == 1 { rest[at] } else { 0 });
        return (number(&byte)..=number(&|at| byte(at + 8))).contains(&here);
    }
    (0..32).all(|at| mask >> at & 1 == 0 || rest[at] == byte(at))
}

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % end
    }

    fn text(&mut self, most: usize) -> String {
        (0..self.below(most + 1)).map(|_| ['a', 'b', '/', ':'][self.below(4)]).collect()
    }

    fn pattern(&mut self) -> String {
        let mut pattern = String::new();
        for _ in 0..1 + self.below(4) {
            let _ = match self.below(5) {
                0 => write!(pattern, "skip {} ", 1 + self.below(3)),
                1 => write!(pattern, "until \"{}\" ", ["/", ":", "/:", "a"][self.below(4)]),
                _ => write!(pattern, "\"{}\" ", self.text(3)),
            };
        }
        if self.below(2) == 0 { pattern + ".." } else { pattern }
    }
}

/// Rules over two strings and an integer; each has a different priority.
fn rules(random: &mut Random, count: usize) -> Compiled {
    loop {
        let mut text =
            "message M { option (type) = 3; string s = 2 [(dispatch) = true]; bytes t = 5 [(dispatch) = true];
            uint32 n = 7 [(dispatch) = true]; } application app = 1 { udp port 7000; on M {\n"
                .to_owned();
        for rule in 0..count {
            let mut conditions = String::new();
            for field in ["s", "t"] {
                if random.below(3) > 0 {
                    let more = if random.below(4) == 0 { format!(" | {}", random.pattern()) } else { String::new() };
                    let _ = write!(conditions, "{field} = {}{more}; ", random.pattern());
                }
            }
            if random.below(4) == 0 {
                let low = random.below(20);
                let _ = write!(conditions, "n = {low} ..= {}; ", low + random.below(10));
            }
            let action = ["queue 3", "units by t", "queues 4 ..= 7 by s", "drop"][random.below(4)];
            let _ = writeln!(text, "rule r{rule} priority {} {{ {conditions}}} => {action};", count - rule);
        }
        text += "default => units by n; } }";
        match compile("random.l7", &text) {
            Ok(compiled) => return compiled,
            Err(faults) => assert!(faults.to_string().contains("never matches"), "{faults}"),
        }
    }
}

/// The first rule that the fields of a message match.
fn first_that_matches<'a>(rules: &TypeRules, field: &dyn Fn(u8) -> Option<&'a [u8]>) -> Option<usize> {
    let fulfils = |(number, condition): &(u8, Condition)| field(*number).is_some_and(|value| condition.matches(value));
    rules.rules.iter().position(|rule| rule.variants.iter().any(|variant| variant.iter().all(fulfils)))
}

#[test]
fn rows_decide_as_the_rules_say() {
    let mut random = Random(7);
    let mut decided = [0usize; 2];
    for round in 0..400 {
        let compiled = rules(&mut random, 1 + round % 7);
        let machine = Machine::new(&compiled.images[0]);
        let rules = &compiled.program.applications[0].types[0];
        for _ in 0..60 {
            let mut payload = Vec::new();
            let mut values: Vec<(u8, Vec<u8>)> = Vec::new();
            for number in [2, 5, 7] {
                let value = match number {
                    7 => {
                        let mut bytes = (random.below(32) as u32).to_be_bytes().to_vec();
                        match random.below(12) {
                            0 => bytes.truncate(3),
                            1 => bytes.push(0),
                            _ => {}
                        }
                        bytes
                    }
                    _ => random.text(9).into_bytes(),
                };
                if random.below(10) > 0 {
                    payload.extend([number, value.len() as u8]);
                    payload.extend(&value);
                    values.push((number, value));
                }
            }
            let field =
                |number: u8| values.iter().find(|(other, _)| *other == number).map(|(_, value)| value.as_slice());
            let expected = first_that_matches(rules, &field);
            let action = expected.map_or(rules.default, |rule| rules.rules[rule].action);
            let hash = action.hashed().map_or(0, |number| field(number).map_or(0, crc16));
            let (decision, found, steps) = machine.run(3, &payload);
            // Decision 0 is for other types, the last one is the default.
            let index = expected.unwrap_or(rules.rules.len()) + 1;
            assert_eq!(decision, index, "{}\n{rules:#?}\n{:?}", compiled.explain(), String::from_utf8_lossy(&payload));
            assert!(action.hashed().is_none() || found == hash, "{action:?} {payload:?}");
            let (least, most) = compiled.images[0].types[0].steps()[&expected];
            assert!((least..=most).contains(&steps), "{least} {most} {steps}");
            decided[usize::from(expected.is_some())] += 1;
        }
    }
    assert!(decided.into_iter().all(|count| count > 1000), "{decided:?}");
}

/// Many values of one field are found by a hash, in few steps.
#[test]
fn many_values_take_few_steps() {
    let mut text = "message M { option (type) = 1; string s = 1 [(dispatch) = true]; }
        application app = 1 { udp port 7000; on M {\n"
        .to_owned();
    for rule in 0..200 {
        let _ = writeln!(text, "rule r{rule} priority 1 {{ s = \"/user{rule:03}/\" ..; }} => queue {rule};");
    }
    text += "rule wild { s = \"/\" until \"/\" \"x\" ..; } => queue 999; default => drop; } }";
    let compiled = compile("many.l7", &text).unwrap();
    let machine = Machine::new(&compiled.images[0]);
    let message = |text: &str| [&[1, text.len() as u8], text.as_bytes()].concat();
    for (text, decision) in
        [("/user123/x", 124), ("/user000/", 1), ("/user/x", 201), ("/user200/x1", 201), ("/user12", 202)]
    {
        let (found, _, steps) = machine.run(1, &message(text));
        assert_eq!(found, decision, "{text}");
        assert!(steps <= 4, "{text}: {steps}");
    }
    assert_eq!(machine.run(9, &message("/user123/")).0, 0);
    assert!(compiled.images[0].row_count() < 400, "{}", compiled.explain().lines().nth(3).unwrap());
}

/// 3,000 rules for exact names, prefixes of all lengths and integers, three of which look at both fields.
#[test]
fn thousands_of_rules_decide_as_they_say() {
    let mut random = Random(11);
    let mut names: Vec<String> = Vec::new();
    while names.len() < 2250 {
        let length = 2 + random.below(36);
        let name: String =
            (0..length).map(|_| char::from(b"abcdefghijklmnopqrstuvwxyz0123456789"[random.below(36)])).collect();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut text =
        "message M { option (type) = 1; string s = 1 [(dispatch) = true]; uint32 n = 2 [(dispatch) = true]; }
        application app = 1 { udp port 7000; on M longest s {\n"
            .to_owned();
    for (at, name) in names.iter().enumerate() {
        let end = if at < 3 { format!("; n = {at}") } else { [" ..", ""][at % 2].to_owned() };
        let _ = writeln!(text, "rule s{at} {{ s = \"{name}\"{end}; }} => queue {at};");
    }
    for at in 0..750 {
        let _ = writeln!(text, "rule n{at} {{ n = {}; }} => queue {at};", 3 * at + 1);
    }
    let compiled = compile("many.l7", &(text + "default => drop; } }")).unwrap();
    let machine = Machine::new(&compiled.images[0]);
    let rules = &compiled.program.applications[0].types[0];
    let mut decided = vec![0; rules.rules.len() + 1];
    for (at, name) in names.iter().enumerate() {
        for (value, number) in [
            (name.clone(), at as u32),
            (name.clone(), 1),
            (format!("{name}x"), at as u32),
            (name[1..].to_owned(), at as u32),
            (name[..name.len() - 1].to_owned(), 3 * at as u32 + 1),
        ] {
            let number = number.to_be_bytes();
            let payload = [&[1, value.len() as u8], value.as_bytes(), &[2, 4], &number].concat();
            let field = |of: u8| Some(if of == 1 { value.as_bytes() } else { &number });
            let index = first_that_matches(rules, &field).unwrap_or(rules.rules.len());
            let (decision, _, steps) = machine.run(1, &payload);
            assert_eq!(decision, index + 1, "{value} {number:?}");
            assert!(steps <= 8, "{value}: {steps} steps");
            decided[index] += 1;
        }
    }
    assert!(decided.iter().all(|count| *count > 0));
}
