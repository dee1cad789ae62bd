// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Damaged programs and random words are refused, or taken through all of the compiler: no panic, no program that takes
//! long, none that takes much memory.
//!
//! `PENSTOCK_FUZZ_SECONDS` sets the time for new cases, `PENSTOCK_SEED` the number of the first one.
#![allow(clippy::print_stdout, reason = "a program for developers, which prints what it finds")]
#![allow(clippy::unwrap_used)]

use std::path::Path;

use penstock_flow_compiler::compile;
use penstock_testing::{Campaign, Counting, alone, damage};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Words that stand in no program of ours.
const WORDS: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "=>",
    "=",
    "==",
    "!=",
    "<",
    ">=",
    "&&",
    "||",
    "&",
    "|",
    "^",
    "<<",
    ">>",
    "+",
    "-",
    "*",
    "/",
    ",",
    ".",
    ":",
    ";",
    "#",
    "\"",
    "é",
    "\0",
    "\n",
    "0x",
    "0b2",
    "1us",
    "4001 s",
    "10.0.0.0/33",
    "::1",
    "02:00:00:00:00:00",
    "element",
    "key",
    "flow",
    "global",
    "state",
    "event",
    "timeout",
    "evict",
    "drop",
    "port",
    "port 256",
    "host",
    "unit",
    "emit",
    "ip.src",
    "ip6.dst",
    "tcp.flags",
    "vlan",
    "mpls",
    "hash",
    "len",
    "now",
    "push",
    "pop",
    "random",
];

/// The programs that come with the engine.
fn programs() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("programs");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.retain(|path| path.extension().is_some_and(|end| end == "efsm"));
    paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

#[test]
fn damaged_programs() {
    let alone = alone();
    let programs: Vec<Vec<String>> = programs().iter().map(|text| damage::words(text)).collect();
    assert!(programs.iter().all(|words| compile("whole.efsm", &words.concat()).is_ok()));
    let (mut refused, mut taken) = (0, 0);
    let campaign = Campaign { cases: 3000, ..Campaign::default() };
    let tried = campaign.run(&alone, |numbers| {
        let mut text = damage::text(&programs, WORDS, numbers);
        if numbers.below(16) == 0 {
            let mut bytes = text.into_bytes();
            damage::bytes(&mut bytes, numbers);
            text = String::from_utf8_lossy(&bytes).into_owned();
        }
        match compile("campaign.efsm", &text) {
            Err(faults) => {
                let faults = faults.to_string();
                assert!(faults.starts_with("campaign.efsm:"), "{faults}");
                refused += 1;
            }
            Ok(compiled) => {
                let _ = (compiled.words(15_892), compiled.check_ports(2));
                let _ = (compiled.explain(), compiled.json(), compiled.dot(), compiled.svg());
                taken += 1;
            }
        }
    });
    println!("programs: {tried}; refused {refused}, taken {taken}");
    assert!(refused * 10 > tried.cases && taken * 20 > tried.cases, "{refused} {taken}");
}
