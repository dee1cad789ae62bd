// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock compile`: a program for an engine, what it takes, and whether it fits.

mod flow;
mod xdp;

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use penstock_device::{Design, DesignError, Root};
use penstock_rpu_sdk::{CompileError, DMEM_DATA_BYTES, IMEM_BYTES, Options, compile};
use penstock_xdp_host::Lanes;
use serde_json::json;

use crate::files::{self, FileError};

/// Compiles a program for an engine and says what fits where.
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// The engine it is for.
    #[arg(value_enum)]
    pub engine: Engine,
    /// rpu: C or assembly sources, or one linked .elf. xdp: an object, as clang writes it for Linux, or a C source. flow: a state machine (.efsm).
    #[arg(required = true, value_name = "SOURCE")]
    pub sources: Vec<PathBuf>,
    /// Write the linked program (rpu).
    #[arg(short, long, value_name = "ELF")]
    pub output: Option<PathBuf>,
    /// The design that it is for, whose groups the program may name: PN_FIRST_NAME, PN_COUNT_NAME (rpu).
    #[arg(long, value_name = "DESIGN")]
    pub design: Option<PathBuf>,
    /// Write what was built as JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Say all about each program: functions, helpers, maps (xdp); parts of the elements, rows (flow).
    #[arg(long)]
    pub explain: bool,
    /// Draw the state machines as a graph for Graphviz (flow).
    #[arg(long, value_name = "FILE")]
    pub dot: Option<PathBuf>,
    /// Draw them as SVG (flow).
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Lanes of the core: 1, 2, 3, 4 or 8 (xdp).
    #[arg(long, value_name = "N", value_parser = lanes)]
    pub lanes: Option<Lanes>,
    /// Print the rows of each program (xdp).
    #[arg(long)]
    pub rows: bool,
    /// Carry out the rows of each program on the frames of this capture, from the first port, with maps that begin as the object says (xdp).
    #[arg(long, value_name = "FILE")]
    pub capture: Option<PathBuf>,
    /// Give a map so many entries in place of its own, as loaders do; may be given several times (xdp).
    #[arg(long, value_name = "MAP=N", value_parser = entries)]
    pub entries: Vec<(String, u32)>,
    /// Only the program of that name (xdp).
    #[arg(long, value_name = "NAME")]
    pub program: Option<String>,
}

/// What is said when a program names a group and no design says where it is.
const DESIGN_HINT: &str = "\nPN_FIRST_NAME and PN_COUNT_NAME are of a design's groups; name the design: --design FILE";

/// An engine that takes programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// RISC-V packet units.
    Rpu,
    /// Cores for XDP programs.
    Xdp,
    /// Inline elements: state machines of flows.
    Flow,
}

/// A number of lanes that a core may have.
pub fn lanes(word: &str) -> Result<Lanes, String> {
    let count = word.parse().ok().and_then(Lanes::new);
    count.ok_or_else(|| format!("a core has 1, 2, 3, 4 or 8 lanes, not {word}"))
}

/// A map and how many entries it gets.
fn entries(word: &str) -> Result<(String, u32), String> {
    let parts = word.split_once('=').filter(|(map, _)| !map.is_empty());
    let parts = parts.and_then(|(map, count)| Some((map.to_owned(), count.parse::<i128>().ok()?)));
    let (map, count) = parts.ok_or_else(|| format!("`{word}`: write MAP=N, for example rx_cnt=16"))?;
    let count = u32::try_from(count).ok().filter(|count| *count > 0);
    Ok((map, count.ok_or_else(|| format!("`{word}`: a map has 1 to {} entries", u32::MAX))?))
}

