// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Keys and values as people and programs write them: numbers, lists and named fields in place of bytes.
//!
//! Converts bytes to [`Value`]s by a [`Shape`], and back. Numbers are little-endian, as in programs for
//! `-target bpfel`. A union is only read and written as bytes. Members of a struct without a name appear among those of
//! the surrounding struct, and a union without a name appears there under the names of its members, `v4|v6`.

use super::{Member, Shape};

/// A key or a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// An integer, or the number of a named constant.
    Int(i128),
    /// In memory order.
    Bytes(Vec<u8>),
    /// A value as a user typed it; it is only written. [`Shape::encode`] parses it.
    Text(String),
    /// The elements of an array.
    List(Vec<Value>),
    /// By the names of members, in their order.
    Record(Vec<(String, Value)>),
}

/// Why a value does not have the expected shape.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum ValueError {
    #[error("{shape} has {wanted} bytes, and these are {found}")]
    Size { shape: String, wanted: u64, found: usize },
    #[error("{number} does not fit into {shape}, which takes {low} to {high}")]
    Range { shape: String, number: i128, low: i128, high: i128 },
    #[error("{shape} has {wanted} elements, and these are {found}")]
    Count { shape: String, wanted: u32, found: usize },
    #[error("{shape} has no field `{name}`; it has {there}")]
    NoField { shape: String, name: String, there: String },
    #[error("`{text}` is no {shape}: write {ways}")]
    Text { shape: String, text: String, ways: &'static str },
    #[error("{found} is given for {shape}: write {ways}")]
    Kind { shape: String, found: &'static str, ways: &'static str },
    #[error("{name}: {source}")]
    Field { name: String, source: Box<ValueError> },
}

impl Shape {
    /// Bytes of a value.
    pub fn bytes(&self) -> u64 {
        match self {
            Shape::Int { bytes, .. } | Shape::Enum { bytes, .. } | Shape::Record { bytes, .. } => (*bytes).into(),
            Shape::Array { element, count } => element.bytes().saturating_mul((*count).into()),
            Shape::Bytes(bytes) => *bytes,
        }
    }

    /// The value of these bytes; plain bytes if their number differs from the shape's.
    pub fn decode(&self, bytes: &[u8]) -> Value {
        if self.bytes() != bytes.len() as u64 {
            return Value::Bytes(bytes.to_vec());
        }
        match self {
            Shape::Int { bytes: 1..=8, .. } | Shape::Enum { bytes: 1..=8, .. } => {
                Value::Int(number_of(bytes, 8 * bytes.len() as u32, self.is_signed()))
            }
            Shape::Array { element, .. } => {
                let each = usize::try_from(element.bytes()).unwrap_or(0);
                // Elements without a size are none to see.
                Value::List(bytes.chunks(each.max(1)).map(|bytes| element.decode(bytes)).collect())
            }
            Shape::Record { union: false, members, .. } => {
                let mut fields = Vec::new();
                members.iter().for_each(|member| member.decode(bytes, &mut fields));
                Value::Record(fields)
            }
            _ => Value::Bytes(bytes.to_vec()),
        }
    }

    /// The bytes of a value. Fields that a record does not name are 0. Text is, by what the shape is: a decimal or
    /// hexadecimal number, or the name of a value of an enum; an address of IPv4 or IPv6 where 4 or 16 bytes are, in
    /// network order; else bytes in hexadecimal, `0x0a0b0c` or `0a 0b 0c` or `0a:0b:0c`.
    ///
    /// # Errors
    /// The part that does not fit, and its place.
    pub fn encode(&self, value: &Value) -> Result<Vec<u8>, ValueError> {
        let mut bytes = vec![0; usize::try_from(self.bytes()).unwrap_or(0)];
        self.write(value, &mut bytes)?;
        Ok(bytes)
    }

