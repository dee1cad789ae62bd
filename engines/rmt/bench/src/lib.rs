// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The benches of the rmt engine, beside the figures of Menshen (chapter 3 of the dissertation on it).

mod card;
mod latency;
mod load;
mod rate;
mod soft;
mod update;

use penstock_bench::Bench;

/// All of them.
pub static BENCHES: &[Bench] = &[
    Bench::new("rmt-soft", "Frames a second of native code on a core", soft::run),
    Bench {
        has_cases: true,
        ..Bench::new("rmt-rate", "Frames a second of programs of many tenants (Menshen, Figure 3.13)", rate::run)
    },
    Bench::new("rmt-latency", "Cycles that the pipeline takes (Menshen, section 3.5.2)", latency::run),
    Bench::new("rmt-update", "A program is swapped and entries change under traffic at line rate", update::run),
];
