// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Loads and stores: the memory that a pointer may reach, and the loaded values.

use super::arith::extend;
use super::error::{Known, Rule};
use super::jumps::MAX_PACKET;
use super::paths::Paths;
use super::scalar::Scalar;
use super::state::{Byte, PlaceOf, STACK_BYTES, StackSlot, slot_of};
use super::value::{Gone, MapRef, Pointer, Region, Value};
use crate::insn::{AtomicOp, Operand, Reg, Size, Width};
use crate::maps::{MapKind, MapShape};
use crate::object::Attach;

/// Flag of maps that programs may only read.
pub(super) const READ_ONLY: u32 = 1 << 7;

/// Kinds of memory access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Read,
    Write,
    Both,
}

impl Use {
    fn writes(self) -> bool {
        self != Use::Read
    }
}

/// What uses memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Site {
    pub slot: usize,
    /// The helper argument that names the memory; 0 for loads and stores.
    pub arg: usize,
    /// The register that points there.
    pub reg: Reg,
}

impl Paths<'_> {
    /// Sizes of a map, or of the maps in it.
    pub(super) fn map_shape(&self, map: MapRef) -> Option<&MapShape> {
        match map {
            MapRef::Of(map) => self.object.maps.get(map as usize).map(|map| &map.shape),
            MapRef::In(map) => self.object.maps.get(map as usize).and_then(|map| map.inner.as_ref()),
        }
    }

    /// A map as messages name it.
    pub(super) fn map_name(&self, map: MapRef) -> String {
        let name = |map: u32| self.object.maps.get(map as usize).map_or("", |map| &map.name);
        match map {
            MapRef::Of(map) => name(map).to_owned(),
            MapRef::In(map) => format!("a map in {}", name(map)),
        }
    }

    pub(super) fn load(
        &mut self,
        slot: usize,
        size: Size,
        signed: bool,
        dst: Reg,
        base: Reg,
        offset: i64,
    ) -> Result<(), Rule> {
        let value = self.read(base)?;
        self.facts.operands(slot, Some(&value), None);
        let pointer = match value {
            Value::Pointer(pointer) => pointer,
            Value::Context => {
                let field = self.context_field(offset, size.bytes(), signed)?;
                self.write(dst, field);
                return Ok(());
            }
            other => return Err(Rule::NoPointer { reg: base, found: other.describe() }),
        };
        self.reach(Site { slot, arg: 0, reg: base }, &pointer, offset, size.bytes(), Use::Read)?;
        let mut found = match pointer.region {
            Region::Stack(depth) => {
                self.stack_align(&pointer, offset, size)?;
                self.stack_read(depth.into(), &pointer, offset, size)?
            }
            Region::MapValue(map) => Value::number(self.constant(map, &pointer, offset, size)),
            _ => Value::number(Scalar::of_size(size)),
        };
        if signed {
            let Value::Scalar(scalar, _) = found else {
                return Err(Rule::NoPointer { reg: base, found: "a stored pointer".into() });
            };
            found = Value::number(extend(size, Width::W64, &scalar));
        }
        self.write(dst, found);
        Ok(())
    }

    pub(super) fn store(&mut self, slot: usize, size: Size, base: Reg, offset: i64, src: Operand) -> Result<(), Rule> {
        let to = self.read(base)?;
        let value = self.operand(src)?;
        self.facts.operands(slot, Some(&to), matches!(src, Operand::Reg(_)).then_some(&value));
        let pointer = match to {
            Value::Pointer(pointer) => pointer,
            Value::Context => return Err(Rule::ContextWrite),
            other => return Err(Rule::NoPointer { reg: base, found: other.describe() }),
        };
        self.reach(Site { slot, arg: 0, reg: base }, &pointer, offset, size.bytes(), Use::Write)?;
        if let Region::Stack(depth) = pointer.region {
            self.stack_align(&pointer, offset, size)?;
            self.stack_write(depth.into(), &pointer, offset, size, value)?;
        }
        Ok(())
    }

    pub(super) fn atomic(
        &mut self,
        slot: usize,
        op: AtomicOp,
        width: Width,
        fetch: bool,
        (base, offset): (Reg, i64),
        src: Reg,
    ) -> Result<(), Rule> {
        let to = self.read(base)?;
        let value = self.read(src)?;
        self.facts.operands(slot, Some(&to), Some(&value));
        let mut given = vec![(src, value)];
        if op == AtomicOp::Cmpxchg {
            given.push((Reg::R0, self.read(Reg::R0)?));
        }
        if let Some((reg, value)) = given.iter().find(|(_, value)| !matches!(value, Value::Scalar(..))) {
            return Err(Rule::AtomicPlace(format!("{} in {reg}", value.describe())));
        }
        let size = if width == Width::W64 { Size::B8 } else { Size::B4 };
        let pointer = match to {
            Value::Pointer(
                pointer @ Pointer { region: Region::Stack(_) | Region::MapValue(_) | Region::Record(_), .. },
            ) => pointer,
            Value::Pointer(_) | Value::Context => return Err(Rule::AtomicPlace(to.describe())),
            other => return Err(Rule::NoPointer { reg: base, found: other.describe() }),
        };
        self.reach(Site { slot, arg: 0, reg: base }, &pointer, offset, size.bytes(), Use::Both)?;
        if let Region::Stack(depth) = pointer.region {
            if pointer.variable.constant().is_none() {
                return Err(Rule::AtomicComputed);
            }
            self.stack_align(&pointer, offset, size)?;
            self.stack_read(depth.into(), &pointer, offset, size)?;
            self.stack_write(depth.into(), &pointer, offset, size, Value::number(Scalar::of_size(size)))?;
        }
        if fetch {
            let dst = if op == AtomicOp::Cmpxchg { Reg::R0 } else { src };
            self.write(dst, Value::number(Scalar::of_size(size)));
        }
        Ok(())
    }

    /// The type of a context field.
    fn context_field(&self, offset: i64, bytes: u32, signed: bool) -> Result<Value, Rule> {
        if bytes != 4 || signed {
            return Err(Rule::ContextField { offset, bytes });
        }
        match offset {
            0 => Ok(Value::Pointer(Pointer::to(Region::Packet))),
            4 => Ok(Value::PacketEnd),
            8 => Ok(Value::Pointer(Pointer::to(Region::PacketMeta))),
            12 | 16 => Ok(Value::number(Scalar::of_size(Size::B4))),
            20 if self.program.attach == Attach::Devmap => Ok(Value::number(Scalar::of_size(Size::B4))),
            _ => Err(Rule::ContextField { offset, bytes }),
        }
    }

    /// Checks that bytes may be used, and notes that they are.
    pub(super) fn reach(
        &mut self,
        site: Site,
        pointer: &Pointer,
        offset: i64,
        bytes: u32,
        what: Use,
    ) -> Result<(), Rule> {
        if pointer.nullable {
            return Err(Rule::MayBeNull(site.reg));
        }
        match pointer.region {
            Region::Packet | Region::PacketMeta => in_packet(pointer, offset, bytes)?,
            Region::Stack(depth) => {
                let (min, _) = on_stack(pointer, offset, bytes)?;
                let function = self.path.state.frames[usize::from(depth)].function;
                let used = &mut self.facts.stack[function];
                *used = (*used).max(min.unsigned_abs() as u32);
            }
            Region::MapValue(map) => {
                let Some(shape) = self.map_shape(map) else { return Err(Rule::Address("a map without a shape")) };
                let for_reading =
                    shape.flags & READ_ONLY != 0 || matches!(shape.kind(), Ok(MapKind::Devmap | MapKind::DevmapHash));
                let name = format!("the value of {}", self.map_name(map));
                let size = shape.value_bytes;
                if what.writes() && for_reading {
                    return Err(Rule::ReadOnly(name));
                }
                in_value(name, size, pointer, offset, bytes)?;
            }
            Region::Record(size) => in_value("the record".into(), size, pointer, offset, bytes)?,
            Region::Socket if what.writes() => return Err(Rule::ReadOnly("a socket".into())),
            // Only its queue's number.
            Region::Socket => in_value("the socket".into(), 4, pointer, offset, bytes)?,
        }
        self.facts.access(site.slot, site.arg, pointer, offset, bytes, what.writes());
        Ok(())
    }

    /// The contents of a value: for global constants the value itself.
    fn constant(&self, map: MapRef, pointer: &Pointer, offset: i64, size: Size) -> Scalar {
        let known = || {
            let MapRef::Of(map) = map else { return None };
            let constants = self.object.maps.get(map as usize)?.constants()?;
            let at = usize::try_from(pointer.offset + offset).ok()? + pointer.variable.constant()? as usize;
            let bytes = constants.get(at..at + size.bytes() as usize)?;
            Some(bytes.iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte)))
        };
        known().map_or_else(|| Scalar::of_size(size), Scalar::of)
    }

    fn stack_align(&self, pointer: &Pointer, offset: i64, size: Size) -> Result<(), Rule> {
        let place = pointer.offset + offset;
        let bits = pointer.variable.bits.plus(super::bits::Bits::of(place.cast_unsigned()));
        let low = u64::from(size.bytes() - 1);
        if bits.max() & low != 0 {
            return Err(Rule::StackAlign { offset: place, bytes: size.bytes() });
        }
        Ok(())
    }

    /// Checks that bytes of a stack were written, and marks that they are read.
    pub(super) fn stack_written(&mut self, depth: usize, min: i64, end: i64) -> Result<(), Rule> {
        for offset in min..end {
            let (slot, byte) = slot_of(offset);
            self.mark_read(PlaceOf::Slot(depth, slot));
            if self.path.state.frames[depth].slot(slot).bytes[byte] == Byte::Unset {
                return Err(Rule::StackUnset(offset));
            }
        }
        Ok(())
    }

    fn stack_read(&mut self, depth: usize, pointer: &Pointer, offset: i64, size: Size) -> Result<Value, Rule> {
        let (min, end) = on_stack(pointer, offset, size.bytes())?;
        self.stack_written(depth, min, end)?;
        if end - min > size.bytes().into() {
            return Ok(Value::number(Scalar::of_size(size)));
        }
        let (number, first) = slot_of(min);
        let slot = self.path.state.frames[depth].slot(number);
        let bytes = &slot.bytes[first..first + size.bytes() as usize];
        match slot.spilled {
            Some((value @ Value::Gone(gone), _)) => Err(match gone {
                // The value was stored when it was one, and has become none since.
                Gone::Moved(helper) => Rule::Moved { reg: Reg::FP, helper },
                _ => Rule::NoPointer { reg: Reg::FP, found: value.describe() },
            }),
            Some((value, Size::B8)) if size == Size::B8 => {
                if let Value::Scalar(scalar, 0) = value
                    && scalar.constant().is_none()
                {
                    // From now on two places hold the same number.
                    let linked = Value::Scalar(scalar, self.fresh_id());
                    self.path.state.frame_at(depth).slot_mut(number).spilled = Some((linked, Size::B8));
                    return Ok(linked);
                }
                Ok(value)
            }
            Some((Value::Scalar(scalar, _), stored)) if first == 0 && size.bytes() <= stored.bytes() => {
                Ok(Value::number(scalar.cut(size)))
            }
            Some((value, _)) if !matches!(value, Value::Scalar(..)) => {
                let op = format!("reading {} bytes", size.bytes());
                Err(Rule::PointerArithmetic { op, found: value.describe() })
            }
            _ if bytes.iter().all(|byte| *byte == Byte::Zero) => Ok(Value::number(Scalar::of(0))),
            _ => Ok(Value::number(Scalar::of_size(size))),
        }
    }

    fn stack_write(
        &mut self,
        depth: usize,
        pointer: &Pointer,
        offset: i64,
        size: Size,
        value: Value,
    ) -> Result<(), Rule> {
        let (min, end) = on_stack(pointer, offset, size.bytes())?;
        let number = matches!(value, Value::Scalar(..));
        if depth < self.path.state.depth() && matches!(value, Value::Pointer(Pointer { region: Region::Stack(_), .. }))
        {
            return Err(Rule::StackInCaller);
        }
        if end - min > size.bytes().into() {
            // Some of these bytes change; none of them keeps its value for sure.
            for offset in min..end {
                let (slot, byte) = slot_of(offset);
                let slot = self.path.state.frame_at(depth).slot_mut(slot);
                slot.spilled = None;
                if slot.bytes[byte] == Byte::Zero {
                    slot.bytes[byte] = Byte::Any;
                }
            }
            return Ok(());
        }
        if !number && size != Size::B8 {
            let op = format!("storing {} bytes", size.bytes());
            return Err(Rule::PointerArithmetic { op, found: value.describe() });
        }
        let (index, first) = slot_of(min);
        if size == Size::B8 {
            self.mark_written(PlaceOf::Slot(depth, index));
        }
        let zero = matches!(value, Value::Scalar(scalar, _) if scalar.cut(size).constant() == Some(0));
        let slot = self.path.state.frame_at(depth).slot_mut(index);
        let touches = |(_, stored): &(Value, Size)| first < stored.bytes() as usize;
        slot.spilled = slot.spilled.filter(|spilled| !touches(spilled));
        slot.bytes[first..first + size.bytes() as usize].fill(if zero { Byte::Zero } else { Byte::Any });
        if first == 0 && !zero {
            slot.spilled = Some(match value {
                Value::Scalar(scalar, link) if scalar.cut(size) == scalar => (Value::Scalar(scalar, link), size),
                Value::Scalar(scalar, _) => (Value::number(scalar.cut(size)), size),
                other => (other, size),
            });
        }
        Ok(())
    }

    /// Bytes of a stack that a helper has written: nothing is known of them.
    pub(super) fn stack_overwritten(&mut self, depth: usize, min: i64, end: i64) {
        for offset in min..end {
            let (slot, byte) = slot_of(offset);
            let slot: &mut StackSlot = self.path.state.frame_at(depth).slot_mut(slot);
            slot.spilled = None;
            slot.bytes[byte] = Byte::Any;
        }
    }
}

