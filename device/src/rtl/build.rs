// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Builds the Verilator model of a card, once for each set of sources, parameters and tools.
//!
//! Usually the card and its unit are two models (device/rtl/split): the clock loop makes an instance of the second for each
//! unit, which keeps the code to build and to run small. A model that records waves is one whole, so that its signals have
//! their places in the card.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use sha2::{Digest, Sha256};

use crate::device::Progress;
use crate::file_list;
use crate::root::Root;

/// The clock loop.
const DRIVER: &str = include_str!("../../rtl/driver.cpp");
/// Stand-ins for the compression libraries that Verilator's FST writer asks for.
const STORED: [(&str, &str); 2] =
    [("lz4.h", include_str!("../../rtl/stored/lz4.h")), ("zlib.h", include_str!("../../rtl/stored/zlib.h"))];

/// What splits the card from its units.
const SPLIT: [(&str, &str); 3] = [
    ("split_pkg.sv", include_str!("../../rtl/split/split_pkg.sv")),
    ("unit_top.sv", include_str!("../../rtl/split/unit_top.sv")),
    ("unit_socket.sv", include_str!("../../rtl/split/unit_socket.sv")),
];

/// What tells the clock loop of frames that come by.
const TRACE: (&str, &str) = ("card_trace.sv", include_str!("../../rtl/trace/card_trace.sv"));

/// File lists of the card: what it has for its units, and itself.
const CARD_LISTS: [&str; 2] = ["engines/xdp/rtl/maps/maps.f", "shell/rtl/rtl.f"];
/// File lists of the engines, and their registry.
const UNIT_LISTS: [&str; 3] = ["engines/rpu/rtl/rtl.f", "engines/xdp/rtl/rtl.f", "engines/unit.sv"];

/// What Verilator is told. Assertions stay in: they cost little, and a contract broken in silence costs a day.
const VERILATOR: [&str; 11] = [
    "--cc",
    "-O3",
    "--x-assign",
    "fast",
    "--x-initial",
    "fast",
    "--no-timing",
    "--assert",
    "-Wno-fatal",
    "--output-split",
    "10000",
];
/// What the C++ compiler is told for all files.
const CXX: [&str; 8] = [
    "-std=c++20",
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-gnu-unique",
    "-DVL_USER_STOP",
    "-DVL_USER_FINISH",
    "-DVL_USER_FATAL",
    "-w",
];
/// Compilers at work at a time.
const JOBS: usize = 2;
/// Lines of a tool's complaint that are passed on.
const COMPLAINT_LINES: usize = 20;

/// The model cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A source or the cache cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A tool is not there.
    #[error("cannot start {tool}: {source}; {help}")]
    Tool {
        /// The tool.
        tool: String,
        /// Why.
        source: std::io::Error,
        /// How to get it.
        help: &'static str,
    },
    /// A tool refused the sources.
    #[error("{tool} refused the card's sources:\n{output}")]
    Refused {
        /// The tool.
        tool: &'static str,
        /// Its first lines.
        output: String,
    },
    /// The built library does not load.
    #[error("{}: {source}; delete it and run again", path.display())]
    Load {
        /// The library.
        path: PathBuf,
        /// Why.
        source: libloading::Error,
    },
}

/// Parameters of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineParameters {
    /// A packet unit.
    Rpu {
        /// Its accelerators, a bit each.
        accelerators: u32,
    },
    /// A core for XDP programs.
    Xdp {
        /// Its lanes.
        lanes: u32,
    },
}

impl EngineParameters {
    /// As Verilator takes them (engines/unit.sv).
    fn arguments(self) -> [String; 2] {
        match self {
            Self::Rpu { accelerators } => ["-GEngine=0".into(), format!("-GAccel={accelerators}")],
            Self::Xdp { lanes } => ["-GEngine=1".into(), format!("-GLanes={lanes}")],
        }
    }
}

