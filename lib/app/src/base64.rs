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

/// Bytes as letters, with the padding.
#[must_use]
pub fn encoded(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let word = three.iter().enumerate().fold(0_u32, |word, (at, byte)| word | u32::from(*byte) << (16 - 8 * at));
        for at in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * at) & 63) as usize];
            text.push(if at <= three.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_letters() {
        // The test vectors of RFC 4648.
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")] {
            assert_eq!(encoded(bytes.as_bytes()), text);
        }
        assert_eq!(encoded(&[0xFB, 0xFF]), "+/8=");
    }

    #[test]
    fn letters_are_bytes() {
        // The test vectors of RFC 4648, with and without the padding.
        for (letters, bytes) in [("", ""), ("Zg==", "f"), ("Zm8", "fo"), ("Zm9v", "foo"), ("Zm9vYmE=", "fooba")] {
            assert_eq!(decoded(letters.as_bytes()), bytes.as_bytes());
        }
        assert_eq!((decoded(b"+/8="), decoded(b"Zm9v Zm9v")), (vec![0xFB, 0xFF], b"foo".to_vec()));
    }
}
