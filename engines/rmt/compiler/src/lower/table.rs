// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Tables and their actions.

use num_traits::ToPrimitive;

use super::value::Value;
use super::{ActionSymbol, Context, Lower, Scope, Symbol, shown};
use crate::ast::{self, Annotation, Call, Decl, DeclKind, Direction, Entry, ExprKind as Ast, Property, PropertyValue};
use crate::fault::{Check, Fault};
use crate::fold::mask;
use crate::ir::{self, ActionCall, ActionRef, Expr, ExprKind, Key, Match, MatchKind, Param, Stmt, Table};
use crate::types::Type;

/// Entries of a table whose source does not say how many.
const SIZE: u32 = 1024;

impl<'a> Lower<'a> {
    /// Lowers a table, and the actions that it is the first one to name. Gives its index.
    pub(super) fn table(&mut self, decl: &'a Decl, properties: &'a [Property]) -> Check<usize> {
        let name = self.full_name(&decl.name.text, &decl.annotations);
        let id = self.p4info_id(0x02, &name, &decl.annotations, decl.span);
        let mut table = Table {
            name,
            id,
            keys: Vec::new(),
            actions: Vec::new(),
            default: ActionCall { action: 0, args: Vec::new() },
            const_default: false,
            entries: Vec::new(),
            const_entries: false,
            size: SIZE,
            counter: None,
            meter: None,
            profile: None,
            selector: Vec::new(),
            idle_timeouts: false,
            annotations: shown(&decl.annotations),
            span: decl.span,
        };
        let mut assigned = Vec::new();
        let mut types = Vec::new();
        let mut default = None;
        let mut entries = None;
        for property in properties {
            let span = property.name.span;
            match (&property.name.text[..], &property.value) {
                ("key", PropertyValue::Keys(keys)) => {
                    for key in keys {
                        let (made, ty) = self.key(key, &mut assigned)?;
                        // It chooses a member of a group; an entry has no match for it.
                        if key.kind.text == "selector" {
                            table.selector.push(made.field);
                            continue;
                        }
                        table.keys.push(made);
                        types.push(ty);
                    }
                }
                ("actions", PropertyValue::Actions(actions)) => {
                    for (annotations, action) in actions {
                        let made = self.action_ref(annotations, action)?;
                        table.actions.push(made);
                    }
                }
                ("default_action", PropertyValue::Expr(value)) => {
                    table.const_default = property.constant;
                    default = Some(value);
                }
                ("entries", PropertyValue::Entries(list)) => {
                    table.const_entries = property.constant;
                    entries = Some(list);
                }
                ("size", PropertyValue::Expr(value)) => table.size = self.constant_u32(value)?.max(1),
                ("counters", PropertyValue::Expr(value)) => table.counter = Some(self.direct_counter(value)?),
                ("meters", PropertyValue::Expr(value)) => table.meter = Some(self.direct_meter(value)?),
                ("implementation", PropertyValue::Expr(value)) => {
                    table.profile = Some(self.profile(value, &table.name)?);
                }
                ("support_timeout", PropertyValue::Expr(value)) => {
                    let value = self.expr_of(value, &Type::Bool)?;
                    let constant = || Fault::new(value.span, "`support_timeout` is `true` or `false`");
                    table.idle_timeouts = value.value().ok_or_else(constant)? == 1;
                }
                (name, _) => {
                    return Err(Fault::missing(span, &format!("the property `{name}` of tables")).help(
                        "tables have key, actions, default_action, size, entries, counters, meters, implementation \
                         and support_timeout",
                    ));
                }
            }
        }
        if table.keys.iter().filter(|key| key.kind == MatchKind::Lpm).count() > 1 {
            return Err(
                Fault::new(decl.span, "a table has one key with `lpm` at most").help("make the others `ternary`")
            );
        }
        table.default = self.default_action(decl, default, &mut table.actions)?;
        for (index, entry) in entries.into_iter().flatten().enumerate() {
            let made = self.entry(&table, &types, index, entry)?;
            table.entries.push(made);
        }
        self.program.tables.push(table);
        self.keys.push(assigned);
        Ok(self.program.tables.len() - 1)
    }

