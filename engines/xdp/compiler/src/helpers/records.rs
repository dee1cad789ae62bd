// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Helpers that send records to the host: `bpf_ringbuf_…` and `bpf_perf_event_output`. A perf event array is one ring,
//! whose records begin with the processor; the queues of all processors are open.

use super::Code;
use super::copy::copy;
use super::ring::{counter, release, reserve};
use crate::card::ring::{TAKEN, WRITTEN};
use crate::insn::Cond;
use crate::ir::{Arg, BinOp, Place, Ring, Space, Special};

/// Flags of records: whether the host is woken. The host polls anyway.
const WAKE_FLAGS: u64 = 3;
/// Flags of `bpf_perf_event_output`: the queue, or this value for the processor's own; and the number of bytes of the
/// frame that follow the data.
const INDEX: u64 = 0xFFFF_FFFF;
const FRAME_BYTES: u64 = 0xF_FFFF << 32;
/// The longest event.
const MAX_EVENT: u64 = 0xFFFF;
/// Before an event's data: the processor, in eight bytes.
const PROCESSOR: u64 = 8;

const ZERO: Arg = Arg::Const(0);

/// An error of Linux.
const fn error(number: i64) -> Arg {
    Arg::Const((-number).cast_unsigned())
}

const FAULT: Arg = error(14);
const TOO_BIG: Arg = error(7);
const INVALID: Arg = error(22);
const AGAIN: Arg = error(11);
const NO_SPACE: Arg = error(28);
const NOT_SUPPORTED: Arg = error(95);

/// `bpf_ringbuf_output`.
pub(super) fn output(ring: Ring, data: Place, bytes: Arg, flags: Arg) -> Code<'static> {
    Box::new(move |w| {
        let unknown = w.bin(BinOp::And, flags, Arg::Const(!WAKE_FLAGS));
        let unknown = w.when(Cond::Eq, unknown, ZERO);
        let (record, full) = reserve(w, ring, bytes);
        copy(w, (data.space, data.base), (Space::Record, record), bytes);
        release(w, record, false);
        w.done(ZERO);
        for (block, result) in [(unknown, INVALID), (full, AGAIN)] {
            w.go(block);
            w.done(result);
        }
    })
}

/// `bpf_ringbuf_reserve`.
pub(super) fn begin(ring: Ring, bytes: Arg, flags: Arg) -> Code<'static> {
    Box::new(move |w| {
        let unknown = w.when(Cond::Eq, flags, ZERO);
        let (record, full) = reserve(w, ring, bytes);
        w.done(record);
        for block in [unknown, full] {
            w.go(block);
            w.done(ZERO);
        }
    })
}

/// `bpf_ringbuf_submit` and `bpf_ringbuf_discard`.
pub(super) fn end(record: Arg, discarded: bool) -> Code<'static> {
    Box::new(move |w| {
        release(w, record, discarded);
        w.done(ZERO);
    })
}

/// `bpf_ringbuf_query`: the waiting bytes, the ring's size, the positions of host and programs.
pub(super) fn query(ring: Ring, what: Arg) -> Code<'static> {
    Box::new(move |w| {
        let what = w.low(what);
        for number in 0..4 {
            let other = w.when(Cond::Eq, what, Arg::Const(number));
            let result = match number {
                0 => {
                    let written = counter(w, ring, WRITTEN);
                    let taken = counter(w, ring, TAKEN);
                    w.sub(written, taken)
                }
                1 => Arg::Const(ring.bytes.into()),
                2 => counter(w, ring, TAKEN),
                _ => counter(w, ring, WRITTEN),
            };
            w.done(result);
            w.go(other);
        }
        w.done(ZERO);
    })
}

/// `bpf_perf_event_output` into an array of this many queues; 0: one for each processor.
pub(super) fn event(ring: Ring, queues: u32, flags: Arg, data: Place, bytes: Arg) -> Code<'static> {
    Box::new(move |w| {
        let mut refused = Vec::new();
        let unknown = w.bin(BinOp::And, flags, Arg::Const(!(INDEX | FRAME_BYTES)));
        refused.push((w.when(Cond::Eq, unknown, ZERO), INVALID));
        let of_frame = w.bin(BinOp::Rsh, flags, Arg::Const(32));
        let length = w.read(Special::Len);
        refused.push((w.when(Cond::Le, of_frame, length), FAULT));
        let (chosen, [queue]) = w.block();
        let processor = Arg::Special(Special::Cpu);
        let index = w.low(flags);
        let named = w.when(Cond::Eq, index, Arg::Const(INDEX));
        w.jump(chosen, &[processor]);
        w.go(named);
        w.jump(chosen, &[index]);
        w.go(chosen);
        if queues > 0 {
            refused.push((w.when(Cond::Lt, queue, Arg::Const(queues.into())), TOO_BIG));
        }
        refused.push((w.when(Cond::Eq, queue, processor), NOT_SUPPORTED));
        let all = w.add(bytes, of_frame);
        refused.push((w.when(Cond::Le, all, Arg::Const(MAX_EVENT)), TOO_BIG));
        let all = w.add(all, Arg::Const(PROCESSOR));
        let (record, full) = reserve(w, ring, all);
        refused.push((full, NO_SPACE));
        w.store(Space::Record, record, 0, 8, processor);
        let place = w.add(record, Arg::Const(PROCESSOR));
        copy(w, (data.space, data.base), (Space::Record, place), bytes);
        let frame = w.read(Special::Data);
        let place = w.add(place, bytes);
        copy(w, (Space::Packet, frame), (Space::Record, place), of_frame);
        release(w, record, false);
        w.done(ZERO);
        for (block, result) in refused {
            w.go(block);
            w.done(result);
        }
    })
}
