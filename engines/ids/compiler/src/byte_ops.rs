// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Numbers in payload: `byte_test`, `byte_jump`, `byte_extract` and `byte_math`.

use crate::numbers::number;

/// A number in a rule: as it stands there, or the value of a variable of the rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount<T> {
    /// This number.
    Fixed(T),
    /// The variable with this index.
    Variable(u8),
}

impl Amount<i64> {
    /// The number, with these values of the rule's variables. A value that is larger than a position becomes the
    /// largest one.
    #[must_use]
    pub fn signed(self, values: &[u64]) -> i64 {
        match self {
            Self::Fixed(number) => number,
            Self::Variable(index) => {
                let value = values.get(usize::from(index)).copied().unwrap_or_default();
                i64::from(u32::try_from(value).unwrap_or(u32::MAX))
            }
        }
    }
}

impl Amount<u64> {
    /// The number, with these values of the rule's variables.
    #[must_use]
    pub fn unsigned(self, values: &[u64]) -> u64 {
        match self {
            Self::Fixed(number) => number,
            Self::Variable(index) => values.get(usize::from(index)).copied().unwrap_or_default(),
        }
    }
}

/// Variables that a rule may have.
const VARIABLES: usize = 16;

/// Names of the variables of a rule, in the order of their indices.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    all: Vec<(Option<usize>, String)>,
    /// The group of conditions that is read. A variable is known in the group that sets it.
    pub(crate) group: Option<usize>,
}

impl Names {
    /// Index of a variable that a step before has set.
    pub(crate) fn known(&self, name: &str) -> Result<u8, Wrong> {
        let known = |(group, known): &(_, String)| *group == self.group && known == name;
        let found = self.all.iter().position(known).and_then(|at| u8::try_from(at).ok());
        found.ok_or_else(|| {
            Wrong::Value(format!("no byte_extract or byte_math sets `{name}` before this, in the same buffer"))
        })
    }

    /// Index of a variable that is set here.
    pub(crate) fn set(&mut self, name: &str) -> Result<u8, Wrong> {
        if !is_name(name) {
            return Err(Wrong::Value(format!("`{name}` is no name of a variable: it begins with a letter")));
        }
        if self.known(name).is_ok() {
            return Err(Wrong::Value(format!("`{name}` is set twice")));
        }
        if self.all.len() >= VARIABLES {
            return Err(Wrong::Value(format!("a rule has {VARIABLES} variables at most")));
        }
        self.all.push((self.group, name.to_owned()));
        self.known(name)
    }

    /// A number or the name of a variable.
    fn amount<T>(&self, text: &str, read: impl Fn(&str) -> Result<T, Wrong>) -> Result<Amount<T>, Wrong> {
        if is_name(text) { Ok(Amount::Variable(self.known(text)?)) } else { Ok(Amount::Fixed(read(text)?)) }
    }

    /// A position, or the name of a variable.
    pub(crate) fn position(&self, text: &str) -> Result<Amount<i64>, Wrong> {
        self.amount(text, |text| Ok(number(text)?))
    }
}

/// Whether a word is the name of a variable.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
}

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
    /// Bytes that it has. 0 stands for digits up to the first byte that is none; in binary it is the number 0.
    pub count: Amount<i64>,
    /// Its first byte, counted from the beginning or from the end of the match before.
    pub at: Amount<i64>,
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

    /// Reads the number that begins with these bytes: its value, and the bytes that it has.
    #[must_use]
    pub fn read(&self, bytes: &[u8], values: &[u64]) -> Option<(u64, usize)> {
        let most = if matches!(self.form, Form::Text(_)) { Self::MOST.1 } else { Self::MOST.0 };
        let given = usize::try_from(self.count.signed(values)).ok().filter(|count| *count <= most)?;
        let (value, count) = match self.form {
            Form::Big => (bytes.get(..given)?.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)), given),
            Form::Little => {
                (bytes.get(..given)?.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)), given)
            }
            Form::Text(base) if given == 0 => digits(&bytes[..bytes.len().min(most)], base)?,
            Form::Text(base) => (digits(bytes.get(..given)?, base)?.0, given),
        };
        Some(((value & self.mask) >> self.mask.trailing_zeros(), count))
    }
}

/// The number that digits to this base stand for, and the bytes up to the first one that is no digit.
fn digits(bytes: &[u8], base: u32) -> Option<(u64, usize)> {
    let spaces = bytes.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let prefix = if base == 16 && bytes[spaces..].starts_with(b"0x") { 2 } else { 0 };
    let begin = spaces + prefix;
    let count = bytes[begin..].iter().take_while(|byte| char::from(**byte).is_digit(base)).count();
    let text = str::from_utf8(&bytes[begin..begin + count]).ok()?;
    Some((u64::from_str_radix(text, base).ok()?, begin + count))
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
    /// The value of the comparison.
    pub value: Amount<u64>,
}

impl ByteTest {
    /// Whether it holds for a number, with these values of the rule's variables.
    #[must_use]
    pub fn holds(&self, number: u64, values: &[u64]) -> bool {
        let value = self.value.unsigned(values);
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
    pub post_offset: Amount<i64>,
}

/// `byte_extract`: sets a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteExtract {
    /// The number.
    pub number: Number,
    /// Multiplies the number.
    pub multiplier: u64,
    /// The number is rounded up to a multiple of this.
    pub align: u64,
    /// Index of the variable.
    pub to: u8,
}

/// What `byte_math` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// Adds.
    Add,
    /// Subtracts. A result below 0 wraps.
    Subtract,
    /// Multiplies.
    Multiply,
    /// Divides. A division by 0 does not match.
    Divide,
    /// Shifts to the left.
    Left,
    /// Shifts to the right.
    Right,
}

