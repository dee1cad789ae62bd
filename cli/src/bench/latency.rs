// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `rpu-latency`: time from a frame's first beat in to its last beat out under low load (Figure 7 c, Equation 1).
//!
//! Both edges move beats at line rate, so the time holds what Equation 1 holds: the frame's time on the wire in and out.

use penstock_device::{Latency, Override, Rate, Root};

use super::row::Row;
use super::{BenchError, PORTS, SIZES, Selection, card, case, rates, traffic};

/// Load of a port, Gb/s.
const LOAD_GBPS: f64 = 10.0;

/// Goal for 64 bytes and less, ns.
const GOAL_SMALL_NS: f64 = 500.0;

/// Measures every size on 16 units and two ports. The value is the median.
pub fn run(root: &Root, selection: &Selection, report: &mut dyn FnMut(&[Row])) -> Result<(), BenchError> {
    for units in selection.units(&[16]) {
        let mut device = card(root, "forward.toml", Override { units: Some(units), ..Override::default() })?;
        for size in selection.sizes(&SIZES) {
            // 5 bytes a cycle: time for 50 frames of each port.
            let window = (size as u64 + 24) * 10;
            let seen = device.measure(&traffic::clean(PORTS, size), Rate::Gbps(LOAD_GBPS), window, window)?;
            if seen.latencies.is_empty() || seen.drops.total() > 0 {
                let text = format!("{} frames of {size} B left, {} dropped", seen.latencies.len(), seen.drops.total());
                return Err(BenchError::Wrong("rpu-latency", text));
            }
            let paper = rates::paper_latency(size);
            report(&[Row {
                bench: "rpu-latency".into(),
                case: case(units, PORTS, size, "forward"),
                metric: "latency_ns".into(),
                unit: "ns".into(),
                paper: Some(paper),
                goal: Some(if size <= 64 { paper.min(GOAL_SMALL_NS) } else { paper }),
                value: Latency::of(seen.latencies, rates::CLOCK_MHZ as u32).p50,
            }]);
        }
    }
    Ok(())
}
