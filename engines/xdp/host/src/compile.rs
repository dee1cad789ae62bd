// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock compile xdp`: an XDP object, the features that its programs use, and whether the engine supports them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::{ArgMatches, Args, Command, FromArgMatches};
use penstock_engine::files::{self, FileError};
use penstock_engine::{Root, Tool, ToolError, Workbench, note, say};
use penstock_xdp_compiler::back::Compiled;
use penstock_xdp_compiler::card::{Placement, place};
use penstock_xdp_compiler::check::{CheckError, Facts, check, helper_name};
use penstock_xdp_compiler::ir::CONTEXTS;
use penstock_xdp_compiler::maps::{Map, MapKind};
use penstock_xdp_compiler::object::{EntriesError, Entry, LinkError, Object, ObjectError, Program};
use penstock_xdp_compiler::rows::Lanes;
use penstock_xdp_compiler::rows::run::MAX_ROWS;
use penstock_xdp_compiler::translate::{TranslateError, translate};
use serde_json::{Value, json};

use crate::executed::{ExecuteError, Executed};
use crate::program::object_of;

/// `penstock compile xdp`.
pub(crate) const COMPILE: Tool = Tool { command, run };

/// Compiles an XDP object or C source; prints the features that its programs use, and whether the engine supports them.
#[derive(Debug, Args)]
struct Arguments {
    /// An object, as clang writes it for Linux, or a C source.
    source: PathBuf,
    /// Print all about each program: functions, helpers, maps.
    #[arg(long)]
    explain: bool,
    /// Lanes of the core: 1, 2, 3, 4 or 8 [default: 4]
    #[arg(long, value_name = "N")]
    lanes: Option<Lanes>,
    /// Print the rows of each program.
    #[arg(long)]
    rows: bool,
    /// Run the rows of each program on the frames of this capture, from the first port, with maps that begin as the
    /// object says.
    #[arg(long, value_name = "FILE")]
    capture: Option<PathBuf>,
    /// Set the number of entries of a map in place of its own, as loaders do. Repeatable.
    #[arg(long, value_name = "MAP=N", value_parser = entries)]
    entries: Vec<(String, u32)>,
    /// Only the program of this name.
    #[arg(long, value_name = "NAME")]
    program: Option<String>,
    /// Write the result as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn command() -> Command {
    Arguments::augment_args(Command::new("xdp"))
}

/// A map and how many entries it gets.
fn entries(word: &str) -> Result<(String, u32), String> {
    let parts = word.split_once('=').filter(|(map, _)| !map.is_empty());
    let parts = parts.and_then(|(map, count)| Some((map.to_owned(), count.parse::<i128>().ok()?)));
    let (map, count) = parts.ok_or_else(|| format!("`{word}`: write MAP=N, for example rx_cnt=16"))?;
    let count = u32::try_from(count).ok().filter(|count| *count > 0);
    Ok((map, count.ok_or_else(|| format!("`{word}`: a map has 1 to {} entries", u32::MAX))?))
}

/// Units of the card that maps are placed on: where each processor has a value, sixteen contexts of each unit do.
const UNITS: u32 = 16;

/// The way out in messages about an input that should be an object.
const OBJECT: &str = "give an object, as `clang -target bpf -O2 -g -c` writes it from engines/xdp/programs/tx.c";

/// Why a program was refused.
#[derive(Debug, thiserror::Error)]
enum RefusedError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{}: {source}", file.display())]
    Object { file: PathBuf, source: ObjectError },
    #[error("{}: there is no program {name}; it has {}", file.display(), there.join(", "))]
    NoProgram { file: PathBuf, name: String, there: Vec<String> },
    #[error("{}: {source}", file.display())]
    Link { file: PathBuf, source: Box<LinkError> },
    #[error("{}: {source}", file.display())]
    Entries { file: PathBuf, source: EntriesError },
    #[error(transparent)]
    Source(#[from] crate::program::XdpError),
    #[error("--entries: {0} is there twice; leave one out")]
    Twice(String),
    #[error("{}: {name}: {source}", file.display())]
    Rows { file: PathBuf, name: String, source: Box<TranslateError> },
    #[error("{}: {source}", file.display())]
    Refused { file: PathBuf, source: Box<CheckError> },
    #[error("{}: {name}: {source}", file.display())]
    Executed { file: PathBuf, name: String, source: ExecuteError },
}

