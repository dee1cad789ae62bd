// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Functions and methods of v1model.

use super::value::{Shape, Value};
use super::{Context, Lower, Symbol};
use crate::ast::{self, Call};
use crate::fault::{Check, Fault};
use crate::ir::{self, Expr, ParserOp, Standard, StmtKind};
use crate::source::Span;
use crate::types::Type;

impl<'a> Lower<'a> {
    /// A function that v1model.p4 or core.p4 declares.
    pub(super) fn extern_function(&mut self, name: &str, call: &'a Call, span: Span) -> Check<Value> {
        match name {
            "mark_to_drop" => {
                if call.args.is_empty() {
                    self.drop_frame(span);
                    return Ok(Value::Void(span));
                }
                let args = self.arguments(name, &["standard_metadata"], &call.args, span)?;
                let place = self.writable(args[0])?;
                if place.fields().first() == Some(&Standard::IngressPort.field()) {
                    self.drop_frame(span);
                    return Ok(Value::Void(span));
                }
                // A parameter of an action or function has fields of its own.
                let (Type::Struct(of), Shape::Struct(members)) = (&place.ty, &place.shape) else {
                    return Err(no_standard_metadata(args[0].span, &place.ty));
                };
                if of.name != "standard_metadata_t" {
                    return Err(no_standard_metadata(args[0].span, &place.ty));
                }
                for (name, member) in members {
                    let value = match &name[..] {
                        "egress_spec" => ir::PORT_DROP,
                        "mcast_grp" => 0,
                        _ => continue,
                    };
                    self.assign(member, Value::Integer(value.into(), span), span)?;
                }
                Ok(Value::Void(span))
            }
            "verify" if self.context == Context::Parser => {
                let args = self.arguments(name, &["condition", "otherwise"], &call.args, span)?;
                let condition = self.condition(args[0])?;
                let error = self.expr_of(args[1], &Type::Error)?;
                let Some(error) = error.value() else {
                    return Err(Fault::missing(args[1].span, "errors that are not constants"));
                };
                self.flush_parser()?;
                self.ops.push(ParserOp::Verify { condition, error, span });
                Ok(Value::Void(span))
            }
            "verify" => Err(Fault::new(span, "`verify` stands in parsers alone")),
            "verify_checksum" | "update_checksum" | "verify_checksum_with_payload" | "update_checksum_with_payload" => {
                Err(Fault::new(span, format!("`{name}` stands in the checksum controls alone"))
                    .help("verify in the second argument of V1Switch, update in the fifth one"))
            }
            "static_assert" => {
                let says = matches!(call.args.get(1).map(|arg| &arg.value.kind), Some(ast::ExprKind::Text(_)));
                let params: &[&str] = if call.args.len() > 1 { &["check", "message"] } else { &["check"] };
                let args = self.arguments(name, params, &call.args, span)?;
                let held = self.condition(args[0])?.value();
                let held = held.ok_or_else(|| Fault::new(args[0].span, "`static_assert` checks a constant"))?;
                if held == 0 {
                    let message = if says { self.text(args[1].span) } else { self.text(args[0].span) };
                    return Err(Fault::new(span, format!("the assertion does not hold: {message}")));
                }
                Ok(Value::Scalar(Expr::constant(1, 1, span), Type::Bool))
            }
            // Nothing is checked or printed: the specification of v1model leaves that to the target.
            "assume" | "log_msg" => {
                for arg in &call.args {
                    self.expr(&arg.value, None)?;
                }
                Ok(Value::Void(span))
            }
            _ => self.operation(name, call, span),
        }
    }

    fn drop_frame(&mut self, span: Span) {
        for (field, value, width) in [(Standard::EgressSpec, ir::PORT_DROP, 9), (Standard::McastGrp, 0, 16)] {
            self.emit(StmtKind::Assign(field.field(), Expr::constant(value, width, span)), span);
        }
    }

    /// The index of a cell: `bit<32>`, or a shorter number where a program has chosen one.
    fn cell(&mut self, expr: &'a ast::Expr) -> Check<Expr> {
        let number = Type::Bit(32);
        match self.expr(expr, Some(&number))? {
            value @ Value::Integer(..) => self.scalar(value, &number),
            value => {
                let (index, ty) = self.typed(value)?;
                let under = if let Type::Enum(of) = &ty { of.underlying.clone().unwrap_or(ty) } else { ty };
                match under {
                    Type::Bit(..=32) => Ok(index.resize(32, false, expr.span)),
                    other => Err(Fault::new(expr.span, format!("an index is `bit<32>`, this is `{other}`"))),
                }
            }
        }
    }

    /// A method of a register or counter.
    pub(super) fn extern_method(
        &mut self,
        symbol: &Symbol<'a>,
        method: &ast::Name,
        call: &'a Call,
        span: Span,
    ) -> Check<Value> {
        self.check_effects("registers, counters and meters", span)?;
        let mut result = None;
        match (symbol, &method.text[..]) {
            (Symbol::Register(register, ty), "read") => {
                let args = self.arguments("read", &["result", "index"], &call.args, span)?;
                let place = self.writable(args[0])?;
                if place.ty != *ty {
                    return Err(super::place::mismatch(&ty.to_string(), &Value::Place(place)));
                }
                let to = self.result_of(place, args[0].span, &mut result)?;
                let index = self.cell(args[1])?;
                self.emit(StmtKind::RegisterRead { register: *register, index, to }, span);
            }
            (Symbol::Register(register, ty), "write") => {
                let args = self.arguments("write", &["index", "value"], &call.args, span)?;
                let index = self.cell(args[0])?;
                let value = self.expr_of(args[1], ty)?;
                self.emit(StmtKind::RegisterWrite { register: *register, index, value }, span);
            }
            (Symbol::Counter(counter), "count") => {
                let args = self.arguments("count", &["index"], &call.args, span)?;
                let index = self.cell(args[0])?;
                self.emit(StmtKind::Count { counter: *counter, index }, span);
            }
            // A direct counter counts each frame for which its table finds an entry, whether or not the action names
            // it.
            (Symbol::DirectCounter(_), "count") => {
                self.arguments("count", &[], &call.args, span)?;
            }
            (Symbol::Meter(meter), "execute_meter") => {
                let args = self.arguments("execute_meter", &["index", "result"], &call.args, span)?;
                let index = self.cell(args[0])?;
                let to = self.result(args[1], &mut result)?;
                self.emit(StmtKind::Extern(Box::new(ir::Extern::Meter { meter: *meter, index, to })), span);
            }
            (Symbol::DirectMeter(meter), "read") => {
                let args = self.arguments("read", &["result"], &call.args, span)?;
                let to = self.result(args[0], &mut result)?;
                self.emit(StmtKind::Extern(Box::new(ir::Extern::DirectMeter { meter: *meter, to })), span);
            }
            _ => {
                let known = match symbol {
                    Symbol::Register(..) => "`read` and `write`",
                    Symbol::Meter(_) => "`execute_meter`",
                    Symbol::DirectMeter(_) => "`read`",
                    _ => "`count`",
                };
                return Err(Fault::new(method.span, format!("there is no method `{}`", method.text))
                    .help(format!("it has {known}")));
            }
        }
        self.give(result, span)?;
        Ok(Value::Void(span))
    }
}

/// The fault of an argument that is not the standard metadata.
fn no_standard_metadata(span: Span, ty: &Type) -> Box<Fault> {
    Fault::new(span, "`mark_to_drop` takes the standard metadata").label(format!("this is `{ty}`"))
}
