// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rust functions that native code calls. The numbers that it gives them are those of its machine. Where a function has
//! no result, native code ignores the 0.

use penstock_rmt_compiler::ir::{HashAlgorithm, Match};

use crate::machine::{TableCode, matches};
use crate::native::Entry;
use crate::work::Work;
use crate::{bits, hash};

/// Looks up a table with one word of keys: see [`find`].
pub(crate) extern "C" fn find_word(work: &mut Work, table: usize, word: u64) -> Entry {
    find(work, table, &[word])
}

/// Looks up a table with any number of words of keys, which are in slots: see [`find`].
///
/// # Safety
/// `words` points to `count` slots.
pub(crate) unsafe extern "C" fn find_words(work: &mut Work, table: usize, words: *const u64, count: usize) -> Entry {
    // SAFETY: native code has written them; nothing else is there that writes slots.
    let words = unsafe { std::slice::from_raw_parts(words, count) };
    find(work, table, words)
}

/// Looks up a table. Gives the code of the action, and notes in `work` its number, its arguments and whether an entry
/// was found.
#[inline(always)]
fn find(work: &mut Work, table: usize, words: &[u64]) -> Entry {
    let about = &work.machine.tables[table];
    let found = work.state.tables[table].find(words);
    if about.counted {
        work.state.hit(table, found, work.length);
    }
    let chosen = match found.and_then(|found| work.state.tables[table].choices(found)) {
        Some(count) => (selected(work, about) % count as u64) as usize,
        None => 0,
    };
    let (action, args) = work.state.tables[table].call(found, chosen);
    (work.hit, work.action, work.args) = (found.is_some().into(), action as u64, args.as_ptr());
    work.machine.native.actions[action]
}

/// The hash that chooses a frame's action among those of a group.
#[cold]
fn selected(work: &mut Work, about: &TableCode) -> u64 {
    let Some((algorithm, parts, width)) = &about.selector else { return 0 };
    let hash = match algorithm {
        HashAlgorithm::Random => hash::random(&mut work.state.random),
        algorithm => {
            let bytes = work.bytes;
            hash::hash(*algorithm, &hash::gather(work.slots(), parts, bytes))
        }
    };
    hash & bits::mask(*width)
}

/// Computes a checksum.
pub(crate) extern "C" fn sum(work: &mut Work, number: usize) -> u64 {
    let (machine, bytes) = (work.machine, work.bytes);
    let payload = work.slots()[machine.slots.cursor as usize] as usize;
    machine.sums[number].compute(work.slots(), bytes, payload)
}

/// Carries out a function of v1model. Gives 1 if it ends ingress or egress.
pub(crate) extern "C" fn operation(work: &mut Work, number: usize) -> u64 {
    let machine = work.machine;
    machine.operations[number].carry_out(work).into()
}

/// Whether the keys of a `select` are in a value set.
pub(crate) extern "C" fn member(work: &mut Work, set: usize, select: usize) -> u64 {
    let keys = &work.machine.selects[select];
    let values: Vec<u128> = keys.iter().map(|key| key.load(work.slots())).collect();
    let fits = |(at, of): (usize, &Match)| matches(of, values[at], keys[at].width);
    work.state.value_sets[set].iter().any(|member| member.iter().enumerate().all(fits)).into()
}

/// Reads a register's cell to two slots; 0 behind its end.
///
/// # Safety
/// `to` points to two slots.
pub(crate) unsafe extern "C" fn read_register(
    work: &mut Work,
    register: usize,
    index: usize,
    to: *mut [u64; 2],
) -> u64 {
    let value = work.state.registers[register].get(index).copied().unwrap_or(0);
    // SAFETY: nothing else reads or writes slots meanwhile.
    unsafe { to.write([value as u64, (value >> 64) as u64]) };
    0
}

/// Writes a register's cell; behind its end nothing is written.
pub(crate) extern "C" fn write_register(work: &mut Work, register: usize, index: usize, low: u64, high: u64) -> u64 {
    if let Some(cell) = work.state.registers[register].get_mut(index) {
        *cell = u128::from(high) << 64 | u128::from(low);
    }
    0
}

/// Counts the frame in a counter's cell; behind its end nothing is counted.
pub(crate) extern "C" fn count(work: &mut Work, counter: usize, index: usize) -> u64 {
    if let Some(cell) = work.state.counters[counter].get_mut(index) {
        cell.packets += 1;
        cell.bytes += work.length;
    }
    0
}