    /// A key. Expressions that are not fields become assignments to a field before the table is applied.
    fn key(&mut self, key: &'a ast::Key, assigned: &mut Vec<(usize, Expr)>) -> Check<(Key, Type)> {
        let span = key.value.span;
        let (value, stmts) = self.capture(|this| {
            let value = this.expr(&key.value, None)?;
            this.typed(value)
        });
        let (value, ty) = value?;
        if !stmts.is_empty() {
            return Err(Fault::missing(span, "calls in keys of tables").help("assign the value to a variable before"));
        }
        let kind = match &key.kind.text[..] {
            "exact" => MatchKind::Exact,
            "lpm" => MatchKind::Lpm,
            "ternary" => MatchKind::Ternary,
            "range" => MatchKind::Range,
            "optional" => MatchKind::Optional,
            // The fields of a selector are compared with nothing.
            "selector" => MatchKind::Exact,
            other => {
                return Err(Fault::new(key.kind.span, format!("there is no match kind `{other}`"))
                    .label("unknown match kind")
                    .help("keys are exact, lpm, ternary, range or optional"));
            }
        };
        let width = value.width;
        let field = match value.kind {
            ExprKind::Field(field) => field,
            _ => {
                let field = self.temporary(width, span);
                assigned.push((field, value));
                field
            }
        };
        let given = key.annotations.iter().find(|annotation| annotation.name == "name");
        let name = given.map_or_else(|| self.text(span), |annotation| annotation.value.trim_matches('"').to_owned());
        Ok((Key { name, field, width, kind, annotations: shown(&key.annotations), span }, ty))
    }

    fn direct_counter(&mut self, value: &'a ast::Expr) -> Check<usize> {
        if let Ast::Name(name) = &value.kind
            && let Symbol::DirectCounter(counter) = self.lookup(name, value.span)?
        {
            if let Some(table) = self.program.tables.iter().find(|table| table.counter == Some(counter)) {
                return Err(Fault::new(value.span, "this counter has a table already").also(table.span, "its table"));
            }
            return Ok(counter);
        }
        Err(Fault::new(value.span, "`counters` names a direct_counter"))
    }

    fn direct_meter(&mut self, value: &'a ast::Expr) -> Check<usize> {
        if let Ast::Name(name) = &value.kind
            && let Symbol::DirectMeter(meter) = self.lookup(name, value.span)?
        {
            if let Some(table) = self.program.tables.iter().find(|table| table.meter == Some(meter)) {
                return Err(Fault::new(value.span, "this meter has a table already").also(table.span, "its table"));
            }
            return Ok(meter);
        }
        Err(Fault::new(value.span, "`meters` names a direct_meter"))
    }

    /// An action profile or selector: its name, or where it is made.
    fn profile(&mut self, value: &'a ast::Expr, table: &str) -> Check<usize> {
        match &value.kind {
            Ast::Name(name) => {
                if let Symbol::Profile(profile) = self.lookup(name, value.span)? {
                    return Ok(profile);
                }
            }
            Ast::Call(call) => {
                let of = self.text(call.callee.span);
                if matches!(&of[..], "action_profile" | "action_selector") {
                    return self.new_profile(&of, &call.args, format!("{table}.{of}"), &[], value.span);
                }
            }
            _ => {}
        }
        Err(Fault::new(value.span, "`implementation` names an action_profile or action_selector"))
    }

    fn action_ref(&mut self, annotations: &[Annotation], action: &'a ast::Expr) -> Check<ActionRef> {
        let (symbol, args) = self.action_symbol(action)?;
        if !args.is_empty() {
            return Err(Fault::missing(action.span, "arguments of actions in the list of a table"));
        }
        let has = |name: &str| annotations.iter().any(|annotation| annotation.name == name);
        let action_id = self.action(&symbol)?;
        Ok(ActionRef {
            action: action_id,
            default_only: has("defaultonly"),
            table_only: has("tableonly"),
            span: action.span,
        })
    }

    /// An action as a table names it: `drop`, `drop()` or `forward(1)`.
    fn action_symbol(&mut self, action: &'a ast::Expr) -> Check<(ActionSymbol<'a>, &'a [ast::Arg])> {
        let (name, args): (_, &'a [ast::Arg]) = match &action.kind {
            Ast::Call(call) => {
                let call: &'a Call = call;
                (&call.callee, &call.args)
            }
            _ => (action, &[]),
        };
        if let Ast::Name(text) = &name.kind
            && let Symbol::Action(symbol) = self.lookup(text, name.span)?
        {
            return Ok((symbol, args));
        }
        Err(Fault::new(name.span, format!("`{}` is not an action", self.text(name.span))).label("expected an action"))
    }

