// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Runs the C compiler with the kit's headers, start-up code and memory map.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::{self, Command},
    sync::atomic::{AtomicU32, Ordering},
};

use crate::firmware::{Firmware, FirmwareError};

/// The core's instructions (RV32IM, Zbb, Zicsr), scheduled for a short in-order pipeline whose loads answer a cycle late.
const CPU: &str = "-mcpu=rocket_rv32+m+zbb";

/// What the linker is given beside the program.
const START_UP: [&str; 4] = ["crt0.S", "handlers.c", "string.c", "div64.c"];

/// Why there is no firmware.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    #[error("no source given; name a .c file or an .elf")]
    NoSource,
    #[error("cannot read {path}: {source}")]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write {path}: {source}")]
    Write { path: PathBuf, source: io::Error },
    #[error("{path}: {source}")]
    Firmware { path: PathBuf, source: FirmwareError },
    #[error("Penstock's folder not found from {0}; run `./penstock`, or set PENSTOCK_ROOT to the checkout")]
    NoRoot(PathBuf),
    #[error("cannot start the C compiler ({python} -m ziglang cc): {source}; run `./penstock` once, it installs it")]
    NoCompiler { python: PathBuf, source: io::Error },
    /// The compiler's own messages, file and line included.
    #[error("firmware does not compile:\n{0}")]
    Refused(String),
    /// `what` says which memory and by how many bytes, one a line.
    #[error("firmware does not fit: {what}; shrink it, or move tables to the host")]
    DoesNotFit { what: String },
}

/// Where the compiler and the kit are, and what the compiler is told beyond the usual.
#[derive(Debug, Clone)]
pub struct Options {
    /// The checkout.
    pub root: PathBuf,
    /// The Python that has the compiler (package ziglang).
    pub python: PathBuf,
    /// Further arguments for the compiler, such as `-DNAME=1`.
    pub flags: Vec<String>,
}

impl Options {
    /// The kit of the checkout at `root`.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), python: root.join("build/venv/bin/python"), flags: Vec::new() }
    }

    /// The kit of the checkout that the environment variable PENSTOCK_ROOT names, else of the one that holds this executable.
    ///
    /// # Errors
    /// When neither leads to a checkout.
    pub fn discover() -> Result<Self, CompileError> {
        let is_root = |path: &&Path| path.join("engines/rpu/sdk/start/link.ld").is_file();
        if let Some(root) = env::var_os("PENSTOCK_ROOT").map(PathBuf::from) {
            return if is_root(&root.as_path()) { Ok(Self::new(&root)) } else { Err(CompileError::NoRoot(root)) };
        }
        let executable = env::current_exe().unwrap_or_default();
        let root = executable.ancestors().find(is_root).map(Path::to_owned);
        root.map(|root| Self::new(&root)).ok_or(CompileError::NoRoot(executable))
    }
}

/// Compiles and links C and assembly sources, or loads a single `.elf` that was linked before.
///
/// The kit's own part is compiled once and kept under build/zig by the hash of all that went in; the sources are compiled each time, in
/// some hundred milliseconds, so that their warnings come each time.
///
/// # Errors
/// The compiler's own messages when it refuses; else what is missing and how to get it.
pub fn compile(sources: &[PathBuf], options: &Options) -> Result<Firmware, CompileError> {
    let first = sources.first().ok_or(CompileError::NoSource)?;
    for path in sources {
        fs::metadata(path).map_err(|source| CompileError::Read { path: path.clone(), source })?;
    }
    if sources.len() == 1 && first.extension().is_some_and(|e| e == "elf") {
        return load(first);
    }
    let folder = options.root.join("build/firmware");
    fs::create_dir_all(&folder).map_err(|source| CompileError::Write { path: folder.clone(), source })?;
    let mut messages = String::new();
    let objects: Vec<Scratch> = sources.iter().map(|_| Scratch::new(&folder, "o")).collect();
    for (source, object) in sources.iter().zip(&objects) {
        messages += &translate(source, options, &object.0)?;
    }
    let elf = Scratch::new(&folder, "elf");
    messages += &link(&objects, options, &elf.0)?;
    let mut firmware = load(&elf.0)?;
    firmware.messages = messages;
    Ok(firmware)
}

