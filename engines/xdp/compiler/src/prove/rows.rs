// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The rows' side: row after row, all lanes at once, according to engines/xdp/core.md.

use std::collections::HashMap;

use super::nodes::Way;
use super::state::{State, Touched, extent};
use super::value::{Assumed, Operation, Place, Val, Values, When, test_of, when};
use super::{Proof, Unproven, Why};
use crate::ir::Special;
use crate::rows::{Asks, Do, InWindow, Lane, PacketWindow, Register, Row, Second, Source, Target, Window};

/// The exit of rows from their block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaves {
    To(Target),
    Result(Val),
}

/// Register values; registers that are missing here have not changed.
#[derive(Debug, Clone, Default)]
pub(super) struct Registers(HashMap<Register, Val>);

impl Registers {
    pub(super) fn get(&self, values: &mut Values, register: Register) -> Val {
        self.0.get(&register).copied().unwrap_or_else(|| values.register(register))
    }
}

/// The place of a context.
struct Context {
    registers: Registers,
    state: State,
    /// Requests so far.
    asked: usize,
}

/// A lane that acts, or acts if a comparison has a given result.
struct Acting {
    lane: usize,
    op: Operation,
    when: Option<When>,
    register: Register,
}

impl Proof<'_> {
    /// Executes the rows under the assumptions of the code's way; returns their exit, its row, and the state there.
    pub(super) fn follow(
        &mut self,
        way: &Way,
        assumed: &Assumed,
    ) -> Result<(usize, Leaves, Registers, State), Unproven> {
        let state = State::begin(&mut self.values);
        let mut context = Context { registers: Registers::default(), state, asked: 0 };
        let mut leaves = None;
        let mut at = self.range.start;
        while leaves.is_none() && self.range.contains(&at) {
            let row = self.rows.get(at).ok_or_else(|| self.unproven(Some(at), Why::Behind))?;
            leaves = self.row(&mut context, row, way, assumed).map_err(|why| self.unproven(Some(at), why))?;
            at += 1;
        }
        if leaves.is_none() && at >= self.rows.len() {
            return Err(self.unproven(Some(at), Why::Behind));
        }
        let leaves = leaves.unwrap_or(Leaves::To(Target::Row(at as u16)));
        Ok((at.saturating_sub(1), leaves, context.registers, context.state))
    }

    fn row(&mut self, context: &mut Context, row: &Row, way: &Way, assumed: &Assumed) -> Result<Option<Leaves>, Why> {
        let outcomes = self.outcomes(context, row)?;
        let leaves = self.leaving(context, row, &outcomes, assumed)?;
        let mut acting = Vec::new();
        for (number, lane) in row.lanes.iter().enumerate() {
            let Some(lane) = lane.as_ref().filter(|lane| !lane.op.leaves() && lane.op.test().is_none()) else {
                continue;
            };
            let when = match acts(lane, &outcomes, assumed) {
                Acts::Yes => None,
                Acts::No => continue,
                Acts::When(when) => Some(when),
            };
            let register = Register { lane: number as u8, index: lane.dst };
            if let Some(special) = clock(&lane.op) {
                // Two reads of the clock in one row would have no order.
                let looks = |lane: &Option<Lane>| lane.as_ref().is_some_and(|lane| clock(&lane.op).is_some());
                if row.lanes[..number].iter().any(looks) {
                    return Err(Why::Clock);
                }
                let (found, old) =
                    (context.state.look(special, &mut self.values), context.registers.get(&mut self.values, register));
                let value = self.values.either(when, found, old);
                acting.push((None, register, value));
                continue;
            }
            let op = self.operand_values(context, row, lane, when)?;
            acting.push((Some(Acting { lane: number, op, when, register }), register, self.values.zero()));
        }
        self.act(context, acting, way, leaves.is_some())?;
        Ok(leaves)
    }

    /// For each comparing lane, the condition under which its result is true.
    fn outcomes(&mut self, context: &Context, row: &Row) -> Result<Vec<Option<When>>, Why> {
        let mut outcomes = Vec::new();
        for lane in &row.lanes {
            let test = lane.as_ref().and_then(|lane| lane.op.test());
            outcomes.push(match test {
                Some(test) => {
                    let sources: Vec<Source> = [Some(test.a), second(test.b)].into_iter().flatten().collect();
                    let known = self.known(context, &sources, None)?;
                    Some(when(test_of(test, |source| find(&known, source)), true))
                }
                None => None,
            });
        }
        Ok(outcomes)
    }

    /// The target of the row: that of the lowest lane that branches.
    fn leaving(
        &mut self,
        context: &Context,
        row: &Row,
        outcomes: &[Option<When>],
        assumed: &Assumed,
    ) -> Result<Option<Leaves>, Why> {
        for (number, lane) in row.lanes.iter().enumerate() {
            let Some(lane) = lane.as_ref().filter(|lane| lane.op.leaves()) else { continue };
            match acts(lane, outcomes, assumed) {
                Acts::Yes => {}
                Acts::No => continue,
                Acts::When(_) => return Err(Why::Asked(number)),
            }
            return Ok(Some(match lane.op {
                Do::Branch(_, to) => match outcomes[number].and_then(|asked| assumed.decides(asked)) {
                    Some(true) => Leaves::To(to),
                    Some(false) => continue,
                    None => return Err(Why::Asked(number)),
                },
                Do::Jump(to) => Leaves::To(to),
                Do::Exit(source) => Leaves::Result(find(&self.known(context, &[source], None)?, source)),
                _ => continue,
            }));
        }
        Ok(None)
    }

    /// Source values at the start of the row.
    fn known(&mut self, context: &Context, sources: &[Source], when: Option<When>) -> Result<Vec<(Source, Val)>, Why> {
        let mut known = Vec::new();
        for source in sources {
            let value = match source {
                Source::Register(register) => context.registers.get(&mut self.values, *register),
                Source::Zero => self.values.zero(),
                Source::Special(special) => context.state.special(*special, &mut self.values)?,
            };
            known.push((*source, self.values.under(when, value)));
        }
        Ok(known)
    }

    /// A lane's operation on values, its places as addresses.
    fn operand_values(
        &mut self,
        context: &Context,
        row: &Row,
        lane: &Lane,
        when: Option<When>,
    ) -> Result<Operation, Why> {
        const WORD: i64 = 8;
        let mut sources: Vec<Source> = lane.op.sources().collect();
        let base = row.packet.map_or(Source::Zero, |window| window.base);
        let in_packet = match &lane.op {
            Do::Load { window, .. } | Do::Store { window, .. } => *window == Window::Packet,
            Do::Request { asks, .. } => asks.key().is_some_and(|key| key.window == Window::Packet),
            _ => false,
        };
        sources.push(if in_packet { base } else { Source::Zero });
        let known = self.known(context, &sources, when)?;
        let place = |window: Window, first: InWindow| {
            let (base, word) = match (window, row.packet, row.stack) {
                (Window::Packet, Some(PacketWindow { base, offset }), _) => (base, i64::from(offset)),
                (Window::Stack, _, Some(word)) => (Source::Zero, i64::from(word)),
                _ => (Source::Zero, 0),
            };
            Place { base: find(&known, base), offset: word * WORD + i64::from(first.0) }
        };
        Ok(lane.op.map(|source| find(&known, source), place, |_| ()))
    }

    /// All lanes at once: each reads the state before the row.
    fn act(
        &mut self,
        context: &mut Context,
        lanes: Vec<(Option<Acting>, Register, Val)>,
        way: &Way,
        leaves: bool,
    ) -> Result<(), Why> {
        let values = &mut self.values;
        let acting = || lanes.iter().filter_map(|(acting, ..)| acting.as_ref());
        let mut results: Vec<(Register, Val)> = Vec::new();
        for (acting, register, looked) in &lanes {
            let Some(Acting { op, when, .. }) = acting else {
                results.push((*register, *looked));
                continue;
            };
            if op.has_result() && !has_effect(op) {
                let (result, old) = (context.state.result(*op, values), context.registers.get(values, *register));
                results.push((*register, values.either(*when, result, old)));
            }
        }
        let touched = match acting().find(|it| matches!(it.op, Do::Request { .. })) {
            Some(_) => way.touched.get(context.asked).ok_or(Why::Outside)?.as_slice(),
            None => &[],
        };
        let all: Vec<&Acting> = acting().filter(|it| has_effect(&it.op)).collect();
        together(&all, touched, leaves)?;
        // Stores come first, requests and moves of the packet last: `together` separates operations for which that
        // order matters.
        for Acting { op, when, .. } in all.iter().filter(|it| matches!(it.op, Do::Store { .. })) {
            context.state.store(*op, *when, values);
        }
        for Acting { op, when, register, .. } in &all {
            match op {
                Do::Redirect { .. } => {
                    let result = context.state.redirect(*op, *when, values);
                    let old = context.registers.get(values, *register);
                    results.push((*register, values.either(*when, result, old)));
                }
                Do::Args { k, .. } => context.state.argue(*k, *op, values),
                _ => {}
            }
        }
        for Acting { op, register, .. } in &all {
            match op {
                Do::Adjust { .. } => results.push((*register, context.state.adjust(*op, values))),
                Do::Request { answer, .. } => {
                    let result = context.state.request(*op, touched, values);
                    context.asked += 1;
                    if *answer {
                        results.push((*register, result));
                    }
                }
                _ => {}
            }
        }
        context.registers.0.extend(results);
        Ok(())
    }
}

