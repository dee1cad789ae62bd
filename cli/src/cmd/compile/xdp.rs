// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock compile xdp`: an XDP object, what its programs use, and whether the engine takes them.

use std::path::{Path, PathBuf};

use penstock_device::Root;
use penstock_device::capture::{self, Capture, CaptureError};
use penstock_device::files::{self, FileError};
use penstock_xdp_compiler::back::Compiled;
use penstock_xdp_compiler::card::{Placement, place};
use penstock_xdp_compiler::check::{CheckError, Facts, check, helper_name};
use penstock_xdp_compiler::ir::CONTEXTS;
use penstock_xdp_compiler::maps::{Map, MapKind};
use penstock_xdp_compiler::object::{LinkError, Object, ObjectError, Program};
use penstock_xdp_compiler::rows::run::MAX_ROWS;
use penstock_xdp_compiler::translate::{TranslateError, translate};
use penstock_xdp_host::executed::{ExecuteError, Executed};
use penstock_xdp_host::{Lanes, object_of};
use serde_json::{Value, json};

/// Units of the card that maps are placed on: where each processor has a value, sixteen contexts of each unit do.
const UNITS: u32 = 16;

/// What to do about an input that should be an object.
const OBJECT: &str = "give an object, as `clang -target bpf -O2 -g -c` writes it from engines/xdp/programs/tx.c";

/// Why a program was refused.
#[derive(Debug, thiserror::Error)]
pub enum XdpError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("the xdp engine takes one object at a time; link several with `bpftool gen object`")]
    Several,
    #[error("{}: {source}", file.display())]
    Object { file: PathBuf, source: ObjectError },
    #[error("{}: there is no program {name}; it has {}", file.display(), there.join(", "))]
    NoProgram { file: PathBuf, name: String, there: Vec<String> },
    #[error("{}: {source}", file.display())]
    Link { file: PathBuf, source: Box<LinkError> },
    #[error("{}: {what}", file.display())]
    Entries { file: PathBuf, what: String },
    #[error(transparent)]
    Source(#[from] penstock_xdp_host::XdpError),
    #[error("{}: {name}: {source}", file.display())]
    Rows { file: PathBuf, name: String, source: Box<TranslateError> },
    #[error("{}: {source}", file.display())]
    Refused { file: PathBuf, source: Box<CheckError> },
    #[error(transparent)]
    Capture(#[from] CaptureError),
    #[error("{}: {name}: {source}", file.display())]
    Executed { file: PathBuf, name: String, source: ExecuteError },
}

/// What is asked.
pub struct Request<'a> {
    pub sources: &'a [PathBuf],
    pub program: Option<&'a str>,
    /// Maps that get so many entries.
    pub entries: &'a [(String, u32)],
    pub explain: bool,
    pub lanes: Lanes,
    /// Print the rows.
    pub rows: bool,
    /// Carry out the rows on its frames.
    pub capture: Option<&'a Path>,
    pub json: Option<&'a Path>,
    pub root: &'a Root,
}

/// Checks and reports. All programs are looked at; the first that is refused is the error.
pub fn run(request: &Request) -> Result<(), XdpError> {
    let [file] = request.sources else { return Err(XdpError::Several) };
    let data = read(file, request.root)?;
    let mut object = Object::read(&data).map_err(|source| XdpError::Object { file: file.clone(), source })?;
    for (map, count) in request.entries {
        let set = object.set_entries(map, *count);
        set.map_err(|what| XdpError::Entries { file: file.clone(), what })?;
    }
    for note in &object.notes {
        eprintln!("{}: {note}", file.display());
    }
    let chosen: Vec<_> =
        object.entries.iter().filter(|entry| request.program.is_none_or(|name| entry.name == name)).collect();
    if let (true, Some(name)) = (chosen.is_empty(), request.program) {
        let there = object.entries.iter().map(|entry| entry.name.clone()).collect();
        return Err(XdpError::NoProgram { file: file.clone(), name: name.to_owned(), there });
    }
    let capture = request.capture.map(capture::read).transpose()?;
    for fault in capture.iter().flat_map(|capture| &capture.faults) {
        eprintln!("{fault}");
    }
    let mut refused = None;
    let mut programs = Vec::new();
    let mut missing = vec![None; object.maps.len()];
    for entry in chosen {
        let done = accepted(file, &object, entry, request.lanes).and_then(|accepted| {
            let executed = capture.as_ref().map(|capture| executed(file, &object, &accepted, request.lanes, capture));
            match executed.transpose() {
                Err(error @ XdpError::Executed { source: ExecuteError::OnCard(_), .. }) => {
                    eprintln!("{error}");
                    Ok((None, accepted))
                }
                executed => Ok((executed?, accepted)),
            }
        });
        match done {
            Ok((executed, accepted)) => {
                let Accepted { program, facts, compiled, placement, beyond } = &accepted;
                println!("{}: {}", file.display(), summary(program, facts, compiled));
                if let Some((frames, rows)) = executed {
                    println!("  {} carried out for {}", counted(rows as usize, "row"), counted(frames, "frame"));
                }
                if request.explain {
                    explain(&object, &accepted);
                }
                if request.rows {
                    compiled.rows.iter().enumerate().for_each(|(at, row)| println!("{at:5}: {row}"));
                }
                let instructions = program.code.iter().count();
                let mut description = described(&object, program, facts);
                description["lanes"] = request.lanes.count().into();
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
                    Some(_) => eprintln!("{error}"),
                }
            }
        }
    }
    if let Some(path) = request.json {
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
    /// What cards in RTL cannot do of it.
    beyond: Vec<String>,
}

