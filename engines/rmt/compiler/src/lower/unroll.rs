// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Parser loops over header stacks: a state is made once for each number of headers that the stacks may hold there.
//! Then `next` and `last` are elements of the stack, and a state that needs an element beyond the stack ends with an
//! error.

use std::collections::HashMap;

use super::stack::Stack;
use super::value::Place;
use crate::fault::{Check, Fault};
use crate::ir::{
    Expr, ExprKind, FieldId, Instance, InstanceId, Next, ParserOp, Program, State, StateId, Transition, error,
};
use crate::source::Span;

/// States that a parser becomes at most.
const STATES: usize = 4096;
/// Operations of all these states at most.
const OPERATIONS: usize = 1 << 18;

/// The meaning of a field of the parser.
#[derive(Clone, Copy)]
enum Role {
    /// The number of headers that a stack holds.
    Counter(usize),
    /// Of a stack, a field of the element `next`, by its place among the fields of an element.
    Next(usize, usize),
    /// The same of the element `last`.
    Last(usize, usize),
}

/// Headers in each stack.
type Counts = Vec<u32>;

struct Unroll<'p> {
    stacks: &'p [Stack],
    instances: &'p [Instance],
    old: Vec<State>,
    roles: HashMap<FieldId, Role>,
    /// Headers of the element `next`: their stack, and their place among the headers of an element.
    next: HashMap<InstanceId, (usize, usize)>,
    /// Of each state, the stacks whose number of headers matters from there on.
    live: Vec<Vec<bool>>,
    known: HashMap<(StateId, Counts), StateId>,
    todo: Vec<(StateId, Counts)>,
    made: Vec<State>,
}

/// Makes the states of a parser that works on stacks.
pub(super) fn unroll(program: &mut Program, stacks: &[Stack]) -> Check<()> {
    if stacks.iter().all(|stack| stack.counter.is_none()) {
        return Ok(());
    }
    let old = std::mem::take(&mut program.parser.states);
    let (mut roles, mut next) = (HashMap::new(), HashMap::new());
    for (index, stack) in stacks.iter().enumerate() {
        roles.extend(stack.counter.map(|counter| (counter, Role::Counter(index))));
        if let Some(place) = &stack.next {
            next.extend(place.headers().into_iter().enumerate().map(|(at, header)| (header, (index, at))));
            roles.extend(
                flat(&program.instances, place)
                    .into_iter()
                    .enumerate()
                    .map(|(at, field)| (field, Role::Next(index, at))),
            );
        }
        if let Some(place) = &stack.last {
            roles.extend(
                flat(&program.instances, place)
                    .into_iter()
                    .enumerate()
                    .map(|(at, field)| (field, Role::Last(index, at))),
            );
        }
    }
    let mut unroll = Unroll {
        stacks,
        instances: &program.instances,
        live: Vec::new(),
        old,
        roles,
        next,
        known: HashMap::new(),
        todo: Vec::new(),
        made: Vec::new(),
    };
    unroll.find_live();
    unroll.go(0, &vec![0; stacks.len()]);
    let (mut at, mut operations) = (0, 0);
    while let Some((state, counts)) = unroll.todo.get(at).cloned() {
        operations += unroll.old[state].ops.len();
        let too_much = match () {
            () if unroll.known.len() > STATES => Some(format!("{STATES} states")),
            () if operations > OPERATIONS => Some(format!("{OPERATIONS} operations")),
            () => None,
        };
        if let Some(limit) = too_much {
            let span = unroll.old[0].span;
            return Err(Fault::new(span, format!("the parser has more than {limit}"))
                .label("a state counts once for each number of headers that the stacks may hold there")
                .help("parse one stack before the next one, or make the stacks smaller"));
        }
        unroll.state(at, state, counts);
        at += 1;
    }
    program.parser.states = unroll.made;
    Ok(())
}

/// The fields of a header or header union, with validity, in an order that all places of the type share.
fn flat(instances: &[Instance], place: &Place) -> Vec<FieldId> {
    let of =
        |header: InstanceId| std::iter::once(instances[header].valid).chain(instances[header].fields.iter().copied());
    place.headers().into_iter().flat_map(of).collect()
}

