// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Bytes as hexadecimal digits, as conformance suites write programs and memories.

/// Why digits are no bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum HexError {
    #[error("`{0}` is no hexadecimal digit; write bytes as two digits each, with or without spaces between them")]
    Digit(char),
    #[error("there are {0} digits, an odd number; a byte is two")]
    Odd(usize),
}

/// Reads bytes; space between digits does not count.
///
/// ```
/// assert_eq!(penstock_xdp_soft::read_hex("95 00\n0A"), Ok(vec![0x95, 0, 10]));
/// ```
pub fn read_hex(text: &str) -> Result<Vec<u8>, HexError> {
    let digits = text.chars().filter(|letter| !letter.is_whitespace());
    let digits =
        digits.map(|letter| letter.to_digit(16).ok_or(HexError::Digit(letter))).collect::<Result<Vec<_>, _>>()?;
    let (pairs, []) = digits.as_chunks::<2>() else { return Err(HexError::Odd(digits.len())) };
    Ok(pairs.iter().map(|[high, low]| (high * 16 + low) as u8).collect())
}
