// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock compile rpu`: firmware, and how much of a unit's memories it takes.

use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use penstock_engine::{Tool, ToolError, Workbench, files, say};
use penstock_rpu_compiler::{CompileError, DMEM_DATA_BYTES, IMEM_BYTES, Options, compile};
use serde_json::json;

use crate::image::{PROGRAM, macros};

/// Levels of optimisation.
const LEVELS: [&str; 7] = ["0", "1", "2", "3", "s", "z", "g"];

/// `penstock compile rpu`.
pub(crate) const COMPILE: Tool = Tool { command, run };

/// Compiles firmware and tells how much of a unit's memories it takes.
#[derive(Debug, Args)]
struct Arguments {
    /// C or assembly sources, or one linked .elf.
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// Write the linked program.
    #[arg(short, long, value_name = "ELF")]
    output: Option<PathBuf>,
    /// The design that it is for, whose groups the program may name: PN_FIRST_NAME, PN_COUNT_NAME.
    #[arg(long, value_name = "DESIGN")]
    design: Option<PathBuf>,
    /// Optimise this much: 0, 1, 2, 3, s, z or g. Programs of designs have 2.
    #[arg(short = 'O', value_name = "LEVEL", default_value = "2", value_parser = LEVELS)]
    optimise: String,
    /// Define a macro. Repeatable.
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    defines: Vec<String>,
    /// Look for headers in this folder, after those of the kit. Repeatable.
    #[arg(short = 'I', value_name = "FOLDER")]
    includes: Vec<PathBuf>,
    /// Write the result as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// The hint for a program that names a group when no design gives the group's place.
const DESIGN_HINT: &str = "\nPN_FIRST_NAME and PN_COUNT_NAME are of a design's groups; name the design: --design FILE";

/// A program that does not compile.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}{hint}", file.display())]
struct Refused {
    file: PathBuf,
    source: CompileError,
    hint: &'static str,
}

fn command() -> Command {
    Arguments::augment_args(Command::new("rpu"))
}

fn run(matches: &ArgMatches, bench: &dyn Workbench) -> Result<(), ToolError> {
    let Arguments { sources, output, design, optimise, defines, includes, json } =
        Arguments::from_arg_matches(matches)?;
    for source in &sources {
        files::readable(source, PROGRAM)?;
    }
    let groups = design.as_ref().map(|design| bench.groups(design)).transpose()?;
    let optimise = LEVELS.into_iter().find(|level| *level == optimise).unwrap_or("2");
    let mut flags = groups.as_ref().map_or(Vec::new(), |groups| macros(groups));
    flags.extend(defines.iter().map(|define| format!("-D{define}")));
    flags.extend(includes.iter().map(|folder| format!("-I{}", folder.display())));
    let firmware =
        compile(&sources, &Options { flags, optimise, ..Options::new(bench.root().path()) }).map_err(|source| {
            let names_group = source.to_string().contains("'PN_FIRST_") || source.to_string().contains("'PN_COUNT_");
            let hint = if names_group && design.is_none() { DESIGN_HINT } else { "" };
            Refused { file: sources[0].clone(), source, hint }
        })?;
    say::notes(&firmware.messages);
    say!("{}: {}", sources[0].display(), firmware.sizes);
    if let Some(path) = &output {
        files::write(path, &firmware.elf)?;
    }
    if let Some(path) = &json {
        let sizes = &firmware.sizes;
        let functions: Vec<_> = firmware
            .symbols
            .iter()
            .map(|symbol| json!({"name": symbol.name, "address": symbol.address, "bytes": symbol.size}))
            .collect();
        let report = json!({
            "engine": "rpu",
            "sources": sources,
            "instructions": {"bytes": sizes.text, "of": IMEM_BYTES},
            "data": {"bytes": sizes.data + sizes.bss, "initialised": sizes.data, "zeroed": sizes.bss, "of": DMEM_DATA_BYTES},
            "functions": functions,
            "warnings": firmware.messages.lines().collect::<Vec<_>>(),
        });
        files::write(path, format!("{report:#}\n"))?;
    }
    Ok(())
}
