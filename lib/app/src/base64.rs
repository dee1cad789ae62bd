// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Base64 (RFC 4648).

/// The value of a letter.
fn value(letter: u8) -> Option<u32> {
    Some(match letter {
        b'A'..=b'Z' => u32::from(letter - b'A'),
        b'a'..=b'z' => u32::from(letter - b'a') + 26,
        b'0'..=b'9' => u32::from(letter - b'0') + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

/// The bytes that letters stand for, up to the first byte that is no letter.
#[must_use]
pub fn decoded(letters: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(letters.len() / 4 * 3);
    let (mut word, mut bits) = (0_u32, 0);
    for value in letters.iter().map_while(|letter| value(*letter)) {
        word = word << 6 | value;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push((word >> bits) as u8);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_bytes() {
        // The test vectors of RFC 4648, with and without the padding.
        for (letters, bytes) in [("", ""), ("Zg==", "f"), ("Zm8", "fo"), ("Zm9v", "foo"), ("Zm9vYmE=", "fooba")] {
            assert_eq!(decoded(letters.as_bytes()), bytes.as_bytes());
        }
        assert_eq!((decoded(b"+/8="), decoded(b"Zm9v Zm9v")), (vec![0xFB, 0xFF], b"foo".to_vec()));
    }
}
