// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Damaged programs and random words are refused, or taken through all of the compiler, but end nothing: no panic, no
//! program that takes long, none that takes much memory.
//!
//! Each case follows from its number. `PENSTOCK_FUZZ_SECONDS` sets the time for new cases, `PENSTOCK_SEED` the first
//! number.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "a program for developers, which prints what it finds")]
#![allow(clippy::unwrap_used)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use penstock_rmt_compiler::backend::Pipeline;

/// Bytes that a case may hold at a time.
const MOST_BYTES: usize = 256 << 20;
/// Bytes that may stay behind after all cases: what the first one allocates once.
const MOST_LEFT: usize = 1 << 20;
/// How long a case may take.
const LONGEST: Duration = Duration::from_secs(30);
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

/// Counts allocations.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller's promise is handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is handed on.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// SplitMix64.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ mixed >> 31) % end as u64) as usize
    }
}

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

/// Words, numbers and single signs, with the spaces behind them.
fn words(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for sign in text.chars() {
        let joins = |last: &String| {
            let before = last.chars().next_back().unwrap_or(' ');
            sign == ' ' || (sign.is_alphanumeric() || sign == '_') && (before.is_alphanumeric() || before == '_')
        };
        match all.last_mut().filter(|last| joins(last)) {
            Some(last) => last.push(sign),
            None => all.push(sign.to_string()),
        }
    }
    all
}

/// A damaged program, or words alone. The first `whole` programs have no faults.
fn text(programs: &[Vec<String>], whole: usize, numbers: &mut Numbers) -> String {
    let other = |numbers: &mut Numbers| {
        let program = &programs[numbers.below(programs.len())];
        if numbers.below(4) == 0 {
            format!("{} ", WORDS[numbers.below(WORDS.len())])
        } else {
            program[numbers.below(program.len())].clone()
        }
    };
    if numbers.below(10) == 0 {
        return (0..numbers.below(300)).map(|_| other(numbers)).collect();
    }
    let mut words = programs[numbers.below(whole)].clone();
    for _ in 0..[1, 1, 2, 4][numbers.below(4)] {
        let at = numbers.below(words.len());
        let end = (at + 1 + numbers.below(8)).min(words.len());
        match numbers.below(14) {
            0 => words[at] = other(numbers),
            1 => words.insert(at, other(numbers)),
            2 => drop(words.drain(at..end)),
            3 => {
                let to = numbers.below(words.len());
                words.swap(at, to);
            }
            4 => {
                // A part stands there twice, or many times.
                let part: Vec<String> = words[at..end].to_vec();
                let times = [1, 1, 1, 2000][numbers.below(4)];
                words.splice(at..at, std::iter::repeat_n(part, times).flatten());
            }
            5 => words.truncate(at.max(1)),
            7.. => {
                // A word becomes another one of its kind, which often gives a valid program.
                let kind =
                    |word: &String| word.chars().next().map(|sign| (sign.is_alphabetic(), sign.is_ascii_digit()));
                let of = kind(&words[at]);
                let others: Vec<usize> = (0..words.len()).filter(|other| kind(&words[*other]) == of).collect();
                words[at] = words[others[numbers.below(others.len())]].clone();
            }
            _ => {
                // A number becomes another one, such as a width.
                if let Some(number) =
                    words[at..].iter_mut().find(|word| word.starts_with(|sign: char| sign.is_ascii_digit()))
                {
                    let values =
                        ["0 ", "1 ", "127 ", "129 ", "4294967296 ", "99999999999999999999999999999999999999999 "];
                    *number = values[numbers.below(6)].to_owned();
                }
            }
        }
        if words.is_empty() {
            break;
        }
    }
    words.concat()
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

/// Ends the process with a message if one case takes too long.
fn watch(case: &Arc<AtomicU64>) {
    let case = case.clone();
    std::thread::spawn(move || {
        let mut last = (0, Instant::now());
        loop {
            std::thread::sleep(Duration::from_millis(200));
            let now = case.load(Ordering::Relaxed);
            if now != last.0 {
                last = (now, Instant::now());
            } else if last.1.elapsed() > LONGEST {
                eprintln!("case {now} takes more than {LONGEST:?}");
                std::process::abort();
            }
        }
    });
}

fn fuzz() {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let limit = number("PENSTOCK_FUZZ_SECONDS").map(Duration::from_secs);
    let first = number("PENSTOCK_SEED").unwrap_or(1);
    let mut programs: Vec<Vec<String>> = programs().iter().map(|text| words(text)).collect();
    programs.sort_by_key(|program| take(&program.concat()) == 0);
    let whole = programs.iter().filter(|program| take(&program.concat()) > 0).count();
    let (begin, case) = (Instant::now(), Arc::new(AtomicU64::new(0)));
    watch(&case);
    let before = NOW.load(Ordering::Relaxed);
    let (mut reached, mut slowest, mut largest, mut tried) = ([0u64; 3], Duration::ZERO, 0, 0);
    while limit.map_or(tried < CASES, |limit| begin.elapsed() < limit) {
        let seed = first + tried;
        case.store(seed, Ordering::Relaxed);
        let text = text(&programs, whole, &mut Numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
        let (start, held) = (Instant::now(), NOW.load(Ordering::Relaxed));
        MOST.store(held, Ordering::Relaxed);
        match catch_unwind(AssertUnwindSafe(|| take(&text))) {
            Ok(how_far) => reached[how_far] += 1,
            Err(_) => panic!("case {seed} panics:\n{text}"),
        }
        let bytes = MOST.load(Ordering::Relaxed) - held;
        assert!(bytes < MOST_BYTES, "case {seed} takes {bytes} bytes");
        (slowest, largest) = (slowest.max(start.elapsed()), largest.max(bytes));
        tried += 1;
    }
    let left = NOW.load(Ordering::Relaxed).saturating_sub(before);
    println!(
        "{tried} programs; refused, compiled, on the card: {reached:?}; slowest {slowest:?}, {largest} bytes, {left} left"
    );
    assert!(left < MOST_LEFT, "{left} bytes stay behind");
    // Otherwise the cases would only try the reader of words.
    assert!(reached[0] * 20 > tried && (reached[1] + reached[2]) * 20 > tried, "{reached:?} of {tried}");
}

#[test]
fn damaged_programs() {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(fuzz).unwrap();
    assert!(thread.join().is_ok(), "see above");
}