    /// Lowers an action as one of a table, once.
    fn action(&mut self, symbol: &ActionSymbol<'a>) -> Check<usize> {
        if let Some(action) = self.actions.get(&symbol.name) {
            return Ok(*action);
        }
        let (params, body) = self.action_body(symbol)?;
        let decl = symbol.decl;
        let id = self.p4info_id(0x01, &symbol.name, &decl.annotations, decl.span);
        let annotations = shown(&decl.annotations);
        let name = symbol.name.clone();
        self.program.actions.push(ir::Action { name: name.clone(), id, params, body, annotations, span: decl.span });
        self.actions.insert(name, self.program.actions.len() - 1);
        Ok(self.program.actions.len() - 1)
    }

    /// Parameters and statements of an action that a table runs.
    pub(super) fn action_body(&mut self, symbol: &ActionSymbol<'a>) -> Check<(Vec<Param>, Vec<Stmt>)> {
        let DeclKind::Action(declared, body) = &symbol.decl.kind else { return Ok((Vec::new(), Vec::new())) };
        let (mut params, mut scope) = (Vec::new(), Scope::new());
        for param in declared {
            let (ty, span) = (self.ty(&param.ty)?, param.name.span);
            if matches!(param.direction, Direction::Out | Direction::InOut) {
                // Only a call of the action binds it.
                let place = self.copy(&param.name.text, &ty, span)?;
                scope.insert(param.name.text.clone(), Symbol::Value(Value::Place(place)));
                continue;
            }
            let Some(width) = ty.bits() else {
                return Err(Fault::missing(span, &format!("parameters of type `{ty}` in actions")));
            };
            let value = Expr { kind: ExprKind::Param(params.len()), width, span };
            scope.insert(param.name.text.clone(), Symbol::Value(Value::Scalar(value, ty)));
            let annotations = shown(&param.annotations);
            params.push(Param { name: param.name.text.clone(), width, annotations, span });
        }
        let returning = std::mem::take(&mut self.returning);
        let context = std::mem::replace(&mut self.context, Context::Action);
        let (stmts, _) = self.within(symbol.depth, vec![scope], |this| this.capture(|this| this.body(body)).1);
        (self.returning, self.context) = (returning, context);
        Ok((params, stmts))
    }

    /// The default action; `NoAction` if the table names none.
    fn default_action(
        &mut self,
        decl: &Decl,
        given: Option<&'a ast::Expr>,
        actions: &mut Vec<ActionRef>,
    ) -> Check<ActionCall> {
        let Some(value) = given else {
            let Some(Symbol::Action(symbol)) = self.scopes[0].get("NoAction").cloned() else {
                return Err(Fault::new(decl.span, "there is no `NoAction`").help("write `#include <core.p4>` on top"));
            };
            let action = self.action(&symbol)?;
            if !actions.iter().any(|of| of.action == action) {
                actions.push(ActionRef { action, default_only: true, table_only: false, span: decl.span });
            }
            return Ok(ActionCall { action, args: Vec::new() });
        };
        let (call, of) = self.action_call(value, actions)?;
        if of.table_only {
            return Err(Fault::new(value.span, "this action is `@tableonly`")
                .help("remove the annotation, or choose another action"));
        }
        Ok(call)
    }

    /// An action with constant arguments, which must be one of the table's.
    fn action_call(&mut self, value: &'a ast::Expr, actions: &[ActionRef]) -> Check<(ActionCall, ActionRef)> {
        let (symbol, args) = self.action_symbol(value)?;
        let known = self.actions.get(&symbol.name).and_then(|id| actions.iter().find(|of| of.action == *id));
        let Some(of) = known.cloned() else {
            return Err(Fault::new(value.span, format!("`{}` is not an action of this table", symbol.decl.name.text))
                .help("add it to `actions`"));
        };
        let DeclKind::Action(params, _) = &symbol.decl.kind else {
            return Err(Fault::new(value.span, "not an action"));
        };
        let names: Vec<&str> = params.iter().map(|param| &param.name.text[..]).collect();
        let mut values = Vec::new();
        for (param, arg) in params.iter().zip(self.arguments(&symbol.decl.name.text, &names, args, value.span)?) {
            let ty = self.ty(&param.ty)?;
            let made = self.expr_of(arg, &ty)?;
            values.push(
                made.value().ok_or_else(|| Fault::new(arg.span, "an argument of a table's action is a constant"))?,
            );
        }
        Ok((ActionCall { action: of.action, args: values }, of))
    }

