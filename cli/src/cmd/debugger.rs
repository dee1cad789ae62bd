// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What `penstock ctl` does to debug a unit of a card that is up. The card knows nothing of it: all is made of reads
//! and writes.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Subcommand;
use penstock_debug::gdb::{Pace, serve};
use penstock_debug::{DebugError, Registers, Unit, Window};
use penstock_device::regs;
use penstock_engine::{note, say};
use penstock_live::protocol::Request;
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::cmd::ctl::{CtlError, Which};
use crate::gdb::{self, Debugged, DebuggerError, LiveWindow};

/// Commands for one unit.
#[derive(Debug, Subcommand)]
pub(crate) enum Debugger {
    /// Halts a unit before its next instruction, while the others go on.
    Halt {
        /// The unit.
        unit: u32,
    },
    /// Lets a halted unit go on.
    Resume {
        /// The unit.
        unit: u32,
    },
    /// Has a unit that is halted carry out one instruction.
    Step {
        /// The unit.
        unit: u32,
    },
    /// Prints the registers of a unit that is halted.
    Regs {
        /// The unit.
        unit: u32,
    },
    /// Serves gdb until Ctrl-C. The unit halts when gdb connects, and goes on when gdb disconnects.
    Gdb {
        /// The unit.
        unit: u32,
        /// TCP port of this machine; 0 takes any that is free.
        #[arg(long, default_value_t = gdb::PORT)]
        listen: u16,
    },
}

impl Debugger {
    /// Does it.
    pub(crate) fn run(&self, which: &Which) -> Result<(), CtlError> {
        let (Self::Halt { unit: number }
        | Self::Resume { unit: number }
        | Self::Step { unit: number }
        | Self::Regs { unit: number }
        | Self::Gdb { unit: number, .. }) = *self;
        let mut unit = Unit::new(LiveWindow { client: which.connect()?, unit: number });
        match *self {
            Self::Gdb { listen, .. } => {
                // If the card does not have the unit, this is reported before gdb connects.
                unit.halted()?;
                let listener = Debugged { unit: number, port: listen }.listen()?;
                return Ok(serve_until_stopped(&mut unit, &listener)?);
            }
            Self::Halt { .. } => unit.halt()?,
            Self::Resume { .. } => unit.release()?,
            Self::Step { .. } => {
                unit.step()?;
            }
            Self::Regs { .. } => {
                let registers = unit.registers()?;
                if which.json {
                    say!("{}", serde_json::json!({ "pc": registers.pc, "x": registers.x }));
                } else {
                    say::text(&registers_text(&registers));
                }
                return Ok(());
            }
        }
        let is_halted = unit.halted()?.is_some();
        let pc = unit.window.read(regs::UNIT_PC)?;
        if which.json {
            say!("{}", serde_json::json!({ "halted": is_halted, "pc": pc }));
            return Ok(());
        }
        let status = unit.window.client.ask(&Request::Status)?.status;
        let at = status.and_then(|status| status.units.into_iter().find(|unit| unit.unit == number));
        let at = at.map_or_else(|| format!("pc=0x{pc:x}"), |unit| unit.vitals.at);
        match (is_halted, self) {
            (true, _) => say!("unit {number} is halted, {at}"),
            (false, Self::Step { .. }) => {
                say!("unit {number} waits in a load, {at}; the step ends when it has come")
            }
            (false, _) => say!("unit {number} runs"),
        }
        Ok(())
    }
}

/// Serves gdb until Ctrl-C, after which the unit goes on as if it had not been halted.
fn serve_until_stopped(unit: &mut Unit<LiveWindow>, listener: &TcpListener) -> Result<(), DebuggerError> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, stop.clone()).map_err(DebuggerError::Signal)?;
    }
    let is_stopped = || stop.load(Ordering::Relaxed);
    let mut work =
        |_: &mut LiveWindow| if is_stopped() { Err(DebugError::Card("stopped".to_string())) } else { Ok(Pace::Idle) };
    let served = serve(unit, listener, &mut work, &mut |text| note!("{text}"));
    if is_stopped() { Ok(unit.release()?) } else { Ok(served?) }
}

/// Registers by their names in the calling convention, four in a line.
fn registers_text(registers: &Registers) -> String {
    const NAMES: [&str; 32] = [
        "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7",
        "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
    ];
    let mut text = format!("pc   {:08x}\n", registers.pc);
    for (names, values) in NAMES.chunks(4).zip(registers.x.chunks(4)) {
        let line: Vec<String> =
            names.iter().zip(values).map(|(name, value)| format!("{name:<4} {value:08x}")).collect();
        text += &(line.join("   ") + "\n");
    }
    text
}
