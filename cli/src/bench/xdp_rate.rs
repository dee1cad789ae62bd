// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `xdp-rate`: how many frames of 64 bytes a second XDP programs take on one unit, at our clock, and on a card of many (hXDP, section 4.3).
//! Frames count when they come into a unit: it holds sixteen at most, so that is how fast it disposes of them, dropped or sent.

use std::collections::BTreeMap;

use penstock_device::{Device, ForGroup, Override, Rate, Root, regs, window};
use serde_json::json;

use super::row::Row;
use super::{BenchError, PORTS, Selection, card, forward, rates, traffic};
use crate::wire;

/// Units of the cards that are measured.
pub const UNITS: [u32; 2] = [1, 16];
/// The size of the frames.
pub const SIZE: usize = 64;
/// Window, in cycles.
const WINDOW: u64 = 40_000;
/// Clock of the paper's core, MHz.
const PAPER_MHZ: f64 = 156.25;

/// Programs that units in RTL can carry out, and what the paper's core does with them, millions of frames a second.
const PROGRAMS: [(&str, f64); 5] = [("drop", 52.0), ("tx", 22.5), ("redirect", 15.0), ("xdp1", 11.2), ("xdp2", 6.9)];

/// Measures each program on each card. The goals: on one unit what the paper's core would do at our clock, on many line rate.
pub fn run(root: &Root, selection: &Selection, report: &mut dyn FnMut(&[Row])) -> Result<(), BenchError> {
    for units in selection.units(&UNITS) {
        for (name, paper) in PROGRAMS {
            let program = root.join("engines/xdp/programs").join(name).with_extension("c");
            let programs = vec![ForGroup::only(program)];
            let mut device = card(
                root,
                "xdp.toml",
                Override { units: vec![ForGroup::only(units)], programs, ..Override::default() },
            )?;
            let frames = traffic::clean(PORTS, SIZE);
            let rows_before = rows(&mut device, units)?;
            let window = rates::whole_frames(SIZE, WINDOW);
            let seen = device.measure(&frames, Rate::Line, forward::warmup(SIZE), window)?;
            let all: u64 = device.counters()?.units.iter().map(|unit| unit.rx_frames).sum();
            let rows = rows(&mut device, units)?.wrapping_sub(rows_before);
            let (taken, cycles) = seen.taken;
            let mpps = taken as f64 * wire::CLOCK_MHZ / cycles as f64;
            let case: BTreeMap<_, _> = [
                ("program".to_string(), json!(name)),
                ("units".to_string(), json!(units)),
                ("size".to_string(), json!(SIZE)),
            ]
            .into_iter()
            .collect();
            let row = |metric: &str, unit: &str, paper, goal, value| Row {
                bench: "xdp-rate".into(),
                case: case.clone(),
                metric: metric.into(),
                unit: unit.into(),
                paper,
                peer: None,
                goal,
                value,
            };
            let line = rates::line(PORTS, SIZE);
            let goal = if units == 1 { (paper * wire::CLOCK_MHZ / PAPER_MHZ).min(line) } else { line };
            report(&[
                row("mpps", "million frames/s", Some(paper), Some(goal), mpps),
                row("share", "of line rate", None, None, mpps / line),
                row("rows_a_frame", "rows carried out for a frame", None, None, f64::from(rows) / all as f64),
            ]);
        }
    }
    Ok(())
}

/// Rows that all units have carried out, modulo 2^32.
fn rows(device: &mut impl Device, units: u32) -> Result<u32, BenchError> {
    let mut sum = 0u32;
    for unit in 0..units {
        let mut word = [0; 4];
        window::read(device, unit, regs::XDP_HOST_ROWS, &mut word)?;
        sum = sum.wrapping_add(u32::from_le_bytes(word));
    }
    Ok(sum)
}
