// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Arithmetic on registers: numbers, and the few operations that pointers allow.

use super::arith::{alu, extend};
use super::error::Rule;
use super::paths::Paths;
use super::scalar::Scalar;
use super::value::{Pointer, Region, Value};
use crate::insn::{AluOp, Insn, Operand, Reg, Size, Width};
use crate::maps::Contents;

/// No pointer is further from its region.
const FAR: i64 = 1 << 29;

impl Paths<'_> {
    /// The type of an operand.
    pub(super) fn operand(&mut self, operand: Operand) -> Result<Value, Rule> {
        match operand {
            Operand::Reg(reg) => self.read(reg),
            Operand::Imm(imm) => Ok(Value::number(Scalar::of(i64::from(imm).cast_unsigned()))),
        }
    }

    pub(super) fn alu(&mut self, slot: usize, op: AluOp, width: Width, dst: Reg, src: Operand) -> Result<(), Rule> {
        if op == AluOp::Mov {
            return self.mov(slot, width, dst, src);
        }
        let left = self.read(dst)?;
        let right = self.operand(src)?;
        self.facts.operands(slot, Some(&left), matches!(src, Operand::Reg(_)).then_some(&right));
        if let Operand::Imm(imm) = src {
            check_immediate(op, width, imm)?;
        }
        let insn = Insn::Alu { op, width, dst, src };
        let result = match (left, right) {
            (Value::Scalar(a, _), Value::Scalar(b, _)) => Value::number(alu(op, width, &a, &b)),
            // The distance of two pointers is a number of which nothing is known.
            (a, b) if op == AluOp::Sub && is_address(&a) && is_address(&b) => Value::number(Scalar::ANY),
            (Value::Pointer(pointer), Value::Scalar(number, _)) if width == Width::W64 => {
                self.move_pointer(insn, op, &pointer, &number)?
            }
            (Value::Scalar(number, _), Value::Pointer(pointer)) if width == Width::W64 && op == AluOp::Add => {
                self.move_pointer(insn, op, &pointer, &number)?
            }
            (a, b) => {
                let found = if matches!(a, Value::Scalar(..)) { b } else { a };
                return Err(Rule::PointerArithmetic { op: format!("`{insn}`"), found: found.describe() });
            }
        };
        self.write(dst, result);
        Ok(())
    }

    fn mov(&mut self, slot: usize, width: Width, dst: Reg, src: Operand) -> Result<(), Rule> {
        let mut value = self.operand(src)?;
        self.facts.operands(slot, None, matches!(src, Operand::Reg(_)).then_some(&value));
        match (&mut value, width) {
            (Value::Scalar(scalar, link), _) => {
                let cut = alu(AluOp::Mov, width, scalar, scalar);
                let same = cut == *scalar;
                let linked = if same { *link } else { 0 };
                // A copy stays the same number as the original, whatever is found out about either.
                let id = match src {
                    Operand::Reg(reg) if same && scalar.constant().is_none() && linked == 0 => {
                        let id = self.fresh_id();
                        self.path.state.frame_mut().regs[reg.index()] = Value::Scalar(*scalar, id);
                        id
                    }
                    _ => linked,
                };
                value = Value::Scalar(cut, id);
            }
            (_, Width::W64) => {}
            // The lower half of an address is a number of which nothing is known.
            (_, Width::W32) => value = Value::number(Scalar::of_size(Size::B4)),
        }
        self.write(dst, value);
        Ok(())
    }

    pub(super) fn move_extended(
        &mut self,
        slot: usize,
        width: Width,
        from: Size,
        dst: Reg,
        src: Reg,
    ) -> Result<(), Rule> {
        let value = self.read(src)?;
        self.facts.operands(slot, None, Some(&value));
        let Value::Scalar(scalar, _) = value else {
            let insn = Insn::MovSx { width, from, dst, src };
            return Err(Rule::PointerArithmetic { op: format!("`{insn}`"), found: value.describe() });
        };
        self.write(dst, Value::number(extend(from, width, &scalar)));
        Ok(())
    }

    /// Negation and byte order. Nothing is known of the result, as in Linux.
    pub(super) fn unary(&mut self, slot: usize, insn: Insn, dst: Reg) -> Result<(), Rule> {
        let value = self.read(dst)?;
        self.facts.operands(slot, Some(&value), None);
        if !matches!(value, Value::Scalar(..)) {
            return Err(Rule::PointerArithmetic { op: format!("`{insn}`"), found: value.describe() });
        }
        self.write(dst, Value::number(Scalar::ANY));
        Ok(())
    }

    pub(super) fn load_imm(&mut self, dst: Reg, imm: crate::insn::Imm64) -> Result<(), Rule> {
        use crate::insn::Imm64;
        let value = match imm {
            Imm64::Value(value) => Value::number(Scalar::of(value)),
            Imm64::Map(map) => {
                self.use_map(map)?;
                Value::Map(super::value::MapRef::Of(map), 0)
            }
            Imm64::MapValue { map, offset } => {
                self.use_map(map)?;
                let found = &self.object.maps[map as usize];
                let size = found.shape.value_bytes;
                if !matches!(found.contents, Contents::Data { .. }) || offset >= size {
                    return Err(Rule::DataBounds { map: found.name.clone(), offset, size });
                }
                let to = Pointer::to(Region::MapValue(super::value::MapRef::Of(map)));
                Value::Pointer(Pointer { offset: offset.into(), ..to })
            }
            Imm64::MapFd(_) | Imm64::MapFdValue { .. } => return Err(Rule::Address("a map by file descriptor")),
            Imm64::Variable { .. } => return Err(Rule::Address("a variable of the kernel")),
            Imm64::Function(_) => return Err(Rule::Address("a function")),
        };
        self.write(dst, value);
        Ok(())
    }

    /// Notes that a map is used; the engine must have its kind.
    fn use_map(&mut self, map: u32) -> Result<(), Rule> {
        let Some(found) = self.object.maps.get(map as usize) else {
            return Err(Rule::Address("a map that the object does not have"));
        };
        found.check().map_err(|source| Rule::Map { name: found.name.clone(), source })?;
        self.facts.maps.insert(map);
        Ok(())
    }

    /// Adds a number to a pointer, or takes it away.
    fn move_pointer(&mut self, insn: Insn, op: AluOp, pointer: &Pointer, number: &Scalar) -> Result<Value, Rule> {
        let refused = |found: String| Rule::PointerArithmetic { op: format!("`{insn}`"), found };
        if !matches!(op, AluOp::Add | AluOp::Sub) || pointer.nullable || pointer.region == Region::Socket {
            return Err(refused(Value::Pointer(*pointer).describe()));
        }
        let mut moved = *pointer;
        if let Some(constant) = number.constant() {
            let distance = constant.cast_signed();
            if !(-FAR..=FAR).contains(&distance) {
                return Err(Rule::FarPointer);
            }
            moved.offset += if op == AluOp::Add { distance } else { -distance };
        } else {
            let range = number.wide;
            if range.smin == i64::MIN || range.smin < -FAR || range.smax > FAR {
                return Err(Rule::Unbounded);
            }
            if op == AluOp::Sub && matches!(pointer.region, Region::Stack(_)) {
                return Err(refused("a pointer to the stack".into()));
            }
            moved.variable = alu(op, Width::W64, &pointer.variable, number);
            if pointer.in_packet() {
                moved.id = self.fresh_id();
                (moved.proven, moved.proof) = (0, None);
            }
        }
        let range = moved.variable.wide;
        if !(-FAR..=FAR).contains(&moved.offset) || range.smin < -FAR || range.smax > FAR {
            return Err(Rule::FarPointer);
        }
        Ok(Value::Pointer(moved))
    }
}

fn is_address(value: &Value) -> bool {
    match value {
        Value::PacketEnd => true,
        Value::Pointer(pointer) => !pointer.nullable,
        _ => false,
    }
}

fn check_immediate(op: AluOp, width: Width, imm: i32) -> Result<(), Rule> {
    let bits = if width == Width::W64 { 64 } else { 32 };
    match op {
        AluOp::Div | AluOp::Mod | AluOp::Sdiv | AluOp::Smod if imm == 0 => Err(Rule::DivisionByZero),
        AluOp::Lsh | AluOp::Rsh | AluOp::Arsh if !(0..bits).contains(&imm) => Err(Rule::Shift(imm)),
        _ => Ok(()),
    }
}
