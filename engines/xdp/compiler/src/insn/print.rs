// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Instructions in the notation of the kernel's log and of llvm-objdump.

use std::fmt::{self, Display, Formatter};

use super::{AluOp, AtomicOp, Callee, Cond, Imm64, Insn, Operand, Reg, Size, Swap, Width};

impl Display for Reg {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.number())
    }
}

/// A register as an operation of that width names it.
struct Sized(Width, Reg);

impl Display for Sized {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let letter = if self.0 == Width::W64 { 'r' } else { 'w' };
        write!(f, "{letter}{}", self.1.number())
    }
}

/// An operand as an operation of that width names it.
struct Value(Width, Operand);

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.1 {
            Operand::Reg(reg) => Sized(self.0, reg).fmt(f),
            Operand::Imm(imm) => imm.fmt(f),
        }
    }
}

impl Display for Size {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "u{}", self.bits())
    }
}

impl Display for Cond {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cond::Eq => "==",
            Cond::Ne => "!=",
            Cond::Set => "&",
            Cond::Gt => ">",
            Cond::Ge => ">=",
            Cond::Lt => "<",
            Cond::Le => "<=",
            Cond::Sgt => "s>",
            Cond::Sge => "s>=",
            Cond::Slt => "s<",
            Cond::Sle => "s<=",
        })
    }
}

fn assignment(op: AluOp) -> &'static str {
    match op {
        AluOp::Add => "+=",
        AluOp::Sub => "-=",
        AluOp::Mul => "*=",
        AluOp::Div => "/=",
        AluOp::Sdiv => "s/=",
        AluOp::Or => "|=",
        AluOp::And => "&=",
        AluOp::Lsh => "<<=",
        AluOp::Rsh => ">>=",
        AluOp::Mod => "%=",
        AluOp::Smod => "s%=",
        AluOp::Xor => "^=",
        AluOp::Mov => "=",
        AluOp::Arsh => "s>>=",
    }
}

fn imm64(imm: Imm64, f: &mut Formatter<'_>) -> fmt::Result {
    match imm {
        Imm64::Value(value) => write!(f, "{value:#x} ll"),
        Imm64::MapFd(fd) => write!(f, "map_fd({fd})"),
        Imm64::MapFdValue { fd, offset } => write!(f, "map_fd({fd})[0]+{offset}"),
        Imm64::Variable { id, object } => write!(f, "variable({id}, {object})"),
        Imm64::Function(offset) => write!(f, "function pc{offset:+}"),
        Imm64::Map(map) => write!(f, "map({map})"),
        Imm64::MapValue { map, offset } => write!(f, "map({map})[0]+{offset}"),
    }
}

fn atomic(insn: &Insn, f: &mut Formatter<'_>) -> fmt::Result {
    let Insn::Atomic { op, width, fetch, base, offset, src } = *insn else { return Ok(()) };
    let bits = if width == Width::W64 { 64 } else { 32 };
    let place = format_args!("(u{bits} *)({base} {offset:+})").to_string();
    let src = Sized(width, src);
    let name = match op {
        AtomicOp::Xchg if width == Width::W64 => return write!(f, "{src} = xchg_64({place}, {src})"),
        AtomicOp::Xchg => return write!(f, "{src} = xchg32_32({place}, {src})"),
        AtomicOp::Cmpxchg => {
            let (r0, name) = (Sized(width, Reg::R0), if width == Width::W64 { "cmpxchg_64" } else { "cmpxchg32_32" });
            return write!(f, "{r0} = {name}({place}, {r0}, {src})");
        }
        AtomicOp::Add => ("add", "+="),
        AtomicOp::Or => ("or", "|="),
        AtomicOp::And => ("and", "&="),
        AtomicOp::Xor => ("xor", "^="),
    };
    if fetch {
        write!(f, "{src} = atomic_fetch_{}({place}, {src})", name.0)
    } else {
        write!(f, "lock *{place} {} {src}", name.1)
    }
}

impl Display for Insn {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Insn::Alu { op, width, dst, src } => {
                write!(f, "{} {} {}", Sized(width, dst), assignment(op), Value(width, src))
            }
            Insn::Neg { width, dst } => write!(f, "{0} = -{0}", Sized(width, dst)),
            Insn::MovSx { width, from, dst, src } => {
                write!(f, "{} = (s{}){}", Sized(width, dst), from.bits(), Sized(width, src))
            }
            Insn::Swap { kind, size, dst } => {
                let name = match kind {
                    Swap::ToLe => "le",
                    Swap::ToBe => "be",
                    Swap::Always => "bswap",
                };
                write!(f, "{dst} = {name}{} {dst}", size.bits())
            }
            Insn::LoadImm64 { dst, imm } => {
                write!(f, "{dst} = ")?;
                imm64(imm, f)
            }
            Insn::Load { size, signed, dst, base, offset } => {
                let letter = if signed { 's' } else { 'u' };
                write!(f, "{dst} = *({letter}{} *)({base} {offset:+})", size.bits())
            }
            Insn::Store { size, base, offset, src } => {
                write!(f, "*({size} *)({base} {offset:+}) = {}", Value(Width::W64, src))
            }
            Insn::Atomic { .. } => atomic(self, f),
            Insn::Jump { offset, long: false } => write!(f, "goto pc{offset:+}"),
            Insn::Jump { offset, long: true } => write!(f, "gotol pc{offset:+}"),
            Insn::Branch { cond, width, left, right, offset } => {
                write!(f, "if {} {cond} {} goto pc{offset:+}", Sized(width, left), Value(width, right))
            }
            Insn::Call(Callee::Helper(id)) => write!(f, "call {id}"),
            Insn::Call(Callee::Local(offset)) => write!(f, "call pc{offset:+}"),
            Insn::Exit => f.write_str("exit"),
        }
    }
}
