// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A server for gdb and whatever else speaks its remote protocol, for one unit.
//!
//! One client at a time. The card goes on while a client is connected, whether the unit is halted or not: between two
//! packets the server lets the card work. After `detach`, `kill` or a broken connection the unit goes on without
//! breakpoints.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use gdbstub::common::Signal;
use gdbstub::conn::Connection;
use gdbstub::stub::state_machine::GdbStubStateMachine;
use gdbstub::stub::{GdbStub, SingleThreadStopReason};
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::base::singlethread::{
    SingleThreadBase, SingleThreadRangeStepping, SingleThreadRangeSteppingOps, SingleThreadResume,
    SingleThreadResumeOps, SingleThreadSingleStep, SingleThreadSingleStepOps,
};
use gdbstub::target::ext::breakpoints::{Breakpoints, BreakpointsOps, SwBreakpoint, SwBreakpointOps};
use gdbstub::target::{Target, TargetError, TargetResult};
use gdbstub_arch::riscv::Riscv32;
use gdbstub_arch::riscv::reg::RiscvCoreRegs;

use crate::unit::{DebugError, Halted, Registers, Unit};
use crate::window::Window;

/// How long a client that has just been answered gets to ask again, before the card works on.
const PATIENCE: Duration = Duration::from_millis(2);
/// Pause when neither the client nor the card has anything to do.
const PAUSE: Duration = Duration::from_millis(2);
/// Time between two checks for bytes from the client.
const GLANCE: Duration = Duration::from_micros(100);
/// Steps of a range between two checks for bytes from the client.
const RANGE_STEPS: usize = 64;

/// The next step of the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// The card has worked and will go on.
    Busy,
    /// There is nothing to do now.
    Idle,
    /// There is nothing more to do. The server ends, unless the unit is halted.
    End,
}

