// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `bpf_xdp_load_bytes` and `bpf_xdp_store_bytes`: bytes of the packet to the program's memory, and back. A frame is in
//! one piece here, so these are checks and copies.

use super::Code;
use super::copy::copy;
use super::writer::Writer;
use crate::insn::Cond;
use crate::ir::{Arg, Place, Space, Special};

/// The largest offset and the largest number of bytes, whatever the packet has.
const LONGEST: Arg = Arg::Const(0xFFFF);
/// Results for longer copies, -EFAULT, and for bytes outside of the packet, -EINVAL.
const TOO_LONG: Arg = Arg::Const((-14i64).cast_unsigned());
const NOT_THERE: Arg = Arg::Const((-22i64).cast_unsigned());

/// Copies this many bytes from that offset in the packet on.
pub(super) fn load(offset: Arg, to: Place, count: Arg) -> Code<'static> {
    Box::new(move |w| in_packet(w, offset, count, |w, from, count| copy(w, from, (to.space, to.base), count)))
}

/// Copies this many bytes to that offset in the packet on.
pub(super) fn store(offset: Arg, from: Place, count: Arg) -> Code<'static> {
    Box::new(move |w| in_packet(w, offset, count, |w, to, count| copy(w, (from.space, from.base), to, count)))
}

/// Does something with bytes of the packet, if it has them.
fn in_packet(w: &mut Writer, offset: Arg, count: Arg, does: impl FnOnce(&mut Writer, (Space, Arg), Arg)) {
    let (offset, count) = (half(w, offset), half(w, count));
    let far = w.when(Cond::Le, offset, LONGEST);
    let long = w.when(Cond::Le, count, LONGEST);
    let (end, length) = (w.add(offset, count), w.read(Special::Len));
    let missing = w.when(Cond::Le, end, length);
    let data = w.read(Special::Data);
    let first = w.add(data, offset);
    does(w, (Space::Packet, first), count);
    w.done(Arg::Const(0));
    for (block, result) in [(far, TOO_LONG), (long, TOO_LONG), (missing, NOT_THERE)] {
        w.go(block);
        w.done(result);
    }
}

/// The lower half, also of a known value.
fn half(w: &mut Writer, number: Arg) -> Arg {
    match number {
        Arg::Const(number) => Arg::Const(number & 0xFFFF_FFFF),
        number => w.low(number),
    }
}
