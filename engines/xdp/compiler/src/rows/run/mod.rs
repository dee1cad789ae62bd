// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Executes rows in order as engines/xdp/core.md defines them, in the simplest way: the reference for schedules and for
//! the hardware.
//!
//! It is stricter than the core. Registers that the program has not written and bytes outside of the packet are
//! undefined: the program may copy them, but branches, stores, requests and everything that leaves the core must not
//! depend on them.

mod arith;

pub use arith::{alu, compare, divide};

use super::op::{Asks, Do, Key, REDIRECT, Test, Window};
use super::rules::{RowRule, legal};
use super::{Lane, Lanes, PacketWindow, Row, Second, Source, Target, isa};
use crate::insn::AtomicOp;
use crate::ir::{Memory, Special};

/// Rows after which a program is stopped.
pub const MAX_ROWS: u64 = 65_536;

/// The environment of the core.
pub trait Outside {
    /// ns since the card's reset.
    fn time(&mut self) -> u64;
    /// Another number at each call.
    fn random(&mut self) -> u32;
    /// Bytes of a map or record, the lowest address in the lowest bits.
    fn load(&mut self, address: u64, count: u8) -> u64;
    /// The same, written.
    fn store(&mut self, address: u64, count: u8, value: u64);
    /// A helper or map.
    fn call(&mut self, asked: &Asked, memory: &mut Memory) -> u64;
}

/// A request that is no access to memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The kind of the request.
    pub asks: Asks<()>,
    /// The operands of the request, `a` and `b`, and those of [`Do::Args`].
    pub args: [u64; 6],
    /// The key's first bytes, if a window has them.
    pub key: Option<Vec<u8>>,
}

/// The packet's metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Surroundings {
    /// The interface on which the packet arrived.
    pub ifindex: u32,
    /// The interface to which it goes, in a program of a device map; else 0.
    pub egress: u32,
    /// Number of the processor that runs the program.
    pub cpu: u32,
}

/// Why rows cannot continue: a fault of the compiler.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("row {row}: {fault}")]
pub struct RunError {
    /// The row that has the fault.
    pub row: usize,
    /// The fault.
    pub fault: Fault,
}

/// A fault of a row.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum Fault {
    #[error(transparent)]
    Rule(#[from] RowRule),
    #[error("there is no such row")]
    NoRow,
    #[error("lane {0} acts by what nothing has written, or by bytes outside of the packet")]
    NotThere(usize),
    #[error("lane {0} stores outside of the packet")]
    Outside(usize),
    #[error("two lanes store byte {0:#x}")]
    TwoStores(u64),
    #[error("an address is nothing's")]
    Wild,
    #[error("the stack window reaches beyond the stack")]
    StackWindow,
    #[error("the program ends in it, and its request reads memory later")]
    Ends,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// 0 to 4.
    pub verdict: u32,
    /// How many rows were carried out.
    pub rows: u64,
    /// The row with which the program begins that takes over; the verdict is then none.
    pub next: Option<u32>,
}

/// The continuation of a context after a row.
enum Next {
    Behind,
    To(Target),
    Program(u32),
}

/// A value, and whether all its bytes are defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Value {
    bits: u64,
    lost: bool,
}

/// A context.
pub struct Machine<'a, O> {
    /// The packet's buffer and the stack.
    pub memory: Memory,
    outside: &'a mut O,
    around: Surroundings,
    lanes: Lanes,
    rows: &'a [Row],
    registers: Vec<Vec<Value>>,
    args: [u64; 6],
    /// The interface of the verdict XDP_REDIRECT, if the program has named one; 0 is none.
    pub target: Option<u8>,
}

/// Effects of a row, collected while all lanes still read the state before it.
#[derive(Default)]
struct Effects {
    registers: Vec<(usize, u8, Value)>,
    bytes: Vec<(usize, u64, u8)>,
    next: Option<Target>,
    exit: Option<Value>,
    adjust: Option<(usize, u8, crate::ir::Adjust, Value)>,
    request: Option<Sent>,
}

/// A request, and the register for its answer.
struct Sent {
    dst: u8,
    answer: bool,
    asks: Asks<()>,
    key: Option<Vec<u8>>,
}

impl<'a, O: Outside> Machine<'a, O> {
    /// A context with a packet.
    pub fn new(rows: &'a [Row], lanes: Lanes, memory: Memory, around: Surroundings, outside: &'a mut O) -> Self {
        let registers = vec![vec![Value { bits: 0, lost: true }; lanes.registers()]; lanes.count()];
        Machine { memory, outside, around, lanes, rows, registers, args: [0; 6], target: None }
    }

