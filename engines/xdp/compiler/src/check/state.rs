// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The facts at one point of one path: registers and stacks of the active functions.

use std::rc::Rc;

use super::scalar::Scalar;
use super::value::{Covering, Gone, Pointer, Region, Value};
use crate::insn::{Reg, Size};

/// Bytes of a program's stack.
pub(super) const STACK_BYTES: i64 = 512;
/// Bytes of a slot of the stack.
pub(super) const SLOT: i64 = 8;
/// Functions that may be running at once.
pub(super) const MAX_FRAMES: usize = 8;

/// The contents of a byte of the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Byte {
    Unset,
    Any,
    Zero,
}

/// Eight bytes of the stack. The first ones may hold a value that was stored there as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StackSlot {
    pub bytes: [Byte; 8],
    pub spilled: Option<(Value, Size)>,
}

impl StackSlot {
    const UNSET: StackSlot = StackSlot { bytes: [Byte::Unset; 8], spilled: None };

    fn covered_by(&self, old: &StackSlot, covering: &mut Covering) -> bool {
        if let Some((value, size)) = &old.spilled {
            let Some((new, new_size)) = &self.spilled else { return false };
            if size != new_size || !covering.covers(value, new) {
                return false;
            }
        } else if self.spilled.is_some_and(|(value, _)| !matches!(value, Value::Scalar(..))) {
            // A pointer can be read as one, the bytes that the other had cannot.
            return old.bytes == [Byte::Unset; 8];
        }
        old.bytes.iter().zip(&self.bytes).all(|(old, new)| match old {
            Byte::Unset => true,
            Byte::Any => *new != Byte::Unset,
            Byte::Zero => *new == Byte::Zero,
        })
    }
}

/// A function that is being run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    pub regs: [Value; Reg::COUNT],
    /// By distance from the end: slot 0 is at -8.
    pub stack: Vec<StackSlot>,
    /// The place where its caller goes on.
    pub returns_to: usize,
    /// Which of the program's functions it is.
    pub function: usize,
}

impl Frame {
    /// A function that begins, at a depth.
    pub(super) fn new(depth: usize, returns_to: usize, function: usize) -> Frame {
        let mut regs = [Value::Gone(Gone::Unset); Reg::COUNT];
        regs[Reg::FP.index()] = Value::Pointer(Pointer::to(Region::Stack(depth as u8)));
        Frame { regs, stack: Vec::new(), returns_to, function }
    }

    /// The slot of that number.
    pub(super) fn slot(&self, number: usize) -> StackSlot {
        self.stack.get(number).copied().unwrap_or(StackSlot::UNSET)
    }

    /// The slot of that number, to change it.
    pub(super) fn slot_mut(&mut self, number: usize) -> &mut StackSlot {
        if self.stack.len() <= number {
            self.stack.resize(number + 1, StackSlot::UNSET);
        }
        &mut self.stack[number]
    }
}

/// The slot that a byte of the stack is in, and which of its bytes it is. `offset` is negative.
pub(super) fn slot_of(offset: i64) -> (usize, usize) {
    let slot = (-offset - 1) / SLOT;
    (slot as usize, (offset + (slot + 1) * SLOT) as usize)
}

/// Places in a state, as a set: registers and stack slots by frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Places {
    regs: [u16; MAX_FRAMES],
    slots: [u64; MAX_FRAMES],
}

/// A place in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlaceOf {
    Reg(usize, Reg),
    Slot(usize, usize),
}

impl Places {
    pub(super) fn contains(&self, place: PlaceOf) -> bool {
        match place {
            PlaceOf::Reg(frame, reg) => self.regs[frame] >> reg.number() & 1 != 0,
            PlaceOf::Slot(frame, slot) => self.slots[frame] >> slot & 1 != 0,
        }
    }

    pub(super) fn insert(&mut self, place: PlaceOf) {
        match place {
            PlaceOf::Reg(frame, reg) => self.regs[frame] |= 1 << reg.number(),
            PlaceOf::Slot(frame, slot) => self.slots[frame] |= 1 << slot,
        }
    }

