// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! P4Info in protobuf's text format.

use std::fmt::Write;

use crate::proto::p4::config::v1::{
    Action, ActionProfile, ActionRef, ControllerPacketMetadata, Counter, CounterSpec, Digest, DirectCounter,
    DirectMeter, MatchField, Meter, MeterSpec, P4DataTypeSpec, P4Info, PkgInfo, Preamble, Register, Table,
    TableActionCall, ValueSet, action_ref, counter_spec, match_field, p4_bitstring_like_type_spec as bitstring,
    p4_data_type_spec as data, table,
};

/// P4Info as text, in which fields have the order of their numbers, and fields with default values are left out.
#[must_use]
pub fn of(info: &P4Info) -> String {
    let mut text = Text::default();
    text.each("pkg_info", &info.pkg_info, |text, PkgInfo { name, arch, .. }| {
        text.string("name", name);
        text.string("arch", arch);
    });
    text.each("tables", &info.tables, self::table);
    text.each("actions", &info.actions, |text, Action { preamble, params }| {
        text.each("preamble", preamble, self::preamble);
        text.each("params", params, |text, param| {
            text.number("id", param.id);
            text.string("name", &param.name);
            text.strings("annotations", &param.annotations);
            text.number("bitwidth", param.bitwidth);
        });
    });
    text.each("action_profiles", &info.action_profiles, |text, profile: &ActionProfile| {
        text.each("preamble", &profile.preamble, self::preamble);
        profile.table_ids.iter().for_each(|id| text.number("table_ids", *id));
        text.flag("with_selector", profile.with_selector);
        text.number("size", profile.size);
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
    text.each("meters", &info.meters, |text, Meter { preamble, spec, size, .. }| {
        text.each("preamble", preamble, self::preamble);
        text.each("spec", spec, meter_spec);
        text.number("size", *size);
    });
    text.each("direct_meters", &info.direct_meters, |text, DirectMeter { preamble, spec, direct_table_id }| {
        text.each("preamble", preamble, self::preamble);
        text.each("spec", spec, meter_spec);
        text.number("direct_table_id", *direct_table_id);
    });
    text.each(
        "controller_packet_metadata",
        &info.controller_packet_metadata,
        |text, header: &ControllerPacketMetadata| {
            text.each("preamble", &header.preamble, self::preamble);
            text.each("metadata", &header.metadata, |text, field| {
                text.number("id", field.id);
                text.string("name", &field.name);
                text.strings("annotations", &field.annotations);
                text.number("bitwidth", field.bitwidth);
            });
        },
    );
    text.each("value_sets", &info.value_sets, |text, set: &ValueSet| {
        text.each("preamble", &set.preamble, self::preamble);
        text.each("match", &set.r#match, match_field);
        text.number("size", set.size);
    });
    text.each("registers", &info.registers, register);
    text.each("digests", &info.digests, |text, digest: &Digest| {
        text.each("preamble", &digest.preamble, self::preamble);
        text.each("type_spec", &digest.type_spec, type_spec);
    });
    text.each("type_info", &info.type_info, |text, types| {
        let mut structs: Vec<_> = types.structs.iter().collect();
        structs.sort_by_key(|(name, _)| *name);
        text.each("structs", &structs, |text, (name, of)| {
            text.string("key", name);
            text.each("value", [of], |text, of| {
                text.each("members", &of.members, |text, member| {
                    text.string("name", &member.name);
                    text.each("type_spec", &member.type_spec, type_spec);
                });
            });
        });
    });
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
    text.each("match_fields", &table.match_fields, match_field);
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
    text.number("implementation_id", table.implementation_id);
    table.direct_resource_ids.iter().for_each(|id| text.number("direct_resource_ids", *id));
    text.number("size", table.size);
    if table.idle_timeout_behavior() != table::IdleTimeoutBehavior::NoTimeout {
        text.word("idle_timeout_behavior", table.idle_timeout_behavior().as_str_name());
    }
    text.flag("is_const_table", table.is_const_table);
    text.flag("has_initial_entries", table.has_initial_entries);
}

fn match_field(text: &mut Text, field: &MatchField) {
    text.number("id", field.id);
    text.string("name", &field.name);
    text.strings("annotations", &field.annotations);
    text.number("bitwidth", field.bitwidth);
    if let Some(match_field::Match::MatchType(kind)) = field.r#match {
        let kind = match_field::MatchType::try_from(kind).unwrap_or(match_field::MatchType::Unspecified);
        text.word("match_type", kind.as_str_name());
    }
}

fn meter_spec(text: &mut Text, spec: &MeterSpec) {
    text.word("unit", spec.unit().as_str_name());
}

fn spec(text: &mut Text, spec: &CounterSpec) {
    if spec.unit() != counter_spec::Unit::Unspecified {
        text.word("unit", spec.unit().as_str_name());
    }
}

fn register(text: &mut Text, register: &Register) {
    text.each("preamble", &register.preamble, preamble);
    text.each("type_spec", &register.type_spec, type_spec);
    text.number("size", register.size);
}

fn type_spec(text: &mut Text, spec: &P4DataTypeSpec) {
    match &spec.type_spec {
        Some(data::TypeSpec::Bitstring(bits)) => text.each("bitstring", [bits], |text, bits| {
            let Some(bitstring::TypeSpec::Bit(bit)) = &bits.type_spec else { return };
            text.each("bit", [bit], |text, bit| text.number("bitwidth", bit.bitwidth));
        }),
        Some(data::TypeSpec::Struct(named)) => {
            text.each("struct", [named], |text, named| text.string("name", &named.name));
        }
        _ => {}
    }
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
