// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Faults of programs, shown with the source lines that they are about.

use std::fmt;

use annotate_snippets::{AnnotationKind, Element, Group, Level, Renderer, Snippet, renderer::DecorStyle};

use crate::source::{Sources, Span};

/// A fault of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The place.
    pub span: Span,
    /// What is wrong.
    pub message: String,
    /// Text beside the caret, for example the expected token.
    pub label: String,
    /// The way out.
    pub help: String,
    /// Other places that matter.
    pub related: Vec<(Span, String)>,
}

/// A value, or the fault that prevents it.
pub(crate) type Check<T> = Result<T, Box<Fault>>;

impl Fault {
    /// A fault at a place.
    #[must_use]
    pub fn new(span: Span, message: impl Into<String>) -> Box<Self> {
        Box::new(Self { span, message: message.into(), label: String::new(), help: String::new(), related: Vec::new() })
    }

    /// A part of the language that this compiler does not have yet.
    #[must_use]
    pub fn missing(span: Span, what: &str) -> Box<Self> {
        Self::new(span, format!("not supported yet: {what}"))
    }

    /// A fault that follows from one that was reported.
    #[must_use]
    pub(crate) fn silent(span: Span) -> Box<Self> {
        Self::new(span, "")
    }

    /// With text beside the caret.
    #[must_use]
    pub fn label(mut self: Box<Self>, label: impl Into<String>) -> Box<Self> {
        self.label = label.into();
        self
    }

    /// With the way out.
    #[must_use]
    pub fn help(mut self: Box<Self>, help: impl Into<String>) -> Box<Self> {
        self.help = help.into();
        self
    }

    /// With another place.
    #[must_use]
    pub fn also(mut self: Box<Self>, span: Span, text: impl Into<String>) -> Box<Self> {
        self.related.push((span, text.into()));
        self
    }
}

/// All faults that were found in a program, in the order of the source.
#[derive(Debug, Clone)]
pub struct Faults {
    /// The faults; at least one.
    pub faults: Vec<Fault>,
    /// The files.
    pub sources: Sources,
}

impl Faults {
    pub(crate) fn new(sources: Sources, mut faults: Vec<Fault>) -> Self {
        // A control that is applied twice is checked twice.
        faults.sort_by(|a, b| (a.span, &a.message).cmp(&(b.span, &b.message)));
        faults.dedup();
        Self { faults, sources }
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let renderer = Renderer::plain().decor_style(DecorStyle::Ascii);
        for (index, fault) in self.faults.iter().enumerate() {
            if index > 0 {
                f.write_str("\n\n")?;
            }
            f.write_str(&renderer.render(&[group(fault, &self.sources)]))?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}

/// A fault as its snippets and footers.
fn group<'a>(fault: &'a Fault, sources: &'a Sources) -> Group<'a> {
    let mut group = Level::ERROR.primary_title(fault.message.as_str()).elements(None::<Element<'a>>);
    let places = std::iter::once((fault.span, &fault.label, AnnotationKind::Primary))
        .chain(fault.related.iter().map(|(span, text)| (*span, text, AnnotationKind::Context)));
    let places: Vec<_> = places.collect();
    for (index, file) in sources.files.iter().enumerate() {
        let here = places.iter().filter(|(span, ..)| span.file as usize == index);
        let mut marks = here
            .map(|(span, label, kind)| {
                let end = (span.end as usize).min(file.text.len());
                let mark = kind.span((span.start as usize).min(end)..end);
                if label.is_empty() { mark } else { mark.label(label.as_str()) }
            })
            .peekable();
        if marks.peek().is_some() {
            group = group.element(Snippet::source(file.text.as_str()).path(file.name.as_str()).annotations(marks));
        }
    }
    if !fault.help.is_empty() {
        group = group.element(Level::HELP.message(fault.help.as_str()));
    }
    group
}

/// The known name nearest to an unknown one, if it is near enough to be a typing error.
pub(crate) fn nearest<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = unknown.chars().count().div_ceil(3).min(unknown.chars().count() / 2);
    let near = known.into_iter().map(|name| (distance(unknown, name), name));
    near.filter(|(steps, _)| *steps <= most).min().map(|(_, name)| name)
}

/// Letters to insert, remove or replace to make one word of the other (Levenshtein).
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut before = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in to.chars().enumerate() {
            let step = (before + usize::from(a != b)).min(row[j] + 1).min(row[j + 1] + 1);
            before = std::mem::replace(&mut row[j + 1], step);
        }
    }
    row.last().copied().unwrap_or_default()
}
