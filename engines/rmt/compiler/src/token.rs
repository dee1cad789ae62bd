// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Source text as tokens.

use std::rc::Rc;

use logos::Logos;

use crate::fault::{Check, Fault};
use crate::source::{Sources, Span};

/// The kind of a token.
#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq)]
#[logos(skip r"[ \t\r\f]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
#[logos(skip r"/\*([^*]|\*+[^*/])*\*+/")]
#[logos(skip r"\\\r?\n")]
pub(crate) enum Kind {
    /// A name or keyword.
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
    Word,
    /// A number, perhaps with width and base: `8w0xFF`.
    #[regex(r"[0-9][0-9a-zA-Z_]*")]
    Number,
    /// Text in quotes.
    #[regex(r#""([^"\\\n]|\\.)*""#)]
    Text,
    /// Operators and brackets. `>>` is two of them, because `bit<bit<8>>` ends with the same characters.
    #[regex(r"&&&|&&|&=|\|\||\|\+\|=|\|-\|=|\|\+\||\|-\||\|=|==|!=|<=|>=|<<=|<<|\+\+|\+=|-=|\*=|/=|%=|\^=|\.\.\.|\.\.|[{}()\[\]<>;:,.=@?!~+\-*/%&|^]")]
    Symbol,
    /// `#`, which begins a directive.
    #[token("#")]
    Hash,
    /// End of a line: ends a directive.
    #[token("\n")]
    Newline,
    /// End of the program.
    End,
}

/// A token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    /// What it is.
    pub kind: Kind,
    /// Its text. For a token that a macro made, this is not the text at `span`.
    pub text: Rc<str>,
    /// Its place in the source; for a token that a macro made, the place of the macro's use.
    pub span: Span,
}

/// Splits a file.
pub(crate) fn tokens(sources: &Sources, file: u32) -> Check<Vec<Token>> {
    let Some(source) = sources.files.get(file as usize) else { return Ok(Vec::new()) };
    let at = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
    let mut found = Vec::new();
    for (kind, range) in Kind::lexer(&source.text).spanned() {
        let span = Span { file, start: at(range.start), end: at(range.end) };
        let text = &source.text[range];
        let kind = kind.map_err(|()| match text {
            _ if text.starts_with("/*") => Fault::new(span, "this comment has no end").help("end it with `*/`"),
            _ if text.starts_with('"') => {
                Fault::new(span, "this text has no end").help("end it with `\"` on the same line")
            }
            _ => Fault::new(span, format!("`{text}` is not part of P4")).label("unknown character"),
        })?;
        found.push(Token { kind, text: text.into(), span });
    }
    Ok(found)
}
