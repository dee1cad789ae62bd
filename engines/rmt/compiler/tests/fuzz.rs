// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Damaged programs and random words are refused, or taken through all of the compiler, but end nothing: no panic, no
//! program that takes long, none that takes much memory.
//!
//! Each case follows from its number. `PENSTOCK_FUZZ_SECONDS` sets the time for new cases, `PENSTOCK_SEED` the first
//! number.
#![allow(clippy::print_stdout, reason = "a program for developers, which prints what it finds")]
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::time::Duration;

use penstock_rmt_compiler::backend::Pipeline;
use penstock_testing::{Campaign, Counting, alone, damage};

/// Bytes that a case may hold at a time.
const MOST_BYTES: usize = 256 << 20;
/// Bytes that may stay behind after all cases: memory that the first one allocates once.
const MOST_LEFT: usize = 1 << 20;
/// Cases without `PENSTOCK_FUZZ_SECONDS`.
const CASES: u64 = 2000;
/// Stack of a main thread, with which the compiler has to do.
const STACK: usize = 8 << 20;
/// Words for random text, beside those of the programs.
const WORDS: &[&str] = &[
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    ";",
    ":",
    ",",
    ".",
    "=",
    "==",
    "<<",
    "++",
    "&&&",
    "..",
    "|+|",
    "?",
    "-",
    "~",
    "0",
    "1",
    "128w1",
    "8s200",
    "0xffffffffffffffffffffffffffffffffff",
    "bit<129>",
    "bit<0>",
    "int<1>",
    "varbit<8>",
    "header",
    "struct",
    "select",
    "default",
    "_",
    "this",
    "error",
    "\"",
    "/*",
    "//",
    "#define X X X",
    "#if 1",
    "#endif",
    "@name(",
    "$",
    "é",
    "\0",
    "\n",
    "apply",
    "exit",
    "return",
    "switch",
    "extract",
    "lookahead",
    "emit",
    "const",
];

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The programs that come with the engine and its tests.
fn programs() -> Vec<String> {
    let engine = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut all = Vec::new();
    for folder in ["programs", "tests/programs", "compiler/tests/ui"] {
        let mut paths: Vec<_> =
            std::fs::read_dir(engine.join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths.retain(|path| path.extension().is_some_and(|ending| ending == "p4"));
        all.extend(paths.iter().map(|path| std::fs::read_to_string(path).unwrap()));
    }
    all
}

/// How far the compiler took a program: refused, compiled, on the card.
fn take(text: &str) -> usize {
    match penstock_rmt_compiler::compile_sent("fuzz.p4", text) {
        Err(faults) => {
            assert!(!faults.to_string().is_empty());
            0
        }
        Ok(compiled) => match compiled.lower(&Pipeline::new(12)) {
            Err(faults) => {
                assert!(!faults.to_string().is_empty());
                1
            }
            Ok(_) => 2,
        },
    }
}

fn fuzz() {
    let alone = alone();
    let mut programs: Vec<Vec<String>> = programs().iter().map(|text| damage::words(text)).collect();
    // Programs with faults give words only.
    programs.sort_by_key(|program| take(&program.concat()) == 0);
    let whole = programs.iter().filter(|program| take(&program.concat()) > 0).count();
    let (whole, words) = (&programs[..whole], programs[whole..].concat());
    let others: Vec<&str> = WORDS.iter().copied().chain(words.iter().map(String::as_str)).collect();
    let mut reached = [0u64; 3];
    let campaign =
        Campaign { cases: CASES, most_bytes: MOST_BYTES, most_left: MOST_LEFT, longest: Duration::from_secs(30) };
    let tried = campaign.run(&alone, |numbers| reached[take(&damage::text(whole, &others, numbers))] += 1);
    println!("programs: {tried}; refused, compiled, on the card: {reached:?}");
    // Otherwise the cases would only try the reader of words.
    assert!(reached[0] * 20 > tried.cases && (reached[1] + reached[2]) * 20 > tried.cases, "{reached:?} of {tried}");
}

#[test]
fn damaged_programs() {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(fuzz).unwrap();
    assert!(thread.join().is_ok(), "see above");
}
