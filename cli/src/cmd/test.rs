// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock test`: the test suite, and the suite's own test by planted bugs.

use std::process::Command;

use clap::Args as ClapArgs;
use penstock_device::Root;

/// Runs the test suite: formatting, lint, Rust tests, hardware and system tests.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// Only the steps of these engines and folders, for example `device`.
    #[arg(value_name = "NAME", conflicts_with = "mutants")]
    pub names: Vec<String>,
    /// Plant each bug of the lists (mutants.toml) and check that the suite catches it.
    #[arg(long)]
    pub mutants: bool,
    /// With --mutants: also bugs that were caught before and whose file and test have not changed since.
    #[arg(long, requires = "mutants")]
    pub again: bool,
    /// Also the tests that take minutes each.
    #[arg(long)]
    pub long: bool,
    /// A test that is skipped for a reason with WORD in it fails.
    #[arg(long, value_name = "WORD")]
    pub require: Vec<String>,
    /// Only the steps (with --mutants, the bugs) whose name contains WORD. If no step matches, the hardware and system
    /// tests whose name contains WORD.
    #[arg(long, value_name = "WORD")]
    pub only: Option<String>,
}

/// Why the suite did not pass.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TestError {
    /// The runner did not start.
    #[error("cannot run {python}: {source}; call ./penstock, which sets it up")]
    Start {
        /// The interpreter that was to run it.
        python: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// Some test failed: the runner has said which.
    #[error("the suite failed")]
    Failed,
}

/// Runs the suite in the tree `root`.
pub(crate) fn run(args: &Args, root: &Root) -> Result<(), TestError> {
    let python = root.join("build/venv/bin/python");
    let mut command = Command::new(&python);
    command.arg("tools/test.py").args(&args.names).current_dir(root.path());
    if args.mutants {
        command.arg("--mutants");
    }
    if args.again {
        command.arg("--again");
    }
    if args.long {
        command.arg("--long");
    }
    for word in &args.require {
        command.args(["--require", word]);
    }
    if let Some(word) = &args.only {
        command.args(["--only", word]);
    }
    let status =
        command.status().map_err(|source| TestError::Start { python: python.display().to_string(), source })?;
    if status.success() { Ok(()) } else { Err(TestError::Failed) }
}