/// Parameters of card_top.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameters {
    /// Ethernet ports.
    pub ports: u32,
    /// Units.
    pub units: u32,
    /// What a unit is.
    pub engine: EngineParameters,
    /// Rows of the ingress buffer of a port.
    pub ingress_depth: u32,
    /// Whether waves can be recorded; such a model is slower.
    pub waves: bool,
}

/// Builds the model, or finds it in the cache; gives the path of the library.
pub fn library(root: &Root, parameters: Parameters, progress: &mut dyn FnMut(Progress)) -> Result<PathBuf, BuildError> {
    let sources = Sources::of(root)?;
    let verilator = Verilator::of(root);
    let key = key(root, &sources.whole(), parameters, &verilator)?;
    let cache = root.join("build/rtl");
    let folder = cache.join(&key);
    let library = folder.join("card.so");
    if library.exists() {
        return Ok(library);
    }
    // Who comes while another thread or process builds the model waits for it instead of building it, too.
    fs::create_dir_all(&folder).map_err(|source| BuildError::File { path: folder.clone(), source })?;
    let lock = folder.join("lock");
    let _one = File::create(&lock)
        .and_then(|file| file.lock().map(|()| file))
        .map_err(|source| BuildError::File { path: lock, source })?;
    if library.exists() {
        return Ok(library);
    }
    // Built beside its place and renamed into it, so that a broken or a second build leaves nothing half done.
    sweep(&cache);
    let work = cache.join(format!("{key}.{}", std::process::id()));
    fs::create_dir_all(&work).map_err(|source| BuildError::File { path: work.clone(), source })?;
    let built = build(&work, &sources, parameters, &verilator, progress);
    if built.is_ok() {
        fs::rename(work.join("card.so"), &library)
            .map_err(|source| BuildError::File { path: library.clone(), source })?;
    }
    // Nothing depends on the rest; a folder that stays behind does no harm.
    let _ = fs::remove_dir_all(&work);
    built.map(|()| library)
}

impl From<file_list::Unreadable> for BuildError {
    fn from(file_list::Unreadable { path, source }: file_list::Unreadable) -> Self {
        Self::File { path, source }
    }
}

struct Verilator {
    package: PathBuf,
}

impl Verilator {
    fn of(root: &Root) -> Self {
        let lib = root.join("build/venv/lib");
        let package = fs::read_dir(&lib)
            .into_iter()
            .flatten()
            .flatten()
            .map(|python| python.path().join("site-packages/verilator"))
            .find(|package| package.exists())
            .unwrap_or_else(|| lib.join("python3/site-packages/verilator"));
        Self { package }
    }

    fn include(&self) -> PathBuf {
        self.package.join("include")
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.package.join("bin/verilator_bin"));
        command.env("VERILATOR_ROOT", &self.package);
        command
    }
}

/// Source files, in the order of the file lists.
struct Sources {
    card: Vec<PathBuf>,
    units: Vec<PathBuf>,
}

impl Sources {
    fn of(root: &Root) -> Result<Self, BuildError> {
        let listed = |paths: &[&str]| {
            let mut sources = file_list::Sources::default();
            paths.iter().try_for_each(|path| sources.add(&root.join(path)))?;
            Ok::<_, BuildError>(sources.files)
        };
        Ok(Self { card: listed(&CARD_LISTS)?, units: listed(&UNIT_LISTS)? })
    }

    /// Those of card and units, each once.
    fn whole(&self) -> Vec<PathBuf> {
        let only_units = self.units.iter().filter(|path| !self.card.contains(path));
        self.card.iter().chain(only_units).cloned().collect()
    }
}

fn normal(path: &Path) -> Result<PathBuf, BuildError> {
    fs::canonicalize(path).map_err(|source| BuildError::File { path: path.to_path_buf(), source })
}