/// Compiles one source; gives the warnings.
fn translate(source: &Path, options: &Options, object: &Path) -> Result<String, CompileError> {
    let mut command = compiler(options);
    if source.extension().is_some_and(|e| e == "c") {
        // Asked for a list of headers too, the compiler does not answer from its cache, where it keeps no warnings.
        command.args(["-MMD", "-MF", "/dev/null"]);
    }
    run(command.arg("-g").arg("-c").arg(source).arg("-o").arg(object), options)
}

/// Links objects with the kit's start-up code; gives the warnings.
fn link(objects: &[Scratch], options: &Options, elf: &Path) -> Result<String, CompileError> {
    let start = options.root.join("engines/rpu/sdk/start");
    let mut command = compiler(options);
    // Of the kit only what the program uses is linked, and the linker describes what it leaves out as if it lay at address 0: so the kit has no
    // debug information, and the program's own functions, which have it, all stay.
    command
        .args(["-g0", "-ffunction-sections", "-Wl,--gc-sections"])
        .arg("-T")
        .arg(start.join("link.ld"))
        .args(START_UP.map(|name| start.join(name)));
    run(command.args(objects.iter().map(|object| &object.0)).arg("-o").arg(elf), options)
}

/// The compiler with the kit's headers, told what holds for every call.
fn compiler(options: &Options) -> Command {
    let kit = options.root.join("engines/rpu/sdk");
    let cache = options.root.join("build/zig");
    let mut command = Command::new(&options.python);
    command
        .env("ZIG_GLOBAL_CACHE_DIR", &cache)
        .env("ZIG_LOCAL_CACHE_DIR", &cache)
        .args(["-m", "ziglang", "cc", "-target", "riscv32-freestanding", CPU, "-std=gnu17", "-O2", "-Wall", "-Wextra"])
        .args(["-ffreestanding", "-fno-sanitize=all", "-fomit-frame-pointer", "-mno-relax", "-nostdlib"])
        .args(["-fno-unwind-tables", "-fno-asynchronous-unwind-tables"])
        .args([
            include(&kit.join("include")),
            include(&kit.join("compat")),
            include(&options.root.join("engines/rpu/regs")),
        ])
        .args(&options.flags);
    command
}

/// Runs the compiler; gives its warnings.
fn run(command: &mut Command, options: &Options) -> Result<String, CompileError> {
    let output =
        command.output().map_err(|source| CompileError::NoCompiler { python: options.python.clone(), source })?;
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(messages) } else { Err(refusal(messages)) }
}

/// Tells a program that is too big from one that is wrong.
fn refusal(messages: String) -> CompileError {
    let too_big: Vec<&str> = messages
        .lines()
        .filter(|line| line.contains("will not fit in region") || line.contains("do not fit into"))
        .map(|line| line.trim_start_matches("ld.lld: error: "))
        .collect();
    if too_big.is_empty() {
        CompileError::Refused(messages.trim_end().to_owned())
    } else {
        CompileError::DoesNotFit { what: too_big.join("; ") }
    }
}

fn load(path: &Path) -> Result<Firmware, CompileError> {
    let bytes = fs::read(path).map_err(|source| CompileError::Read { path: path.to_owned(), source })?;
    Firmware::from_elf(bytes).map_err(|source| CompileError::Firmware { path: path.to_owned(), source })
}

fn include(folder: &Path) -> String {
    format!("-I{}", folder.display())
}

/// A file of this call alone, gone when it ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new(folder: &Path, extension: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(folder.join(format!("{}-{number}.{extension}", process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nothing depends on it any more; a file that stays behind does no harm.
        let _ = fs::remove_file(&self.0);
    }
}
