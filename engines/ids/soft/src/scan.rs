// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The filter over bytes: engines/ids/machine.md, section 1.

use penstock_ids_compiler::Filter;
use penstock_ids_compiler::filter::{WAYS, mix};

/// The last 8 bytes of a stream in lower case, the newest in the top byte; bytes before the stream are 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Window(u64);

/// Runs the filter over bytes that follow those of the window. `found` gets the number of each key and the offset of its
/// last byte, in the order of the machine.
#[must_use]
pub fn scan(filter: &Filter, window: Window, bytes: &[u8], found: &mut dyn FnMut(u16, usize)) -> Window {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("sse4.2") {
        // SAFETY: the processor has SSE 4.2.
        return unsafe { scan_sse42(filter, window, bytes, found) };
    }
    scan_with(filter, window, bytes, found, mix)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.2")]
fn scan_sse42(filter: &Filter, window: Window, bytes: &[u8], found: &mut dyn FnMut(u16, usize)) -> Window {
    scan_with(filter, window, bytes, found, |word| std::arch::x86_64::_mm_crc32_u32(0, word))
}

#[inline(always)]
fn scan_with(
    filter: &Filter,
    Window(mut window): Window,
    bytes: &[u8],
    found: &mut dyn FnMut(u16, usize),
    mix: impl Fn(u32) -> u32,
) -> Window {
    let [bitmap0, bitmap1, bitmap2] = &filter.bitmaps;
    for (at, byte) in bytes.iter().enumerate() {
        window = window >> 8 | u64::from(byte.to_ascii_lowercase()) << 56;
        let b = (window >> 32) as u32;
        let h4 = mix(b);
        let both = bitmap0[(h4 & 0x7FFF) as usize] & bitmap1[(h4 >> 15 & 0x7FFF) as usize];
        if both == 0 {
            continue;
        }
        if both & 1 == 1 {
            let h8 = mix(mix(window as u32) ^ b);
            if bitmap2[(h8 & 0xFFFF) as usize] & 1 == 1 {
                look(filter, window, h8, 8..=8, at, found);
            }
        }
        if both & 2 == 2 {
            look(filter, window, h4, 4..=7, at, found);
            look(filter, window, mix(b & 0xFFFF_FF00), 3..=3, at, found);
        }
    }
    Window(window)
}

/// Looks a window up in the exact table.
#[cold]
fn look(
    filter: &Filter,
    window: u64,
    group: u32,
    lengths: std::ops::RangeInclusive<u8>,
    at: usize,
    found: &mut dyn FnMut(u16, usize),
) {
    let places: [usize; WAYS] = filter.places(group);
    for place in places {
        let entry = &filter.exact[place];
        if lengths.contains(&entry.length) && entry.matches(window) {
            found(entry.id, at);
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
            let (mut window, mut at) = (Window::default(), 0);
            while at < text.len() {
                let end = text.len().min(at + 1 + random(12));
                window = scan(&filter, window, &text[at..end], &mut |id, last| found.push((at + last, id)));
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
    fn both_forms_of_the_hash_agree() {
        let mut filter = Filter::new(11);
        for text in ["abcdefgh", "xyz", "12345"] {
            filter.add(&Key::of(text.as_bytes()).unwrap()).unwrap();
        }
        let text = b"..ABCDEFGH.xYz.12345";
        let (mut one, mut other) = (Vec::new(), Vec::new());
        let left = scan(&filter, Window::default(), text, &mut |id, at| one.push((id, at)));
        let right = scan_with(&filter, Window::default(), text, &mut |id, at| other.push((id, at)), mix);
        assert_eq!((left, &one), (right, &other));
        assert_eq!(one, [(0, 9), (1, 13), (2, 19)]);
    }
}
