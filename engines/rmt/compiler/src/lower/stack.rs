// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Header stacks: the elements that parsers extract next and last, elements that an index chooses, and shifts.

use super::value::{Place, Shape, Value};
use super::{Context, Lower};
use crate::ast::{self, Call, ExprKind as Ast};
use crate::fault::{Check, Fault};
use crate::ir::{self, BinaryOp, Expr, FieldId, FieldKind, StmtKind};
use crate::source::Span;
use crate::types::Type;

/// Operations with which an index chooses an element at most.
const CHOICE: usize = 1 << 16;

/// A header stack.
pub(super) struct Stack {
    pub elements: Vec<Place>,
    /// `nextIndex` of the specification: the elements that the parser has extracted. [`super::unroll`] knows its value
    /// in each state and removes it.
    pub counter: Option<FieldId>,
    /// Stand for the elements `next` and `last` until [`super::unroll`] knows which ones these are.
    pub next: Option<Place>,
    pub last: Option<Place>,
}

impl<'a> Lower<'a> {
    /// Makes a stack of these elements.
    pub(super) fn stack(&mut self, elements: Vec<Place>) -> Shape {
        self.stacks.push(Stack { elements: elements.clone(), counter: None, next: None, last: None });
        Shape::Stack(self.stacks.len() - 1, elements)
    }

    /// The field that counts the elements that the parser has extracted.
    pub(super) fn counter(&mut self, stack: usize, span: Span) -> FieldId {
        if let Some(counter) = self.stacks[stack].counter {
            return counter;
        }
        let counter = self.temporary(32, span);
        self.stacks[stack].counter = Some(counter);
        counter
    }

    /// A stack without elements, in parsers.
    pub(super) fn reset_counter(&mut self, stack: usize, span: Span) {
        if self.context == Context::Parser {
            let counter = self.counter(stack, span);
            self.emit(StmtKind::Assign(counter, Expr::constant(0, 32, span)), span);
        }
    }

    /// `stack.next`, `.last`, `.lastIndex` and `.size`.
    pub(super) fn stack_member(&mut self, place: &Place, name: &ast::Name, span: Span) -> Check<Value> {
        let Shape::Stack(stack, elements) = &place.shape else {
            return Err(Fault::new(name.span, format!("`{}` has no member `{}`", place.ty, name.text)));
        };
        let size = elements.len() as u128;
        if name.text == "size" {
            return Ok(Value::Scalar(Expr::constant(size, 32, span), Type::Bit(32)));
        }
        if !matches!(&name.text[..], "next" | "last" | "lastIndex") {
            return Err(Fault::new(name.span, format!("`{}` has no field `{}`", place.ty, name.text))
                .label("unknown field")
                .help("a stack has next, last, lastIndex, size, push_front and pop_front"));
        }
        if self.context != Context::Parser {
            return Err(Fault::new(name.span, format!("`{}` of a stack stands in parsers alone", name.text))
                .help("name the element by its index"));
        }
        let counter = self.counter(*stack, span);
        if name.text == "lastIndex" {
            let index = Expr::field(counter, 32, span);
            let last = Expr::binary(BinaryOp::Sub, index, Expr::constant(1, 32, span), span);
            return Ok(Value::Scalar(last, Type::Bit(32)));
        }
        let is_next = name.text == "next";
        let known = if is_next { self.stacks[*stack].next.clone() } else { self.stacks[*stack].last.clone() };
        let made = match known {
            Some(made) => made,
            None => {
                let made = self.variable(&self.text(span), &elements[0].ty, FieldKind::Local, span)?;
                let of = &mut self.stacks[*stack];
                *(if is_next { &mut of.next } else { &mut of.last }) = Some(made.clone());
                made
            }
        };
        let made = if place.writable { made } else { made.read_only() };
        Ok(Value::Place(Place { span, ..made }))
    }

    /// `stack[index]`
    pub(super) fn index(&mut self, base: &'a ast::Expr, index: &'a ast::Expr, span: Span) -> Check<Value> {
        let value = self.raw(base, None)?;
        let parts: Option<Vec<Value>> = match &value {
            Value::Place(Place { shape: Shape::Struct(members), ty: Type::Tuple(_), .. }) => {
                Some(members.iter().map(|(_, member)| Value::Place(member.clone())).collect())
            }
            Value::List(values, _) => Some(values.clone()),
            _ => None,
        };
        if let Some(parts) = parts {
            let at = self.constant_u32(index)?;
            let part = parts.get(at as usize).cloned();
            let beyond = || Fault::new(index.span, format!("there are {} values, from 0 on", parts.len()));
            return Ok(part.ok_or_else(beyond)?.at(span));
        }
        let Value::Place(Place { shape: Shape::Stack(_, elements), ty: Type::Stack(of, size), writable, .. }) = &value
        else {
            return Err(
                Fault::new(base.span, format!("`{}` has no elements", value.type_name())).label("not a header stack")
            );
        };
        let beyond = |at| Err(Fault::new(at, format!("the stack has {size} elements, from 0 on")));
        let at = match self.expr(index, None)? {
            Value::Integer(number, at) => match u128::try_from(&number) {
                Ok(number) => Expr::constant(number, ir::MAX_BITS, at),
                Err(_) => return beyond(at),
            },
            value => {
                let (value, ty) = self.typed(value)?;
                let under = if let Type::Enum(of) = &ty { of.underlying.as_ref().unwrap_or(&ty) } else { &ty };
                if !under.is_number() && value.value().is_none() {
                    return Err(Fault::new(value.span, format!("an index is a number, this is `{ty}`"))
                        .help("cast it: `(bit<32>)(…)`"));
                }
                // An index below 0 is behind the end.
                if under.is_signed() { value.clone().resize(value.width.max(32), true, span) } else { value }
            }
        };
        let known = at.value().map(|at| usize::try_from(at).unwrap_or(usize::MAX));
        match known {
            // A turn of a loop has the constant where the program has a variable, whose value may be behind the end.
            Some(known) if known < elements.len() || !self.in_turn || matches!(index.kind, Ast::Number(_)) => {
                match elements.get(known) {
                    Some(element) => Ok(Value::Place(Place { span, ..element.clone() })),
                    None => beyond(index.span),
                }
            }
            _ => {
                let shape = Shape::Element(Box::new(at), elements.clone());
                Ok(Value::Place(Place { shape, ty: (**of).clone(), writable: *writable, span }))
            }
        }
    }

