// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `sim-speed`: clock cycles that the simulation does in a second, under line rate at every port.
//!
//! No paper gives such a figure, so the peer's was measured.

use penstock_bench::row::{Better::Higher, Row};
use penstock_bench::{BenchError, Lab, PORTS, parameters, traffic};
use penstock_device::{ForGroup, Override, Rate};
use serde_json::json;

/// How the peer's figures came about.
const PEER: &str = "measured: Rosebud's public test bench (cocotb, Icarus Verilog) on a machine of this kind";

/// Units of the cards that are measured.
pub(crate) const UNITS: [u32; 2] = [16, 1];

/// Units, threads, cycles a second of Rosebud's bench (it has one thread), goal, and cycles of one run (about a second).
const CASES: [(u32, u32, Option<f64>, f64, u64); 4] = [
    (16, 1, Some(109.0), 60_000.0, 30_000),
    (16, 2, None, 60_000.0, 60_000),
    (1, 1, Some(1_600.0), 500_000.0, 300_000),
    (1, 2, None, 500_000.0, 300_000),
];

/// Small frames keep the units busy, large ones the links; the slower of the two counts.
const FRAME_SIZES: [usize; 2] = [64, 1500];

/// Cycles in which the card fills up.
const WARMUP: u64 = 2_000;

/// Runs of a case. The fastest counts, because other work on the machine only slows it down.
const RUNS: usize = 3;

/// Measures 16 units and one, on one thread and on two.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    for (units, threads, peer, goal, cycles) in
        CASES.into_iter().filter(|case| lab.selection.units(&UNITS).any(|units| units == case.0))
    {
        let mut device =
            lab.shipped("forward.toml", Override { units: vec![ForGroup::only(units)], ..Override::default() })?;
        device.use_threads(threads);
        let mut slowest = f64::INFINITY;
        for size in FRAME_SIZES {
            let frames = traffic::clean(PORTS, size);
            let mut fastest: f64 = 0.0;
            for _ in 0..RUNS {
                let window = device.measure(&frames, Rate::Line, WARMUP, cycles)?;
                fastest = fastest.max(window.cycles as f64 / window.time.as_secs_f64());
            }
            slowest = slowest.min(fastest);
        }
        let case = parameters(&[("units", json!(units)), ("threads", json!(threads))]);
        let row = Row::new("sim-speed", &case, ("cycles_per_s", "cycles/s", Higher), [peer, Some(goal)], slowest);
        lab.report(&[Row { peer: peer.map(|_| PEER.into()), ..row }]);
    }
    Ok(())
}
