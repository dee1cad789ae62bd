// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The benches of the ids engine, beside the figures of Pigasus (OSDI 2020) and of Suricata.

mod compile;
mod input;
mod library;
mod soft;

use penstock_bench::Bench;

/// All of them.
pub static BENCHES: &[Bench] = &[
    Bench { has_cases: true, ..Bench::new("ids-soft", "Gb/s of native code on a core (Suricata)", soft::run) },
    Bench {
        has_cases: true,
        ..Bench::new("ids-compile", "Time and memory for a set of rules (Pigasus)", compile::run)
    },
];
