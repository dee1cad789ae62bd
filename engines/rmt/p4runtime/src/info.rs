// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! P4Info of a program, as the P4Runtime specification says.

use std::collections::{BTreeMap, HashMap};

use penstock_rmt_compiler::ir;

use crate::bits;
use crate::proto::p4::config::v1::{
    Action, ActionProfile, ActionRef, ControllerPacketMetadata, Counter, CounterSpec, Digest, DirectCounter,
    DirectMeter, MatchField, Meter, MeterSpec, P4BitTypeSpec, P4BitstringLikeTypeSpec, P4DataTypeSpec, P4Info,
    P4NamedType, P4StructTypeSpec, P4TypeInfo, PkgInfo, Preamble, Register, Table, TableActionCall, ValueSet, action,
    action_ref, controller_packet_metadata, counter_spec, match_field, meter_spec, p4_bitstring_like_type_spec,
    p4_data_type_spec, p4_struct_type_spec, table, table_action_call,
};

/// P4Info of a program.
#[must_use]
pub fn of(program: &ir::Program) -> P4Info {
    let names = Names::of(program);
    P4Info {
        pkg_info: Some(PkgInfo { name: program.name.clone(), arch: "v1model".to_owned(), ..PkgInfo::default() }),
        tables: program.tables.iter().map(|table| of_table(program, &names, table)).collect(),
        actions: distinct(program).map(|action| of_action(&names, action)).collect(),
        counters: program.counters.iter().filter_map(|counter| indirect(&names, counter)).collect(),
        direct_counters: (0..).zip(&program.counters).filter_map(|one| direct(program, &names, one)).collect(),
        action_profiles: (0..).zip(&program.profiles).map(|one| of_profile(program, &names, one)).collect(),
        meters: program.meters.iter().filter_map(|meter| indirect_meter(&names, meter)).collect(),
        direct_meters: (0..).zip(&program.meters).filter_map(|one| direct_meter(program, &names, one)).collect(),
        controller_packet_metadata: program.controller_headers.iter().map(of_header).collect(),
        value_sets: program.value_sets.iter().map(|set| of_value_set(&names, set)).collect(),
        registers: program.registers.iter().map(|register| of_register(&names, register)).collect(),
        digests: program.digests.iter().map(|digest| of_digest(&names, digest)).collect(),
        type_info: (!program.digests.is_empty()).then(|| types(program)),
        ..P4Info::default()
    }
}

/// The actions that a controller sees. An action that tables give different arguments is several ones of the program.
fn distinct(program: &ir::Program) -> impl Iterator<Item = &ir::Action> {
    let is_first =
        |(index, action): &(usize, &ir::Action)| !program.actions[..*index].iter().any(|of| of.id == action.id);
    program.actions.iter().enumerate().filter(is_first).map(|(_, action)| action)
}

/// The short names of everything that has a number: the last parts of the full name, as many as make it unique.
struct Names(BTreeMap<String, String>);

impl Names {
    fn of(program: &ir::Program) -> Self {
        let tables = program.tables.iter().map(|table| &table.name);
        let actions = distinct(program).map(|action| &action.name);
        let counters = program.counters.iter().map(|counter| &counter.name);
        let registers = program.registers.iter().map(|register| &register.name);
        let profiles = program.profiles.iter().map(|profile| &profile.name);
        let meters = program.meters.iter().map(|meter| &meter.name);
        let sets = program.value_sets.iter().map(|set| &set.name);
        let digests = program.digests.iter().map(|digest| &digest.name);
        let all = tables.chain(actions).chain(counters).chain(registers);
        let all: Vec<&String> = all.chain(profiles).chain(meters).chain(sets).chain(digests).collect();
        let ends = |name: &str, end: &str| name == end || name.ends_with(&format!(".{end}"));
        let alias = |name: &String| {
            let starts = name.rmatch_indices('.').map(|(dot, _)| dot + 1).chain([0]);
            let mut suffixes = starts.map(|start| &name[start..]);
            let unique = suffixes.find(|end| all.iter().filter(|other| ends(other, end)).count() == 1);
            (name.clone(), unique.unwrap_or(name).to_owned())
        };
        Self(all.iter().map(|name| alias(name)).collect())
    }

    fn preamble(&self, id: u32, name: &str, annotations: &[String]) -> Option<Preamble> {
        let alias = self.0.get(name).cloned().unwrap_or_default();
        Some(Preamble { id, name: name.to_owned(), alias, annotations: annotations.to_vec(), ..Preamble::default() })
    }
}

