// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Builds the Verilator model of a card, alone or as a plugin in the model of a shell, once for each set of sources,
//! parameters and tools.
//!
//! Usually the card and each kind of unit are models of their own (device/rtl/split): the clock loop makes an instance
//! of its kind for each unit, which keeps the code to build and to run small. Each is built once, whatever it is
//! combined with. A model that records waves is one whole, so that its signals have their places in the card.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use sha2::{Digest, Sha256};

use penstock_engine::Root;

use super::engines::Engines;
use super::error::BuildError;
use crate::card_top::{MAX_BLOCKS, MAX_UNITS, packed};
use crate::file_list;
use crate::fpga::shell::Shell;
use crate::progress::Progress;

/// The clock loop.
const DRIVER: (&str, &str) = ("driver.cpp", include_str!("../../rtl/driver.cpp"));
/// Headers of C++: the clock loop's threads, a unit as it knows it, the common part of the models of shells, and stand-ins for the
/// compression libraries that Verilator's FST writer asks for.
const HEADERS: [(&str, &str); 5] = [
    ("crew.h", include_str!("../../rtl/split/crew.h")),
    ("unit_model.h", include_str!("../../rtl/split/unit_model.h")),
    ("shell.h", include_str!("../../../shell/cards/sim/shell.h")),
    ("lz4.h", include_str!("../../rtl/stored/lz4.h")),
    ("zlib.h", include_str!("../../rtl/stored/zlib.h")),
];

/// The package that splits the card from its units.
const SPLIT_PKG: (&str, &str) = ("split_pkg.sv", include_str!("../../rtl/split/split_pkg.sv"));
const UNIT_TOP: (&str, &str) = ("unit_top.sv", include_str!("../../rtl/split/unit_top.sv"));
const UNIT_SOCKET: (&str, &str) = ("unit_socket.sv", include_str!("../../rtl/split/unit_socket.sv"));
const UNIT_CODE: (&str, &str) = ("unit.cpp", include_str!("../../rtl/split/unit.cpp"));

/// The module that reports passing frames to the clock loop.
const TRACE: (&str, &str) = ("card_trace.sv", include_str!("../../rtl/trace/card_trace.sv"));

/// How the model of a shell is built around the card.
struct ShellModel {
    /// Its clocks and signals.
    code: (&'static str, &'static str),
    /// The module that fits the card into the shell, and its file list.
    top: &'static str,
    list: &'static str,
    /// The program.
    program: &'static str,
}

impl ShellModel {
    fn of(shell: Shell) -> Self {
        match shell {
            Shell::OpenNic => Self {
                code: ("opennic.cpp", include_str!("../../../shell/cards/sim/opennic.cpp")),
                top: "opennic_plugin",
                list: "shell/cards/opennic/plugin.f",
                program: "opennic_sim",
            },
            Shell::Corundum => Self {
                code: ("corundum.cpp", include_str!("../../../shell/cards/sim/corundum.cpp")),
                top: "corundum_shell",
                list: "shell/cards/sim/corundum.f",
                program: "corundum_sim",
            },
        }
    }
}

/// File list of the card around its units.
const CARD_LIST: &str = "shell/rtl/rtl.f";
/// File list of the modules in the inline chain.
const INLINE_LIST: &str = "engines/inline.f";
/// The module that selects a unit's engine, if card and units are one model.
const SELECTOR: &str = "engines/unit.sv";

/// Options for Verilator. Assertions stay in: they cost little, and a silent violation of a contract costs a day.
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
/// Options for Verilator when [`QUICK`] is set: functions are split, since the compiler takes superlinear time for long
/// ones.
const VERILATOR_QUICK: [&str; 2] = ["--output-split-cfuncs", "1000"];
/// Compiler options for all C++ files.
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
/// Verilator's files are compiled together up to this size: the compiler reads the model's headers for each, which
/// takes longer than a small file, and wants half a gigabyte for a piece of this size.
const PIECE_BYTES: u64 = 6_000_000;
/// Lines of a tool's complaint that are passed on.
const COMPLAINT_LINES: usize = 20;

/// The kind of a unit, with its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    /// Name of its engine.
    pub engine: &'static str,
    /// The word that only the engine understands: `Param` of its module NAME_unit.
    pub param: u32,
}

