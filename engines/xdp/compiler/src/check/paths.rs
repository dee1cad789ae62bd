// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The walk along all paths, depth first, and where it can be cut short.
//!
//! Where paths meet, the checker keeps states. A path ends there if a kept state covers its state and all paths of the
//! kept state have ended. Only values that were read after the kept state count: each path marks the values that it
//! reads, back to where they were written. A path that reaches a state of its own is in a circle.

use std::collections::HashMap;

use super::error::Rule;
use super::facts::Facts;
use super::flow::{self, Broken};
use super::state::{PlaceOf, Places, State};
use super::value::{Gone, Value};
use crate::insn::{Insn, Reg};
use crate::object::{Object, Program};

/// Instructions that are checked before the checker gives up, as in Linux.
pub const MAX_VISITED: usize = 1_000_000;
/// Ways that are left open at once, as in Linux.
const MAX_OPEN: usize = 8192;
/// A state is kept if the last one is this many instructions and jumps away.
const KEEP_INSNS: usize = 8;
const KEEP_JUMPS: usize = 2;
/// A state on the path itself is compared with this many later ones.
const MAX_ROUNDS: usize = 16;

/// A kept state.
struct Kept {
    /// None when it has covered too little.
    state: Option<State>,
    parent: Option<usize>,
    /// Registers and bytes written between the parent and this state.
    written: Places,
    /// Registers and bytes read after the state before they were written.
    read: Places,
    /// Paths from here that have not ended.
    open: usize,
    hits: usize,
    misses: usize,
    /// Instructions from the parent to here.
    since: usize,
    /// The maximum of instructions that follow, on the paths that have ended.
    longest: usize,
}

/// A path that is being followed, or will be.
pub(super) struct Path {
    pub slot: usize,
    pub state: State,
    parent: Option<usize>,
    written: Places,
    insns: usize,
    jumps: usize,
}

/// The continuation of a path after an instruction.
pub(super) enum Next {
    Slot(usize),
    /// On, and to the jump's target with that state.
    Both(usize, Box<State>),
    End,
}

/// The walk.
pub(super) struct Paths<'a> {
    pub object: &'a Object,
    pub program: &'a Program,
    pub facts: Facts,
    pub path: Path,
    joins: Vec<bool>,
    waiting: Vec<Path>,
    kept: Vec<Kept>,
    by_slot: HashMap<usize, Vec<usize>>,
    ids: u32,
}

