// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Keys and values as users type them, parsed according to their type.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::{Shape, Value, ValueError};

impl Shape {
    /// The value that a text describes.
    pub(super) fn parse(&self, text: &str) -> Result<Value, ValueError> {
        let text = text.trim();
        let size = self.bytes();
        let is_number = matches!(self, Shape::Int { .. } | Shape::Enum { .. }) && size <= 8;
        if let Shape::Enum { values, .. } = self
            && let Some((_, number)) = values.iter().find(|(name, _)| name == text)
        {
            return Ok(Value::Int((*number).into()));
        }
        if is_number && let Some(number) = hexadecimal(text) {
            return Ok(Value::Int(number));
        }
        if (is_number || matches!(self, Shape::Bytes(..=8)))
            && let Ok(number) = text.parse()
        {
            return Ok(Value::Int(number));
        }
        let address = match size {
            4 => text.parse::<Ipv4Addr>().ok().map(|address| address.octets().to_vec()),
            16 => text.parse::<Ipv6Addr>().ok().map(|address| address.octets().to_vec()),
            _ => None,
        };
        // A single word may be meant for something else, unless there is a single byte.
        let bytes =
            address.or_else(|| hex(text)).filter(|bytes| bytes.len() != 1 || size == 1).filter(|_| !text.is_empty());
        let wrong = || ValueError::Text { shape: self.to_string(), text: text.to_owned(), ways: self.ways() };
        bytes.map(Value::Bytes).ok_or_else(wrong)
    }

    /// How a value is written.
    pub(super) fn ways(&self) -> &'static str {
        match self {
            Shape::Int { .. } | Shape::Bytes(..=8) => "a number, or all bytes in hexadecimal (`0a 0b 0c 0d`)",
            Shape::Enum { .. } => "a number or a name of the enum",
            Shape::Array { .. } => "a list of its elements (`[1, 2]`), or all bytes in hexadecimal (`0a 0b 0c`)",
            Shape::Record { .. } => "its fields (`{\"name\": 1}`), or all bytes in hexadecimal (`0a 0b 0c`)",
            Shape::Bytes(_) => "all bytes in hexadecimal (`0a 0b 0c`)",
        }
    }
}

/// A hexadecimal number.
fn hexadecimal(text: &str) -> Option<i128> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    u64::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+')).map(i128::from)
}

/// Bytes in hexadecimal: all after `0x`, or separate bytes between spaces or colons.
fn hex(text: &str) -> Option<Vec<u8>> {
    let byte = |digits: &str| u8::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'));
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let whole = digits.len() % 2 == 0 && digits.is_ascii();
        return (0..digits.len() / 2)
            .map(|at| byte(digits.get(2 * at..2 * at + 2)?))
            .collect::<Option<_>>()
            .filter(|_| whole);
    }
    text.split([' ', ':']).filter(|digits| !digits.is_empty()).map(byte).collect()
}
