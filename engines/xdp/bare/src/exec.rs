// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock exec xdp`: bare instructions, as conformance suites have them.

use std::io::{Read, stdin};

use clap::{ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use penstock_device::{Progress, Root};
use penstock_engine::{Tool, ToolError, Workbench, note, say};
use penstock_xdp_host::Lanes;
use penstock_xdp_soft::{HexError, bare as soft, read_hex};

use crate::{Bare, BareError, BareProgram};

/// `penstock exec xdp`.
pub const EXEC: Tool = Tool { command, run };

/// Runs a bare program: its instructions in hex on standard input, its result in hex on standard output.
///
/// r1 holds the address of the memory, r2 its length, r10 the end of a stack. An access of anything else, a helper or
/// an instruction that does not exist is an error. On rtl the memory has 65,520 bytes at most, and functions share one
/// stack of 512 bytes.
#[derive(Debug, Args)]
struct Arguments {
    /// What runs it.
    #[arg(long, value_enum, default_value = "soft")]
    target: Target,
    /// Lanes of the core, on rtl: 1, 2, 3, 4 or 8; 4 by default.
    #[arg(long, value_name = "N")]
    lanes: Option<Lanes>,
    /// The memory it works on, in hex.
    #[arg(value_name = "MEMORY_HEX")]
    memory: Option<String>,
}

/// What runs instructions.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Target {
    /// Native code.
    Soft,
    /// The core's SystemVerilog through Verilator, which takes the program as the compiler's rows.
    Rtl,
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
enum ExecError {
    #[error("the program could not be read from standard input: {0}")]
    Input(std::io::Error),
    #[error("the program: {0}")]
    Program(HexError),
    #[error("the memory: {0}")]
    Memory(HexError),
    #[error(transparent)]
    Soft(#[from] soft::BareError),
    #[error(transparent)]
    Rtl(#[from] BareError),
    #[error("--lanes is of the core in RTL; add `--target rtl`")]
    Lanes,
}

fn command() -> Command {
    Arguments::augment_args(Command::new("xdp"))
}

fn run(matches: &ArgMatches, bench: &dyn Workbench) -> Result<(), ToolError> {
    Ok(execute(&Arguments::from_arg_matches(matches)?, bench.root())?)
}

/// Runs it and prints r0.
fn execute(args: &Arguments, root: &Root) -> Result<(), ExecError> {
    let mut text = String::new();
    stdin().read_to_string(&mut text).map_err(ExecError::Input)?;
    let program = read_hex(&text).map_err(ExecError::Program)?;
    let mut memory = read_hex(args.memory.as_deref().unwrap_or_default()).map_err(ExecError::Memory)?;
    let r0 = match args.target {
        Target::Soft if args.lanes.is_some() => return Err(ExecError::Lanes),
        Target::Soft => soft::run(&program, &mut memory)?,
        Target::Rtl => on_rtl(&program, memory, args.lanes.unwrap_or(Lanes::FOUR), root)?,
    };
    say!("{r0:x}");
    Ok(())
}

fn on_rtl(program: &[u8], memory: Vec<u8>, lanes: Lanes, root: &Root) -> Result<u64, BareError> {
    let program = BareProgram::compile(program, lanes)?;
    let mut progress = |progress| {
        if matches!(progress, Progress::Building { done: 0, .. }) {
            note!("building the model of a core with {} lanes ...", lanes.count());
        }
    };
    Bare::open(root, lanes, program, &mut progress)?.run_one(memory)
}
