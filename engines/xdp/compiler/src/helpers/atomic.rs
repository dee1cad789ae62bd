// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Atomic operations that may reach the stack. The stack belongs to one context, so a load, the operation and a store
//! are atomic there; the request for an atomic operation reaches only shared memory.

use super::Code;
use super::writer::Writer;
use crate::insn::{AtomicOp, Cond};
use crate::ir::{Arg, BinOp, Op, Place, Program, Space};
use crate::rows::isa;

/// Writes the code of all atomic operations that may reach the stack.
pub fn expand(program: &mut Program) {
    let mut block = 0;
    while block < program.blocks.len() {
        for at in 0..program.blocks[block].insts.len() {
            if let Some(code) = code(&program.blocks[block].insts[at].op) {
                code(&mut Writer::cut(program, block, at));
                break;
            }
        }
        block += 1;
    }
}

/// The code of an atomic operation; None: a request does it.
pub(super) fn code(op: &Op) -> Option<Code<'static>> {
    let Op::Atomic { op, place, value, expected } = *op else { return None };
    match place.space {
        Space::Stack => Some(Box::new(move |w| own(w, op, place, value, expected))),
        Space::Any => Some(Box::new(move |w| {
            let address = w.add(place.base, Arg::Const(i64::from(place.offset).cast_unsigned()));
            let distance = w.sub(address, Arg::Const(isa::ADDRESS_STACK.into()));
            let shared = w.when(Cond::Lt, distance, Arg::Const(isa::SIZE_STACK.into()));
            own(w, op, Place { space: Space::Stack, ..place }, value, expected);
            w.go(shared);
            let place = Place { space: Space::Shared, ..place };
            let before = w.value(Op::Atomic { op, place, value, expected });
            w.done(before);
        })),
        _ => None,
    }
}

/// An atomic operation on the stack.
fn own(w: &mut Writer, op: AtomicOp, place: Place, value: Arg, expected: Option<Arg>) {
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
}

fn store(w: &mut Writer, place: Place, value: Arg) {
    w.effect(Op::Store { place, swap: false, value });
}
