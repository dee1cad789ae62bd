// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock`: the command line. One file per command in `cmd/`.

mod card;
mod cmd;
mod daemon;
mod dump;
mod gdb;
mod inputs;
mod log;
mod outputs;
mod report;
mod show;
mod status;
mod synth;
mod trace;
mod web;

use std::env;
use std::error::Error;
use std::process::{self, ExitCode};

use clap::{Command as ClapCommand, CommandFactory, FromArgMatches, Parser, Subcommand};
use mimalloc::MiMalloc;
use penstock_device::{Root, files};
use penstock_engine::note;
use penstock_tools::{compile_tools, exec_tools};

/// Each frame that leaves a card has memory of its own, and engines take memory for flows and messages. The C
/// library's allocator gives memory back to Linux after each run, and costs half the rate of a small card.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// An open data plane for FPGA network cards.
#[derive(Debug, Parser)]
#[command(version, about)]
struct Cli {
    /// Print no progress, no warnings of compilers and no summaries of runs; errors are printed.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Print each step with its time on standard error.
    #[arg(short, long, global = true)]
    verbose: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(cmd::demo::Args),
    Check(cmd::check::Args),
    Run(cmd::run::Args),
    Sweep(cmd::sweep::Args),
    Model(cmd::model::Args),
    Gen(cmd::generate::Args),
    Fpga(cmd::fpga::Args),
    Bench(cmd::bench::Args),
    Synth(cmd::synth::Args),
    Up(cmd::up::Args),
    Ctl(cmd::ctl::Args),
    Prog(cmd::ctl::ProgArgs),
    Extcap(cmd::extcap::Args),
    Top(cmd::top::Args),
    Test(cmd::test::Args),
    Completion(cmd::shell::Completion),
    Man(cmd::shell::Man),
}

fn main() -> ExitCode {
    // Engines add subcommands, which the derived parser does not know.
    let compile =
        ClapCommand::new("compile").about("Compiles a program for an engine and tells what it takes, and of what");
    let exec = ClapCommand::new("exec").about("Runs one program or test for an engine, with no design around it");
    let command = Cli::command().subcommand(cmd::tool::add(compile, compile_tools()));
    let command = command.subcommand(cmd::tool::add(exec, exec_tools()));
    let command = command.mut_subcommand("ctl", cmd::service::add).version(version());
    let matches = command.clone().get_matches();
    show::set_level(matches.get_flag("quiet"), matches.get_flag("verbose"));
    let done: Result<(), Box<dyn Error>> = match matches.subcommand() {
        Some(("compile", compile)) => cmd::tool::run(compile, compile_tools()).map_err(|error| error as Box<dyn Error>),
        Some(("exec", exec)) => cmd::tool::run(exec, exec_tools()).map_err(|error| error as Box<dyn Error>),
        Some(("ctl", ctl)) if cmd::service::is_meant(ctl) => cmd::service::run(ctl).map_err(Into::into),
        _ => match Cli::from_arg_matches(&matches) {
            Ok(Cli { command: Command::Completion(args), .. }) => {
                cmd::shell::complete(&args, &mut command.clone());
                Ok(())
            }
            Ok(Cli { command: Command::Man(args), .. }) => cmd::shell::man(&args, &command).map_err(Into::into),
            Ok(cli) => dispatch(&cli),
            Err(error) => error.exit(),
        },
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            note!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The version, and the commit of the checkout in which this command stands. The launcher keeps both the same.
fn version() -> String {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let asks = env::args().nth(1).is_some_and(|word| word == "--version" || word == "-V");
    let root = if asks { Root::find().ok() } else { None };
    let git = |root: &Root, words: &[&str]| {
        let done = process::Command::new("git").arg("-C").arg(root.path()).args(words).output().ok()?;
        done.status.success().then(|| String::from_utf8_lossy(&done.stdout).trim().to_owned())
    };
    let commit = root.as_ref().and_then(|root| git(root, &["rev-parse", "--short=12", "HEAD"]));
    let Some((root, commit)) = root.zip(commit) else { return version };
    let is_changed =
        git(&root, &["status", "--porcelain", "--untracked-files=no"]).is_some_and(|text| !text.is_empty());
    format!("{version} ({commit}{})", if is_changed { ", changed" } else { "" })
}

fn dispatch(cli: &Cli) -> Result<(), Box<dyn Error>> {
    let root = Root::find()?;
    match &cli.command {
        Command::Demo(args) => cmd::demo::run(args, &root)?,
        Command::Check(args) => cmd::check::run(args, &root)?,
        Command::Run(args) => cmd::run::run(args, &root)?,
        Command::Sweep(args) => cmd::sweep::run(args, &root)?,
        Command::Model(args) => cmd::model::run(args, &root)?,
        Command::Gen(args) => cmd::generate::run(args)?,
        Command::Fpga(args) => cmd::fpga::run(args, &root)?,
        Command::Bench(args) => cmd::bench::run(args, &root)?,
        Command::Synth(args) => cmd::synth::run(args, &root)?,
        Command::Up(args) => cmd::up::run(args, &root)?,
        Command::Ctl(args) => cmd::ctl::run(args)?,
        Command::Prog(args) => cmd::ctl::prog(args)?,
        Command::Extcap(args) => cmd::extcap::run(args)?,
        Command::Top(args) => cmd::top::run(args)?,
        Command::Test(args) => cmd::test::run(args, &root)?,
        // These need the whole command, with the subcommands of engines.
        Command::Completion(_) | Command::Man(_) => {}
    }
    Ok(())
}