/// The surroundings of a model's card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Around {
    /// The clock loop, as a library.
    Loop,
    /// The same, and it records waves; such a model is slower.
    Waves,
    /// A shell, as a program.
    Shell {
        /// Which one.
        shell: Shell,
        /// Hash of the card's hardware.
        hash: [u32; 4],
        /// Ports of the board's memory that the card uses.
        memories: u32,
    },
}

/// Parameters of card_top.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parameters {
    /// Ethernet ports.
    pub ports: u32,
    /// The kind of each unit.
    pub units: Vec<Kind>,
    /// Rows of the ingress buffer of a port.
    pub ingress_depth: u32,
    /// Inline blocks: the number of the engine, and the word that only the engine understands.
    pub blocks: Vec<(u8, u64)>,
    /// Rows of a bank of maps.
    pub map_rows: u32,
    /// Its surroundings.
    pub around: Around,
}

/// Builds the model, or finds it in the cache; gives the path of the library or the program.
pub(crate) fn model(
    root: &Root,
    parameters: &Parameters,
    progress: &mut dyn FnMut(Progress),
) -> Result<PathBuf, BuildError> {
    let verilator = Verilator::of(root);
    let (parts, table) = parts(root, parameters, &verilator)?;
    let cache = root.join("build/rtl");
    let key = key_of(parts.iter().map(|part| part.key.as_str()).chain([table.as_str()]));
    let (name, kind) = match parameters.around {
        Around::Loop | Around::Waves => ("card.so", "-shared"),
        Around::Shell { shell, .. } => (ShellModel::of(shell).program, "-pie"),
    };
    let model = cache.join(&key).join(name);
    if model.exists() {
        own(root, &model)?;
        return Ok(model);
    }
    // If another thread or process is building this model, wait for it instead of building it twice.
    let _one = lock(&cache.join(&key), progress)?;
    own(root, &cache.join(&key))?;
    if model.exists() {
        own(root, &model)?;
        return Ok(model);
    }
    sweep(&cache);
    progress(Progress::Building { done: 0, total: 1 });
    build_parts(&cache, &parts, &verilator, progress)?;
    Work::of(&cache, &key)?.finish(name, &model, |work| {
        let names = work.join("units.cpp");
        fs::write(&names, &table).map_err(|source| BuildError::File { path: names.clone(), source })?;
        let mut link = Command::new("g++");
        link.args(CXX).args([kind, "-Wl,-Bsymbolic", "-o"]).arg(work.join(name)).arg(names);
        link.arg("-Wl,--whole-archive")
            .args(parts.iter().map(|part| part.archive(&cache)))
            .arg("-Wl,--no-whole-archive");
        check("g++", run("g++", link.arg("-pthread"))?)
    })?;
    Ok(model)
}

/// Whether a model and the folder around it belong to the caller, to the owner of the checkout or to the administrator:
/// all of these can change what the caller runs anyway.
fn own(root: &Root, path: &Path) -> Result<(), BuildError> {
    let owner = |path: &Path| {
        let about = fs::metadata(path).map_err(|source| BuildError::File { path: path.to_path_buf(), source });
        about.map(|about| about.uid())
    };
    let trusted = [0, rustix::process::geteuid().as_raw(), owner(root.path())?];
    for path in [Some(path), path.parent()].into_iter().flatten() {
        let owner = owner(path)?;
        if !trusted.contains(&owner) {
            return Err(BuildError::Foreign { path: path.to_path_buf(), owner });
        }
    }
    Ok(())
}

/// A part that Verilator translates and the compiler compiles at a time: the card, or a kind of unit. Verilator's own
/// sources are also a part, which is only compiled.
struct Part {
    /// Hash of all that it depends on.
    key: String,
    prefix: String,
    /// Verilator's top module, if it has something to translate.
    top: Option<&'static str>,
    sources: Vec<Source>,
    /// Options for Verilator.
    arguments: Vec<String>,
    /// Options for the compiler.
    defines: Vec<String>,
    /// C++ that Verilator does not write.
    code: Vec<Source>,
}

/// A source file.
enum Source {
    /// The root of the checkout.
    File(PathBuf),
    /// One of those in here: name and text.
    Text((&'static str, &'static str)),
}

impl Part {
    /// The folder of its objects.
    fn archive(&self, cache: &Path) -> PathBuf {
        cache.join(&self.key).join("part.a")
    }
}

