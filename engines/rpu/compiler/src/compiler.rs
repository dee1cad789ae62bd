// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Runs the C compiler with the kit's headers, start-up code and memory map.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    process::{self, Command},
    sync::atomic::{AtomicU32, Ordering},
};

use crate::{
    firmware::{Firmware, FirmwareError, Symbol},
    messages::{explain_missing_headers, explain_undefined, foreign_headers},
};

/// The core's instructions (RV32IM, Zbb, Zicsr), scheduled for a short in-order pipeline whose loads answer a cycle
/// late.
const CPU: &str = "-mcpu=rocket_rv32+m+zbb";

/// The start-up code, which is linked with every program.
const START_UP: [&str; 4] = ["crt0.S", "handlers.c", "string.c", "div64.c"];

/// Folders with the kit's headers, below the checkout.
const HEADERS: [&str; 3] = ["engines/rpu/compiler/include", "engines/rpu/compiler/compat", "engines/rpu/regs"];
/// Functions that the start-up code calls, which therefore must not return from the trap themselves.
const HANDLERS: [&str; 2] = ["int_handler", "fault_handler"];
const MRET: [u8; 4] = 0x3020_0073_u32.to_le_bytes();

/// Why there is no firmware.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum CompileError {
    #[error("no source given; name a .c file or an .elf")]
    NoSource,
    #[error("cannot compile {0} for units; give C (.c) or assembly (.S, .s), or one linked .elf alone")]
    Kind(PathBuf),
    #[error("cannot read {path}: {source}")]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write {path}: {source}")]
    Write { path: PathBuf, source: io::Error },
    #[error("{path}: {source}")]
    Firmware { path: PathBuf, source: FirmwareError },
    #[error("cannot start the C compiler ({python} -m ziglang cc): {source}; run `./penstock` once, it installs it")]
    NoCompiler { python: PathBuf, source: io::Error },
    /// The compiler's own messages, file and line included.
    #[error("firmware does not compile:\n{0}")]
    Refused(String),
    /// The names that nothing defines, with file and line, and other messages of the linker: one a line.
    #[error("firmware does not link:\n{0}")]
    NotLinked(String),
    #[error(
        "{0} has __attribute__((interrupt)), but the kit's start-up code saves the registers and returns from the \
         trap; remove the attribute"
    )]
    Handler(String),
    /// `what` names each memory and its excess in bytes, one a line.
    #[error("firmware does not fit: {what}; shrink it, or move tables to the host")]
    DoesNotFit { what: String },
}

/// The paths of the compiler and the kit, and further arguments for the compiler.
#[derive(Debug, Clone)]
pub struct Options {
    /// The checkout.
    pub root: PathBuf,
    /// The Python that has the compiler (package ziglang).
    pub python: PathBuf,
    /// Level of optimisation of the sources; the kit's start-up code always has 2.
    pub optimise: &'static str,
    /// Further arguments for the compiler, such as `-DNAME=1`.
    pub flags: Vec<String>,
}

impl Options {
    /// The kit of the checkout at `root`.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        let python = root.join("build/venv/bin/python");
        Self { root: root.to_owned(), python, optimise: "2", flags: Vec::new() }
    }
}

/// Compiles and links C and assembly sources, or loads a single `.elf` that was linked before.
///
/// The compiler caches the kit's objects under build/zig, by the hash of their inputs. It compiles the sources each
/// time, which takes some hundred milliseconds and repeats their warnings each time.
///
/// # Errors The messages of the compiler or the linker, or what is missing and how to get it.
pub fn compile(sources: &[PathBuf], options: &Options) -> Result<Firmware, CompileError> {
    let first = sources.first().ok_or(CompileError::NoSource)?;
    for path in sources {
        fs::metadata(path).map_err(|source| CompileError::Read { path: path.clone(), source })?;
    }
    if sources.len() == 1 && has_extension(first, &["elf"]) {
        return load(first);
    }
    if let Some(other) = sources.iter().find(|path| !has_extension(path, &["c", "S", "s"])) {
        return Err(CompileError::Kind(other.clone()));
    }
    let folder = options.root.join("build/firmware");
    fs::create_dir_all(&folder).map_err(|source| CompileError::Write { path: folder.clone(), source })?;
    let mut messages = String::new();
    let objects: Vec<Scratch> = sources.iter().map(|_| Scratch::new(&folder, "o")).collect();
    let kit = Kit::read(&options.root);
    for (source, object) in sources.iter().zip(&objects) {
        messages += &translate(source, options, &kit, &folder, &object.0)?;
    }
    let elf = Scratch::new(&folder, "elf");
    messages += &link(&objects, options, &elf.0)?;
    let mut firmware = load(&elf.0)?;
    let returns = |handler: &Symbol| {
        let code = firmware.imem.get(handler.address as usize..(handler.address + handler.size) as usize);
        code.is_some_and(|code| code.chunks_exact(4).any(|word| word == MRET))
    };
    if let Some(handler) = firmware.symbols.iter().find(|s| HANDLERS.contains(&s.name.as_str()) && returns(s)) {
        return Err(CompileError::Handler(handler.name.clone()));
    }
    firmware.messages = messages;
    Ok(firmware)
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|own| extensions.iter().any(|extension| own == *extension))
}

