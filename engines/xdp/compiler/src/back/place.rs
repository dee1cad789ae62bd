// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rows and registers of a program. If registers are short, there are two remedies: the scheduler looks less far ahead,
//! or a variable moves to the stack. Which of them costs fewer rows depends on the program, so each reach is tried with
//! as many moves as it needs, and the shortest result wins.

use std::ops::Range;

use super::code::{Code, Node, Var};
use super::registers::{Short, registers};
use super::schedule::{Schedule, schedule};
use super::spill::Slots;
use super::{BackError, Others, emit};
use crate::prove::Claims;
use crate::rows::{Lanes, Row, isa};

/// Rows of a program.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    pub rows: Vec<Row>,
    pub claims: Claims,
    /// The program with the variables that were moved to the stack.
    pub code: Code,
    /// How many these are.
    pub spilled: usize,
}

/// Places a program, of which there are several shapes. `free`: bytes of unused stack.
///
/// # Errors
/// It needs more room for its values than there is.
pub(super) fn place(shapes: &[(Code, Lanes)], lanes: Lanes, free: u32) -> Result<Placed, BackError> {
    let mut best: Result<Placed, Option<BackError>> = Err(None);
    for (shape, like) in shapes {
        let order = order(shape);
        let slots = Slots::new(shape, free);
        for reach in [usize::MAX, 8 * like.count(), 2 * like.count(), 1] {
            let most = best.as_ref().map_or(usize::MAX, |best| best.rows.len());
            match attempt(shape.clone(), &order, lanes, slots.clone(), (*like, reach), most) {
                Ok(Some(placed)) if placed.spilled == 0 => {
                    best = Ok(placed);
                    break;
                }
                Ok(Some(placed)) => best = Ok(placed),
                Ok(None) => {}
                Err(error) => best = best.map_err(|first| first.or(Some(error))),
            }
        }
    }
    best.map_err(|error| {
        error.unwrap_or(BackError::NoRoom { free, stack: isa::SIZE_STACK - free, others: Others::default() })
    })
}

/// Places a program at one reach; None: it takes as many rows as the best so far.
fn attempt(
    mut code: Code,
    order: &[usize],
    lanes: Lanes,
    mut slots: Slots,
    (like, reach): (Lanes, usize),
    most: usize,
) -> Result<Option<Placed>, BackError> {
    loop {
        let Some(schedule) = schedule(&code, order, (lanes, like), reach, most) else { return Ok(None) };
        match registers(&code, &schedule, lanes, slots.short_lived()) {
            Ok(registers) => {
                let rows = emit::emit(&schedule, &registers, lanes);
                let claims = Claims { registers, rows: places(&code, &schedule) };
                return Ok(Some(Placed { rows, claims, code, spilled: slots.count() }));
            }
            Err(short) => {
                for Short(var) in short {
                    // A variable that was made to spill another is as short-lived as can be.
                    if slots.short_lived().contains(&var) {
                        return Err(BackError::NoRegisters { slot: slot(&code, var), others: Others::default() });
                    }
                    slots.spill(&mut code, var)?;
                }
            }
        }
    }
}

/// The rows of each block.
fn places(code: &Code, schedule: &Schedule) -> Vec<Option<Range<usize>>> {
    let mut places = vec![None; code.blocks.len()];
    let mut at = 0;
    for scheduled in &schedule.blocks {
        places[scheduled.block] = Some(at..at + scheduled.rows.len());
        at += scheduled.rows.len();
    }
    places
}

/// The order of blocks: after each block comes the one to which its end leads, unless that already has a place.
fn order(code: &Code) -> Vec<usize> {
    let mut order = Vec::new();
    let mut placed = vec![false; code.blocks.len()];
    let mut open = vec![0];
    while let Some(mut block) = open.pop() {
        while !std::mem::replace(&mut placed[block], true) {
            order.push(block);
            let mut next: Vec<usize> = code.blocks[block].next().collect();
            let last = code.blocks[block].nodes.last().and_then(Node::next);
            next.reverse();
            open.extend(&next);
            match last {
                Some(last) => block = last,
                None => break,
            }
        }
    }
    order
}

/// The place in the checked program where a variable is first named.
fn slot(code: &Code, var: Var) -> usize {
    let names = |node: &&Node| node.dst == Some(var) || node.uses().any(|used| used == var);
    code.blocks.iter().flat_map(|block| &block.nodes).find(names).map_or(0, |node| node.slot)
}
