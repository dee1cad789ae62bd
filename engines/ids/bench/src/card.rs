// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The card of the benches in RTL (engines/ids/bench/cards), with rules of a number.

use std::fs;

use penstock_bench::{BenchError, Card, Lab};
use penstock_device::rtl::RtlDevice;
use penstock_device::{Device, Override};
use penstock_ids_host::Ask;
use penstock_ids_samples::Rules;
use serde_json::Value;

/// A card of the folder with these rules, whose name their file gets.
fn card(lab: &Lab, design: &str, rules: &str, name: &str) -> Result<Card, BenchError> {
    let folder = lab.root.join("build/bench");
    let path = folder.join(format!("{name}.rules"));
    let written = fs::create_dir_all(&folder).and_then(|()| fs::write(&path, rules));
    written.map_err(|error| BenchError::Wrong("ids", format!("{} cannot be written: {error}", path.display())))?;
    let change = Override { tables: vec![("rules".to_owned(), path)], ..Override::default() };
    Card::read(lab.root, &lab.root.join("engines/ids/bench/cards").join(design), change)
}

/// Opens a card with these rules, or gives them to the one that is open: flows and counters begin anew.
pub(crate) fn open_design(
    lab: &Lab,
    open: Option<RtlDevice>,
    design: &str,
    rules: &str,
    name: &str,
) -> Result<RtlDevice, BenchError> {
    let card = card(lab, design, rules, name)?;
    match open {
        Some(mut device) => {
            device.load(&card.image)?;
            Ok(device)
        }
        None => lab.rtl(&card),
    }
}

/// Opens the usual card with so many rules, or gives them to the one that is open: flows and counters begin anew.
pub(crate) fn open(lab: &Lab, open: Option<RtlDevice>, rules: &Rules, count: usize) -> Result<RtlDevice, BenchError> {
    open_design(lab, open, "card.toml", &rules.text, &format!("ids-{count}"))
}

/// Counters of the block by group and name, from the service of the engine.
pub(crate) fn stats(device: &mut RtlDevice) -> Result<Value, BenchError> {
    Ok(device.call(&Ask::Stats.request())?)
}

/// A counter of the card's own.
pub(crate) fn counter(bench: &'static str, stats: &Value, name: &str) -> Result<u64, BenchError> {
    let none = || BenchError::Wrong(bench, format!("the block has no counter {name}"));
    stats["card"][name].as_u64().ok_or_else(none)
}

#[cfg(test)]
mod tests {
    use std::env;

    use penstock_device::fpga::{Shell, write_project};
    use penstock_device::{Design, Root};

    /// A shell gives blocks no channels of card memory: a design that needs them is refused, with the key.
    #[test]
    fn lines_in_card_memory_need_channels() {
        let root = Root::find().unwrap();
        let folder = env::temp_dir().join(format!("penstock-no-channels-{}", std::process::id()));
        let design = Design::read(&root.join("engines/ids/bench/cards/flows.toml")).unwrap();
        let error = write_project(&root, &design, Shell::OpenNic, "au250", &folder).unwrap_err().to_string();
        assert!(error.contains("flows.toml:13: flows: above 1024"), "{error}");
        assert!(error.contains("say 1024 at most") && !folder.exists(), "{error}");
    }
}