/// Removes what killed builds left in the cache: folders KEY.PID whose process is gone. What cannot be removed does no harm.
fn sweep(cache: &Path) {
    let processes = Path::new("/proc");
    if !processes.join("self").exists() {
        return; // No way to tell which processes are gone.
    }
    for folder in fs::read_dir(cache).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let pid = folder.extension().and_then(|pid| pid.to_str()).and_then(|pid| pid.parse::<u32>().ok());
        if pid.is_some_and(|pid| !processes.join(pid.to_string()).exists()) {
            let _ = fs::remove_dir_all(&folder);
        }
    }
}

/// Hash of all that the library depends on.
fn key(root: &Root, sources: &[PathBuf], parameters: Parameters, verilator: &Verilator) -> Result<String, BuildError> {
    let mut hash = Sha256::new();
    let top = normal(root.path())?;
    for path in sources {
        let text = fs::read(path).map_err(|source| BuildError::File { path: path.clone(), source })?;
        hash.update(path.strip_prefix(&top).unwrap_or(path).as_os_str().as_encoded_bytes());
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    let version = run("Verilator", verilator.command().arg("--version"))?;
    let compiler = run("g++", Command::new("g++").arg("-dumpfullversion"))?;
    hash.update(version.stdout);
    hash.update(compiler.stdout);
    hash.update(format!("{parameters:?}{VERILATOR:?}{CXX:?}{STORED:?}{SPLIT:?}{TRACE:?}{}", optimise("")));
    hash.update(DRIVER);
    Ok(hash.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Code that runs once is compiled for size, which saves most of the build time.
fn optimise(file: &str) -> &'static str {
    if file.contains("__Slow") || file.contains("Trace") { "-O0" } else { "-O2" }
}

fn build(
    work: &Path,
    sources: &Sources,
    parameters: Parameters,
    verilator: &Verilator,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), BuildError> {
    for (name, text) in STORED.iter().chain(&SPLIT).chain(&[TRACE, ("driver.cpp", DRIVER)]) {
        let path = work.join(name);
        fs::write(&path, text).map_err(|source| BuildError::File { path, source })?;
    }
    progress(Progress::Building { done: 0, total: 1 });
    let split = |names: &[&str]| names.iter().map(|name| work.join(name)).collect::<Vec<_>>();
    if parameters.waves {
        let card = [sources.whole(), split(&["card_trace.sv"])].concat();
        verilate(work, "Vcard", "card_top", &card, parameters, verilator)?;
    } else {
        let card = [sources.card.clone(), split(&["split_pkg.sv", "unit_socket.sv", "card_trace.sv"])].concat();
        verilate(work, "Vcard", "card_top", &card, parameters, verilator)?;
        let unit = [sources.units.clone(), split(&["split_pkg.sv", "unit_top.sv"])].concat();
        verilate(work, "Vunit", "unit_top", &unit, parameters, verilator)?;
    }

    let mut files: Vec<PathBuf> = fs::read_dir(work)
        .map_err(|source| BuildError::File { path: work.to_path_buf(), source })?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "cpp"))
        .collect();
    files.extend(["verilated.cpp", "verilated_threads.cpp"].map(|name| verilator.include().join(name)));
    if parameters.waves {
        files.push(verilator.include().join("verilated_fst_c.cpp"));
    }
    // The largest first, so that no job is left alone with a long one at the end.
    files.sort_by_key(|path| std::cmp::Reverse(fs::metadata(path).map_or(0, |m| m.len())));
    compile(work, &files, parameters, verilator, progress)?;

    let mut link = Command::new("g++");
    link.args(["-shared", "-Wl,-Bsymbolic", "-o"]).arg(work.join("card.so"));
    link.args(files.iter().map(|file| object(work, file))).arg("-pthread");
    check("g++", run("g++", &mut link)?)
}

