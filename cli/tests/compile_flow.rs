// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock compile flow`: its output for a program that fits and for one that does not.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Whether it succeeded, and its output.
fn penstock(engine: &str, source: &Path, arguments: &[&str]) -> (bool, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_penstock"));
    command.env("PENSTOCK_ROOT", root()).args(["compile", engine]).arg(source).args(arguments);
    let done = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (done.status.success(), text(&done.stdout), text(&done.stderr))
}

#[test]
fn a_program_that_fits() {
    let source = root().join("engines/flow/programs/port_knocking.efsm");
    let files = ["knock.json", "knock.dot", "knock.svg"].map(place);
    let [json, dot, svg] = files.each_ref().map(|file| file.to_str().unwrap());
    let (well, out, err) = penstock("flow", &source, &["--json", json, "--dot", dot, "--svg", svg]);
    assert!(well && err.is_empty(), "{err}");
    // Four doors, two rows of the open state, and one for all.
    assert!(out.contains("port_knocking.efsm: knock: 7 of 64 rows, 1 of 8 operands, 5 of 32 predicates"), "{out}");
    let [json, dot, svg] = files.map(|file| std::fs::read_to_string(file).unwrap());
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&report["engine"], &report["elements"][1]["states"][4]), (&"flow".into(), &"OPEN".into()));
    assert!(dot.starts_with("digraph") && dot.contains("THREE") && svg.starts_with("<svg") && svg.contains("THREE"));
    let (well, out, _) = penstock("flow", &source, &["--explain"]);
    assert!(well && out.contains("key ip.src (32 bits), 5 states") && out.contains("goto OPEN for 60 s"), "{out}");
}

#[test]
fn a_program_that_does_not() {
    let source = place("wrong.efsm");
    std::fs::write(&source, "element one {\n    tcp.dprt == 22 => drop\n    bogus => drop\n}\n").unwrap();
    let (well, out, err) = penstock("flow", &source, &[]);
    assert!(!well && out.is_empty(), "{out}");
    // All faults, each with its place and a caret below it.
    assert!(err.contains("wrong.efsm:2:5: ") && err.contains("the nearest is `tcp.dport`"), "{err}");
    assert!(
        err.contains("\n 2 |     tcp.dprt == 22 => drop\n   |     ^^^^^^^^") && err.contains("wrong.efsm:3:5: "),
        "{err}"
    );
    let (well, _, err) = penstock("flow", &source, &["--lanes", "4"]);
    assert!(!well && err.contains("unexpected argument '--lanes'"), "{err}");
    let (well, _, err) = penstock("xdp", &source, &["--svg", "x.svg"]);
    assert!(!well && err.contains("unexpected argument '--svg'"), "{err}");
    let (well, _, err) = penstock("flow", &place("nowhere.efsm"), &[]);
    assert!(!well && err.contains("nowhere.efsm: ") && err.contains("port_knocking.efsm"), "{err}");
    let (well, _, err) = penstock("flow", &source, &[source.to_str().unwrap()]);
    assert!(!well && err.contains("unexpected argument"), "{err}");
}
