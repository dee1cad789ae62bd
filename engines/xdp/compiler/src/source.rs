// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Objects from C source, by the toolchain's clang.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Why there is no object.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum SourceError {
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error(
        "cannot start the C compiler ({} -m ziglang cc): {reason}; run `./penstock` once, it installs it",
        python.display()
    )]
    NoCompiler { python: PathBuf, reason: String },
    /// The compiler's own messages, file and line included.
    #[error("the program does not compile:\n{0}")]
    Refused(String),
    /// The same, when it is for want of a header of Linux or libbpf.
    #[error(
        "the program does not compile:\n{0}there are no headers of Linux and libbpf here: C source includes <packet.h> \
         for what programs need of them \
         (engines/xdp/include); or give the object that `clang -target bpf -O2 -g -c` makes of it where they are \
         (docs/xdp.md)"
    )]
    Headers(String),
}

/// How the names of Linux' and libbpf's headers begin.
const LINUX: [&str; 6] = ["'linux/", "'uapi/", "'asm/", "'bpf/", "'bpf_", "'vmlinux.h"];

/// Whether the compiler misses a header of Linux or libbpf.
fn misses_linux(messages: &str) -> bool {
    let mut missing = messages.lines().filter(|line| line.ends_with("' file not found"));
    missing.any(|line| LINUX.iter().any(|name| line.contains(name)))
}

/// An object, and the compiler's warnings.
#[derive(Debug)]
pub struct Compiled {
    /// The object file, in ELF.
    pub object: Vec<u8>,
    /// The warnings, as the compiler printed them; empty if it printed nothing.
    pub messages: String,
}

/// Compiles a C file with the headers of engines/xdp/include of the checkout at `root`, and more `flags`; `object` is a
/// file to write it to, which is gone then.
///
/// # Errors
/// The compiler's own messages if it refuses; else the missing file and the way out.
pub fn compile(source: &Path, root: &Path, flags: &[OsString], object: &Path) -> Result<Compiled, SourceError> {
    let python = root.join("build/venv/bin/python");
    let cache = root.join("build/zig");
    let done = Command::new(&python)
        .env("ZIG_GLOBAL_CACHE_DIR", &cache)
        .env("ZIG_LOCAL_CACHE_DIR", &cache)
        .args([
            "-m",
            "ziglang",
            "cc",
            "-target",
            "bpfel-freestanding",
            "-O2",
            "-g",
            "-Wall",
            "-Wextra",
            "-Wno-unused-parameter",
            "-I",
        ])
        .arg(root.join("engines/xdp/include"))
        .args(flags)
        // Asked for a list of headers too, the compiler does not answer from its cache, where it keeps no warnings.
        .args(["-MMD", "-MF", "/dev/null", "-c"])
        .arg(source)
        .arg("-o")
        .arg(object)
        .output()
        .map_err(|source| SourceError::NoCompiler { python: python.clone(), reason: source.to_string() })?;
    let messages = String::from_utf8_lossy(&done.stderr).into_owned();
    if !done.status.success() {
        // Python's word when it has no such module, and no compiler's.
        return Err(if messages.contains("No module named ziglang") {
            SourceError::NoCompiler { python, reason: messages.trim().to_owned() }
        } else if misses_linux(&messages) {
            SourceError::Headers(messages)
        } else {
            SourceError::Refused(messages)
        });
    }
    let of_object = |source| SourceError::File { path: object.to_owned(), source };
    let bytes = std::fs::read(object).map_err(of_object)?;
    std::fs::remove_file(object).map_err(of_object)?;
    Ok(Compiled { object: bytes, messages })
}
