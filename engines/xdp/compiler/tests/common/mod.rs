// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Shared by the tests: programs compiled by the toolchain's clang.
#![allow(dead_code, clippy::panic, clippy::unwrap_used)]

pub(crate) mod around;
pub(crate) mod helpers;
pub(crate) mod kernel;
pub(crate) mod packets;
pub(crate) mod world;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The checkout.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap().to_owned()
}

/// Compiles a C file to an object.
pub(crate) fn compile(source: &Path, flags: &[&str]) -> Vec<u8> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let cache = root().join("build/zig");
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("{}-{number}.o", std::process::id());
    let object = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let done = Command::new(root().join("build/venv/bin/python"))
        .env("ZIG_GLOBAL_CACHE_DIR", &cache)
        .env("ZIG_LOCAL_CACHE_DIR", &cache)
        .args([
            "-m",
            "ziglang",
            "cc",
            "-target",
            "bpfel-freestanding",
            "-O2",
            "-Wall",
            "-Werror",
            "-Wno-unused-function",
        ])
        .arg("-I")
        .arg(root().join("engines/xdp/include"))
        .args(if flags.contains(&"-g0") { &[][..] } else { &["-g"] })
        .args(flags)
        .arg("-c")
        .arg(source)
        .arg("-o")
        .arg(&object)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}: {}", source.display(), String::from_utf8_lossy(&done.stderr));
    let bytes = std::fs::read(&object).unwrap();
    std::fs::remove_file(&object).unwrap();
    bytes
}

/// Compiles C text.
pub(crate) fn compile_text(name: &str, text: &str, flags: &[&str]) -> Vec<u8> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{name}.c", std::process::id()));
    std::fs::write(&path, text).unwrap();
    let object = compile(&path, flags);
    std::fs::remove_file(&path).unwrap();
    object
}

/// The shipped programs, by path.
pub(crate) fn programs() -> Vec<PathBuf> {
    sources("engines/xdp/programs")
}

fn sources(folder: &str) -> Vec<PathBuf> {
    let folder = std::fs::read_dir(root().join(folder)).unwrap();
    let mut paths: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    paths.sort();
    paths
}

/// Small programs as users write them, one idea each, by path.
pub(crate) fn corpus() -> Vec<PathBuf> {
    sources("engines/xdp/tests/corpus")
}
