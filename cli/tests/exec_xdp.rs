// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock exec xdp`: results of bare programs, and messages for programs without a result.
#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::process::{Command, Stdio};

/// Standard output and error of a program in hex.
fn exec(program: &str, memory: Option<&str>) -> (bool, String, String) {
    exec_on(&["--target", "soft"], program, memory)
}

fn exec_on(options: &[&str], program: &str, memory: Option<&str>) -> (bool, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_penstock"))
        .args(["exec", "xdp"])
        .args(options)
        .args(memory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(program.as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (done.status.success(), text(done.stdout), text(done.stderr))
}

#[test]
fn results() {
    // r0 = 100; r0 /= 7
    assert_eq!(exec("b7000000 64000000 37000000 07000000 95000000 00000000\n", None).1, "e\n");
    // w0 = INT_MIN; w0 s/= -1
    assert_eq!(exec("b400000000000080 34000100ffffffff 9500000000000000", None).1, "80000000\n");
    // r0 = *(u16 *)(r1 + 1)
    assert_eq!(exec("6910010000000000 9500000000000000", Some("00 34 12")).1, "1234\n");
}

#[test]
fn errors() {
    let cases = [
        ("6910010000000000 9500000000000000", Some("0034"), "reaches outside of the memory"),
        ("95", None, "a multiple of 8"),
        ("9z", None, "the program: `z` is no hexadecimal digit"),
        ("9500000000000000", Some("1"), "the memory: "),
        ("8500000005000000 9500000000000000", None, "helper"),
    ];
    for (program, memory, error) in cases {
        let (ok, out, err) = exec(program, memory);
        assert!(!ok && out.is_empty() && err.contains(error), "{program}: {err}");
    }
}

/// The core's RTL gives the same, and its own words where there is no result. (device/tests/xdp_bare.rs tries all
/// instructions.)
#[test]
fn on_rtl() {
    let rtl = |program: &str, memory: Option<&str>| exec_on(&["--target", "rtl", "--lanes", "4"], program, memory);
    assert_eq!(rtl("b7000000 64000000 37000000 07000000 95000000 00000000\n", None).1, "e\n");
    assert_eq!(rtl("6910010000000000 9500000000000000", Some("00 34 12")).1, "1234\n");
    let (ok, out, err) = rtl("6910010000000000 9500000000000000", Some("0034"));
    assert!(!ok && out.is_empty() && err.contains("reaches outside of the memory"), "{err}");
    let (ok, out, err) = rtl("8500000005000000 9500000000000000", None);
    assert!(!ok && out.is_empty() && err.contains("calls a helper"), "{err}");
    let (ok, out, err) = exec_on(&["--lanes", "4"], "9500000000000000", None);
    assert!(!ok && out.is_empty() && err.contains("add `--target rtl`"), "{err}");
}