/// The parts of a model, and the C++ that assigns them to units.
fn parts(root: &Root, parameters: &Parameters, verilator: &Verilator) -> Result<(Vec<Part>, String), BuildError> {
    let Parameters { units, around, .. } = parameters;
    let engines = Engines::of(root)?;
    let card = card_part(root, parameters, &engines)?.sealed(root, verilator)?;
    let mut parts = vec![card, runtime_part(around, verilator).sealed(root, verilator)?];
    if *around == Around::Waves {
        return Ok((parts, String::new()));
    }
    let mut kinds: Vec<(Kind, String)> = Vec::new();
    for kind in units {
        if kinds.iter().any(|(other, _)| other == kind) {
            continue;
        }
        let (unit, make) = unit_part(root, *kind, &engines, verilator)?;
        kinds.push((*kind, make));
        parts.push(unit);
    }
    let mut table = unit_table(units, &kinds);
    if let Around::Shell { hash, .. } = around {
        let words = hash.map(|word| format!("0x{word:08x}"));
        table += &format!(
            "extern const unsigned card_design[4];\nconst unsigned card_design[4] = {{{}}};\n",
            words.join(", ")
        );
    }
    Ok((parts, table))
}

/// The card without its units, or with them if its signals are recorded. It has the sources of the engines that are in
/// it, and of no other: Verilator needs no module behind a condition that is false.
fn card_part(root: &Root, parameters: &Parameters, engines: &Engines) -> Result<Part, BuildError> {
    let Parameters { ports, units, ingress_depth, blocks, map_rows, around } = parameters;
    let numbers = units.iter().map(|unit| engines.number(unit.engine)).collect::<Result<Vec<_>, _>>()?;
    let numbers = by_unit("Engine", 8, numbers.into_iter());
    let mut lists = Vec::new();
    for unit in units {
        lists.extend(engines.card_maps(unit.engine)?);
    }
    if !blocks.is_empty() {
        lists.push(PathBuf::from(INLINE_LIST));
    }
    lists.push(PathBuf::from(CARD_LIST));
    let (prefix, top, code) = match around {
        Around::Loop | Around::Waves => ("Vcard", "card_top", DRIVER),
        Around::Shell { shell, .. } => {
            let ShellModel { code, top, list, .. } = ShellModel::of(*shell);
            lists.push(PathBuf::from(list));
            ("Vplugin", top, code)
        }
    };
    let mut arguments = vec![
        format!("-GPorts={ports}"),
        format!("-GUnits={}", units.len()),
        format!("-GIngressDepth={ingress_depth}"),
        format!("-GBlocks={}", blocks.len()),
        by_block("BlockEngine", 8, blocks.iter().map(|(engine, _)| u64::from(*engine))),
        by_block("BlockParam", 64, blocks.iter().map(|(_, param)| *param)),
        format!("-GMapRows={map_rows}"),
    ];
    let mut defines = vec![format!("-DPENSTOCK_PORTS={ports}")];
    let mut sources;
    if *around == Around::Waves {
        for unit in units {
            lists.push(engines.rtl(unit.engine)?);
        }
        lists.push(PathBuf::from(SELECTOR));
        sources = files(root, &lists)?;
        let params = by_unit("UnitParam", 32, units.iter().map(|unit| unit.param));
        arguments.extend([numbers, params, "--trace-fst".to_string()]);
        defines.push("-DPENSTOCK_WAVE".to_string());
    } else {
        sources = files(root, &lists)?;
        sources.extend([SPLIT_PKG, UNIT_SOCKET].map(Source::Text));
        // The card needs to know which units share maps, and nothing else of them.
        arguments.extend(["-DPENSTOCK_SPLIT".to_string(), numbers]);
        defines.push(format!("-DPENSTOCK_UNITS={}", units.len()));
    }
    if let Around::Shell { shell, memories, .. } = around {
        arguments.extend(["-DPENSTOCK_METASTABLE", "-DPENSTOCK_SHELL"].map(str::to_owned));
        if *shell == Shell::Corundum {
            arguments.push(format!("-GMemories={memories}"));
        }
        defines.push(format!("-DPENSTOCK_MEMORIES={memories}"));
    } else {
        sources.extend(traces(root, blocks, engines));
    }
    let code = vec![Source::Text(code)];
    Ok(Part { key: String::new(), prefix: prefix.to_string(), top: Some(top), sources, arguments, defines, code })
}

