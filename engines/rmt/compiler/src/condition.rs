// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Conditions of `#if`.

use crate::fault::{Check, Fault};
use crate::source::Span;
use crate::token::{Kind, Token};

/// Operators from the weakest to the strongest.
const LEVELS: [&[&str]; 6] = [&["||"], &["&&"], &["==", "!="], &["<", "<=", ">", ">="], &["+", "-"], &["*", "/", "%"]];

/// Parentheses and signs in each other.
const DEPTH: usize = 100;

/// Whether a condition is not 0. As in C, a name that is not a macro is 0. `span` is the directive's.
pub(crate) fn holds(span: Span, tokens: &[Token]) -> Check<bool> {
    let mut reader = Reader { span, tokens, at: 0, depth: 0 };
    let value = reader.level(0)?;
    match tokens.get(reader.at) {
        Some(token) => Err(Fault::new(token.span, format!("`{}` does not belong into this condition", token.text))),
        None => Ok(value != 0),
    }
}

struct Reader<'t> {
    span: Span,
    tokens: &'t [Token],
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Check<&Token> {
        self.at += 1;
        let token = self.tokens.get(self.at - 1);
        token.ok_or_else(|| Fault::new(self.span, "this condition is not complete").help("write a value behind it"))
    }

    fn level(&mut self, level: usize) -> Check<i64> {
        let Some(operators) = LEVELS.get(level) else { return self.value() };
        let mut left = self.level(level + 1)?;
        while let Some(token) = self.tokens.get(self.at).filter(|token| operators.contains(&&*token.text)) {
            self.at += 1;
            let right = self.level(level + 1)?;
            let flag = i64::from;
            left = match &*token.text {
                "||" => flag(left != 0 || right != 0),
                "&&" => flag(left != 0 && right != 0),
                "==" => flag(left == right),
                "!=" => flag(left != right),
                "<" => flag(left < right),
                "<=" => flag(left <= right),
                ">" => flag(left > right),
                ">=" => flag(left >= right),
                "+" => left.wrapping_add(right),
                "-" => left.wrapping_sub(right),
                "*" => left.wrapping_mul(right),
                _ if right == 0 => return Err(Fault::new(token.span, "division by 0")),
                "/" => left.wrapping_div(right),
                _ => left.wrapping_rem(right),
            };
        }
        Ok(left)
    }

    fn value(&mut self) -> Check<i64> {
        let token = self.next()?.clone();
        if self.depth >= DEPTH {
            return Err(Fault::new(token.span, format!("more than {DEPTH} parts of a condition stand in each other"))
                .help("leave out parentheses, or define a macro for a part"));
        }
        self.depth += 1;
        let value = self.inner(&token);
        self.depth -= 1;
        value
    }

    fn inner(&mut self, token: &Token) -> Check<i64> {
        match (&*token.text, token.kind) {
            ("(", _) => {
                let value = self.level(0)?;
                match &*self.next()?.text {
                    ")" => Ok(value),
                    _ => Err(Fault::new(token.span, "this parenthesis is not closed").help("write `)`")),
                }
            }
            ("!", _) => Ok(i64::from(self.value()? == 0)),
            ("-", _) => Ok(self.value()?.wrapping_neg()),
            (_, Kind::Word) => Ok(0),
            (text, Kind::Number) => {
                let text = text.replace('_', "");
                let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
                let value = digits.map_or_else(|| text.parse(), |digits| i64::from_str_radix(digits, 16));
                value.map_err(|_| Fault::new(token.span, format!("`{text}` is not a number that a condition can have")))
            }
            (text, _) => Err(Fault::new(token.span, format!("a value is expected, not `{text}`"))),
        }
    }
}