/// Why nothing was built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error("{}: {source}{hint}", source_file.display())]
    Compile { source_file: PathBuf, source: CompileError, hint: &'static str },
    #[error(transparent)]
    Design(#[from] DesignError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Xdp(#[from] xdp::XdpError),
    #[error(transparent)]
    Flow(#[from] flow::FlowError),
    #[error("--entries: {0} is there twice; leave one out")]
    Twice(String),
    #[error("{option} is not for the engine {engine}; leave it out")]
    NotFor { option: &'static str, engine: &'static str },
}

/// Compiles and reports.
pub fn run(args: &Args, root: &Root) -> Result<(), BuildError> {
    use Engine::{Flow, Rpu, Xdp};
    let engine = match args.engine {
        Rpu => "rpu",
        Xdp => "xdp",
        Flow => "flow",
    };
    let options: [(&str, bool, &[Engine]); 10] = [
        ("--output", args.output.is_some(), &[Rpu]),
        ("--design", args.design.is_some(), &[Rpu]),
        ("--explain", args.explain, &[Xdp, Flow]),
        ("--program", args.program.is_some(), &[Xdp]),
        ("--lanes", args.lanes.is_some(), &[Xdp]),
        ("--rows", args.rows, &[Xdp]),
        ("--entries", !args.entries.is_empty(), &[Xdp]),
        ("--capture", args.capture.is_some(), &[Xdp]),
        ("--dot", args.dot.is_some(), &[Flow]),
        ("--svg", args.svg.is_some(), &[Flow]),
    ];
    if let Some((option, ..)) = options.into_iter().find(|(_, given, of)| *given && !of.contains(&args.engine)) {
        return Err(BuildError::NotFor { option, engine });
    }
    let mut maps = BTreeSet::new();
    if let Some((map, _)) = args.entries.iter().find(|entry| !maps.insert(&entry.0)) {
        return Err(BuildError::Twice(map.clone()));
    }
    match args.engine {
        Engine::Rpu => firmware(args, root),
        Engine::Xdp => Ok(xdp::run(&xdp::Request {
            sources: &args.sources,
            program: args.program.as_deref(),
            entries: &args.entries,
            explain: args.explain,
            lanes: args.lanes.unwrap_or(Lanes::FOUR),
            rows: args.rows,
            capture: args.capture.as_deref(),
            json: args.json.as_deref(),
            root,
        })?),
        Engine::Flow => Ok(flow::run(&flow::Request {
            sources: &args.sources,
            explain: args.explain,
            json: args.json.as_deref(),
            dot: args.dot.as_deref(),
            svg: args.svg.as_deref(),
        })?),
    }
}

/// Firmware of the rpu engine.
fn firmware(args: &Args, root: &Root) -> Result<(), BuildError> {
    for source in &args.sources {
        files::readable(source, penstock_rpu_host::PROGRAM)?;
    }
    let design = args.design.as_deref().map(Design::read).transpose()?;
    let flags = design.as_ref().map_or(Vec::new(), |design| penstock_rpu_host::macros(&design.named_groups()));
    let firmware = compile(&args.sources, &Options { flags, ..Options::new(root.path()) }).map_err(|source| {
        let names_group = source.to_string().contains("'PN_FIRST_") || source.to_string().contains("'PN_COUNT_");
        let hint = if names_group && design.is_none() { DESIGN_HINT } else { "" };
        BuildError::Compile { source_file: args.sources[0].clone(), source, hint }
    })?;
    eprint!("{}", firmware.messages);
    println!("{}: {}", args.sources[0].display(), firmware.sizes);
    if let Some(path) = &args.output {
        files::write(path, &firmware.elf)?;
    }
    if let Some(path) = &args.json {
        let sizes = &firmware.sizes;
        let functions: Vec<_> = firmware
            .symbols
            .iter()
            .map(|symbol| json!({"name": symbol.name, "address": symbol.address, "bytes": symbol.size}))
            .collect();
        let report = json!({
            "engine": "rpu",
            "sources": args.sources,
            "instructions": {"bytes": sizes.text, "of": IMEM_BYTES},
            "data": {"bytes": sizes.data + sizes.bss, "initialised": sizes.data, "zeroed": sizes.bss, "of": DMEM_DATA_BYTES},
            "functions": functions,
            "warnings": firmware.messages.lines().collect::<Vec<_>>(),
        });
        files::write(path, format!("{report:#}\n"))?;
    }
    Ok(())
}
