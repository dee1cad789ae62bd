// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `l7-soft`: messages a second that native code decides on one processor, with four skip-and-matches.
//!
//! Two things are timed: the decision alone, and the whole way of a message of one packet through a block, from headers
//! to the verdict. Beside the decision stand the paper's straw man and a DFA on the same messages in the same run. All
//! programs pass the compiler, and fit a card.

use std::fmt::Write;
use std::hint::black_box;

use penstock_bench::row::{Better::Higher, Row};
use penstock_bench::{BenchError, Lab, parameters, soft};
use penstock_l7::{Block, Limits, Rules};
use penstock_l7_compiler::program::{Action, Program};
use penstock_unit::{Block as _, Entering};
use serde_json::json;

use crate::dfa::Dfa;
use crate::load::{HEADERS, Message, PATHS};
use crate::straw_man::StrawMan;

/// The bench's name in its rows.
const BENCH: &str = "l7-soft";
/// The origin of the figures beside a decision.
const STRAW_MAN: &str = "measured: the paper's straw man, a loop over the rules in each skip-and-match";
const DFA: &str =
    "measured (decisions_dfa): one dense DFA of the crate regex-automata 0.4 for all rules, over the serialized field";
/// Goal, in millions of messages a second.
const GOAL: f64 = 10.0;
/// Rules of a case.
const RULES: [usize; 3] = [32, 250, 4096];
/// Different messages that the straw man decides, and how many of them are timed at once.
const SAMPLE: usize = 256;
const SLOW: usize = 200_000;

/// Measures all numbers of rules.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    for rules in RULES {
        let straw_man = straw_man(rules)?;
        let program = program(rules)?;
        let beside_dfa = dfa(&program, rules)?;
        let decisions = decisions(&program, rules)?;
        let messages = messages(&program, rules)?;
        lab.report(&rows(rules, decisions, [straw_man, beside_dfa], messages));
    }
    Ok(())
}

fn rows(rules: usize, decisions: f64, [straw_man, dfa]: [f64; 2], messages: f64) -> [Row; 3] {
    let case = parameters(&[("rules", json!(rules)), ("steps", json!(4))]);
    let row = |metric, unit, beside, goal, value| Row::new(BENCH, &case, (metric, unit, Higher), [beside, goal], value);
    let beside = |peer: &str, row: Row| Row { peer: Some(peer.into()), ..row };
    [
        beside(STRAW_MAN, row("decisions", "million decisions/s", Some(straw_man), Some(GOAL), decisions)),
        beside(DFA, row("decisions_dfa", "million decisions/s, beside a DFA", Some(dfa), None, decisions)),
        row("messages", "million messages/s", None, Some(GOAL), messages),
    ]
}

/// The value behind the last `/` of a rule.
fn item(rule: usize) -> String {
    format!("item{rule:04}/")
}

/// The field of a message for a rule.
fn field(rule: usize) -> Vec<u8> {
    format!("/site{}/v1/user{rule}/{}x", rule % 7, item(rule)).into()
}

/// Rules `"/" until "/" "v1/" until "/" "itemNNNN/" ..`, one for each queue.
fn program(rules: usize) -> Result<Program, BenchError> {
    let mut text = "message Request { option (type) = 1; bytes path = 1 [(dispatch) = true]; }\n".to_owned();
    let _ = writeln!(text, "application paths = {} {{ udp port {}; on Request {{", PATHS.number, PATHS.udp);
    for rule in 0..rules {
        let pattern = format!("\"/\" until \"/\" \"v1/\" until \"/\" \"{}\" ..", item(rule));
        let _ = writeln!(text, "rule r{rule} {{ path = {pattern}; }} => queue {rule};");
    }
    text += "default => drop; } }\n";
    let compiled = penstock_l7_compiler::compile("the bench's rules", &text);
    Ok(compiled.map_err(|faults| BenchError::Program(Box::new(faults)))?.program)
}

fn wrong(rule: usize) -> BenchError {
    BenchError::Wrong(BENCH, format!("the message of rule {rule} goes elsewhere"))
}

fn frames(rules: usize) -> Vec<Vec<u8>> {
    // Neighbours in time are not neighbours among the rules.
    let rule = |at: usize| at * 1237 % rules;
    (0..rules)
        .flat_map(|at| Message { app: PATHS, path: &field(rule(at)), id: at as u32, size: 128, packets: 1 }.frames())
        .collect()
}

