// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock compile rmt`: a P4 program, its tables, and its P4Info.

use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches, value_parser};
use penstock_engine::{Tool, ToolError, Workbench, files, say};
use penstock_rmt_compiler::backend::Pipeline;
use penstock_rmt_compiler::ir::{MatchKind, Program, Table};
use penstock_rmt_p4runtime::{info, text};

use crate::image::PROGRAM;
use crate::requests::word;
use crate::settings::MOST_STAGES;

/// `penstock compile rmt`.
pub(crate) const COMPILE: Tool = Tool { command, run };

/// Compiles a P4-16 program for v1model and prints its parts.
#[derive(Debug, Args)]
struct Arguments {
    /// The program (.p4).
    source: PathBuf,
    /// Print where the program goes in the card's pipeline; an error says what does not fit.
    #[arg(long)]
    explain: bool,
    /// Stages of the pipeline for `--explain`.
    #[arg(long, value_name = "COUNT", default_value_t = MOST_STAGES, value_parser = value_parser!(u8).range(1..=i64::from(MOST_STAGES)))]
    stages: u8,
    /// Write its P4Info for P4Runtime controllers, in protobuf's text format.
    #[arg(long, value_name = "FILE")]
    p4info: Option<PathBuf>,
    /// Write the typed program as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn command() -> Command {
    Arguments::augment_args(Command::new("rmt"))
}

fn run(matches: &ArgMatches, _: &dyn Workbench) -> Result<(), ToolError> {
    let Arguments { source, explain, stages, p4info, json } = Arguments::from_arg_matches(matches)?;
    let text = files::read(&source, PROGRAM)?;
    let compiled = penstock_rmt_compiler::compile(&source.display().to_string(), &text)?;
    let program = &compiled.program;
    say::text(&summary(program));
    if let Some(path) = p4info {
        files::write(&path, text::of(&info::of(program)))?;
    }
    if let Some(path) = json {
        files::write(&path, format!("{}\n", serde_json::to_string_pretty(program)?))?;
    }
    if explain {
        say::text(compiled.lower(&Pipeline::new(stages.into()))?.show());
    }
    Ok(())
}

/// A line for the program, and one for each table, register and counter.
fn summary(program: &Program) -> String {
    let headers = program.instances.len();
    let states = program.parser.states.len();
    let mut lines = vec![format!("{}: {headers} headers, {states} parser states", program.name)];
    lines.extend(program.tables.iter().map(|table| of_table(program, table)));
    let registers = program.registers.iter();
    lines.extend(registers.map(|one| format!("  register {}: {} cells of {} bits", one.name, one.size, one.width)));
    lines.extend(program.counters.iter().map(|one| match one.size {
        Some(size) => format!("  counter {}: {size} cells", one.name),
        None => format!("  direct counter {}", one.name),
    }));
    lines.join("\n") + "\n"
}

fn of_table(program: &Program, table: &Table) -> String {
    let key = |key: &penstock_rmt_compiler::ir::Key| {
        let kind: MatchKind = key.kind;
        format!("{} {} {}", key.name, key.width, word(kind))
    };
    let keys: Vec<_> = table.keys.iter().map(key).collect();
    let keys = if keys.is_empty() { "no keys".to_owned() } else { keys.join(", ") };
    let actions: Vec<_> = table.actions.iter().map(|one| program.actions[one.action].name.as_str()).collect();
    format!("  table {}: {keys}; {}; {} entries", table.name, actions.join(", "), table.size)
}
