// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Simpler states for parsers: a header that cannot be valid is not made invalid, and states that the compiler has made
//! join the states in front of them.

use std::collections::HashSet;

use crate::ir::{ExprKind, FieldId, Next, ParserOp, Program, State, StateId, StmtKind, Transition};

/// Simplifies the states of a parser.
pub(super) fn settle(program: &mut Program) {
    drop_invalidations(program);
    let states = std::mem::take(&mut program.parser.states);
    program.parser.states = joined(states);
}

/// Fields of the headers that may be valid behind an operation.
fn step(op: &ParserOp, program: &Program, valid: &mut HashSet<FieldId>) {
    match op {
        ParserOp::Extract { instance, .. } => {
            valid.insert(program.instances[*instance].valid);
        }
        ParserOp::Assign { to, value, .. } => {
            let never = match value.kind {
                ExprKind::Const(value) => value == 0,
                ExprKind::Field(from) => !valid.contains(&from),
                _ => false,
            };
            if never {
                valid.remove(to);
            } else {
                valid.insert(*to);
            }
        }
        ParserOp::Run(stmt) => {
            if let StmtKind::RegisterRead { to, .. } = stmt.kind {
                valid.insert(to);
            }
        }
        ParserOp::Advance { .. } | ParserOp::Verify { .. } => {}
    }
}

/// Leaves out the statements that make a header invalid which is invalid on all ways to them.
fn drop_invalidations(program: &mut Program) {
    let states = &program.parser.states;
    let mut enters: Vec<Option<HashSet<FieldId>>> = vec![None; states.len()];
    enters[0] = Some(HashSet::new());
    let mut todo = vec![0];
    while let Some(state) = todo.pop() {
        let mut valid = enters[state].clone().unwrap_or_default();
        states[state].ops.iter().for_each(|op| step(op, program, &mut valid));
        for next in states[state].next.states() {
            let known = enters[next].get_or_insert_with(|| {
                todo.push(next);
                HashSet::new()
            });
            let before = known.len();
            known.extend(&valid);
            if known.len() > before {
                todo.push(next);
            }
        }
    }
    let validity: HashSet<FieldId> = program.instances.iter().map(|instance| instance.valid).collect();
    let mut states = std::mem::take(&mut program.parser.states);
    for (state, enters) in states.iter_mut().zip(enters) {
        let mut valid = enters.unwrap_or_default();
        state.ops.retain(|op| {
            let idle = match op {
                ParserOp::Assign { to, value, .. } => {
                    validity.contains(to) && value.value() == Some(0) && !valid.contains(to)
                }
                _ => false,
            };
            step(op, program, &mut valid);
            !idle
        });
    }
    program.parser.states = states;
}

/// Whether the compiler has made the state.
fn is_made(state: &State) -> bool {
    state.name.contains('$')
}

fn map(next: &mut Transition, by: impl Fn(Next) -> Next) {
    match next {
        Transition::Direct(next) => *next = by(*next),
        Transition::Select { rows, .. } => rows.iter_mut().for_each(|row| row.next = by(row.next)),
    }
}

/// The states without those that the compiler has made and that another state can do without.
fn joined(mut states: Vec<State>) -> Vec<State> {
    // A state without operations that only leads on is not entered.
    let through = |states: &[State], mut next: Next| {
        for _ in 0..states.len() {
            match next {
                Next::State(state) if is_made(&states[state]) && states[state].ops.is_empty() => {
                    let Transition::Direct(behind) = states[state].next else { break };
                    next = behind;
                }
                _ => break,
            }
        }
        next
    };
    for state in 0..states.len() {
        let mut next = states[state].next.clone();
        map(&mut next, |next| through(&states, next));
        states[state].next = next;
    }
    let mut gone = HashSet::new();
    // A state that joins another one takes its ways along, so their numbers do not change.
    let mut ways = vec![0; states.len()];
    ways[0] = 1;
    states.iter().flat_map(|state| state.next.states()).for_each(|next| ways[next] += 1);
    for first in 0..states.len() {
        while let Transition::Direct(Next::State(second)) = states[first].next {
            let is_one = ways[second] == 1 && (is_made(&states[first]) || is_made(&states[second]));
            if second == first || gone.contains(&first) || !is_one {
                break;
            }
            let behind = states[second].clone();
            let state = &mut states[first];
            state.ops.extend(behind.ops);
            state.next = behind.next;
            if is_made(state) {
                (state.name, state.span) = (behind.name, behind.span);
            }
            gone.insert(second);
        }
    }
    let reached = {
        let mut ways = vec![false; states.len()];
        ways[0] = true;
        for (number, state) in states.iter().enumerate() {
            if !gone.contains(&number) {
                state.next.states().into_iter().for_each(|next| ways[next] = true);
            }
        }
        ways
    };
    let stays = |number: StateId| !gone.contains(&number) && (reached[number] || !is_made(&states[number]));
    let numbers: Vec<StateId> = (0..states.len())
        .scan(0, |count, number| {
            let own = *count;
            *count += usize::from(stays(number));
            Some(own)
        })
        .collect();
    let mut kept: Vec<State> =
        (0..states.len()).filter(|number| stays(*number)).map(|number| states[number].clone()).collect();
    for state in &mut kept {
        map(&mut state.next, |next| match next {
            Next::State(state) => Next::State(numbers[state]),
            end => end,
        });
    }
    kept
}
