// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Values and places, as expressions give them.

use num_bigint::BigInt;

use crate::ir::{self, FieldId, InstanceId};
use crate::source::Span;
use crate::types::Type;

/// The value of an expression.
#[derive(Debug, Clone)]
pub(super) enum Value {
    /// A number, bool, error or member of an enumeration.
    Scalar(ir::Expr, Type),
    /// A constant without a width.
    Integer(BigInt, Span),
    /// A variable: it can be read, and perhaps written.
    Place(Place),
    /// `{a, b}`
    List(Vec<Value>, Span),
    /// `{x = a}`
    Record(Vec<(String, Value)>, Span),
    Text(Span),
    /// `{#}`
    Invalid(Span),
    /// `...`
    Rest(Span),
    /// A call that gives nothing.
    Void(Span),
}

/// A variable, or a part of one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Place {
    pub shape: Shape,
    pub ty: Type,
    /// It may be written.
    pub writable: bool,
    pub span: Span,
}

/// The parts of a variable.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    Scalar(FieldId),
    Varbit(FieldId),
    Header(InstanceId, Vec<(String, Place)>),
    /// The members of a struct, tuple or header union.
    Struct(Vec<(String, Place)>),
    /// A header stack: its index in `Lower::stacks`, and its elements.
    Stack(usize, Vec<Place>),
    /// One of these places, chosen by an index: an element of a stack whose index is not a constant, or a part of it.
    Element(Box<ir::Expr>, Vec<Place>),
    /// Bits of a number, from the higher to the lower one.
    Slice(Box<Place>, u32, u32),
    /// `packet_in` or `packet_out`
    Packet,
}

impl Place {
    /// All fields of it, without validity.
    pub(super) fn fields(&self) -> Vec<FieldId> {
        match &self.shape {
            Shape::Scalar(field) | Shape::Varbit(field) => vec![*field],
            Shape::Header(_, members) | Shape::Struct(members) => {
                members.iter().flat_map(|(_, of)| of.fields()).collect()
            }
            Shape::Stack(_, elements) | Shape::Element(_, elements) => elements.iter().flat_map(Self::fields).collect(),
            Shape::Slice(of, ..) => of.fields(),
            Shape::Packet => Vec::new(),
        }
    }

    /// The same place, which must not be written.
    pub(super) fn read_only(mut self) -> Self {
        self.writable = false;
        match &mut self.shape {
            Shape::Header(_, members) | Shape::Struct(members) => {
                members.iter_mut().for_each(|(_, of)| *of = of.clone().read_only());
            }
            Shape::Stack(_, elements) | Shape::Element(_, elements) => {
                elements.iter_mut().for_each(|of| *of = of.clone().read_only());
            }
            Shape::Scalar(_) | Shape::Varbit(_) | Shape::Slice(..) | Shape::Packet => {}
        }
        self
    }

    /// Stacks in it.
    pub(super) fn stacks(&self) -> Vec<usize> {
        match &self.shape {
            Shape::Stack(stack, _) => vec![*stack],
            Shape::Struct(members) => members.iter().flat_map(|(_, of)| of.stacks()).collect(),
            _ => Vec::new(),
        }
    }

    /// Headers in it, in their order.
    pub(super) fn headers(&self) -> Vec<InstanceId> {
        match &self.shape {
            Shape::Header(instance, _) => vec![*instance],
            Shape::Struct(members) => members.iter().flat_map(|(_, of)| of.headers()).collect(),
            Shape::Stack(_, elements) | Shape::Element(_, elements) => {
                elements.iter().flat_map(Self::headers).collect()
            }
            Shape::Scalar(_) | Shape::Varbit(_) | Shape::Slice(..) | Shape::Packet => Vec::new(),
        }
    }
}

impl Value {
    pub(super) fn span(&self) -> Span {
        match self {
            Self::Scalar(expr, _) => expr.span,
            Self::Place(place) => place.span,
            Self::Integer(_, span)
            | Self::List(_, span)
            | Self::Record(_, span)
            | Self::Text(span)
            | Self::Invalid(span)
            | Self::Rest(span)
            | Self::Void(span) => *span,
        }
    }

    /// Its type, for messages.
    pub(super) fn type_name(&self) -> String {
        match self {
            Self::Scalar(_, ty) => ty.to_string(),
            Self::Integer(..) => Type::Integer.to_string(),
            Self::Place(place) => place.ty.to_string(),
            Self::List(..) => "a list".into(),
            Self::Record(..) => "a list with names".into(),
            Self::Text(_) => Type::Text.to_string(),
            Self::Invalid(_) => "an invalid header".into(),
            Self::Rest(_) => "the rest of a list".into(),
            Self::Void(_) => Type::Void.to_string(),
        }
    }

    /// Its place in the source differs: names of constants belong to the place of their use.
    pub(super) fn at(mut self, at: Span) -> Self {
        match &mut self {
            Self::Scalar(expr, _) => expr.span = at,
            Self::Place(place) => place.span = at,
            Self::Integer(_, span)
            | Self::List(_, span)
            | Self::Record(_, span)
            | Self::Text(span)
            | Self::Invalid(span)
            | Self::Rest(span)
            | Self::Void(span) => {
                *span = at;
            }
        }
        self
    }
}