    /// Carries the program out.
    ///
    /// # Errors
    /// A row that breaks a rule.
    pub fn run(&mut self) -> Result<Done, RunError> {
        let mut at = 0;
        for count in 1..=MAX_ROWS {
            let row = self.rows.get(at).ok_or(RunError { row: at, fault: Fault::NoRow })?;
            match self.row(row).map_err(|fault| RunError { row: at, fault })? {
                Next::Behind => at += 1,
                Next::To(Target::Row(row)) => at = row.into(),
                Next::To(Target::Exit(verdict)) => {
                    let verdict = if verdict > 4 { 0 } else { u32::from(verdict) };
                    return Ok(Done { verdict, rows: count, next: None });
                }
                Next::Program(row) => return Ok(Done { verdict: 0, rows: count, next: Some(row) }),
            }
        }
        Ok(Done { verdict: 0, rows: MAX_ROWS, next: None })
    }

    fn row(&mut self, row: &Row) -> Result<Next, Fault> {
        legal(row, self.lanes)?;
        if row.stack.is_some_and(|word| u32::from(word) * isa::SIZE_WINDOW_WORD >= isa::SIZE_STACK) {
            return Err(Fault::StackWindow);
        }
        let outcomes = self.outcomes(row);
        let mut effects = Effects::default();
        for (index, lane) in row.lanes.iter().enumerate() {
            if let Some(lane) = lane {
                self.lane(row, index, lane, &outcomes, &mut effects)?;
            }
        }
        self.commit(effects)
    }

    /// For each lane, its comparison's result, and whether it is defined.
    fn outcomes(&mut self, row: &Row) -> Vec<(bool, bool)> {
        let mut outcomes = Vec::new();
        for lane in &row.lanes {
            let test = lane.as_ref().and_then(|lane| lane.op.test().copied());
            outcomes.push(test.map_or((false, true), |test| self.test(&test)));
        }
        outcomes
    }

    fn test(&mut self, test: &Test<Source>) -> (bool, bool) {
        let (a, b) = (self.source(test.a), self.second(test.b));
        (compare(test.cond, test.width, a.bits, b.bits), !a.lost && !b.lost)
    }

    fn source(&mut self, source: Source) -> Value {
        let bits = match source {
            Source::Register(register) => {
                return self.registers[usize::from(register.lane)][usize::from(register.index)];
            }
            Source::Zero => 0,
            Source::Special(special) => match special {
                Special::Data | Special::DataEnd | Special::DataMeta | Special::Len | Special::Stack => {
                    self.memory.special(special).unwrap_or(0)
                }
                Special::Ifindex => self.around.ifindex.into(),
                Special::Queue => 0,
                Special::Egress => self.around.egress.into(),
                Special::Time => self.outside.time(),
                Special::Cpu => self.around.cpu.into(),
                Special::Random => self.outside.random().into(),
            },
        };
        Value { bits, lost: false }
    }

    fn second(&mut self, second: Second<Source>) -> Value {
        match second {
            Second::Source(source) => self.source(source),
            Second::Imm(imm) => Value { bits: i64::from(imm).cast_unsigned(), lost: false },
        }
    }

    /// The address in a window, and whether it is known.
    fn address(&mut self, row: &Row, window: Window, first: u8) -> (u64, bool) {
        let unit = i64::from(isa::SIZE_WINDOW_WORD);
        match (window, row.packet, row.stack) {
            (Window::Packet, Some(PacketWindow { base, offset }), _) => {
                let base = self.source(base);
                (base.bits.wrapping_add_signed(i64::from(offset) * unit).wrapping_add(first.into()), !base.lost)
            }
            (Window::Stack, _, Some(word)) => {
                (u64::from(isa::ADDRESS_STACK) + u64::from(word) * unit.unsigned_abs() + u64::from(first), true)
            }
            _ => (0, false),
        }
    }

