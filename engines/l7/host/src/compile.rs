// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock compile l7`: message types and rules, and their use of a block.

use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use penstock_engine::{Tool, ToolError, Workbench, files, say};
use penstock_l7_compiler::bindings::{self, Language};
use penstock_l7_compiler::limits;

use crate::image::PROGRAM;

/// `penstock compile l7`.
pub(crate) const COMPILE: Tool = Tool { command, run };

/// Compiles message types and rules and prints their use of a block.
#[derive(Debug, Args)]
struct Arguments {
    /// Message types and rules (.l7).
    source: PathBuf,
    /// Print the fields, and for each rule its action, steps and cycles.
    #[arg(long)]
    explain: bool,
    /// Print the message types as source text of this language, for the library of clients and servers.
    #[arg(long, value_name = "LANGUAGE", conflicts_with = "explain")]
    bindings: Option<Bindings>,
    /// Write what `--explain` prints as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A language of `--bindings`.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Bindings {
    /// For the crate penstock-qnp.
    Rust,
    /// For the module penstock.qnp.
    Python,
    /// For the header penstock_qnp.h.
    C,
}

fn command() -> Command {
    Arguments::augment_args(Command::new("l7"))
}

fn run(matches: &ArgMatches, _: &dyn Workbench) -> Result<(), ToolError> {
    let Arguments { source, explain, bindings: wanted, json } = Arguments::from_arg_matches(matches)?;
    let text = files::read(&source, PROGRAM)?;
    let compiled = penstock_l7_compiler::compile(&source.display().to_string(), &text)?;
    if let Some(language) = wanted {
        let language = match language {
            Bindings::Rust => Language::Rust,
            Bindings::Python => Language::Python,
            Bindings::C => Language::C,
        };
        let name = source.file_name().unwrap_or_default().to_string_lossy();
        say::text(&bindings::text(&compiled.program, &name, language));
    } else if explain {
        say::text(&compiled.explain());
    } else {
        for (application, image) in compiled.program.applications.iter().zip(&compiled.images) {
            say!(
                "{}: {}: {} of {} rows, {} of {} decisions",
                source.display(),
                application.name,
                image.row_count(),
                limits::ROWS,
                image.decided().len(),
                limits::DECISIONS,
            );
        }
    }
    json.map_or(Ok(()), |path| Ok(files::write(&path, format!("{:#}\n", compiled.json()))?))
}
