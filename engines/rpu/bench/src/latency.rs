// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `rpu-latency`: time from a frame's first beat in to its last beat out under low load (Figure 7 c, Equation 1).
//!
//! Low load is one frame at a time on each port. Both edges move beats at line rate, so the time holds what Equation 1
//! holds: the frame's time on the wire in and out.

use penstock_bench::row::{Better::Lower, Row};
use penstock_bench::{BenchError, Lab, PORTS, SIZES, case, latency};
use penstock_device::{ForGroup, Override};

use crate::paper;

/// Units of the cards that are measured.
pub(crate) const UNITS: [u32; 1] = [16];

/// Goal for 64 bytes and less, ns.
const GOAL_SMALL_NS: f64 = 500.0;

/// Measures every size on 16 units and two ports. The value is the median.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    for units in lab.selection.units(&UNITS) {
        let mut device =
            lab.shipped("forward.toml", Override { units: vec![ForGroup::only(units)], ..Override::default() })?;
        for size in lab.selection.sizes(&SIZES) {
            let Some(time) = latency::measure(&mut device, size)? else { continue };
            let paper = paper::paper_latency(size);
            let goal = if size <= 64 { paper.min(GOAL_SMALL_NS) } else { paper };
            let case = case(units, PORTS, size, "forward");
            lab.report(&[Row::new("rpu-latency", &case, ("latency_ns", "ns", Lower), [Some(paper), Some(goal)], time)]);
        }
    }
    Ok(())
}
