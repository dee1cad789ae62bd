// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Output of commands.
//!
//! Names of designs and bytes of frames come from strangers, and a terminal obeys control characters, so they are
//! escaped. If the reader has closed the output, the command ends without a message; if the output is full, it ends
//! with an error.

use std::fmt::{self, Write as _};
use std::io::{self, ErrorKind, Write as _};
use std::process;

/// Exit status of a command whose reader is gone: that of a program which the signal SIGPIPE ends.
const READER_GONE: i32 = 128 + 13;

/// Prints a line, as `println!` does; see [`line`](fn@crate::say::line).
#[macro_export]
macro_rules! say {
    ($($words:tt)*) => { $crate::say::line(format_args!($($words)*)) };
}

/// Prints a line on standard error, as `eprintln!` does, with control characters escaped. Nobody may read it there, so a
/// failure is no error.
#[macro_export]
macro_rules! note {
    ($($words:tt)*) => { $crate::say::note(format_args!($($words)*)) };
}

/// Notes a line.
pub fn note(words: fmt::Arguments<'_>) {
    notes(&format!("{words}\n"));
}

/// Notes a text of whole lines, such as a compiler's warnings; none if it is empty.
pub fn notes(text: &str) {
    let _ = io::stderr().lock().write_all(plain(text).as_bytes());
}

/// Says a line.
pub fn line(words: fmt::Arguments<'_>) {
    text(&format!("{words}\n"));
}

/// Says a text of whole lines.
pub fn text(text: &str) {
    let mut out = io::stdout().lock();
    match out.write_all(plain(text).as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => process::exit(READER_GONE),
        Err(error) => {
            // Standard error is the last place to report it.
            let _ = writeln!(io::stderr(), "error: cannot write standard output: {error}");
            process::exit(1)
        }
    }
}

/// The text with its control characters escaped, except ends of lines and tabs.
#[must_use]
pub fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => shown.push(character),
            // Characters that reorder a line deceive its reader as control characters do.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                // Writing to a String does not fail.
                let _ = write!(shown, "{}", character.escape_unicode());
            }
            character if character.is_control() => {
                let _ = write!(shown, "{}", character.escape_default());
            }
            character => shown.push(character),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(plain("a\x1b[31m\u{9b}2J\r\u{7}\u{202e}\tb\n"), "a\\u{1b}[31m\\u{9b}2J\\r\\u{7}\\u{202e}\tb\n");
        assert_eq!(plain("größer → 5 µs"), "größer → 5 µs");
    }
}