fn decisions(program: &Program, rules: usize) -> Result<f64, BenchError> {
    let mut native = Rules::new(&program.applications[0], program);
    for rule in 0..rules {
        let field = field(rule);
        let payload = [&[1, field.len() as u8], &field[..]].concat();
        if native.decide(1, &payload).action != Action::Queue(rule as u16) {
            return Err(wrong(rule));
        }
    }
    let frames = frames(rules);
    soft::mpps(frames.len(), || {
        for frame in &frames {
            black_box(native.decide(1, &frame[HEADERS..]));
        }
        Ok(())
    })
}

fn messages(program: &Program, rules: usize) -> Result<f64, BenchError> {
    let mut block = Block::new(program, Limits::default());
    let frames = frames(rules);
    let mut made = Vec::new();
    let mut copy = Vec::new();
    let mpps = soft::mpps(frames.len(), || {
        for frame in &frames {
            copy.clear();
            copy.extend_from_slice(frame);
            block.carry(&mut copy, &mut 0, Entering::default(), &mut made);
            // The memory of a frame is used again, as a card does it.
            copy = made.pop().map_or_else(Vec::new, |made: penstock_unit::Made| made.frame);
        }
        Ok(())
    })?;
    let counters = block.counters(0);
    match counters.packets == counters.delivered && counters.delivered > 0 && counters.denied == 0 {
        true => Ok(mpps),
        false => Err(BenchError::Wrong(BENCH, format!("not all messages are delivered: {counters:?}"))),
    }
}

/// Rules as expressions over the number, the length and the value of the field.
fn expressions(rules: usize) -> Vec<String> {
    (0..rules).map(|rule| format!(r"\x01./[^/]*/v1/[^/]*/{}", item(rule))).collect()
}

/// The serialized dispatch field of a message.
fn serialized(frame: &[u8]) -> &[u8] {
    let payload = &frame[HEADERS..];
    &payload[..2 + usize::from(payload[1])]
}

fn dfa(program: &Program, rules: usize) -> Result<f64, BenchError> {
    let dfa = Dfa::new(&expressions(rules))?;
    let mut native = Rules::new(&program.applications[0], program);
    let frames = frames(rules);
    for frame in &frames {
        let ours = native.decide(1, &frame[HEADERS..]).action;
        if dfa.decide(serialized(frame)).map(|rule| Action::Queue(rule as u16)) != Some(ours) {
            return Err(BenchError::Wrong(BENCH, format!("the DFA does not decide {ours:?}")));
        }
    }
    soft::mpps(frames.len(), || {
        for frame in &frames {
            black_box(dfa.decide(serialized(frame)));
        }
        Ok(())
    })
}

fn straw_man(rules: usize) -> Result<f64, BenchError> {
    let values = |rule: usize| ["", "v1", "", &item(rule)].map(|text| text.as_bytes().to_vec()).to_vec();
    let man = StrawMan::new(&(0..rules).map(values).collect::<Vec<_>>());
    let fields: Vec<Vec<u8>> = (0..SAMPLE).map(|at| field(at * 1237 % rules)).collect();
    for (at, field) in fields.iter().enumerate() {
        if man.decide(field) != Some(at * 1237 % rules) {
            return Err(wrong(at));
        }
    }
    soft::mpps_of(SLOW, fields.len(), || {
        for field in &fields {
            black_box(man.decide(field));
        }
        Ok(())
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// The DFA decides messages of no rule as ours does, too; [`dfa`] compares those of rules.
    #[test]
    fn the_dfa_decides_what_ours_does() {
        let program = program(32).unwrap();
        let mut native = Rules::new(&program.applications[0], &program);
        let dfa = Dfa::new(&expressions(32)).unwrap();
        let mut counts = [0; 2];
        for frame in frames(32) {
            let field = serialized(&frame);
            assert_eq!(field.len(), 2 + usize::from(frame[HEADERS + 1]));
            for place in 2..field.len() {
                for byte in [b'/', b'0', b'\n', 0xFF] {
                    let mut field = field.to_vec();
                    field[place] = byte;
                    let ours = match native.decide(1, &field).action {
                        Action::Queue(queue) => Some(usize::from(queue)),
                        _ => None,
                    };
                    assert_eq!(dfa.decide(&field), ours, "{}", String::from_utf8_lossy(&field));
                    counts[usize::from(ours.is_some())] += 1;
                }
            }
        }
        assert!(counts[0] > 1000 && counts[1] > 1000, "{counts:?}");
    }

    #[test]
    fn what_is_slower_than_one_beside_it_falls_behind() {
        let missed = |beside| {
            let rows = rows(32, 20.0, beside, 12.0);
            rows.map(|row| row.missed().len()).iter().sum::<usize>()
        };
        assert_eq!((missed([4.0, 15.0]), missed([21.0, 15.0]), missed([4.0, 21.0])), (0, 1, 1));
    }
}
