// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Damaged files of entries are refused with the file and the line, or the block takes their entries: no panic, no file
//! that takes long, none that takes much memory.
//!
//! `PENSTOCK_FUZZ_SECONDS` sets the time for new cases, `PENSTOCK_SEED` the number of the first one.
#![allow(clippy::print_stdout, reason = "a program for developers, which prints what it finds")]
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use penstock_engine::{Bus, CardError, CardShape, Engine as _, Job, Native, PartJob, Root, Tenant};
use penstock_rmt::Block;
use penstock_rmt_host::{RMT, Settings};
use penstock_testing::{Campaign, Counting, alone, damage};
use penstock_unit::{Block as AnyBlock, Unit};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Programs with files of entries.
const PROGRAMS: [(&str, &str); 8] = [
    ("router", "designs/router-entries.json"),
    ("acl", "engines/rmt/programs/acl.json"),
    ("load_balancer", "engines/rmt/programs/load_balancer.json"),
    ("multicast", "engines/rmt/programs/multicast.json"),
    ("netcache", "engines/rmt/programs/netcache.json"),
    ("netchain", "engines/rmt/programs/netchain.json"),
    ("qos", "engines/rmt/programs/qos.json"),
    ("vxlan", "engines/rmt/programs/vxlan.json"),
];

/// Words that stand in no file of ours.
const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "\\",
    "\\ud800",
    "null",
    "true",
    "-1",
    "1e999",
    "0.5",
    "[[[[[[[[",
    "é",
    "\0",
    "\"\"",
    "\"table\"",
    "\"match\"",
    "\"params\"",
    "\"multicast\"",
    "\"meter\"",
    "\"register\"",
    "\"10.0.0.0/33\"",
    "\"0x\"",
    "\"1..\"",
    "\"&&&\"",
    "340282366920938463463374607431768211456",
    "\"::/129\"",
    "\"priority\": 0",
    "\"copies\": []",
    "\"system\"",
];

/// A card whose only block is native code.
struct Card(Box<dyn AnyBlock>);

impl Bus for Card {
    fn read(&mut self, _: u32) -> Result<u32, CardError> {
        Ok(0)
    }

    fn write(&mut self, _: u32, _: u32) -> Result<(), CardError> {
        Ok(())
    }

    fn pass(&mut self, _: u64) -> Result<(), CardError> {
        Ok(())
    }

    fn native(&mut self) -> Option<&mut dyn Native> {
        Some(self)
    }
}

impl Native for Card {
    fn unit(&mut self, _: u32) -> Option<&mut dyn Unit> {
        None
    }

    fn block(&mut self, _: usize) -> Option<&mut dyn AnyBlock> {
        Some(self.0.as_mut())
    }

    fn set_block(&mut self, _: usize, to: Box<dyn AnyBlock>) {
        self.0 = to;
    }
}

/// Loads a program with a file of entries: an error, if either the host or the block refuses them.
fn load(root: &Root, program: &str, tenant: &str, entries: &Path) -> Result<(), String> {
    let program = root.join(format!("engines/rmt/programs/{program}.p4"));
    let (own, programs) = match tenant {
        "system" => (program, BTreeMap::new()),
        name => (std::path::PathBuf::new(), BTreeMap::from([(name.to_owned(), program)])),
    };
    let settings = Settings { programs, entries: Some(entries.to_owned()), ..Settings::default() };
    let tenants = [Tenant { name: tenant.to_owned(), number: 1, vlan: 1, ports: 0 }];
    let card = RMT.card(None).unwrap();
    let part = PartJob { name: "", index: 0, units: 0..0, program: &own, part: &settings, given: false };
    let job = Job {
        root,
        design: Path::new("design.toml"),
        ports: 2,
        groups: &[],
        tenants: &tenants,
        card: card.as_ref(),
        parts: vec![part],
    };
    let image = RMT.compile(&job).map_err(|error| error.to_string())?;
    let shape = CardShape { ports: 2, units: 0, parts: vec![(0, String::new(), 0..0)], tenants: tenants.to_vec() };
    let mut bus = Card(Box::new(Block::default()));
    let mut driver = RMT.driver(&shape, card.as_ref());
    driver.load_block(&mut bus, 0, image[0].as_ref()).map_err(|error| error.to_string())
}

#[test]
fn damaged_entries() {
    let (alone, root) = (alone(), Root::find().unwrap());
    let file = std::env::temp_dir().join(format!("penstock-campaign-{}-entries.json", std::process::id()));
    let texts = PROGRAMS.map(|(_, entries)| fs::read_to_string(root.join(entries)).unwrap());
    let tenants = texts.clone().map(|text| text.split('"').nth(1).unwrap().to_owned());
    for (((program, entries), tenant), text) in PROGRAMS.iter().zip(&tenants).zip(&texts) {
        fs::write(&file, text).unwrap();
        assert_eq!(load(&root, program, tenant, &file), Ok(()), "{entries}");
    }
    let words: Vec<_> = texts.iter().map(|text| damage::words(text)).collect();
    let (mut refused, mut taken, mut by_block) = (0, 0, 0);
    let campaign = Campaign { cases: 2000, most_bytes: 128 << 20, most_left: 4 << 20, ..Campaign::default() };
    let tried = campaign.run(&alone, |numbers| {
        let one = numbers.below(PROGRAMS.len());
        let mut text = damage::text(&words[one..=one], WORDS, numbers).into_bytes();
        if numbers.below(8) == 0 {
            damage::bytes(&mut text, numbers);
        }
        fs::write(&file, &text).unwrap();
        match load(&root, PROGRAMS[one].0, &tenants[one], &file) {
            Ok(()) => taken += 1,
            // A block that has no room for an entry, or has it already, does not know where it comes from.
            Err(error) if error.contains(&*file.to_string_lossy()) => refused += 1,
            Err(error) => {
                assert!(!error.is_empty());
                by_block += 1;
            }
        }
    });
    println!("files of entries: {tried}; refused {refused}, by the block {by_block}, taken {taken}");
    assert!(refused * 4 > tried.cases && taken * 20 > tried.cases, "{refused} {by_block} {taken}");
    fs::remove_file(file).unwrap();
}