/// Folders and names of the kit's headers.
pub(crate) struct Kit {
    pub folders: Vec<PathBuf>,
    pub headers: BTreeSet<OsString>,
}

impl Kit {
    fn read(root: &Path) -> Self {
        let folders: Vec<PathBuf> = HEADERS.iter().map(|folder| root.join(folder)).collect();
        let files = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
        let headers = files.map(|file| file.file_name()).filter(|name| has_extension(Path::new(name), &["h"]));
        Self { headers: headers.collect(), folders }
    }
}

/// Compiles one source; gives the warnings.
fn translate(
    source: &Path,
    options: &Options,
    kit: &Kit,
    folder: &Path,
    object: &Path,
) -> Result<String, CompileError> {
    let mut command = compiler(options);
    let included = Scratch::new(folder, "d");
    if has_extension(source, &["c"]) {
        // This list of headers also keeps the compiler from answering from its cache, which has no warnings.
        command.arg("-MMD").arg("-MF").arg(&included.0);
    }
    let refusal = |messages| CompileError::Refused(explain_missing_headers(messages, kit));
    let warnings = run(
        command.arg(format!("-O{}", options.optimise)).arg("-g").arg("-c").arg(source).arg("-o").arg(object),
        options,
        refusal,
    )?;
    let included = fs::read_to_string(&included.0).unwrap_or_default();
    Ok(foreign_headers(&included, source, kit) + &warnings)
}

/// Links objects with the kit's start-up code; gives the warnings.
fn link(objects: &[Scratch], options: &Options, elf: &Path) -> Result<String, CompileError> {
    let start = options.root.join("engines/rpu/compiler/start");
    let mut command = compiler(options);
    // The linker drops the kit's functions that the program does not use, but its debug information describes them as
    // if they were at address 0. Therefore the kit has no debug information. The program has it, and keeps all its
    // functions.
    command
        .args(["-g0", "-ffunction-sections", "-Wl,--gc-sections"])
        .arg("-T")
        .arg(start.join("link.ld"))
        .args(START_UP.map(|name| start.join(name)));
    run(command.args(objects.iter().map(|object| &object.0)).arg("-o").arg(elf), options, refusal)
}

/// The compiler with the arguments of every call.
fn compiler(options: &Options) -> Command {
    let cache = options.root.join("build/zig");
    let mut command = Command::new(&options.python);
    command
        .env("ZIG_GLOBAL_CACHE_DIR", &cache)
        .env("ZIG_LOCAL_CACHE_DIR", &cache)
        .args(["-m", "ziglang", "cc", "-target", "riscv32-freestanding", CPU, "-std=gnu17", "-O2", "-Wall", "-Wextra"])
        .args(["-ffreestanding", "-fno-sanitize=all", "-fomit-frame-pointer", "-mno-relax", "-nostdlib"])
        .args(["-fno-unwind-tables", "-fno-asynchronous-unwind-tables"])
        .args(HEADERS.map(|folder| format!("-I{}", options.root.join(folder).display())))
        .args(&options.flags);
    command
}

/// Runs the compiler; gives its warnings. If it refuses, `refusal` makes an error of its messages.
fn run(
    command: &mut Command,
    options: &Options,
    refusal: impl FnOnce(String) -> CompileError,
) -> Result<String, CompileError> {
    let output =
        command.output().map_err(|source| CompileError::NoCompiler { python: options.python.clone(), source })?;
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(messages) } else { Err(refusal(messages)) }
}

/// Distinguishes a program that is too big from one that does not link.
fn refusal(messages: String) -> CompileError {
    let too_big: Vec<&str> = messages
        .lines()
        .filter(|line| line.contains("will not fit in region") || line.contains("do not fit into"))
        .map(|line| line.trim_start_matches("ld.lld: error: "))
        .collect();
    if too_big.is_empty() {
        CompileError::NotLinked(explain_undefined(&messages))
    } else {
        CompileError::DoesNotFit { what: too_big.join("; ") }
    }
}

fn load(path: &Path) -> Result<Firmware, CompileError> {
    let bytes = fs::read(path).map_err(|source| CompileError::Read { path: path.to_owned(), source })?;
    Firmware::from_elf(bytes).map_err(|source| CompileError::Firmware { path: path.to_owned(), source })
}

/// A file of this call alone, removed at its end.
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
        // Nothing depends on the file any more; if it cannot be removed, it does no harm.
        let _ = fs::remove_file(&self.0);
    }
}