/// A fault after which the server cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum GdbError {
    /// The unit, or the card.
    #[error(transparent)]
    Debug(#[from] DebugError),
    /// The socket.
    #[error("waiting for gdb: {0}")]
    Listen(#[source] io::Error),
}

/// Serves one client after the other at `listener`, until `work` reports the end; `work` lets the card work and gets
/// the way to the unit. `tell` gets a sentence for each client that connects or disconnects.
///
/// # Errors
/// If the card or the socket fails. A failed client counts as disconnected.
pub fn serve<W: Window>(
    unit: &mut Unit<W>,
    listener: &TcpListener,
    work: &mut dyn FnMut(&mut W) -> Result<Pace, DebugError>,
    tell: &mut dyn FnMut(&str),
) -> Result<(), GdbError> {
    listener.set_nonblocking(true).map_err(GdbError::Listen)?;
    loop {
        match listener.accept() {
            Ok((stream, client)) => {
                tell(&format!("gdb is there, from {client}"));
                let ended = session(unit, stream, work);
                unit.release()?;
                match ended {
                    Ok(()) => tell("gdb has gone; the unit goes on"),
                    Err(SessionError::Client(why)) => tell(&format!("gdb has gone ({why}); the unit goes on")),
                    Err(SessionError::Debug(error)) => return Err(error.into()),
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(GdbError::Listen(error)),
        }
        match work(&mut unit.window)? {
            Pace::Busy => {}
            Pace::End if unit.halted()?.is_none() => return Ok(()),
            Pace::Idle | Pace::End => thread::sleep(PAUSE),
        }
    }
}

/// Why a session ended without a request.
enum SessionError {
    /// The card.
    Debug(DebugError),
    /// The connection, or the bytes that it received.
    Client(String),
}

impl From<DebugError> for SessionError {
    fn from(error: DebugError) -> Self {
        Self::Debug(error)
    }
}

fn session<W: Window>(
    unit: &mut Unit<W>,
    stream: TcpStream,
    work: &mut dyn FnMut(&mut W) -> Result<Pace, DebugError>,
) -> Result<(), SessionError> {
    let client = |error: io::Error| SessionError::Client(error.to_string());
    stream.set_nodelay(true).and_then(|()| stream.set_nonblocking(true)).map_err(client)?;
    if unit.halted()?.is_none() {
        unit.halt()?;
    }
    let mut debuggee = Debuggee { unit, range: None, failure: None };
    let failed = |debuggee: &mut Debuggee<'_, W>, error: String| match debuggee.failure.take() {
        Some(error) => SessionError::Debug(error),
        None => SessionError::Client(error),
    };
    let start = GdbStub::new(Client { stream, out: Vec::new() }).run_state_machine(&mut debuggee);
    let mut gdb = start.map_err(|error| failed(&mut debuggee, error.to_string()))?;
    loop {
        let next = match gdb {
            GdbStubStateMachine::Disconnected(mut gone) => return gone.borrow_conn().flush().map_err(client),
            GdbStubStateMachine::Idle(mut idle) => match idle.borrow_conn().read(PATIENCE).map_err(client)? {
                Some(byte) => idle.incoming_data(&mut debuggee, byte),
                None => {
                    if work(&mut debuggee.unit.window)? != Pace::Busy {
                        thread::sleep(PAUSE);
                    }
                    Ok(idle.into())
                }
            },
            GdbStubStateMachine::Running(mut running) => {
                if let Some(byte) = running.borrow_conn().read(Duration::ZERO).map_err(client)? {
                    running.incoming_data(&mut debuggee, byte)
                } else if let Some(reason) = debuggee.stop()? {
                    running.report_stop(&mut debuggee, reason)
                } else {
                    match work(&mut debuggee.unit.window)? {
                        Pace::Busy => Ok(running.into()),
                        Pace::End if debuggee.unit.halted()?.is_none() => {
                            running.report_stop(&mut debuggee, SingleThreadStopReason::Exited(0))
                        }
                        Pace::Idle | Pace::End => {
                            thread::sleep(PAUSE);
                            Ok(running.into())
                        }
                    }
                }
            }
            GdbStubStateMachine::CtrlCInterrupt(interrupt) => {
                debuggee.unit.halt()?;
                let reason = SingleThreadStopReason::Signal(Signal::SIGINT);
                interrupt.interrupt_handled(&mut debuggee, Some(reason))
            }
        };
        gdb = next.map_err(|error| failed(&mut debuggee, error.to_string()))?;
    }
}

/// The connection. Written bytes leave when an answer is complete, or when the server waits for the next request; this
/// includes bare acknowledgements.
struct Client {
    stream: TcpStream,
    out: Vec<u8>,
}

impl Client {
    /// The next byte, if one arrives soon.
    fn read(&mut self, patience: Duration) -> io::Result<Option<u8>> {
        self.flush()?;
        let end = Instant::now() + patience;
        let mut byte = [0];
        loop {
            match self.stream.read(&mut byte) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(_) => return Ok(Some(byte[0])),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
            if Instant::now() >= end {
                return Ok(None);
            }
            thread::sleep(GLANCE);
        }
    }
}

impl Connection for Client {
    type Error = io::Error;

    fn write(&mut self, byte: u8) -> io::Result<()> {
        self.out.push(byte);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.out.is_empty() {
            return Ok(());
        }
        // The answers are short: waiting for a client that does not read them is waiting for a debugger.
        self.stream.set_nonblocking(false)?;
        let written = Write::write_all(&mut self.stream, &self.out);
        self.out.clear();
        self.stream.set_nonblocking(true)?;
        written
    }
}

/// The unit as gdb sees it: one thread.
struct Debuggee<'a, W> {
    unit: &'a mut Unit<W>,
    /// Steps continue while the unit is between these addresses.
    range: Option<(u32, u32)>,
    /// Why the card failed; the protocol has no words for it.
    failure: Option<DebugError>,
}

impl<W: Window> Debuggee<'_, W> {
    /// Why the unit has stopped, if it has.
    fn stop(&mut self) -> Result<Option<SingleThreadStopReason<u32>>, DebugError> {
        for _ in 0..RANGE_STEPS {
            let Some(cause) = self.unit.halted()? else { return Ok(None) };
            let pc = self.unit.pc()?;
            let is_breakpoint = self.unit.has_breakpoint(pc);
            match (cause, self.range) {
                (Halted::Step, Some((start, end))) if (start..end).contains(&pc) && !is_breakpoint => {
                    self.unit.step()?;
                }
                (Halted::Step, _) => return Ok(Some(SingleThreadStopReason::DoneStep)),
                (Halted::Ebreak, _) if is_breakpoint => return Ok(Some(SingleThreadStopReason::SwBreak(()))),
                (Halted::Ebreak, _) => return Ok(Some(SingleThreadStopReason::Signal(Signal::SIGTRAP))),
                (Halted::Request, _) => return Ok(Some(SingleThreadStopReason::Signal(Signal::SIGINT))),
            }
        }
        Ok(None)
    }

    /// If the client's request is wrong, tells the client; if the card fails, ends the session.
    fn answer<T>(&mut self, result: Result<T, DebugError>) -> TargetResult<T, Self> {
        result.map_err(|error| match error {
            DebugError::Card(_) | DebugError::Stubborn => {
                self.failure = Some(error);
                TargetError::Fatal("the card failed")
            }
            DebugError::Runs | DebugError::Engine | DebugError::Nothing(_) => TargetError::NonFatal,
        })
    }

    fn act<T>(&mut self, result: Result<T, DebugError>) -> Result<T, &'static str> {
        result.map_err(|error| {
            self.failure = Some(error);
            "the card failed"
        })
    }
}

