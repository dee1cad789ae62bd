// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Bytes that a helper copies.

use super::writer::Writer;
use crate::insn::Cond;
use crate::ir::{Arg, Space};

/// Up to this many bytes are copied without a loop.
const STRAIGHT: u64 = 64;

/// Copies so many bytes, from memory that they do not overlap: all at once when they are few and known, else eight at a
/// time, then one.
pub(super) fn copy(w: &mut Writer, (from, base): (Space, Arg), (to, place): (Space, Arg), bytes: Arg) {
    if let Arg::Const(count @ 0..=STRAIGHT) = bytes {
        return all(w, (from, base), (to, place), count);
    }
    let mut first = Arg::Const(0);
    for size in [8, 1] {
        let (head, [at]) = w.block();
        w.jump(head, &[first]);
        w.go(head);
        let next = w.add(at, Arg::Const(size));
        let through = w.when(Cond::Le, next, bytes);
        let (source, target) = (w.add(base, at), w.add(place, at));
        let part = w.load(from, source, 0, size as u32);
        w.store(to, target, 0, size as u32, part);
        w.jump(head, &[next]);
        w.go(through);
        first = at;
    }
}

/// Copies this many bytes without a loop.
pub(super) fn all(w: &mut Writer, (from, base): (Space, Arg), (to, place): (Space, Arg), count: u64) {
    let mut at = 0;
    for size in [8, 4, 2, 1] {
        while at + size <= count {
            let part = w.load(from, base, at as i32, size as u32);
            w.store(to, place, at as i32, size as u32, part);
            at += size;
        }
    }
}
