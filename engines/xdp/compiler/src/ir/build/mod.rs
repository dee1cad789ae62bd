// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! From a checked program to single static assignment.
//!
//! Functions are copied to where they are called, each with its own part of the stack. Where runs of instructions come
//! together, every register that is still read becomes a parameter of the block; the passes drop those that are not
//! needed (Aycock and Horspool, "Simple Generation of Static Single-Assignment Form", 2000).

mod calls;
mod flow;
mod insts;
mod live;

pub use flow::MAX_INSTS;

use super::{Arg, Block, BlockId, Edge, End, Inst, Layout, Op, Program, Special, ValueId};
use crate::check::Facts;
use crate::insn::Reg;
use crate::object::{Object, Place};
use flow::{Flow, Way};
use live::{Set, VARIABLES, variable};

/// Why a program cannot be taken over.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum BuildError {
    #[error(
        "{0}() has more than {MAX_INSTS} instructions when its functions are copied to where they are called; call \
         large functions less often"
    )]
    TooLong(String),
    #[error("{0}: this load reaches the context on one path and memory on another; load on each path apart")]
    MixedContext(Place),
    #[error("{0}: bpf_tail_call() with one of several program arrays; call it where the array is known")]
    UnknownPrograms(Place),
    #[error(
        "{0}: bpf_tail_call() in a function returns to its caller on soft only; declare the function `static \
         __always_inline`"
    )]
    TailCallInFunction(Place),
    #[error(
        "{0}: there is no memory left for the global data in `{1}`; make it or the object's arrays smaller, 2 GiB hold \
         all of them"
    )]
    NoAddress(Place, String),
    #[error("{0}: the program ends without an exit; check it first")]
    Ends(Place),
}

/// Takes a checked program over.
///
/// # Errors
/// If the form cannot express the program, or it is too long: the place and the way out.
pub fn build(
    object: &Object,
    program: &crate::object::Program,
    facts: &Facts,
    layout: &Layout,
) -> Result<Program, BuildError> {
    let flow = Flow::of(program, facts)?;
    let mut before = vec![vec![]; flow.runs.len()];
    for run in 0..flow.runs.len() {
        flow.next(run).into_iter().for_each(|next| before[next].push(run));
    }
    let live = live::live(program, &flow);
    let stacks = vec![Arg::Special(Special::Stack); flow.frames.len()];
    let mut builder = Builder {
        object,
        source: program,
        facts,
        layout,
        flow,
        before,
        live,
        program: Program { blocks: vec![], values: 0 },
        stacks,
        at: 0,
        slot: 0,
        state: vec![],
    };
    builder.blocks();
    let mut ends = vec![None; builder.flow.runs.len()];
    for run in builder.order() {
        builder.begin(run, &ends);
        builder.fill(run)?;
        ends[run] = Some(RunEnd { block: builder.at, state: std::mem::take(&mut builder.state) });
    }
    builder.join(&ends);
    Ok(builder.program)
}

/// The state at the end of a run.
#[derive(Debug, Clone)]
struct RunEnd {
    /// The block whose end leads on.
    block: usize,
    state: Vec<Arg>,
}

/// A program under conversion. Block `n + 1` begins with the run `n`; blocks that split a run come after all of those.
struct Builder<'a> {
    object: &'a Object,
    source: &'a crate::object::Program,
    facts: &'a Facts,
    layout: &'a Layout,
    flow: Flow,
    /// By run, those that lead to it.
    before: Vec<Vec<usize>>,
    live: Vec<Set>,
    program: Program,
    /// By frame, its r10.
    stacks: Vec<Arg>,
    /// The block that is being filled.
    at: usize,
    /// The instruction that is being taken over.
    slot: usize,
    /// The registers of all open frames.
    state: Vec<Arg>,
}

/// What nothing reads. (The context is not a value either: loads from it are known by their offset.)
const UNSET: Arg = Arg::Const(0);

