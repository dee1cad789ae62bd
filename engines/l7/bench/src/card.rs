// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The card of the benches in RTL (engines/l7/bench/cards/card.toml).

use penstock_bench::{BenchError, Card, Lab};
use penstock_device::rtl::RtlDevice;
use penstock_device::{Device, Override};
use penstock_l7_host::Ask;
use serde_json::Value;

use crate::load;

/// Opens the card.
pub fn open(lab: &Lab) -> Result<RtlDevice, BenchError> {
    let card = Card::read(lab.root, &lab.root.join("engines/l7/bench/cards/card.toml"), Override::default())?;
    lab.rtl(&card)
}

/// Gives the application rules of so many steps.
pub fn load_rules(device: &mut RtlDevice, steps: usize, rules: usize) -> Result<(), BenchError> {
    let text = load::source(steps, rules);
    let load = Ask::Load { application: "paths".to_owned(), file: "the bench's rules".to_owned(), text };
    ask(device, &load).map(|_| ())
}

/// Asks the service of the engine.
pub fn ask(device: &mut RtlDevice, ask: &Ask) -> Result<Value, BenchError> {
    Ok(device.call(&ask.request())?)
}