/// Whether an operation does more than give a result.
fn has_effect(op: &Operation) -> bool {
    matches!(op, Do::Store { .. } | Do::Redirect { .. } | Do::Args { .. } | Do::Adjust { .. } | Do::Request { .. })
}

/// Whether the operations of lanes in one row have one meaning.
fn together(all: &[&Acting], touched: &[Touched], leaves: bool) -> Result<(), Why> {
    for (count, acting) in all.iter().enumerate() {
        let others = || all.iter().filter(|other| other.lane != acting.lane);
        let stores = |window: Window| move |other: &&&Acting| extent(&other.op).is_some_and(|(it, _)| it == window);
        match acting.op {
            Do::Store { .. } => {
                let Some((window, extent_of)) = extent(&acting.op) else { continue };
                let meets = |other: &&&Acting| {
                    extent(&other.op).is_some_and(|(it, other)| it == window && other.meets(extent_of))
                };
                if let Some(other) = all[..count].iter().find(meets) {
                    return Err(Why::TwoStores(other.lane, acting.lane));
                }
            }
            Do::Args { .. } if acting.when.is_some() => return Err(Why::Acts(acting.lane)),
            Do::Adjust { .. } | Do::Request { .. } if acting.when.is_some() => return Err(Why::Acts(acting.lane)),
            Do::Adjust { .. } => {
                let request = others().any(|other| matches!(other.op, Do::Request { .. }));
                if leaves || request || others().any(|other| stores(Window::Packet)(&other)) {
                    return Err(Why::Together(acting.lane));
                }
            }
            Do::Request { asks, answer, .. } => {
                // The context goes on with the answer, and the memory that the answer points to is valid only until
                // then.
                let held = leaves && (answer || !touched.is_empty());
                let redirects = others().any(|other| matches!(other.op, Do::Redirect { .. }));
                let meets = |touched: &Touched| {
                    others().any(|other| {
                        extent(&other.op).is_some_and(|(it, other)| it == touched.window && other.meets(touched.extent))
                    })
                };
                // Another program finds the whole state unchanged, or nothing happens afterwards.
                let calls =
                    matches!(asks, Asks::TailCall) && others().any(|other| !matches!(other.op, Do::Args { .. }));
                if held || redirects || calls || touched.iter().any(meets) {
                    return Err(Why::Together(acting.lane));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether a lane acts.
enum Acts {
    Yes,
    No,
    When(When),
}

fn acts(lane: &Lane, outcomes: &[Option<When>], assumed: &Assumed) -> Acts {
    let Some(guard) = lane.guard else { return Acts::Yes };
    // The outcome of a lane that does not compare is false.
    let Some(outcome) = outcomes.get(usize::from(guard.lane)).copied().flatten() else {
        return if guard.wanted { Acts::No } else { Acts::Yes };
    };
    let when = When { holds: outcome.holds == guard.wanted, ..outcome };
    match assumed.decides(when) {
        Some(true) => Acts::Yes,
        Some(false) => Acts::No,
        None => Acts::When(when),
    }
}

fn second(second: Second<Source>) -> Option<Source> {
    match second {
        Second::Source(source) => Some(source),
        Second::Imm(_) => None,
    }
}

fn find(known: &[(Source, Val)], source: Source) -> Val {
    known.iter().find(|(it, _)| *it == source).map_or(Val::NONE, |(_, value)| *value)
}

/// The value of a clock read.
fn clock(op: &crate::rows::LaneOp) -> Option<Special> {
    match op {
        Do::Move { from: Second::Source(Source::Special(special @ (Special::Time | Special::Random))), .. } => {
            Some(*special)
        }
        _ => None,
    }
}