    /// Whether a place is `next` or `last` of a stack, or a part of it.
    pub(super) fn stands_for_element(&self, place: &Place) -> bool {
        let fields = place.fields();
        let elements = self.stacks.iter().flat_map(|stack| [&stack.next, &stack.last]).flatten();
        elements.flat_map(Place::fields).any(|field| fields.contains(&field))
    }

    /// Whether an index chooses the element of this number.
    pub(super) fn chosen(index: &Expr, number: usize, span: Span) -> Expr {
        let number = Expr::constant(number as u128, index.width.max(32), span);
        Expr::binary(BinaryOp::Eq, index.clone().resize(number.width, false, span), number, span)
    }

    /// The value of a place that an index chooses: a number, or a copy of a header. Behind the end of the stack it is
    /// 0, or an invalid header.
    pub(super) fn element_value(&mut self, place: Place) -> Check<Value> {
        let Place { shape: Shape::Element(index, elements), ty, span, .. } = place else {
            return Ok(Value::Place(place));
        };
        if let Some(width) = ty.bits() {
            self.check_index(&index, elements.len())?;
            let mut value = Expr::constant(0, width, span);
            for (number, element) in elements.into_iter().enumerate().rev() {
                let (own, _) = self.typed(Value::Place(element))?;
                value = Expr::mux(Self::chosen(&index, number, span), own, value, span);
            }
            return Ok(Value::Scalar(value, ty));
        }
        let copy = self.copy("$element", &ty, span)?;
        self.invalidate(&copy, span);
        self.for_element(&index, elements, span, |this, element| this.assign(&copy, Value::Place(element), span))?;
        Ok(Value::Place(copy.read_only()))
    }

    /// Checks that an index is short: it is written once for each element, and one that holds another index is as long
    /// as the other's stack.
    fn check_index(&self, index: &Expr, elements: usize) -> Check<()> {
        let mut parts = 0;
        index.walk(&mut |_| parts += 1);
        if parts * elements <= CHOICE {
            return Ok(());
        }
        Err(Fault::new(index.span, format!("the choice of an element takes more than {CHOICE} operations"))
            .label("this index is computed for each element")
            .help("assign the index to a variable first"))
    }

    /// Statements for the element that an index chooses; none behind the end of the stack.
    pub(super) fn for_element(
        &mut self,
        index: &Expr,
        elements: Vec<Place>,
        span: Span,
        mut work: impl FnMut(&mut Self, Place) -> Check<()>,
    ) -> Check<()> {
        for (number, element) in elements.into_iter().enumerate() {
            let (done, then) = self.capture(|this| work(this, element));
            done?;
            let condition = Self::chosen(index, number, span);
            self.emit(StmtKind::If { condition, then, otherwise: Vec::new() }, span);
        }
        Ok(())
    }

    /// `stack.push_front(count)` or `stack.pop_front(count)`.
    pub(super) fn shift_stack(
        &mut self,
        place: &Place,
        method: &ast::Name,
        call: &'a Call,
        span: Span,
    ) -> Check<Value> {
        let Shape::Stack(_, elements) = &place.shape else { return Ok(Value::Void(span)) };
        if self.in_parser {
            return Err(Fault::new(method.span, format!("`{}` stands in controls and actions alone", method.text))
                .help("shift the stack at the beginning of ingress"));
        }
        if !place.writable {
            return Err(Fault::new(span, "this stack cannot be changed").label("a parameter of direction `in`"));
        }
        let args = self.arguments(&method.text, &["count"], &call.args, span)?;
        let count = self.constant_u32(args[0])? as usize;
        let size = elements.len();
        let moved = |this: &mut Self, to: usize, from: Option<usize>| match from {
            Some(from) => this.assign(&elements[to], Value::Place(elements[from].clone()), span),
            None => {
                this.invalidate(&elements[to], span);
                Ok(())
            }
        };
        if method.text == "push_front" {
            (0..size).rev().try_for_each(|to| moved(self, to, to.checked_sub(count)))?;
        } else {
            let from = |to: usize| Some(to + count).filter(|from| *from < size);
            (0..size).try_for_each(|to| moved(self, to, from(to)))?;
        }
        Ok(Value::Void(span))
    }
}
