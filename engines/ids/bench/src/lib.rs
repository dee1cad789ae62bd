// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The benches of the ids engine, beside the figures of Pigasus (OSDI 2020) and of Suricata.

mod card;
mod compile;
mod flows;
mod host;
mod hyperscan;
mod input;
mod latency;
mod library;
mod load;
mod rate;
mod soft;

use penstock_bench::Bench;

/// All of them.
pub static BENCHES: &[Bench] = &[
    Bench { has_cases: true, ..Bench::new("ids-soft", "Gb/s of native code on a core (Suricata)", soft::run) },
    Bench {
        has_cases: true,
        ..Bench::new("ids-compile", "Time and memory for a set of rules (Pigasus)", compile::run)
    },
    Bench {
        has_cases: true,
        ..Bench::new("ids-rate", "Gb/s of the card by size of the frames (Pigasus in Rosebud)", rate::run)
    },
    Bench {
        has_cases: true,
        ..Bench::new("ids-flows", "Frames a second of the card by live flows (Pigasus)", flows::run)
    },
    Bench::new("ids-latency", "Time that a frame takes through the card (Pigasus)", latency::run),
    Bench {
        has_cases: true,
        ..Bench::new("ids-host", "Share of the frames that the host looks at, and rules of each (Pigasus)", host::run)
    },
];
