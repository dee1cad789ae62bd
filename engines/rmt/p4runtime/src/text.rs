// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! P4Info in protobuf's text format.

use std::fmt::Write;

use crate::proto::p4::config::v1::{
    Action, ActionRef, Counter, CounterSpec, DirectCounter, MatchField, P4Info, PkgInfo, Preamble, Register, Table,
    TableActionCall, action_ref, counter_spec, match_field, p4_bitstring_like_type_spec as bitstring,
    p4_data_type_spec as data,
};

/// P4Info as text, in which fields have the order of their numbers, and fields with default values are left out.
#[must_use]
pub fn of(info: &P4Info) -> String {
    let mut text = Text::default();
    text.each("pkg_info", &info.pkg_info, |text, PkgInfo { name, arch, .. }| {
        text.string("name", name);
        text.string("arch", arch);
    });
    text.each("tables", &info.tables, table);
    text.each("actions", &info.actions, |text, Action { preamble, params }| {
        text.each("preamble", preamble, self::preamble);
        text.each("params", params, |text, param| {
            text.number("id", param.id);
            text.string("name", &param.name);
            text.strings("annotations", &param.annotations);
            text.number("bitwidth", param.bitwidth);
        });
    });
    text.each("counters", &info.counters, |text, Counter { preamble, spec, size, .. }| {
        text.each("preamble", preamble, self::preamble);
        text.each("spec", spec, self::spec);
        text.number("size", *size);
    });
    text.each("direct_counters", &info.direct_counters, |text, DirectCounter { preamble, spec, direct_table_id }| {
        text.each("preamble", preamble, self::preamble);
        text.each("spec", spec, self::spec);
        text.number("direct_table_id", *direct_table_id);
    });
    text.each("registers", &info.registers, register);
    text.out
}

fn preamble(text: &mut Text, preamble: &Preamble) {
    text.number("id", preamble.id);
    text.string("name", &preamble.name);
    text.string("alias", &preamble.alias);
    text.strings("annotations", &preamble.annotations);
}

fn table(text: &mut Text, table: &Table) {
    text.each("preamble", &table.preamble, preamble);
    text.each("match_fields", &table.match_fields, |text, field: &MatchField| {
        text.number("id", field.id);
        text.string("name", &field.name);
        text.strings("annotations", &field.annotations);
        text.number("bitwidth", field.bitwidth);
        if let Some(match_field::Match::MatchType(kind)) = field.r#match {
            let kind = match_field::MatchType::try_from(kind).unwrap_or(match_field::MatchType::Unspecified);
            text.word("match_type", kind.as_str_name());
        }
    });
    text.each("action_refs", &table.action_refs, |text, reference: &ActionRef| {
        text.number("id", reference.id);
        text.strings("annotations", &reference.annotations);
        if reference.scope() != action_ref::Scope::TableAndDefault {
            text.word("scope", reference.scope().as_str_name());
        }
    });
    text.number("const_default_action_id", table.const_default_action_id);
    text.each("initial_default_action", &table.initial_default_action, |text, call: &TableActionCall| {
        text.number("action_id", call.action_id);
        text.each("arguments", &call.arguments, |text, argument| {
            text.number("param_id", argument.param_id);
            text.bytes("value", &argument.value);
        });
    });
    table.direct_resource_ids.iter().for_each(|id| text.number("direct_resource_ids", *id));
    text.number("size", table.size);
    text.flag("is_const_table", table.is_const_table);
    text.flag("has_initial_entries", table.has_initial_entries);
}

fn spec(text: &mut Text, spec: &CounterSpec) {
    if spec.unit() != counter_spec::Unit::Unspecified {
        text.word("unit", spec.unit().as_str_name());
    }
}

fn register(text: &mut Text, register: &Register) {
    text.each("preamble", &register.preamble, preamble);
    text.each("type_spec", &register.type_spec, |text, spec| {
        let Some(data::TypeSpec::Bitstring(bits)) = &spec.type_spec else { return };
        text.each("bitstring", [bits], |text, bits| {
            let Some(bitstring::TypeSpec::Bit(bit)) = &bits.type_spec else { return };
            text.each("bit", [bit], |text, bit| text.number("bitwidth", bit.bitwidth));
        });
    });
    text.number("size", register.size);
}

/// Text so far.
#[derive(Default)]
struct Text {
    out: String,
    depth: usize,
}

impl Text {
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a String does not fail.
        let _ = writeln!(self.out, "{:1$}{line}", "", 2 * self.depth);
    }

    /// A message, or several.
    fn each<'a, T: 'a>(
        &mut self,
        name: &str,
        messages: impl IntoIterator<Item = &'a T>,
        content: impl Fn(&mut Self, &T),
    ) {
        for message in messages {
            self.line(format_args!("{name} {{"));
            self.depth += 1;
            content(self, message);
            self.depth -= 1;
            self.line(format_args!("}}"));
        }
    }

    fn word(&mut self, name: &str, word: &str) {
        self.line(format_args!("{name}: {word}"));
    }

    fn number(&mut self, name: &str, number: impl Into<i64>) {
        let number = number.into();
        if number != 0 {
            self.line(format_args!("{name}: {number}"));
        }
    }

    fn flag(&mut self, name: &str, is_set: bool) {
        if is_set {
            self.word(name, "true");
        }
    }

    fn string(&mut self, name: &str, string: &str) {
        if !string.is_empty() {
            self.bytes(name, string.as_bytes());
        }
    }

    fn strings(&mut self, name: &str, strings: &[String]) {
        strings.iter().for_each(|string| self.bytes(name, string.as_bytes()));
    }

    fn bytes(&mut self, name: &str, bytes: &[u8]) {
        let mut quoted = String::new();
        for byte in bytes {
            match byte {
                b'"' | b'\\' => quoted.extend(['\\', char::from(*byte)]),
                b' '..=b'~' => quoted.push(char::from(*byte)),
                _ => quoted += &format!("\\{byte:03o}"),
            }
        }
        self.line(format_args!("{name}: \"{quoted}\""));
    }
}