fn of_table(program: &ir::Program, names: &Names, table: &ir::Table) -> Table {
    let default = &program.actions[table.default.action];
    let arguments = (1..).zip(&table.default.args);
    let arguments = arguments
        .map(|(param_id, value)| table_action_call::Argument { param_id, value: bits::write(*value) })
        .collect();
    let initial = TableActionCall { action_id: default.id, arguments };
    Table {
        preamble: names.preamble(table.id, &table.name, &table.annotations),
        match_fields: (1..).zip(&table.keys).map(|(id, key)| of_key(id, key)).collect(),
        action_refs: table.actions.iter().map(|one| of_reference(program, one)).collect(),
        const_default_action_id: if table.const_default { default.id } else { 0 },
        initial_default_action: Some(initial),
        implementation_id: table.profile.map_or(0, |profile| program.profiles[profile].id),
        direct_resource_ids: {
            let counter = table.counter.iter().map(|counter| program.counters[*counter].id);
            counter.chain(table.meter.iter().map(|meter| program.meters[*meter].id)).collect()
        },
        idle_timeout_behavior: if table.idle_timeouts { table::IdleTimeoutBehavior::NotifyControl as i32 } else { 0 },
        size: table.size.into(),
        is_const_table: table.const_entries,
        has_initial_entries: !table.entries.is_empty(),
        ..Table::default()
    }
}

fn of_key(id: u32, key: &ir::Key) -> MatchField {
    MatchField { annotations: key.annotations.clone(), ..field(id, &key.name, key.width, key.kind) }
}

fn field(id: u32, name: &str, width: u32, kind: ir::MatchKind) -> MatchField {
    let kind = match kind {
        ir::MatchKind::Exact => match_field::MatchType::Exact,
        ir::MatchKind::Lpm => match_field::MatchType::Lpm,
        ir::MatchKind::Ternary => match_field::MatchType::Ternary,
        ir::MatchKind::Range => match_field::MatchType::Range,
        ir::MatchKind::Optional => match_field::MatchType::Optional,
    };
    MatchField {
        id,
        name: name.to_owned(),
        bitwidth: width as i32,
        r#match: Some(match_field::Match::MatchType(kind as i32)),
        ..MatchField::default()
    }
}

fn of_profile(program: &ir::Program, names: &Names, (at, profile): (ir::ProfileId, &ir::Profile)) -> ActionProfile {
    let tables = program.tables.iter().filter(|table| table.profile == Some(at));
    ActionProfile {
        preamble: names.preamble(profile.id, &profile.name, &profile.annotations),
        table_ids: tables.map(|table| table.id).collect(),
        with_selector: profile.selector.is_some(),
        size: profile.size.into(),
        ..ActionProfile::default()
    }
}

fn meter_spec(meter: &ir::Meter) -> Option<MeterSpec> {
    let unit = if meter.bytes { meter_spec::Unit::Bytes } else { meter_spec::Unit::Packets };
    Some(MeterSpec { unit: unit as i32, ..MeterSpec::default() })
}

fn indirect_meter(names: &Names, meter: &ir::Meter) -> Option<Meter> {
    let size = meter.size?.into();
    let preamble = names.preamble(meter.id, &meter.name, &meter.annotations);
    Some(Meter { preamble, spec: meter_spec(meter), size, ..Meter::default() })
}

fn direct_meter(program: &ir::Program, names: &Names, (at, meter): (ir::MeterId, &ir::Meter)) -> Option<DirectMeter> {
    let table = program.tables.iter().find(|table| table.meter == Some(at))?;
    let preamble = names.preamble(meter.id, &meter.name, &meter.annotations);
    Some(DirectMeter { preamble, spec: meter_spec(meter), direct_table_id: table.id })
}

fn of_header(header: &ir::ControllerHeader) -> ControllerPacketMetadata {
    let field = |field: &ir::ControllerField| controller_packet_metadata::Metadata {
        id: field.id,
        name: field.name.clone(),
        annotations: field.annotations.clone(),
        bitwidth: field.width as i32,
        ..controller_packet_metadata::Metadata::default()
    };
    let (id, name, alias) = (header.id, header.name.clone(), header.name.clone());
    let annotations = header.annotations.clone();
    ControllerPacketMetadata {
        preamble: Some(Preamble { id, name, alias, annotations, ..Preamble::default() }),
        metadata: header.fields.iter().filter(|field| !field.padding).map(field).collect(),
    }
}

