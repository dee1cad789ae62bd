// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Faults of programs, with their places.

use std::fmt;

/// A place in a source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span {
    /// From 1.
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
    /// In characters.
    pub length: u32,
}

/// A fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Its beginning.
    pub span: Span,
    /// The fault, and the way out.
    pub message: String,
}

impl Fault {
    /// A fault at a place.
    pub fn new(span: Span, message: impl Into<String>) -> Fault {
        Fault { span, message: message.into() }
    }
}

/// Faults that are printed.
const MOST_PRINTED: usize = 100;
/// Characters of a line that are printed before a fault, and from its beginning on.
const BEFORE: usize = 100;
const BEHIND: usize = 140;

/// All faults of a program, in the order of the source. The first ones are printed, each with its line and a caret below
/// it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults {
    file: String,
    faults: Vec<Fault>,
    /// The lines of the faults that are printed.
    quotes: Vec<Quote>,
}

/// The part of a line around a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Quote {
    text: String,
    /// The column of its first character, less one.
    skipped: usize,
}

impl Quote {
    fn new(line: &str, span: Span) -> Self {
        let skipped = (span.column as usize - 1).saturating_sub(BEFORE);
        Self { text: line.chars().skip(skipped).take(BEFORE + BEHIND).collect(), skipped }
    }
}

impl Faults {
    pub(crate) fn new(file: &str, text: &str, mut faults: Vec<Fault>) -> Faults {
        faults.sort_by_key(|fault| (fault.span.line, fault.span.column));
        faults.dedup();
        let line = |number: u32| text.lines().nth(number as usize - 1).unwrap_or_default();
        let quotes =
            faults.iter().take(MOST_PRINTED).map(|fault| Quote::new(line(fault.span.line), fault.span)).collect();
        Faults { file: file.to_owned(), faults, quotes }
    }

    /// The faults, in the order of the source.
    pub fn iter(&self) -> impl Iterator<Item = &Fault> {
        self.faults.iter()
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (Fault { span, message }, quote)) in self.faults.iter().zip(&self.quotes).enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            writeln!(f, "{}:{}:{}: {message}", self.file, span.line, span.column)?;
            let number = span.line.to_string();
            // Tabs remain tabs, so that the caret is below its place at every tab width.
            let before = quote.text.chars().take(span.column as usize - 1 - quote.skipped);
            let indent: String = before.map(|letter| if letter == '\t' { '\t' } else { ' ' }).collect();
            writeln!(f, " {number} | {}", quote.text)?;
            let carets = "^".repeat((span.length.max(1) as usize).min(BEHIND));
            write!(f, " {:width$} | {indent}{carets}", "", width = number.len())?;
        }
        match self.faults.len() - self.quotes.len() {
            0 => Ok(()),
            1 => write!(f, "\n1 more fault"),
            more => write!(f, "\n{more} more faults"),
        }
    }
}

impl std::error::Error for Faults {}

/// The known name nearest to an unknown one, if it is near enough to be a typing error.
pub(crate) fn nearest<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = unknown.chars().count().div_ceil(3);
    let near = known.into_iter().map(|name| (distance(unknown, name), name));
    near.filter(|(steps, _)| *steps <= most).min_by_key(|(steps, _)| *steps).map(|(_, name)| name)
}

/// Letters that must be added, removed or changed to turn one word into another (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The message for a line with many faults stays short, and its carets are below the faults.
    #[test]
    fn a_long_line_with_many_faults_is_cut() {
        let line: String = (0..2000).map(|number| format!("é{number:04} ")).collect();
        let fault = |number: u32| Fault::new(Span { line: 2, column: 6 * number + 1, length: 5 }, "wrong");
        let faults = Faults::new("a.efsm", &format!("first\n{line}\n"), (0..2000).map(fault).collect());
        assert_eq!(faults.iter().count(), 2000);
        let text = faults.to_string();
        assert!(text.len() < 100 * 800 && text.ends_with("\n1900 more faults"), "{}", text.len());
        let lines: Vec<&str> = text.lines().collect();
        for (number, of_fault) in lines[..300].chunks(3).enumerate() {
            assert_eq!(of_fault[0], format!("a.efsm:2:{}: wrong", 6 * number + 1));
            let column = of_fault[2].chars().position(|letter| letter == '^').unwrap_or_default();
            let marked: String = of_fault[1].chars().skip(column).take(5).collect();
            assert_eq!(marked, format!("é{number:04}"));
        }
    }

    #[test]
    fn the_nearest_name_is_found() {
        assert_eq!(nearest("tcp.dprt", ["tcp.sport", "tcp.dport", "udp.dport"]), Some("tcp.dport"));
        assert_eq!(nearest("zebra", ["tcp.sport"]), None);
    }
}
