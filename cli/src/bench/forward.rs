// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `rpu-forward`: how many frames a second the smallest forwarder carries (Figure 7 a and b).

use penstock_device::{ForGroup, Override, Rate, Root};

use super::row::Row;
use super::{BenchError, PORTS, SIZES, Selection, card, case, rates, throughput, traffic};
use crate::wire;

/// Units of the cards that are measured.
pub const UNITS: [u32; 2] = [16, 8];
/// Shortest window, in cycles.
const WINDOW: u64 = 40_000;

/// Measures every size on 16 and 8 units, with traffic on two ports and on one.
pub fn run(root: &Root, selection: &Selection, report: &mut dyn FnMut(&[Row])) -> Result<(), BenchError> {
    for units in selection.units(&UNITS) {
        let mut device =
            card(root, "forward.toml", Override { units: vec![ForGroup::only(units)], ..Override::default() })?;
        for ports in [PORTS, 1] {
            for size in selection.sizes(&SIZES) {
                let frames = traffic::clean(ports, size);
                let window = rates::whole_frames(size, WINDOW);
                let seen = device.measure(&frames, Rate::Line, warmup(size), window)?;
                let left: u64 = seen.left.iter().map(|(frames, _)| frames).sum();
                let mpps = left as f64 * wire::CLOCK_MHZ / seen.cycles as f64;
                let goals = [rates::paper_forward(units, ports, size), rates::goal_forward(units, ports, size)];
                let line = rates::line(ports, size);
                report(&throughput("rpu-forward", &case(units, ports, size, "forward"), line, goals, mpps, size));
            }
        }
    }
    Ok(())
}

/// Cycles until the card is in its steady state: long enough for 40 frames of a port at line rate.
pub fn warmup(size: usize) -> u64 {
    10_000 + 40 * wire::bytes(size) / wire::LINE_BYTES_A_CYCLE
}