    /// A new frame: nothing in it is older.
    pub(super) fn insert_frame(&mut self, frame: usize) {
        self.regs[frame] = u16::MAX;
        self.slots[frame] = u64::MAX;
    }

    pub(super) fn iter(self) -> impl Iterator<Item = PlaceOf> {
        let regs = (0..MAX_FRAMES).flat_map(move |frame| {
            Reg::range(Reg::R0, Reg::FP).map(move |reg| PlaceOf::Reg(frame, reg)).filter(move |p| self.contains(*p))
        });
        let slots = (0..MAX_FRAMES).filter(move |frame| self.slots[*frame] != 0).flat_map(move |frame| {
            (0..64).map(move |slot| PlaceOf::Slot(frame, slot)).filter(move |p| self.contains(*p))
        });
        regs.chain(slots)
    }
}

/// All that is known at one point of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State {
    /// The last one is active.
    pub frames: Vec<Rc<Frame>>,
    /// Records of ring buffers that are still to be given back, with the slot of the call they are from.
    pub records: Vec<(u32, usize)>,
}

impl State {
    /// The state at the start of a program.
    pub(super) fn start() -> State {
        let mut frame = Frame::new(0, 0, 0);
        frame.regs[Reg::R1.index()] = Value::Context;
        State { frames: vec![Rc::new(frame)], records: Vec::new() }
    }

    /// The depth of the function that is being run.
    pub(super) fn depth(&self) -> usize {
        self.frames.len() - 1
    }

    pub(super) fn frame(&self) -> &Frame {
        &self.frames[self.depth()]
    }

    pub(super) fn frame_mut(&mut self) -> &mut Frame {
        let depth = self.depth();
        self.frame_at(depth)
    }

    pub(super) fn frame_at(&mut self, depth: usize) -> &mut Frame {
        Rc::make_mut(&mut self.frames[depth])
    }

    pub(super) fn reg(&self, reg: Reg) -> &Value {
        &self.frame().regs[reg.index()]
    }

    /// Changes every value of every frame.
    pub(super) fn change(&mut self, mut change: impl FnMut(&mut Value)) {
        for frame in &mut self.frames {
            let frame = Rc::make_mut(frame);
            frame.regs.iter_mut().for_each(&mut change);
            for slot in &mut frame.stack {
                if let Some((value, _)) = &mut slot.spilled {
                    change(value);
                }
            }
        }
    }

    /// All numbers with a link become that number.
    pub(super) fn relink(&mut self, link: u32, scalar: Scalar) {
        if link != 0 {
            self.change(|value| {
                if let Value::Scalar(linked, id) = value
                    && *id == link
                {
                    *linked = scalar;
                }
            });
        }
    }

    /// Whether the result for this state also holds for `new`, given the places that were read after it.
    pub(super) fn covers(&self, new: &State, read: &Places) -> bool {
        let same_calls = self.frames.len() == new.frames.len()
            && self.frames.iter().zip(&new.frames).all(|(old, new)| old.returns_to == new.returns_to)
            && self.records.len() == new.records.len();
        if !same_calls {
            return false;
        }
        let mut covering = Covering::default();
        if !self.records.iter().zip(&new.records).all(|(old, new)| covering.same_record(old.0, new.0)) {
            return false;
        }
        read.iter().all(|place| match place {
            PlaceOf::Reg(frame, reg) => match (self.frames.get(frame), new.frames.get(frame)) {
                (Some(old), Some(new)) => covering.covers(&old.regs[reg.index()], &new.regs[reg.index()]),
                _ => true,
            },
            PlaceOf::Slot(frame, slot) => match (self.frames.get(frame), new.frames.get(frame)) {
                (Some(old), Some(new)) => new.slot(slot).covered_by(&old.slot(slot), &mut covering),
                _ => true,
            },
        })
    }
}