/// The sources that record the ways of frames through a card. Two blocks of an engine share its source, also with a
/// block of another engine between them.
fn traces(root: &Root, blocks: &[(u8, u64)], engines: &Engines) -> Vec<Source> {
    let mut own: Vec<PathBuf> = blocks.iter().filter_map(|(number, _)| engines.trace(*number)).collect();
    own.sort();
    own.dedup();
    let own = own.into_iter().map(|file| Source::File(root.join(file)));
    [Source::Text(TRACE)].into_iter().chain(own).collect()
}

/// Verilator's own code.
fn runtime_part(around: &Around, verilator: &Verilator) -> Part {
    let mut names = vec!["verilated.cpp", "verilated_threads.cpp"];
    if *around == Around::Waves {
        names.push("verilated_fst_c.cpp");
    }
    Part {
        key: String::new(),
        prefix: String::new(),
        top: None,
        sources: Vec::new(),
        arguments: Vec::new(),
        defines: Vec::new(),
        code: names.into_iter().map(|name| Source::File(verilator.include().join(name))).collect(),
    }
}

/// Units of a kind, sealed, and the name of the function that makes one. Several kinds go into one library: each has its
/// own names, after its key.
fn unit_part(root: &Root, kind: Kind, engines: &Engines, verilator: &Verilator) -> Result<(Part, String), BuildError> {
    let mut unit = Part {
        key: String::new(),
        prefix: String::new(),
        top: Some("unit_top"),
        sources: files(root, &[engines.rtl(kind.engine)?])?,
        arguments: vec![
            "-DPENSTOCK_SPLIT".to_string(),
            format!("-DPENSTOCK_UNIT_MODULE={}_unit", kind.engine),
            format!("-GParam={}", kind.param),
        ],
        defines: Vec::new(),
        code: vec![Source::Text(UNIT_CODE)],
    };
    unit.sources.extend([SPLIT_PKG, UNIT_TOP].map(Source::Text));
    let mut unit = unit.sealed(root, verilator)?;
    unit.prefix = format!("Vunit_{}", unit.key);
    let make = format!("make_unit_{}", unit.key);
    unit.defines = vec![
        format!("-DPENSTOCK_UNIT={}", unit.prefix),
        format!("-DPENSTOCK_UNIT_HEADER=\"{}.h\"", unit.prefix),
        format!("-DPENSTOCK_MAKE_UNIT={make}"),
    ];
    Ok((unit, make))
}

impl Part {
    /// With its key.
    fn sealed(mut self, root: &Root, verilator: &Verilator) -> Result<Self, BuildError> {
        self.key = key(root, &self, verilator)?;
        Ok(self)
    }
}

/// A parameter of card_top that has a value of this many bits for each inline block.
fn by_block(name: &str, bits: usize, values: impl DoubleEndedIterator<Item = u64>) -> String {
    format!("-G{name}={}", packed(bits, MAX_BLOCKS, values))
}

/// A parameter of card_top that has a value of this many bits for each unit.
fn by_unit(name: &str, bits: usize, values: impl DoubleEndedIterator<Item = u32>) -> String {
    format!("-G{name}={}", packed(bits, MAX_UNITS, values.map(u64::from)))
}

/// The source files that file lists name, each once, in their order.
fn files(root: &Root, lists: &[PathBuf]) -> Result<Vec<Source>, BuildError> {
    let mut sources = file_list::Sources::default();
    lists.iter().try_for_each(|list| sources.add(&root.join(list)))?;
    Ok(sources.files.into_iter().map(Source::File).collect())
}

/// C++ that defines the table of rtl/split/unit_model.h: the functions that make the model of each unit.
fn unit_table(units: &[Kind], kinds: &[(Kind, String)]) -> String {
    let signature = "(VerilatedContext*, const char*)";
    let mut text = String::from("class VerilatedContext;\nclass UnitModel;\n");
    for (_, make) in kinds {
        text += &format!("UnitModel* {make}{signature};\n");
    }
    let names = units.iter().filter_map(|unit| kinds.iter().find(|(kind, _)| kind == unit));
    let names: Vec<&str> = names.map(|(_, make)| make.as_str()).collect();
    text += &format!("extern UnitModel* (*const make_unit[]){signature};\n");
    text + &format!("UnitModel* (*const make_unit[]){signature} = {{{}}};\n", names.join(", "))
}

