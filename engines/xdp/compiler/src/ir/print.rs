// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A program as text, one line for each instruction.

use std::fmt::{self, Display, Formatter};

use super::{Adjust, Arg, BinOp, Block, Edge, End, Inst, Op, Place, Program, Space, Special, ValueId};
use crate::insn::{AtomicOp, Cond, Width};

impl Display for Arg {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Arg::Value(ValueId(value)) => write!(f, "v{value}"),
            Arg::Const(value) if *value > 0x7fff_ffff_ffff_ffff => write!(f, "-{:#x}", value.wrapping_neg()),
            Arg::Const(value @ 0..=255) => write!(f, "{value}"),
            Arg::Const(value) => write!(f, "{value:#x}"),
            Arg::Special(special) => write!(f, "{special}"),
        }
    }
}

impl Display for Special {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Special::Data => "data",
            Special::DataEnd => "data_end",
            Special::DataMeta => "data_meta",
            Special::Len => "len",
            Special::Stack => "stack",
            Special::Ifindex => "ifindex",
            Special::Queue => "queue",
            Special::Egress => "egress",
            Special::Time => "time",
            Special::Cpu => "cpu",
            Special::Random => "random",
        })
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let space = match self.space {
            Space::Packet => "packet".into(),
            Space::Stack => "stack".into(),
            Space::Map(map) => format!("map{map}"),
            Space::Record => "record".into(),
            Space::Shared => "shared".into(),
            Space::Any => "any".to_owned(),
        };
        write!(f, "{space}.{}[{}{:+}]", self.bytes, self.base, self.offset)
    }
}

fn list<T: Display>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// A name with the width, where that is 32 bits.
fn wide(name: &str, width: Width) -> String {
    format!("{name}{}", if width == Width::W32 { "32" } else { "" })
}

impl Display for BinOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BinOp::Add => "add",
            BinOp::Sub => "sub",
            BinOp::Mul => "mul",
            BinOp::And => "and",
            BinOp::Or => "or",
            BinOp::Xor => "xor",
            BinOp::Lsh => "lsh",
            BinOp::Rsh => "rsh",
            BinOp::Arsh => "arsh",
            BinOp::Div => "div",
            BinOp::Sdiv => "sdiv",
            BinOp::Mod => "mod",
            BinOp::Smod => "smod",
        })
    }
}

fn condition(cond: Cond) -> &'static str {
    match cond {
        Cond::Eq => "eq",
        Cond::Ne => "ne",
        Cond::Set => "set",
        Cond::Gt => "gt",
        Cond::Ge => "ge",
        Cond::Lt => "lt",
        Cond::Le => "le",
        Cond::Sgt => "sgt",
        Cond::Sge => "sge",
        Cond::Slt => "slt",
        Cond::Sle => "sle",
    }
}

fn atomic(op: AtomicOp) -> &'static str {
    match op {
        AtomicOp::Add => "add",
        AtomicOp::Or => "or",
        AtomicOp::And => "and",
        AtomicOp::Xor => "xor",
        AtomicOp::Xchg => "xchg",
        AtomicOp::Cmpxchg => "cmpxchg",
    }
}

impl Display for Op {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let turned = |swap: bool| if swap { ".swap" } else { "" };
        match self {
            Op::Read(special) => write!(f, "read {special}"),
            Op::Bin { op, width, a, b } => write!(f, "{} {a}, {b}", wide(&op.to_string(), *width)),
            Op::SignExtend { bits, width, a } => write!(f, "{}.{bits} {a}", wide("extend", *width)),
            Op::Swap { bytes, a } => write!(f, "swap.{bytes} {a}"),
            Op::Field { shift, bits, left, a } => write!(f, "field {a} >> {shift}, {bits} bits, << {left}"),
            Op::Set { cond, width, a, b } => write!(f, "set.{} {a}, {b}", wide(condition(*cond), *width)),
            Op::Load { place, signed, swap } => {
                write!(f, "load{}{} {place}", if *signed { ".signed" } else { "" }, turned(*swap))
            }
            Op::Store { place, swap, value } => write!(f, "store{} {place}, {value}", turned(*swap)),
            Op::Atomic { op, place, value, expected } => {
                write!(f, "atomic.{} {place}, {value}", atomic(*op))?;
                expected.map_or(Ok(()), |expected| write!(f, " if {expected}"))
            }
            Op::Adjust { what, by, bare } => {
                let what = match what {
                    Adjust::Head => "head",
                    Adjust::Meta => "meta",
                    Adjust::Tail => "tail",
                };
                write!(f, "adjust.{what}{} {by}", if *bare { ".bare" } else { "" })
            }
            Op::Call { helper, map, args, reads, writes } => {
                write!(f, "call {}({})", helper.name, list(args))?;
                map.map_or(Ok(()), |map| write!(f, " map{map}"))?;
                if !reads.is_empty() {
                    write!(f, " reads {}", list(reads))?;
                }
                if writes.is_empty() { Ok(()) } else { write!(f, " writes {}", list(writes)) }
            }
        }
    }
}

impl Display for Inst {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.result {
            Some(ValueId(result)) => write!(f, "v{result} = {}", self.op),
            None => write!(f, "{}", self.op),
        }
    }
}

impl Display for Edge {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.args.is_empty() {
            write!(f, "b{}", self.to.0)
        } else {
            write!(f, "b{}({})", self.to.0, list(&self.args))
        }
    }
}

impl Display for End {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            End::Jump(edge) => write!(f, "jump {edge}"),
            End::Branch { cond, width, a, b, then, otherwise, packet_check } => {
                write!(f, "if {} {a}, {b} then {then} else {otherwise}", wide(condition(*cond), *width))?;
                let side = |there: bool| if there { "then" } else { "else" };
                packet_check.map_or(Ok(()), |(bytes, there)| write!(f, "  ; {bytes} bytes are there: {}", side(there)))
            }
            End::Exit(verdict) => write!(f, "exit {verdict}"),
            End::TailCall { map, index, otherwise } => write!(f, "tail map{map}[{index}] else {otherwise}"),
            End::Begin { row, otherwise } => write!(f, "begin {row} else {otherwise}"),
        }
    }
}

impl Display for Block {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for inst in &self.insts {
            writeln!(f, "    {inst}")?;
        }
        writeln!(f, "    {}", self.end)
    }
}

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (id, block) in self.iter() {
            let params: Vec<Arg> = block.params.iter().map(|param| Arg::Value(*param)).collect();
            let params = if params.is_empty() { String::new() } else { format!("({})", list(&params)) };
            write!(f, "b{}{params}:\n{block}", id.0)?;
        }
        Ok(())
    }
}
