// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! From an instruction to bytes, and the numbers that both directions share (RFC 9669, sections 3 to 5).

use super::{AluOp, AtomicOp, Callee, Cond, Imm64, Insn, Operand, Size, Swap, Width};

/// Instruction classes.
pub(super) mod class {
    pub(crate) const LD: u8 = 0;
    pub(crate) const LDX: u8 = 1;
    pub(crate) const ST: u8 = 2;
    pub(crate) const STX: u8 = 3;
    pub(crate) const ALU: u8 = 4;
    pub(crate) const JMP: u8 = 5;
    pub(crate) const JMP32: u8 = 6;
    pub(crate) const ALU64: u8 = 7;
}

/// Modes and sizes of loads and stores.
pub(super) mod mode {
    pub(crate) const IMM: u8 = 0x00;
    pub(crate) const ABS: u8 = 0x20;
    pub(crate) const IND: u8 = 0x40;
    pub(crate) const MEM: u8 = 0x60;
    pub(crate) const MEMSX: u8 = 0x80;
    pub(crate) const ATOMIC: u8 = 0xc0;
    pub(crate) const W: u8 = 0x00;
    pub(crate) const H: u8 = 0x08;
    pub(crate) const B: u8 = 0x10;
    pub(crate) const DW: u8 = 0x18;
}

/// Operations.
pub(super) mod op {
    /// The second operand is a register.
    pub(crate) const X: u8 = 0x08;
    pub(crate) const ADD: u8 = 0x00;
    pub(crate) const SUB: u8 = 0x10;
    pub(crate) const MUL: u8 = 0x20;
    pub(crate) const DIV: u8 = 0x30;
    pub(crate) const OR: u8 = 0x40;
    pub(crate) const AND: u8 = 0x50;
    pub(crate) const LSH: u8 = 0x60;
    pub(crate) const RSH: u8 = 0x70;
    pub(crate) const NEG: u8 = 0x80;
    pub(crate) const MOD: u8 = 0x90;
    pub(crate) const XOR: u8 = 0xa0;
    pub(crate) const MOV: u8 = 0xb0;
    pub(crate) const ARSH: u8 = 0xc0;
    pub(crate) const END: u8 = 0xd0;
    pub(crate) const JA: u8 = 0x00;
    pub(crate) const JEQ: u8 = 0x10;
    pub(crate) const JGT: u8 = 0x20;
    pub(crate) const JGE: u8 = 0x30;
    pub(crate) const JSET: u8 = 0x40;
    pub(crate) const JNE: u8 = 0x50;
    pub(crate) const JSGT: u8 = 0x60;
    pub(crate) const JSGE: u8 = 0x70;
    pub(crate) const CALL: u8 = 0x80;
    pub(crate) const EXIT: u8 = 0x90;
    pub(crate) const JLT: u8 = 0xa0;
    pub(crate) const JLE: u8 = 0xb0;
    pub(crate) const JSLT: u8 = 0xc0;
    pub(crate) const JSLE: u8 = 0xd0;
    pub(crate) const FETCH: i32 = 0x01;
    pub(crate) const ATOMIC_ADD: i32 = 0x00;
    pub(crate) const ATOMIC_OR: i32 = 0x40;
    pub(crate) const ATOMIC_AND: i32 = 0x50;
    pub(crate) const ATOMIC_XOR: i32 = 0xa0;
    pub(crate) const ATOMIC_XCHG: i32 = 0xe0;
    pub(crate) const ATOMIC_CMPXCHG: i32 = 0xf0;
}

/// The source register field of calls and 64-bit immediate loads.
pub(super) mod pseudo {
    pub(crate) const CALL_HELPER: u8 = 0;
    pub(crate) const CALL_LOCAL: u8 = 1;
    pub(crate) const CALL_KFUNC: u8 = 2;
    pub(crate) const IMM_VALUE: u8 = 0;
    pub(crate) const IMM_MAP_FD: u8 = 1;
    pub(crate) const IMM_MAP_FD_VALUE: u8 = 2;
    pub(crate) const IMM_VARIABLE: u8 = 3;
    pub(crate) const IMM_FUNCTION: u8 = 4;
    pub(crate) const IMM_MAP: u8 = 5;
    pub(crate) const IMM_MAP_VALUE: u8 = 6;
}

fn slot(opcode: u8, dst: u8, src: u8, offset: i16, imm: i32) -> [u8; 8] {
    let offset = offset.to_le_bytes();
    let imm = imm.to_le_bytes();
    [opcode, dst | src << 4, offset[0], offset[1], imm[0], imm[1], imm[2], imm[3]]
}

fn operand(operand: Operand) -> (u8, u8, i32) {
    match operand {
        Operand::Reg(reg) => (op::X, reg.number(), 0),
        Operand::Imm(imm) => (0, 0, imm),
    }
}

fn size(size: Size) -> u8 {
    match size {
        Size::B1 => mode::B,
        Size::B2 => mode::H,
        Size::B4 => mode::W,
        Size::B8 => mode::DW,
    }
}

fn alu_class(width: Width) -> u8 {
    match width {
        Width::W32 => class::ALU,
        Width::W64 => class::ALU64,
    }
}