impl<W: Window> Target for Debuggee<'_, W> {
    type Arch = Riscv32;
    type Error = &'static str;

    fn base_ops(&mut self) -> BaseOps<'_, Riscv32, &'static str> {
        BaseOps::SingleThread(self)
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }
}

impl<W: Window> SingleThreadBase for Debuggee<'_, W> {
    fn read_registers(&mut self, registers: &mut RiscvCoreRegs<u32>) -> TargetResult<(), Self> {
        let read = self.unit.registers();
        let Registers { x, pc } = self.answer(read)?;
        *registers = RiscvCoreRegs { x, pc };
        Ok(())
    }

    fn write_registers(&mut self, registers: &RiscvCoreRegs<u32>) -> TargetResult<(), Self> {
        let old = self.unit.registers();
        let old = self.answer(old)?;
        for (number, (value, old)) in (0..).zip(registers.x.iter().zip(&old.x)) {
            if value != old {
                let written = self.unit.set_register(number, *value);
                self.answer(written)?;
            }
        }
        let written = self.unit.set_pc(registers.pc);
        self.answer(written)
    }

    fn read_addrs(&mut self, address: u32, bytes: &mut [u8]) -> TargetResult<usize, Self> {
        let read = self.unit.read(address, bytes);
        self.answer(read).map(|()| bytes.len())
    }

    fn write_addrs(&mut self, address: u32, bytes: &[u8]) -> TargetResult<(), Self> {
        let written = self.unit.write(address, bytes);
        self.answer(written)
    }

    fn support_resume(&mut self) -> Option<SingleThreadResumeOps<'_, Self>> {
        Some(self)
    }
}

impl<W: Window> SingleThreadResume for Debuggee<'_, W> {
    fn resume(&mut self, _signal: Option<Signal>) -> Result<(), &'static str> {
        self.range = None;
        let resumed = self.unit.resume();
        self.act(resumed)
    }

    fn support_single_step(&mut self) -> Option<SingleThreadSingleStepOps<'_, Self>> {
        Some(self)
    }

    fn support_range_step(&mut self) -> Option<SingleThreadRangeSteppingOps<'_, Self>> {
        Some(self)
    }
}

impl<W: Window> SingleThreadSingleStep for Debuggee<'_, W> {
    fn step(&mut self, _signal: Option<Signal>) -> Result<(), &'static str> {
        self.range = None;
        let stepped = self.unit.step();
        self.act(stepped).map(drop)
    }
}

impl<W: Window> SingleThreadRangeStepping for Debuggee<'_, W> {
    fn resume_range_step(&mut self, start: u32, end: u32) -> Result<(), &'static str> {
        self.range = Some((start, end));
        let stepped = self.unit.step();
        self.act(stepped).map(drop)
    }
}

impl<W: Window> Breakpoints for Debuggee<'_, W> {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }
}

impl<W: Window> SwBreakpoint for Debuggee<'_, W> {
    fn add_sw_breakpoint(&mut self, address: u32, _kind: usize) -> TargetResult<bool, Self> {
        match self.unit.set_breakpoint(address) {
            Err(DebugError::Nothing(_)) => Ok(false),
            set => self.answer(set).map(|()| true),
        }
    }

    fn remove_sw_breakpoint(&mut self, address: u32, _kind: usize) -> TargetResult<bool, Self> {
        let cleared = self.unit.clear_breakpoint(address);
        self.answer(cleared)
    }
}
