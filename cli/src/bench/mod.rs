// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The benches: one module per published figure or table, on the `rtl` target where they measure a card's time.
//!
//! Throughput is counted over a window of cycles after a warm-up, by last beats that left; the window is a whole number
//! of frame times at line rate, so that line rate counts as exactly 1. Cycles become seconds at 250 MHz.

pub mod firewall;
pub mod flow;
pub mod flow_latency;
pub mod flow_rate;
pub mod flow_soft;
pub mod flow_table;
pub mod forward;
pub mod generate;
pub mod latency;
pub mod messages;
pub mod rates;
pub mod reload;
pub mod row;
pub mod sim_speed;
mod soft;
pub mod traffic;
pub mod xdp;
mod xdp_others;
pub mod xdp_rate;
pub mod xdp_rows;
mod xdp_run;
pub mod xdp_soft;

use std::collections::BTreeMap;
use std::path::Path;

use penstock_device::rtl::RtlDevice;
use penstock_device::{DeviceError, Override, Policy, Root};
use penstock_flow_compiler::Faults;
use row::{Better::Higher, Row};
use serde_json::{Value, json};

use crate::card::{Card, CardError};
use crate::files::FileError;
use crate::wire;

/// Frame sizes, in bytes without FCS.
pub const SIZES: [usize; 12] = [60, 64, 65, 128, 256, 512, 800, 1024, 1500, 2048, 4096, 9000];

/// Ethernet ports of the card. One port alone is measured on the same card, as in the paper.
pub const PORTS: u32 = 2;

/// Part of a rate that a measured rate may fall behind because it counts whole frames.
pub const TOLERANCE: f64 = 0.01;

/// Why a bench has no figures, or which are not as they should be.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    #[error(transparent)]
    Card(#[from] CardError),
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Program(#[from] Faults),
    #[error("the rows cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error(
        "no bench has such a case: --size takes {SIZES:?} (rpu-firewall from 64, rpu-reload 64 and 128), --units 16 (all), 8 (rpu-forward, xdp-rate), 1 (rpu-generate, sim-speed, xdp-rate), 2 and 4 (xdp-rate), --case parameters as flow-rate and xdp-rate print them, for example trace=MW15"
    )]
    NoCase,
    #[error("{0}: the card does not do what is measured: {1}")]
    Wrong(&'static str, String),
    #[error("behind the figures beside them:\n  {}", .0.join("\n  "))]
    Worse(Vec<String>),
}

/// Which cases to measure.
#[derive(Debug, Clone)]
pub struct Selection {
    pub sizes: Vec<usize>,
    pub units: Vec<u32>,
    /// Parameters that the case must have; of flow-rate and xdp-rate alone.
    pub cases: Vec<(String, String)>,
}

impl Selection {
    /// The sizes of `from` that are selected.
    pub fn sizes<'a>(&'a self, from: &'a [usize]) -> impl Iterator<Item = usize> + 'a {
        from.iter().copied().filter(|size| self.sizes.is_empty() || self.sizes.contains(size))
    }

    /// Whether a case has all parameters that are asked for.
    pub fn takes(&self, case: &BTreeMap<String, Value>) -> bool {
        self.cases.iter().all(|(name, value)| case.get(name).is_some_and(|is| word(is) == *value))
    }

    /// The unit counts of `from` that are selected.
    pub fn units<'a>(&'a self, from: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
        from.iter().copied().filter(|units| self.units.is_empty() || self.units.contains(units))
    }
}

/// The value of a parameter, in the form in which it is printed and given.
pub fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// A card that is up, of a shipped design, with units dispatched in turn as in the paper.
pub fn card(root: &Root, manifest: &str, change: Override) -> Result<RtlDevice, BenchError> {
    card_of(root, &root.join("designs").join(manifest), change)
}

/// The same of any design.
pub fn card_of(root: &Root, manifest: &Path, change: Override) -> Result<RtlDevice, BenchError> {
    let change = Override { policy: Some(Policy::RoundRobin), ..change };
    Ok(Card::read(root, manifest, change)?.rtl(root)?)
}

/// The parameters of a case.
pub fn case(units: u32, ports: u32, size: usize, firmware: &str) -> BTreeMap<String, Value> {
    [("units", json!(units)), ("ports", json!(ports)), ("size", json!(size)), ("firmware", json!(firmware))]
        .into_iter()
        .map(|(name, value)| (name.to_string(), value))
        .collect()
}

/// The rows `mpps`, `gbps` and `share` (of line rate) of a throughput of `mpps`.
pub fn throughput(
    bench: &str,
    case: &BTreeMap<String, Value>,
    line: f64,
    rates: [Option<f64>; 2],
    mpps: f64,
    size: usize,
) -> Vec<Row> {
    let row = |metric: &str, unit: &str, scale: f64| {
        Row::new(bench, case, (metric, unit, Higher), rates.map(|rate| rate.map(|rate| rate * scale)), mpps * scale)
    };
    vec![
        row("mpps", "million frames/s", 1.0),
        row("gbps", "Gb/s with FCS, preamble and gap", wire::bits(size) / 1000.0),
        row("share", "of line rate", 1.0 / line),
    ]
}
