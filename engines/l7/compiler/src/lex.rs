// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Words, numbers, strings and signs of a source. Comments are protobuf's: `// ...` and `/* ... */`.

use crate::fault::{Fault, Span, word};
use crate::limits::NAME;

/// The signs. A sign precedes the signs that it begins with.
const SIGNS: [&str; 14] = ["..=", "..", "=>", "{", "}", "(", ")", "[", "]", ";", ",", "=", "|", "-"];

/// A token of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// A name or a keyword.
    Word(String),
    /// A number.
    Number(u64),
    /// The bytes of a string.
    Text(Vec<u8>),
    /// One of [`SIGNS`].
    Sign(&'static str),
    /// The end of the source.
    End,
}

/// Splits a source into tokens.
pub(crate) fn tokens(text: &str) -> Result<Vec<(Token, Span)>, Fault> {
    let mut lexer = Lexer { letters: text.chars().collect(), at: 0, line: 1, column: 1 };
    let mut found = Vec::new();
    while lexer.skip_space()? {
        found.push(lexer.token()?);
    }
    // The end comes directly after the last token, where something is missing.
    let last = found.last().map_or(Span { line: 1, column: 1, length: 0 }, |(_, span): &(Token, Span)| *span);
    found.push((Token::End, Span { column: last.column + last.length, length: 1, ..last }));
    Ok(found)
}

struct Lexer {
    letters: Vec<char>,
    at: usize,
    line: u32,
    column: u32,
}

impl Lexer {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.letters.get(self.at + ahead).copied()
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.peek(0)?;
        self.at += 1;
        if letter == '\n' {
            (self.line, self.column) = (self.line + 1, 1);
        } else {
            self.column += 1;
        }
        Some(letter)
    }

    fn here(&self) -> Span {
        Span { line: self.line, column: self.column, length: 1 }
    }

    /// Skips white space and comments; false at the end of the source.
    fn skip_space(&mut self) -> Result<bool, Fault> {
        while let Some(letter) = self.peek(0) {
            let begin = self.here();
            match (letter, self.peek(1)) {
                ('/', Some('/')) => {
                    while self.peek(0).is_some_and(|letter| letter != '\n') {
                        self.next();
                    }
                }
                ('/', Some('*')) => {
                    self.at += 2;
                    self.column += 2;
                    while (self.peek(0), self.peek(1)) != (Some('*'), Some('/')) {
                        self.next().ok_or_else(|| Fault::new(begin, "this comment has no end: write `*/`"))?;
                    }
                    self.next();
                    self.next();
                }
                _ if letter.is_whitespace() => {
                    self.next();
                }
                _ => return Ok(true),
            }
        }
        Ok(false)
    }

    fn run(&mut self, what: impl Fn(char) -> bool) -> String {
        let mut run = String::new();
        while let Some(letter) = self.peek(0).filter(|letter| what(*letter)) {
            run.push(letter);
            self.next();
        }
        run
    }

    fn token(&mut self) -> Result<(Token, Span), Fault> {
        let begin = self.here();
        let first = self.peek(0).unwrap_or_default();
        let token = if first == '"' {
            self.text()?
        } else if first.is_ascii_digit() {
            let run = self.run(|letter| letter.is_ascii_alphanumeric());
            let number = match run.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16),
                None => run.parse(),
            };
            let span = Span { length: self.column - begin.column, ..begin };
            Token::Number(
                number.map_err(|_| Fault::new(span, format!("`{}` is not a number of up to 64 bits", word(&run))))?,
            )
        } else if first.is_ascii_alphabetic() || first == '_' {
            let name = self.run(|letter| letter.is_ascii_alphanumeric() || letter == '_');
            if name.len() > NAME {
                let span = Span { length: self.column - begin.column, ..begin };
                let text =
                    format!("a name has up to {NAME} letters, and `{}` has {}: shorten it", word(&name), name.len());
                return Err(Fault::new(span, text));
            }
            Token::Word(name)
        } else {
            let rest: String = self.letters[self.at..].iter().take(3).collect();
            let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign)).ok_or_else(|| {
                Fault::new(begin, format!("`{first}` has no meaning here; a comment begins with `//`"))
            })?;
            sign.chars().for_each(|_| {
                self.next();
            });
            Token::Sign(sign)
        };
        Ok((token, Span { length: self.column - begin.column, ..begin }))
    }

    /// A string, with protobuf's escapes: `\\ \" \n \r \t \0` and `\xHH`.
    fn text(&mut self) -> Result<Token, Fault> {
        let begin = self.here();
        self.next();
        let mut bytes = Vec::new();
        loop {
            let at = self.here();
            match self.next() {
                Some('"') => return Ok(Token::Text(bytes)),
                None | Some('\n') => {
                    return Err(Fault::new(begin, "this string has no end: write `\"` in the same line"));
                }
                Some('\\') => {
                    let escaped = match self.next() {
                        Some('n') => Some(b'\n'),
                        Some('r') => Some(b'\r'),
                        Some('t') => Some(b'\t'),
                        Some('0') => Some(0),
                        Some('\\') => Some(b'\\'),
                        Some('"') => Some(b'"'),
                        Some('x') => {
                            let digits: String = [self.next(), self.next()].into_iter().flatten().collect();
                            u8::from_str_radix(&digits, 16)
                                .ok()
                                .filter(|_| digits.len() == 2 && !digits.starts_with('+'))
                        }
                        _ => None,
                    };
                    let wrong = || Fault::new(at, "unknown escape: there are \\\\ \\\" \\n \\r \\t \\0 and \\xHH");
                    bytes.push(escaped.ok_or_else(wrong)?);
                }
                Some(letter) => bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_their_places() {
        let found = tokens("rule a /* x\n */ 0x1F \"\\x00é\\\"\" ..= // end").unwrap();
        let tokens: Vec<_> =
            found.iter().map(|(token, span)| (token.clone(), span.line, span.column, span.length)).collect();
        assert_eq!(
            tokens,
            [
                (Token::Word("rule".into()), 1, 1, 4),
                (Token::Word("a".into()), 1, 6, 1),
                (Token::Number(31), 2, 5, 4),
                (Token::Text(vec![0, 0xC3, 0xA9, b'"']), 2, 10, 9),
                (Token::Sign("..="), 2, 20, 3),
                (Token::End, 2, 23, 1),
            ]
        );
    }

    #[test]
    fn what_is_no_token_is_a_fault() {
        for (text, column, words) in [
            ("a # b", 3, "`#` has no meaning here"),
            ("\"abc", 1, "this string has no end"),
            ("\"a\\q\"", 3, "unknown escape"),
            ("\"\\xG0\"", 2, "unknown escape"),
            ("/* abc", 1, "this comment has no end"),
            ("12ab", 1, "`12ab` is not a number"),
        ] {
            let fault = tokens(text).unwrap_err();
            assert!(fault.message.contains(words) && fault.span.column == column, "{text}: {fault:?}");
        }
    }
}
