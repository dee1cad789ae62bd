// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Helpers that send records to the host: perf events and ring buffers.

use penstock_xdp_maps::{Errno, Ring};

use super::result;
use crate::state::{BUFFER, Packet, State};

/// Flags of `bpf_perf_event_output`: the queue, or this value for the processor's own; and the number of bytes of the
/// frame that follow the data.
const INDEX: u64 = 0xFFFF_FFFF;
const FRAME_BYTES: u64 = 0xF_FFFF << 32;
/// The longest event.
const MAX_EVENT: u64 = 0xFFFF;

pub(super) extern "C" fn perf_event_output(
    state: &mut State,
    _: u64,
    map: u64,
    flags: u64,
    data: u64,
    bytes: u64,
) -> u64 {
    result(perf_event(state, map, flags, data, bytes))
}

fn perf_event(state: &mut State, map: u64, flags: u64, data: u64, bytes: u64) -> Result<(), Errno> {
    let Packet { data: first, end, .. } = state.packet;
    let of_frame = (flags & FRAME_BYTES) >> 32;
    if flags & !(INDEX | FRAME_BYTES) != 0 {
        return Err(Errno::Invalid);
    }
    if of_frame > u64::from(end - first) {
        return Err(Errno::Fault);
    }
    let map = state.maps.by_handle(map).ok_or(Errno::Invalid)?;
    let queue = if flags & INDEX == INDEX { state.cpu as u32 } else { (flags & INDEX) as u32 };
    if queue >= state.maps.map(map).shape.max_entries {
        return Err(Errno::TooBig);
    }
    let cpu = state.maps.entry(map, queue).ok_or(Errno::NoEntry)?;
    if u64::from(cpu) != state.cpu {
        return Err(Errno::NotSupported);
    }
    if bytes + of_frame > MAX_EVENT {
        return Err(Errno::TooBig);
    }
    let mut event = state.maps.memory.bytes(data, bytes as usize)?.to_vec();
    event.extend_from_slice(state.maps.memory.bytes((BUFFER + first).into(), of_frame as usize)?);
    state.maps.events(map, queue).ok_or(Errno::NoEntry)?.put(event)
}

/// Flags of records: whether the host is woken. Here it polls.
const WAKE_FLAGS: u64 = 3;

fn ring(state: &mut State, map: u64) -> Option<&mut Ring> {
    let map = state.maps.by_handle(map)?;
    state.maps.ring(map)
}

pub(super) extern "C" fn ringbuf_output(state: &mut State, map: u64, data: u64, bytes: u64, flags: u64, _: u64) -> u64 {
    if flags & !WAKE_FLAGS != 0 {
        return Errno::Invalid.result();
    }
    let record = ring(state, map).and_then(|ring| ring.reserve(bytes));
    let Some(record) = record else { return Errno::Again.result() };
    let copied = state.maps.memory.copy(data, record, bytes as usize);
    ring(state, map).map(|ring| ring.release(record, copied.is_ok()));
    result(copied)
}

pub(super) extern "C" fn ringbuf_reserve(state: &mut State, map: u64, bytes: u64, flags: u64, _: u64, _: u64) -> u64 {
    if flags != 0 {
        return 0;
    }
    ring(state, map).and_then(|ring| ring.reserve(bytes)).unwrap_or(0)
}

pub(super) extern "C" fn ringbuf_submit(state: &mut State, record: u64, _: u64, _: u64, _: u64, _: u64) -> u64 {
    state.maps.release_record(record, true);
    0
}

pub(super) extern "C" fn ringbuf_discard(state: &mut State, record: u64, _: u64, _: u64, _: u64, _: u64) -> u64 {
    state.maps.release_record(record, false);
    0
}

pub(super) extern "C" fn ringbuf_query(state: &mut State, map: u64, what: u64, _: u64, _: u64, _: u64) -> u64 {
    ring(state, map).map_or(0, |ring| ring.query(what))
}