    fn lane(
        &mut self,
        row: &Row,
        index: usize,
        lane: &Lane,
        outcomes: &[(bool, bool)],
        effects: &mut Effects,
    ) -> Result<(), Fault> {
        let (acts, known) = match lane.guard {
            None => (true, true),
            Some(guard) => {
                let (outcome, known) = outcomes[usize::from(guard.lane)];
                (outcome == guard.wanted, known)
            }
        };
        if known && !acts {
            return Ok(());
        }
        if lane.op.leaves() {
            return self.leave(index, lane, (known, outcomes[index]), effects);
        }
        let there = |value: Value| if value.lost { Err(Fault::NotThere(index)) } else { Ok(value.bits) };
        // A guard that is not known makes a result that is not, and must not decide about anything else.
        let surely = if known { Ok(()) } else { Err(Fault::NotThere(index)) };
        let result = match lane.op {
            Do::Compare(_) | Do::Branch(..) | Do::Jump(_) | Do::Exit(_) => return Ok(()),
            Do::Load { window, place, bytes, signed } => {
                let (address, known) = self.address(row, window, place.0);
                match load(&self.memory, address, bytes.count) {
                    Some(bits) if known => Value { bits: arith::loaded(bits, bytes, signed), lost: false },
                    _ if window == Window::Stack => return Err(Fault::StackWindow),
                    _ => Value { bits: 0, lost: true },
                }
            }
            Do::Store { window, place, bytes, value } => {
                surely?;
                let (address, known) = self.address(row, window, place.0);
                if !known || load(&self.memory, address, bytes.count).is_none() {
                    return Err(Fault::Outside(index));
                }
                let value = arith::stored(there(self.second(value))?, bytes);
                effects
                    .bytes
                    .extend((0..bytes.count).map(|n| (index, address + u64::from(n), (value >> (8 * n)) as u8)));
                return Ok(());
            }
            Do::Adjust { what, by } => {
                surely?;
                effects.adjust = Some((index, lane.dst, what, self.source(by)));
                return Ok(());
            }
            Do::Args { k, a, b } => {
                surely?;
                let (first, second) = (there(self.source(a))?, there(self.second(b))?);
                self.args[2 * usize::from(k)..][..2].copy_from_slice(&[first, second]);
                return Ok(());
            }
            Do::Redirect { to } => {
                surely?;
                self.target = Some(u8::try_from(there(self.source(to))? as u32).unwrap_or(0));
                Value { bits: REDIRECT.into(), lost: false }
            }
            Do::Request { asks, answer, a, b } => {
                surely?;
                self.args[0] = there(self.source(a))?;
                self.args[1] = there(self.source(b))?;
                let key = match asks.key() {
                    Some(Key { window, place }) => Some(self.key(row, *window, place.0).ok_or(Fault::NotThere(index))?),
                    None => None,
                };
                effects.request = Some(Sent { dst: lane.dst, answer, asks: asks.map(|_, _| ()), key });
                return Ok(());
            }
            op => self.pure(&op),
        };
        effects.registers.push((index, lane.dst, Value { lost: result.lost || !known, ..result }));
        Ok(())
    }

    /// Operations on values only.
    fn pure(&mut self, op: &super::LaneOp) -> Value {
        let mut values = [Value::default(); 2];
        for (value, source) in values.iter_mut().zip(op.sources()) {
            *value = self.source(source);
        }
        let lost = values.iter().any(|value| value.lost);
        let a = values[0].bits;
        let second = |b: Second<Source>| match b {
            Second::Source(_) => values[1].bits,
            Second::Imm(imm) => i64::from(imm).cast_unsigned(),
        };
        let bits = match *op {
            Do::Alu { op, width, b, .. } => alu(op, width, a, second(b)),
            Do::Move { width, from: Second::Imm(imm) } => arith::narrowed(width, i64::from(imm).cast_unsigned()),
            Do::Move { width, .. } => arith::narrowed(width, a),
            Do::MoveHigh { imm, .. } => u64::from(imm) << 32 | a & 0xFFFF_FFFF,
            Do::Extend { bits, width, .. } => arith::narrowed(width, arith::extended(a, bits)),
            Do::Swap { bytes, .. } => a.swap_bytes() >> (64 - 8 * u32::from(bytes)),
            Do::Field { shift, bits, left, .. } => (a >> shift & ((1 << bits) - 1)) << left,
            Do::Set(test) => compare(test.cond, test.width, a, second(test.b)).into(),
            _ => 0,
        };
        Value { bits, lost }
    }

    fn leave(
        &mut self,
        index: usize,
        lane: &Lane,
        (guard_known, (outcome, known)): (bool, (bool, bool)),
        effects: &mut Effects,
    ) -> Result<(), Fault> {
        if effects.next.is_some() {
            return Ok(());
        }
        let conditional = matches!(lane.op, Do::Branch(..));
        if conditional && known && !outcome {
            return Ok(());
        }
        if !guard_known || conditional && !known {
            return Err(Fault::NotThere(index));
        }
        effects.next = match lane.op {
            Do::Branch(_, to) | Do::Jump(to) => Some(to),
            Do::Exit(source) => {
                let value = self.source(source);
                effects.exit = Some(value);
                Some(Target::Exit((value.bits as u32).min(7) as u8))
            }
            _ => None,
        };
        if effects.exit.is_some_and(|value| value.lost) { Err(Fault::NotThere(index)) } else { Ok(()) }
    }