    fn entry(&mut self, table: &Table, types: &[Type], index: usize, entry: &'a Entry) -> Check<ir::Entry> {
        let keys: Vec<&'a ast::Expr> = match &entry.keys.kind {
            Ast::List(keys) => keys.iter().collect(),
            _ => vec![&entry.keys],
        };
        if keys.len() != table.keys.len() {
            return Err(Fault::new(entry.keys.span, format!("the table has {} keys", table.keys.len()))
                .label(format!("{} are given", keys.len())));
        }
        let mut found = Vec::new();
        for ((key, ty), value) in table.keys.iter().zip(types).zip(keys) {
            let span = value.span;
            let made = self.keyset(value, ty)?;
            found.push(as_kind(made, key).ok_or_else(|| {
                let kind = format!("{:?}", key.kind).to_lowercase();
                let fault = Fault::new(span, format!("this is not possible for the {kind} key `{}`", key.name));
                fault.help(match key.kind {
                    MatchKind::Lpm => "write a value, or `value &&& mask` with a mask of ones and then zeros",
                    MatchKind::Ternary => "write a value, `value &&& mask` or `_`",
                    MatchKind::Range => "write a value, `low .. high` or `_`",
                    MatchKind::Exact | MatchKind::Optional => "write a value",
                })
            })?);
        }
        let (call, of) = self.action_call(&entry.action, &table.actions)?;
        if of.default_only {
            return Err(Fault::new(entry.action.span, "this action is `@defaultonly`"));
        }
        let priority = match (&entry.priority, table.has_priorities()) {
            (Some(value), true) => {
                let number = self.constant(value)?;
                number.to_i32().ok_or_else(|| Fault::new(value.span, "this priority is not possible"))?
            }
            (Some(value), false) => {
                return Err(Fault::new(value.span, "entries of this table have no priorities")
                    .help("its keys match at most once"));
            }
            // The first of several entries that match wins.
            (None, true) => i32::MAX - i32::try_from(index).unwrap_or(i32::MAX),
            (None, false) => 0,
        };
        Ok(ir::Entry::new(found, priority, call))
    }

    /// A keyset of one value: [`Match::Exact`], [`Match::Ternary`] or [`Match::Range`].
    pub(super) fn keyset(&mut self, keyset: &'a ast::Expr, ty: &Type) -> Check<Match> {
        let constant = |this: &mut Self, value: &'a ast::Expr| {
            let made = this.expr_of(value, ty)?;
            made.value().ok_or_else(|| {
                Fault::new(value.span, format!("`{}` is not a constant", this.text(value.span)))
                    .label("must be known when the program is compiled")
            })
        };
        match &keyset.kind {
            Ast::Any => Ok(Match::Ternary(0, 0)),
            Ast::Mask(value, mask) => {
                let (value, mask) = (constant(self, value)?, constant(self, mask)?);
                Ok(Match::Ternary(value & mask, mask))
            }
            Ast::Range(low, high) => {
                let span = keyset.span;
                let (low, high) = (constant(self, low)?, constant(self, high)?);
                if low > high {
                    return Err(Fault::new(span, "this range is empty").help("write the smaller value first"));
                }
                if ty.is_signed() {
                    return Err(Fault::missing(span, "ranges of signed values"));
                }
                Ok(Match::Range(low, high))
            }
            _ => Ok(Match::Exact(constant(self, keyset)?)),
        }
    }
}

/// A keyset as what the kind of a key needs; None if it cannot be.
fn as_kind(keyset: Match, key: &Key) -> Option<Match> {
    let all = mask(key.width);
    match (key.kind, keyset) {
        (MatchKind::Exact | MatchKind::Optional, Match::Exact(value)) => Some(Match::Exact(value)),
        (MatchKind::Exact, Match::Ternary(value, mask)) if mask == all => Some(Match::Exact(value)),
        (MatchKind::Optional, Match::Ternary(0, 0)) => Some(Match::Ternary(0, 0)),
        (MatchKind::Lpm, Match::Exact(value)) => Some(Match::Lpm(value, key.width)),
        (MatchKind::Lpm, Match::Ternary(value, mask)) => {
            let ones = mask.count_ones();
            let prefix = mask == all & !(all.checked_shr(ones).unwrap_or(0));
            prefix.then_some(Match::Lpm(value, ones))
        }
        (MatchKind::Ternary, Match::Exact(value)) => Some(Match::Ternary(value, all)),
        (MatchKind::Ternary, Match::Ternary(value, mask)) => Some(Match::Ternary(value, mask)),
        (MatchKind::Range, Match::Exact(value)) => Some(Match::Range(value, value)),
        (MatchKind::Range, Match::Ternary(0, 0)) => Some(Match::Range(0, all)),
        (MatchKind::Range, Match::Range(low, high)) => Some(Match::Range(low, high)),
        _ => None,
    }
}
