// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The filter over bytes: it finds the same keys as the card (engines/ids/machine.md, section 1) in the same order, and
//! comes to the exact table by tables for a processor's caches in place of the card's bitmaps.

use std::mem::MaybeUninit;

use penstock_ids_compiler::Filter;
use penstock_ids_compiler::filter::{Entry, WAYS, mix};

use crate::tier::{LANES, READS, Tier};

/// The last 8 bytes of a stream in lower case, the newest in the top byte; bytes before the stream are 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Window(u64);

/// Bytes of a window.
const WINDOW: usize = 8;
/// Bytes that are searched at a time: those of most frames.
const PART: usize = 2048;

/// Bytes behind a part that are read and do not count.
const BEHIND: usize = LANES * 4 + READS;

/// Memory for the window, a part, and the bytes behind it.
type Memory = [MaybeUninit<u8>; WINDOW + PART + BEHIND];

/// A key that was found: the place in the machine's order within a part, and the key's number.
type Hit = (u32, u16);

/// Searches the window and a part of this length.
type Search<'a> = dyn Fn(&mut [u8], usize, &mut Vec<Hit>) + 'a;

/// Bits of the second look.
const SECOND: usize = 1 << 17;

/// The filter's tables as the scanner reads them.
#[derive(Debug, Clone)]
pub struct Scanner {
    /// Pieces of keys of 8 bytes.
    long: Tier<5, 4>,
    /// Pieces of keys of 3 to 7 bytes.
    short: Tier<4, 2>,
    /// The second look: bits of the groups that have keys.
    groups: Vec<u64>,
    exact: Vec<Entry>,
    /// There are keys of 3 bytes.
    threes: bool,
    /// Binary logarithm of the entries of a way.
    log: u32,
}

/// The hash of the machine.
type Mix = fn(u32) -> u32;

/// The hash by the processor's instruction.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.2")]
fn mix_sse42(word: u32) -> u32 {
    std::arch::x86_64::_mm_crc32_u32(0, word)
}

/// The pieces by which a key of 3 to 7 bytes is found at every other position. A byte that is not the key's has all
/// values.
fn short_pieces(key: &[u8], pieces: &mut Vec<[u8; 4]>) {
    let any = || (0..=u8::MAX).filter(|byte| !byte.is_ascii_uppercase());
    match *key {
        [.., a, b, c, d, e] => pieces.extend([[a, b, c, d], [b, c, d, e]]),
        [a, b, c, d] => {
            pieces.push([a, b, c, d]);
            pieces.extend(any().map(|before| [before, a, b, c]));
        }
        [a, b, c] => {
            pieces.extend(any().map(|behind| [a, b, c, behind]));
            pieces.extend(any().map(|before| [before, a, b, c]));
        }
        _ => {}
    }
}

/// The value from which the places of keys of this length follow, as the machine says.
#[inline(always)]
fn group(length: u8, window: u64, mix: impl Fn(u32) -> u32) -> u32 {
    let (a, b) = (window as u32, (window >> 32) as u32);
    match length {
        8 => mix(mix(a) ^ b),
        3 => mix(b & 0xFFFF_FF00),
        _ => mix(b),
    }
}

/// The window, a part, and zeros behind it, in memory of which nothing else is written.
fn joined<'a>(memory: &'a mut Memory, window: Window, part: &[u8]) -> &'a mut [u8] {
    let mut length = 0;
    for bytes in [&window.0.to_le_bytes(), part, &[0; BEHIND]] {
        let place = &mut memory[length..length + bytes.len()];
        // SAFETY: the place has the length of the bytes.
        unsafe { place.as_mut_ptr().copy_from_nonoverlapping(bytes.as_ptr().cast(), bytes.len()) };
        length += bytes.len();
    }
    let joined = std::ptr::from_mut(&mut memory[..length]) as *mut [u8];
    // SAFETY: these bytes have just been written.
    unsafe { &mut *joined }
}

impl Scanner {
    /// A scanner with these tables.
    #[must_use]
    pub fn new(filter: &Filter) -> Self {
        let (mut long, mut short) = (Vec::new(), Vec::new());
        let mut groups = vec![0; SECOND / 64];
        for entry in filter.exact.iter().filter(|entry| entry.length > 0) {
            let window = u64::from(entry.b) << 32 | u64::from(entry.a);
            let bytes = window.to_le_bytes();
            match entry.length {
                8 => long.extend((0..4).filter_map(|at| bytes[at..].first_chunk::<5>())),
                length => short_pieces(&bytes[WINDOW - usize::from(length)..], &mut short),
            }
            let bit = group(entry.length, window, mix) as usize % SECOND;
            groups[bit / 64] |= 1 << (bit % 64);
        }
        let (long, short) = (Tier::new(&long), Tier::new(&short));
        let threes = filter.exact.iter().any(|entry| entry.length == 3);
        Self { long, short, groups, exact: filter.exact.clone(), threes, log: filter.log }
    }

