// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Tables and their actions.

use num_traits::ToPrimitive;

use super::call::{in_order_of, is_default};
use super::value::Value;
use super::{ActionSymbol, Context, Lower, Scope, Symbol, shown};
use crate::ast::{self, Annotation, Call, Decl, DeclKind, Direction, Entry, ExprKind as Ast, Property, PropertyValue};
use crate::fault::{Check, Fault};
use crate::fold::mask;
use crate::ir::operation::before_exits;
use crate::ir::{self, ActionCall, ActionRef, Expr, ExprKind, FieldId, Key, Match, MatchKind, Param, Stmt, Table};
use crate::source::Span;
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
        let mut listed = Vec::new();
        let mut order = Order { largest_wins: true, step: 1 };
        for property in properties {
            let span = property.name.span;
            match (&property.name.text[..], &property.value) {
                ("key", PropertyValue::Keys(keys)) => {
                    for key in keys {
                        let (made, ty, stmts) = self.key(key)?;
                        self.keep_keys(&mut table.keys, &stmts, &mut assigned);
                        assigned.extend(stmts);
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
                        let (made, args) = self.action_ref(annotations, action)?;
                        let name = |of: &ActionRef| &self.program.actions[of.action].name;
                        if let Some(other) = table.actions.iter().find(|other| name(other) == name(&made)) {
                            return Err(Fault::new(action.span, "the table has this action already")
                                .also(other.span, "listed here"));
                        }
                        table.actions.push(made);
                        listed.push(args);
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
                ("largest_priority_wins", PropertyValue::Expr(value)) => {
                    let value = self.expr_of(value, &Type::Bool)?;
                    let constant = || Fault::new(value.span, "`largest_priority_wins` is `true` or `false`");
                    order.largest_wins = value.value().ok_or_else(constant)? == 1;
                }
                ("priority_delta", PropertyValue::Expr(value)) => order.step = i64::from(self.constant_u32(value)?),
                (name, _) => {
                    return Err(Fault::missing(span, &format!("the property `{name}` of tables")).help(
                        "tables have key, actions, default_action, size, entries, counters, meters, implementation, \
                         support_timeout, largest_priority_wins and priority_delta",
                    ));
                }
            }
        }
        if table.keys.iter().filter(|key| key.kind == MatchKind::Lpm).count() > 1 {
            return Err(
                Fault::new(decl.span, "a table has one key with `lpm` at most").help("make the others `ternary`")
            );
        }
        table.default = self.default_action(decl, default, &mut table.actions, &listed)?;
        let entries = entries.map_or(&[][..], |list| &list[..]);
        let priorities = self.priorities(&table, &order, entries)?;
        for (entry, priority) in entries.iter().zip(priorities) {
            let made = self.entry(&table, &types, priority, entry, &listed)?;
            table.entries.push(made);
        }
        self.program.tables.push(table);
        self.keys.push(assigned);
        Ok(self.program.tables.len() - 1)
    }

    /// A key. Expressions that are not fields become assignments to a field before the table is applied, which stand
    /// behind the statements of these expressions.
    fn key(&mut self, key: &'a ast::Key) -> Check<(Key, Type, Vec<Stmt>)> {
        let span = key.value.span;
        let (value, mut assigned) = self.capture(|this| {
            let value = this.expr(&key.value, None)?;
            this.typed(value)
        });
        let (value, ty) = value?;
        let has_calls = !assigned.is_empty();
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
            ExprKind::Field(field) if !has_calls => field,
            _ => {
                let field = self.temporary(width, span);
                assigned.push(Stmt { kind: ir::StmtKind::Assign(field, value), span });
                field
            }
        };
        let given = key.annotations.iter().find(|annotation| annotation.name == "name");
        let name = given.map_or_else(|| self.text(span), |annotation| annotation.value.trim_matches('"').to_owned());
        Ok((Key { name, field, width, kind, annotations: shown(&key.annotations), span }, ty, assigned))
    }

    /// Keeps the values of keys that the statements of the next key change.
    fn keep_keys(&mut self, keys: &mut [Key], stmts: &[Stmt], assigned: &mut Vec<Stmt>) {
        let mut written = Vec::new();
        super::place::writes(&self.program, stmts, &mut written);
        for key in keys.iter_mut().filter(|key| written.contains(&key.field)) {
            let field = self.temporary(key.width, key.span);
            let value = Expr::field(key.field, key.width, key.span);
            assigned.push(Stmt { kind: ir::StmtKind::Assign(field, value), span: key.span });
            key.field = field;
        }
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

    /// An action of a table's list, and the arguments of its parameters that have a direction.
    fn action_ref(&mut self, annotations: &[Annotation], action: &'a ast::Expr) -> Check<(ActionRef, &'a [ast::Arg])> {
        let (symbol, args) = self.action_symbol(action)?;
        let has = |name: &str| annotations.iter().any(|annotation| annotation.name == name);
        let action_id = self.action(&symbol, args)?;
        let made = ActionRef {
            action: action_id,
            default_only: has("defaultonly"),
            table_only: has("tableonly"),
            span: action.span,
        };
        Ok((made, args))
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
        if let Some(Symbol::Action(symbol)) = self.named(name).transpose()? {
            return Ok((symbol, args));
        }
        Err(Fault::new(name.span, format!("`{}` is not an action", self.text(name.span))).label("expected an action"))
    }

    /// Lowers an action as one of a table, once for each list of arguments.
    fn action(&mut self, symbol: &ActionSymbol<'a>, args: &'a [ast::Arg]) -> Check<usize> {
        let mut key = symbol.name.clone();
        for arg in args {
            // The same text means another variable in another control.
            let text = self.text(arg.value.span);
            key += &format!(" {}.{text}", self.path);
        }
        if let Some(action) = self.actions.get(&key) {
            return Ok(*action);
        }
        let (params, body) = self.action_body(symbol, args)?;
        let decl = symbol.decl;
        // A controller sees one action, whatever arguments tables give it.
        let same = self.program.actions.iter().find(|action| action.name == symbol.name && action.span == decl.span);
        let id = match same.map(|action| action.id) {
            Some(id) => id,
            None => self.p4info_id(0x01, &symbol.name, &decl.annotations, decl.span),
        };
        let annotations = shown(&decl.annotations);
        let name = symbol.name.clone();
        self.program.actions.push(ir::Action { name, id, params, body, annotations, span: decl.span });
        self.actions.insert(key, self.program.actions.len() - 1);
        Ok(self.program.actions.len() - 1)
    }

    /// Parameters and statements of an action that a table runs.
    /// `args` are those of its parameters that have a direction.
    pub(super) fn action_body(
        &mut self,
        symbol: &ActionSymbol<'a>,
        args: &'a [ast::Arg],
    ) -> Check<(Vec<Param>, Vec<Stmt>)> {
        let DeclKind::Action(declared, body) = &symbol.decl.kind else { return Ok((Vec::new(), Vec::new())) };
        let (mut params, mut scope) = (Vec::new(), Scope::new());
        let directed: Vec<_> = declared.iter().filter(|param| param.direction != Direction::None).collect();
        if args.len() > directed.len() {
            return Err(Fault::new(
                args[directed.len()].value.span,
                "entries give the other parameters of this action",
            )
            .help("name the action with the arguments of its parameters that have a direction"));
        }
        let args = if args.is_empty() { Vec::new() } else { in_order(&symbol.decl.name.text, &directed, args)? };
        // Variables that several parameters lead to are not theirs by reference.
        let mut fields = Vec::new();
        for (param, arg) in directed.iter().zip(&args).filter(|(param, _)| param.direction != Direction::In) {
            // Only its fields count here.
            let (place, _) = self.capture(|this| this.writable(arg));
            fields.push((param.name.span, place?.fields()));
        }
        let is_shared = |span: Span| {
            let (own, others): (Vec<_>, Vec<_>) = fields.iter().partition(|(of, _)| *of == span);
            let own: Vec<FieldId> = own.into_iter().flat_map(|(_, of)| of.clone()).collect();
            others.iter().flat_map(|(_, of)| of).any(|field| own.contains(field))
        };
        let mut args = args.into_iter();
        // Statements in front of the body and behind it, which bind parameters to arguments.
        let (mut before, mut behind) = (Vec::new(), Vec::new());
        for param in declared {
            let (ty, span) = (self.ty(&param.ty)?, param.name.span);
            if param.direction != Direction::None {
                let arg = args.next();
                // By reference, if nothing else leads to the variable: the action is declared outside of the control,
                // and no other parameter is the variable.
                let by_reference = symbol.depth == 1 && param.direction == Direction::InOut && !is_shared(span);
                let place = match arg {
                    Some(arg) if by_reference => {
                        let (place, stmts) = self.capture(|this| this.writable(arg));
                        before.extend(stmts);
                        place?
                    }
                    _ => self.copy(&param.name.text, &ty, span)?,
                };
                if place.ty != ty {
                    return Err(super::place::mismatch(&ty.to_string(), &Value::Place(place)));
                }
                if let Some(arg) = arg.filter(|_| !by_reference) {
                    let (done, stmts) = self.capture(|this| match param.direction {
                        Direction::Out => {
                            this.invalidate(&place, span);
                            Ok(())
                        }
                        _ => {
                            let value = this.expr(arg, Some(&ty))?;
                            this.assign(&place, value, span)
                        }
                    });
                    done?;
                    before.extend(stmts);
                    if param.direction != Direction::In {
                        let (done, stmts) = self.capture(|this| {
                            let to = this.writable(arg)?;
                            this.assign(&to, Value::Place(place.clone()), span)
                        });
                        done?;
                        behind.extend(stmts);
                    }
                }
                let place = if param.direction == Direction::In { place.read_only() } else { place };
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
        let (mut stmts, _) = self.within(symbol.depth, vec![scope], |this| this.capture(|this| this.body(body)).1);
        (self.returning, self.context) = (returning, context);
        before_exits(&mut stmts, &behind);
        before.extend(stmts);
        before.extend(behind);
        Ok((params, before))
    }

    /// The default action; `NoAction` if the table names none.
    fn default_action(
        &mut self,
        decl: &Decl,
        given: Option<&'a ast::Expr>,
        actions: &mut Vec<ActionRef>,
        listed: &[&'a [ast::Arg]],
    ) -> Check<ActionCall> {
        let Some(value) = given else {
            let Some(Symbol::Action(symbol)) = self.scopes[0].get("NoAction").cloned() else {
                return Err(Fault::new(decl.span, "there is no `NoAction`").help("write `#include <core.p4>` on top"));
            };
            let action = self.action(&symbol, &[])?;
            if !actions.iter().any(|of| of.action == action) {
                actions.push(ActionRef { action, default_only: true, table_only: false, span: decl.span });
            }
            return Ok(ActionCall { action, args: Vec::new() });
        };
        let (call, of) = self.action_call(value, actions, listed, true)?;
        if of.table_only {
            return Err(Fault::new(value.span, "this action is `@tableonly`")
                .help("remove the annotation, or choose another action"));
        }
        Ok(call)
    }

    /// An action with constant arguments, which must be one of the table's. `listed` are the arguments that the table's
    /// list gives its actions, which a default action repeats and an entry does not.
    fn action_call(
        &mut self,
        value: &'a ast::Expr,
        actions: &[ActionRef],
        listed: &[&'a [ast::Arg]],
        is_default_action: bool,
    ) -> Check<(ActionCall, ActionRef)> {
        let (symbol, args) = self.action_symbol(value)?;
        let name = &symbol.decl.name.text;
        let known = actions.iter().position(|of| self.program.actions[of.action].name == symbol.name);
        let Some(index) = known else {
            return Err(
                Fault::new(value.span, format!("`{name}` is not an action of this table")).help("add it to `actions`")
            );
        };
        let of = actions[index].clone();
        let DeclKind::Action(params, _) = &symbol.decl.kind else {
            return Err(Fault::new(value.span, "not an action"));
        };
        let given = listed.get(index).copied().unwrap_or_default();
        let is_whole = is_default_action && !given.is_empty();
        let taken: Vec<_> = params.iter().filter(|param| is_whole || param.direction == Direction::None).collect();
        let bound: Vec<_> = params.iter().filter(|param| param.direction != Direction::None).collect();
        let bound = if is_whole { in_order(name, &bound, given)? } else { Vec::new() };
        let mut bound = bound.into_iter();
        let named: Vec<_> = taken.iter().map(|param| (&param.name.text[..], param.default.as_ref())).collect();
        let arguments = in_order_of(name, &named, args, value.span)?;
        let mut values = Vec::new();
        for (param, arg) in taken.into_iter().zip(arguments) {
            if param.direction != Direction::None {
                if let Some(first) = bound.next().filter(|first| self.text(first.span) != self.text(arg.span)) {
                    return Err(Fault::new(
                        arg.span,
                        format!("`{}` has another argument in `actions`", param.name.text),
                    )
                    .label("must be the same")
                    .also(first.span, "the argument of the table's list"));
                }
                continue;
            }
            let ty = self.ty(&param.ty)?;
            let made = if is_default(param, arg) {
                self.default_argument(arg, &ty, symbol.depth, Scope::new())?
            } else {
                self.expr(arg, Some(&ty))?
            };
            let made = self.scalar(made, &ty)?;
            values.push(
                made.value().ok_or_else(|| Fault::new(arg.span, "an argument of a table's action is a constant"))?,
            );
        }
        Ok((ActionCall { action: of.action, args: values }, of))
    }

    fn entry(
        &mut self,
        table: &Table,
        types: &[Type],
        priority: i32,
        entry: &'a Entry,
        listed: &[&'a [ast::Arg]],
    ) -> Check<ir::Entry> {
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
        let (call, of) = self.action_call(&entry.action, &table.actions, listed, false)?;
        if of.default_only {
            return Err(Fault::new(entry.action.span, "this action is `@defaultonly`"));
        }
        Ok(ir::Entry::new(found, priority, call))
    }

    /// The priorities of a table's entries, of which the largest wins. Without numbers the first of several entries
    /// that match wins.
    fn priorities(&mut self, table: &Table, order: &Order, entries: &'a [Entry]) -> Check<Vec<i32>> {
        if !table.has_priorities() {
            return match entries.iter().find_map(|entry| entry.priority.as_ref()) {
                Some(value) => Err(Fault::new(value.span, "entries of this table have no priorities")
                    .help("its keys match at most once")),
                None => Ok(vec![0; entries.len()]),
            };
        }
        let annotated = |entry: &'a Entry| entry.annotations.iter().find(|annotation| annotation.name == "priority");
        let by_numbers = entries.iter().any(|entry| entry.priority.is_some());
        if let Some(first) = entries.first().filter(|first| by_numbers && first.priority.is_none()) {
            return Err(Fault::new(first.span, "the first entry has no priority, though others have one")
                .help("give it one: `priority = … :`"));
        }
        let mut found = Vec::new();
        let mut next = if order.largest_wins { (entries.len() as i64 - 1) * order.step + 1 } else { 1 };
        for (index, entry) in entries.iter().enumerate() {
            let span = entry.span;
            let impossible = || Fault::new(span, "this priority is not possible").help("0 to 2147483647 are possible");
            let own = match (&entry.priority, annotated(entry)) {
                (Some(value), _) => self.constant(value)?.to_i64().ok_or_else(impossible)?,
                // The smallest number wins, as in bmv2.
                (None, Some(annotation)) => {
                    let number = super::literal::plain(&annotation.value).ok_or_else(impossible)?;
                    i64::from(i32::MAX) - i64::from(number) + 1
                }
                (None, None) if by_numbers => next,
                (None, None) => i64::from(i32::MAX) - index as i64,
            };
            next = if order.largest_wins { own - order.step } else { own + order.step };
            let smallest_wins = by_numbers && !order.largest_wins;
            let value = if smallest_wins { i64::from(i32::MAX) - own } else { own };
            found.push(i32::try_from(value).ok().filter(|value| *value >= 0).ok_or_else(impossible)?);
        }
        Ok(found)
    }

    /// A keyset of one value: [`Match::Exact`], [`Match::Ternary`] or [`Match::Range`].
    pub(super) fn keyset(&mut self, keyset: &'a ast::Expr, ty: &Type) -> Check<Match> {
        let under = if let Type::Enum(of) = ty { of.underlying.as_ref() } else { None };
        let constant = |this: &mut Self, value: &'a ast::Expr| {
            let given = this.expr(value, Some(ty))?;
            // A mask, and a value that is no member, have the type behind the enumeration.
            let made = match (this.scalar(given.clone(), ty), under) {
                (Err(_), Some(under)) => this.scalar(given, under)?,
                (made, _) => made?,
            };
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

/// Arguments in the order of the parameters of an action that have a direction.
fn in_order<'a>(name: &str, directed: &[&'a ast::Param], args: &'a [ast::Arg]) -> Check<Vec<&'a ast::Expr>> {
    let named: Vec<_> = directed.iter().map(|param| (&param.name.text[..], param.default.as_ref())).collect();
    in_order_of(name, &named, args, args.first().map_or(Span::default(), |arg| arg.value.span))
}

/// How numbers of entries rank them.
struct Order {
    /// `largest_priority_wins`
    largest_wins: bool,
    /// `priority_delta`: the distance of an entry without a number from the one in front of it.
    step: i64,
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
