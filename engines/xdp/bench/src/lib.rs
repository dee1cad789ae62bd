// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The benches of the xdp engine, beside the figures of the hXDP paper (OSDI 2020).

mod executed;
mod others;
mod programs;
mod rate;
mod rows;
mod soft;

use penstock_bench::{Bench, PLAIN};

/// All of them.
pub static BENCHES: &[Bench] = &[
    Bench {
        name: "xdp-rows",
        about: "Rows that XDP programs become (hXDP, Figure 8, Table 3)",
        run: rows::run,
        ..PLAIN
    },
    Bench {
        name: "xdp-rate",
        about: "Throughput of XDP programs (hXDP, section 4.3)",
        units: &rate::UNITS,
        sizes: &rate::SIZES,
        has_cases: true,
        run: rate::run,
        ..PLAIN
    },
    Bench { name: "xdp-soft", about: "XDP programs in native code", run: soft::run, ..PLAIN },
];
