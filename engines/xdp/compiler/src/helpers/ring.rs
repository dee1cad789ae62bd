// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rings of records ([`crate::card::ring`]): how a program makes room for one and gives it to the host.

use super::writer::Writer;
use crate::card::ring::{DATA, DISCARDED, DONE, HEADER, LONGEST, LOST, TAKEN, WRITTEN};
use crate::insn::{AtomicOp, Cond};
use crate::ir::{Arg, BinOp, Op, Place, Ring, Space};

/// Bytes of a ring's memory.
fn word(ring: Ring, at: u32) -> Place {
    Place { space: Space::Record, base: Arg::Const((ring.address + at).into()), offset: 0, bytes: 8 }
}

/// A counter of a ring.
pub(super) fn counter(w: &mut Writer, ring: Ring, at: u32) -> Arg {
    w.value(Op::Load { place: word(ring, at), signed: false, swap: false })
}

/// Makes room for a record of so many bytes. Goes on with the record's address; gives the block where there is no room,
/// which is counted.
pub(super) fn reserve(w: &mut Writer, ring: Ring, bytes: Arg) -> (Arg, usize) {
    let whole = w.add(bytes, Arg::Const(u64::from(HEADER) + 7));
    let whole = w.bin(BinOp::And, whole, Arg::Const(!7));
    let (full, []) = w.block();
    if ring.bytes > LONGEST {
        let long = w.when(Cond::Le, whole, Arg::Const(LONGEST.into()));
        let on = w.here();
        w.go(long);
        w.jump(full, &[]);
        w.go(on);
    }
    let (again, []) = w.block();
    w.jump(again, &[]);
    w.go(again);
    let position = counter(w, ring, WRITTEN);
    let taken = counter(w, ring, TAKEN);
    let next = w.add(position, whole);
    let used = w.sub(next, taken);
    let no_room = w.when(Cond::Lt, used, Arg::Const(ring.bytes.into()));
    let place = word(ring, WRITTEN);
    let before = w.value(Op::Atomic { op: AtomicOp::Cmpxchg, place, value: next, expected: Some(position) });
    let late = w.when(Cond::Eq, before, position);
    let on = w.here();
    w.go(late);
    w.jump(again, &[]);
    w.go(no_room);
    w.jump(full, &[]);
    w.go(full);
    w.effect(Op::Atomic { op: AtomicOp::Add, place: word(ring, LOST), value: Arg::Const(1), expected: None });
    w.go(on);
    // The header: not done yet, with its mark.
    let mark = w.bin(BinOp::Rsh, position, Arg::Const(3));
    let mark = w.bin(BinOp::Xor, mark, Arg::Const(u64::MAX));
    let mark = w.bin(BinOp::Lsh, mark, Arg::Const(32));
    let header = w.bin(BinOp::Or, mark, bytes);
    let at = w.bin(BinOp::And, position, Arg::Const(u64::from(ring.bytes) - 1));
    let at = w.add(at, Arg::Const((ring.address + DATA).into()));
    w.store(Space::Record, at, 0, 8, header);
    (w.add(at, Arg::Const(HEADER.into())), full)
}

/// Gives a record to the host, which is to pass over it when it is `discarded`.
pub(super) fn release(w: &mut Writer, record: Arg, discarded: bool) {
    let state = if discarded { DONE | DISCARDED } else { DONE };
    let place = Place { space: Space::Record, base: record, offset: -HEADER.cast_signed(), bytes: 4 };
    w.effect(Op::Atomic { op: AtomicOp::Or, place, value: Arg::Const(state.into()), expected: None });
}