/// Builds the parts that are not in the cache yet.
fn build_parts(
    cache: &Path,
    parts: &[Part],
    verilator: &Verilator,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), BuildError> {
    // Always in the same order, so that two builds cannot wait for each other.
    let mut order: Vec<&Part> = parts.iter().collect();
    order.sort_by_key(|part| &part.key);
    let mut missing = Vec::new();
    for part in order {
        let lock = lock(&cache.join(&part.key), progress)?;
        if !part.archive(cache).exists() {
            missing.push((part, Work::of(cache, &part.key)?, lock));
        }
    }
    let mut jobs = Vec::new();
    for (part, work, _) in &missing {
        jobs.extend(translate(part, &work.0, verilator)?);
    }
    // The largest first, so that no job remains alone with a long one at the end.
    jobs.sort_by_key(|job| std::cmp::Reverse(fs::metadata(&job.file).map_or(0, |m| m.len())));
    compile(&jobs, verilator, progress)?;
    for (part, work, _) in &missing {
        work.finish("part.a", &part.archive(cache), |work| {
            let mut command = Command::new("ar");
            command.arg("rcs").arg(work.join("part.a"));
            let own = jobs.iter().filter(|job| job.work == work);
            check("ar", run("ar", command.args(own.map(|job| object(work, &job.file))))?)
        })?;
    }
    Ok(())
}

/// A file to compile, where its part is built.
struct Job<'a> {
    work: &'a Path,
    file: PathBuf,
    defines: &'a [String],
}

/// Has Verilator write the C++ of a part; gives that and its other code, to be compiled.
fn translate<'a>(part: &'a Part, work: &'a Path, verilator: &Verilator) -> Result<Vec<Job<'a>>, BuildError> {
    for (name, text) in HEADERS {
        let path = work.join(name);
        fs::write(&path, text).map_err(|source| BuildError::File { path, source })?;
    }
    let mut files = Vec::new();
    if let Some(top) = part.top {
        let mut command = verilator.command();
        command.args(VERILATOR);
        if std::env::var_os(QUICK).is_some() {
            command.args(VERILATOR_QUICK);
        }
        command.args(["--prefix", &part.prefix, "--top-module", top, "--Mdir"]).arg(work).args(&part.arguments);
        for source in &part.sources {
            command.arg(source.place(work)?);
        }
        check("Verilator", run("Verilator", &mut command)?)?;
        files = gathered(work)?;
    }
    for source in &part.code {
        files.push(source.place(work)?);
    }
    Ok(files.into_iter().map(|file| Job { work, file, defines: &part.defines }).collect())
}

/// C++ files that include those of a folder, in pieces of about the same size: code that runs once, and code that runs
/// in each cycle.
fn gathered(work: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let failed = |path: &Path, source| BuildError::File { path: path.to_path_buf(), source };
    let (mut once, mut often) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(work).map_err(|source| failed(work, source))? {
        let entry = entry.map_err(|source| failed(work, source))?;
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.extension().is_some_and(|e| e == "cpp") {
            if runs_once(&name) {
                once.push((name, entry.metadata().map_err(|source| failed(&path, source))?.len()));
            } else {
                let text = lean(&fs::read_to_string(&path).map_err(|source| failed(&path, source))?);
                fs::write(&path, &text).map_err(|source| failed(&path, source))?;
                often.push((name, text.len() as u64));
            }
        }
    }
    let mut files = Vec::new();
    for (kind, mut included) in [("__Slow", once), ("", often)] {
        included.sort();
        let total: u64 = included.iter().map(|(_, size)| size).sum::<u64>().max(1);
        let pieces = total.div_ceil(PIECE_BYTES);
        let mut texts = vec![String::new(); pieces as usize];
        let mut before = 0;
        for (name, size) in included {
            texts[(before * pieces / total) as usize] += &format!("#include \"{name}\"\n");
            before += size;
        }
        for (number, text) in texts.iter().enumerate() {
            let path = work.join(format!("gathered_{number}{kind}.cpp"));
            fs::write(&path, text).map_err(|source| failed(&path, source))?;
            files.push(path);
        }
    }
    Ok(files)
}

/// Verilator asks before each assertion whether assertions are on, which they always are in our models.
const ARE_ASSERTIONS_ON: &str = "vlSymsp->_vm_contextp__->assertOnGet(";
/// Each evaluation frees objects of classes, under a lock. Our models have no classes.
const FREE_OBJECTS: &str = "vlSymsp->__Vm_deleter.deleteAll();";

