// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `l7-cycles`: cycles from the first beat of a message to its decision, by the number of skip-and-matches (QingNiao,
//! Table 4.2).
//!
//! Each message is alone in the card. The block counts the cycles itself (CYCLES in engines/l7/machine.md). The path to
//! the block is measured from the frame's first beat in: the paper's nanoseconds also hold MAC and PHY, which our model
//! does not have, so they do not stand beside ours.

use penstock_bench::row::{Better::Lower, Row};
use penstock_bench::{BenchError, Lab, parameters, wire};
use penstock_device::rtl::RtlDevice;
use penstock_device::{Device, Place, Port, Rate, Traffic};
use penstock_l7_host::Ask;
use serde_json::json;

use crate::card;
use crate::load::{CROWD, Crowd, Message, PATHS, Paths};

/// The bench's name in its rows.
const BENCH: &str = "l7-cycles";

/// Skip-and-matches of Table 4.2, and the paper's cycles.
const PAPER: [(usize, f64); 7] = [(1, 15.0), (2, 21.0), (4, 33.0), (8, 57.0), (16, 105.0), (32, 201.0), (48, 297.0)];

/// Goal for the way from the first beat at the port to the decision, ns, with two skip-and-matches.
const GOAL_NS: f64 = 250.0;

/// Measures all numbers of skip-and-matches.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    let mut device = card::open(lab)?;
    device.record_hops();
    for (steps, paper) in PAPER {
        let paths = Paths::of(steps);
        card::load_rules(&mut device, paths)?;
        let (to_block, cycles) = measure(&mut device, &paths.path(0), steps)?;
        lab.report(&rows(steps, paper, to_block, cycles));
    }
    PAPER.into_iter().try_for_each(|(steps, paper)| crowd(lab, &mut device, steps, paper))
}

/// Messages while 4,096 rules are loaded that overlap: one whose last value is one of two, and one whose last value is
/// found by a hash, which takes a step more. With one skip-and-match, all values are in the first row.
fn crowd(lab: &Lab, device: &mut RtlDevice, steps: usize, paper: f64) -> Result<(), BenchError> {
    let crowd = Crowd { steps };
    let text = crowd.source();
    let compiled = penstock_l7_compiler::compile("the bench's rules", &text);
    let compiled = compiled.map_err(|faults| BenchError::Program(Box::new(faults)))?;
    let (rules, takes) = (&compiled.program.applications[0].types[0].rules, compiled.images[0].types[0].steps());
    // The rules before must be few: new ones are written beside them.
    card::load_rules(device, Paths::of(1))?;
    card::load_text(device, PATHS, text)?;
    let in_a_row = (steps > 1).then_some(("in a row", steps));
    for (last, all) in in_a_row.into_iter().chain([("by hash", steps + 1)]) {
        // A rule that lets its message through, and of which all messages take so many steps.
        let takes = |rule: &usize| {
            let at = rules.iter().position(|one| one.name == format!("r{rule}"));
            at.is_some_and(|at| takes.get(&Some(at)) == Some(&(all, all)))
        };
        let none = || BenchError::Wrong(BENCH, format!("no rule of {steps} steps is found {last} in {all} steps"));
        let rule = (0..CROWD - 2).step_by(2).find(takes).ok_or_else(none)?;
        let (_, cycles) = measure(device, &crowd.path(rule), steps)?;
        lab.report(&[crowd_row(steps, last, all, paper, cycles)]);
    }
    Ok(())
}

/// The paper finds a value among any number in one step.
fn crowd_row(steps: usize, last: &str, all: usize, paper: f64, cycles: u64) -> Row {
    let case = [("steps", json!(steps)), ("overlapping rules", json!(CROWD)), ("last value", json!(last))];
    let metric = ("cycles", "cycles to the decision", Lower);
    Row::new(BENCH, &parameters(&case), metric, [Some(paper), Some(9.0 + 2.0 * all as f64)], cycles as f64)
}

fn rows(steps: usize, paper: f64, to_block: u64, cycles: u64) -> [Row; 2] {
    let case = parameters(&[("steps", json!(steps)), ("rules", json!(1))]);
    let goal = 9.0 + 2.0 * steps as f64;
    let ns = (to_block + cycles) as f64 * 1000.0 / wire::CLOCK_MHZ;
    let goal_ns = (steps == 2).then_some(GOAL_NS);
    [
        Row::new(BENCH, &case, ("cycles", "cycles to the decision", Lower), [Some(paper), Some(goal)], cycles as f64),
        Row::new(BENCH, &case, ("ingress_ns", "ns from the port to the decision", Lower), [None, goal_ns], ns),
    ]
}

/// Cycles of a message from the port to the block, and from there to its decision.
fn measure(device: &mut RtlDevice, path: &[u8], steps: usize) -> Result<(u64, u64), BenchError> {
    let wrong = |text: &str| BenchError::Wrong(BENCH, format!("{steps} steps: {text}"));
    let mut traffic = Traffic::default();
    for frame in (Message { app: PATHS, path, id: 1, size: 128, packets: 1 }).frames() {
        traffic.push(Port::Ethernet(0), &frame, 0);
    }
    device.send(&traffic, Rate::Lossless)?;
    let run = device.run(&mut |_| {})?;
    if run.departures.len() != 1 {
        return Err(wrong("the message did not leave"));
    }
    let chain = run.hops.iter().find(|hop| matches!(hop.place, Place::Chain(_)));
    let chain = chain.ok_or_else(|| wrong("the message did not reach the block"))?;
    let cycles = card::ask(device, &Ask::Cycles)?;
    let cycles = cycles.get(0).and_then(serde_json::Value::as_u64).ok_or_else(|| wrong("the block has no count"))?;
    Ok((chain.cycle - chain.entered, cycles))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_takes_six_cycles_a_step() {
        assert!(PAPER.iter().all(|(steps, cycles)| *cycles == 9.0 + 6.0 * *steps as f64));
    }

    #[test]
    fn a_cycle_more_than_the_goal_falls_behind() {
        let [at, _] = rows(4, 33.0, 5, 17);
        assert!(at.missed().is_empty());
        let [more, ns] = rows(4, 33.0, 5, 18);
        assert_eq!(more.missed(), [("goal", 17.0)]);
        assert_eq!((ns.value, ns.goal), (92.0, None));
        assert_eq!(rows(2, 21.0, 50, 13)[1].missed(), [("goal", 250.0)]);
        assert!(crowd_row(4, "by hash", 5, 33.0, 19).missed().is_empty());
        assert_eq!(crowd_row(4, "in a row", 4, 33.0, 18).missed(), [("goal", 17.0)]);
    }
}
