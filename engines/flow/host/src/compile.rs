// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock compile flow`: a state machine of flows, and its use of elements.

use std::path::{Path, PathBuf};

use clap::{ArgMatches, Args, Command, FromArgMatches};
use penstock_engine::{Tool, ToolError, Workbench, files, say};
use penstock_flow_compiler::image::ElementImage;
use penstock_flow_compiler::limits;
use penstock_flow_compiler::program::Element;

use crate::image::PROGRAM;

/// `penstock compile flow`.
pub(crate) const COMPILE: Tool = Tool { command, run };

/// Compiles a state machine and prints its use of elements.
#[derive(Debug, Args)]
struct Arguments {
    /// The state machine (.efsm), with all elements of a chain.
    source: PathBuf,
    /// Print all parts of the elements, and all rows.
    #[arg(long)]
    explain: bool,
    /// Write the result as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draw the state machines as a graph for Graphviz.
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,
    /// Draw them as SVG.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

fn command() -> Command {
    Arguments::augment_args(Command::new("flow"))
}

fn run(matches: &ArgMatches, _: &dyn Workbench) -> Result<(), ToolError> {
    let Arguments { source, explain, json, dot, svg } = Arguments::from_arg_matches(matches)?;
    let text = files::read(&source, PROGRAM)?;
    let compiled = penstock_flow_compiler::compile(&source.display().to_string(), &text)?;
    if explain {
        say::text(&compiled.explain());
    } else {
        for (element, image) in compiled.program.elements.iter().zip(&compiled.image.elements) {
            say!("{}: {}", source.display(), summary(element, image));
        }
    }
    let write = |path: Option<PathBuf>, text: &dyn Fn() -> String| -> Result<(), ToolError> {
        path.map_or(Ok(()), |path: PathBuf| Ok(files::write(Path::new(&path), text())?))
    };
    write(json, &|| format!("{:#}\n", compiled.json()))?;
    write(dot, &|| compiled.dot())?;
    write(svg, &|| compiled.svg())
}

/// One line about an element: the used part of each resource.
fn summary(element: &Element, image: &ElementImage) -> String {
    format!(
        "{}: {} of {} rows, {} of {} operands, {} of {} predicates, {} of {} conditions, {} of {} functions",
        element.name,
        image.rows.len(),
        limits::ROWS,
        image.operands.len(),
        limits::OPERANDS,
        image.predicates.len(),
        limits::PREDICATES,
        image.conditions.len(),
        limits::CONDITIONS,
        image.functions.len(),
        limits::FUNCTIONS,
    )
}
