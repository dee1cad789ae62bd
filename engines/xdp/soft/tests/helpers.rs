// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Helpers, here and in the kernel: the same results, frames and maps for the same arguments.
#![allow(clippy::print_stdout, reason = "a program for developers, which prints what it finds")]
#![allow(clippy::unwrap_used)]

mod common;

use std::os::fd::AsRawFd;

use common::own;
use common::twins::Twins;
use penstock_testing::Numbers;
use penstock_xdp_maps::Store;

/// Bytes of a command.
const COMMAND: usize = 96;

/// The command in a frame of helpers.c.
#[derive(Default)]
struct Command {
    what: u32,
    which: u32,
    flags: u64,
    key: [u32; 2],
    value: u64,
    words: [u64; 8],
}

impl Command {
    fn frame(&self, bytes: usize) -> Vec<u8> {
        let mut frame = [self.what.to_ne_bytes(), self.which.to_ne_bytes()].concat();
        frame.extend(self.flags.to_ne_bytes());
        frame.extend(self.key.map(u32::to_ne_bytes).as_flattened());
        frame.extend(self.value.to_ne_bytes());
        frame.extend(self.words.map(u64::to_ne_bytes).as_flattened());
        frame.resize(bytes.max(COMMAND), 0x5A);
        frame
    }
}

/// Runs a program of helpers.c on commands; returns the number of different results.
fn compare(
    program: &str,
    rounds: usize,
    fill: impl FnOnce(&mut Twins),
    make: impl Fn(&mut Numbers) -> Command,
) -> usize {
    let mut twins = Twins::new(own("helpers"));
    fill(&mut twins);
    let pair = twins.load(program);
    let mut numbers = Numbers(0x3141_5926_5358_9793);
    let mut results = std::collections::BTreeSet::new();
    for _ in 0..rounds {
        let command = make(&mut numbers);
        let bytes = [0, 300, 1500][numbers.below(3)];
        let length = [0, 0, 4, 32][numbers.below(4)];
        let meta = numbers.bytes(length);
        results.insert(twins.run(&pair, &meta, &command.frame(bytes)).result);
    }
    twins.same_maps();
    println!("{program}: {} results", results.len());
    results.len()
}

/// Distances at the limits of the buffer, and any.
fn distance(numbers: &mut Numbers) -> u32 {
    let limits = [
        0,
        -256,
        -216,
        -212,
        -184,
        -220,
        14,
        82,
        81,
        83,
        4,
        -4,
        -252,
        -255,
        3420,
        3421,
        3120,
        1920,
        i32::MIN,
        i32::MAX,
    ];
    match numbers.below(3) {
        0 => numbers.next() as u32,
        1 => limits[numbers.below(limits.len())] as u32,
        _ => (numbers.below(600) as u32).wrapping_sub(300),
    }
}

#[test]
fn moving_ends() {
    for program in ["head", "tail", "meta"] {
        let results =
            compare(program, 600, |_| {}, |numbers| Command { which: distance(numbers), ..Command::default() });
        assert!(results > 1);
    }
    compare(
        "meta_then_head",
        600,
        |_| {},
        |numbers| {
            let (what, which, key) = (distance(numbers), distance(numbers), [distance(numbers), 0]);
            Command { what, which, key, ..Command::default() }
        },
    );
}

#[test]
fn bytes_of_the_frame() {
    for program in ["load_bytes", "store_bytes"] {
        let results = compare(
            program,
            600,
            |_| {},
            |numbers| {
                let any = numbers.next() as u32;
                let which = [numbers.below(100) as u32, 240 + any % 64, 0xfff0 + any % 32, any][numbers.below(4)];
                let words = std::array::from_fn(|_| numbers.next());
                Command { what: numbers.next() as u32, which, words, ..Command::default() }
            },
        );
        assert!(results > 1);
    }
}

#[test]
fn checksums() {
    compare(
        "checksum",
        2000,
        |_| {},
        |numbers| {
            let odd = if numbers.below(8) == 0 { 31 } else { 28 };
            let (what, which) = (numbers.next() as u32 & odd, numbers.next() as u32 & odd);
            let words = std::array::from_fn(|_| [0, u64::MAX, numbers.next(), 1][numbers.below(4)]);
            Command {
                what,
                which,
                key: [[0, 1, u32::MAX, numbers.next() as u32][numbers.below(4)], 0],
                words,
                ..Command::default()
            }
        },
    );
}

#[test]
fn maps() {
    for (map, entries) in [
        ("array", 10),
        ("percpu_array", 10),
        ("hash", 10),
        ("percpu_hash", 10),
        ("lru_hash", 20),
        ("lru_percpu_hash", 20),
        ("lpm_trie", 40),
    ] {
        let results = compare(
            &format!("on_{map}"),
            1500,
            |_| {},
            |numbers| Command {
                what: numbers.below(3) as u32,
                flags: [0, 0, 0, 1, 2, 3, 1 << 40][numbers.below(7)],
                key: [numbers.below(entries) as u32, [0, 0x80, 0xFF][numbers.below(3)]],
                value: numbers.next(),
                ..Command::default()
            },
        );
        assert!(results > 3);
    }
}