    /// Writes a value to where it belongs, as many bytes as the shape has; fields that a record does not name stay as
    /// they are.
    ///
    /// # Errors
    /// The part that does not fit, and its place.
    pub fn write(&self, value: &Value, to: &mut [u8]) -> Result<(), ValueError> {
        let wrong = |found| Err(ValueError::Kind { shape: self.to_string(), found, ways: self.ways() });
        match (self, value) {
            (_, Value::Bytes(bytes)) if bytes.len() == to.len() => to.copy_from_slice(bytes),
            (_, Value::Bytes(bytes)) => {
                return Err(ValueError::Size { shape: self.to_string(), wanted: self.bytes(), found: bytes.len() });
            }
            (_, Value::Text(text)) => return self.write(&self.parse(text)?, to),
            (Shape::Int { .. } | Shape::Enum { .. } | Shape::Bytes(_), Value::Int(number)) if to.len() <= 8 => {
                self.put(*number, 8 * to.len() as u32, 0, to)?;
            }
            (Shape::Array { element, count }, Value::List(values)) => {
                if values.len() != *count as usize {
                    let shape = self.to_string();
                    return Err(ValueError::Count { shape, wanted: *count, found: values.len() });
                }
                let each = usize::try_from(element.bytes()).unwrap_or(0).max(1);
                for (index, (value, to)) in values.iter().zip(to.chunks_mut(each)).enumerate() {
                    element.write(value, to).map_err(|source| source.at(&index.to_string()))?;
                }
            }
            (Shape::Record { members, .. }, Value::Record(fields)) => {
                for (name, value) in fields {
                    let (member, start) = find(members, name, 0).ok_or_else(|| {
                        let there = names(members).join(", ");
                        ValueError::NoField { shape: self.to_string(), name: name.clone(), there }
                    })?;
                    member.write(value, start, to).map_err(|source| source.at(name))?;
                }
            }
            (_, Value::Int(_)) => return wrong("a number"),
            (_, Value::List(_)) => return wrong("a list"),
            (_, Value::Record(_)) => return wrong("a set of fields"),
        }
        Ok(())
    }

    /// Writes a number into this many bits from bit `start` on.
    fn put(&self, number: i128, bits: u32, start: u32, to: &mut [u8]) -> Result<(), ValueError> {
        let (low, high) = match self {
            // The signedness of bytes without a meaning is unknown.
            Shape::Bytes(_) => (-(1 << bits >> 1), (1 << bits) - 1),
            _ if self.is_signed() => (-(1 << bits >> 1), (1 << bits >> 1) - 1),
            _ => (0, (1 << bits) - 1),
        };
        if !(low..=high).contains(&number) {
            return Err(ValueError::Range { shape: self.to_string(), number, low, high });
        }
        for bit in 0..bits {
            let at = start + bit;
            if let Some(byte) = to.get_mut((at / 8) as usize) {
                *byte = *byte & !(1 << (at % 8)) | ((number >> bit & 1) as u8) << (at % 8);
            }
        }
        Ok(())
    }

    fn is_signed(&self) -> bool {
        match self {
            Shape::Int { signed, .. } => *signed,
            Shape::Enum { values, .. } => values.iter().any(|(_, value)| *value < 0),
            _ => false,
        }
    }
}

impl Member {
    /// Adds the values of the record's bytes.
    fn decode(&self, record: &[u8], fields: &mut Vec<(String, Value)>) {
        let start = (self.bit_offset / 8) as usize;
        if let Some(bits) = self.bits {
            let shift = self.bit_offset % 8;
            let window = record.iter().skip(start).take(16).rev().fold(0u128, |all, byte| all << 8 | u128::from(*byte));
            let number = number_of(&(window >> shift).to_le_bytes(), bits.into(), self.shape.is_signed());
            fields.push((self.name.clone(), Value::Int(number)));
            return;
        }
        let size = usize::try_from(self.shape.bytes()).unwrap_or(usize::MAX);
        // An object may declare a member outside of its record.
        let Some(bytes) = start.checked_add(size).and_then(|end| record.get(start..end)) else { return };
        match &self.shape {
            Shape::Record { union: false, members, .. } if self.name.is_empty() => {
                members.iter().for_each(|member| member.decode(bytes, fields));
            }
            shape => fields.push((self.called(), shape.decode(bytes))),
        }
    }

    /// Writes its value into a record in which it is `start` bits after the place in its own record.
    fn write(&self, value: &Value, start: u32, record: &mut [u8]) -> Result<(), ValueError> {
        let at = start.saturating_add(self.bit_offset);
        if let Some(bits) = self.bits {
            let number = match value {
                Value::Text(text) => self.shape.parse(text)?,
                other => other.clone(),
            };
            return match number {
                Value::Int(number) => self.shape.put(number, u32::from(bits).min(64), at, record),
                _ => {
                    let shape = self.shape.to_string();
                    Err(ValueError::Kind { shape, found: "more than a number", ways: "a number" })
                }
            };
        }
        let (from, size) = ((at / 8) as usize, usize::try_from(self.shape.bytes()).unwrap_or(usize::MAX));
        let wanted = self.shape.bytes();
        let outside = || ValueError::Size { shape: self.shape.to_string(), wanted, found: 0 };
        let place = from.checked_add(size).and_then(|end| record.get_mut(from..end)).ok_or_else(outside)?;
        self.shape.write(value, place)
    }