    /// Bytes of the tables.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.long.bytes() + self.short.bytes() + size_of_val(&*self.groups) + size_of_val(&*self.exact)
    }

    /// Searches bytes that follow those of the window. `found` gets the number of each key and the offset of its last
    /// byte, in the order of the machine.
    #[must_use]
    pub fn scan(&self, window: Window, bytes: &[u8], found: &mut dyn FnMut(u16, usize)) -> Window {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("sse4.2") {
            return self.scan_with(window, bytes, found, &|folded, length, hits| {
                // SAFETY: the processor has AVX2 and SSE 4.2.
                unsafe { self.part_avx2(folded, length, hits) }
            });
        }
        self.scan_with(window, bytes, found, &|folded, length, hits| self.part(folded, length, hits))
    }

    #[inline(always)]
    fn scan_with(
        &self,
        mut window: Window,
        bytes: &[u8],
        found: &mut dyn FnMut(u16, usize),
        search: &Search<'_>,
    ) -> Window {
        let mut memory: Memory = [MaybeUninit::uninit(); size_of::<Memory>()];
        let mut hits = Vec::new();
        for (number, part) in bytes.chunks(PART).enumerate() {
            let folded = joined(&mut memory, window, part);
            search(folded, part.len(), &mut hits);
            window = Window(folded[part.len()..].first_chunk().map_or(0, |last| u64::from_le_bytes(*last)));
            // Most parts have no hit. Pieces at two positions may belong to the same one.
            hits.sort_unstable();
            hits.dedup();
            for (place, id) in hits.drain(..) {
                found(id, number * PART + (place >> 4) as usize);
            }
        }
        window
    }

    /// Searches a part of this length.
    fn part(&self, folded: &mut [u8], length: usize, hits: &mut Vec<Hit>) {
        let mix: Mix = mix;
        self.part_with(folded, length, hits, mix, |tier, bytes| tier.mask(bytes), |tier, bytes| tier.mask(bytes));
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,sse4.2")]
    fn part_avx2(&self, folded: &mut [u8], length: usize, hits: &mut Vec<Hit>) {
        let mix = |word| mix_sse42(word);
        self.part_with(folded, length, hits, mix, |tier, at| tier.mask_avx2(at), |tier, at| tier.mask_avx2(at));
    }

    #[inline(always)]
    fn part_with(
        &self,
        folded: &mut [u8],
        length: usize,
        hits: &mut Vec<Hit>,
        mix: impl Fn(u32) -> u32 + Copy,
        long: impl Fn(&Tier<5, 4>, &[u8; READS]) -> u32,
        short: impl Fn(&Tier<4, 2>, &[u8; READS]) -> u32,
    ) {
        folded[WINDOW..WINDOW + length].make_ascii_lowercase();
        let (folded, end) = (&*folded, WINDOW + length);
        // The first position that is a piece of a key which does not end in the window.
        each(&self.long, 4, folded, end, long, |at| {
            for last in (at + 4).max(WINDOW)..(at + 8).min(end) {
                self.look(folded, last, &[8], hits, mix);
            }
        });
        // Only a key of 3 bytes ends before its piece does.
        let (ahead, lengths): (usize, &[u8]) = if self.threes { (2, &[4, 3]) } else { (3, &[4]) };
        each(&self.short, 4, folded, end, short, |at| {
            for last in (at + ahead).max(WINDOW)..(at + 5).min(end) {
                self.look(folded, last, lengths, hits, mix);
            }
        });
    }

    /// Compares the window that ends here with the keys in its places, of the groups of these lengths.
    #[inline(always)]
    fn look(&self, folded: &[u8], last: usize, lengths: &[u8], hits: &mut Vec<Hit>, mix: impl Fn(u32) -> u32 + Copy) {
        let Some(window) = folded[last + 1 - WINDOW..].first_chunk().map(|bytes| u64::from_le_bytes(*bytes)) else {
            return;
        };
        for length in lengths {
            let group = group(*length, window, mix);
            let bit = group as usize % SECOND;
            if self.groups[bit / 64] >> (bit % 64) & 1 == 1 {
                self.compare(window, group, *length, last - WINDOW, mix(group), hits);
            }
        }
    }

    /// Compares a window with the keys of a group.
    #[cold]
    #[inline(never)]
    fn compare(&self, window: u64, group: u32, length: u8, at: usize, again: u32, hits: &mut Vec<Hit>) {
        let (lengths, rank) = match length {
            8 => (8..=8, 0),
            3 => (3..=3, 2),
            _ => (4..=7, 1),
        };
        let low = |word: u32| (word & ((1 << self.log) - 1)) as usize;
        let high = |word: u32| (word >> (32 - self.log)) as usize;
        let indices: [usize; WAYS] = [low(group), high(group), low(again), high(again)];
        for (way, index) in indices.into_iter().enumerate() {
            let entry = &self.exact[way << self.log | index];
            if lengths.contains(&entry.length) && entry.matches(window) {
                hits.push(((at << 4 | rank << 2 | way) as u32, entry.id));
            }
        }
    }
}