#[test]
fn redirects() {
    let flags = |numbers: &mut Numbers| [0, 1, 2, 3, 4, 8, 16, 24, 25, 1 << 40][numbers.below(10)];
    let any = |numbers: &mut Numbers| Command {
        which: numbers.below(3) as u32,
        key: [numbers.below(9) as u32, 0],
        flags: flags(numbers),
        ..Command::default()
    };
    let devices = |twins: &mut Twins| {
        twins.set("devmap", &3u32.to_ne_bytes(), &1u32.to_ne_bytes());
        twins.set("devmap_hash", &5u32.to_ne_bytes(), &[1, 0, 0, 0, 0, 0, 0, 0]);
    };
    for program in ["to_port", "to_devmap", "to_devmap_hash", "to_cpumap", "to_xskmap"] {
        assert!(compare(program, 200, devices, any) > 1);
    }
}

#[test]
fn events_without_a_host() {
    let index = |numbers: &mut Numbers| [0, 3, 7, 8, 0xFFFF_FFFF, 0x1000_0000_0000_0000][numbers.below(6)];
    compare(
        "event",
        300,
        |_| {},
        |numbers| Command {
            which: numbers.below(64) as u32,
            flags: index(numbers) | ([0, 50, 96, 97, 300, 1500, 0xF_FFFF][numbers.below(7)] << 32),
            ..Command::default()
        },
    );
}

#[test]
fn rings() {
    let mut twins = Twins::new(own("helpers"));
    let programs =
        ["output", "query", "short_record", "long_record", "too_long_record"].map(|program| twins.load(program));
    let mut numbers = Numbers(0x3141_5926_5358_9793);
    for _ in 0..600 {
        let which = [0, 0, 1, 1, 1, 2, 2, 3, 4][numbers.below(9)];
        let command = Command {
            what: numbers.below(2) as u32,
            which: numbers.below(64) as u32,
            flags: [0, 0, 0, 1, 2, 3, 4][numbers.below(7)],
            value: numbers.next(),
            ..Command::default()
        };
        twins.run(&programs[which], &[], &command.frame(0));
    }
}

#[test]
fn printing() {
    for program in [
        "print_plain",
        "print_numbers",
        "print_long",
        "print_longer",
        "print_padded",
        "print_percent",
        "print_unknown",
        "print_four",
        "print_many",
    ] {
        compare(
            program,
            30,
            |_| {},
            |numbers| Command {
                words: std::array::from_fn(|_| [65, u64::MAX, 1 << 31, numbers.next()][numbers.below(4)]),
                ..Command::default()
            },
        );
    }
}

/// Printed lines against printf().
#[test]
fn printed() {
    let mut twins = Ours::new();
    let words = [u64::MAX, 4_000_000_000, 0xABC, 0, 0, 0, 0, 0];
    for (program, line) in [
        ("print_numbers", "-1 4000000000 abc"),
        ("print_long", "a -1 b 4000000000 c abc"),
        ("print_longer", "-14000000000ABC."),
        ("print_padded", "[ffffffff] [-294967296  ] [+2748]"),
        ("print_many", "-1 -294967296 2748 0 0"),
    ] {
        twins.run(program, &Command { words, ..Command::default() });
        assert_eq!(twins.engine.take_log().lines, [line]);
    }
}

/// Thirty-three programs follow the first, not one more; entries that are not there lead nowhere.
#[test]
fn tail_calls() {
    let mut twins = Twins::new(own("helpers"));
    let again = twins.load("again");
    let map = twins.map("programs");
    let number = twins.object.map("programs").unwrap().0 as usize;
    let zero = 0u32.to_ne_bytes();
    twins.engine.maps().set(map, &zero, &again.ours.handle().to_ne_bytes(), Store::Any).unwrap();
    if let (Some(kernel), Some(theirs)) = (&twins.kernel, &again.theirs) {
        kernel[number].set(&zero, &theirs.as_raw_fd().to_ne_bytes(), 0).unwrap();
    }
    for which in [0, 1, 3, 4, 9, 0] {
        twins.run(&again, &[], &Command { which, ..Command::default() }.frame(0));
    }
    twins.same_maps();
    // The kernel lets go of a program that holds itself only when it is taken out.
    if let Some(kernel) = &twins.kernel {
        kernel[number].delete(&zero).unwrap();
    }
}

/// A program that a function calls with a tail call replaces the function: its result goes to the function's caller.
/// (Linux takes such programs only with all their types.)
#[test]
fn tail_calls_from_functions() {
    let mut ours = Ours::new();
    let again = ours.engine.load(&ours.object, "again").unwrap();
    let map = ours.engine.map(&ours.object, "programs").unwrap();
    ours.engine.maps().set(map, &[2, 0, 0, 0], &again.handle().to_ne_bytes(), Store::Any).unwrap();
    for (which, result) in [(0, 1007), (2, 33 + 7)] {
        let verdict = ours.run("from_function", &Command { which, ..Command::default() });
        assert_eq!(verdict.result, result, "{which}");
    }
}

/// An engine of helpers.c alone.
struct Ours {
    object: penstock_xdp_compiler::object::Object,
    engine: penstock_xdp_soft::Engine,
}

impl Ours {
    fn new() -> Ours {
        let object = own("helpers");
        let engine = penstock_xdp_soft::Engine::new(&object, 2).unwrap();
        Ours { object, engine }
    }

    fn run(&mut self, program: &str, command: &Command) -> penstock_xdp_soft::Verdict {
        let program = self.engine.load(&self.object, program).unwrap();
        let mut frame = penstock_xdp_soft::Frame::new(command.frame(0));
        self.engine.run(program, &mut frame, &penstock_xdp_soft::Input::default()).unwrap()
    }
}
