// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The benches of the rpu engine, beside the figures of the Rosebud paper (ASPLOS 2023).

mod firewall;
mod forward;
mod generate;
mod latency;
mod messages;
mod paper;
mod reload;

use penstock_bench::{Bench, PLAIN, SIZES};

/// All of them.
pub static BENCHES: &[Bench] = &[
    Bench {
        name: "rpu-forward",
        about: "Throughput of the smallest forwarder (Rosebud, Figure 7 a and b)",
        units: &forward::UNITS,
        sizes: &SIZES,
        run: forward::run,
        ..PLAIN
    },
    Bench {
        name: "rpu-latency",
        about: "Latency of the smallest forwarder (Rosebud, Figure 7 c, Equation 1)",
        units: &latency::UNITS,
        sizes: &SIZES,
        run: latency::run,
        ..PLAIN
    },
    Bench {
        name: "rpu-firewall",
        about: "Throughput of the firewall (Rosebud, section 7.2)",
        units: &firewall::UNITS,
        sizes: firewall::FROM_64,
        run: firewall::run,
        ..PLAIN
    },
    Bench {
        name: "rpu-messages",
        about: "Loopback between units, and broadcast (Rosebud, section 6.3)",
        units: &messages::UNITS,
        sizes: &SIZES,
        run: messages::run,
        ..PLAIN
    },
    Bench {
        name: "rpu-generate",
        about: "Frames that the units make themselves (Rosebud, section 6.1)",
        units: &generate::UNITS,
        sizes: &SIZES,
        run: generate::run,
        ..PLAIN
    },
    Bench {
        name: "rpu-reload",
        about: "New programs and tables under load (Rosebud, section 4.1)",
        units: &reload::UNITS,
        sizes: &reload::SIZES,
        run: reload::run,
        ..PLAIN
    },
];
