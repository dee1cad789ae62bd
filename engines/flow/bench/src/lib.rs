// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The benches of the flow engine, beside the figures of the FlowBlaze paper (NSDI 2019).

mod card;
mod latency;
mod rate;
mod soft;
mod table;

use penstock_bench::Bench;

/// All of them.
pub static BENCHES: &[Bench] = &[
    Bench::new("flow-soft", "State machines in native code (FlowBlaze, Figure 7)", soft::run),
    Bench {
        has_cases: true,
        ..Bench::new(
            "flow-rate",
            "Line rate through an element of the flow engine (FlowBlaze, Figures 8, 11 and 12)",
            rate::run,
        )
    },
    Bench::new("flow-table", "Places for new contexts (FlowBlaze, Figure 10)", table::run),
    Bench::new("flow-latency", "Cycles in an element and in a chain of them (FlowBlaze, section 5.2)", latency::run),
];