impl Builder<'_> {
    /// Whether registers become parameters where a run begins.
    fn is_join(&self, run: usize) -> bool {
        self.before[run].len() + usize::from(run == 0) > 1
    }

    /// The blocks, still empty, with a parameter for each live register where runs meet.
    fn blocks(&mut self) {
        let start = Edge { to: BlockId(1), args: vec![] };
        self.program.blocks.push(Block { params: vec![], insts: vec![], end: End::Jump(start), end_slot: 0 });
        for run in 0..self.flow.runs.len() {
            let count = if self.is_join(run) { self.live[run].iter().count() } else { 0 };
            let params = (0..count).map(|_| self.program.fresh()).collect();
            let end_slot = self.flow.runs[run].last;
            self.program.blocks.push(Block { params, insts: vec![], end: End::Exit(UNSET), end_slot });
        }
    }

    /// Runs, each after its only predecessor.
    fn order(&self) -> Vec<usize> {
        let mut seen = vec![false; self.flow.runs.len()];
        let mut order = Vec::new();
        let mut open = vec![(0, 0)];
        seen[0] = true;
        while let Some((run, next)) = open.last_mut() {
            match self.flow.next(*run).get(*next) {
                Some(&to) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[to], true) {
                        open.push((to, 0));
                    }
                }
                None => {
                    order.push(*run);
                    open.pop();
                }
            }
        }
        order.reverse();
        order
    }

    /// The registers at the start of a run.
    fn begin(&mut self, run: usize, ends: &[Option<RunEnd>]) {
        self.at = run + 1;
        self.state = vec![UNSET; VARIABLES];
        if self.is_join(run) {
            for (variable, param) in self.live[run].iter().zip(&self.program.blocks[run + 1].params) {
                self.state[variable] = Arg::Value(*param);
            }
        } else if let Some(end) = self.before[run].first().and_then(|before| ends[*before].as_ref()) {
            self.state.clone_from(&end.state);
        }
        let mut frame = Some(self.flow.runs[run].frame);
        while let Some(open) = frame {
            self.state[variable(self.flow.frames[open].depth, Reg::FP)] = self.stacks[open];
            frame = self.flow.frames[open].caller.map(|(caller, _)| caller);
        }
    }

    /// Takes a run's instructions over.
    fn fill(&mut self, run: usize) -> Result<(), BuildError> {
        let frame = self.flow.runs[run].frame;
        let depth = self.flow.frames[frame].depth;
        for slot in self.flow.runs[run].slots.clone() {
            self.slot = slot;
            if let Some(insn) = self.source.code.get(slot) {
                self.inst(depth, insn)?;
            }
        }
        self.slot = self.flow.runs[run].last;
        let edge = |run: usize| Edge { to: BlockId(run as u32 + 1), args: vec![] };
        let end = match self.flow.runs[run].way {
            Way::To(to) => End::Jump(edge(to)),
            Way::Branch { slot, taken, not_taken } => self.branch(depth, slot, edge(taken), edge(not_taken)),
            Way::Enter(to) => {
                self.enter(depth, to);
                End::Jump(edge(to))
            }
            Way::Leave(to) => {
                self.state[variable(depth - 1, Reg::R0)] = self.state[variable(depth, Reg::R0)];
                for reg in Reg::range(Reg::R1, Reg::R5) {
                    self.state[variable(depth - 1, reg)] = UNSET;
                }
                End::Jump(edge(to))
            }
            Way::TailCall { slot, failed } => self.tail_call(depth, slot, edge(failed))?,
            Way::Exit => End::Exit(self.state[variable(depth, Reg::R0)]),
        };
        let block = &mut self.program.blocks[self.at];
        block.end = end;
        block.end_slot = self.slot;
        Ok(())
    }

    /// Hands a function its arguments and its stack.
    fn enter(&mut self, depth: usize, to: usize) {
        for reg in Reg::range(Reg::R1, Reg::R5) {
            self.state[variable(depth + 1, reg)] = self.state[variable(depth, reg)];
        }
        let frame = self.flow.runs[to].frame;
        let below = self.flow.frames[frame].stack;
        self.stacks[frame] = self.value(Op::sum(Arg::Special(Special::Stack), below));
    }

    /// Passes on the values of block parameters.
    fn join(&mut self, ends: &[Option<RunEnd>]) {
        for (run, end) in ends.iter().enumerate() {
            let Some(end) = end else { continue };
            // Edges inside a run already have their arguments; they lead to other blocks.
            for (next, edge) in self.flow.next(run).into_iter().zip(self.program.blocks[end.block].end.edges_mut()) {
                if self.before[next].len() + usize::from(next == 0) > 1 {
                    edge.args = self.live[next].iter().map(|variable| end.state[variable]).collect();
                }
            }
        }
        let unset = vec![UNSET; self.program.blocks[1].params.len()];
        if let End::Jump(start) = &mut self.program.blocks[0].end {
            start.args = unset;
        }
    }

    /// Adds an instruction and gives its result.
    fn value(&mut self, op: Op) -> Arg {
        let result = self.program.fresh();
        self.push(op, Some(result));
        Arg::Value(result)
    }

    /// Adds an instruction.
    fn push(&mut self, op: Op, result: Option<ValueId>) {
        let slot = self.slot;
        self.program.blocks[self.at].insts.push(Inst { op, result, slot });
    }
}
