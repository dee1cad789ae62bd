// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock compile`: a program for an engine, what it takes, and whether it fits.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use penstock_device::Root;
use penstock_rpu_sdk::{CompileError, DMEM_DATA_BYTES, IMEM_BYTES, Options, compile};
use serde_json::json;

use crate::files::{self, FileError};

/// Compiles a program for an engine and says what fits where.
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// The engine it is for.
    #[arg(value_enum)]
    pub engine: Engine,
    /// C or assembly sources, or one linked .elf.
    #[arg(required = true, value_name = "SOURCE")]
    pub sources: Vec<PathBuf>,
    /// Write the linked program.
    #[arg(short, long, value_name = "ELF")]
    pub output: Option<PathBuf>,
    /// Write what was built as JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// An engine that takes programs.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Engine {
    /// RISC-V packet units.
    Rpu,
}

/// Why nothing was built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error("{}: {source}", source_file.display())]
    Compile { source_file: PathBuf, source: CompileError },
    #[error(transparent)]
    File(#[from] FileError),
}

/// Compiles and reports.
pub fn run(args: &Args, root: &Root) -> Result<(), BuildError> {
    let Engine::Rpu = args.engine;
    for source in &args.sources {
        files::readable(source, files::PROGRAM)?;
    }
    let firmware = compile(&args.sources, &Options::new(root.path()))
        .map_err(|source| BuildError::Compile { source_file: args.sources[0].clone(), source })?;
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
