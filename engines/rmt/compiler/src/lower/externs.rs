// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Functions and methods of v1model.

use super::value::Value;
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
                if place.fields().first() != Some(&Standard::IngressPort.field()) {
                    return Err(Fault::new(args[0].span, "`mark_to_drop` takes the standard metadata")
                        .label(format!("this is `{}`", place.ty)));
                }
                self.drop_frame(span);
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

    /// A method of a register or counter.
    pub(super) fn extern_method(
        &mut self,
        symbol: &Symbol<'a>,
        method: &ast::Name,
        call: &'a Call,
        span: Span,
    ) -> Check<Value> {
        let index = Type::Bit(32);
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
                let index = self.expr_of(args[1], &index)?;
                self.emit(StmtKind::RegisterRead { register: *register, index, to }, span);
            }
            (Symbol::Register(register, ty), "write") => {
                let args = self.arguments("write", &["index", "value"], &call.args, span)?;
                let index = self.expr_of(args[0], &index)?;
                let value = self.expr_of(args[1], ty)?;
                self.emit(StmtKind::RegisterWrite { register: *register, index, value }, span);
            }
            (Symbol::Counter(counter), "count") => {
                let args = self.arguments("count", &["index"], &call.args, span)?;
                let index = self.expr_of(args[0], &index)?;
                self.emit(StmtKind::Count { counter: *counter, index }, span);
            }
            // A direct counter counts each frame for which its table finds an entry, whether or not the action names
            // it.
            (Symbol::DirectCounter(_), "count") => {
                self.arguments("count", &[], &call.args, span)?;
            }
            (Symbol::Meter(meter), "execute_meter") => {
                let args = self.arguments("execute_meter", &["index", "result"], &call.args, span)?;
                let index = self.expr_of(args[0], &index)?;
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
