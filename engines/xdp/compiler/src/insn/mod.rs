// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The eBPF instruction set, as RFC 9669 has it.
//!
//! An [`Insn`] takes one 64-bit *slot* of a program, a 64-bit immediate load takes two. Offsets of jumps and calls
//! count slots from the one behind the instruction.

mod code;
mod decode;
mod encode;
mod print;

pub use code::{Code, CodeError};
pub use decode::{DecodeError, decode};

/// Bytes of a slot.
pub const SLOT_BYTES: usize = 8;

/// A register, r0 to r10. r10 holds the end of the stack frame and cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(u8);

impl Reg {
    /// Result of calls, and of the program.
    pub const R0: Reg = Reg(0);
    /// First argument of calls; the context at the program's entry.
    pub const R1: Reg = Reg(1);
    /// Second argument.
    pub const R2: Reg = Reg(2);
    /// Third argument.
    pub const R3: Reg = Reg(3);
    /// Fourth argument.
    pub const R4: Reg = Reg(4);
    /// Fifth argument.
    pub const R5: Reg = Reg(5);
    /// The first register that calls preserve.
    pub const R6: Reg = Reg(6);
    /// The last register that calls preserve.
    pub const R9: Reg = Reg(9);
    /// The frame pointer.
    pub const FP: Reg = Reg(10);
    /// How many there are.
    pub const COUNT: usize = 11;

    /// The register of that number, if there is one.
    pub fn new(number: u8) -> Option<Reg> {
        (usize::from(number) < Reg::COUNT).then_some(Reg(number))
    }

    /// Its number, 0 to 10.
    pub fn number(self) -> u8 {
        self.0
    }

    /// Its number, as an index.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The registers from one to another, both included.
    pub fn range(first: Reg, last: Reg) -> impl Iterator<Item = Reg> {
        (first.0..=last.0).map(Reg)
    }
}

/// Whether an operation works on all 64 bits or on the lower 32, whose result clears the upper ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Width {
    /// The lower 32 bits; the upper half of the result is 0.
    W32,
    /// All 64 bits.
    W64,
}

/// How many bytes a load or store moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Size {
    /// One byte.
    B1,
    /// Two bytes.
    B2,
    /// Four bytes.
    B4,
    /// Eight bytes.
    B8,
}

impl Size {
    /// 1, 2, 4 or 8.
    pub fn bytes(self) -> u32 {
        match self {
            Size::B1 => 1,
            Size::B2 => 2,
            Size::B4 => 4,
            Size::B8 => 8,
        }
    }

    /// 8, 16, 32 or 64.
    pub fn bits(self) -> u32 {
        self.bytes() * 8
    }
}

/// The second operand of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operand {
    /// The register's value.
    Reg(Reg),
    /// Extended with its sign to 64 bits.
    Imm(i32),
}

/// An arithmetic operation on two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AluOp {
    /// Sum, modulo the width.
    Add,
    /// Left operand minus right operand, modulo the width.
    Sub,
    /// Product, modulo the width.
    Mul,
    /// Unsigned; by zero it gives 0.
    Div,
    /// Signed; by zero it gives 0.
    Sdiv,
    /// Bitwise or.
    Or,
    /// Bitwise and.
    And,
    /// Shift left, by the right operand modulo the width.
    Lsh,
    /// Shift right with zeros, by the right operand modulo the width.
    Rsh,
    /// Unsigned; by zero it leaves the left operand.
    Mod,
    /// Signed; by zero it leaves the left operand.
    Smod,
    /// Bitwise exclusive or.
    Xor,
    /// The right operand.
    Mov,
    /// Shift right with copies of the sign, by the right operand modulo the width.
    Arsh,
}

/// A byte-order operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Swap {
    /// To little endian: on a little-endian machine it only cuts the value.
    ToLe,
    /// To big endian.
    ToBe,
    /// Always.
    Always,
}

/// The condition of a conditional jump.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cond {
    /// Both are equal.
    Eq,
    /// They differ.
    Ne,
    /// Some bit is set in both.
    Set,
    /// Left above right, unsigned.
    Gt,
    /// Left above right or equal, unsigned.
    Ge,
    /// Left below right, unsigned.
    Lt,
    /// Left below right or equal, unsigned.
    Le,
    /// Left above right, signed.
    Sgt,
    /// Left above right or equal, signed.
    Sge,
    /// Left below right, signed.
    Slt,
    /// Left below right or equal, signed.
    Sle,
}

