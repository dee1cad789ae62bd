// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! From a list of patterns to the words that the host writes into a `string_match` table.

use crate::string_match::{ALLOWED, ENDS, FIRSTS, LASTS, PATTERNS, PLACES, THERE};

/// Bytes of the longest pattern.
pub const LONGEST: usize = 32;

/// Why there is no table.
#[derive(Debug, thiserror::Error)]
pub enum PatternError {
    /// A line is wrong.
    #[error(
        "{path}:{line}: {what}; write \"pattern\", with `nocase` after it if capitals do not matter, `#` before a comment; \
         within quotes \\xNN is a byte, \\\" a quote, \\\\ a backslash"
    )]
    Line {
        /// The file.
        path: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// There is no room for them all.
    #[error(
        "{path}:{line}: {what}; the table holds {PATTERNS} patterns with {PLACES} bytes in total: drop or shorten some"
    )]
    TooMany {
        /// The file.
        path: String,
        /// Line of the first that does not fit.
        line: usize,
        /// What there is.
        what: String,
    },
}

/// A pattern of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// 1 to [`LONGEST`] bytes.
    pub bytes: Vec<u8>,
    /// ASCII capitals do not matter.
    pub nocase: bool,
}

/// Parses a list of patterns, one a line; `path` is for messages.
///
/// # Errors
/// File and line of the fault.
pub fn parse(path: &str, text: &str) -> Result<Vec<Pattern>, PatternError> {
    let mut patterns: Vec<Pattern> = Vec::new();
    let mut bytes = 0;
    for (line, text) in (1..).zip(text.lines()) {
        let parsed = parse_line(text).map_err(|what| PatternError::Line { path: path.to_owned(), line, what })?;
        let Some(pattern) = parsed else {
            continue;
        };
        bytes += pattern.bytes.len();
        patterns.push(pattern);
        if patterns.len() > PATTERNS || bytes > PLACES {
            let what = format!("{} patterns with {bytes} bytes up to here", patterns.len());
            return Err(PatternError::TooMany { path: path.to_owned(), line, what });
        }
    }
    Ok(patterns)
}

/// The pattern of a line; None when it holds none.
fn parse_line(text: &str) -> Result<Option<Pattern>, String> {
    let text = text.trim();
    if text.is_empty() || text.starts_with('#') {
        return Ok(None);
    }
    let mut rest = text.strip_prefix('"').ok_or("a pattern stands in quotes")?.chars();
    let mut bytes = Vec::new();
    loop {
        match rest.next().ok_or("the closing quote is missing")? {
            '"' => break,
            '\\' => bytes.push(escaped(&mut rest)?),
            plain => bytes.extend(plain.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    if bytes.is_empty() || bytes.len() > LONGEST {
        return Err(format!("a pattern of {} bytes; it has 1 to {LONGEST}", bytes.len()));
    }
    let flag = rest.as_str().split('#').next().unwrap_or("").trim();
    match flag {
        "" | "nocase" => Ok(Some(Pattern { bytes, nocase: flag == "nocase" })),
        _ => Err(format!("`{}` behind the pattern", flag.chars().take(40).collect::<String>().escape_debug())),
    }
}

/// Reads the escape sequence after a backslash.
fn escaped(rest: &mut std::str::Chars<'_>) -> Result<u8, String> {
    match rest.next() {
        Some(same @ ('\\' | '"')) => Ok(same as u8),
        Some('x') => {
            let digits = (rest.next().and_then(|c| c.to_digit(16)), rest.next().and_then(|c| c.to_digit(16)));
            let (Some(high), Some(low)) = digits else {
                return Err("\\x needs two hexadecimal digits".to_owned());
            };
            Ok((high << 4 | low) as u8)
        }
        Some(other) => Err(format!("`\\{}` means nothing", other.escape_debug())),
        None => Err("the closing quote is missing".to_owned()),
    }
}

/// The host's writes, as offsets from the accelerator's window and words, for the patterns of a text; they replace all
/// that was there.
///
/// # Errors
/// File and line of the fault.
pub fn compile(path: &str, text: &str) -> Result<Vec<(u32, u32)>, PatternError> {
    let mut allowed = vec![0u128; 256];
    let (mut firsts, mut lasts, mut ends) = (0u128, 0u128, [0u8; PATTERNS]);
    let mut place = 0;
    for (pattern, end) in parse(path, text)?.iter().zip(&mut ends) {
        firsts |= 1 << place;
        for &byte in &pattern.bytes {
            let cases = if pattern.nocase { [byte.to_ascii_lowercase(), byte.to_ascii_uppercase()] } else { [byte; 2] };
            cases.iter().for_each(|&case| allowed[usize::from(case)] |= 1 << place);
            place += 1;
        }
        lasts |= 1 << (place - 1);
        *end = (place - 1) as u8 | THERE;
    }
    let words = |base: u32, places: u128| (0..4).map(move |w| (base + 4 * w, (places >> (32 * w)) as u32));
    let bytes = (ALLOWED..).step_by(16).zip(allowed).flat_map(|(base, places)| words(base, places));
    let rest = words(FIRSTS, firsts).chain(words(LASTS, lasts));
    Ok(bytes.chain(rest).chain((ENDS..).step_by(4).zip(ends.map(u32::from))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_pattern_in_quotes() {
        let text = "# list\n\n \"a b#\" nocase # comment\n\"\\x00\\xfF\\\"\\\\\"#\n";
        let patterns = parse("list", text).unwrap();
        assert_eq!(patterns.len(), 2);
        assert_eq!(patterns[0], Pattern { bytes: b"a b#".to_vec(), nocase: true });
        assert_eq!(patterns[1], Pattern { bytes: vec![0, 0xFF, b'"', b'\\'], nocase: false });
    }
}
