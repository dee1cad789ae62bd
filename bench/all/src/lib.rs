// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! All benches: those of the engines, and those of the project as a whole.

mod fpga_ports;
mod list;
mod sim_speed;

use penstock_bench::Bench;

/// Benches of no engine.
static COMMON: &[Bench] = &[
    Bench {
        sizes: &fpga_ports::SIZES,
        has_cases: true,
        ..Bench::new(
            "fpga-ports",
            "Throughput of a real card's ports after the MACs, and latency of the crossings between clocks",
            fpga_ports::run,
        )
    },
    Bench {
        units: &sim_speed::UNITS,
        beside: "measured",
        ..Bench::new("sim-speed", "Speed of the simulation", sim_speed::run)
    },
];

/// All benches, those of the engines first.
pub fn benches() -> impl Iterator<Item = &'static Bench> {
    list::BENCHES.iter().copied().flatten().chain(COMMON)
}
