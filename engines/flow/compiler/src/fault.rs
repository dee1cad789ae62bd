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

/// All faults of a program, in the order of the source, each with its line and a caret below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults {
    file: String,
    /// Each fault with the line that it is in.
    faults: Vec<(Fault, String)>,
}

impl Faults {
    pub(crate) fn new(file: &str, text: &str, mut faults: Vec<Fault>) -> Faults {
        faults.sort_by_key(|fault| (fault.span.line, fault.span.column));
        faults.dedup();
        let line = |number: u32| text.lines().nth(number as usize - 1).unwrap_or_default().to_owned();
        let faults = faults.into_iter().map(|fault| (fault.clone(), line(fault.span.line))).collect();
        Faults { file: file.to_owned(), faults }
    }

    /// The faults, in the order of the source.
    pub fn iter(&self) -> impl Iterator<Item = &Fault> {
        self.faults.iter().map(|(fault, _)| fault)
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (Fault { span, message }, line)) in self.faults.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            writeln!(f, "{}:{}:{}: {message}", self.file, span.line, span.column)?;
            let number = span.line.to_string();
            // Tabs remain tabs, so that the caret is below its place at every tab width.
            let before = line.chars().take(span.column as usize - 1);
            let indent: String = before.map(|letter| if letter == '\t' { '\t' } else { ' ' }).collect();
            writeln!(f, " {number} | {line}")?;
            write!(f, " {:width$} | {indent}{}", "", "^".repeat(span.length.max(1) as usize), width = number.len())?;
        }
        Ok(())
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

    #[test]
    fn the_nearest_name_is_found() {
        assert_eq!(nearest("tcp.dprt", ["tcp.sport", "tcp.dport", "udp.dport"]), Some("tcp.dport"));
        assert_eq!(nearest("zebra", ["tcp.sport"]), None);
    }
}