/// Checks and reports. All programs are checked; the first that is refused is the error.
fn run(matches: &ArgMatches, bench: &dyn Workbench) -> Result<(), ToolError> {
    let request = Arguments::from_arg_matches(matches)?;
    let mut maps = BTreeSet::new();
    if let Some((map, _)) = request.entries.iter().find(|entry| !maps.insert(&entry.0)) {
        return Err(RefusedError::Twice(map.clone()).into());
    }
    let frames = request.capture.as_ref().map(|capture| bench.frames(capture)).transpose()?;
    Ok(report(&request, frames.as_deref(), bench.root())?)
}

fn report(request: &Arguments, frames: Option<&[Vec<u8>]>, root: &Root) -> Result<(), RefusedError> {
    let lanes = request.lanes.unwrap_or(Lanes::FOUR);
    let file = &request.source;
    let data = read(file, root)?;
    let mut object = Object::read(&data).map_err(|source| RefusedError::Object { file: file.clone(), source })?;
    for (map, count) in &request.entries {
        let set = object.set_entries(map, *count);
        set.map_err(|source| RefusedError::Entries { file: file.clone(), source })?;
    }
    for note in &object.notes {
        note!("{}: {note}", file.display());
    }
    let chosen: Vec<_> =
        object.entries.iter().filter(|entry| request.program.as_ref().is_none_or(|name| entry.name == *name)).collect();
    if let (true, Some(name)) = (chosen.is_empty(), &request.program) {
        let there = object.entries.iter().map(|entry| entry.name.clone()).collect();
        return Err(RefusedError::NoProgram { file: file.clone(), name: name.to_owned(), there });
    }
    let mut refused = None;
    let mut programs = Vec::new();
    let mut missing = vec![None; object.maps.len()];
    for entry in chosen {
        let done = accepted(file, &object, entry, lanes).and_then(|accepted| {
            let executed = frames.map(|frames| executed(file, &object, &accepted, lanes, frames));
            match executed.transpose() {
                Err(error @ RefusedError::Executed { source: ExecuteError::OnCard(_), .. }) => {
                    note!("{error}");
                    Ok((None, accepted))
                }
                executed => Ok((executed?, accepted)),
            }
        });
        match done {
            Ok((executed, accepted)) => {
                let Accepted { program, facts, compiled, placement, beyond } = &accepted;
                say!("{}: {}", file.display(), summary(program, facts, compiled));
                if let Some((frames, rows)) = executed {
                    say!("  {} carried out for {}", counted(rows as usize, "row"), counted(frames, "frame"));
                }
                if request.explain {
                    explain(&object, &accepted);
                }
                if request.rows {
                    compiled.rows.iter().enumerate().for_each(|(at, row)| say!("{at:5}: {row}"));
                }
                let instructions = program.code.iter().count();
                let mut description = described(&object, program, facts);
                description["lanes"] = lanes.count().into();
                description["rows"] = compiled.rows.len().into();
                description["executed_rows"] = json!(executed.map(|(frames, rows)| rows as f64 / frames as f64));
                description["frames"] = json!(executed.map(|(frames, _)| frames));
                description["ipc"] = json!(instructions as f64 / compiled.rows.len() as f64);
                description["operations"] = compiled.operations().into();
                description["does_not_fit"] = json!(beyond);
                programs.push(description);
                for (known, why) in missing.iter_mut().zip(&placement.missing) {
                    *known = known.take().or_else(|| why.clone());
                }
            }
            Err(error) => {
                programs.push(json!({"name": entry.name, "section": entry.section, "refused": error.to_string()}));
                match &refused {
                    None => refused = Some(error),
                    Some(_) => note!("{error}"),
                }
            }
        }
    }
    if let Some(path) = &request.json {
        let maps: Vec<_> =
            object.maps.iter().zip(&missing).map(|(map, why)| described_map(map, why.as_deref())).collect();
        let report = json!({
            "engine": "xdp",
            "sources": [file],
            "license": object.license,
            "programs": programs,
            "maps": maps,
            "notes": object.notes,
        });
        files::write(path, format!("{report:#}\n"))?;
    }
    refused.map_or(Ok(()), Err)
}

