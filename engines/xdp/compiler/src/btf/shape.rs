// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The layout of a key or value, copied from the object's types so that it does not depend on the object.

use std::fmt::{self, Display, Formatter};

use super::{Btf, Kind, TypeId};

/// A member of a struct or union.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Empty for an anonymous struct or union.
    pub name: String,
    /// Bits from the beginning of the struct.
    pub bit_offset: u32,
    /// The width of a bit field.
    pub bits: Option<u8>,
    /// The layout of the member's value.
    pub shape: Shape,
}

/// The layout of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants' comments speak of their fields")]
pub enum Shape {
    /// An integer of `bytes` bytes.
    Int {
        /// As the source calls it, with its typedef: `__be32`.
        name: String,
        bytes: u32,
        signed: bool,
    },
    /// `count` values that follow each other.
    Array { element: Box<Shape>, count: u32 },
    /// A struct or union of `bytes` bytes.
    Record { name: String, bytes: u32, union: bool, members: Vec<Member> },
    /// Named constants in an integer of `bytes` bytes.
    Enum { name: String, bytes: u32, values: Vec<(String, i64)> },
    /// Bytes without a known meaning: pointers, floats, types nested too deep.
    Bytes(u64),
}

/// Types nest no deeper than that and have no more members in all: what an object could use to make us work without
/// end.
const MAX_DEPTH: usize = 16;
const MAX_NODES: usize = 4096;

impl Shape {
    /// The shape of a type that has a size.
    pub fn of(btf: &Btf, id: TypeId) -> Option<Shape> {
        shape(btf, id, 0, &mut MAX_NODES.clone())
    }
}

fn shape(btf: &Btf, id: TypeId, depth: usize, budget: &mut usize) -> Option<Shape> {
    let bytes = btf.size(id)?;
    if depth > MAX_DEPTH || *budget == 0 {
        return Some(Shape::Bytes(bytes));
    }
    *budget -= 1;
    let ty = btf.resolve(id)?;
    // The name nearest to the source: of the typedef, else of the type itself.
    let named = btf.get(id).filter(|ty| !ty.name.is_empty()).unwrap_or(ty);
    let name = named.name.clone();
    Some(match &ty.kind {
        Kind::Int { bytes, signed } => Shape::Int { name, bytes: *bytes, signed: *signed },
        Kind::Enum { bytes, values } => Shape::Enum { name, bytes: *bytes, values: values.clone() },
        Kind::Array { element, count } => {
            Shape::Array { element: Box::new(shape(btf, *element, depth + 1, budget)?), count: *count }
        }
        Kind::Record { bytes, fields, union } => {
            let mut members = Vec::new();
            for field in fields {
                members.push(Member {
                    name: field.name.clone(),
                    bit_offset: field.bit_offset,
                    bits: field.bits,
                    shape: shape(btf, field.ty, depth + 1, budget).unwrap_or(Shape::Bytes(0)),
                });
            }
            Shape::Record { name, bytes: *bytes, union: *union, members }
        }
        _ => Shape::Bytes(bytes),
    })
}

impl Display for Shape {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Int { name, .. } => f.write_str(name),
            Shape::Enum { name, .. } if name.is_empty() => f.write_str("enum"),
            Shape::Enum { name, .. } => write!(f, "enum {name}"),
            Shape::Array { element, count } => write!(f, "{element}[{count}]"),
            Shape::Bytes(bytes) => write!(f, "{bytes} bytes"),
            Shape::Record { name, union, members, .. } => {
                f.write_str(if *union { "union" } else { "struct" })?;
                if !name.is_empty() {
                    return write!(f, " {name}");
                }
                f.write_str(" { ")?;
                for member in members {
                    write!(f, "{} {}; ", member.shape, member.name)?;
                }
                f.write_str("}")
            }
        }
    }
}