/// Verilator's C++ without these calls, which take 5 % of the time of a cycle.
fn lean(code: &str) -> String {
    let mut pieces = code.split(ARE_ASSERTIONS_ON);
    let mut text = pieces.next().unwrap_or_default().to_string();
    for piece in pieces {
        let (_, rest) = piece.split_once(')').unwrap_or(("", piece));
        text += "true";
        text += rest;
    }
    text.replace(FREE_OBJECTS, "")
}

impl Source {
    /// Its path; one of those in here is written first.
    fn place(&self, work: &Path) -> Result<PathBuf, BuildError> {
        match self {
            Self::File(path) => Ok(path.clone()),
            Self::Text((name, text)) => {
                let path = work.join(name);
                fs::write(&path, text).map_err(|source| BuildError::File { path: path.clone(), source })?;
                Ok(path)
            }
        }
    }
}

/// A folder beside the place in the cache where something is built, so that a broken or a second build leaves nothing
/// incomplete. It is removed with its value; a remaining folder does no harm.
struct Work(PathBuf);

impl Work {
    fn of(cache: &Path, key: &str) -> Result<Self, BuildError> {
        let path = cache.join(format!("{key}.{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|source| BuildError::File { path: path.clone(), source })?;
        Ok(Self(path))
    }

    /// Has the file `name` made in it, and puts it into its place.
    fn finish(
        &self,
        name: &str,
        place: &Path,
        make: impl FnOnce(&Path) -> Result<(), BuildError>,
    ) -> Result<(), BuildError> {
        make(&self.0)?;
        fs::rename(self.0.join(name), place).map_err(|source| BuildError::File { path: place.to_path_buf(), source })
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Makes a folder of the cache, and prevents others from building its contents while the value lives.
fn lock(folder: &Path, progress: &mut dyn FnMut(Progress)) -> Result<File, BuildError> {
    fs::create_dir_all(folder).map_err(|source| BuildError::File { path: folder.to_path_buf(), source })?;
    let lock = folder.join("lock");
    let mut locked = || {
        let file = File::create(&lock)?;
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => progress(Progress::Waiting),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        file.lock().map(|()| file)
    };
    locked().map_err(|source| BuildError::File { path: lock.clone(), source })
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

fn normal(path: &Path) -> Result<PathBuf, BuildError> {
    fs::canonicalize(path).map_err(|source| BuildError::File { path: path.to_path_buf(), source })
}

/// Removes the remains of killed builds from the cache: folders KEY.PID whose process is gone. A folder that cannot be
/// removed does no harm.
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

/// Hash of all that a part depends on.
fn key(root: &Root, part: &Part, verilator: &Verilator) -> Result<String, BuildError> {
    let mut hash = Sha256::new();
    let top = normal(root.path())?;
    for source in part.sources.iter().chain(&part.code) {
        let (name, text) = match source {
            Source::File(path) => {
                let text = fs::read(path).map_err(|source| BuildError::File { path: path.clone(), source })?;
                (path.strip_prefix(&top).unwrap_or(path).as_os_str().as_encoded_bytes(), text)
            }
            Source::Text((name, text)) => (name.as_bytes(), text.as_bytes().to_vec()),
        };
        hash.update(name);
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    let version = run("Verilator", verilator.command().arg("--version"))?;
    let compiler = run("g++", Command::new("g++").arg("-dumpfullversion"))?;
    hash.update(version.stdout);
    hash.update(compiler.stdout);
    hash.update(format!("{:?}{:?}{:?}", part.top, part.arguments, part.defines));
    hash.update(format!(
        "{VERILATOR:?}{VERILATOR_QUICK:?}{CXX:?}{HEADERS:?}{}{ARE_ASSERTIONS_ON}{FREE_OBJECTS}",
        optimise("")
    ));
    Ok(hex(hash))
}

/// Hash of texts.
fn key_of<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    texts.for_each(|text| hash.update(text));
    hex(hash)
}

fn hex(hash: Sha256) -> String {
    hash.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether the code in a file of Verilator's runs only once, or for waves.
fn runs_once(file: &str) -> bool {
    file.contains("__Slow") || file.contains("Trace")
}

/// Set in the environment when models are to be built in half the time and may run a sixth slower, as the test suite
/// wants it.
const QUICK: &str = "PENSTOCK_QUICK_MODELS";

/// Code that runs once is compiled without optimization, which saves most of the build time.
fn optimise(file: &str) -> &'static str {
    match (runs_once(file), std::env::var_os(QUICK)) {
        (true, _) => "-O0",
        (false, Some(_)) => "-O1",
        (false, None) => "-O2",
    }
}

/// Compiles every file, as many at a time as the machine has processors.
fn compile(jobs: &[Job<'_>], verilator: &Verilator, progress: &mut dyn FnMut(Progress)) -> Result<(), BuildError> {
    let total = jobs.len() as u64 + 2;
    let next = AtomicUsize::new(0);
    let error: Mutex<Option<BuildError>> = Mutex::new(None);
    let keep_error = |e| {
        next.store(jobs.len(), Ordering::Relaxed);
        error.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get_or_insert(e);
    };
    std::thread::scope(|scope| {
        let (done, finished) = std::sync::mpsc::channel();
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            let done = done.clone();
            scope.spawn(|| {
                let done = done;
                while let Some(Job { work, file, defines }) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut command = Command::new("g++");
                    command
                        .args(CXX)
                        .arg(optimise(&file.file_name().unwrap_or_default().to_string_lossy()))
                        .args(*defines)
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
mod tests {
    use super::*;

    /// A second build is told that it waits, and goes on when the first one is done.
    #[test]
    fn who_waits_is_told() {
        let folder = std::env::temp_dir().join(format!("penstock-lock-{}", std::process::id()));
        let first = lock(&folder, &mut |progress| panic!("{progress:?}")).unwrap();
        let (told, heard) = std::sync::mpsc::channel();
        let place = folder.clone();
        let second = std::thread::spawn(move || lock(&place, &mut |progress| told.send(progress).unwrap()).is_ok());
        let progress = heard.recv_timeout(std::time::Duration::from_secs(10));
        assert!(matches!(progress, Ok(Progress::Waiting)) && !second.is_finished(), "{progress:?}");
        drop(first);
        assert!(second.join().unwrap() && heard.recv().is_err());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn assertions_are_always_on() {
        let code = "if (VL_UNLIKELY(vlSymsp->_vm_contextp__->assertOnGet(2,\n 1))) { if (a(b)) f(); }\n\
                    vlSymsp->__Vm_deleter.deleteAll();\nend();";
        assert_eq!(lean(code), "if (VL_UNLIKELY(true)) { if (a(b)) f(); }\n\nend();");
        assert_eq!(lean("f(1);"), "f(1);");
    }

    /// Two modules of one name would be an error.
    #[test]
    fn blocks_of_an_engine_share_its_trace() {
        let root = Root::above(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        let engines = Engines::of(&root).unwrap();
        let inline = || penstock_registry::engines().iter().filter(|e| e.kind() == penstock_engine::Kind::Inline);
        let numbers = || inline().map(|engine| engine.number() as u8);
        let traced = numbers().find(|number| engines.trace(*number).is_some()).unwrap();
        let other = numbers().find(|number| engines.trace(*number).is_none()).unwrap();
        let unit = penstock_registry::engines().iter().find(|e| e.kind() == penstock_engine::Kind::Units).unwrap();
        let parameters = Parameters {
            ports: 2,
            units: vec![Kind { engine: unit.name(), param: 1 }],
            ingress_depth: 4096,
            blocks: vec![(traced, 0x0A01), (other, 0), (traced, 0x0A01)],
            map_rows: 16384,
            around: Around::Loop,
        };
        let (parts, _) = parts(&root, &parameters, &Verilator::of(&root)).unwrap();
        let trace = root.join(engines.trace(traced).unwrap());
        let times = parts.iter().flat_map(|part| part.sources.iter().chain(&part.code));
        let times = times.filter(|source| matches!(source, Source::File(path) if *path == trace)).count();
        assert_eq!(times, 1);
    }

    #[test]
    fn a_model_of_somebody_else_is_refused() {
        const NOBODY: u32 = 65534;
        let checkout = Root::above(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        let folder = std::env::temp_dir().join(format!("penstock-owner-{}", std::process::id()));
        let model = folder.join("card.so");
        fs::create_dir_all(&folder).unwrap();
        fs::write(&model, "").unwrap();
        own(&checkout, &model).unwrap();
        if std::os::unix::fs::chown(&model, Some(NOBODY), None).is_err() {
            fs::remove_dir_all(folder).unwrap();
            return penstock_testing::skipped("only the administrator can give a file away");
        }
        let refused = |path: &Path| matches!(own(&checkout, path), Err(BuildError::Foreign { owner: NOBODY, .. }));
        assert!(refused(&model));
        std::os::unix::fs::chown(&model, Some(0), None).unwrap();
        std::os::unix::fs::chown(&folder, Some(NOBODY), None).unwrap();
        assert!(refused(&model));
        fs::remove_dir_all(folder).unwrap();
    }

    /// Copies the sources of hardware below a folder, and the files that identify a checkout.
    fn copy(from: &Path, to: &Path) {
        for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
            let to = to.join(entry.file_name().unwrap());
            if entry.is_dir() {
                copy(&entry, &to);
            } else if entry
                .extension()
                .is_some_and(|kind| ["sv", "f", "toml", "rdl"].iter().any(|wanted| kind == *wanted))
            {
                fs::create_dir_all(to.parent().unwrap()).unwrap();
                fs::copy(entry, to).unwrap();
            }
        }
    }

    /// A change in one engine rebuilds the models that have this engine, and no other.
    #[test]
    fn a_model_depends_on_its_own_engine() {
        let checkout = Root::above(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        let folder = std::env::temp_dir().join(format!("penstock-keys-{}", std::process::id()));
        for name in ["engines", "lib", "shell"] {
            copy(&checkout.join(name), &folder.join(name));
        }
        let (root, verilator) = (Root::above(&folder).unwrap(), Verilator::of(&checkout));
        let of = |kind| penstock_registry::engines().iter().filter(move |engine| engine.kind() == kind);
        let mut engines = of(penstock_engine::Kind::Units).map(|engine| engine.name());
        // The first engine's units share no maps, the second one's do.
        let [plain, sharing] = [engines.next().unwrap(), engines.next().unwrap()];
        let block = of(penstock_engine::Kind::Inline).next().unwrap();
        let maps = Engines::of(&root).unwrap().card_maps(sharing).unwrap().unwrap().with_file_name("card_maps.sv");
        let kinds = [Kind { engine: plain, param: 1 }, Kind { engine: sharing, param: 4 }];
        // Keys of the cards with only the first kind of unit, only the second, and the first behind an inline chain;
        // then of both units.
        let keys = || {
            let mut cards = Vec::new();
            let mut of_units = Vec::new();
            for (kind, blocks) in
                [(kinds[0], vec![]), (kinds[1], vec![]), (kinds[0], vec![(block.number() as u8, 0x0A01)])]
            {
                let parameters = Parameters {
                    ports: 2,
                    units: vec![kind; 2],
                    ingress_depth: 4096,
                    blocks,
                    map_rows: 16384,
                    around: Around::Loop,
                };
                let (parts, _) = parts(&root, &parameters, &verilator).unwrap();
                cards.push(parts[0].key.clone());
                of_units.push(parts.last().unwrap().key.clone());
            }
            assert_eq!(of_units.remove(2), of_units[0]);
            [cards, of_units].concat()
        };
        let changed = |file: &str| {
            let (path, before) = (folder.join(file), keys());
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, format!("{text}// changed\n")).unwrap();
            let after = keys();
            fs::write(&path, text).unwrap();
            before.iter().zip(&after).map(|(before, after)| before != after).collect::<Vec<_>>()
        };
        let (yes, no) = (true, false);
        let rtl = |name: &str| format!("engines/{name}/rtl/{name}.sv");
        let regs = |name: &str| format!("engines/{name}/regs/{name}_regs_pkg.sv");
        assert_eq!(changed(&rtl(plain)), [no, no, no, yes, no]);
        assert_eq!(changed(&regs(plain)), [no, no, no, yes, no]);
        assert_eq!(changed(&rtl(sharing)), [no, no, no, no, yes]);
        assert_eq!(changed(maps.to_str().unwrap()), [no, yes, no, no, yes]);
        assert_eq!(changed(&regs(sharing)), [no, yes, no, no, yes]);
        assert_eq!(changed(&format!("engines/{0}/rtl/{0}_block.sv", block.name())), [no, no, yes, no, no]);
        assert_eq!(changed("engines/unit.sv"), [no; 5]);
        assert_eq!(changed("shell/rtl/card.sv"), [yes, yes, yes, no, no]);
        assert_eq!(changed("lib/rtl/penstock_pkg.sv"), [yes; 5]);
        fs::remove_dir_all(folder).unwrap();
    }

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