/// An atomic operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AtomicOp {
    /// Adds to memory.
    Add,
    /// Bitwise or into memory.
    Or,
    /// Bitwise and into memory.
    And,
    /// Bitwise exclusive or into memory.
    Xor,
    /// Always fetches.
    Xchg,
    /// Compares with r0, and always fetches into r0.
    Cmpxchg,
}

/// The meaning of a 64-bit immediate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants' comments speak of their fields")]
pub enum Imm64 {
    /// A number.
    Value(u64),
    /// The map of a file descriptor.
    MapFd(i32),
    /// An address in the first value of the map of a file descriptor.
    MapFdValue { fd: i32, offset: u32 },
    /// A variable of the platform, by its BTF type.
    Variable { id: i32, object: i32 },
    /// The address of a function, as the offset from the slot after this instruction's first.
    Function(i32),
    /// The map of that index: here, in the object's list of maps.
    Map(u32),
    /// An address in the first value of the map of that index.
    MapValue { map: u32, offset: u32 },
}

/// What is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Callee {
    /// A helper function, by its number.
    Helper(u32),
    /// A function of the program, as the offset from the slot after the call.
    Local(i32),
}

/// An instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants' comments speak of their fields")]
pub enum Insn {
    /// `dst = dst op src`.
    Alu { op: AluOp, width: Width, dst: Reg, src: Operand },
    /// `dst = -dst`.
    Neg { width: Width, dst: Reg },
    /// Moves the lower bytes, extended with their sign. `from` is smaller than `width`.
    MovSx { width: Width, from: Size, dst: Reg, src: Reg },
    /// Byte order of the lower bytes; the upper ones are cleared.
    Swap { kind: Swap, size: Size, dst: Reg },
    /// `dst` takes the 64-bit immediate; the only instruction of two slots.
    LoadImm64 { dst: Reg, imm: Imm64 },
    /// `dst = *(base + offset)`, extended with the sign if `signed`, else with zeros.
    Load { size: Size, signed: bool, dst: Reg, base: Reg, offset: i16 },
    /// `*(base + offset) = src`.
    Store { size: Size, base: Reg, offset: i16, src: Operand },
    /// `*(base + offset) op= src`; if `fetch`, `src` takes the old value.
    Atomic { op: AtomicOp, width: Width, fetch: bool, base: Reg, offset: i16, src: Reg },
    /// `long` jumps take their offset from the 32-bit field.
    Jump { offset: i32, long: bool },
    /// Jumps `offset` slots beyond the next if `left cond right`.
    Branch { cond: Cond, width: Width, left: Reg, right: Operand, offset: i16 },
    /// Calls with arguments in r1 to r5; r0 takes the result.
    Call(Callee),
    /// Returns from the function with r0; ends the program in its first function.
    Exit,
}

impl Insn {
    /// 2 for a 64-bit immediate load, 1 for all others.
    pub fn slots(self) -> usize {
        if matches!(self, Insn::LoadImm64 { .. }) { 2 } else { 1 }
    }

    /// Its maximum jump distance, from the slot after it.
    pub fn jump_offset(self) -> Option<i64> {
        match self {
            Insn::Jump { offset, .. } => Some(offset.into()),
            Insn::Branch { offset, .. } => Some(offset.into()),
            _ => None,
        }
    }

    /// Whether the next instruction in order may follow.
    pub fn falls_through(self) -> bool {
        !matches!(self, Insn::Exit | Insn::Jump { .. })
    }

    /// The register it writes, calls aside.
    pub fn writes(self) -> Option<Reg> {
        match self {
            Insn::Alu { dst, .. }
            | Insn::Neg { dst, .. }
            | Insn::MovSx { dst, .. }
            | Insn::Swap { dst, .. }
            | Insn::LoadImm64 { dst, .. }
            | Insn::Load { dst, .. } => Some(dst),
            Insn::Atomic { op: AtomicOp::Cmpxchg, .. } => Some(Reg::R0),
            Insn::Atomic { fetch: true, src, .. } => Some(src),
            Insn::Call(_) => Some(Reg::R0),
            _ => None,
        }
    }
}
