// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Numbers in payload: `byte_test` and `byte_jump`.

use crate::numbers::number;

/// How a number stands in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Binary, the first byte is the highest.
    Big,
    /// Binary, the first byte is the lowest.
    Little,
    /// Digits to this base.
    Text(u32),
}

/// A number in payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number {
    /// Bytes that it has.
    pub count: usize,
    /// Its first byte, counted from the beginning or from the end of the match before.
    pub at: i64,
    /// Counted from the match before.
    pub relative: bool,
    /// How it stands there.
    pub form: Form,
    /// Bits that count; the lowest of them becomes bit 0.
    pub mask: u64,
}

impl Number {
    /// Most bytes of binary numbers and of digits.
    const MOST: (usize, usize) = (8, 23);

    /// Reads the number in these bytes, of which there are `count`.
    #[must_use]
    pub fn read(&self, bytes: &[u8]) -> Option<u64> {
        let value = match self.form {
            Form::Big => bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)),
            Form::Little => bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)),
            Form::Text(base) => {
                let text = str::from_utf8(bytes).ok()?.trim_start();
                let text = if base == 16 { text.strip_prefix("0x").unwrap_or(text) } else { text };
                let end = text.find(|letter: char| !letter.is_digit(base)).unwrap_or(text.len());
                u64::from_str_radix(&text[..end], base).ok()?
            }
        };
        Some((value & self.mask) >> self.mask.trailing_zeros())
    }
}

/// Comparison of a number in payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compare {
    /// Less.
    Less,
    /// Less or equal.
    LessOrEqual,
    /// Greater.
    Greater,
    /// Greater or equal.
    GreaterOrEqual,
    /// Equal.
    Equal,
    /// A bit is set in both.
    And,
    /// A bit is set in one of them alone.
    Xor,
}

/// `byte_test`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteTest {
    /// The number.
    pub number: Number,
    /// How it is compared.
    pub compare: Compare,
    /// The comparison must not hold.
    pub negated: bool,
    /// What it is compared with.
    pub value: u64,
}

impl ByteTest {
    /// Whether it holds for a number.
    #[must_use]
    pub fn holds(&self, number: u64) -> bool {
        let value = self.value;
        self.negated
            != match self.compare {
                Compare::Less => number < value,
                Compare::LessOrEqual => number <= value,
                Compare::Greater => number > value,
                Compare::GreaterOrEqual => number >= value,
                Compare::Equal => number == value,
                Compare::And => number & value != 0,
                Compare::Xor => number ^ value != 0,
            }
    }
}

/// From where a jump counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JumpFrom {
    /// Behind the number.
    Number,
    /// The first byte of payload or stream.
    Beginning,
    /// The end of what was seen.
    End,
}

/// `byte_jump`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteJump {
    /// The number.
    pub number: Number,
    /// From where the jump counts.
    pub from: JumpFrom,
    /// Multiplies the number.
    pub multiplier: u64,
    /// The jump is rounded up to a multiple of four bytes.
    pub align: bool,
    /// Bytes that are added to the jump.
    pub post_offset: i64,
}

/// What is wrong with the value of a keyword.
pub enum Wrong {
    /// It is wrong.
    Value(String),
    /// It is right and not supported.
    Unsupported(String),
}

impl From<String> for Wrong {
    fn from(message: String) -> Self {
        Self::Value(message)
    }
}

/// A number in decimal, or in hexadecimal with 0x.
fn value(text: &str) -> Result<u64, Wrong> {
    let parsed =
        text.strip_prefix("0x").map_or_else(|| text.parse().ok(), |digits| u64::from_str_radix(digits, 16).ok());
    if text.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return Err(Wrong::Unsupported(format!("the variable `{text}` is not supported: leave the rule out")));
    }
    parsed.ok_or_else(|| Wrong::Value(format!("`{text}` is no number")))
}