impl<'a> Paths<'a> {
    pub(super) fn new(object: &'a Object, program: &'a Program) -> Paths<'a> {
        Paths {
            object,
            program,
            facts: Facts::new(program.code.len(), program.functions.len()),
            path: Path { slot: 0, state: State::start(), parent: None, written: Places::default(), insns: 0, jumps: 0 },
            joins: flow::joins(program),
            waiting: Vec::new(),
            kept: Vec::new(),
            by_slot: HashMap::new(),
            ids: 0,
        }
    }

    /// Follows all paths.
    pub(super) fn run(mut self) -> Result<Facts, Broken> {
        loop {
            let joins = self.joins[self.path.slot];
            let known = if joins { self.arrive().map_err(|rule| (self.path.slot, rule))? } else { None };
            if known.is_some() || !self.step()? {
                self.end(known.unwrap_or_default());
                match self.waiting.pop() {
                    Some(path) => self.path = path,
                    None => break,
                }
            }
        }
        self.facts.stack_depth = flow::deepest(self.program, &self.facts.stack);
        if self.facts.stack_depth > super::state::STACK_BYTES as u32 {
            return Err((0, Rule::StackDepth(self.facts.stack_depth)));
        }
        Ok(self.facts)
    }

    /// Follows one instruction; false at the end of the path.
    fn step(&mut self) -> Result<bool, Broken> {
        let slot = self.path.slot;
        let broken = |rule| (slot, rule);
        self.facts.visited += 1;
        if self.facts.visited > MAX_VISITED {
            return Err(broken(Rule::TooComplex(MAX_VISITED)));
        }
        let Some(insn) = self.program.code.get(slot) else { return Err(broken(Rule::NoExit)) };
        self.facts.insns[slot].reached = true;
        self.path.insns += 1;
        let next = self.follow(slot, insn).map_err(broken)?;
        if matches!(insn, Insn::Branch { .. } | Insn::Jump { .. } | Insn::Call(_) | Insn::Exit) {
            self.path.jumps += 1;
        }
        match next {
            Next::Slot(slot) => self.path.slot = slot,
            Next::End => return Ok(false),
            Next::Both(target, state) => {
                if self.waiting.len() >= MAX_OPEN {
                    return Err(broken(Rule::TooManyPaths(MAX_OPEN)));
                }
                if let Some(parent) = self.path.parent {
                    self.kept[parent].open += 1;
                }
                let Path { parent, written, insns, jumps, .. } = self.path;
                self.waiting.push(Path { slot: target, state: *state, parent, written, insns, jumps });
                self.path.slot = slot + 1;
            }
        }
        Ok(true)
    }

    /// Checks one instruction.
    fn follow(&mut self, slot: usize, insn: Insn) -> Result<Next, Rule> {
        let on = Next::Slot(slot + insn.slots());
        match insn {
            Insn::Alu { op, width, dst, src } => self.alu(slot, op, width, dst, src)?,
            Insn::Neg { dst, .. } | Insn::Swap { dst, .. } => self.unary(slot, insn, dst)?,
            Insn::MovSx { width, from, dst, src } => self.move_extended(slot, width, from, dst, src)?,
            Insn::LoadImm64 { dst, imm } => self.load_imm(dst, imm)?,
            Insn::Load { size, signed, dst, base, offset } => {
                self.load(slot, size, signed, dst, base, offset.into())?;
            }
            Insn::Store { size, base, offset, src } => self.store(slot, size, base, offset.into(), src)?,
            Insn::Atomic { op, width, fetch, base, offset, src } => {
                self.atomic(slot, op, width, fetch, (base, offset.into()), src)?;
            }
            Insn::Jump { .. } => return Ok(Next::Slot(self.program.code.target(slot).unwrap_or(slot))),
            Insn::Branch { cond, width, left, right, .. } => return self.jump_if(slot, cond, width, left, right),
            Insn::Call(callee) => return self.call(slot, callee),
            Insn::Exit => return self.exit(),
        }
        Ok(on)
    }

    /// Reaches a place where paths meet. If the path ends here, returns the maximum of instructions that would follow.
    fn arrive(&mut self) -> Result<Option<usize>, Rule> {
        let slot = self.path.slot;
        let mut list = self.by_slot.remove(&slot).unwrap_or_default();
        let mut found = None;
        let mut circle = false;
        list.retain(|&index| {
            let kept = &mut self.kept[index];
            let Some(state) = &kept.state else { return false };
            if found.is_some() || circle {
                return true;
            }
            if kept.open > 0 {
                circle = *state == self.path.state;
                kept.misses += 1;
                // A loop of many rounds has many states here. A circle is seen by the last ones.
                return kept.misses <= MAX_ROUNDS;
            }
            if state.covers(&self.path.state, &kept.read) {
                kept.hits += 1;
                found = Some(index);
                return true;
            }
            kept.misses += 1;
            if kept.misses > kept.hits * 3 + 16 {
                kept.state = None;
            }
            kept.state.is_some()
        });
        let keep = found.is_none()
            && (self.path.parent.is_none() || (self.path.insns >= KEEP_INSNS && self.path.jumps >= KEEP_JUMPS));
        if keep && !circle {
            list.push(self.kept.len());
            self.keep();
        }
        self.by_slot.insert(slot, list);
        if circle {
            return Err(Rule::EndlessLoop);
        }
        if let Some(index) = found {
            for place in self.kept[index].read.iter() {
                self.mark_read(place);
            }
        }
        Ok(found.map(|index| self.kept[index].longest))
    }

    fn keep(&mut self) {
        let path = &mut self.path;
        let index = self.kept.len();
        self.kept.push(Kept {
            state: Some(path.state.clone()),
            parent: path.parent,
            written: std::mem::take(&mut path.written),
            read: Places::default(),
            open: 1,
            hits: 0,
            misses: 0,
            since: path.insns,
            longest: 0,
        });
        path.parent = Some(index);
        path.insns = 0;
        path.jumps = 0;
    }

    /// A path ends here after this many more instructions, so the states on it are complete.
    fn end(&mut self, behind: usize) {
        let mut longest = self.path.insns + behind;
        let mut next = self.path.parent;
        while let Some(index) = next {
            let kept = &mut self.kept[index];
            kept.longest = kept.longest.max(longest);
            kept.open -= 1;
            if kept.open > 0 {
                return;
            }
            longest = kept.since + kept.longest;
            next = kept.parent;
        }
        self.facts.longest = self.facts.longest.max(longest);
    }

    /// Marks that a place is read, in the kept states back to where it was written.
    pub(super) fn mark_read(&mut self, place: PlaceOf) {
        if self.path.written.contains(place) {
            return;
        }
        let mut next = self.path.parent;
        while let Some(index) = next {
            let kept = &mut self.kept[index];
            if kept.read.contains(place) {
                return;
            }
            kept.read.insert(place);
            next = if kept.written.contains(place) { None } else { kept.parent };
        }
    }

    /// Marks that a place is written.
    pub(super) fn mark_written(&mut self, place: PlaceOf) {
        self.path.written.insert(place);
    }

    /// A function begins: nothing in its frame comes from before.
    pub(super) fn mark_frame(&mut self, depth: usize) {
        self.path.written.insert_frame(depth);
    }

    /// A number that no value has yet.
    pub(super) fn fresh_id(&mut self) -> u32 {
        self.ids += 1;
        self.ids
    }

    /// Reads a register.
    pub(super) fn read(&mut self, reg: Reg) -> Result<Value, Rule> {
        let value = *self.path.state.reg(reg);
        self.mark_read(PlaceOf::Reg(self.path.state.depth(), reg));
        match value {
            Value::Gone(Gone::Unset) => Err(Rule::Unset(reg)),
            Value::Gone(Gone::Call) => Err(Rule::AfterCall(reg)),
            Value::Gone(Gone::Moved(helper)) => Err(Rule::Moved { reg, helper }),
            Value::Gone(Gone::Released) => Err(Rule::Released(reg)),
            value => Ok(value),
        }
    }

    /// Writes a register.
    pub(super) fn write(&mut self, reg: Reg, value: Value) {
        self.mark_written(PlaceOf::Reg(self.path.state.depth(), reg));
        self.path.state.frame_mut().regs[reg.index()] = value;
    }
}
