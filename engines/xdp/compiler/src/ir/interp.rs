// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Executes a program, word by word as the form defines it: the reference for passes.

use super::{Adjust, Arg, BinOp, BlockId, Edge, End, Op, Place, Program, Space, Special, ValueId};
use crate::check::Helper;
use crate::insn::{AtomicOp, Cond, Width};
use crate::rows::isa;

/// The places of the packet's buffer and the stack (engines/xdp/core.md).
pub(super) const PACKET: u64 = 0x1_0000;
pub(super) const STACK: u64 = 0x2_0000;
/// Bytes of the packet's buffer, and of those before a packet.
pub(super) const BUFFER_BYTES: usize = 4096;
pub(super) const HEADROOM: usize = 256;
const STACK_BYTES: usize = 512;
/// Bytes of the headroom that Linux keeps for itself.
const RESERVED: i64 = 40;
/// The end of the longest packet.
const LAST_END: i64 = 3776;
/// Shortest packet that is left by moving its ends.
const SHORTEST: i64 = 14;
/// Longest metadata.
const LONGEST_META: i64 = 252;
/// The result of a refused request: -EINVAL.
const REFUSED: u64 = (-22i64).cast_unsigned();
/// The result for metadata that Linux refuses: -EACCES.
const DENIED: u64 = (-13i64).cast_unsigned();
/// Fills bytes whose contents are unspecified.
const ANYTHING: u8 = 0xA5;
/// Instructions, or blocks, after which a program counts as endless.
const MAX_STEPS: usize = 1_000_000;

/// The memory of a program that is being carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    buffer: Vec<u8>,
    stack: [u8; STACK_BYTES],
    /// Offsets in the buffer of the metadata's beginning, of the packet's beginning, and of the byte after its last
    /// one.
    meta: i64,
    data: i64,
    end: i64,
}

impl Memory {
    /// With a packet of at most 3,520 bytes.
    pub fn new(packet: &[u8]) -> Memory {
        let mut buffer = vec![0; BUFFER_BYTES];
        let bytes = packet.len().min(LAST_END as usize - HEADROOM);
        buffer[HEADROOM..HEADROOM + bytes].copy_from_slice(&packet[..bytes]);
        let data = HEADROOM as i64;
        Memory { buffer, stack: [0; STACK_BYTES], meta: data, data, end: data + bytes as i64 }
    }

    /// The packet's bytes.
    pub fn packet(&self) -> &[u8] {
        &self.buffer[self.data as usize..self.end as usize]
    }

    /// The metadata before the packet.
    pub fn metadata(&self) -> &[u8] {
        &self.buffer[self.meta as usize..self.data as usize]
    }

    fn address(at: i64) -> u64 {
        PACKET.wrapping_add_signed(at)
    }

    /// Bytes of the packet's buffer or the stack. None: the address is in neither.
    pub fn read(&self, address: u64, bytes: u32) -> Option<Vec<u8>> {
        let part = |memory: &[u8], base: u64| {
            let from = usize::try_from(address.checked_sub(base)?).ok()?;
            memory.get(from..from.checked_add(bytes as usize)?).map(<[u8]>::to_vec)
        };
        part(&self.buffer, PACKET).or_else(|| part(&self.stack, STACK))
    }