/// `byte_math`: sets a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteMath {
    /// The number on the left.
    pub number: Number,
    /// What is done.
    pub operator: Operator,
    /// The number on the right.
    pub right: Amount<u64>,
    /// Index of the variable.
    pub to: u8,
}

impl ByteExtract {
    /// The value of the variable.
    #[must_use]
    pub fn value(&self, number: u64) -> Option<u64> {
        number.checked_mul(self.multiplier)?.checked_next_multiple_of(self.align)
    }
}

impl ByteMath {
    /// The value of the variable.
    #[must_use]
    pub fn value(&self, left: u64, values: &[u64]) -> Option<u64> {
        let right = self.right.unsigned(values);
        let shift = u32::try_from(right).unwrap_or(u32::MAX);
        Some(match self.operator {
            Operator::Add => left.wrapping_add(right),
            Operator::Subtract => left.wrapping_sub(right),
            Operator::Multiply => left.wrapping_mul(right),
            Operator::Divide => left.checked_div(right)?,
            Operator::Left => left.checked_shl(shift).unwrap_or_default(),
            Operator::Right => left.checked_shr(shift).unwrap_or_default(),
        })
    }
}

/// A fault in the value of a keyword.
#[derive(Debug)]
pub(crate) enum Wrong {
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
    if matches!(number.count, Amount::Fixed(count) if !usize::try_from(count).is_ok_and(|count| count <= most)) {
        return Err(Wrong::Value(format!("a number has 0 to {most} bytes")));
    }
    if number.mask == 0 {
        return Err(Wrong::Value("a bitmask has a bit at least".to_owned()));
    }
    Ok(())
}

fn plain(count: &str, at: &str, names: &Names) -> Result<Number, Wrong> {
    let count = names.amount(count, |text| Ok(i64::try_from(value(text)?).unwrap_or(i64::MAX)))?;
    Ok(Number { count, at: names.position(at)?, relative: false, form: Form::Big, mask: u64::MAX })
}

/// The value of `byte_test`: `COUNT,[!]OPERATOR,VALUE,OFFSET[,option…]`.
pub(crate) fn byte_test(text: &str, names: &Names) -> Result<ByteTest, Wrong> {
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
    let mut number = plain(count, at, names)?;
    options(&mut number, rest, |_, _| Ok(false))?;
    Ok(ByteTest { number, compare, negated, value: names.amount(against, value)? })
}

/// The value of `byte_jump`: `COUNT,OFFSET[,option…]`.
pub(crate) fn byte_jump(text: &str, names: &Names) -> Result<ByteJump, Wrong> {
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    let [count, at, rest @ ..] = words.as_slice() else {
        return Err(Wrong::Value("write byte_jump:COUNT,OFFSET".to_owned()));
    };
    let mut field = plain(count, at, names)?;
    let mut jump =
        ByteJump { number: field, from: JumpFrom::Number, multiplier: 1, align: false, post_offset: Amount::Fixed(0) };
    options(&mut field, rest, |name, argument| {
        match name {
            "multiplier" => jump.multiplier = value(argument.unwrap_or_default())?,
            "post_offset" => jump.post_offset = names.position(argument.unwrap_or_default())?,
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

/// The value of `byte_extract`: `COUNT,OFFSET,NAME[,option…]`.
pub(crate) fn byte_extract(text: &str, names: &mut Names) -> Result<ByteExtract, Wrong> {
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    let [count, at, name, rest @ ..] = words.as_slice() else {
        return Err(Wrong::Value("write byte_extract:COUNT,OFFSET,NAME".to_owned()));
    };
    let mut number = plain(count, at, names)?;
    let (mut multiplier, mut align) = (1, 1);
    options(&mut number, rest, |name, argument| {
        match name {
            "multiplier" => multiplier = value(argument.unwrap_or_default())?,
            "align" => {
                align = value(argument.unwrap_or_default())?;
                if !matches!(align, 2 | 4) {
                    return Err(Wrong::Value("align is 2 or 4".to_owned()));
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(ByteExtract { number, multiplier, align, to: names.set(name)? })
}

/// The value of `byte_math`: `bytes N, offset N, oper O, rvalue N, result NAME[, option…]`.
pub(crate) fn byte_math(text: &str, names: &mut Names) -> Result<ByteMath, Wrong> {
    let (mut count, mut at, mut operator, mut right, mut result) = (None, None, None, None, None);
    let mut rest = Vec::new();
    for part in text.split(',').map(str::trim) {
        let (name, argument) = part.split_once(char::is_whitespace).map_or((part, ""), |(a, b)| (a, b.trim()));
        match name {
            "bytes" => count = Some(argument),
            "offset" => at = Some(argument),
            "rvalue" => right = Some(names.amount(argument, value)?),
            "result" => result = Some(argument),
            "endian" => rest.push(argument),
            "string" => rest.extend(["string", argument]),
            "oper" => {
                operator = Some(match argument {
                    "+" => Operator::Add,
                    "-" => Operator::Subtract,
                    "*" => Operator::Multiply,
                    "/" => Operator::Divide,
                    "<<" => Operator::Left,
                    ">>" => Operator::Right,
                    other => return Err(Wrong::Value(format!("`{other}` is none of + - * / << >>"))),
                });
            }
            _ => rest.push(part),
        }
    }
    let (Some(count), Some(at), Some(operator), Some(right), Some(result)) = (count, at, operator, right, result)
    else {
        return Err(Wrong::Value("write byte_math:bytes 2, offset 0, oper +, rvalue 1, result NAME".to_owned()));
    };
    let mut number = plain(count, at, names)?;
    options(&mut number, &rest, |_, _| Ok(false))?;
    Ok(ByteMath { number, operator, right, to: names.set(result)? })
}