    /// Its name; for a union without a name, those of its members.
    fn called(&self) -> String {
        match &self.shape {
            Shape::Record { union: true, members, .. } if self.name.is_empty() => names(members).join("|"),
            _ => self.name.clone(),
        }
    }
}

/// The member of that name, and the offset of its record in bits.
fn find<'a>(members: &'a [Member], name: &str, start: u32) -> Option<(&'a Member, u32)> {
    members.iter().find_map(|member| match &member.shape {
        _ if member.called() == name => Some((member, start)),
        Shape::Record { members, .. } if member.name.is_empty() => {
            find(members, name, start.saturating_add(member.bit_offset))
        }
        _ => None,
    })
}

/// The names of members, including those of records without a name.
fn names(members: &[Member]) -> Vec<String> {
    let of = |member: &Member| match &member.shape {
        Shape::Record { union: false, members, .. } if member.name.is_empty() => names(members),
        _ => vec![member.called()],
    };
    members.iter().flat_map(of).collect()
}

/// The lowest bits of bytes as a number.
fn number_of(bytes: &[u8], bits: u32, signed: bool) -> i128 {
    let bits = bits.min(64);
    let whole = bytes.iter().take(8).rev().fold(0i128, |all, byte| all << 8 | i128::from(*byte));
    let number = whole & ((1 << bits) - 1);
    if signed && bits > 0 && number >> (bits - 1) & 1 == 1 { number - (1 << bits) } else { number }
}

