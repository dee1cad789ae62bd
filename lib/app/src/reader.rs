// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A reader of bytes whose lengths are not trusted.

use std::fmt::Write;

/// The bytes that are left.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// A number of this many bytes.
    pub(crate) fn number(&mut self, bytes: usize) -> Option<usize> {
        Some(self.take(bytes)?.iter().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    }

    /// A vector whose length has this many bytes.
    pub(crate) fn vector(&mut self, bytes: usize) -> Option<Reader<'a>> {
        let length = self.number(bytes)?;
        self.take(length).map(Reader)
    }

    /// All numbers of two bytes.
    pub(crate) fn words(mut self) -> Vec<u16> {
        let mut all = Vec::new();
        while let Some(word) = self.number(2) {
            all.push(word as u16);
        }
        all
    }
}

/// Bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8], between: &str) -> Vec<u8> {
    let mut text = String::new();
    for (at, byte) in bytes.iter().enumerate() {
        // Writing to a string does not fail.
        let _ = write!(text, "{}{byte:02x}", if at > 0 { between } else { "" });
    }
    text.into_bytes()
}
