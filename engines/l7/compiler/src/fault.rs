// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Faults of rule files, with their places.

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
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }
}

/// Faults that are shown; the others are counted.
const SHOWN: usize = 20;
/// Letters of a line that are shown, around the place of a fault.
const WIDTH: usize = 160;
/// Letters of a word of the source in a message.
const WORD: usize = 60;
/// Names that a message lists.
const LISTED: usize = 20;

/// All faults of a source, in its order. The first ones are shown, each with its line and carets below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults {
    file: String,
    faults: Vec<Fault>,
    /// The lines of the faults that are shown, as they are shown.
    shown: Vec<String>,
}

impl Faults {
    pub(crate) fn new(file: &str, text: &str, mut faults: Vec<Fault>) -> Self {
        faults.sort_by_key(|fault| (fault.span.line, fault.span.column));
        faults.dedup();
        let mut lines = (1..).zip(text.lines()).peekable();
        let mut line = |fault: &Fault| {
            while lines.next_if(|(number, _)| *number < fault.span.line).is_some() {}
            let found = lines.peek().filter(|(number, _)| *number == fault.span.line);
            excerpt(found.map_or("", |(_, line)| line), fault.span)
        };
        let shown = faults.iter().take(SHOWN).map(&mut line).collect();
        Self { file: file.to_owned(), faults, shown }
    }

    /// The faults, in the order of the source.
    pub fn iter(&self) -> impl Iterator<Item = &Fault> {
        self.faults.iter()
    }
}

/// The part of a line around a place, and carets below it. Tabs remain tabs, so that the carets are below their place at
/// every tab width.
fn excerpt(line: &str, span: Span) -> String {
    let place = (span.column as usize).saturating_sub(1);
    let begin = if place + span.length as usize <= WIDTH { 0 } else { place.saturating_sub(WIDTH / 4) };
    let mut rest = line.chars().skip(begin);
    let part: String = rest.by_ref().take(WIDTH).collect();
    let before = if begin > 0 { "... " } else { "" };
    let behind = if rest.next().is_some() { " ..." } else { "" };
    let blank = |letter| if letter == '\t' { '\t' } else { ' ' };
    let indent: String = before.chars().chain(part.chars().take(place - begin)).map(blank).collect();
    let carets = (span.length as usize).clamp(1, (WIDTH - (place - begin).min(WIDTH - 1)).max(1));
    format!(
        "{} | {before}{part}{behind}\n {:width$} | {indent}{}",
        span.line,
        "",
        "^".repeat(carets),
        width = span.line.to_string().len()
    )
}

/// A word of a source in a message: the begin of a long one.
pub(crate) fn word(word: &str) -> String {
    match word.char_indices().nth(WORD) {
        Some((end, _)) => format!("{}...", &word[..end]),
        None => word.to_owned(),
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (Fault { span, message }, line)) in self.faults.iter().zip(&self.shown).enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            writeln!(f, "{}:{}:{}: {message}", self.file, span.line, span.column)?;
            write!(f, " {line}")?;
        }
        match self.faults.len() - self.shown.len() {
            0 => Ok(()),
            more => write!(f, "\n{}: {more} more faults", self.file),
        }
    }
}

impl std::error::Error for Faults {}

/// `; the nearest is NAME` if a known name is near enough to an unknown one to be a typing error, otherwise the names
/// that there are.
pub(crate) fn suggest<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let most = unknown.chars().count().div_ceil(3);
    // The letters that a longer name has more are steps.
    let similar = known.iter().filter(|name| name.len().abs_diff(unknown.len()) <= 4 * most);
    let near = similar.map(|name| (distance(unknown, name), name));
    match near.filter(|(steps, _)| *steps <= most).min_by_key(|(steps, _)| *steps) {
        Some((_, name)) => format!("; the nearest is `{name}`"),
        None if known.is_empty() => "; there are none".to_owned(),
        None if known.len() > LISTED => {
            format!("; there are {}, among them: {}", known.len(), known[..LISTED].join(", "))
        }
        None => format!("; there are: {}", known.join(", ")),
    }
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
    fn the_nearest_name_is_suggested() {
        assert_eq!(suggest("studnet", ["student", "course"]), "; the nearest is `student`");
        assert_eq!(suggest("zebra", ["student", "course"]), "; there are: student, course");
        assert_eq!(suggest("zebra", []), "; there are none");
    }
}