impl Unroll<'_> {
    fn find_live(&mut self) {
        self.live = self.old.iter().map(|state| self.used(state)).collect();
        loop {
            let mut changed = false;
            for state in (0..self.old.len()).rev() {
                for next in self.old[state].next.states() {
                    for stack in 0..self.stacks.len() {
                        if self.live[next][stack] && !self.live[state][stack] {
                            self.live[state][stack] = true;
                            changed = true;
                        }
                    }
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// The stacks that a state names.
    fn used(&self, state: &State) -> Vec<bool> {
        let mut used = vec![false; self.stacks.len()];
        let mut note = |field: FieldId| {
            if let Some(Role::Counter(stack) | Role::Next(stack, _) | Role::Last(stack, _)) = self.roles.get(&field) {
                used[*stack] = true;
            }
        };
        for op in &state.ops {
            let mut op = op.clone();
            op.exprs_mut().into_iter().for_each(|expr| visit(expr, &mut note));
            op.fields_mut().into_iter().for_each(|field| note(*field));
            if let ParserOp::Extract { instance, .. } = op {
                note(self.instances[instance].valid);
            }
        }
        if let Transition::Select { keys, .. } = &state.next {
            keys.iter().for_each(|key| visit(key, &mut note));
        }
        used
    }

    /// The state that a state becomes with these numbers of headers.
    fn go(&mut self, state: StateId, counts: &Counts) -> StateId {
        let counts: Counts =
            counts.iter().zip(&self.live[state]).map(|(count, live)| if *live { *count } else { 0 }).collect();
        let new = self.known.len();
        let key = (state, counts);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        self.todo.push(key.clone());
        self.known.insert(key, new);
        new
    }

    fn state(&mut self, number: StateId, state: StateId, mut counts: Counts) {
        let State { name, ops, next, span } = self.old[state].clone();
        let shown: Vec<String> = counts
            .iter()
            .zip(&self.live[state])
            .filter(|(_, live)| **live)
            .map(|(count, _)| count.to_string())
            .collect();
        let name = if shown.is_empty() { name } else { format!("{name}[{}]", shown.join(",")) };
        let mut made = State { name, ops: Vec::new(), next: Transition::Direct(Next::Reject), span };
        let behind =
            |span| ParserOp::Verify { condition: Expr::constant(0, 1, span), error: error::STACK_OUT_OF_BOUNDS, span };
        let mut inside = true;
        for op in ops {
            let span = op.span();
            match self.op(op, &mut counts) {
                Some(op) => made.ops.extend(op),
                None => {
                    made.ops.push(behind(span));
                    inside = false;
                    break;
                }
            }
        }
        if inside {
            match self.transition(next, &counts) {
                Ok(next) => made.next = next,
                Err(span) => made.ops.push(behind(span)),
            }
        }
        debug_assert_eq!(self.made.len(), number);
        self.made.push(made);
    }

    /// An operation with the elements that it means; None if there is no such element. Changes of a counter leave no
    /// operation.
    fn op(&self, mut op: ParserOp, counts: &mut Counts) -> Option<Option<ParserOp>> {
        for expr in op.exprs_mut() {
            *expr = self.expr(expr, counts)?;
        }
        if let ParserOp::Assign { to, value, .. } = &op
            && let Some(Role::Counter(stack)) = self.roles.get(to)
        {
            counts[*stack] = value.value().and_then(|value| u32::try_from(value).ok()).unwrap_or(0);
            return Some(None);
        }
        for field in op.fields_mut() {
            *field = self.field(*field, counts)?;
        }
        if let ParserOp::Extract { instance, .. } = &mut op
            && let Some((stack, at)) = self.next.get(instance)
        {
            let element = self.stacks[*stack].elements.get(counts[*stack] as usize)?;
            *instance = element.headers()[*at];
            counts[*stack] += 1;
        }
        Some(Some(op))
    }

    /// The field that a field stands for; None if there is no such element.
    fn field(&self, field: FieldId, counts: &Counts) -> Option<FieldId> {
        let (stack, element, at) = match self.roles.get(&field) {
            Some(Role::Next(stack, at)) => (*stack, Some(counts[*stack]), *at),
            Some(Role::Last(stack, at)) => (*stack, counts[*stack].checked_sub(1), *at),
            Some(Role::Counter(_)) | None => return Some(field),
        };
        let element = self.stacks[stack].elements.get(element? as usize)?;
        Some(flat(self.instances, element)[at])
    }

    fn expr(&self, expr: &Expr, counts: &Counts) -> Option<Expr> {
        // The numbers of headers are known, so they may decide whether an element is looked at: `lastIndex == 1 && ...`.
        let counted = expr.replace(&|field| match self.roles.get(&field)? {
            Role::Counter(stack) => Some(Expr::constant(counts[*stack].into(), 32, expr.span)),
            Role::Next(..) | Role::Last(..) => None,
        });
        let mut inside = true;
        visit(&counted, &mut |field| inside &= self.field(field, counts).is_some());
        let by = |field| match self.roles.get(&field)? {
            Role::Counter(_) => None,
            Role::Next(..) | Role::Last(..) => {
                self.field(field, counts).map(|of| Expr::field(of, self.width(&counted, field), expr.span))
            }
        };
        inside.then(|| counted.replace(&by))
    }

    /// The width of a field, as an expression reads it.
    fn width(&self, expr: &Expr, field: FieldId) -> u32 {
        let mut width = 0;
        expr.walk(&mut |part| {
            if part.kind == ExprKind::Field(field) {
                width = part.width;
            }
        });
        width
    }

    fn transition(&mut self, next: Transition, counts: &Counts) -> Result<Transition, Span> {
        let to = |this: &mut Self, next: Next| match next {
            Next::State(state) => Next::State(this.go(state, counts)),
            end => end,
        };
        Ok(match next {
            Transition::Direct(next) => Transition::Direct(to(self, next)),
            Transition::Select { keys, mut rows, span } => {
                let keys: Option<Vec<Expr>> = keys.iter().map(|key| self.expr(key, counts)).collect();
                let keys = keys.ok_or(span)?;
                rows.iter_mut().for_each(|row| row.next = to(self, row.next));
                Transition::Select { keys, rows, span }
            }
        })
    }
}

/// Calls `note` for each field that an expression reads.
fn visit(expr: &Expr, note: &mut dyn FnMut(FieldId)) {
    expr.walk(&mut |part| {
        if let ExprKind::Field(field) = part.kind {
            note(field);
        }
    });
}
