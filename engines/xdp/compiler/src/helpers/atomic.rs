// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Atomic operations on the stack, which is a context's own: a load, the operation, a store.

use super::Code;
use super::writer::Writer;
use crate::insn::{AtomicOp, Cond};
use crate::ir::{Arg, BinOp, Op, Place};

pub(super) fn own(op: AtomicOp, place: Place, value: Arg, expected: Option<Arg>) -> Code<'static> {
    Box::new(move |w| {
        let before = w.value(Op::Load { place, signed: false, swap: false });
        let binary = match op {
            AtomicOp::Add => BinOp::Add,
            AtomicOp::Or => BinOp::Or,
            AtomicOp::And => BinOp::And,
            AtomicOp::Xor => BinOp::Xor,
            AtomicOp::Xchg => {
                store(w, place, value);
                return w.done(before);
            }
            AtomicOp::Cmpxchg => {
                let expected = expected.unwrap_or(Arg::Const(0));
                let expected = if place.bytes == 4 { w.low(expected) } else { expected };
                let other = w.when(Cond::Eq, before, expected);
                store(w, place, value);
                w.done(before);
                w.go(other);
                return w.done(before);
            }
        };
        let after = w.bin(binary, before, value);
        store(w, place, after);
        w.done(before);
    })
}

fn store(w: &mut Writer, place: Place, value: Arg) {
    w.effect(Op::Store { place, swap: false, value });
}
