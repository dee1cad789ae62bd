// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `bpf_xdp_adjust_tail` and `bpf_xdp_adjust_head`: the work that remains around the core's own moves. New bytes at the
//! tail become 0, and the metadata goes along with the head, in words of four bytes, of which it is made.

use super::Code;
use super::writer::Writer;
use crate::insn::Cond;
use crate::ir::{Adjust, Arg, BinOp, Op, Space, Special};

/// Up to this many new bytes are cleared without a loop.
const STRAIGHT: i64 = 64;
/// The shortest packet that a helper leaves.
const SHORTEST: u64 = 14;
/// The result of a refused request: -EINVAL.
const REFUSED: Arg = Arg::Const((-22i64).cast_unsigned());
const ZERO: Arg = Arg::Const(0);

/// Moves the tail. None: it never grows the packet.
pub(super) fn tail(by: Arg) -> Option<Code<'static>> {
    let straight = match by {
        Arg::Const(number) => {
            let number = i64::from(number as u32 as i32);
            if number <= 0 {
                return None;
            }
            (number <= STRAIGHT).then_some(number as u32)
        }
        _ => None,
    };
    Some(Box::new(move |w| {
        let result = w.value(Op::Adjust { what: Adjust::Tail, by, bare: true });
        let by = w.int(by);
        let shrunk = w.when(Cond::Sgt, by, ZERO);
        let failed = w.when(Cond::Eq, result, ZERO);
        let end = w.read(Special::DataEnd);
        let start = w.sub(end, by);
        match straight {
            Some(bytes) => clear(w, start, bytes),
            None => clear_to(w, start, end),
        }
        w.done(ZERO);
        for other in [shrunk, failed] {
            w.go(other);
            w.done(result);
        }
    }))
}

/// Clears this many bytes.
fn clear(w: &mut Writer, start: Arg, bytes: u32) {
    let mut at = 0;
    for size in [8, 4, 2, 1] {
        while at + size <= bytes {
            w.store(Space::Packet, start, at.cast_signed(), size, ZERO);
            at += size;
        }
    }
}

/// Clears up to a place: eight bytes at a time, then one.
fn clear_to(w: &mut Writer, start: Arg, end: Arg) {
    let mut from = start;
    for size in [8, 1] {
        let (head, [at]) = w.block();
        w.jump(head, &[from]);
        w.go(head);
        let next = w.add(at, Arg::Const(size.into()));
        let through = w.when(Cond::Le, next, end);
        w.store(Space::Packet, at, 0, size, ZERO);
        w.jump(head, &[next]);
        w.go(through);
        from = at;
    }
}

/// Moves the head of a packet that may have metadata. Bytes are copied while both places are part of packet and
/// metadata: before the head moves up, and after it has moved down.
pub(super) fn head(by: Arg) -> Code<'static> {
    Box::new(move |w| {
        let by = w.int(by);
        let down = w.when(Cond::Sgt, by, ZERO);
        let length = w.read(Special::Len);
        let most = w.sub(length, Arg::Const(SHORTEST));
        let too_far = w.when(Cond::Sle, by, most);
        copy(w, by, true);
        let result = adjust(w, by);
        w.done(result);
        w.go(too_far);
        w.done(REFUSED);
        w.go(down);
        let result = adjust(w, by);
        let failed = w.when(Cond::Eq, result, ZERO);
        copy(w, by, false);
        w.done(ZERO);
        w.go(failed);
        w.done(result);
    })
}

fn adjust(w: &mut Writer, by: Arg) -> Arg {
    w.value(Op::Adjust { what: Adjust::Head, by, bare: true })
}

/// Copies the metadata by so many bytes: up from where it is, the last word first; down to where it is now, the first
/// word first.
fn copy(w: &mut Writer, by: Arg, up: bool) {
    const WORD: Arg = Arg::Const(4);
    let (meta, data) = (w.read(Special::DataMeta), w.read(Special::Data));
    let (head, [at]) = w.block();
    w.jump(head, &[if up { data } else { meta }]);
    w.go(head);
    let (through, next) = if up {
        let through = w.when(Cond::Gt, at, meta);
        let from = w.sub(at, WORD);
        let word = w.load(Space::Packet, from, 0, 4);
        let to = w.add(from, by);
        w.store(Space::Packet, to, 0, 4, word);
        (through, from)
    } else {
        let through = w.when(Cond::Lt, at, data);
        let from = w.bin(BinOp::Sub, at, by);
        let word = w.load(Space::Packet, from, 0, 4);
        w.store(Space::Packet, at, 0, 4, word);
        (through, w.add(at, WORD))
    };
    w.jump(head, &[next]);
    w.go(through);
}
