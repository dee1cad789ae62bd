// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Tracks the packet's length. A program that has made room for a header, or has cut the packet to a given length, must
//! check the end again, because Linux forgets the earlier checks. But the length after the move follows from the length
//! before, so the result of the check is known.

use crate::check::Scalar;
use crate::ir::{Adjust, Arg, BinOp, Inst, Op, Special, ValueId};

/// No packet is longer.
pub(super) const LONGEST: u64 = 4096;
/// The shortest packet that a move leaves.
const SHORTEST: i64 = 14;

/// Lengths from one to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    min: i64,
    max: i64,
}

impl Span {
    const ANY: Span = Span { min: 0, max: LONGEST as i64 };

    fn join(self, other: Span) -> Span {
        Span { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// Lengths possible after a move of the head or the tail; any length before the first move.
    fn limited(self) -> Span {
        let within = |length: i64| length.clamp(SHORTEST, LONGEST as i64);
        Span { min: within(self.min), max: within(self.max) }
    }

    /// The intersection; if it is empty, this range: the path is never taken.
    fn meet(self, other: Span) -> Span {
        let both = Span { min: self.min.max(other.min), max: self.max.min(other.max) };
        if both.min <= both.max { both } else { self }
    }
}

/// Facts about the packet's length at a place in the program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Length {
    span: Span,
    /// A value that it is.
    read: Option<ValueId>,
    /// A value that is a number less it.
    less: Option<(ValueId, i64)>,
    /// The result of the last move, and the length range if that result is 0.
    moved: Option<(ValueId, Span)>,
}

impl Length {
    /// The beginning of a program.
    pub(super) const ANY: Length = Length { span: Span::ANY, read: None, less: None, moved: None };

    /// Points where ways meet. `at`: facts about a value at this place.
    pub(super) fn settled(self, at: impl Fn(ValueId) -> Scalar) -> Length {
        Length { span: self.now(at), ..self }
    }

    /// Facts that hold on both paths.
    pub(super) fn join(self, other: Length) -> Length {
        Length {
            span: self.span.join(other.span),
            read: self.read.filter(|read| other.read == Some(*read)),
            less: self.less.filter(|less| other.less == Some(*less)),
            moved: self.moved.filter(|moved| other.moved == Some(*moved)),
        }
    }

    fn now(&self, at: impl Fn(ValueId) -> Scalar) -> Span {
        let done = self.moved.filter(|(result, _)| at(*result).constant() == Some(0));
        let span = done.map_or(self.span, |(_, then)| then);
        let Some(read) = self.read else { return span };
        let known = at(read).wide;
        span.meet(Span { min: known.umin.min(LONGEST) as i64, max: known.umax.min(LONGEST) as i64 })
    }

    /// Moves the facts from before an instruction to after it. Returns the facts about the instruction's result.
    pub(super) fn step(&mut self, inst: &Inst, at: impl Fn(Arg) -> Scalar) -> Option<Scalar> {
        let now = self.now(|value| at(Arg::Value(value)));
        match &inst.op {
            Op::Read(Special::Len) => {
                self.read = inst.result;
                Some(Scalar::between(now.min.cast_unsigned(), now.max.cast_unsigned()))
            }
            Op::Bin { op: BinOp::Sub, a: Arg::Const(number), b: Arg::Value(value), .. }
                if self.read == Some(*value) =>
            {
                self.less = inst.result.map(|result| (result, i64::from(*number as u32 as i32)));
                None
            }
            Op::Adjust { what, by, .. } => {
                let then = self.left(now, *what, *by, at(*by));
                // A move that only shortens the packet, and leaves enough of it, always succeeds.
                let sure = *what == Adjust::Tail && then.min >= SHORTEST && then.max <= now.min;
                let then = if *what == Adjust::Meta { then } else { then.limited() };
                *self = Length {
                    span: if sure { then } else { now.join(then) },
                    moved: inst.result.map(|result| (result, then)),
                    ..Length::ANY
                };
                sure.then(|| Scalar::of(0))
            }
            _ => None,
        }
    }

    /// The length range after a successful move.
    fn left(&self, now: Span, what: Adjust, by: Arg, known: Scalar) -> Span {
        let (min, max) = (known.low.smin, known.low.smax);
        match what {
            Adjust::Meta => now,
            Adjust::Head => Span { min: now.min - max, max: now.max - min },
            Adjust::Tail => match self.less {
                Some((value, length)) if by == Arg::Value(value) => Span { min: length, max: length },
                _ => Span { min: now.min + min, max: now.max + max },
            },
        }
    }
}