    /// Bytes of the window from a key's first on; None: the window's place is not known.
    fn key(&mut self, row: &Row, window: Window, first: u8) -> Option<Vec<u8>> {
        let (address, known) = self.address(row, window, first);
        let count = u64::from(window.bytes()) - u64::from(first);
        known.then(|| (address..address + count).map(|at| load(&self.memory, at, 1).unwrap_or(0) as u8).collect())
    }

    fn commit(&mut self, effects: Effects) -> Result<Next, Fault> {
        for (count, (_, address, _)) in effects.bytes.iter().enumerate() {
            if effects.bytes[..count].iter().any(|(_, other, _)| other == address) {
                return Err(Fault::TwoStores(*address));
            }
        }
        for (_, address, byte) in &effects.bytes {
            self.write(*address, &[*byte])?;
        }
        for (lane, register, value) in effects.registers {
            self.registers[lane][usize::from(register)] = value;
        }
        if let Some((lane, register, what, by)) = effects.adjust {
            if by.lost {
                return Err(Fault::NotThere(lane));
            }
            let bits = self.memory.adjust(what, by.bits, true);
            self.registers[lane][usize::from(register)] = Value { bits, lost: false };
        }
        let ends = matches!(effects.next, Some(Target::Exit(_)));
        if ends && effects.request.as_ref().is_some_and(|sent| sent.asks.reads_later()) {
            return Err(Fault::Ends);
        }
        if let Some(Sent { asks: Asks::TailCall, .. }) = effects.request {
            return Ok(Next::Program(self.args[0] as u32 & (isa::SIZE_ROWS - 1)));
        }
        if let Some(sent) = effects.request {
            let bits = self.request(sent.asks, sent.key)?;
            if sent.answer {
                self.registers[0][usize::from(sent.dst)] = Value { bits, lost: false };
            }
        }
        Ok(effects.next.map_or(Next::Behind, Next::To))
    }

    fn request(&mut self, asks: Asks<()>, key: Option<Vec<u8>>) -> Result<u64, Fault> {
        let [a, b, c, ..] = self.args;
        Ok(match asks {
            Asks::Load { bytes, signed } => arith::loaded(self.load(a, bytes.count)?, bytes, signed),
            Asks::Store { bytes } => {
                self.store(a, bytes.count, arith::stored(b, bytes))?;
                0
            }
            Asks::Atomic { op, count } => {
                let old = self.load(a, count)?;
                let mask = if count == 8 { u64::MAX } else { u64::from(u32::MAX) };
                let new = match op {
                    AtomicOp::Add => old.wrapping_add(b),
                    AtomicOp::Or => old | b,
                    AtomicOp::And => old & b,
                    AtomicOp::Xor => old ^ b,
                    AtomicOp::Xchg => b,
                    AtomicOp::Cmpxchg if old == c & mask => b,
                    AtomicOp::Cmpxchg => old,
                };
                self.store(a, count, new & mask)?;
                old
            }
            Asks::Divide { signed, remainder, width } => divide(signed, remainder, width, a, b),
            asks => self.outside.call(&Asked { asks, args: self.args, key }, &mut self.memory),
        })
    }

    fn load(&mut self, address: u64, count: u8) -> Result<u64, Fault> {
        if address >= u64::from(isa::ADDRESS_UNIT_MAPS) {
            return Ok(self.outside.load(address, count));
        }
        load(&self.memory, address, count).ok_or(Fault::Wild)
    }

    fn store(&mut self, address: u64, count: u8, value: u64) -> Result<(), Fault> {
        if address >= u64::from(isa::ADDRESS_UNIT_MAPS) {
            self.outside.store(address, count, value);
            return Ok(());
        }
        self.write(address, &value.to_le_bytes()[..usize::from(count)])
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Fault> {
        self.memory.write(address, bytes).ok_or(Fault::Wild)
    }
}

/// Bytes of packet, metadata or stack, the lowest address in the lowest bits; None unless all of them exist.
fn load(memory: &Memory, address: u64, count: u8) -> Option<u64> {
    let end = address.checked_add(count.into())?;
    let inside = address >= memory.special(Special::DataMeta)? && end <= memory.special(Special::DataEnd)?;
    if !inside && address < isa::ADDRESS_STACK.into() {
        return None;
    }
    let bytes = memory.read(address, count.into())?;
    Some(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}
