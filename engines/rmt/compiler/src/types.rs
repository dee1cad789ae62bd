// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Types of P4.

use std::fmt;
use std::rc::Rc;

use crate::ir::MAX_BITS;

/// A type.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Type {
    Void,
    Bool,
    Bit(u32),
    Int(u32),
    Varbit(u32),
    /// The type of constants without a width.
    Integer,
    Error,
    Text,
    Enum(Rc<Enum>),
    Header(Rc<Struct>),
    Struct(Rc<Struct>),
    /// A header union; its fields are headers.
    Union(Rc<Struct>),
    Stack(Rc<Type>, u32),
    Tuple(Rc<Vec<Type>>),
    /// `list<T>`: constants that loops take one by one.
    List(Rc<Type>),
    /// `type T name`
    New(Rc<str>, Rc<Type>),
    PacketIn,
    PacketOut,
}

/// A header, struct or header union.
#[derive(Debug)]
pub(crate) struct Struct {
    pub name: String,
    pub fields: Vec<(String, Type)>,
    /// For a header, its index in the program.
    pub header: usize,
    /// Nesting depth of types in it.
    pub depth: usize,
}

/// Names of types are unique.
impl PartialEq for Struct {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// An enumeration.
#[derive(Debug, PartialEq)]
pub(crate) struct Enum {
    pub name: String,
    /// `enum bit<8> name`
    pub underlying: Option<Type>,
    pub members: Vec<(String, u128)>,
}

/// Bits of an `error` and of an `enum` without underlying type.
pub(crate) const ENUM_BITS: u32 = 32;

impl Type {
    /// Nesting depth of types in it.
    pub(crate) fn depth(&self) -> usize {
        match self {
            Self::Header(of) | Self::Struct(of) | Self::Union(of) => of.depth,
            Self::Enum(of) => 1 + of.underlying.as_ref().map_or(0, Self::depth),
            Self::Stack(of, _) | Self::New(_, of) | Self::List(of) => 1 + of.depth(),
            Self::Tuple(of) => 1 + of.iter().map(Self::depth).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// Parts of a tuple with those of tuples in it; None if they are more than `most`.
    pub(crate) fn parts(&self, most: usize) -> Option<usize> {
        match self {
            Self::Tuple(of) => of.iter().try_fold(1, |sum: usize, ty| Some(sum + ty.parts(most.checked_sub(sum)?)?)),
            Self::Stack(of, _) | Self::New(_, of) | Self::List(of) => of.parts(most),
            _ => Some(1).filter(|parts| *parts <= most),
        }
    }

    /// Bits of a value; None for types without a single value, and for numbers of more than [`MAX_BITS`] bits.
    pub(crate) fn bits(&self) -> Option<u32> {
        match self {
            Self::Bool => Some(1),
            Self::Bit(bits) | Self::Int(bits) => Some(*bits).filter(|bits| *bits <= MAX_BITS),
            Self::Error => Some(ENUM_BITS),
            Self::Enum(of) => of.underlying.as_ref().map_or(Some(ENUM_BITS), Self::bits),
            Self::New(_, of) => of.bits(),
            _ => None,
        }
    }

    /// Bits of a number that no operator takes, as it is too wide: it is copied, compared and sliced.
    pub(crate) fn wide(&self) -> Option<u32> {
        match self {
            Self::Bit(bits) => Some(*bits).filter(|bits| *bits > MAX_BITS),
            Self::New(_, of) => of.wide(),
            _ => None,
        }
    }

    /// Bits of all parts. A varbit counts with its maximum, or not at all; of a header union the largest or smallest
    /// member counts.
    pub(crate) fn size(&self, most: bool) -> Option<u32> {
        match self {
            Self::Varbit(bits) => Some(if most { *bits } else { 0 }),
            Self::Header(of) | Self::Struct(of) => of.fields.iter().map(|(_, ty)| ty.size(most)).sum(),
            Self::Union(of) => {
                let sizes: Option<Vec<u32>> = of.fields.iter().map(|(_, ty)| ty.size(most)).collect();
                let sizes = sizes?.into_iter();
                if most { sizes.max() } else { sizes.min() }
            }
            Self::Stack(of, count) => of.size(most)?.checked_mul(*count),
            Self::Tuple(of) => of.iter().map(|ty| ty.size(most)).sum(),
            _ => self.wide().or_else(|| self.bits()),
        }
    }

    /// Whether it is `int<N>`.
    pub(crate) fn is_signed(&self) -> bool {
        matches!(self, Self::Int(_))
    }

    /// Whether it is `bit<N>` or `int<N>`.
    pub(crate) fn is_number(&self) -> bool {
        matches!(self, Self::Bit(_) | Self::Int(_))
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Void => f.write_str("void"),
            Self::Bool => f.write_str("bool"),
            Self::Bit(bits) => write!(f, "bit<{bits}>"),
            Self::Int(bits) => write!(f, "int<{bits}>"),
            Self::Varbit(bits) => write!(f, "varbit<{bits}>"),
            Self::Integer => f.write_str("int"),
            Self::Error => f.write_str("error"),
            Self::Text => f.write_str("string"),
            Self::Enum(of) => f.write_str(&of.name),
            Self::Header(of) | Self::Struct(of) | Self::Union(of) => f.write_str(&of.name),
            Self::Stack(of, size) => write!(f, "{of}[{size}]"),
            Self::Tuple(of) => {
                let of: Vec<_> = of.iter().map(ToString::to_string).collect();
                write!(f, "tuple<{}>", of.join(", "))
            }
            Self::List(of) => write!(f, "list<{of}>"),
            Self::New(name, _) => f.write_str(name),
            Self::PacketIn => f.write_str("packet_in"),
            Self::PacketOut => f.write_str("packet_out"),
        }
    }
}
