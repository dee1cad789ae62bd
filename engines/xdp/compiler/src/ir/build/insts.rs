// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Instructions, one by one.

use super::live::variable;
use super::{BuildError, Builder};
use crate::check::{Access, MapRef, Operand as Known, Region};
use crate::insn::{AluOp, AtomicOp, Callee, Imm64, Insn, Operand, Reg, Size, Swap, Width};
use crate::ir::{Arg, BinOp, Edge, End, Op, Place, Space, Special};

impl Builder<'_> {
    pub(super) fn inst(&mut self, depth: usize, insn: Insn) -> Result<(), BuildError> {
        let get = |builder: &Self, reg| builder.state[variable(depth, reg)];
        match insn {
            Insn::Alu { op, width, dst, src } => {
                let b = self.operand(depth, width, src);
                let result = match (binary(op), width) {
                    (Some(op), _) => self.value(Op::Bin { op, width, a: get(self, dst), b }),
                    (None, Width::W32) if matches!(src, Operand::Reg(_)) => self.value(Op::low(b, 32)),
                    (None, _) => b,
                };
                self.set(depth, dst, result);
            }
            Insn::Neg { width, dst } => {
                let result = self.value(Op::Bin { op: BinOp::Sub, width, a: Arg::Const(0), b: get(self, dst) });
                self.set(depth, dst, result);
            }
            Insn::MovSx { width, from, dst, src } => {
                let result = self.value(Op::SignExtend { bits: from.bits() as u8, width, a: get(self, src) });
                self.set(depth, dst, result);
            }
            Insn::Swap { kind, size, dst } => {
                let a = get(self, dst);
                let op = match kind {
                    Swap::ToLe if size == Size::B8 => return Ok(()),
                    Swap::ToLe => Op::low(a, size.bits() as u8),
                    Swap::ToBe | Swap::Always => Op::Swap { bytes: size.bytes() as u8, a },
                };
                let result = self.value(op);
                self.set(depth, dst, result);
            }
            Insn::LoadImm64 { dst, imm } => {
                let number = self.wide(imm)?;
                self.set(depth, dst, Arg::Const(number));
            }
            Insn::Load { size, signed, dst, base, offset } => {
                let result = self.load(size, signed, get(self, base), offset)?;
                self.set(depth, dst, result);
            }
            Insn::Store { size, base, offset, src } => {
                let place = self.place(get(self, base), offset, size);
                let value = self.operand(depth, Width::W64, src);
                self.push(Op::Store { place, swap: false, value }, None);
            }
            Insn::Atomic { op, width, fetch, base, offset, src } => {
                let size = if width == Width::W64 { Size::B8 } else { Size::B4 };
                let place = self.place(get(self, base), offset, size);
                let expected = (op == AtomicOp::Cmpxchg).then(|| get(self, Reg::R0));
                let op_ = Op::Atomic { op, place, value: get(self, src), expected };
                match insn.writes() {
                    Some(dst) if fetch || expected.is_some() => {
                        let before = self.value(op_);
                        self.set(depth, dst, before);
                    }
                    _ => self.push(op_, None),
                }
            }
            Insn::Call(Callee::Helper(number)) => self.helper(depth, number)?,
            // The ends of runs are taken over as such.
            Insn::Call(Callee::Local(_)) | Insn::Jump { .. } | Insn::Branch { .. } | Insn::Exit => {}
        }
        Ok(())
    }

    pub(super) fn set(&mut self, depth: usize, reg: Reg, value: Arg) {
        self.state[variable(depth, reg)] = value;
    }

    /// An operand. A 32-bit operation clears the upper half.
    fn operand(&self, depth: usize, width: Width, operand: Operand) -> Arg {
        match (operand, width) {
            (Operand::Reg(reg), _) => self.state[variable(depth, reg)],
            (Operand::Imm(imm), Width::W32) => Arg::Const(imm.cast_unsigned().into()),
            (Operand::Imm(imm), Width::W64) => Arg::Const(i64::from(imm).cast_unsigned()),
        }
    }

    /// The value of a 64-bit immediate load.
    fn wide(&self, imm: Imm64) -> Result<u64, BuildError> {
        Ok(match imm {
            Imm64::Value(value) => value,
            Imm64::Map(map) => crate::ir::map_pointer(self.layout.number(map)),
            Imm64::MapValue { map, offset } => {
                let name = || self.object.maps.get(map as usize).map_or_else(String::new, |map| map.name.clone());
                let found = self.layout.array(map);
                let array = found.ok_or_else(|| BuildError::NoAddress(self.source.place(self.slot), name()))?;
                u64::from(array.address) + u64::from(offset)
            }
            // The checker lets none of these through.
            Imm64::MapFd(_) | Imm64::MapFdValue { .. } | Imm64::Variable { .. } | Imm64::Function(_) => 0,
        })
    }

    fn load(&mut self, size: Size, signed: bool, base: Arg, offset: i16) -> Result<Arg, BuildError> {
        match self.facts.insns[self.slot].left {
            Some(Known::Context) => Ok(match offset {
                0 => self.value(Op::Read(Special::Data)),
                4 => self.value(Op::Read(Special::DataEnd)),
                8 => self.value(Op::Read(Special::DataMeta)),
                12 => Arg::Special(Special::Ifindex),
                16 => Arg::Special(Special::Queue),
                _ => Arg::Special(Special::Egress),
            }),
            // If paths differ, the region of the access is known as long as all of them are memory.
            Some(Known::Mixed) if self.facts.insns[self.slot].accesses.is_empty() => {
                Err(BuildError::MixedContext(self.source.place(self.slot)))
            }
            _ => {
                if let Some(constant) = self.constant(size, signed) {
                    return Ok(Arg::Const(constant));
                }
                let place = self.place(base, offset, size);
                Ok(self.value(Op::Load { place, signed, swap: false }))
            }
        }
    }

    /// The value of a load from global constants at a known place.
    fn constant(&self, size: Size, signed: bool) -> Option<u64> {
        let (_, access) = self.facts.insns[self.slot].accesses.first()?;
        let Some(Region::MapValue(MapRef::Of(map))) = access.region else { return None };
        let bytes = self.object.maps.get(map as usize)?.constants()?;
        let at = usize::try_from(access.offset.0).ok().filter(|_| access.offset.0 == access.offset.1)?;
        let found = bytes.get(at..at + size.bytes() as usize)?;
        let number = found.iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
        let above = 64 - size.bits();
        Some(if signed { ((number << above).cast_signed() >> above).cast_unsigned() } else { number })
    }

    /// The target of a load or store.
    fn place(&self, base: Arg, offset: i16, size: Size) -> Place {
        let access = self.facts.insns[self.slot].accesses.first().map(|(_, access)| access);
        let space = access.map_or(Space::Any, |access| self.space(access));
        Place { space, base, offset: offset.into(), bytes: size.bytes() }
    }

    /// The memory that an access goes to.
    pub(super) fn space(&self, access: &Access) -> Space {
        match access.region {
            Some(Region::Packet | Region::PacketMeta) => Space::Packet,
            Some(Region::Stack(_)) => Space::Stack,
            Some(Region::MapValue(MapRef::Of(map))) if !self.may_be_inside(map) => Space::Map(map),
            // The same map can be in several, and be one of the object's own: all of them count as one.
            Some(Region::MapValue(_)) => Space::Map(self.outer().unwrap_or_default()),
            Some(Region::Record(_)) => Space::Record,
            None if access.outside => Space::Shared,
            Some(Region::Socket) | None => Space::Any,
        }
    }

    /// The object's first map of maps.
    pub(super) fn outer(&self) -> Option<u32> {
        self.object.maps.iter().position(|map| map.inner.is_some()).map(|index| index as u32)
    }

    /// Whether one of the object's maps may also be found in a map of maps.
    fn may_be_inside(&self, map: u32) -> bool {
        let own = self.object.maps.get(map as usize).map(|map| &map.shape);
        let inner = |shape: &crate::maps::MapShape| own.is_some_and(|own| own.number == shape.number);
        self.object.maps.iter().filter_map(|map| map.inner.as_ref()).any(inner)
    }

    /// The end of a run with a conditional jump.
    pub(super) fn branch(&mut self, depth: usize, slot: usize, then: Edge, otherwise: Edge) -> End {
        let Some(Insn::Branch { cond, width, left, right, .. }) = self.source.code.get(slot) else {
            return End::Jump(otherwise);
        };
        let a = self.state[variable(depth, left)];
        let b = self.operand(depth, width, right);
        let packet = self.facts.insns[slot].branch.and_then(|branch| branch.packet);
        let packet_check = packet.filter(|check| !check.variable).map(|check| (check.bytes, check.when_taken));
        End::Branch { cond, width, a, b, then, otherwise, packet_check }
    }
}

/// The operation of two operands; none for a move.
fn binary(op: AluOp) -> Option<BinOp> {
    Some(match op {
        AluOp::Add => BinOp::Add,
        AluOp::Sub => BinOp::Sub,
        AluOp::Mul => BinOp::Mul,
        AluOp::Div => BinOp::Div,
        AluOp::Sdiv => BinOp::Sdiv,
        AluOp::Or => BinOp::Or,
        AluOp::And => BinOp::And,
        AluOp::Lsh => BinOp::Lsh,
        AluOp::Rsh => BinOp::Rsh,
        AluOp::Mod => BinOp::Mod,
        AluOp::Smod => BinOp::Smod,
        AluOp::Xor => BinOp::Xor,
        AluOp::Arsh => BinOp::Arsh,
        AluOp::Mov => return None,
    })
}
