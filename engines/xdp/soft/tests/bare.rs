// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Bare execution: the results of RFC 9669, as conformance.py computes them, and the ends of wrong programs.
#![allow(clippy::unwrap_used)]

#[path = "../../compiler/tests/common/mod.rs"]
mod objects;

use std::process::Command;

use penstock_xdp_soft::bare::{BareError, Program, run};
use penstock_xdp_soft::read_hex;

fn bytes(hex: &str) -> Vec<u8> {
    if hex == "-" { Vec::new() } else { read_hex(hex).unwrap() }
}

#[test]
fn conformance() {
    let root = objects::root();
    let script = root.join("engines/xdp/soft/tests/conformance.py");
    let done = Command::new(root.join("build/venv/bin/python")).arg(script).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let text = String::from_utf8(done.stdout).unwrap();
    let (mut code, mut name, mut program, mut runs) = ("", "", None::<Program>, 0);
    for line in text.lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["program", its_name, its_code] => (name, code, program) = (its_name, its_code, None),
            ["run", before, result, after] => {
                let mut memory = bytes(before);
                let program = program.get_or_insert_with(|| Program::new(&bytes(code), memory.len()).unwrap());
                let ours = program.run(&mut memory).unwrap();
                assert_eq!(format!("{ours:x}"), result, "r0 of {name} with {before}");
                assert_eq!(memory, bytes(after), "memory of {name} with {before}");
                runs += 1;
            }
            _ => panic!("{line}"),
        }
    }
    println!("{runs} runs");
    assert!(runs > 50_000);
}

/// How a program of these instructions ends that is given 16 bytes.
fn end(code: &str) -> String {
    run(&bytes(code), &mut [0; 16]).unwrap_err().to_string()
}

#[test]
fn outside_of_memory() {
    // r0 = *(u64 *)(r1 + offset)
    for (offset, fits) in [("0000", true), ("0800", true), ("0900", false), ("ffff", false), ("0080", false)] {
        let done = run(&bytes(&format!("7910{offset}000000009500000000000000")), &mut [0; 16]);
        assert_eq!(done.is_ok(), fits, "{offset}");
        assert!(matches!(done, Ok(0) | Err(BareError::Outside { slot: 0, .. })));
    }
    // *(u8 *)(r10 + 0) = 1, one byte after the stack; r1 = 0 and *(u32 *)(r1 + 0).
    assert!(end("720a0000010000009500000000000000").contains("instruction 0"));
    assert!(end("b7010000000000006110000000000000").contains("instruction 1"));
    // An address whose lower half is right: r2 = 1 << 32, r1 += r2.
    assert!(
        end("18020000 00000000 00000000 01000000 0f210000 00000000 71100000 00000000 95000000 00000000")
            .contains("instruction 3")
    );
    // No memory at all.
    assert!(run(&bytes("7110000000000000 9500000000000000"), &mut []).is_err());
}

#[test]
fn wrong_programs() {
    // No such opcode, a jump outside, a helper, a map, no end, no end of another kind.
    assert!(end("ff00000000000000").contains("instruction 0"));
    assert!(end("b700000000000000 0500050000000000 9500000000000000").contains("instruction 1"));
    assert!(end("8500000001000000 9500000000000000").contains("instruction 0"));
    assert!(end("1811000001000000 0000000000000000 9500000000000000").contains("instruction 0"));
    assert!(end("b700000001000000").contains("instruction 0"));
    assert!(end("1501ffff00000000 1d11feff00000000").contains("no end"));
    assert!(end("0500ffff00000000").contains("no end"));
    // A function that calls itself for ever.
    assert!(end("8510000000000000 85100000ffffffff").contains("deeper"));
}
