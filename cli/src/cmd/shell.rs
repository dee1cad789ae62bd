// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock completion` and `penstock man`: the command line for shells and for man(1).

use std::io;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Command};
use clap_complete::Shell;
use penstock_engine::say;

use crate::files::{self, FileError};

/// Prints a script with which a shell completes commands and options.
///
/// bash: `source <(penstock completion bash)`; zsh and fish: into a file of their folders for completions.
#[derive(Debug, ClapArgs)]
pub(crate) struct Completion {
    /// The shell.
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Writes a manual page for each command into a folder, for `man -l` or below a folder of MANPATH.
#[derive(Debug, ClapArgs)]
pub(crate) struct Man {
    /// The folder.
    pub folder: PathBuf,
}

/// Why there are no manual pages.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ShellError {
    #[error(transparent)]
    File(#[from] FileError),
}

/// Prints the script for the whole command.
pub(crate) fn complete(args: &Completion, command: &mut Command) {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command, "penstock", &mut script);
    say::text(&String::from_utf8_lossy(&script));
}

/// Writes the pages: penstock.1, penstock-run.1 and so on.
pub(crate) fn man(args: &Man, command: &Command) -> Result<(), ShellError> {
    files::make_folder(&args.folder)?;
    write(&args.folder, command.clone().disable_help_subcommand(true), "penstock".to_owned())
}

fn write(folder: &std::path::Path, command: Command, name: String) -> Result<(), ShellError> {
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        write(folder, inner.clone(), format!("{name}-{}", inner.get_name()))?;
    }
    let path = folder.join(format!("{name}.1"));
    let mut page = Vec::new();
    let made: io::Result<()> =
        clap_mangen::Man::new(command.display_name(name.clone()).bin_name(name.replace('-', " "))).render(&mut page);
    made.map_err(|error| FileError::output(&path, error))?;
    files::write(&path, &page)?;
    Ok(())
}
