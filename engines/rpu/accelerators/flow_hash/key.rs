// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! From a key in hexadecimal to the words that the host writes into a `flow_hash` table.

use crate::flow_hash::KEY_BYTES;

/// The key of Microsoft's published vectors, and of the card's own flow hash.
pub const MICROSOFT: [u8; KEY_BYTES] = [
    0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b,
    0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac,
    0x01, 0xfa,
];

/// Why a text is no key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// Something else than digits.
    #[error(
        "{path}:{line}: `{}` is no hexadecimal digit; write 40 bytes of two digits, `:` and blanks between them as you like, `#` before a comment",
        digit.escape_debug()
    )]
    Digit {
        /// The file.
        path: String,
        /// Line, from 1.
        line: usize,
        /// The present text.
        digit: char,
    },
    /// Too few or too many.
    #[error("{path}: {digits} hexadecimal digits; a key has 40 bytes, which is 80 digits")]
    Length {
        /// The file.
        path: String,
        /// How many.
        digits: usize,
    },
}

/// The host's writes, as offsets from the accelerator's window and words; `path` is for messages. A text without a
/// digit gives [`MICROSOFT`].
///
/// # Errors
/// When the text is no key.
pub fn compile(path: &str, text: &str) -> Result<Vec<(u32, u32)>, KeyError> {
    let mut digits = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let content = text.split('#').next().unwrap_or("");
        for digit in content.chars().filter(|c| !c.is_whitespace() && *c != ':') {
            let value = digit.to_digit(16).ok_or_else(|| KeyError::Digit { path: path.to_owned(), line, digit })?;
            digits.push(value as u8);
        }
    }
    let (pairs, rest) = digits.as_chunks::<2>();
    let key: Vec<u8> = match digits.len() {
        0 => MICROSOFT.to_vec(),
        digits if pairs.len() != KEY_BYTES || !rest.is_empty() => {
            return Err(KeyError::Length { path: path.to_owned(), digits });
        }
        _ => pairs.iter().map(|[high, low]| high << 4 | low).collect(),
    };
    let (words, _) = key.as_chunks::<4>();
    Ok((0..).step_by(4).zip(words.iter().map(|word| u32::from_le_bytes(*word))).collect())
}