/// Calls `found` with the positions from `begin` on at which pieces of a tier may begin.
#[inline(always)]
fn each<const GRAM: usize, const STRIDE: usize>(
    tier: &Tier<GRAM, STRIDE>,
    begin: usize,
    folded: &[u8],
    end: usize,
    mask: impl Fn(&Tier<GRAM, STRIDE>, &[u8; READS]) -> u32,
    mut found: impl FnMut(usize),
) {
    if tier.is_empty() {
        return;
    }
    // All positions are looked at before any of them is looked at closer: the processor need not guess between them.
    let mut masks = [0_u64; (PART + WINDOW) / 2 / 64 + 1];
    let count = (end - begin).div_ceil(LANES * STRIDE);
    for (number, masks) in masks[..count.div_ceil(8)].iter_mut().enumerate() {
        for eight in 0..(count - 8 * number).min(8) {
            let Some(bytes) = folded[begin + (8 * number + eight) * LANES * STRIDE..].first_chunk() else { return };
            *masks |= u64::from(mask(tier, bytes)) << (eight * LANES);
        }
    }
    for (number, mut mask) in masks[..count.div_ceil(8)].iter().copied().enumerate() {
        while mask != 0 {
            found(begin + (64 * number + mask.trailing_zeros() as usize) * STRIDE);
            mask &= mask - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use penstock_ids_compiler::rule::Key;

    use super::*;

    fn random() -> impl FnMut(usize) -> usize {
        let mut seed = 7_u64;
        move |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        }
    }

    /// The filter finds every key at every place where it ends, whatever the cuts, and nothing else.
    #[test]
    fn all_keys_are_found_across_cuts() {
        let mut random = random();
        for _ in 0..50 {
            let mut filter = Filter::new(11);
            let mut keys = Vec::new();
            for _ in 0..40 {
                let text: Vec<u8> = (0..3 + random(6)).map(|_| b"abC"[random(3)]).collect();
                let key = Key::of(&text).unwrap();
                keys.extend(filter.add(&key).map(|id| (id, key)));
            }
            let text: Vec<u8> = (0..500).map(|_| b"abcABC"[random(6)]).collect();
            let mut found = Vec::new();
            let scanner = Scanner::new(&filter);
            let (mut window, mut at) = (Window::default(), 0);
            while at < text.len() {
                let end = text.len().min(at + 1 + random(30));
                window = scanner.scan(window, &text[at..end], &mut |id, last| found.push((at + last, id)));
                at = end;
            }
            let lower = text.to_ascii_lowercase();
            let mut expected = Vec::new();
            for end in 1..=lower.len() {
                let ends = keys.iter().filter(|(_, key)| lower[..end].ends_with(key.bytes()));
                expected.extend(ends.map(|(id, _)| (end - 1, *id)));
            }
            found.sort_unstable();
            expected.sort_unstable();
            expected.dedup();
            assert_eq!(found, expected);
        }
    }

    /// With and without the processor's special instructions the same keys are found in the same order, that of the
    /// machine, also across the parts in which bytes are searched.
    #[test]
    fn both_forms_agree() {
        let mut random = random();
        let mut filter = Filter::new(11);
        for length in 3..=8 {
            for _ in 0..60 {
                let text: Vec<u8> = (0..length).map(|_| b"abcd"[random(4)]).collect();
                filter.add(&Key::of(&text).unwrap());
            }
        }
        let scanner = Scanner::new(&filter);
        for length in [0, 1, 7, 60, PART - 1, PART, 3 * PART + 5] {
            let text: Vec<u8> = (0..length).map(|_| b"abcdABxyz"[random(9)]).collect();
            let (mut one, mut other) = (Vec::new(), Vec::new());
            let left = scanner.scan(Window::default(), &text, &mut |id, at| one.push((id, at)));
            let portable = |folded: &mut [u8], length: usize, hits: &mut Vec<Hit>| scanner.part(folded, length, hits);
            let right = scanner.scan_with(Window::default(), &text, &mut |id, at| other.push((id, at)), &portable);
            assert_eq!((left, &one), (right, &other));
            assert!(one.len() >= length / 50);
            let order: Vec<_> = one
                .iter()
                .map(|(id, at)| {
                    let entry = filter.exact.iter().find(|entry| entry.length > 0 && entry.id == *id).unwrap();
                    (
                        *at,
                        match entry.length {
                            8 => 0,
                            3 => 2,
                            _ => 1,
                        },
                    )
                })
                .collect();
            assert!(order.is_sorted());
        }
    }
}
