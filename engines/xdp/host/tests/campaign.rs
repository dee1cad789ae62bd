// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Damaged files of map entries and routes are refused with the file, or taken: no panic, no file that takes long, none
//! that takes much memory.
//!
//! `PENSTOCK_FUZZ_SECONDS` sets the time for new cases, `PENSTOCK_SEED` the number of the first one.
#![allow(clippy::print_stdout, reason = "a program for developers, which prints what it finds")]
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;

use common::{Card, Folder, compile_one, load_all};
use penstock_engine::Root;
use penstock_testing::{Campaign, Counting, alone, damage};
use penstock_xdp_host::maps::{self, Store};
use penstock_xdp_host::{GroupSettings, XdpDriver, routes};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

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
    "{}",
    "[]",
    "\"0x\"",
    "\"0x0\"",
    "\"0xé\"",
    "{\"$bytes\": \"00\"}",
    "{\"$bytes\": \"é00\"}",
    "\"192.0.2.1/33\"",
    "\"::1\"",
    "18446744073709551616",
    "-9223372036854775808",
    "\"key\"",
    "\"value\"",
    "\"02:00:00:00:00\"",
];

/// Entries of the map `servers`, with values as bytes and as fields.
const SERVERS: &str =
    r#"[[0, {"$bytes": "0a00000100000000"}], [1, {"address": {"$bytes": "0a000002"}, "flags": 1}], [2, {}]]"#;

/// Routes with each key of such a file.
const ROUTES: &str = r#"{
    "interfaces": {"1": {"mac": "02:00:00:00:00:01"}, "2": {"mac": "02:00:00:00:00:02", "mtu": 9000, "forwards": false}},
    "routes": [{"dst": "0.0.0.0/0", "gateway": "192.0.2.1", "dev": 2, "metric": 7}, {"dst": "2001:db8::/32", "dev": 1}],
    "neighbours": [{"dst": "192.0.2.1", "dev": 2, "lladdr": "02:00:00:00:00:09"}]
}"#;

#[test]
fn damaged_files() {
    let (alone, root, folder) = (alone(), Root::find().unwrap(), Folder::new());
    let image = compile_one(&root.join("engines/xdp/programs/load_balancer.c"), &GroupSettings::default());
    let (mut card, mut driver) = Card::new();
    load_all(&mut card, &mut *driver, &image);
    let driver = XdpDriver::of(&mut *driver).unwrap();
    let names = ["vips", "servers", "ring"];
    let text = |name: &str| fs::read_to_string(root.join(format!("designs/balancer/{name}.json"))).unwrap();
    // The ring is long: its beginning does as well.
    let short = |text: String| {
        if text.len() < 4096 { text } else { text[..text[..2000].rfind("],").unwrap()].to_owned() + "]]" }
    };
    let text = |name: &str| if name == "servers" { SERVERS.to_owned() } else { short(text(name)) };
    let mut words: Vec<_> = names.iter().map(|name| damage::words(&text(name))).collect();
    words.push(damage::words(ROUTES));
    let file = folder.write("entries.json", "");
    let named = |text: &str| assert!(text.contains(&*file.to_string_lossy()), "{text}");
    let (mut refused, mut taken, mut entries, mut by_map) = (0, 0, 0, 0u64);
    let campaign = Campaign { cases: 20_000, most_bytes: 16 << 20, most_left: 4 << 20, ..Campaign::default() };
    let tried = campaign.run(&alone, |numbers| {
        let one = numbers.below(words.len());
        let mut text = match numbers.below(20) {
            0 => words[one].concat(),
            _ => damage::text(&words[one..=one], WORDS, numbers),
        }
        .into_bytes();
        if numbers.below(8) == 0 {
            damage::bytes(&mut text, numbers);
        }
        fs::write(&file, &text).unwrap();
        let Some(name) = names.get(one) else {
            match routes::of_file(&file) {
                Ok(routes) => {
                    // Printed and read again, they are the same.
                    let again = routes::parse(&routes::print(&routes).to_string()).unwrap();
                    assert_eq!(routes::print(&again), routes::print(&routes));
                    let _ = driver.set_routes(&mut card, &routes);
                    taken += 1;
                }
                Err(error) => {
                    named(&error.to_string());
                    refused += 1;
                }
            }
            return;
        };
        let mut all = driver.maps(&mut card);
        let map = all.find(name).unwrap();
        match maps::entries_of(&map, &file) {
            Err(error) => {
                named(&error.to_string());
                refused += 1;
            }
            Ok(read) => {
                for (key, value) in read {
                    match all.set(&map, &key, &value, Store::Any) {
                        Ok(()) => {
                            assert_eq!(all.get(&map, &key).unwrap(), Some(value));
                            entries += 1;
                        }
                        // It is full, or has no such place.
                        Err(error) => {
                            assert!(error.to_string().contains(name), "{error}");
                            by_map += 1;
                        }
                    }
                }
                taken += 1;
            }
        }
    });
    println!("files: {tried}; refused {refused}, taken {taken}; entries set {entries}, refused by a map {by_map}");
    assert!(
        refused * 4 > tried.cases && taken * 10 > tried.cases && entries > 0 && by_map > 0,
        "{refused} {taken} {entries} {by_map}"
    );
}
