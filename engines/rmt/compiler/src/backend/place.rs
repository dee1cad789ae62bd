// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Units for the drafts of an action. A unit writes some words of the vector only, its operand A is a word of the vector,
//! and its operand B one of 16 words (engines/rmt/machine.md).

use super::units::{Draft, Source};
use super::words::{ABOUT, FIRST_SECOND, Op, Piece, UNITS, VERDICT, WORDS};

/// A draft as a unit does it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arranged {
    pub op: Op,
    /// Operand A; None if the operation does not read it.
    pub a: Option<Piece>,
    /// Operand B, and the immediate: the exclusive or of both is taken.
    pub b: Option<Source>,
    pub immediate: u32,
}

/// Whether operand B can be these bits. Parameters are put where it can take them.
pub(super) fn is_second(source: Source) -> bool {
    match source {
        Source::Piece(Piece { word, low, .. }) => {
            let seen = (FIRST_SECOND..WORDS as u32).contains(&word) || word == ABOUT;
            seen && low.is_multiple_of(8)
        }
        Source::Param(..) | Source::Const(_) | Source::Hash(_) => true,
    }
}

/// The operation with its operands in the places that can take them; None if no such places exist.
pub(super) fn arranged(op: Op, a: Source, b: Source) -> Option<Arranged> {
    let second = |op, a, b| match b {
        Source::Const(immediate) => Arranged { op, a, b: None, immediate },
        other => Arranged { op, a, b: Some(other), immediate: 0 },
    };
    match (op, a, b) {
        (Op::Set, Source::Piece(piece), _) => Some(Arranged { op: Op::Set, a: Some(piece), b: None, immediate: 0 }),
        (Op::Set, other, _) => Some(second(Op::SetB, None, other)),
        (Op::Xor, Source::Hash(_) | Source::Param(..), Source::Const(immediate)) => {
            Some(Arranged { op: Op::SetB, a: None, b: Some(a), immediate })
        }
        (_, Source::Piece(piece), other) if is_second(other) => Some(second(op, Some(piece), other)),
        (_, other, Source::Piece(piece)) if is_second(other) => Some(second(op.reversed(), Some(piece), other)),
        _ => None,
    }
}

/// Units that write a word, as bits.
fn writers(word: u32) -> u32 {
    match word {
        ABOUT => 0,
        VERDICT.. => 0xFF,
        _ => [0, 3, 5].iter().fold(0, |units, by| units | 1 << ((word + by) % UNITS as u32)),
    }
}

/// The unit of each draft; None if they do not all find one.
pub(super) fn place<'d>(drafts: impl IntoIterator<Item = &'d Draft>) -> Option<Vec<usize>> {
    let drafts: Vec<u32> = drafts.into_iter().map(|draft| writers(draft.to.word)).collect();
    let mut owner = [None; UNITS];
    for at in 0..drafts.len() {
        if !give(&drafts, at, &mut owner, &mut 0) {
            return None;
        }
    }
    let unit = |at| owner.iter().position(|of| *of == Some(at));
    (0..drafts.len()).map(unit).collect()
}

/// Gives a draft a unit; drafts that have one may get another.
fn give(drafts: &[u32], draft: usize, owner: &mut [Option<usize>; UNITS], tried: &mut u32) -> bool {
    for unit in 0..UNITS {
        if drafts[draft] & !*tried & 1 << unit == 0 {
            continue;
        }
        *tried |= 1 << unit;
        if owner[unit].is_none_or(|other| give(drafts, other, owner, tried)) {
            owner[unit] = Some(draft);
            return true;
        }
    }
    false
}