/// A program with rows.
struct Accepted {
    program: Program,
    facts: Facts,
    compiled: Compiled,
    /// On a card for it alone.
    placement: Placement,
    /// Features of the program that cards in RTL lack.
    beyond: Vec<String>,
}

fn accepted(file: &Path, object: &Object, entry: &Entry, lanes: Lanes) -> Result<Accepted, RefusedError> {
    let program = object
        .program(entry)
        .map_err(|source| RefusedError::Link { file: file.to_owned(), source: Box::new(source) })?;
    let checked = check(object, &program);
    let facts = checked.map_err(|source| RefusedError::Refused { file: file.to_owned(), source })?.facts;
    let name = || program.name.clone();
    let placement = place(object, &facts.helpers, UNITS * CONTEXTS);
    let translated = translate(object, &program, &facts, lanes, &placement.layout)
        .map_err(|source| RefusedError::Rows { file: file.to_owned(), name: name(), source: Box::new(source) })?;
    let beyond = crate::rows::beyond(object, &facts, &translated, &placement).into_iter().collect();
    Ok(Accepted { program, facts, compiled: translated.compiled, placement, beyond })
}

/// How many frames of a capture the program got, from the first port, and how many rows they took.
fn executed(
    file: &Path,
    object: &Object,
    Accepted { program, compiled, placement, .. }: &Accepted,
    lanes: Lanes,
    frames: &[Vec<u8>],
) -> Result<(usize, u64), RefusedError> {
    let carry = || {
        let mut executed = Executed::new(object, compiled, lanes, &placement.layout)?;
        let each = frames.iter().map(|bytes| Ok(executed.frame(bytes, 1)?.rows));
        Ok((frames.len(), each.sum::<Result<u64, ExecuteError>>()?))
    };
    let failed = |source| RefusedError::Executed { file: file.to_owned(), name: program.name.clone(), source };
    carry().map_err(failed)
}

/// The object, or the compiler's output for C source; its warnings are shown.
fn read(file: &Path, root: &Root) -> Result<Vec<u8>, RefusedError> {
    if file.extension().is_some_and(|extension| extension == "c") && file.exists() {
        let (object, messages) = object_of(root, file)?;
        say::notes(&messages);
        return Ok(object);
    }
    Ok(files::bytes(file).map_err(|source| FileError::input(file, source, OBJECT))?)
}

