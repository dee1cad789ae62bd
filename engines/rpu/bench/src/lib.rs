// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The benches of the rpu engine, beside the figures of the Rosebud paper (ASPLOS 2023).

mod firewall;
mod forward;
mod generate;
mod isolation;
mod latency;
mod messages;
mod paper;
mod reload;
mod soft;

use penstock_bench::{Bench, SIZES};

/// All of them.
pub static BENCHES: &[Bench] = &[
    Bench {
        units: &forward::UNITS,
        sizes: &SIZES,
        ..Bench::new("rpu-forward", "Throughput of the smallest forwarder (Rosebud, Figure 7 a and b)", forward::run)
    },
    Bench {
        units: &latency::UNITS,
        sizes: &SIZES,
        ..Bench::new("rpu-latency", "Latency of the smallest forwarder (Rosebud, Figure 7 c, Equation 1)", latency::run)
    },
    Bench {
        units: &firewall::UNITS,
        sizes: firewall::FROM_64,
        ..Bench::new("rpu-firewall", "Throughput of the firewall (Rosebud, section 7.2)", firewall::run)
    },
    Bench {
        units: &messages::UNITS,
        sizes: &SIZES,
        ..Bench::new("rpu-messages", "Loopback between units, and broadcast (Rosebud, section 6.3)", messages::run)
    },
    Bench {
        units: &generate::UNITS,
        sizes: &SIZES,
        ..Bench::new("rpu-generate", "Frames that the units make themselves (Rosebud, section 6.1)", generate::run)
    },
    Bench {
        units: &isolation::UNITS,
        sizes: &isolation::SIZES,
        has_cases: true,
        ..Bench::new(
            "rpu-isolation",
            "Throughput beside a unit that stores in a loop or is stuck, a host that takes nothing, a paused port",
            isolation::run,
        )
    },
    Bench {
        units: &reload::UNITS,
        sizes: &reload::SIZES,
        ..Bench::new("rpu-reload", "New programs and tables under load (Rosebud, section 4.1)", reload::run)
    },
    Bench {
        units: &soft::UNITS,
        has_cases: true,
        ..Bench::new("rpu-soft", "Frames a second of whole cards in native code on a core", soft::run)
    },
];
