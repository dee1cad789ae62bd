// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The benches of the flow engine, beside the figures of the FlowBlaze paper (NSDI 2019).

mod card;
mod latency;
mod rate;
mod soft;
mod table;

use penstock_bench::{Bench, PLAIN};

/// All of them.
pub static BENCHES: &[Bench] = &[
    Bench { name: "flow-soft", about: "State machines in native code (FlowBlaze, Figure 7)", run: soft::run, ..PLAIN },
    Bench {
        name: "flow-rate",
        about: "Line rate through an element of the flow engine (FlowBlaze, Figures 8, 11 and 12)",
        has_cases: true,
        run: rate::run,
        ..PLAIN
    },
    Bench { name: "flow-table", about: "Places for new contexts (FlowBlaze, Figure 10)", run: table::run, ..PLAIN },
    Bench {
        name: "flow-latency",
        about: "Cycles in an element and in a chain of them (FlowBlaze, section 5.2)",
        run: latency::run,
        ..PLAIN
    },
];
