// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The order of instructions, with each function copied to its calls: blocks of slots, without unreachable ones.

use std::collections::{BTreeSet, HashMap};

use super::BuildError;
use super::live::DEEPEST;
use crate::check::Facts;
use crate::insn::{Callee, Insn};
use crate::object::Program;

/// Number of the helper that ends a program when it succeeds.
pub(super) const TAIL_CALL: u32 = 12;
/// Instructions of a program with its functions copied in: four times the number of the engine's rows.
pub const MAX_INSTS: usize = 32_768;

/// A function where it is called.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    /// The frame that called it, and the slot at which that continues.
    pub caller: Option<(usize, usize)>,
    pub depth: usize,
    /// Its r10, counted from the end of the stack: 0 or less.
    pub stack: i64,
}

/// How a block ends; blocks by index.
#[derive(Debug, Clone, Copy)]
pub(super) enum Way {
    To(usize),
    /// The jump is at that slot.
    Branch {
        slot: usize,
        taken: usize,
        not_taken: usize,
    },
    /// The function's arguments are handed over.
    Enter(usize),
    /// The result is handed back.
    Leave(usize),
    TailCall {
        slot: usize,
        failed: usize,
    },
    Exit,
}

/// A run of instructions of one frame.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub frame: usize,
    /// Slots of its instructions, without the jump, call or exit at its end.
    pub slots: Vec<usize>,
    /// The slot of its last instruction.
    pub last: usize,
    pub way: Way,
}

/// A program's frames and runs. It begins with the first.
#[derive(Debug)]
pub(super) struct Flow {
    pub frames: Vec<Frame>,
    pub runs: Vec<Run>,
}

impl Flow {
    pub(super) fn of(program: &Program, facts: &Facts) -> Result<Flow, BuildError> {
        let first = Frame { caller: None, depth: 0, stack: 0 };
        let mut finder = Finder {
            program,
            facts,
            leaders: leaders(program),
            flow: Flow { frames: vec![first], runs: vec![] },
            known: HashMap::new(),
            open: vec![],
            insts: 0,
        };
        finder.run(0, 0);
        while let Some((run, slot)) = finder.open.pop() {
            finder.follow(run, slot)?;
        }
        Ok(finder.flow)
    }

    /// The runs that may come after one.
    pub(super) fn next(&self, run: usize) -> Vec<usize> {
        match self.runs[run].way {
            Way::To(to) | Way::Enter(to) | Way::Leave(to) | Way::TailCall { failed: to, .. } => vec![to],
            Way::Branch { taken, not_taken, .. } => vec![taken, not_taken],
            Way::Exit => vec![],
        }
    }
}

/// Slots to which something else than the slot before leads.
fn leaders(program: &Program) -> BTreeSet<usize> {
    let code = &program.code;
    code.iter().filter(|(_, insn)| insn.jump_offset().is_some()).filter_map(|(slot, _)| code.target(slot)).collect()
}

struct Finder<'a> {
    program: &'a Program,
    facts: &'a Facts,
    leaders: BTreeSet<usize>,
    flow: Flow,
    /// Runs by frame and first slot.
    known: HashMap<(usize, usize), usize>,
    /// Runs whose slots are still to be found.
    open: Vec<(usize, usize)>,
    insts: usize,
}

impl Finder<'_> {
    /// The run that begins at a slot of a frame.
    fn run(&mut self, frame: usize, slot: usize) -> usize {
        if let Some(known) = self.known.get(&(frame, slot)) {
            return *known;
        }
        let run = self.flow.runs.len();
        self.flow.runs.push(Run { frame, slots: vec![], last: slot, way: Way::Exit });
        self.known.insert((frame, slot), run);
        self.open.push((run, slot));
        run
    }

    fn follow(&mut self, run: usize, first: usize) -> Result<(), BuildError> {
        let frame = self.flow.runs[run].frame;
        let mut slot = first;
        loop {
            let Some(insn) = self.program.code.get(slot) else {
                return Err(BuildError::Ends(self.program.place(slot)));
            };
            self.flow.runs[run].last = slot;
            if let Some(way) = self.way(frame, slot, insn)? {
                self.flow.runs[run].way = way;
                return Ok(());
            }
            self.insts += 1;
            if self.insts > MAX_INSTS {
                return Err(BuildError::TooLong(self.program.name.clone()));
            }
            self.flow.runs[run].slots.push(slot);
            slot += insn.slots();
            if self.leaders.contains(&slot) {
                self.flow.runs[run].way = Way::To(self.run(frame, slot));
                return Ok(());
            }
        }
    }

    /// How a run ends with an instruction, if it does.
    fn way(&mut self, frame: usize, slot: usize, insn: Insn) -> Result<Option<Way>, BuildError> {
        let target = self.program.code.target(slot).unwrap_or(slot);
        Ok(Some(match insn {
            Insn::Jump { .. } => Way::To(self.run(frame, target)),
            Insn::Branch { .. } => {
                let branch = self.facts.insns[slot].branch.unwrap_or_default();
                match (branch.taken, branch.not_taken) {
                    (true, false) => Way::To(self.run(frame, target)),
                    (false, true) => Way::To(self.run(frame, slot + 1)),
                    _ => {
                        let (taken, not_taken) = (self.run(frame, target), self.run(frame, slot + 1));
                        Way::Branch { slot, taken, not_taken }
                    }
                }
            }
            // The checker lets no call be deeper; of programs that it has not seen this is an end.
            Insn::Call(Callee::Local(_)) if self.flow.frames[frame].depth + 1 == DEEPEST => Way::Exit,
            Insn::Call(Callee::Local(_)) => Way::Enter(self.enter(frame, slot, target)?),
            Insn::Call(Callee::Helper(TAIL_CALL)) => Way::TailCall { slot, failed: self.run(frame, slot + 1) },
            Insn::Exit => match self.flow.frames[frame].caller {
                Some((caller, back)) => Way::Leave(self.run(caller, back)),
                None => Way::Exit,
            },
            _ => return Ok(None),
        }))
    }

    /// The first run of a function that is called.
    fn enter(&mut self, caller: usize, slot: usize, target: usize) -> Result<usize, BuildError> {
        let above = self.flow.frames[caller];
        let used = self.facts.stack[self.program.function_at(self.caller_start(slot)).unwrap_or(0)];
        let frame = Frame {
            caller: Some((caller, slot + 1)),
            depth: above.depth + 1,
            stack: above.stack - i64::from(used.next_multiple_of(8)),
        };
        if self.flow.frames.len() >= MAX_INSTS {
            return Err(BuildError::TooLong(self.program.name.clone()));
        }
        self.flow.frames.push(frame);
        Ok(self.run(self.flow.frames.len() - 1, target))
    }

    fn caller_start(&self, slot: usize) -> usize {
        self.program.function(slot).slots.start
    }
}
