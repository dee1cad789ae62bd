// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `rpu-forward`: how many frames a second the smallest forwarder carries (Figure 7 a and b).

use penstock_bench::{BenchError, Lab, PORTS, SIZES, case, rates, throughput, traffic, wire};
use penstock_device::{ForGroup, Override, Rate};

use crate::paper;

/// Units of the cards that are measured.
pub(crate) const UNITS: [u32; 2] = [16, 8];
/// Shortest window, in cycles.
const WINDOW: u64 = 40_000;

/// Measures every size on 16 and 8 units, with traffic on two ports and on one.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    for units in lab.selection.units(&UNITS) {
        let mut device =
            lab.shipped("forward.toml", Override { units: vec![ForGroup::only(units)], ..Override::default() })?;
        for ports in [PORTS, 1] {
            for size in lab.selection.sizes(&SIZES) {
                let frames = traffic::clean(ports, size);
                let window = rates::whole_frames(size, WINDOW);
                let seen = device.measure(&frames, Rate::Line, rates::warmup(size), window)?;
                let left: u64 = seen.left.iter().map(|(frames, _)| frames).sum();
                let mpps = left as f64 * wire::CLOCK_MHZ / seen.cycles as f64;
                let goals = [paper::paper_forward(units, ports, size), paper::goal_forward(units, ports, size)];
                let line = rates::line(ports, size);
                lab.report(&throughput("rpu-forward", &case(units, ports, size, "forward"), line, goals, mpps, size));
            }
        }
    }
    Ok(())
}
