// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Finds states that no flow reaches, and rows that no frame matches.

use crate::facts::{self, Fact, Facts};
use crate::fault::Fault;
use crate::program::{Check, Element, Next, Program, Row};
use crate::syntax;

/// Steps that the search for a frame that matches a row takes, in all states together, before it assumes that there is
/// one.
const STEPS: u32 = 20_000;

/// Checks all elements.
pub(crate) fn check(file: &syntax::File, program: &Program) -> Result<(), Vec<Fault>> {
    let mut faults = Vec::new();
    for (source, element) in file.elements.iter().zip(&program.elements) {
        check_element(source, element, &mut faults);
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

fn check_element(source: &syntax::Element, element: &Element, faults: &mut Vec<Fault>) {
    let fitting: Vec<Vec<u8>> = (0..element.rows.len()).map(|at| states_that_fit(element, at, faults)).collect();
    let reached = reached(element, &fitting);
    for (state, name) in source.states.iter().enumerate() {
        if !reached[state] {
            let message = format!(
                "no flow gets into the state `{}`: no row of a reachable state leads there; write a row, or take the \
                 state \
                 out",
                name.text
            );
            faults.push(Fault::new(name.span, message));
        }
    }
}

/// The states in which a row can match a frame. It is a fault if there are no such states.
fn states_that_fit(element: &Element, at: usize, faults: &mut Vec<Fault>) -> Vec<u8> {
    let row = &element.rows[at];
    let mut facts = Facts::default();
    let known = keyed(element).chain(facts::of(row));
    if !{ known }.all(|(fact, holds)| facts.add(fact, holds)) {
        faults.push(Fault::new(row.span, "the row's tests contradict each other: no frame matches; take one out"));
        return vec![];
    }
    let states = (0..=255).take(element.states.len()).filter(|state| row.is_for(*state));
    let mut steps = STEPS;
    let fits = |state: &u8| fits_behind(element, &element.rows[..at], row, *state, &mut steps);
    let fitting: Vec<u8> = states.filter(fits).collect();
    if fitting.is_empty() {
        let covers = |earlier: &&Row| {
            let mut steps = STEPS;
            (0..=255).take(element.states.len()).filter(|state| row.is_for(*state)).all(|state| {
                earlier.is_for(state) && !fits_behind(element, std::slice::from_ref(earlier), row, state, &mut steps)
            })
        };
        let message = match element.rows[..at].iter().find(covers) {
            Some(earlier) => format!(
                "the row never matches: the row of line {} takes all its frames; move it before that row, or take it \
                 out",
                earlier.span.line
            ),
            None => {
                "the row never matches: the rows before it take all its frames, or its tests are about other states; \
                     put it before those, or take it out"
                    .to_owned()
            }
        };
        faults.push(Fault::new(row.span, message));
    }
    fitting
}

/// Facts about all frames that reach the rows: they have the fields of the key.
fn keyed(element: &Element) -> impl Iterator<Item = (Fact, bool)> {
    let fields = element.key.iter().flat_map(|key| &key.fields).filter(|field| !field.is_metadata());
    fields.map(|field| (Fact::There(*field), true))
}

/// Whether a frame of a flow in this state can match a row and no earlier row.
fn fits_behind(element: &Element, before: &[Row], row: &Row, state: u8, steps: &mut u32) -> bool {
    let mut facts = Facts::default();
    // Only flows in the first state may have no context.
    let known = keyed(element).chain(facts::of(row)).chain((state != 0).then_some((Fact::Check(Check::New), false)));
    let before: Vec<_> = before.iter().filter(|row| row.is_for(state)).map(facts::of).collect();
    { known }.all(|(fact, holds)| facts.add(fact, holds)) && escapes(&before, &facts, steps)
}

/// Whether the facts are possible if no row matches: for each row at least one fact must not hold.
fn escapes(rows: &[Vec<(Fact, bool)>], known: &Facts, steps: &mut u32) -> bool {
    let [row, rest @ ..] = rows else { return true };
    let mut sofar = known.clone();
    for (fact, holds) in row {
        if *steps == 0 {
            return true;
        }
        *steps -= 1;
        let mut otherwise = sofar.clone();
        if otherwise.add(*fact, !holds) && escapes(rest, &otherwise, steps) {
            return true;
        }
        // From here on this fact holds as the row asks. If that is impossible, the row does not match in any case, and
        // the search has tried that.
        if !sofar.add(*fact, *holds) {
            return false;
        }
    }
    false
}

/// The states that flows reach.
fn reached(element: &Element, fitting: &[Vec<u8>]) -> Vec<bool> {
    let mut reached = vec![false; element.states.len()];
    let mut waiting = vec![0u8];
    while let Some(state) = waiting.pop() {
        if std::mem::replace(&mut reached[usize::from(state)], true) {
            continue;
        }
        for (row, _) in element.rows.iter().zip(fitting).filter(|(_, states)| states.contains(&state)) {
            if let Next::State { state: next, hard, idle } = row.next {
                waiting.extend(next);
                waiting.extend([hard, idle].into_iter().flatten().filter_map(|timeout| timeout.then));
            }
        }
    }
    reached
}
