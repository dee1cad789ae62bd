// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock compile xdp`: an XDP object, what its programs use, and whether the engine takes them.

use std::path::{Path, PathBuf};

use penstock_device::files::{self, FileError};
use penstock_device::{Lanes, Root, xdp};
use penstock_xdp_compiler::back::Compiled;
use penstock_xdp_compiler::card::place;
use penstock_xdp_compiler::check::{CheckError, Facts, check, helper_name};
use penstock_xdp_compiler::ir::CONTEXTS;
use penstock_xdp_compiler::maps::{Map, MapKind};
use penstock_xdp_compiler::object::{LinkError, Object, ObjectError, Program};
use penstock_xdp_compiler::translate::{TranslateError, translate};
use serde_json::{Value, json};

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
    #[error(transparent)]
    Source(#[from] penstock_device::XdpError),
    #[error("{}: {name}: {source}", file.display())]
    Rows { file: PathBuf, name: String, source: Box<TranslateError> },
    #[error("{}: {source}", file.display())]
    Refused { file: PathBuf, source: Box<CheckError> },
}

/// What is asked.
pub struct Request<'a> {
    pub sources: &'a [PathBuf],
    pub program: Option<&'a str>,
    pub explain: bool,
    pub lanes: Lanes,
    /// Print the rows.
    pub rows: bool,
    pub json: Option<&'a Path>,
    pub root: &'a Root,
}

/// Checks and reports. All programs are looked at; the first that is refused is the error.
pub fn run(request: &Request) -> Result<(), XdpError> {
    let [file] = request.sources else { return Err(XdpError::Several) };
    let data = read(file, request.root)?;
    let object = Object::read(&data).map_err(|source| XdpError::Object { file: file.clone(), source })?;
    for note in &object.notes {
        eprintln!("{}: {note}", file.display());
    }
    let chosen: Vec<_> =
        object.entries.iter().filter(|entry| request.program.is_none_or(|name| entry.name == name)).collect();
    if let (true, Some(name)) = (chosen.is_empty(), request.program) {
        let there = object.entries.iter().map(|entry| entry.name.clone()).collect();
        return Err(XdpError::NoProgram { file: file.clone(), name: name.to_owned(), there });
    }
    let mut refused = None;
    let mut programs = Vec::new();
    for entry in chosen {
        match accepted(file, &object, entry, request.lanes) {
            Ok((program, facts, compiled)) => {
                println!("{}: {}", file.display(), summary(&program, &facts, &compiled));
                if request.explain {
                    explain(&object, &program, &facts);
                }
                if request.rows {
                    compiled.rows.iter().enumerate().for_each(|(at, row)| println!("{at:5}: {row}"));
                }
                let mut description = described(&object, &program, &facts);
                description["lanes"] = request.lanes.count().into();
                description["rows"] = compiled.rows.len().into();
                description["operations"] = compiled.operations().into();
                programs.push(description);
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
        let maps: Vec<_> = object.maps.iter().map(described_map).collect();
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

fn accepted(
    file: &Path,
    object: &Object,
    entry: &penstock_xdp_compiler::object::Entry,
    lanes: Lanes,
) -> Result<(Program, Facts, Compiled), XdpError> {
    let program =
        object.program(entry).map_err(|source| XdpError::Link { file: file.to_owned(), source: Box::new(source) })?;
    let checked = check(object, &program);
    let facts = checked.map_err(|source| XdpError::Refused { file: file.to_owned(), source })?.facts;
    let name = || program.name.clone();
    let layout = place(object, &facts.helpers, CONTEXTS).layout;
    let translated = translate(object, &program, &facts, lanes, &layout).map_err(|source| XdpError::Rows {
        file: file.to_owned(),
        name: name(),
        source: Box::new(source),
    })?;
    Ok((program, facts, translated.compiled))
}

/// The object, or what the compiler makes of C source; its warnings are shown.
fn read(file: &Path, root: &Root) -> Result<Vec<u8>, XdpError> {
    if file.extension().is_some_and(|extension| extension == "c") && file.exists() {
        let (object, messages) = xdp::object_of(root, file)?;
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
fn explain(object: &Object, program: &Program, facts: &Facts) {
    println!("  section {}, {} instructions followed on all paths", program.section, facts.visited);
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
    println!("  {} of the packet's end", counted(checks, "check"));
    let unreached = facts.unreached(&program.code);
    if let Some(first) = unreached.first() {
        let place = program.place(*first);
        println!("  {} that no path comes to, the first: {place}", counted(unreached.len(), "instruction"));
    }
}

/// Type, key, value, entries and memory of a map.
fn map_line(map: &Map) -> String {
    let shape = &map.shape;
    let kind = MapKind::from_number(shape.number).map_or_else(|name| name, |kind| kind.to_string());
    let named = |shape: &Option<penstock_xdp_compiler::btf::Shape>| {
        shape.as_ref().map_or_else(String::new, |shape| format!(" ({shape})"))
    };
    let each = if shape.kind().is_ok_and(MapKind::per_cpu) { " for each core" } else { "" };
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
        "unreached": facts.unreached(&program.code),
    })
}

fn described_map(map: &Map) -> Value {
    let shape = &map.shape;
    json!({
        "name": map.name,
        "type": MapKind::from_number(shape.number).map_or_else(|name| name, |kind| kind.to_string()),
        "key_bytes": shape.key_bytes,
        "value_bytes": shape.value_bytes,
        "entries": shape.max_entries,
        "memory_bytes": shape.memory(),
        "per_core": shape.kind().is_ok_and(MapKind::per_cpu),
        "does_not_fit": map.check().err().map(|error| error.to_string()),
    })
}
