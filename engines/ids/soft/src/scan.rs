// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The filter over bytes: engines/ids/machine.md, section 1.

use penstock_ids_compiler::Filter;
use penstock_ids_compiler::filter::{BITMAPS, Entry, WAYS, mix};

/// The last 8 bytes of a stream in lower case, the newest in the top byte; bytes before the stream are 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Window(u64);

/// Bytes of the bitmaps, with two bits an entry: all three fit into the first-level cache.
const BYTES: [usize; 3] = [BITMAPS[0] / 4, BITMAPS[1] / 4, BITMAPS[2] / 4];

/// The filter's tables as the scanner reads them.
#[derive(Debug, Clone)]
pub struct Scanner {
    first: Box<[u8; BYTES[0]]>,
    second: Box<[u8; BYTES[1]]>,
    third: Box<[u8; BYTES[2]]>,
    filter: Filter,
}

/// Bits of an entry.
#[inline(always)]
fn entry<const N: usize>(bitmap: &[u8; N], index: u32) -> u8 {
    let index = index as usize % (4 * N);
    bitmap[index / 4] >> (index % 4 * 2) & 3
}

fn packed<const N: usize>(bitmap: &[u8]) -> Box<[u8; N]> {
    let mut packed = Box::new([0; N]);
    for (index, bits) in bitmap.iter().enumerate().take(4 * N) {
        packed[index / 4] |= bits << (index % 4 * 2);
    }
    packed
}

/// Eight bytes with their ASCII letters in lower case.
#[inline(always)]
fn lower(bytes: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let low = bytes & (0x7F * ONES);
    // Bit 7 of a byte in these words means: at least `A`, more than `Z`.
    let (from, behind) = (low + (0x80 - 0x41) * ONES, low + (0x7F - 0x5A) * ONES);
    let letters = from & !behind & !bytes & (0x80 * ONES);
    bytes | letters >> 2
}

impl Scanner {
    /// A scanner with these tables.
    #[must_use]
    pub fn new(filter: &Filter) -> Self {
        let [first, second, third] = &filter.bitmaps;
        Self { first: packed(first), second: packed(second), third: packed(third), filter: filter.clone() }
    }

    /// Bytes of the tables.
    #[must_use]
    pub fn bytes(&self) -> usize {
        BYTES.iter().sum::<usize>() + size_of_val(&*self.filter.exact)
    }

    /// Searches bytes that follow those of the window. `found` gets the number of each key and the offset of its last
    /// byte, in the order of the machine.
    #[must_use]
    pub fn scan(&self, window: Window, bytes: &[u8], found: &mut dyn FnMut(u16, usize)) -> Window {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("sse4.2") {
            // SAFETY: the processor has SSE 4.2.
            return unsafe { self.scan_sse42(window, bytes, found) };
        }
        self.scan_with(window, bytes, found, mix)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "sse4.2")]
    fn scan_sse42(&self, window: Window, bytes: &[u8], found: &mut dyn FnMut(u16, usize)) -> Window {
        self.scan_with(window, bytes, found, |word| std::arch::x86_64::_mm_crc32_u32(0, word))
    }

    #[inline(always)]
    fn scan_with(
        &self,
        Window(mut before): Window,
        bytes: &[u8],
        found: &mut dyn FnMut(u16, usize),
        mix: impl Fn(u32) -> u32 + Copy,
    ) -> Window {
        let (eights, rest) = bytes.as_chunks::<8>();
        for (at, eight) in eights.iter().enumerate() {
            let these = lower(u64::from_le_bytes(*eight));
            for byte in 0..7 {
                let window = before >> (8 * byte + 8) | these << (56 - 8 * byte);
                self.look(window, 8 * at + byte, found, mix);
            }
            self.look(these, 8 * at + 7, found, mix);
            before = these;
        }
        for (at, byte) in rest.iter().enumerate() {
            before = before >> 8 | u64::from(byte.to_ascii_lowercase()) << 56;
            self.look(before, 8 * eights.len() + at, found, mix);
        }
        Window(before)
    }

    /// Looks a window up in the bitmaps.
    #[inline(always)]
    fn look(&self, window: u64, at: usize, found: &mut dyn FnMut(u16, usize), mix: impl Fn(u32) -> u32) {
        let h4 = mix((window >> 32) as u32);
        let both = entry(&self.first, h4) & entry(&self.second, h4 >> 15);
        if both != 0 {
            self.look_closer(window, h4, both, at, found);
        }
    }

    /// Looks a window up in the last bitmap and the exact table.
    #[cold]
    #[inline(never)]
    fn look_closer(&self, window: u64, h4: u32, both: u8, at: usize, found: &mut dyn FnMut(u16, usize)) {
        let b = (window >> 32) as u32;
        if both & 1 == 1 {
            let h8 = mix(mix(window as u32) ^ b);
            if entry(&self.third, h8) & 1 == 1 {
                self.compare(window, h8, 8..=8, at, found);
            }
        }
        if both & 2 == 2 {
            self.compare(window, h4, 4..=7, at, found);
            self.compare(window, mix(b & 0xFFFF_FF00), 3..=3, at, found);
        }
    }

    /// Compares a window with the keys in its places.
    fn compare(
        &self,
        window: u64,
        group: u32,
        lengths: std::ops::RangeInclusive<u8>,
        at: usize,
        found: &mut dyn FnMut(u16, usize),
    ) {
        let places: [usize; WAYS] = self.filter.places(group);
        for place in places {
            let entry: &Entry = &self.filter.exact[place];
            if lengths.contains(&entry.length) && entry.matches(window) {
                found(entry.id, at);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
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

    #[test]
    fn eight_bytes_are_folded_at_once() {
        for byte in 0..=255_u8 {
            let bytes = [byte, b'A', b'Z', b'@', b'[', b'a', 0xC1, byte];
            assert_eq!(lower(u64::from_le_bytes(bytes)).to_le_bytes(), bytes.map(|byte| byte.to_ascii_lowercase()));
        }
    }

    #[test]
    fn both_forms_of_the_hash_agree() {
        let mut filter = Filter::new(11);
        for text in ["abcdefgh", "xyz", "12345"] {
            filter.add(&Key::of(text.as_bytes()).unwrap()).unwrap();
        }
        let text = b"..ABCDEFGH.xYz.12345";
        let (mut one, mut other) = (Vec::new(), Vec::new());
        let scanner = Scanner::new(&filter);
        let left = scanner.scan(Window::default(), text, &mut |id, at| one.push((id, at)));
        let right = scanner.scan_with(Window::default(), text, &mut |id, at| other.push((id, at)), mix);
        assert_eq!((left, &one), (right, &other));
        assert_eq!(one, [(0, 9), (1, 13), (2, 19)]);
    }
}
