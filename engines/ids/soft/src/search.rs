// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The first place of a content in bytes.
//!
//! With AVX2 the search compares the first and the last byte of the content at 32 places at once, and the rest where
//! both are right. A letter of a content without case is compared with the bit set that tells its two cases apart.

use memchr::{memchr2, memmem};
use penstock_ids_compiler::rule::Content;

/// Places that are looked at together.
#[cfg(target_arch = "x86_64")]
const LANES: usize = 32;

/// First place of a content in bytes.
pub(crate) fn find(content: &Content, bytes: &[u8]) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2")
        && let [first, .., last] = content.bytes[..]
        && bytes.len() >= LANES + content.bytes.len() - 1
    {
        // SAFETY: the processor has AVX2.
        return unsafe { find_avx2(content, [first, last], bytes) };
    }
    find_portable(content, bytes)
}

fn find_portable(content: &Content, bytes: &[u8]) -> Option<usize> {
    if !content.nocase {
        return memmem::find(bytes, &content.bytes);
    }
    let first = *content.bytes.first()?;
    let mut at = 0;
    loop {
        at += memchr2(first, first.to_ascii_uppercase(), bytes.get(at..)?)?;
        if is_here(content, bytes.get(at..at + content.bytes.len())?) {
            return Some(at);
        }
        at += 1;
    }
}

/// Whether bytes of the length of a content are the content.
fn is_here(content: &Content, bytes: &[u8]) -> bool {
    if content.nocase { bytes.eq_ignore_ascii_case(&content.bytes) } else { bytes == content.bytes }
}

/// The same for bytes that have at least LANES places for the content.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn find_avx2(content: &Content, ends: [u8; 2], bytes: &[u8]) -> Option<usize> {
    use std::arch::x86_64::*;
    let length = content.bytes.len();
    let case = |byte: u8| if content.nocase && byte.is_ascii_alphabetic() { 0x20 } else { 0 };
    let wanted = ends.map(|byte| _mm256_set1_epi8(byte.cast_signed()));
    let cases = ends.map(|byte| _mm256_set1_epi8(case(byte)));
    let equal = |end: usize, bytes: &[u8; LANES]| {
        // SAFETY: the array has the bytes of a vector.
        let bytes = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
        _mm256_cmpeq_epi8(_mm256_or_si256(bytes, cases[end]), wanted[end])
    };
    // The last vector begins earlier, so that it ends with the last place.
    let last = bytes.len() - (LANES + length - 1);
    let mut at = 0;
    loop {
        let (first, behind) = (bytes[at..].first_chunk()?, bytes[at + length - 1..].first_chunk()?);
        let both = _mm256_and_si256(equal(0, first), equal(1, behind));
        let mut mask = _mm256_movemask_epi8(both).cast_unsigned();
        while mask != 0 {
            let place = at + mask.trailing_zeros() as usize;
            if is_here(content, &bytes[place..place + length]) {
                return Some(place);
            }
            mask &= mask - 1;
        }
        if at == last {
            return None;
        }
        at = last.min(at + LANES);
    }
}

#[cfg(test)]
mod tests {
    use penstock_ids_compiler::rule::Place;

    use super::*;

    /// Both forms find the first place, for contents and bytes of all lengths around those of a vector.
    #[test]
    fn both_forms_agree() {
        let mut seed = 5_u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        };
        let mut found = [0; 2];
        for round in 0..30_000 {
            let nocase = round % 2 == 1;
            let letters: &[u8] = if nocase { b"ab@`" } else { b"abAB" };
            let bytes: Vec<u8> = (0..1 + random(6)).map(|_| letters[random(4)]).collect();
            let place = Place::Absolute { offset: 0, end: None };
            let content = Content { bytes, nocase, negated: false, place, at_end: false, variables: None };
            let text: Vec<u8> = (0..random(150)).map(|_| b"abAB@`"[random(6)]).collect();
            let expected = text.windows(content.bytes.len()).position(|window| is_here(&content, window));
            assert_eq!([find(&content, &text), find_portable(&content, &text)], [expected; 2]);
            found[usize::from(expected.is_some())] += 1;
        }
        assert!(found.iter().all(|count| *count > 3_000), "{found:?}");
    }
}
