// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Helper functions, with Linux' results.

mod checksum;
mod fib;
mod output;
mod packet;
mod print;
mod redirect;

use penstock_xdp_maps::Errno;

pub use print::render;

use crate::native::Entry;
use crate::state::State;

/// A helper, as native code calls it: the state and r1 to r5.
pub(crate) type Function = extern "C" fn(&mut State, u64, u64, u64, u64, u64) -> u64;

/// Helpers that native code has without a call, or treats specially.
pub(crate) const LOOKUP: u32 = 1;
pub(crate) const TIME: u32 = 5;
pub(crate) const PROCESSOR: u32 = 8;
pub(crate) const TAIL_CALL: u32 = 12;
pub(crate) const BOOT_TIME: u32 = 125;
pub(crate) const COARSE_TIME: u32 = 160;

/// How many programs may follow each other on a frame.
const MAX_TAIL_CALLS: u32 = 33;

/// The helper of that number.
pub(crate) fn function(number: u32) -> Option<Function> {
    Some(match number {
        LOOKUP => lookup,
        2 => update,
        3 => delete,
        6 => print::trace_printk,
        7 => random,
        23 => redirect::redirect,
        25 => output::perf_event_output,
        28 => checksum::csum_diff,
        44 => packet::adjust_head,
        51 => redirect::redirect_map,
        54 => packet::adjust_meta,
        65 => packet::adjust_tail,
        69 => fib::lookup,
        130 => output::ringbuf_output,
        131 => output::ringbuf_reserve,
        132 => output::ringbuf_submit,
        133 => output::ringbuf_discard,
        134 => output::ringbuf_query,
        177 => print::trace_vprintk,
        188 => packet::length,
        189 => packet::load_bytes,
        190 => packet::store_bytes,
        _ => return None,
    })
}

/// 0, or the error's number negated.
fn result(done: Result<(), Errno>) -> u64 {
    done.map_or_else(Errno::result, |()| 0)
}

extern "C" fn lookup(state: &mut State, map: u64, key: u64, _: u64, _: u64, _: u64) -> u64 {
    state.maps.lookup(map, state.cpu as u32, key)
}

extern "C" fn update(state: &mut State, map: u64, key: u64, value: u64, flags: u64, _: u64) -> u64 {
    result(state.maps.update(map, state.cpu as u32, key, value, flags))
}

extern "C" fn delete(state: &mut State, map: u64, key: u64, _: u64, _: u64, _: u64) -> u64 {
    result(state.maps.remove(map, key))
}

extern "C" fn random(state: &mut State, _: u64, _: u64, _: u64, _: u64, _: u64) -> u64 {
    state.random().into()
}

/// Finds the program of an entry of a program array; gives its native code, or 0.
pub(crate) extern "C" fn tail_call(state: &mut State, _: u64, map: u64, index: u64, _: u64, _: u64) -> u64 {
    next_program(state, map, index as u32).map_or(0, |entry| entry as usize as u64)
}

fn next_program(state: &mut State, map: u64, index: u32) -> Option<Entry> {
    let map = state.maps.by_handle(map)?;
    let handle = state.maps.entry(map, index)?;
    let program = state.program(handle).filter(|_| state.tail_calls < MAX_TAIL_CALLS)?;
    state.tail_calls += 1;
    state.entries.get(program.index()).copied()
}