impl ValueError {
    fn at(self, name: &str) -> Self {
        Self::Field { name: name.to_owned(), source: Box::new(self) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(name: &str, bytes: u32, signed: bool) -> Shape {
        Shape::Int { name: name.into(), bytes, signed }
    }

    fn member(name: &str, bit_offset: u32, bits: Option<u8>, shape: Shape) -> Member {
        Member { name: name.into(), bit_offset, bits, shape }
    }

    fn record(name: &str, bytes: u32, union: bool, members: Vec<Member>) -> Shape {
        Shape::Record { name: name.into(), bytes, union, members }
    }

    /// struct flow { union { __be32 v4; __u8 v6[16]; }; struct { __u16 port; }; __u8 kind : 3, rest : 5; __s8 level; }
    fn flow() -> Shape {
        let six = Shape::Array { element: Box::new(int("__u8", 1, false)), count: 16 };
        let address =
            record("", 16, true, vec![member("v4", 0, None, int("__be32", 4, false)), member("v6", 0, None, six)]);
        let inner = record("", 2, false, vec![member("port", 0, None, int("__u16", 2, false))]);
        let members = vec![
            member("", 0, None, address),
            member("", 128, None, inner),
            member("kind", 144, Some(3), int("__u8", 1, false)),
            member("rest", 147, Some(5), int("__s8", 1, true)),
            member("level", 152, None, int("__s8", 1, true)),
        ];
        record("flow", 20, false, members)
    }

    fn text(text: &str) -> Value {
        Value::Text(text.into())
    }

    fn fields(fields: &[(&str, Value)]) -> Value {
        Value::Record(fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
    }

    #[test]
    fn a_struct_becomes_fields_and_back() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 0x34, 0x12, 0xA5, 0xFE];
        let value = flow().decode(&bytes);
        let expected = [
            ("v4|v6", Value::Bytes(bytes[..16].to_vec())),
            ("port", Value::Int(0x1234)),
            ("kind", Value::Int(5)),
            ("rest", Value::Int(-12)),
            ("level", Value::Int(-2)),
        ];
        assert_eq!(value, fields(&expected));
        assert_eq!(flow().encode(&value), Ok(bytes.to_vec()));
        // A member of the union by its name, and nothing else.
        let some = fields(&[("v4", text("10.0.0.1")), ("kind", Value::Int(7))]);
        let mut bytes = [0; 20];
        bytes[..4].copy_from_slice(&[10, 0, 0, 1]);
        bytes[18] = 7;
        assert_eq!(flow().encode(&some), Ok(bytes.to_vec()));
    }

    #[test]
    fn texts_are_read_by_what_they_are_for() {
        let four = || Shape::Array { element: Box::new(int("__u8", 1, false)), count: 4 };
        let named =
            || Shape::Enum { name: "verdict".into(), bytes: 4, values: vec![("DROP".into(), 1), ("LOST".into(), -1)] };
        for (shape, typed, bytes) in [
            (int("__u32", 4, false), "258", vec![2, 1, 0, 0]),
            (int("__u32", 4, false), "0x0102", vec![2, 1, 0, 0]),
            (int("__u32", 4, false), " 01 02 03 04", vec![1, 2, 3, 4]),
            (int("__be32", 4, false), "192.0.2.1", vec![192, 0, 2, 1]),
            (int("__s16", 2, true), "-2", vec![0xFE, 0xFF]),
            (int("__u64", 8, false), "18446744073709551615", vec![0xFF; 8]),
            (named(), "DROP", vec![1, 0, 0, 0]),
            (named(), "LOST", vec![0xFF; 4]),
            (four(), "0x01020304", vec![1, 2, 3, 4]),
            (four(), "a:b:c:d", vec![10, 11, 12, 13]),
            (Shape::Bytes(6), "02:00:00:00:00:fe", vec![2, 0, 0, 0, 0, 0xFE]),
            (Shape::Bytes(16), "2001:db8::1", vec![0x20, 1, 0xD, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
            (Shape::Bytes(4), "7", vec![7, 0, 0, 0]),
            (Shape::Bytes(4), "0x00000007", vec![0, 0, 0, 7]),
        ] {
            assert_eq!(shape.encode(&text(typed)), Ok(bytes), "{typed} for {shape}");
        }
        assert_eq!(named().decode(&[0xFF; 4]), Value::Int(-1));
    }

    #[test]
    fn what_does_not_fit_says_why() {
        let list = Value::List(vec![Value::Int(1), Value::Int(256)]);
        let pair = Shape::Array { element: Box::new(int("__u8", 1, false)), count: 2 };
        for (shape, value, words) in [
            (int("__u8", 1, false), Value::Int(256), "256 does not fit into __u8, which takes 0 to 255"),
            (int("__s8", 1, true), Value::Int(-129), "-129 does not fit into __s8, which takes -128 to 127"),
            (int("__u32", 4, false), text("ten"), "`ten` is no __u32: write a number, or all bytes"),
            (int("__u32", 4, false), text(""), "`` is no __u32"),
            (int("__u32", 4, false), text("1 2 3"), "__u32 has 4 bytes, and these are 3"),
            (int("__u32", 4, false), text("0x+1"), "is no __u32"),
            (int("__u32", 4, false), list.clone(), "a list is given for __u32: write a number"),
            (pair.clone(), list, "1: 256 does not fit into __u8"),
            (pair.clone(), Value::List(vec![]), "__u8[2] has 2 elements, and these are 0"),
            (pair, text("0x010"), "`0x010` is no __u8[2]"),
            (
                flow(),
                fields(&[("no", Value::Int(1))]),
                "struct flow has no field `no`; it has v4|v6, port, kind, rest, level",
            ),
            (flow(), fields(&[("kind", Value::Int(8))]), "kind: 8 does not fit into __u8, which takes 0 to 7"),
            (flow(), fields(&[("kind", text("1 2"))]), "kind: more than a number"),
            (flow(), text("1"), "`1` is no struct flow: write its fields"),
            (flow(), Value::Int(1), "a number is given for struct flow: write its fields"),
            (Shape::Bytes(9), Value::Int(1), "a number is given for 9 bytes: write all bytes in hexadecimal"),
            (Shape::Bytes(2), text("0x0é"), "is no 2 bytes"),
        ] {
            let error = shape.encode(&value).expect_err("it does not fit").to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn shapes_that_lie_do_no_harm() {
        let outside = record("r", 2, false, vec![member("far", 800, None, int("__u32", 4, false))]);
        assert_eq!(outside.decode(&[1, 2]), fields(&[]));
        assert!(outside.encode(&fields(&[("far", Value::Int(1))])).is_err());
        let nothing = Shape::Array { element: Box::new(Shape::Bytes(0)), count: u32::MAX };
        assert_eq!(nothing.decode(&[]), Value::List(vec![]));
        let wide = record("r", 1, false, vec![member("bits", 4, Some(200), int("__u8", 1, false))]);
        assert_eq!(wide.decode(&[0xF1]), fields(&[("bits", Value::Int(15))]));
        assert!(wide.encode(&fields(&[("bits", Value::Int(1))])).is_ok());
        assert_eq!(int("__int128", 16, true).decode(&[7; 16]), Value::Bytes(vec![7; 16]));
    }
}
