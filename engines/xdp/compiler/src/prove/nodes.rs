// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The code's side: a block, node after node.

use super::memory::Extent;
use super::state::{State, Touched};
use super::value::{Assumed, Operation, Place, Val, When, test_of, when};
use super::{Proof, Why};
use crate::back::code::{Node, Src, To};
use crate::ir::Special;
use crate::rows::{Do, Second, Test};

/// The exit of a way from its block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaves {
    To(To),
    /// The program ends with this verdict.
    Result(Val),
}

/// A way through a block.
#[derive(Debug)]
pub(super) struct Way {
    pub leaves: Leaves,
    /// The value of each variable.
    pub vars: Vec<Val>,
    pub state: State,
    /// The memory that each request accesses.
    pub touched: Vec<Vec<Touched>>,
}

/// How far the assumptions lead.
pub(super) enum Walked {
    /// To a comparison whose result is not assumed.
    Open(Test<Val>),
    Left(Way),
}

impl Proof<'_> {
    /// Carries the block out as far as the assumptions lead.
    pub(super) fn nodes(&mut self, assumed: &Assumed) -> Result<Walked, Why> {
        let vars = (0..self.code.vars as usize).map(|var| self.at_beginning(var)).collect();
        let state = State::begin(&mut self.values);
        let mut way = Way { leaves: Leaves::To(To::Exit(0)), vars, state, touched: vec![] };
        for node in &self.code.blocks[self.block].nodes {
            let mut guard = None;
            if let Some(wanted) = node.guard {
                let asked = when(self.test(&way, &wanted.test)?, wanted.wanted);
                match assumed.decides(asked) {
                    Some(true) => {}
                    Some(false) => continue,
                    None if node.op.leaves() => return Ok(Walked::Open(asked.test)),
                    None => guard = Some(asked),
                }
            }
            way.leaves = match node.op {
                Do::Branch(test, to) => {
                    let asked = when(self.test(&way, &test)?, true);
                    match assumed.decides(asked) {
                        Some(true) => Leaves::To(to),
                        Some(false) => continue,
                        None => return Ok(Walked::Open(asked.test)),
                    }
                }
                Do::Jump(to) => Leaves::To(to),
                Do::Exit(src) => Leaves::Result(self.src(&way, src)?),
                _ => {
                    self.node(&mut way, node, guard)?;
                    continue;
                }
            };
            return Ok(Walked::Left(way));
        }
        Err(Why::Leaves)
    }

    fn src(&mut self, way: &Way, src: Src) -> Result<Val, Why> {
        match src {
            Src::Var(var) => Ok(way.vars[var.index()]),
            Src::Zero => Ok(self.values.zero()),
            Src::Special(special) => way.state.special(special, &mut self.values),
        }
    }

    fn test(&mut self, way: &Way, test: &Test<Src>) -> Result<Test<Val>, Why> {
        let mut wrong = None;
        let test = test_of(test, |src| {
            self.src(way, src).unwrap_or_else(|why| {
                wrong = Some(why);
                Val::NONE
            })
        });
        wrong.map_or(Ok(test), Err)
    }

    fn node(&mut self, way: &mut Way, node: &Node, guard: Option<When>) -> Result<(), Why> {
        let result = if let Some(special) = clock(&node.op) {
            Some(way.state.look(special, &mut self.values))
        } else {
            let op = self.operation(way, node, guard)?;
            let values = &mut self.values;
            match op {
                Do::Compare(_) | Do::Branch(..) | Do::Jump(_) | Do::Exit(_) => None,
                Do::Store { .. } => {
                    way.state.store(op, guard, values);
                    None
                }
                Do::Redirect { .. } => Some(way.state.redirect(op, guard, values)),
                Do::Adjust { .. } if guard.is_none() => Some(way.state.adjust(op, values)),
                Do::Args { k, .. } if guard.is_none() => {
                    way.state.argue(k, op, values);
                    None
                }
                Do::Request { .. } if guard.is_none() => {
                    let touched = self.touched(way, node)?;
                    let answer = way.state.request(op, &touched, &mut self.values);
                    way.touched.push(touched);
                    Some(answer)
                }
                // The back end guards none of these but by branches.
                Do::Adjust { .. } | Do::Args { .. } | Do::Request { .. } => return Err(Why::Outside),
                _ => Some(way.state.result(op, values)),
            }
        };
        if let (Some(dst), Some(result)) = (node.dst, result) {
            let old = way.vars[dst.index()];
            way.vars[dst.index()] = self.values.either(guard, result, old);
        }
        Ok(())
    }

    /// A node's operation on values.
    fn operation(&mut self, way: &Way, node: &Node, guard: Option<When>) -> Result<Operation, Why> {
        let mut known = Vec::new();
        for src in node.reads() {
            let value = self.src(way, src)?;
            known.push((src, self.values.under(guard, value)));
        }
        let value = |src: Src| known.iter().find(|(it, _)| *it == src).map_or(Val::NONE, |(_, value)| *value);
        let place = |at: crate::back::code::At| Place { base: value(at.base), offset: at.offset.into() };
        Ok(node.op.map(value, |_, at| place(at), |_| ()))
    }

    fn touched(&mut self, way: &Way, node: &Node) -> Result<Vec<Touched>, Why> {
        let mut touched = Vec::new();
        for touch in &node.reach {
            let extent = match touch.at {
                Some((at, bytes)) => Some((Place { base: self.src(way, at.base)?, offset: at.offset.into() }, bytes)),
                None => None,
            };
            touched.push(Touched { window: touch.window, extent: Extent(extent), writes: touch.writes });
        }
        Ok(touched)
    }
}

/// The value of a clock read.
fn clock<P, T>(op: &Do<Src, P, T>) -> Option<Special> {
    match op {
        Do::Move { from: Second::Source(Src::Special(special @ (Special::Time | Special::Random))), .. } => {
            Some(*special)
        }
        _ => None,
    }
}
