// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Lines of a stream, of a limited length.

use std::io::{self, BufRead, Read};

/// The next part of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line, or the bytes in front of the end of the stream.
    Whole,
    /// A line that is too long. It has been passed over, so that no part of it is taken for a line.
    TooLong,
    /// The end of the stream.
    End,
}

/// Adds the next line of a stream, of up to `longest` bytes with its end, to `line`.
///
/// # Errors
/// Those of the stream. `line` then has the bytes that came before.
pub(crate) fn next(stream: &mut impl BufRead, longest: u64, line: &mut Vec<u8>) -> io::Result<Line> {
    let left = longest.saturating_sub(line.len() as u64);
    stream.take(left).read_until(b'\n', line)?;
    if line.is_empty() {
        return Ok(Line::End);
    }
    if line.ends_with(b"\n") || (line.len() as u64) < longest {
        return Ok(Line::Whole);
    }
    stream.skip_until(b'\n')?;
    Ok(Line::TooLong)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn no_part_of_a_long_line_is_a_line() {
        let mut stream = io::Cursor::new("1234567\n12345678\nabc\n1234567812345678123\nx\n\nend");
        let mut found = Vec::new();
        loop {
            let mut line = Vec::new();
            match next(&mut stream, 8, &mut line).unwrap() {
                Line::End => break,
                Line::TooLong => found.push("-".to_owned()),
                Line::Whole => found.push(String::from_utf8(line).unwrap().trim_end().to_owned()),
            }
        }
        assert_eq!(found, ["1234567", "-", "abc", "-", "x", "", "end"]);
    }
}
