// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The card of the benches in RTL (engines/ids/bench/cards), with rules of a number.

use std::fs;

use penstock_bench::{BenchError, Card, Lab};
use penstock_device::rtl::RtlDevice;
use penstock_device::{Device, Override};
use penstock_ids_host::Ask;
use penstock_ids_samples::Rules;
use serde_json::Value;

/// The card with these rules, whose number names their file.
fn card(lab: &Lab, rules: &Rules, count: usize) -> Result<Card, BenchError> {
    let folder = lab.root.join("build/bench");
    let path = folder.join(format!("ids-{count}.rules"));
    let written = fs::create_dir_all(&folder).and_then(|()| fs::write(&path, &rules.text));
    written.map_err(|error| BenchError::Wrong("ids", format!("{} cannot be written: {error}", path.display())))?;
    let change = Override { tables: vec![("rules".to_owned(), path)], ..Override::default() };
    Card::read(lab.root, &lab.root.join("engines/ids/bench/cards/card.toml"), change)
}

/// Opens the card with these rules, or gives them to the one that is open: flows and counters begin anew.
pub fn open(lab: &Lab, open: Option<RtlDevice>, rules: &Rules, count: usize) -> Result<RtlDevice, BenchError> {
    let card = card(lab, rules, count)?;
    match open {
        Some(mut device) => {
            device.load(&card.image)?;
            Ok(device)
        }
        None => lab.rtl(&card),
    }
}

/// Counters of the block by group and name, from the service of the engine.
pub fn stats(device: &mut RtlDevice) -> Result<Value, BenchError> {
    Ok(device.call(&Ask::Stats.request())?)
}

/// A counter of the card's own.
pub fn counter(bench: &'static str, stats: &Value, name: &str) -> Result<u64, BenchError> {
    let none = || BenchError::Wrong(bench, format!("the block has no counter {name}"));
    stats["card"][name].as_u64().ok_or_else(none)
}
