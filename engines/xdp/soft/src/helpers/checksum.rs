// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `bpf_csum_diff`: the Internet checksum of the new bytes, less that of the old ones.

use penstock_xdp_maps::Errno;

use crate::state::State;

pub(super) extern "C" fn csum_diff(
    state: &mut State,
    from: u64,
    from_bytes: u64,
    to: u64,
    to_bytes: u64,
    seed: u64,
) -> u64 {
    let (from_bytes, to_bytes, seed) = (from_bytes as u32, to_bytes as u32, seed as u32);
    let memory = &state.maps.memory;
    let (from, to) = match (memory.bytes(from, from_bytes as usize), memory.bytes(to, to_bytes as usize)) {
        (Ok(from), Ok(to)) => (from, to),
        _ => return Errno::Fault.result(),
    };
    let sum = match (from.is_empty(), to.is_empty()) {
        (true, true) => seed,
        (true, false) => add(to, seed),
        (false, true) => !add(from, !seed),
        (false, false) => plus(add(to, seed), !add(from, 0)),
    };
    fold(sum).into()
}

/// The one's complement sum of words of 16 bits, and what was there before. Behind bytes that fill no word there are
/// zeros; older kernels refuse such sizes.
fn add(bytes: &[u8], before: u32) -> u32 {
    let (words, rest) = bytes.as_chunks::<4>();
    let last = rest.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
    words.iter().fold(plus(before, last), |sum, word| plus(sum, u32::from_le_bytes(*word)))
}

/// A sum with end-around carry.
fn plus(a: u32, b: u32) -> u32 {
    let (sum, carry) = a.overflowing_add(b);
    sum + u32::from(carry)
}

/// To 16 bits.
fn fold(sum: u32) -> u16 {
    let sum = (sum & 0xFFFF) + (sum >> 16);
    ((sum & 0xFFFF) + (sum >> 16)) as u16
}
