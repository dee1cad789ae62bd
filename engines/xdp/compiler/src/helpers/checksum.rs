// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `bpf_csum_diff`: the Internet checksum of the new bytes, less that of the old ones, folded to 16 bits as Linux does
//! since 6.14.
//!
//! A sum in one's complement may be taken over words of any multiple of 16 bits. Those of 48 bits are the widest that
//! are added up in 64 bits without an overflow, whatever a program can reach; carries come back in at the end. Such a
//! sum has two zeros: 0 comes out only when all that was added is 0, and so it does in Linux.

use super::Code;
use super::writer::Writer;
use crate::insn::{Cond, Width};
use crate::ir::{Arg, BinOp, Op, Place, Space};

/// Up to this many bytes are summed without a loop.
const STRAIGHT: u32 = 128;
const ZERO: Arg = Arg::Const(0);
const HALF: Arg = Arg::Const(0xFFFF_FFFF);

/// Bytes: where they are, and how many.
#[derive(Clone, Copy)]
struct Bytes {
    space: Space,
    base: Arg,
    count: Arg,
}

/// The bytes to subtract from the sum and those to add: place and length.
pub(super) fn difference(sides: [(Place, Arg); 2], seed: Arg) -> Code<'static> {
    Box::new(move |w| {
        let [from, to] = sides.map(|(Place { space, base, .. }, count)| Bytes { space, base, count });
        let (from, to) = (counted(w, from), counted(w, to));
        let seed = w.low(seed);
        // Without bytes to add, the seed goes into the subtracted sum.
        let (both, [added, taken, minus]) = w.block();
        let nothing_goes = w.when(Cond::Ne, from.count, ZERO);
        let something_comes = w.when(Cond::Eq, to.count, ZERO);
        let less = w.bin(BinOp::Xor, seed, HALF);
        let goes = sum(w, from);
        let taken_then = w.add(goes, less);
        w.jump(both, &[ZERO, taken_then, HALF]);
        w.go(something_comes);
        let goes = sum(w, from);
        let comes = sum(w, to);
        let added_then = w.add(comes, seed);
        w.jump(both, &[added_then, goes, HALF]);
        w.go(nothing_goes);
        let comes = sum(w, to);
        let added_then = w.add(comes, seed);
        // Minus nothing is nothing, not the other zero.
        w.jump(both, &[added_then, ZERO, ZERO]);
        w.go(both);
        let taken = half(w, taken);
        let taken = half(w, taken);
        let taken = w.bin(BinOp::Xor, taken, minus);
        let total = w.add(added, taken);
        let total = folded(w, total);
        w.done(total);
    })
}

/// A count is an int.
fn counted(w: &mut Writer, bytes: Bytes) -> Bytes {
    let count = match bytes.count {
        Arg::Const(count) => Arg::Const(count & 0xFFFF_FFFF),
        count => w.low(count),
    };
    Bytes { count, ..bytes }
}

/// The lower 32 bits, and the bits above them.
fn half(w: &mut Writer, sum: Arg) -> Arg {
    let low = w.low(sum);
    let high = w.bin(BinOp::Rsh, sum, Arg::Const(32));
    w.add(low, high)
}

/// A sum folded to 16 bits: of what the first step leaves at most one bit is above 32, so the second gives 32. To these
/// their halves, exchanged, are added: then the upper half is their sum with its carry, as in Linux' csum_fold.
fn folded(w: &mut Writer, sum: Arg) -> Arg {
    let sum = half(w, sum);
    let carry = w.bin(BinOp::Rsh, sum, Arg::Const(32));
    let sum = w.add(sum, carry);
    let narrow = |w: &mut Writer, op, a, b| w.value(Op::Bin { op, width: Width::W32, a, b });
    let below = narrow(w, BinOp::Mul, sum, Arg::Const(0x1_0001));
    let above = narrow(w, BinOp::Rsh, sum, Arg::Const(16));
    let both = narrow(w, BinOp::Add, below, above);
    narrow(w, BinOp::Rsh, both, Arg::Const(16))
}

/// The sum of all words. Behind bytes that fill no word there are zeros.
fn sum(w: &mut Writer, bytes: Bytes) -> Arg {
    match bytes.count {
        Arg::Const(count) if count <= STRAIGHT.into() => straight(w, bytes, count as u32),
        _ => around(w, bytes),
    }
}

/// All at once, as a tree: neighbours are added first. Programs write headers and stack variables as numbers of up to
/// 32 bits, whose value is known without a load; therefore the sum takes words of 32 bits there, and takes the
/// remainder of longer words first, where a header is.
fn straight(w: &mut Writer, bytes: Bytes, count: u32) -> Arg {
    const LONG: u32 = 6;
    let mut sums = Vec::new();
    let mut at = 0;
    while at < count {
        let left = (count - at) & !1;
        let size = match left {
            0 => 1,
            left if bytes.space != Space::Stack && left % LONG == 0 => LONG,
            left => left.min(4),
        };
        sums.push(w.load(bytes.space, bytes.base, at.cast_signed(), size));
        at += size;
    }
    while sums.len() > 1 {
        sums = sums.chunks(2).map(|pair| pair.iter().copied().reduce(|a, b| w.add(a, b)).unwrap_or(ZERO)).collect();
    }
    sums.first().copied().unwrap_or(ZERO)
}

/// Sixteen bytes at a time, then four, then one.
fn around(w: &mut Writer, bytes: Bytes) -> Arg {
    let end = w.add(bytes.base, bytes.count);
    let (mut from, mut before) = (bytes.base, ZERO);
    for size in [16, 4] {
        let (head, [at, sum]) = w.block();
        w.jump(head, &[from, before]);
        w.go(head);
        let next = w.add(at, Arg::Const(size));
        let through = w.when(Cond::Le, next, end);
        let part = straight(w, Bytes { base: at, ..bytes }, size as u32);
        let more = w.add(sum, part);
        w.jump(head, &[next, more]);
        w.go(through);
        (from, before) = (at, sum);
    }
    let (head, [at, sum, shift]) = w.block();
    w.jump(head, &[from, before, ZERO]);
    w.go(head);
    let through = w.when(Cond::Lt, at, end);
    let byte = w.load(bytes.space, at, 0, 1);
    let byte = w.bin(BinOp::Lsh, byte, shift);
    let more = w.add(sum, byte);
    let (next, further) = (w.add(at, Arg::Const(1)), w.add(shift, Arg::Const(8)));
    w.jump(head, &[next, more, further]);
    w.go(through);
    sum
}
