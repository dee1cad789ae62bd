// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock compile xdp`: its output for a program that fits and for one that does not.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Compiles a C file to an object.
fn object(name: &str, source: &Path) -> PathBuf {
    let object = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let cache = root().join("build/zig");
    let done = Command::new(root().join("build/venv/bin/python"))
        .env("ZIG_GLOBAL_CACHE_DIR", &cache)
        .env("ZIG_LOCAL_CACHE_DIR", &cache)
        .args(["-m", "ziglang", "cc", "-target", "bpfel-freestanding", "-O2", "-g", "-I"])
        .arg(root().join("engines/xdp/include"))
        .arg("-c")
        .arg(source)
        .arg("-o")
        .arg(&object)
        .status()
        .unwrap();
    assert!(done.success());
    object
}

fn penstock(object: &Path, arguments: &[&str]) -> (Output, String, String) {
    let done = Command::new(env!("CARGO_BIN_EXE_penstock"))
        .env("PENSTOCK_ROOT", root())
        .args(["compile", "xdp"])
        .arg(object)
        .args(arguments)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&done.stdout), text(&done.stderr));
    (done, out, err)
}

#[test]
fn a_program_that_fits() {
    let object = object("router.o", &root().join("engines/xdp/programs/router_ipv4.c"));
    let json = Path::new(env!("CARGO_TARGET_TMPDIR")).join("router.json");
    let (done, out, err) = penstock(&object, &["--explain", "--json", json.to_str().unwrap()]);
    assert!(done.status.success() && err.is_empty(), "{err}");
    assert!(out.contains("router_ipv4: ") && out.contains("packet touched up to byte 33"), "{out}");
    assert!(
        out.contains("map routes: lpm_trie, key 8 B (struct prefix), value 8 B (struct route), 1024 entries"),
        "{out}"
    );
    assert!(out.contains("helper bpf_redirect_map()"), "{out}");
    let report: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    assert_eq!(report["programs"][0]["packet_bytes"], 34);
    assert_eq!(report["maps"].as_array().unwrap().len(), 4);
    let (done, _, err) = penstock(&object, &["--program", "other"]);
    assert!(!done.status.success() && err.contains("there is no program other; it has router_ipv4"), "{err}");
}

#[test]
fn a_program_that_does_not() {
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join("one.c");
    let text = "#include <packet.h>\nSEC(\"xdp\") int one(struct xdp_md *ctx) {\n  struct iphdr *ip = frame_start(ctx);\n  \
                return ip->ttl;\n}\nSEC(\"xdp\") int two(struct xdp_md *ctx) { return XDP_DROP; }\n";
    std::fs::write(&source, text).unwrap();
    let object = object("one.o", &source);
    let (done, out, err) = penstock(&object, &[]);
    // The other program is still checked.
    assert!(!done.status.success() && out.contains("two: 2 slots, 1 row, 0 helpers, 0 maps"), "{out}");
    assert!(
        err.contains("one.c:4: instruction") && err.contains("add `if (data + 9 > data_end) return XDP_DROP;`"),
        "{err}"
    );
    let (done, _, _) = penstock(&object, &["--program", "two"]);
    assert!(done.status.success());
    let (done, _, err) = penstock(&root().join("Cargo.toml"), &[]);
    assert!(!done.status.success() && err.contains("not an ELF object"), "{err}");
}

/// For a Linux program in C, the message names both ways; if a local file is missing, it does not.
#[test]
fn headers_that_are_not_here() {
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join("linux.c");
    for (header, told) in [
        ("linux/bpf.h", true),
        ("bpf/bpf_helpers.h", true),
        ("bpf_endian.h", true),
        ("vmlinux.h", true),
        ("own.h", false),
    ] {
        let text = format!("#include <{header}>\nint linux_bpf_h;\n");
        std::fs::write(&source, text).unwrap();
        let (done, _, err) = penstock(&source, &[]);
        assert!(!done.status.success() && err.contains("linux.c:1:10: fatal error: "), "{err}");
        assert_eq!(err.contains("C source includes <packet.h>") && err.contains("clang -target bpf"), told, "{err}");
    }
}

#[test]
fn rows_of_c_source() {
    let source = root().join("engines/xdp/programs/tx.c");
    let json = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tx.json");
    let (done, out, err) = penstock(&source, &["--rows", "--lanes", "4", "--json", json.to_str().unwrap()]);
    assert!(done.status.success() && err.is_empty(), "{err}");
    let rows: Vec<&str> = out.lines().skip(1).collect();
    assert!(out.contains("tx: 20 slots, 2 rows, 0 helpers") && rows.len() == 2, "{out}");
    assert!(rows[1].contains("stp") && rows[1].contains("exit:3"), "{out}");
    let report: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    assert_eq!((&report["programs"][0]["rows"], &report["programs"][0]["lanes"]), (&2.into(), &4.into()));
    let (_, one, _) = penstock(&source, &["--lanes", "1"]);
    assert!(one.contains("6 rows"), "{one}");
    let (done, _, err) = penstock(&source, &["--lanes", "5"]);
    assert!(!done.status.success() && err.contains("1, 2, 3, 4 or 8 lanes"), "{err}");
}