/// Options that both keywords have; `other` gets the ones that are left.
fn options(
    number: &mut Number,
    words: &[&str],
    mut other: impl FnMut(&str, Option<&str>) -> Result<bool, Wrong>,
) -> Result<(), Wrong> {
    let (mut text, mut base) = (false, 10);
    for word in words {
        let (name, argument) = word.split_once(char::is_whitespace).map_or((*word, None), |(a, b)| (a, Some(b.trim())));
        match name {
            "relative" => number.relative = true,
            "big" => number.form = Form::Big,
            "little" => number.form = Form::Little,
            "string" => text = true,
            "hex" => base = 16,
            "dec" => base = 10,
            "oct" => base = 8,
            "bitmask" => number.mask = value(argument.unwrap_or_default())?,
            "dce" => return Err(Wrong::Unsupported("the option dce is not supported: leave the rule out".to_owned())),
            _ if other(name, argument)? => {}
            _ => return Err(Wrong::Value(format!("there is no option `{word}`"))),
        }
    }
    if text {
        number.form = Form::Text(base);
    }
    let most = if text { Number::MOST.1 } else { Number::MOST.0 };
    if !(1..=most).contains(&number.count) {
        return Err(Wrong::Value(format!("a number has 1 to {most} bytes")));
    }
    if number.mask == 0 {
        return Err(Wrong::Value("a bitmask has a bit at least".to_owned()));
    }
    Ok(())
}

fn plain(count: &str, at: &str) -> Result<Number, Wrong> {
    let (count, at) = (value(count)?, number::<i64>(at).map_err(|message| variable(at, message))?);
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    Ok(Number { count, at, relative: false, form: Form::Big, mask: u64::MAX })
}

/// A name where a number should be is a variable of byte_extract.
fn variable(text: &str, message: String) -> Wrong {
    value(text).err().filter(|wrong| matches!(wrong, Wrong::Unsupported(_))).unwrap_or(Wrong::Value(message))
}

/// The value of `byte_test`: `COUNT,[!]OPERATOR,VALUE,OFFSET[,option…]`.
pub fn byte_test(text: &str) -> Result<ByteTest, Wrong> {
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    let [count, operator, against, at, rest @ ..] = words.as_slice() else {
        return Err(Wrong::Value("write byte_test:COUNT,OPERATOR,VALUE,OFFSET".to_owned()));
    };
    let (negated, operator) = operator.strip_prefix('!').map_or((false, *operator), |rest| (true, rest.trim()));
    let compare = match operator {
        "<" => Compare::Less,
        "<=" => Compare::LessOrEqual,
        ">" => Compare::Greater,
        ">=" => Compare::GreaterOrEqual,
        "=" | "" => Compare::Equal,
        "&" => Compare::And,
        "^" => Compare::Xor,
        other => return Err(Wrong::Value(format!("`{other}` is none of < <= > >= = & ^"))),
    };
    let mut number = plain(count, at)?;
    options(&mut number, rest, |_, _| Ok(false))?;
    Ok(ByteTest { number, compare, negated, value: value(against)? })
}

/// The value of `byte_jump`: `COUNT,OFFSET[,option…]`.
pub fn byte_jump(text: &str) -> Result<ByteJump, Wrong> {
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    let [count, at, rest @ ..] = words.as_slice() else {
        return Err(Wrong::Value("write byte_jump:COUNT,OFFSET".to_owned()));
    };
    let mut field = plain(count, at)?;
    let mut jump = ByteJump { number: field, from: JumpFrom::Number, multiplier: 1, align: false, post_offset: 0 };
    options(&mut field, rest, |name, argument| {
        match name {
            "multiplier" => jump.multiplier = value(argument.unwrap_or_default())?,
            "post_offset" => {
                let text = argument.unwrap_or_default();
                jump.post_offset = number(text).map_err(|message| variable(text, message))?;
            }
            "align" => jump.align = true,
            "from_beginning" => jump.from = JumpFrom::Beginning,
            "from_end" => jump.from = JumpFrom::End,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    jump.number = field;
    Ok(jump)
}