/// First byte, and the one after the last, that an access of the stack may use.
pub(super) fn on_stack(pointer: &Pointer, offset: i64, bytes: u32) -> Result<(i64, i64), Rule> {
    let range = pointer.variable.wide;
    let base = pointer.offset + offset;
    let (min, end) = (base.saturating_add(range.smin), base.saturating_add(range.smax).saturating_add(bytes.into()));
    if min < -STACK_BYTES || end > 0 {
        let offset = if range.smin == range.smax { min.to_string() } else { between(min, end - i64::from(bytes)) };
        return Err(Rule::StackBounds { offset, bytes: bytes.into() });
    }
    Ok((min, end))
}

fn between(min: i64, max: i64) -> String {
    format!("{min} to {max}")
}

fn in_packet(pointer: &Pointer, offset: i64, bytes: u32) -> Result<(), Rule> {
    if pointer.variable.wide.smin < 0 {
        return Err(Rule::PacketBefore(pointer.variable.wide.smin));
    }
    let first = pointer.offset + offset;
    let end = first + i64::from(bytes);
    if first < 0 {
        return Err(Rule::PacketBefore(first));
    }
    if end > pointer.proven.into() {
        let furthest = end.saturating_add(i64::try_from(pointer.variable.wide.umax).unwrap_or(i64::MAX));
        let pointer_name = match (pointer.region, pointer.id) {
            (Region::PacketMeta, _) => {
                return Err(Rule::ValueBounds {
                    what: "the packet's metadata".into(),
                    offset: first.to_string(),
                    bytes: bytes.into(),
                    size: pointer.proven,
                });
            }
            _ if furthest > MAX_PACKET => return Err(Rule::PacketFar(furthest)),
            (_, 0) => "data",
            _ => "pointer",
        };
        return Err(Rule::PacketBounds {
            first,
            last: end - 1,
            known: Known(pointer.proven),
            pointer: pointer_name,
            needed: end,
        });
    }
    Ok(())
}

fn in_value(what: String, size: u32, pointer: &Pointer, offset: i64, bytes: u32) -> Result<(), Rule> {
    let base = pointer.offset + offset;
    let range = pointer.variable.wide;
    let min = base.saturating_add(range.smin);
    let max = base.saturating_add(i64::try_from(range.umax).unwrap_or(i64::MAX));
    if min < 0 || max.saturating_add(bytes.into()) > size.into() {
        let offset = if min == max { min.to_string() } else { between(min, max) };
        return Err(Rule::ValueBounds { what, offset, bytes: bytes.into(), size });
    }
    Ok(())
}