fn alu(op: AluOp) -> (u8, i16) {
    match op {
        AluOp::Add => (op::ADD, 0),
        AluOp::Sub => (op::SUB, 0),
        AluOp::Mul => (op::MUL, 0),
        AluOp::Div => (op::DIV, 0),
        AluOp::Sdiv => (op::DIV, 1),
        AluOp::Or => (op::OR, 0),
        AluOp::And => (op::AND, 0),
        AluOp::Lsh => (op::LSH, 0),
        AluOp::Rsh => (op::RSH, 0),
        AluOp::Mod => (op::MOD, 0),
        AluOp::Smod => (op::MOD, 1),
        AluOp::Xor => (op::XOR, 0),
        AluOp::Mov => (op::MOV, 0),
        AluOp::Arsh => (op::ARSH, 0),
    }
}

fn cond(cond: Cond) -> u8 {
    match cond {
        Cond::Eq => op::JEQ,
        Cond::Ne => op::JNE,
        Cond::Set => op::JSET,
        Cond::Gt => op::JGT,
        Cond::Ge => op::JGE,
        Cond::Lt => op::JLT,
        Cond::Le => op::JLE,
        Cond::Sgt => op::JSGT,
        Cond::Sge => op::JSGE,
        Cond::Slt => op::JSLT,
        Cond::Sle => op::JSLE,
    }
}

/// Source register, lower and upper half of a 64-bit immediate load.
fn imm64(imm: Imm64) -> (u8, i32, i32) {
    match imm {
        Imm64::Value(value) => (pseudo::IMM_VALUE, (value as u32).cast_signed(), ((value >> 32) as u32).cast_signed()),
        Imm64::MapFd(fd) => (pseudo::IMM_MAP_FD, fd, 0),
        Imm64::MapFdValue { fd, offset } => (pseudo::IMM_MAP_FD_VALUE, fd, offset.cast_signed()),
        Imm64::Variable { id, object } => (pseudo::IMM_VARIABLE, id, object),
        Imm64::Function(offset) => (pseudo::IMM_FUNCTION, offset, 0),
        Imm64::Map(map) => (pseudo::IMM_MAP, map.cast_signed(), 0),
        Imm64::MapValue { map, offset } => (pseudo::IMM_MAP_VALUE, map.cast_signed(), offset.cast_signed()),
    }
}

impl Insn {
    /// Its slot, and the second one of a 64-bit immediate load.
    pub fn encode(self) -> ([u8; 8], Option<[u8; 8]>) {
        let one = match self {
            Insn::Alu { op, width, dst, src } => {
                let (code, offset) = alu(op);
                let (x, src, imm) = operand(src);
                slot(alu_class(width) | code | x, dst.number(), src, offset, imm)
            }
            Insn::Neg { width, dst } => slot(alu_class(width) | op::NEG, dst.number(), 0, 0, 0),
            Insn::MovSx { width, from, dst, src } => {
                slot(alu_class(width) | op::MOV | op::X, dst.number(), src.number(), from.bits() as i16, 0)
            }
            Insn::Swap { kind, size, dst } => {
                let opcode = match kind {
                    Swap::ToLe => class::ALU | op::END,
                    Swap::ToBe => class::ALU | op::END | op::X,
                    Swap::Always => class::ALU64 | op::END,
                };
                slot(opcode, dst.number(), 0, 0, size.bits().cast_signed())
            }
            Insn::LoadImm64 { dst, imm } => {
                let (src, low, high) = imm64(imm);
                let first = slot(class::LD | mode::IMM | mode::DW, dst.number(), src, 0, low);
                return (first, Some(slot(0, 0, 0, 0, high)));
            }
            Insn::Load { size: bytes, signed, dst, base, offset } => {
                let mode = if signed { mode::MEMSX } else { mode::MEM };
                slot(class::LDX | mode | size(bytes), dst.number(), base.number(), offset, 0)
            }
            Insn::Store { size: bytes, base, offset, src } => {
                let (x, src, imm) = operand(src);
                let class = if x == 0 { class::ST } else { class::STX };
                slot(class | mode::MEM | size(bytes), base.number(), src, offset, imm)
            }
            Insn::Atomic { op, width, fetch, base, offset, src } => {
                let code = match op {
                    AtomicOp::Add => op::ATOMIC_ADD,
                    AtomicOp::Or => op::ATOMIC_OR,
                    AtomicOp::And => op::ATOMIC_AND,
                    AtomicOp::Xor => op::ATOMIC_XOR,
                    AtomicOp::Xchg => op::ATOMIC_XCHG,
                    AtomicOp::Cmpxchg => op::ATOMIC_CMPXCHG,
                };
                let size = if width == Width::W64 { mode::DW } else { mode::W };
                let imm = if fetch { code | op::FETCH } else { code };
                slot(class::STX | mode::ATOMIC | size, base.number(), src.number(), offset, imm)
            }
            Insn::Jump { offset, long: false } => slot(class::JMP | op::JA, 0, 0, offset as i16, 0),
            Insn::Jump { offset, long: true } => slot(class::JMP32 | op::JA, 0, 0, 0, offset),
            Insn::Branch { cond: condition, width, left, right, offset } => {
                let class = if width == Width::W64 { class::JMP } else { class::JMP32 };
                let (x, src, imm) = operand(right);
                slot(class | cond(condition) | x, left.number(), src, offset, imm)
            }
            Insn::Call(Callee::Helper(id)) => slot(class::JMP | op::CALL, 0, pseudo::CALL_HELPER, 0, id.cast_signed()),
            Insn::Call(Callee::Local(offset)) => slot(class::JMP | op::CALL, 0, pseudo::CALL_LOCAL, 0, offset),
            Insn::Exit => slot(class::JMP | op::EXIT, 0, 0, 0, 0),
        };
        (one, None)
    }
}
