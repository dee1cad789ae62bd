// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! P4Info of a program.

#![allow(clippy::panic)]

use penstock_rmt_p4runtime::{info, text};

fn of(name: &str, source: &str) -> penstock_rmt_p4runtime::proto::p4::config::v1::P4Info {
    match penstock_rmt_compiler::compile(name, source) {
        Ok(compiled) => info::of(&compiled.program),
        Err(faults) => panic!("{faults}"),
    }
}

/// The numbers are p4c's numbers for these names, as in the P4Info files of the P4 tutorials.
#[test]
fn numbers_follow_from_names() {
    let source = include_str!("kinds.p4").replace(" I(", " MyIngress(").replace("table all", "table ipv4_lpm");
    let source = source.replace("action to(", "action ipv4_forward(").replace(" to;", " ipv4_forward;");
    let source = source.replace("= to(", "= ipv4_forward(").replace("all.apply", "ipv4_lpm.apply");
    let info = of("tutorial.p4", &source);
    let named = |name: &str| {
        let tables = info.tables.iter().map(|one| &one.preamble);
        let actions = info.actions.iter().map(|one| &one.preamble);
        tables.chain(actions).flatten().find(|one| one.name == name).map(|one| (one.id, one.alias.clone()))
    };
    for (name, id, alias) in [
        ("MyIngress.ipv4_lpm", 37_375_156, "ipv4_lpm"),
        ("MyIngress.ipv4_forward", 28_792_405, "ipv4_forward"),
        ("MyIngress.drop", 25_652_968, "drop"),
        ("NoAction", 21_257_015, "NoAction"),
        ("MyIngress.routes", 2 << 24 | 77, "routes"),
    ] {
        assert_eq!(named(name), Some((id, alias.to_owned())), "{name}");
    }
}

/// An action that tables give different arguments is one action.
#[test]
fn an_action_is_there_once() {
    let source = include_str!("kinds.p4").replace(
        "table all",
        "bit<9> other = 0;
         action put(out bit<9> to, bit<9> port) { to = port; }
         table one {
             actions = { put(standard_metadata.egress_spec); }
             const default_action = put(standard_metadata.egress_spec, 8);
         }
         table two { actions = { put(other); } const default_action = put(other, 9); }
         table all",
    );
    let info = of("kinds.p4", &source.replace("all.apply", "one.apply(); two.apply(); all.apply"));
    let named = |one: &&penstock_rmt_p4runtime::proto::p4::config::v1::Action| {
        one.preamble.as_ref().is_some_and(|of| of.name == "I.put" && of.alias == "put")
    };
    assert_eq!(info.actions.iter().filter(named).count(), 1);
}

/// The text is in the form that protobuf's own tools read; test_p4runtime.py has them read one.
#[test]
fn the_text_has_everything() {
    let text = text::of(&of("kinds.p4", include_str!("kinds.p4")));
    let expected = include_str!("kinds.p4info.txtpb");
    assert_eq!(text, expected, "if this is right, it is the new kinds.p4info.txtpb:\n{text}");
}