fn accepted(
    file: &Path,
    object: &Object,
    entry: &penstock_xdp_compiler::object::Entry,
    lanes: Lanes,
) -> Result<Accepted, XdpError> {
    let program =
        object.program(entry).map_err(|source| XdpError::Link { file: file.to_owned(), source: Box::new(source) })?;
    let checked = check(object, &program);
    let facts = checked.map_err(|source| XdpError::Refused { file: file.to_owned(), source })?.facts;
    let name = || program.name.clone();
    let placement = place(object, &facts.helpers, UNITS * CONTEXTS);
    let translated = translate(object, &program, &facts, lanes, &placement.layout)
        .map_err(|source| XdpError::Rows { file: file.to_owned(), name: name(), source: Box::new(source) })?;
    let beyond = penstock_xdp_host::rows::beyond(object, &facts, &translated, &placement).into_iter().collect();
    Ok(Accepted { program, facts, compiled: translated.compiled, placement, beyond })
}

/// How many frames of a capture the program got, from the first port, and how many rows they took.
fn executed(
    file: &Path,
    object: &Object,
    Accepted { program, compiled, placement, .. }: &Accepted,
    lanes: Lanes,
    capture: &Capture,
) -> Result<(usize, u64), XdpError> {
    let carry = || {
        let mut executed = Executed::new(object, compiled, lanes, &placement.layout)?;
        let each = capture.frames().map(|(_, bytes)| Ok(executed.frame(bytes, 1)?.rows));
        Ok((capture.frames().len(), each.sum::<Result<u64, ExecuteError>>()?))
    };
    let failed = |source| XdpError::Executed { file: file.to_owned(), name: program.name.clone(), source };
    carry().map_err(failed)
}

/// The object, or what the compiler makes of C source; its warnings are shown.
fn read(file: &Path, root: &Root) -> Result<Vec<u8>, XdpError> {
    if file.extension().is_some_and(|extension| extension == "c") && file.exists() {
        let (object, messages) = object_of(root, file)?;
        eprint!("{messages}");
        return Ok(object);
    }
    Ok(std::fs::read(file).map_err(|source| FileError::input(file, source, OBJECT))?)
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
    println!("  section {}, {visited} instructions followed on all paths, {longest} on the longest", program.section);
    if *longest as u64 > MAX_ROWS {
        println!(
            "  in RTL a frame that takes more than {MAX_ROWS} rows is stopped and counted as aborted: bound its loops so that none does"
        );
    }
    for (function, stack) in program.functions.iter().zip(&facts.stack) {
        println!("  {}(): {} slots, {stack} B of stack", function.name, function.slots.len());
    }
    for helper in &facts.helpers {
        println!("  helper {}", helper_name(*helper));
    }
    for map in facts.maps.iter().filter_map(|index| object.maps.get(*index as usize)) {
        println!("  map {}: {}", map.name, map_line(map));
    }
    let checks = facts.insns.iter().filter(|insn| insn.branch.is_some_and(|branch| branch.packet.is_some())).count();
    println!("  {} of the packet's end for a number of bytes that is always the same", counted(checks, "check"));
    let unreached = facts.unreached(&program.code);
    if let Some(first) = unreached.first() {
        let place = program.place(*first);
        println!("  {} that no path comes to, the first: {place}", counted(unreached.len(), "instruction"));
    }
    let [(rows, of_rows), (bytes, of_bytes)] = placement.sizes();
    println!("  maps take {rows} of {of_rows} rows of each bank of a card, {bytes} of {of_bytes} B of each unit");
    match &beyond[..] {
        [] => println!("  it fits a card in RTL"),
        _ => beyond.iter().for_each(|what| println!("  it does not fit a card in RTL: {what}")),
    }
}

/// Type, key, value, entries and memory of a map.
fn map_line(map: &Map) -> String {
    let shape = &map.shape;
    let kind = MapKind::from_number(shape.number).map_or_else(|name| name, |kind| kind.to_string());
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

/// `missing` says why a card has no place for it.
fn described_map(map: &Map, missing: Option<&str>) -> Value {
    let shape = &map.shape;
    json!({
        "name": map.name,
        "type": MapKind::from_number(shape.number).map_or_else(|name| name, |kind| kind.to_string()),
        "key_bytes": shape.key_bytes,
        "value_bytes": shape.value_bytes,
        "entries": shape.max_entries,
        "memory_bytes": shape.memory(),
        "per_context": shape.kind().is_ok_and(MapKind::per_cpu),
        "does_not_fit": map.check().err().map(|error| error.to_string()).or_else(|| missing.map(str::to_owned)),
    })
}
