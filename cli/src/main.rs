// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock`: the command line. One file per command in `cmd/`.

mod card;
mod cmd;
mod dump;
mod gdb;
mod report;
mod show;
mod status;
mod synth;
mod trace;

use std::error::Error;
use std::process::ExitCode;

use clap::{Command as ClapCommand, CommandFactory, FromArgMatches, Parser, Subcommand};
use penstock_device::{Root, files};

/// An open data plane for FPGA network cards.
#[derive(Debug, Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(cmd::demo::Args),
    Run(cmd::run::Args),
    Exec(cmd::exec::Args),
    Gen(cmd::generate::Args),
    Fpga(cmd::fpga::Args),
    Bench(cmd::bench::Args),
    Synth(cmd::synth::Args),
    Up(cmd::up::Args),
    Ctl(cmd::ctl::Args),
    Prog(cmd::ctl::ProgArgs),
    Top(cmd::top::Args),
    Test(cmd::test::Args),
}

fn main() -> ExitCode {
    // Engines add subcommands, which the derived parser does not know.
    let compile =
        ClapCommand::new("compile").about("Compiles a program for an engine and tells what it takes, and of what");
    let command = Cli::command().subcommand(cmd::tool::add(compile, |engine| engine.compile_tool()));
    let command = command.mut_subcommand("exec", |exec| cmd::tool::add(exec, |engine| engine.exec_tool()));
    let matches = command.mut_subcommand("ctl", cmd::service::add).get_matches();
    let done: Result<(), Box<dyn Error>> = match matches.subcommand() {
        Some(("compile", compile)) => cmd::tool::run(compile, |engine| engine.compile_tool())
            .unwrap_or(Ok(()))
            .map_err(|error| error as Box<dyn Error>),
        Some(("exec", exec)) if exec.subcommand().is_some() => {
            cmd::tool::run(exec, |engine| engine.exec_tool()).unwrap_or(Ok(())).map_err(|error| error as Box<dyn Error>)
        }
        Some(("ctl", ctl)) if cmd::service::is_meant(ctl) => cmd::service::run(ctl).map_err(Into::into),
        _ => match Cli::from_arg_matches(&matches) {
            Ok(cli) => dispatch(&cli),
            Err(error) => error.exit(),
        },
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", penstock_engine::say::plain(&error.to_string()));
            ExitCode::FAILURE
        }
    }
}

fn dispatch(cli: &Cli) -> Result<(), Box<dyn Error>> {
    let root = Root::find()?;
    match &cli.command {
        Command::Demo(args) => cmd::demo::run(args, &root)?,
        Command::Run(args) => cmd::run::run(args, &root)?,
        Command::Exec(args) => cmd::exec::run(args, &root)?,
        Command::Gen(args) => cmd::generate::run(args)?,
        Command::Fpga(args) => cmd::fpga::run(args, &root)?,
        Command::Bench(args) => cmd::bench::run(args, &root)?,
        Command::Synth(args) => cmd::synth::run(args, &root)?,
        Command::Up(args) => cmd::up::run(args, &root)?,
        Command::Ctl(args) => cmd::ctl::run(args)?,
        Command::Prog(args) => cmd::ctl::prog(args)?,
        Command::Top(args) => cmd::top::run(args)?,
        Command::Test(args) => cmd::test::run(args, &root)?,
    }
    Ok(())
}
