// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock sweep`: many runs side by side; python/penstock/sweep does them.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use clap::Args as ClapArgs;
use penstock_device::Root;

/// Runs all combinations of designs, targets, captures and options of a file, side by side, and writes one table.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// TOML with the runs (docs/sweeps.md).
    pub file: PathBuf,
    /// Folder for table.csv, and for the results of each run in a folder of its own.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Runs at a time [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// Also write the table as Parquet; needs the Python package pyarrow.
    #[arg(long, value_name = "FILE")]
    pub parquet: Option<PathBuf>,
    /// Let the nodes of a Ray cluster do the runs: `auto`, HOST:PORT or ray://HOST:PORT; needs the Python package ray.
    #[arg(long, value_name = "ADDRESS", conflicts_with = "jobs")]
    pub ray: Option<String>,
}

/// Why a sweep did not end well.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SweepError {
    /// Python did not start.
    #[error("cannot run {python}: {source}; call ./penstock, which sets it up")]
    Start {
        /// The interpreter that was to run it.
        python: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The sweep has said why.
    #[error("the sweep did not end well")]
    Failed,
}

/// Runs the sweep.
pub(crate) fn run(args: &Args, root: &Root) -> Result<(), SweepError> {
    let python = root.join("build/venv/bin/python");
    let mut command = Command::new(&python);
    // The package of this checkout, and this command for the runs.
    command.env("PYTHONPATH", root.join("python")).env("PENSTOCK_ROOT", root.path());
    if let Ok(own) = env::current_exe() {
        command.env("PENSTOCK_COMMAND", own);
    }
    command.args(["-m", "penstock.sweep"]).arg(&args.file).arg("--out").arg(&args.out);
    if let Some(jobs) = args.jobs {
        command.args(["--jobs", &jobs.to_string()]);
    }
    if let Some(file) = &args.parquet {
        command.arg("--parquet").arg(file);
    }
    if let Some(address) = &args.ray {
        command.args(["--ray", address]);
    }
    if crate::show::is_quiet() {
        command.arg("--quiet");
    }
    let done = command.status().map_err(|source| SweepError::Start { python: python.display().to_string(), source })?;
    if done.success() { Ok(()) } else { Err(SweepError::Failed) }
}
