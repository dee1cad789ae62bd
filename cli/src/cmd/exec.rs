// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock exec`: bare instructions of an engine, as conformance suites have them.

use std::io::{Read, stdin};

use clap::{Args as ClapArgs, ValueEnum};
use penstock_xdp_soft::bare::{self, BareError};
use penstock_xdp_soft::{HexError, read_hex};

/// Runs a bare program: its instructions in hex on standard input, its result in hex on standard output.
///
/// r1 holds the address of the memory, r2 its length, r10 the end of a stack. An access of anything else, a helper or an instruction
/// that does not exist is an error.
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// The engine it is for.
    #[arg(value_enum)]
    pub engine: Engine,
    /// What runs it.
    #[arg(long, value_enum, default_value = "soft")]
    pub target: Target,
    /// The memory it works on, in hex.
    #[arg(value_name = "MEMORY_HEX")]
    pub memory: Option<String>,
}

/// An engine whose instructions can be run bare.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Engine {
    /// eBPF, RFC 9669.
    Xdp,
}

/// What runs instructions.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Target {
    /// Native code.
    Soft,
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    #[error("the program could not be read from standard input: {0}")]
    Input(std::io::Error),
    #[error("the program: {0}")]
    Program(HexError),
    #[error("the memory: {0}")]
    Memory(HexError),
    #[error(transparent)]
    Bare(#[from] BareError),
}

/// Runs it and prints r0.
pub fn run(args: &Args) -> Result<(), ExecError> {
    let (Engine::Xdp, Target::Soft) = (args.engine, args.target);
    let mut text = String::new();
    stdin().read_to_string(&mut text).map_err(ExecError::Input)?;
    let program = read_hex(&text).map_err(ExecError::Program)?;
    let mut memory = read_hex(args.memory.as_deref().unwrap_or_default()).map_err(ExecError::Memory)?;
    println!("{:x}", bare::run(&program, &mut memory)?);
    Ok(())
}
