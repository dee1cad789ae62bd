// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Calls of helpers and of the program's own functions, and their ends.

use std::rc::Rc;

use super::error::Rule;
use super::helpers::{self, Arg, Gives, Helper};
use super::jumps::forget_packet;
use super::memory::{READ_ONLY, Site, Use, on_stack};
use super::paths::{Next, Paths};
use super::scalar::Scalar;
use super::state::{Frame, PlaceOf, STACK_BYTES, State};
use super::value::{Gone, MapRef, Pointer, Region, Value};
use crate::insn::{Callee, Reg};
use crate::maps::MapKind;

/// Stack that callers may use when a tail call is made, for Linux.
const TAIL_CALL_STACK: u32 = 256;
/// No memory that is given to a helper is larger.
const MAX_MEMORY: u64 = 1 << 29;

impl Paths<'_> {
    pub(super) fn call(&mut self, slot: usize, callee: Callee) -> Result<Next, Rule> {
        match callee {
            Callee::Helper(number) => {
                let left = self.helper(slot, number)?;
                Ok(left.map_or(Next::Slot(slot + 1), |(returns_to, state)| Next::Both(returns_to, state)))
            }
            Callee::Local(_) => {
                let target = self.program.code.target(slot).unwrap_or(slot);
                let depth = self.path.state.frames.len();
                let mut frame = Frame::new(depth, slot + 1, self.program.function_at(target).unwrap_or(0));
                for reg in Reg::range(Reg::R1, Reg::R5) {
                    self.mark_read(PlaceOf::Reg(depth - 1, reg));
                    frame.regs[reg.index()] = self.path.state.frame().regs[reg.index()];
                }
                self.path.state.frames.push(Rc::new(frame));
                self.mark_frame(depth);
                Ok(Next::Slot(target))
            }
        }
    }

    /// The end of a function, or of the program.
    pub(super) fn exit(&mut self) -> Result<Next, Rule> {
        let depth = self.path.state.depth();
        if depth == 0 {
            let result = self.read(Reg::R0).map_err(|rule| match rule {
                Rule::Unset(_) => Rule::NoResult,
                other => other,
            })?;
            if let Some((_, slot)) = self.path.state.records.first() {
                return Err(Rule::RecordKept(self.program.place(*slot).slot));
            }
            return match result {
                Value::Scalar(..) => Ok(Next::End),
                other => Err(Rule::Result(other.describe())),
            };
        }
        let result = *self.path.state.reg(Reg::R0);
        self.mark_read(PlaceOf::Reg(depth, Reg::R0));
        if matches!(result, Value::Pointer(Pointer { region: Region::Stack(_), .. })) {
            return Err(Rule::ReturnsStack);
        }
        let next = self.path.state.frame().returns_to;
        self.path.state.frames.pop();
        self.clobber();
        self.write(Reg::R0, result);
        Ok(Next::Slot(next))
    }

    /// The type of each argument of a call.
    fn clobber(&mut self) {
        for reg in Reg::range(Reg::R1, Reg::R5) {
            self.write(reg, Value::Gone(Gone::Call));
        }
    }

    /// Calls a helper. Returns the other continuation of a tail call in a function: its place and its state.
    fn helper(&mut self, slot: usize, number: u32) -> Result<Option<(usize, Box<State>)>, Rule> {
        let Some(helper) = helpers::find(number) else {
            let way = match number {
                181 => "; write the loop out, with a fixed limit",
                4 | 112..=115 => "; there is no kernel memory to read",
                _ => "",
            };
            return Err(Rule::Helper(helpers::name(number), way));
        };
        if helper.free_only && !self.object.free_license() {
            return Err(Rule::License(helper.name));
        }
        self.facts.helpers.insert(number);
        let mut call = Call { slot, helper, map: None, known_size: 0, record: None };
        for (index, arg) in helper.args.iter().enumerate() {
            self.argument(&mut call, index, *arg)?;
        }
        let left = if helper.name == "tail_call" { self.tail_call()? } else { None };
        self.facts.insns[slot].maps.extend(call.map);
        let result = self.result(&call)?;
        if let Some(record) = call.record {
            self.path.state.records.retain(|(id, _)| *id != record);
            self.path.state.change(|value| {
                if matches!(value, Value::Pointer(Pointer { region: Region::Record(_), id, .. }) if *id == record) {
                    *value = Value::Gone(Gone::Released);
                }
            });
        }
        if helper.moves_packet {
            forget_packet(&mut self.path.state, helper.name);
        }
        self.clobber();
        self.write(Reg::R0, result);
        Ok(left)
    }

    /// Callers must leave enough of the stack to the called program. Its end is the end of the function that calls it:
    /// the function's caller then goes on, with an unknown result and with a packet that may have moved.
    fn tail_call(&self) -> Result<Option<(usize, Box<State>)>, Rule> {
        if let Some((_, slot)) = self.path.state.records.first() {
            return Err(Rule::RecordTailCall(self.program.place(*slot).slot));
        }
        let frames = &self.path.state.frames;
        let used = |frame: &Rc<Frame>| self.facts.stack[frame.function].max(1).next_multiple_of(32);
        let callers = frames[..frames.len() - 1].iter().map(used).sum();
        if callers >= TAIL_CALL_STACK {
            return Err(Rule::TailCallStack(callers));
        }
        if frames.len() == 1 {
            return Ok(None);
        }
        let mut state = self.path.state.clone();
        let returns_to = state.frame().returns_to;
        state.frames.pop();
        forget_packet(&mut state, "tail_call");
        let regs = &mut state.frame_mut().regs;
        regs[Reg::R0.index()] = Value::number(Scalar::ANY);
        for reg in Reg::range(Reg::R1, Reg::R5) {
            regs[reg.index()] = Value::Gone(Gone::Call);
        }
        Ok(Some((returns_to, Box::new(state))))
    }

    /// The type of the result.
    fn result(&mut self, call: &Call) -> Result<Value, Rule> {
        Ok(match call.helper.gives {
            Gives::Number => Value::number(Scalar::ANY),
            Gives::Nothing => Value::Gone(Gone::Unset),
            Gives::Record => {
                let id = self.fresh_id();
                self.path.state.records.push((id, call.slot));
                let to = Pointer::to(Region::Record(call.known_size));
                Value::Pointer(Pointer { id, nullable: true, ..to })
            }
            Gives::Value => {
                let Some(map) = call.map else { return Ok(Value::number(Scalar::ANY)) };
                let id = self.fresh_id();
                let kind = self.map_shape(map).and_then(|shape| shape.kind().ok());
                let region = match (map, kind) {
                    (MapRef::Of(outer), Some(MapKind::ArrayOfMaps | MapKind::HashOfMaps)) => {
                        return Ok(Value::Map(MapRef::In(outer), id));
                    }
                    (_, Some(MapKind::Xskmap)) => Region::Socket,
                    _ => Region::MapValue(map),
                };
                Value::Pointer(Pointer { id, nullable: true, ..Pointer::to(region) })
            }
        })
    }

    /// Checks the register of an argument.
    fn argument(&mut self, call: &mut Call, index: usize, arg: Arg) -> Result<(), Rule> {
        let reg = register(index);
        let value = self.read(reg)?;
        let wrong = |expected: &'static str| Rule::Argument {
            helper: call.helper.name,
            register: index + 1,
            expected,
            found: value.describe(),
        };
        match arg {
            Arg::Anything => {}
            Arg::Context if value == Value::Context => {}
            Arg::Context => return Err(wrong("the context")),
            Arg::Map => match value {
                Value::Map(map, 0) => {
                    self.map_argument(call.helper, map)?;
                    call.map = Some(map);
                }
                Value::Map(..) => return Err(Rule::MayBeNull(reg)),
                _ => return Err(wrong("a map")),
            },
            Arg::Key | Arg::Value => {
                let shape = call.map.and_then(|map| self.map_shape(map));
                let bytes = shape.map_or(0, |shape| if arg == Arg::Key { shape.key_bytes } else { shape.value_bytes });
                let Value::Pointer(pointer) = value else {
                    return Err(wrong(if arg == Arg::Key { "a pointer to the key" } else { "a pointer to the value" }));
                };
                self.memory(call, index, &pointer, bytes, Use::Read).map_err(|rule| match rule {
                    // It begins on the stack, so the error concerns its end.
                    Rule::StackBounds { offset, bytes } if pointer.offset >= -STACK_BYTES => {
                        Rule::ShortArgument { what: if arg == Arg::Key { "key" } else { "value" }, offset, bytes }
                    }
                    other => other,
                })?;
            }
            Arg::Read | Arg::ReadOrNull | Arg::ReadWrite | Arg::Write => {
                let Some(Value::Pointer(pointer)) = Some(value).filter(|_| !null(&value)) else {
                    // Null is allowed with a size of 0: the size is checked with its own register.
                    return if arg == Arg::ReadOrNull && null(&value) {
                        Ok(())
                    } else {
                        Err(wrong("a pointer to memory"))
                    };
                };
                let (min, max) = self.size(call, index + 1)?;
                if min == 0 && call.helper.args.get(index + 1) == Some(&Arg::Size) {
                    let helper = call.helper.name;
                    return Err(Rule::Size { helper, register: index + 2, what: "0" });
                }
                let what = match arg {
                    Arg::ReadWrite => Use::Both,
                    // As in Linux, bytes that were never written may be given only when it is known which.
                    Arg::Write if min < max.into() || pointer.variable.constant().is_none() => Use::Both,
                    Arg::Write => Use::Write,
                    _ => Use::Read,
                };
                if max > 0 {
                    self.memory(call, index, &pointer, max, what)?;
                }
            }
            Arg::Size | Arg::SizeOrZero => {
                let (_, max) = self.size(call, index)?;
                if max > 0 && null(self.path.state.reg(register(index - 1))) {
                    return Err(Rule::MayBeNull(register(index - 1)));
                }
            }
            Arg::KnownSize => match value {
                Value::Scalar(scalar, _) => match scalar.constant().and_then(|size| u32::try_from(size).ok()) {
                    Some(size) if u64::from(size) < MAX_MEMORY => call.known_size = size,
                    _ => return Err(wrong("a size that is known when the program is compiled")),
                },
                _ => return Err(wrong("a size that is known when the program is compiled")),
            },
            Arg::Record => match value {
                Value::Pointer(Pointer { nullable: true, region: Region::Record(_), .. }) => {
                    return Err(Rule::MayBeNull(reg));
                }
                Value::Pointer(Pointer { region: Region::Record(_), id, offset: 0, variable, .. })
                    if variable.constant() == Some(0) =>
                {
                    call.record = Some(id);
                }
                _ => return Err(wrong("a record as bpf_ringbuf_reserve() gave it")),
            },
        }
        Ok(())
    }

    fn map_argument(&self, helper: &Helper, map: MapRef) -> Result<(), Rule> {
        let kind = self.map_shape(map).map(|shape| shape.kind());
        match kind {
            Some(Ok(kind)) if helpers::works_on(helper, kind) => {
                let changes = matches!(helper.name, "map_update_elem" | "map_delete_elem");
                let fixed = self.map_shape(map).is_some_and(|shape| shape.flags & READ_ONLY != 0);
                if changes && fixed { Err(Rule::ReadOnly(self.map_name(map))) } else { Ok(()) }
            }
            Some(Ok(kind)) => {
                let way = match kind {
                    MapKind::Devmap | MapKind::DevmapHash | MapKind::Cpumap | MapKind::Xskmap => {
                        "; such maps are filled by the host"
                    }
                    _ => "",
                };
                Err(Rule::HelperMap { helper: helper.name, map: self.map_name(map), kind: kind.to_string(), way })
            }
            _ => Err(Rule::Address("a map without a shape")),
        }
    }

    /// Smallest and largest number of bytes in an argument.
    fn size(&mut self, call: &Call, index: usize) -> Result<(u64, u32), Rule> {
        let (helper, register_number) = (call.helper.name, index + 1);
        let Value::Scalar(scalar, _) = self.read(register(index))? else {
            let found = self.path.state.reg(register(index)).describe();
            return Err(Rule::Argument { helper, register: register_number, expected: "a size", found });
        };
        let wrong = |what| Rule::Size { helper, register: register_number, what };
        if scalar.wide.smin < 0 {
            return Err(wrong("negative"));
        }
        if scalar.wide.umax >= MAX_MEMORY {
            return Err(wrong("anything"));
        }
        Ok((scalar.wide.umin, scalar.wide.umax as u32))
    }

    /// Checks the memory that an argument points to.
    fn memory(&mut self, call: &Call, index: usize, pointer: &Pointer, bytes: u32, what: Use) -> Result<(), Rule> {
        if (pointer.in_packet() && !call.helper.packet_args) || pointer.region == Region::Socket {
            return Err(Rule::Argument {
                helper: call.helper.name,
                register: index + 1,
                expected: "in a map's value or on the stack (copy it there first)",
                found: Value::Pointer(*pointer).describe(),
            });
        }
        self.reach(Site { slot: call.slot, arg: index, reg: register(index) }, pointer, 0, bytes, what)?;
        if let Region::Stack(depth) = pointer.region {
            let (min, end) = on_stack(pointer, 0, bytes)?;
            if what != Use::Write {
                self.stack_written(depth.into(), min, end)?;
            }
            if what != Use::Read {
                self.stack_overwritten(depth.into(), min, end);
            }
        }
        Ok(())
    }
}

/// A call that is being checked.
struct Call {
    slot: usize,
    helper: &'static Helper,
    map: Option<MapRef>,
    known_size: u32,
    record: Option<u32>,
}

/// The register of an argument.
fn register(index: usize) -> Reg {
    Reg::range(Reg::R1, Reg::R5).nth(index).unwrap_or(Reg::R5)
}

fn null(value: &Value) -> bool {
    matches!(value, Value::Scalar(scalar, _) if scalar.constant() == Some(0))
}