fn of_value_set(names: &Names, set: &ir::ValueSet) -> ValueSet {
    let fields = (1..).zip(&set.keys).map(|(id, key)| field(id, &key.name, key.width, key.kind));
    ValueSet {
        preamble: names.preamble(set.id, &set.name, &set.annotations),
        r#match: fields.collect(),
        size: set.size as i32,
    }
}

fn of_digest(names: &Names, digest: &ir::Digest) -> Digest {
    let of = p4_data_type_spec::TypeSpec::Struct(P4NamedType { name: digest.name.clone() });
    Digest {
        preamble: names.preamble(digest.id, &digest.name, &[]),
        type_spec: Some(P4DataTypeSpec { type_spec: Some(of) }),
    }
}

/// The structs of digests. A struct in a struct is written as its fields.
fn types(program: &ir::Program) -> P4TypeInfo {
    let member = |(name, width): &(String, u32)| p4_struct_type_spec::Member {
        name: name.clone(),
        type_spec: Some(bits_of(*width)),
    };
    let of = |digest: &ir::Digest| {
        let members = digest.fields.iter().map(member).collect();
        (digest.name.clone(), P4StructTypeSpec { members, ..P4StructTypeSpec::default() })
    };
    P4TypeInfo { structs: program.digests.iter().map(of).collect::<HashMap<_, _>>(), ..P4TypeInfo::default() }
}

fn bits_of(width: u32) -> P4DataTypeSpec {
    let bit = p4_bitstring_like_type_spec::TypeSpec::Bit(P4BitTypeSpec { bitwidth: width as i32 });
    let bits = P4BitstringLikeTypeSpec { type_spec: Some(bit), ..P4BitstringLikeTypeSpec::default() };
    P4DataTypeSpec { type_spec: Some(p4_data_type_spec::TypeSpec::Bitstring(bits)) }
}

fn of_reference(program: &ir::Program, reference: &ir::ActionRef) -> ActionRef {
    let scope = match (reference.table_only, reference.default_only) {
        (true, _) => action_ref::Scope::TableOnly,
        (false, true) => action_ref::Scope::DefaultOnly,
        (false, false) => action_ref::Scope::TableAndDefault,
    };
    let annotations = match scope {
        action_ref::Scope::TableOnly => vec!["@tableonly".to_owned()],
        action_ref::Scope::DefaultOnly => vec!["@defaultonly".to_owned()],
        _ => Vec::new(),
    };
    ActionRef { id: program.actions[reference.action].id, scope: scope as i32, annotations, ..ActionRef::default() }
}

fn of_action(names: &Names, action: &ir::Action) -> Action {
    let param = |(id, param): (u32, &ir::Param)| action::Param {
        id,
        name: param.name.clone(),
        annotations: param.annotations.clone(),
        bitwidth: param.width as i32,
        ..action::Param::default()
    };
    Action {
        preamble: names.preamble(action.id, &action.name, &action.annotations),
        params: (1..).zip(&action.params).map(param).collect(),
    }
}

fn spec(counter: &ir::Counter) -> Option<CounterSpec> {
    let unit = match counter.unit {
        ir::CounterUnit::Packets => counter_spec::Unit::Packets,
        ir::CounterUnit::Bytes => counter_spec::Unit::Bytes,
        ir::CounterUnit::PacketsAndBytes => counter_spec::Unit::Both,
    };
    Some(CounterSpec { unit: unit as i32 })
}

fn indirect(names: &Names, counter: &ir::Counter) -> Option<Counter> {
    let size = counter.size?.into();
    let preamble = names.preamble(counter.id, &counter.name, &counter.annotations);
    Some(Counter { preamble, spec: spec(counter), size, ..Counter::default() })
}

fn direct(program: &ir::Program, names: &Names, (at, counter): (ir::CounterId, &ir::Counter)) -> Option<DirectCounter> {
    let table = program.tables.iter().find(|table| table.counter == Some(at))?;
    let preamble = names.preamble(counter.id, &counter.name, &counter.annotations);
    Some(DirectCounter { preamble, spec: spec(counter), direct_table_id: table.id })
}

fn of_register(names: &Names, register: &ir::Register) -> Register {
    Register {
        preamble: names.preamble(register.id, &register.name, &register.annotations),
        type_spec: Some(bits_of(register.width)),
        size: register.size as i32,
        ..Register::default()
    }
}
