// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Words, numbers and signs of a source.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::fault::{Fault, Span};

/// The signs. A sign precedes the signs that it begins with.
const SIGNS: [&str; 27] = [
    ">=s", "=>", "==", "!=", "<=", ">=", "<s", "<<", ">>", "&&", "{", "}", "(", ")", ",", ";", "=", "<", ">", "!", "&",
    "|", "^", "+", "-", "*", "/",
];

/// A token of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// A name or a keyword; names of fields have dots.
    Word(String),
    Number(Number),
    Sign(&'static str),
    /// The end of the source.
    End,
}

/// A number and its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Number {
    pub value: u128,
    pub form: Form,
}

/// The form in which a number is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Plain,
    Hex,
    Ipv4,
    Mac,
    Ipv6,
}

impl Form {
    /// The width of a number of this form, in bits; None if it is not an address.
    pub(crate) fn bits(self) -> Option<u32> {
        match self {
            Form::Plain | Form::Hex => None,
            Form::Ipv4 => Some(32),
            Form::Mac => Some(48),
            Form::Ipv6 => Some(128),
        }
    }
}

/// Splits a source into tokens.
pub(crate) fn tokens(text: &str) -> Result<Vec<(Token, Span)>, Fault> {
    let mut found = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let letters: Vec<char> = text.chars().take_while(|letter| *letter != '#').collect();
        let mut at = 0;
        while at < letters.len() {
            if letters[at].is_whitespace() {
                at += 1;
                continue;
            }
            let column = at as u32 + 1;
            let span = |length: usize| Span { line, column, length: length as u32 };
            let run: String = letters[at..].iter().take_while(|letter| in_word(**letter)).collect();
            let length = run.chars().count();
            if length > 0 {
                pieces(&run, span(length), &mut found)?;
                at += length;
                continue;
            }
            let rest: String = letters[at..].iter().take(4).collect();
            let sign = SIGNS.into_iter().find(|sign| is_next(&rest, sign)).ok_or_else(|| {
                Fault::new(span(1), format!("`{}` has no meaning here; a comment begins with `#`", letters[at]))
            })?;
            found.push((Token::Sign(sign), span(sign.len())));
            at += sign.len();
        }
    }
    // The end comes directly after the last token, where something is missing.
    let last = found.last().map_or(Span { line: 1, column: 1, length: 0 }, |(_, span): &(Token, Span)| *span);
    found.push((Token::End, Span { column: last.column + last.length, length: 1, ..last }));
    Ok(found)
}

fn in_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | ':')
}

/// Whether this sign comes next. The `s` of a signed comparison is not the first letter of a word.
fn is_next(rest: &str, sign: &str) -> bool {
    rest.strip_prefix(sign).is_some_and(|behind| !sign.ends_with('s') || !behind.starts_with(in_word))
}

/// Reads a run of letters, digits, dots and colons: an address, a number, a number with its unit, or a word.
fn pieces(run: &str, span: Span, found: &mut Vec<(Token, Span)>) -> Result<(), Fault> {
    let number = |value: u128, form| Ok(Token::Number(Number { value, form }));
    let token = if run.contains(':') {
        if let Some(value) = mac(run) {
            number(value.into(), Form::Mac)
        } else {
            run.parse::<Ipv6Addr>().map_or(Err("an Ethernet or IPv6 address"), |ip| number(ip.to_bits(), Form::Ipv6))
        }
    } else if run.starts_with(|first: char| first.is_ascii_digit()) && !run.starts_with("5tuple") {
        if run.contains("..") {
            Err("a number, and there are no ranges; compare with both ends, as in `tcp.dport >= 1 && tcp.dport < 1024`")
        } else if run.contains('.') {
            run.parse::<Ipv4Addr>().map_or(Err("an IPv4 address"), |ip| number(ip.to_bits().into(), Form::Ipv4))
        } else if let Some(digits) = run.strip_prefix("0x") {
            u128::from_str_radix(digits, 16).map_or(Err("a hexadecimal number"), |value| number(value, Form::Hex))
        } else {
            let digits = run.trim_start_matches(|letter: char| letter.is_ascii_digit());
            let (digits, unit) = run.split_at(run.len() - digits.len());
            let scale = match unit {
                "k" => Some(1_000),
                "M" => Some(1_000_000),
                "G" => Some(1_000_000_000),
                "" | "us" | "ms" | "s" => Some(1),
                _ => None,
            };
            match digits.parse::<u128>().ok().zip(scale).and_then(|(value, scale)| value.checked_mul(scale)) {
                Some(value) if unit.ends_with('s') => {
                    let length = digits.len() as u32;
                    found.push((Token::Number(Number { value, form: Form::Plain }), Span { length, ..span }));
                    let unit = Token::Word(unit.to_owned());
                    found.push((unit, Span { column: span.column + length, length: span.length - length, ..span }));
                    return Ok(());
                }
                Some(value) => number(value, Form::Plain),
                None => Err("a number; units are k, M, G, us, ms and s"),
            }
        }
    } else {
        Ok(Token::Word(run.to_owned()))
    };
    let token = token.map_err(|what| Fault::new(span, format!("`{run}` is not {what}")))?;
    found.push((token, span));
    Ok(())
}

/// An Ethernet address: six pairs of hexadecimal digits.
fn mac(run: &str) -> Option<u64> {
    let pairs: Vec<&str> = run.split(':').collect();
    if pairs.len() != 6 || pairs.iter().any(|pair| pair.len() != 2) {
        return None;
    }
    pairs.iter().try_fold(0, |value, pair| Some(value << 8 | u64::from(u8::from_str_radix(pair, 16).ok()?)))
}