    /// Writes bytes of the packet or the stack. None: the address is in neither.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Option<()> {
        let (memory, from) = if address >= STACK {
            (&mut self.stack[..], usize::try_from(address - STACK).ok()?)
        } else {
            let from = i64::try_from(address.checked_sub(PACKET)?).ok()?;
            if from < self.meta || from + bytes.len() as i64 > self.end {
                return None;
            }
            (&mut self.buffer[..], from as usize)
        };
        memory.get_mut(from..from.checked_add(bytes.len())?)?.copy_from_slice(bytes);
        Some(())
    }

    /// Bytes of the packet's buffer; every address reads some byte, so loads can be carried out early.
    fn window(&self, address: u64, bytes: u32) -> Vec<u8> {
        let from = address.wrapping_sub(PACKET);
        (0..u64::from(bytes)).map(|byte| self.buffer[from.wrapping_add(byte) as usize % BUFFER_BYTES]).collect()
    }

    /// A special that is about the packet or the stack.
    pub fn special(&self, special: Special) -> Option<u64> {
        Some(match special {
            Special::Data => Memory::address(self.data),
            Special::DataEnd => Memory::address(self.end),
            Special::DataMeta => Memory::address(self.meta),
            Special::Len => (self.end - self.data).cast_unsigned(),
            Special::Stack => STACK + STACK_BYTES as u64,
            _ => return None,
        })
    }

    /// Moves an end of the packet, as Linux does; `bare`: as the core does, whose new bytes at the tail are anything.
    pub fn adjust(&mut self, what: Adjust, by: u64, bare: bool) -> u64 {
        let by = i64::from(by as u32 as i32);
        let meta_bytes = self.data - self.meta;
        match what {
            Adjust::Head => {
                let data = self.data + by;
                if data < RESERVED + meta_bytes || data > self.end - SHORTEST {
                    return REFUSED;
                }
                if !bare {
                    self.buffer.copy_within(self.meta as usize..self.data as usize, (self.meta + by) as usize);
                }
                (self.meta, self.data) = (self.meta + by, data);
            }
            Adjust::Meta => {
                let meta = self.meta + by;
                let bytes = self.data - meta;
                if meta < RESERVED || meta > self.data {
                    return REFUSED;
                }
                if bytes % 4 != 0 || bytes > LONGEST_META {
                    return DENIED;
                }
                self.meta = meta;
            }
            Adjust::Tail => {
                let end = self.end + by;
                if end > LAST_END || end < self.data + SHORTEST {
                    return REFUSED;
                }
                if end > self.end {
                    self.buffer[self.end as usize..end as usize].fill(if bare { ANYTHING } else { 0 });
                }
                self.end = end;
            }
        }
        0
    }
}

/// The environment of a program.
pub trait World {
    /// Bytes of memory that is neither the packet nor the stack. None: there is no such memory.
    fn read(&mut self, address: u64, bytes: u32) -> Option<Vec<u8>>;
    /// Writes them.
    fn write(&mut self, address: u64, bytes: &[u8]) -> Option<()>;
    /// Carries a helper out. None: there is no map of that name.
    fn call(&mut self, memory: &mut Memory, helper: &Helper, map: Option<u32>, args: &[u64]) -> Option<u64>;
    /// The packet's metadata as the core knows it.
    fn special(&mut self, special: Special) -> u64;
    /// Whether the object's program array of this index has a program at an index of its own.
    fn tail_call(&mut self, map: u32, index: u32) -> bool;
}

/// Why a program stopped that has no verdict.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum Stop {
    #[error("slot {slot}: {bytes} bytes at {address:#x} are {what}")]
    Memory { slot: usize, address: u64, bytes: u32, what: &'static str },
    #[error("slot {slot}: there is no {helper}() here")]
    Helper { slot: usize, helper: &'static str },
    #[error("slot {slot}: v{value} has no value yet")]
    Unset { slot: usize, value: u32 },
    #[error("it does not end within {MAX_STEPS} steps")]
    Endless,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// The program's result; 0 if another program takes over.
    pub verdict: u32,
    /// Instructions that were carried out, branches and exits among them.
    pub steps: usize,
    /// The program that takes over; the verdict is then none.
    pub next: Option<Next>,
}

/// A program that takes over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants' comments speak of their fields")]
pub enum Next {
    /// The object's program array of that index has it at `index`.
    Entry { map: u32, index: u32 },
    /// It begins with that row.
    Row(u32),
}

/// Carries a program out.
///
/// # Errors
/// If the program does something that the form does not allow: the reason.
pub fn run(program: &Program, memory: &mut Memory, world: &mut dyn World) -> Result<Outcome, Stop> {
    let mut run = Run { memory, world, values: vec![None; program.values as usize], slot: 0, steps: 0 };
    let mut at = BlockId(0);
    for _ in 0..MAX_STEPS {
        let block = program.block(at);
        for inst in &block.insts {
            run.slot = inst.slot;
            run.step()?;
            let value = run.op(&inst.op)?;
            if let Some(ValueId(result)) = inst.result {
                run.values[result as usize] = Some(value);
            }
        }
        run.slot = block.end_slot;
        let edge = match &block.end {
            End::Jump(edge) => edge,
            End::Branch { cond, width, a, b, then, otherwise, .. } => {
                run.step()?;
                if holds(*cond, *width, run.get(*a)?, run.get(*b)?) { then } else { otherwise }
            }
            End::Exit(verdict) => {
                run.step()?;
                return Ok(Outcome { verdict: run.get(*verdict)? as u32, steps: run.steps, next: None });
            }
            End::TailCall { map, index, otherwise } => {
                run.step()?;
                let index = run.get(*index)? as u32;
                if run.world.tail_call(*map, index) {
                    let next = Some(Next::Entry { map: *map, index });
                    return Ok(Outcome { verdict: 0, steps: run.steps, next });
                }
                otherwise
            }
            End::Begin { row, .. } => {
                run.step()?;
                let row = run.get(*row)? as u32 & (isa::SIZE_ROWS - 1);
                return Ok(Outcome { verdict: 0, steps: run.steps, next: Some(Next::Row(row)) });
            }
        };
        at = run.follow(program, edge)?;
    }
    Err(Stop::Endless)
}

struct Run<'a> {
    memory: &'a mut Memory,
    world: &'a mut dyn World,
    values: Vec<Option<u64>>,
    slot: usize,
    steps: usize,
}

