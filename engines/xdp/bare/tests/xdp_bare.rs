// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Bare execution on the core's RTL: the results of RFC 9669, as conformance.py computes them.
//!
//! Without `PENSTOCK_XDP_ALL` some of the immediate operands and of the pairs of operands are left out, and the core
//! has four lanes.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "a program for developers, which prints what it finds")]
#![allow(clippy::panic, clippy::unwrap_used)]

use std::process::Command;
use std::time::Instant;

use penstock_device::Root;
use penstock_xdp_bare::{Bare, BareError, BareProgram};
use penstock_xdp_host::Lanes;
use penstock_xdp_soft::read_hex;

fn bytes(hex: &str) -> Vec<u8> {
    if hex == "-" { Vec::new() } else { read_hex(hex).unwrap() }
}

/// A program, and its results for memories.
struct Case {
    name: String,
    code: Vec<u8>,
    runs: Vec<(Vec<u8>, u64, Vec<u8>)>,
}

/// All cases of conformance.py.
fn cases(root: &Root) -> Vec<Case> {
    let script = root.join("engines/xdp/soft/tests/conformance.py");
    let done = Command::new(root.join("build/venv/bin/python")).arg(script).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let mut cases: Vec<Case> = Vec::new();
    for line in String::from_utf8(done.stdout).unwrap().lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["program", name, code] => cases.push(Case { name: name.into(), code: bytes(code), runs: vec![] }),
            ["run", before, result, after] => {
                let result = u64::from_str_radix(result, 16).unwrap();
                cases.last_mut().unwrap().runs.push((bytes(before), result, bytes(after)));
            }
            _ => panic!("{line}"),
        }
    }
    cases
}

/// Less of it: of operations with an immediate operand every 48th, of accesses every tenth, of long lists of operands a
/// part that is another one for each operation.
fn some(cases: Vec<Case>) -> Vec<Case> {
    let mut fewer: Vec<Case> = Vec::new();
    for (number, mut case) in cases.into_iter().enumerate() {
        let step = match case.runs.len() {
            1 if is_access(&case.name) => 10,
            2..100 => 48,
            _ => 1,
        };
        if !number.is_multiple_of(step) {
            continue;
        }
        let (many, mut place) = (case.runs.len() > 100, number);
        case.runs.retain(|_| {
            place += 1;
            !many || place.is_multiple_of(40)
        });
        fewer.push(case);
    }
    fewer
}

fn is_access(name: &str) -> bool {
    name.starts_with("load") || name.starts_with("store")
}

fn conforms(root: &Root, lanes: Lanes, cases: &[Case]) {
    let (begin, mut core, mut runs) = (Instant::now(), None::<Bare>, 0);
    for Case { name, code, runs: all } in cases {
        let program = BareProgram::compile(code, lanes).unwrap_or_else(|error| panic!("{name}: {error}"));
        match &mut core {
            Some(core) => core.load(program).unwrap(),
            None => core = Some(Bare::open(root, lanes, program, &mut |_| {}).unwrap()),
        }
        let mut memories: Vec<Vec<u8>> = all.iter().map(|(before, ..)| before.clone()).collect();
        let results = core.as_mut().unwrap().run(&mut memories).unwrap_or_else(|error| panic!("{name}: {error}"));
        for ((ours, memory), (before, result, after)) in results.into_iter().zip(&memories).zip(all) {
            let ours = ours.unwrap_or_else(|error| panic!("{name} with {before:02x?}: {error}"));
            assert_eq!(ours, *result, "r0 of {name} with {before:02x?}");
            assert_eq!(memory, after, "memory of {name} with {before:02x?}");
            runs += 1;
        }
    }
    println!("{} lanes: {} programs, {runs} runs in {:?}", lanes.count(), cases.len(), begin.elapsed());
}

#[test]
fn conformance() {
    let root = Root::find().unwrap();
    let all = cases(&root);
    if std::env::var_os("PENSTOCK_XDP_ALL").is_some() {
        let chosen = |lanes: &Lanes| std::env::var("PENSTOCK_XDP_LANES").is_ok_and(|n| n != lanes.count().to_string());
        for lanes in Lanes::ALL.into_iter().filter(|lanes| !chosen(lanes)) {
            conforms(&root, lanes, &all);
        }
    } else {
        conforms(&root, Lanes::FOUR, &some(all));
    }
}

#[test]
fn wrong_programs() {
    let root = Root::find().unwrap();
    let program = |hex: &str| BareProgram::compile(&bytes(hex), Lanes::FOUR);
    let mut core = None;
    let mut end = |hex: &str, memory: usize| -> Result<u64, String> {
        let program = program(hex).unwrap();
        match &mut core {
            None => core = Some(Bare::open(&root, Lanes::FOUR, program, &mut |_| {}).unwrap()),
            Some(core) => core.load(program).unwrap(),
        }
        core.as_mut().unwrap().run_one(vec![0; memory]).map_err(|error| error.to_string())
    };
    // r0 = *(u64 *)(r1 + offset)
    for (offset, fits) in
        [("0000", true), ("0800", true), ("0900", false), ("ffff", false), ("0080", false), ("f0ff", false)]
    {
        let done = end(&format!("7910{offset}000000009500000000000000"), 16);
        assert_eq!(done.is_ok(), fits, "{offset}: {done:?}");
        assert!(done.is_ok_and(|r0| r0 == 0) || !fits);
    }
    let outside = |slot: usize| format!("instruction {slot} ");
    let stops = [
        // *(u8 *)(r10 + 0) = 1, one byte after the stack; r1 = 0 and *(u32 *)(r1 + 0).
        ("720a0000010000009500000000000000", 16, outside(0)),
        ("b7010000000000006110000000000000 9500000000000000", 16, outside(1)),
        // An address whose lower half is right: r2 = 1 << 32, r1 += r2.
        ("18020000 00000000 00000000 01000000 0f210000 00000000 71100000 00000000 95000000 00000000", 16, outside(3)),
        // No memory at all.
        ("7110000000000000 9500000000000000", 0, outside(0)),
        // A function that calls itself for ever.
        ("8510000000000000 85100000ffffffff 9500000000000000", 16, "deeper than eight".into()),
        ("0500ffff00000000 9500000000000000", 16, "no end".into()),
    ];
    for (hex, memory, told) in stops {
        let error = end(hex, memory).unwrap_err();
        assert!(error.contains(&told), "{hex}: {error}");
    }
    // It works again after a program without an end.
    assert_eq!(end("b700000007000000 9500000000000000", 0), Ok(7));
    for (hex, told) in [
        ("ff00000000000000", "instruction 0"),
        ("b700000000000000 0500050000000000 9500000000000000", "instruction 1"),
        ("8500000001000000 9500000000000000", "instruction 0 (`call 1`) calls a helper"),
        ("1811000001000000 0000000000000000 9500000000000000", "names a map"),
        ("b700000001000000", "without an exit"),
    ] {
        let error = program(hex).unwrap_err();
        assert!(matches!(error, BareError::Program(_)) && error.to_string().contains(told), "{hex}: {error}");
    }
}