/// One line about a program.
fn summary(program: &Program, facts: &Facts, compiled: &Compiled) -> String {
    format!(
        "{}: {} slots, {}, {}, {}, {} B of stack, packet {}",
        program.name,
        program.code.len(),
        counted(compiled.rows.len(), "row"),
        counted(facts.helpers.len(), "helper"),
        counted(facts.maps.len(), "map"),
        facts.stack.iter().sum::<u32>(),
        packet(facts),
    )
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn packet(facts: &Facts) -> String {
    match facts.packet_bytes {
        Some(0) => "not touched".into(),
        Some(bytes) => format!("touched up to byte {}", bytes - 1),
        None => "touched at places that depend on it".into(),
    }
}

/// All about a program.
fn explain(object: &Object, Accepted { program, facts, placement, beyond, .. }: &Accepted) {
    let Facts { visited, longest, .. } = facts;
    say!("  section {}, {visited} instructions followed on all paths, {longest} on the longest", program.section);
    if *longest as u64 > MAX_ROWS {
        say!(
            "  in RTL a frame that takes more than {MAX_ROWS} rows is stopped and counted as aborted: bound its loops so that none does"
        );
    }
    for (function, stack) in program.functions.iter().zip(&facts.stack) {
        say!("  {}(): {} slots, {stack} B of stack", function.name, function.slots.len());
    }
    for helper in &facts.helpers {
        say!("  helper {}", helper_name(*helper));
    }
    for map in facts.maps.iter().filter_map(|index| object.maps.get(*index as usize)) {
        say!("  map {}: {}", map.name, map_line(map));
    }
    let checks = facts.insns.iter().filter(|insn| insn.branch.is_some_and(|branch| branch.packet.is_some())).count();
    say!("  {} of the packet's end for a number of bytes that is always the same", counted(checks, "check"));
    let unreached = facts.unreached(&program.code);
    if let Some(first) = unreached.first() {
        let place = program.place(*first);
        say!("  {} that no path comes to, the first: {place}", counted(unreached.len(), "instruction"));
    }
    let [(rows, of_rows), (bytes, of_bytes)] = placement.sizes();
    say!("  maps take {rows} of {of_rows} rows of each bank of a card, {bytes} of {of_bytes} B of each unit");
    match &beyond[..] {
        [] => say!("  it fits a card in RTL"),
        _ => beyond.iter().for_each(|what| say!("  it does not fit a card in RTL: {what}")),
    }
}

/// Type, key, value, entries and memory of a map.
fn map_line(map: &Map) -> String {
    let shape = &map.shape;
    let kind = shape.kind_name();
    let named = |shape: &Option<penstock_xdp_compiler::btf::Shape>| {
        shape.as_ref().map_or_else(String::new, |shape| format!(" ({shape})"))
    };
    let each = if shape.kind().is_ok_and(MapKind::per_cpu) { " for each context" } else { "" };
    format!(
        "{kind}, key {} B{}, value {} B{}, {} entries, {} B of memory{each}",
        shape.key_bytes,
        named(&map.key_type),
        shape.value_bytes,
        named(&map.value_type),
        shape.max_entries,
        shape.memory(),
    )
}

fn described(object: &Object, program: &Program, facts: &Facts) -> Value {
    let functions: Vec<_> = program
        .functions
        .iter()
        .zip(&facts.stack)
        .map(|(function, stack)| json!({"name": function.name, "slots": function.slots.len(), "stack": stack}))
        .collect();
    let maps: Vec<_> =
        facts.maps.iter().filter_map(|index| object.maps.get(*index as usize)).map(|map| &map.name).collect();
    json!({
        "name": program.name,
        "section": program.section,
        "slots": program.code.len(),
        "functions": functions,
        "helpers": facts.helpers.iter().map(|helper| helper_name(*helper)).collect::<Vec<_>>(),
        "maps": maps,
        "packet_bytes": facts.packet_bytes,
        "visited": facts.visited,
        "longest": facts.longest,
        "unreached": facts.unreached(&program.code),
    })
}

/// `missing` is the reason why a card has no place for it.
fn described_map(map: &Map, missing: Option<&str>) -> Value {
    let shape = &map.shape;
    json!({
        "name": map.name,
        "type": shape.kind_name(),
        "key_bytes": shape.key_bytes,
        "value_bytes": shape.value_bytes,
        "entries": shape.max_entries,
        "memory_bytes": shape.memory(),
        "per_context": shape.kind().is_ok_and(MapKind::per_cpu),
        "does_not_fit": map.check().err().map(|error| error.to_string()).or_else(|| missing.map(str::to_owned)),
    })
}