impl Run<'_> {
    fn step(&mut self) -> Result<(), Stop> {
        self.steps += 1;
        if self.steps > MAX_STEPS { Err(Stop::Endless) } else { Ok(()) }
    }

    fn get(&mut self, arg: Arg) -> Result<u64, Stop> {
        match arg {
            Arg::Const(value) => Ok(value),
            Arg::Special(special) => Ok(self.special(special)),
            Arg::Value(ValueId(value)) => self.values[value as usize].ok_or(Stop::Unset { slot: self.slot, value }),
        }
    }

    fn special(&mut self, special: Special) -> u64 {
        self.memory.special(special).unwrap_or_else(|| self.world.special(special))
    }

    /// Passes on the values of the parameters, all at once.
    fn follow(&mut self, program: &Program, edge: &Edge) -> Result<BlockId, Stop> {
        let given: Vec<u64> = edge.args.iter().map(|arg| self.get(*arg)).collect::<Result<_, _>>()?;
        for (param, value) in program.block(edge.to).params.iter().zip(given) {
            self.values[param.0 as usize] = Some(value);
        }
        Ok(edge.to)
    }

    fn op(&mut self, op: &Op) -> Result<u64, Stop> {
        Ok(match op {
            Op::Read(special) => self.special(*special),
            Op::Bin { op, width, a, b } => binary(*op, *width, self.get(*a)?, self.get(*b)?),
            Op::SignExtend { bits, width, a } => {
                let extended = sign(self.get(*a)?, u32::from(*bits));
                if *width == Width::W32 { extended & 0xffff_ffff } else { extended }
            }
            Op::Swap { bytes, a } => swapped(self.get(*a)?, u32::from(*bytes)),
            Op::Field { shift, bits, left, a } => ((self.get(*a)? >> shift) & ((1 << bits) - 1)) << left,
            Op::Set { cond, width, a, b } => u64::from(holds(*cond, *width, self.get(*a)?, self.get(*b)?)),
            Op::Load { place, signed, swap } => {
                let mut value = self.load(place)?;
                if *swap {
                    value = swapped(value, place.bytes);
                }
                if *signed { sign(value, place.bytes * 8) } else { value }
            }
            Op::Store { place, swap, value } => {
                let value = self.get(*value)?;
                self.store(place, if *swap { swapped(value, place.bytes) } else { value })?;
                0
            }
            Op::Atomic { op, place, value, expected } => {
                let (value, before) = (self.get(*value)?, self.load(place)?);
                let expected = expected.map(|expected| self.get(expected)).transpose()?;
                let mask = if place.bytes == 4 { 0xffff_ffff } else { u64::MAX };
                let after = match op {
                    AtomicOp::Add => before.wrapping_add(value),
                    AtomicOp::Or => before | value,
                    AtomicOp::And => before & value,
                    AtomicOp::Xor => before ^ value,
                    AtomicOp::Xchg => value,
                    AtomicOp::Cmpxchg if expected.is_some_and(|expected| expected & mask == before) => value,
                    AtomicOp::Cmpxchg => before,
                };
                self.store(place, after)?;
                before
            }
            Op::Adjust { what, by, bare } => {
                let by = self.get(*by)?;
                self.memory.adjust(*what, by, *bare)
            }
            Op::Call { helper, map, args, .. } => {
                let args: Vec<u64> = args.iter().map(|arg| self.get(*arg)).collect::<Result<_, _>>()?;
                let missing = Stop::Helper { slot: self.slot, helper: helper.name };
                self.world.call(self.memory, helper, *map, &args).ok_or(missing)?
            }
        })
    }

    fn load(&mut self, place: &Place) -> Result<u64, Stop> {
        let address = self.get(place.base)?.wrapping_add_signed(place.offset.into());
        let bytes = match self.memory.read(address, place.bytes) {
            _ if place.space == Space::Packet => Some(self.memory.window(address, place.bytes)),
            None if place.space != Space::Stack => self.world.read(address, place.bytes),
            bytes => bytes,
        };
        let bytes = bytes.ok_or_else(|| self.fault(address, place.bytes, "not there"))?;
        Ok(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    fn store(&mut self, place: &Place, value: u64) -> Result<(), Stop> {
        let address = self.get(place.base)?.wrapping_add_signed(place.offset.into());
        let bytes = &value.to_le_bytes()[..place.bytes as usize];
        let done = match self.memory.write(address, bytes) {
            None if !matches!(place.space, Space::Stack | Space::Packet) => self.world.write(address, bytes),
            done => done,
        };
        done.ok_or_else(|| self.fault(address, place.bytes, "not there to be written"))
    }

    fn fault(&self, address: u64, bytes: u32, what: &'static str) -> Stop {
        Stop::Memory { slot: self.slot, address, bytes, what }
    }
}

fn sign(value: u64, bits: u32) -> u64 {
    let above = 64 - bits;
    ((value << above).cast_signed() >> above).cast_unsigned()
}

fn swapped(value: u64, bytes: u32) -> u64 {
    value.swap_bytes() >> (64 - 8 * bytes)
}

fn binary(op: BinOp, width: Width, a: u64, b: u64) -> u64 {
    match width {
        Width::W64 => {
            let (x, y, by) = (a.cast_signed(), b.cast_signed(), b as u32 % 64);
            match op {
                BinOp::Add => a.wrapping_add(b),
                BinOp::Sub => a.wrapping_sub(b),
                BinOp::Mul => a.wrapping_mul(b),
                BinOp::And => a & b,
                BinOp::Or => a | b,
                BinOp::Xor => a ^ b,
                BinOp::Lsh => a << by,
                BinOp::Rsh => a >> by,
                BinOp::Arsh => (x >> by).cast_unsigned(),
                BinOp::Div => a.checked_div(b).unwrap_or(0),
                BinOp::Mod => a.checked_rem(b).unwrap_or(a),
                BinOp::Sdiv if b == 0 => 0,
                BinOp::Sdiv => x.wrapping_div(y).cast_unsigned(),
                BinOp::Smod if b == 0 => a,
                BinOp::Smod => x.wrapping_rem(y).cast_unsigned(),
            }
        }
        Width::W32 => {
            let (a, b) = (a as u32, b as u32);
            let (x, y, by) = (a.cast_signed(), b.cast_signed(), b % 32);
            u64::from(match op {
                BinOp::Add => a.wrapping_add(b),
                BinOp::Sub => a.wrapping_sub(b),
                BinOp::Mul => a.wrapping_mul(b),
                BinOp::And => a & b,
                BinOp::Or => a | b,
                BinOp::Xor => a ^ b,
                BinOp::Lsh => a << by,
                BinOp::Rsh => a >> by,
                BinOp::Arsh => (x >> by).cast_unsigned(),
                BinOp::Div => a.checked_div(b).unwrap_or(0),
                BinOp::Mod => a.checked_rem(b).unwrap_or(a),
                BinOp::Sdiv if b == 0 => 0,
                BinOp::Sdiv => x.wrapping_div(y).cast_unsigned(),
                BinOp::Smod if b == 0 => a,
                BinOp::Smod => x.wrapping_rem(y).cast_unsigned(),
            })
        }
    }
}

fn holds(cond: Cond, width: Width, a: u64, b: u64) -> bool {
    let (a, b) = if width == Width::W32 { (a & 0xffff_ffff, b & 0xffff_ffff) } else { (a, b) };
    let bits = if width == Width::W32 { 32 } else { 64 };
    let (x, y) = (sign(a, bits).cast_signed(), sign(b, bits).cast_signed());
    match cond {
        Cond::Eq => a == b,
        Cond::Ne => a != b,
        Cond::Set => a & b != 0,
        Cond::Gt => a > b,
        Cond::Ge => a >= b,
        Cond::Lt => a < b,
        Cond::Le => a <= b,
        Cond::Sgt => x > y,
        Cond::Sge => x >= y,
        Cond::Slt => x < y,
        Cond::Sle => x <= y,
    }
}
