// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Helpers that move the ends of a frame, within Linux' limits, and those that copy its bytes.

use penstock_xdp_maps::Errno;

use super::result;
use crate::state::{BUFFER, BUFFER_END, BUFFER_START, Packet, State};

/// The shortest frame that a helper leaves: an Ethernet header.
const MIN_FRAME: i64 = 14;
/// The longest metadata, which is a multiple of four.
const MAX_META: i64 = 252;
/// The largest offset and the largest number of bytes to copy.
const MAX_COPY: u32 = 0xFFFF;

/// The lower half of an argument, which is a C int.
fn int(delta: u64) -> i64 {
    i64::from(delta as u32 as i32)
}

pub(super) extern "C" fn adjust_head(state: &mut State, _: u64, delta: u64, _: u64, _: u64, _: u64) -> u64 {
    let Packet { meta, data, end } = state.packet;
    let (length, moved) = (data - meta, i64::from(data) + int(delta));
    if moved < i64::from(BUFFER_START + length) || moved > i64::from(end) - MIN_FRAME {
        return Errno::Invalid.result();
    }
    let data = moved as u32;
    let packet = Packet { meta: data - length, data, end };
    // The metadata stays before the frame.
    let copied = state.maps.memory.copy((BUFFER + meta).into(), (BUFFER + packet.meta).into(), length as usize);
    state.packet = packet;
    result(copied.and_then(|()| state.publish()))
}

pub(super) extern "C" fn adjust_tail(state: &mut State, _: u64, delta: u64, _: u64, _: u64, _: u64) -> u64 {
    let Packet { data, end, .. } = state.packet;
    let moved = i64::from(end) + int(delta);
    if moved > BUFFER_END.into() || moved < i64::from(data) + MIN_FRAME {
        return Errno::Invalid.result();
    }
    state.packet.end = moved as u32;
    if let Some(longer) = state.packet.end.checked_sub(end)
        && let Ok(new) = state.maps.memory.bytes_mut((BUFFER + end).into(), longer as usize)
    {
        new.fill(0);
    }
    result(state.publish())
}

pub(super) extern "C" fn adjust_meta(state: &mut State, _: u64, delta: u64, _: u64, _: u64, _: u64) -> u64 {
    let Packet { meta, data, .. } = state.packet;
    let moved = i64::from(meta) + int(delta);
    if moved < BUFFER_START.into() || moved > data.into() {
        return Errno::Invalid.result();
    }
    let length = i64::from(data) - moved;
    if length % 4 != 0 || length > MAX_META {
        return Errno::Access.result();
    }
    state.packet.meta = moved as u32;
    result(state.publish())
}

pub(super) extern "C" fn length(state: &mut State, _: u64, _: u64, _: u64, _: u64, _: u64) -> u64 {
    (state.packet.end - state.packet.data).into()
}

pub(super) extern "C" fn load_bytes(state: &mut State, _: u64, offset: u64, to: u64, bytes: u64, _: u64) -> u64 {
    let from = place(state, offset as u32, bytes as u32);
    result(from.and_then(|from| state.maps.memory.copy(from, to, bytes as u32 as usize)))
}

pub(super) extern "C" fn store_bytes(state: &mut State, _: u64, offset: u64, from: u64, bytes: u64, _: u64) -> u64 {
    let to = place(state, offset as u32, bytes as u32);
    result(to.and_then(|to| state.maps.memory.copy(from, to, bytes as u32 as usize)))
}

/// The place of bytes of the frame, if it has them.
fn place(state: &State, offset: u32, bytes: u32) -> Result<u64, Errno> {
    if offset > MAX_COPY || bytes > MAX_COPY {
        return Err(Errno::Fault);
    }
    let Packet { data, end, .. } = state.packet;
    if offset + bytes > end - data {
        return Err(Errno::Invalid);
    }
    Ok((BUFFER + data + offset).into())
}
