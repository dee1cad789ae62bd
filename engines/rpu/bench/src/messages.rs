// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `rpu-messages`: frames from unit to unit over loopback, and words by broadcast (section 6.3).
//!
//! Loopback: all frames of one port at line rate go through two units each. Broadcast: senders store the time, and the
//! others compare it with their time when they see it. The figures, like the paper's, include some cycles of the
//! receivers.

use penstock_bench::row::{Better::Lower, Row};
use penstock_bench::{BenchError, Lab, SIZES, case, parameters, rates, throughput, traffic, wire};
use penstock_device::rtl::RtlDevice;
use penstock_device::{CLOCK_MHZ, Device, ForGroup, Override, Rate, regs, window};
use serde_json::json;

use crate::paper;

/// Units of the card that is measured.
pub(crate) const UNITS: [u32; 1] = [16];
/// Shortest window of a throughput, in cycles.
const WINDOW: u64 = 40_000;
/// Cycles that words are sent.
const CYCLES: u64 = 60_000;

/// The way in which words are sent, and the times of the paper and the goals: shortest and longest, ns.
struct Words {
    name: &'static str,
    senders: u32,
    gap: u32,
    paper: [f64; 2],
    goal: [f64; 2],
}

const WORDS: [Words; 2] = [
    Words { name: "sparse", senders: 1, gap: 997, paper: [72.0, 92.0], goal: [72.0, 92.0] },
    Words { name: "flood", senders: 16, gap: 0, paper: [1596.0, 1680.0], goal: [1200.0, 1200.0] },
];

/// Measures loopback for every size, then broadcast.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    for units in lab.selection.units(&UNITS) {
        let program = |name: &str| vec![ForGroup::only(lab.root.join("engines/rpu/programs").join(name))];
        let change =
            Override { units: vec![ForGroup::only(units)], programs: program("two_step.c"), ..Override::default() };
        let mut device = lab.shipped("forward.toml", change)?;
        for size in lab.selection.sizes(&SIZES) {
            let frames = traffic::clean(1, size);
            let seen = device.measure(&frames, Rate::Line, rates::warmup(size), rates::whole_frames(size, WINDOW))?;
            let left: u64 = seen.left.iter().map(|(frames, _)| frames).sum();
            let mpps = left as f64 * wire::CLOCK_MHZ / seen.cycles as f64;
            let line = rates::line(1, size);
            let goals = [paper::paper_loopback(size), Some(line)];
            lab.report(&throughput("rpu-messages", &case(units, 1, size, "two_step"), line, goals, mpps, size));
        }
        if lab.selection.sizes.is_empty() {
            let change = Override {
                units: vec![ForGroup::only(units)],
                programs: program("broadcast_latency.c"),
                ..Override::default()
            };
            for words in WORDS {
                let device = lab.shipped("forward.toml", change.clone())?;
                lab.report(&broadcast(device, units, &words)?);
            }
        }
    }
    Ok(())
}

/// Sends words, and gives the shortest and the longest time that one of the units saw.
fn broadcast(mut device: RtlDevice, units: u32, words: &Words) -> Result<Vec<Row>, BenchError> {
    for unit in 0..units {
        window::write(&mut device, unit, regs::UNIT_DEBUG_IN_H, &words.gap.to_le_bytes())?;
        window::write(&mut device, unit, regs::UNIT_DEBUG_IN_L, &words.senders.to_le_bytes())?;
    }
    device.advance(CYCLES)?;
    let mut times: [u32; 2] = [u32::MAX, 0];
    for unit in (0..units).filter(|unit| words.senders > 1 || *unit > 0) {
        let seen = device.read_unit(unit, regs::UNIT_DEBUG_OUT_L)?;
        if device.read_unit(unit, regs::UNIT_DEBUG_OUT_H)? < 20 {
            return Err(BenchError::Wrong("rpu-messages", format!("unit {unit} saw less than 20 words")));
        }
        times = [times[0].min(seen & 0xFFFF), times[1].max(seen >> 16)];
    }
    let case = parameters(&[("units", json!(units)), ("broadcast", json!(words.name))]);
    let rows = ["latency_ns", "longest_ns"].into_iter().zip(times).zip(words.paper.into_iter().zip(words.goal));
    Ok(rows
        .map(|((metric, cycles), (paper, goal))| {
            let value = f64::from(cycles) * 1000.0 / f64::from(CLOCK_MHZ);
            Row::new("rpu-messages", &case, (metric, "ns", Lower), [Some(paper), Some(goal)], value)
        })
        .collect())
}
