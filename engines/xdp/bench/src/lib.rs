// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The benches of the xdp engine, beside the figures of the hXDP paper (OSDI 2020).

mod executed;
mod others;
mod programs;
mod rate;
mod rows;
mod soft;

use penstock_bench::Bench;

/// All of them.
pub static BENCHES: &[Bench] = &[
    Bench::new("xdp-rows", "Rows that XDP programs become (hXDP, Figure 8, Table 3)", rows::run),
    Bench {
        units: &rate::UNITS,
        sizes: &rate::SIZES,
        has_cases: true,
        ..Bench::new("xdp-rate", "Throughput of XDP programs (hXDP, section 4.3)", rate::run)
    },
    Bench::new("xdp-soft", "XDP programs in native code", soft::run),
];
