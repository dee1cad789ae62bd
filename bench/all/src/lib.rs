// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! All benches: those of the engines, and those of the project as a whole.

mod list;
mod sim_speed;

use penstock_bench::{Bench, PLAIN};

/// Benches of no engine.
static COMMON: &[Bench] = &[Bench {
    name: "sim-speed",
    about: "Speed of the simulation",
    units: &sim_speed::UNITS,
    beside: "measured",
    run: sim_speed::run,
    ..PLAIN
}];

/// All benches, those of the engines first.
pub fn benches() -> impl Iterator<Item = &'static Bench> {
    list::BENCHES.iter().copied().flatten().chain(COMMON)
}