/// Has Verilator write the C++ of the module `top`.
fn verilate(
    work: &Path,
    prefix: &str,
    top: &str,
    sources: &[PathBuf],
    parameters: Parameters,
    verilator: &Verilator,
) -> Result<(), BuildError> {
    let mut command = verilator.command();
    command
        .args(VERILATOR)
        .args(["--prefix", prefix, "--top-module", top, "--Mdir"])
        .arg(work)
        .arg(if parameters.waves { "--trace-fst" } else { "-DPENSTOCK_SPLIT" })
        .arg(format!("-GPorts={}", parameters.ports))
        .arg(format!("-GUnits={}", parameters.units))
        .args(parameters.engine.arguments())
        .args((top != "unit_top").then(|| format!("-GIngressDepth={}", parameters.ingress_depth)))
        .args(sources);
    check("Verilator", run("Verilator", &mut command)?)
}

/// Compiles every file, JOBS at a time.
fn compile(
    work: &Path,
    files: &[PathBuf],
    parameters: Parameters,
    verilator: &Verilator,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), BuildError> {
    let total = files.len() as u64 + 2;
    let next = AtomicUsize::new(0);
    let error: Mutex<Option<BuildError>> = Mutex::new(None);
    let keep_error = |e| {
        next.store(files.len(), Ordering::Relaxed);
        error.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get_or_insert(e);
    };
    std::thread::scope(|scope| {
        let (done, finished) = std::sync::mpsc::channel();
        for _ in 0..JOBS {
            let done = done.clone();
            scope.spawn(|| {
                let done = done;
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut command = Command::new("g++");
                    command
                        .args(CXX)
                        .arg(optimise(&file.to_string_lossy()))
                        .arg(format!("-DPENSTOCK_PORTS={}", parameters.ports))
                        .arg(match parameters.waves {
                            true => "-DPENSTOCK_WAVE".to_string(),
                            false => format!("-DPENSTOCK_UNITS={}", parameters.units),
                        })
                        .arg("-I")
                        .arg(work)
                        .arg("-I")
                        .arg(verilator.include())
                        .arg("-I")
                        .arg(verilator.include().join("vltstd"))
                        .arg("-c")
                        .arg(file)
                        .arg("-o")
                        .arg(object(work, file));
                    if let Err(e) = run("g++", &mut command).and_then(|output| check("g++", output)) {
                        keep_error(e);
                    }
                    // The receiver lives until the scope ends.
                    let _ = done.send(());
                }
            });
        }
        drop(done);
        progress(Progress::Building { done: 1, total });
        for (compiled, ()) in finished.iter().enumerate() {
            progress(Progress::Building { done: compiled as u64 + 2, total });
        }
    });
    error.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()).map_or(Ok(()), Err)
}

fn object(work: &Path, file: &Path) -> PathBuf {
    work.join(file.file_stem().unwrap_or_default()).with_extension("o")
}

fn run(tool: &'static str, command: &mut Command) -> Result<Output, BuildError> {
    command.output().map_err(|source| {
        let help =
            if tool == "g++" { "install g++ (any that knows C++20)" } else { "run ./penstock once, it installs it" };
        BuildError::Tool { tool: command.get_program().to_string_lossy().into_owned(), source, help }
    })
}

fn check(tool: &'static str, output: Output) -> Result<(), BuildError> {
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let output = text.lines().take(COMPLAINT_LINES).collect::<Vec<_>>().join("\n");
    Err(BuildError::Refused { tool, output })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_killed_builds_left_is_removed() {
        let cache = std::env::temp_dir().join(format!("penstock-sweep-{}", std::process::id()));
        let mut gone = Command::new("true").spawn().unwrap();
        gone.wait().unwrap();
        let folders = ["0011223344556677", &format!("00.{}", std::process::id()), &format!("00.{}", gone.id())]
            .map(|name| cache.join(name));
        for folder in &folders {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join("card.o"), "").unwrap();
        }
        sweep(&cache);
        assert_eq!(folders.map(|folder| folder.exists()), [true, true, false]);
        fs::remove_dir_all(cache).unwrap();
    }
}
