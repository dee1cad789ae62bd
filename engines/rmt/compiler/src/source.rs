// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Source files and places in them.

use serde::Serialize;

/// A range of bytes of a source file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
pub struct Span {
    /// Index of the file in [`Sources`].
    pub file: u32,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// From the start of this span to the end of `last`. If a file was included between them, this span alone.
    #[must_use]
    pub fn to(self, last: Self) -> Self {
        if self.file == last.file { Self { end: last.end.max(self.end), ..self } } else { self }
    }
}

/// A source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Name as the user gave it, or as an `#include` found it.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// All files of a program: the user's file first, then those that it includes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sources {
    /// The files; [`Span::file`] is an index of them.
    pub files: Vec<SourceFile>,
}

impl Sources {
    /// Adds a file and returns its index.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> u32 {
        self.files.push(SourceFile { name: name.into(), text: text.into() });
        u32::try_from(self.files.len() - 1).unwrap_or(u32::MAX)
    }

    /// File name, line and column of the start of a span. Lines and columns count from 1, columns in characters.
    #[must_use]
    pub fn place(&self, span: Span) -> (&str, usize, usize) {
        let Some(file) = self.files.get(span.file as usize) else { return ("", 0, 0) };
        let before = file.text.get(..span.start as usize).unwrap_or(&file.text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        (&file.name, before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }

    /// The text of a span.
    #[must_use]
    pub fn text(&self, span: Span) -> &str {
        let file = self.files.get(span.file as usize);
        file.and_then(|file| file.text.get(span.start as usize..span.end as usize)).unwrap_or("")
    }
}
