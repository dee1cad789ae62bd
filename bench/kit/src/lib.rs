// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The shared part of the benches of all engines: cards to measure, traffic, line rates, and rows of figures.
//!
//! A bench belongs to an engine and stands in its folder (`engines/NAME/bench`). It measures one published figure or
//! table. Throughput is counted over a window of cycles after a warm-up, by last beats that left; the window is a whole
//! number of frame times at line rate, so that line rate counts as exactly 1. Cycles become seconds at 250 MHz.

pub mod five_tuple;
pub mod latency;
pub mod mix;
pub mod rates;
pub mod row;
pub mod soft;
pub mod traffic;
pub mod wire;

mod lab;

use std::collections::BTreeMap;
use std::error::Error;

use penstock_device::files::FileError;
use penstock_device::{DesignError, DeviceError, EngineError};
use row::{Better::Higher, Row};
use serde_json::{Value, json};

pub use lab::{Card, Lab, Selection};

/// Frame sizes, in bytes without FCS.
pub const SIZES: [usize; 12] = [60, 64, 65, 128, 256, 512, 800, 1024, 1500, 2048, 4096, 9000];

/// Ethernet ports of the card. One port alone is measured on the same card, as in the paper.
pub const PORTS: u32 = 2;

/// Part of a rate that a measured one may fall behind by counting whole frames.
pub const TOLERANCE: f64 = 0.01;

/// A bench: what `penstock bench NAME` measures.
pub struct Bench {
    /// Its name, `ENGINE-WHAT`.
    pub name: &'static str,
    /// Its measurement, and the published figure: one sentence for the help text.
    pub about: &'static str,
    /// Numbers of units of the cards that it measures; empty if the user cannot choose.
    pub units: &'static [u32],
    /// Sizes of the frames that it measures; empty if the user cannot choose.
    pub sizes: &'static [usize],
    /// Whether the user can select cases by their parameters.
    pub has_cases: bool,
    /// The origin of the figures beside ours: `paper`, or `measured` if no paper has them.
    pub beside: &'static str,
    /// Measures, and reports rows to the lab as soon as they are known.
    pub run: fn(&Lab) -> Result<(), BenchError>,
}

impl Bench {
    /// A bench without a choice of cards, sizes or cases, whose figures stand beside a paper's.
    #[must_use]
    pub const fn new(name: &'static str, about: &'static str, run: fn(&Lab) -> Result<(), BenchError>) -> Self {
        Self { name, about, units: &[], sizes: &[], has_cases: false, beside: "paper", run }
    }

    /// Whether it has a case among those that are selected.
    #[must_use]
    pub fn measures(&self, selection: &Selection) -> bool {
        if !selection.cases.is_empty() && !self.has_cases {
            return false;
        }
        let has = |selected: bool, some: bool, empty: bool| if empty { !selected } else { some };
        has(!selection.units.is_empty(), selection.units(self.units).next().is_some(), self.units.is_empty())
            && has(!selection.sizes.is_empty(), selection.sizes(self.sizes).next().is_some(), self.sizes.is_empty())
    }
}

/// Why a bench has no figures, or which figures fall behind.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The design of the card is wrong.
    #[error(transparent)]
    Design(#[from] DesignError),
    /// A program or a table cannot be loaded.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The card does not come up or does not run.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A program does not compile.
    #[error(transparent)]
    Program(Box<dyn Error + Send + Sync>),
    /// The figures cannot be written, or saved ones are damaged.
    #[error("the rows cannot be written or read as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// No bench has the selected case; the text lists what can be selected.
    #[error("no bench has such a case; there are:\n{0}")]
    NoCase(String),
    /// The bench of this name found that the card does not do what the bench measures.
    #[error("{0}: the card does not do what is measured: {1}")]
    Wrong(&'static str, String),
    /// Figures that fall behind, a line each.
    #[error("behind the figures beside them:\n  {}", .0.join("\n  "))]
    Worse(Vec<String>),
}

/// The value of a parameter, as it is printed and given.
#[must_use]
pub fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// The parameters of a case.
#[must_use]
pub fn case(units: u32, ports: u32, size: usize, firmware: &str) -> BTreeMap<String, Value> {
    parameters(&[
        ("units", json!(units)),
        ("ports", json!(ports)),
        ("size", json!(size)),
        ("firmware", json!(firmware)),
    ])
}

/// A case with these parameters.
#[must_use]
pub fn parameters(all: &[(&str, Value)]) -> BTreeMap<String, Value> {
    all.iter().map(|(name, value)| ((*name).to_string(), value.clone())).collect()
}

/// The rows `mpps`, `gbps` and `share` (of line rate) of a throughput of `mpps`.
#[must_use]
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
