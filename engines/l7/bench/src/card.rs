// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The cards of the benches in RTL (engines/l7/bench/cards).

use penstock_bench::{BenchError, Card, Lab};
use penstock_device::rtl::RtlDevice;
use penstock_device::{Device, Override};
use penstock_l7_host::Ask;
use serde_json::Value;

use crate::load::{App, PATHS, Paths};

/// Opens the card.
pub(crate) fn open(lab: &Lab) -> Result<RtlDevice, BenchError> {
    open_design(lab, "card.toml")
}

/// Opens the card with two applications.
pub(crate) fn open_pair(lab: &Lab) -> Result<RtlDevice, BenchError> {
    open_design(lab, "pair.toml")
}

fn open_design(lab: &Lab, name: &str) -> Result<RtlDevice, BenchError> {
    let card = Card::read(lab.root, &lab.root.join("engines/l7/bench/cards").join(name), Override::default())?;
    lab.rtl(&card)
}

/// Gives the application of the card with one its rules.
pub(crate) fn load_rules(device: &mut RtlDevice, paths: Paths) -> Result<(), BenchError> {
    ask(device, &load(PATHS, paths)).map(|_| ())
}

/// Gives an application the rules of a source.
pub(crate) fn load_text(device: &mut RtlDevice, app: App, text: String) -> Result<(), BenchError> {
    let load = Ask::Load { application: app.name.to_owned(), file: "the bench's rules".to_owned(), text };
    ask(device, &load).map(|_| ())
}

/// The request that gives an application its rules.
pub(crate) fn load(app: App, paths: Paths) -> Ask {
    let text = paths.source(app);
    Ask::Load { application: app.name.to_owned(), file: "the bench's rules".to_owned(), text }
}

/// Asks the service of the engine.
pub(crate) fn ask(device: &mut RtlDevice, ask: &Ask) -> Result<Value, BenchError> {
    Ok(device.call(&ask.request())?)
}
