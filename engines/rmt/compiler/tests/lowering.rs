// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Where programs go in the machine.

#![allow(clippy::panic)]

use std::ops::Range;

use penstock_rmt_compiler::Compiled;
use penstock_rmt_compiler::backend::Pipeline;

/// The words of a row of EXIT that say what the new head is made of (machine.md).
const EDITS: Range<usize> = 4..13;

fn program(name: &str, text: &str) -> Compiled {
    penstock_rmt_compiler::compile(name, text).unwrap_or_else(|faults| panic!("{faults}"))
}

#[test]
fn the_router_takes_three_stages() {
    let compiled = program("router.p4", include_str!("../../programs/router.p4"));
    let lowered = compiled.lower(&Pipeline::new(3)).unwrap_or_else(|faults| panic!("{faults}"));
    println!("{}", lowered.show());
    assert!(!lowered.stateful());
    let faults = compiled.lower(&Pipeline::new(2)).expect_err("two stages are too few").to_string();
    assert!(faults.contains("needs 3 stages, the design has 2"), "{faults}");
}

#[test]
fn the_calculator_takes_one_stage() {
    let compiled = program("calculator.p4", include_str!("../../programs/calculator.p4"));
    let lowered = compiled.lower(&Pipeline::new(1)).unwrap_or_else(|faults| panic!("{faults}"));
    println!("{}", lowered.show());
    assert!(lowered.stateful());
}

#[test]
fn the_firewall_fits_five_stages() {
    let compiled = program("firewall.p4", include_str!("../../programs/firewall.p4"));
    let lowered = compiled.lower(&Pipeline::new(5)).unwrap_or_else(|faults| panic!("{faults}"));
    println!("{}", lowered.show());
}

#[test]
fn programs_with_ternary_tables_and_counters_have_their_stages() {
    for (name, text, stages, words) in [
        (
            "acl.p4",
            include_str!("../../programs/acl.p4"),
            3,
            &["lines, ternary", "classes, ternary", "permit: 0 of 8 units, counter"][..],
        ),
        ("load_balancer.p4", include_str!("../../programs/load_balancer.p4"), 3, &["flows, exact", "shares, ternary"]),
        ("netcache.p4", include_str!("../../programs/netcache.p4"), 2, &["cached, exact", ", register, counter"]),
        ("netchain.p4", include_str!("../../programs/netchain.p4"), 1, &["chains, exact", ", register, counter"]),
        ("qos.p4", include_str!("../../programs/qos.p4"), 2, &["rules, ternary"]),
        (
            "source_routing.p4",
            include_str!("../../programs/source_routing.p4"),
            3,
            &["new head  hdr.ethernet, hdr.vlan, hdr.hops[0], hdr.hops[1]", "counter"],
        ),
        ("multicast.p4", include_str!("../../programs/multicast.p4"), 2, &["streams, exact", "groups of 8 copies"]),
    ] {
        let compiled = program(name, text);
        let lowered = compiled.lower(&Pipeline::new(stages)).unwrap_or_else(|faults| panic!("{faults}"));
        println!("{name}\n{}", lowered.show());
        for word in words {
            assert!(lowered.show().contains(word), "{name} has no `{word}`:\n{}", lowered.show());
        }
    }
}

#[test]
fn a_gateway_adds_and_removes_headers() {
    let compiled = program("vxlan.p4", include_str!("../../programs/vxlan.p4"));
    let lowered = compiled.lower(&Pipeline::new(3)).unwrap_or_else(|faults| panic!("{faults}"));
    println!("{}", lowered.show());
    assert!(lowered.show().contains("new head  hdr.outer_ethernet, hdr.outer_ipv4"), "{}", lowered.show());
    // The words of all eight headers are of the head, but the half in front of Ethernet, and half a word behind the
    // outer Ethernet.
    let halves: u32 = lowered.exit(0)[EDITS]
        .iter()
        .flat_map(|word| (0..3).map(move |n| word >> (10 * n)))
        .map(|fields| (fields >> 8 & 3).count_ones())
        .sum();
    assert_eq!(halves, 2 * (7 + 10 + 4 + 4), "{:x?}", lowered.exit(0));
    for (name, text) in
        [("router.p4", include_str!("../../programs/router.p4")), ("acl.p4", include_str!("../../programs/acl.p4"))]
    {
        let lowered = program(name, text).lower(&Pipeline::new(3)).unwrap_or_else(|faults| panic!("{faults}"));
        assert_eq!(lowered.exit(0)[EDITS], [0; 9], "{name} adds and removes no headers");
    }
}

/// The multicast program with statements in egress.
fn with_egress(statements: &str) -> Compiled {
    let text = include_str!("../../programs/multicast.p4");
    let (front, back) = text.split_once("control MulticastUpdate").unwrap_or_else(|| panic!("no such control"));
    let front = front.trim_end().strip_suffix("apply { }\n}").unwrap_or_else(|| panic!("egress is not empty"));
    program("multicast.p4", &format!("{front}apply {{ {statements} }}\n}}\ncontrol MulticastUpdate{back}"))
}

#[test]
fn egress_treats_all_copies_of_a_frame_alike() {
    for (statements, words) in [
        ("if (standard_metadata.egress_rid == 1) { hdr.ipv4.diffserv = 1; }", "differs between the copies"),
        (
            "if (standard_metadata.egress_port == standard_metadata.ingress_port) { hdr.ipv4.diffserv = 1; }",
            "differs between the copies",
        ),
        ("if (standard_metadata.egress_port == 1) { mark_to_drop(standard_metadata); }", "differs between the copies"),
        ("hdr.ipv4.diffserv = (bit<8>)standard_metadata.egress_spec;", "differs between the copies"),
        ("hdr.ipv4.diffserv = (bit<8>)standard_metadata.instance_type;", "differs between the copies"),
        ("standard_metadata.egress_spec = 511;", "sets `egress_spec` to drop"),
        ("standard_metadata.mcast_grp = 1;", "egress chooses a multicast group"),
        ("standard_metadata.mcast_grp = 0;", "egress chooses a multicast group"),
        ("standard_metadata.mcast_grp = hdr.ipv4.identification;", "egress chooses a multicast group"),
    ] {
        let faults = with_egress(statements).lower(&Pipeline::new(3)).expect_err(statements).to_string();
        assert!(faults.contains(words), "{statements}: {faults}");
    }
    let dropping = "if (hdr.ipv4.diffserv == 1) { mark_to_drop(standard_metadata); } else { hdr.ipv4.diffserv = 2; }";
    with_egress(dropping).lower(&Pipeline::new(4)).unwrap_or_else(|faults| panic!("{faults}"));
    let own =
        "if (standard_metadata.ingress_port == standard_metadata.egress_port) { mark_to_drop(standard_metadata); }";
    let lowered = with_egress(own).lower(&Pipeline::new(5)).unwrap_or_else(|faults| panic!("{faults}"));
    assert_eq!(lowered.exit(0)[3] >> 24, 1);
}

/// A program with frames to and from a controller, changed at one place.
fn with_controller(from: &str, to: &str) -> Compiled {
    let text = include_str!("../../tests/programs/card_control.p4");
    assert_eq!(text.matches(from).count(), 1, "{from}");
    program("card_control.p4", &text.replace(from, to))
}

#[test]
fn frames_of_controllers_begin_in_a_state_of_their_own() {
    let lowered = with_controller("CONTROLLER: outgoing;", "CONTROLLER: outgoing;").lower(&Pipeline::new(4));
    let lowered = lowered.unwrap_or_else(|faults| panic!("{faults}"));
    assert!(lowered.show().contains("frames to port 510 go to the controller"), "{}", lowered.show());
    assert_eq!((lowered.exit(5)[3] >> 21) & 0b1_0111, 0b1_0101);
    // The header of a controller goes on by one word, and the next one begins in the same half of a word.
    let (own, of_controller) = (lowered.parser[0][0], lowered.parser[0][1]);
    assert_eq!((own[0] >> 10 & 31, of_controller[0] >> 10 & 31, of_controller[2] >> 16), (1, 1, 6));
    // Frames of controllers begin as all others in a program that does not tell them apart.
    let lowered = program("acl.p4", include_str!("../../programs/acl.p4")).lower(&Pipeline::new(3));
    let lowered = lowered.unwrap_or_else(|faults| panic!("{faults}"));
    assert_eq!(lowered.parser[0][0], lowered.parser[0][1]);
    assert!(!lowered.has_copies());
    for (from, to, words) in [
        ("@padding bit<23> pad;", "@padding bit<7> pad;", "begins at different bytes of a word"),
        ("CONTROLLER: outgoing;", "CONTROLLER: outgoing; 1: outgoing;", "frames of a controller from those of ports"),
        ("default: plain;", "", "frames of a controller from those of ports"),
        ("default: plain;", "default: accept;", "frames of a controller from those of ports"),
        ("b.emit(hdr.to);", "b.emit(hdr.to); b.emit(hdr.from);", "`hdr.op` shares a word with the header in front"),
    ] {
        let faults = with_controller(from, to).lower(&Pipeline::new(4)).expect_err(to).to_string();
        assert!(faults.contains(words), "{to}: {faults}");
    }
}

/// The program with clones, changed at one place.
fn with_clones(from: &str, to: &str) -> Compiled {
    let text = include_str!("../../tests/programs/clones.p4");
    assert_eq!(text.matches(from).count(), 1, "{from}");
    program("clones.p4", &text.replace(from, to))
}

#[test]
fn clones_leave_as_the_frame_came_or_as_it_leaves() {
    let begin = "#include <core.p4>";
    for (define, raw) in [(begin.to_owned(), 1), (format!("#define OF_EGRESS\n{begin}"), 0)] {
        let lowered = with_clones(begin, &define).lower(&Pipeline::new(4)).unwrap_or_else(|faults| panic!("{faults}"));
        assert!(lowered.has_copies() && lowered.has_clones && !lowered.has_groups);
        assert!(lowered.show().contains("clones    sessions of 8 copies"), "{}", lowered.show());
        let exit = lowered.exit(3);
        assert_eq!((exit[13] >> 30, exit[3] >> 21 & 7, exit[3] >> 14 & 1), (1 | raw << 1, 3, 0));
    }
    // Egress asks for the frame itself in one way or another.
    for own in ["std.instance_type != 1", "!(std.instance_type == 1)", "std.instance_type == 0 && hdr.ask.port == 3"] {
        with_clones("std.instance_type == 0", own)
            .lower(&Pipeline::new(5))
            .unwrap_or_else(|faults| panic!("{own}: {faults}"));
    }
    for (from, to, words) in [
        ("std.instance_type == 0", "std.instance_type != 2", "egress does this to clones, too"),
        ("std.instance_type == 0", "hdr.ask.port == 3", "egress does this to clones, too"),
        ("std.instance_type == 0", "std.instance_type == 1 || hdr.ask.port == 3", "egress does this to clones, too"),
        ("hdr.eth.type = 0x9999;", "clone(CloneType.E2E, 1);", "both of ingress and of egress"),
        ("b.emit(hdr.ask);", "", "would not leave as the frame came"),
        ("b.extract(hdr.ask);", "b.extract(hdr.ask); hdr.ask.count = 1;", "would not leave as the frame came"),
    ] {
        let faults = with_clones(from, to).lower(&Pipeline::new(5)).expect_err(to).to_string();
        assert!(faults.contains(words), "{to}: {faults}");
    }
    let of_egress = |to: &str| {
        let text = include_str!("../../tests/programs/clones.p4").replace("hdr.eth.type = 0x9999;", to);
        program("clones.p4", &format!("#define OF_EGRESS\n{text}")).lower(&Pipeline::new(5))
    };
    for (to, words) in [
        ("mark_to_drop(std);", "egress clones frames and drops some"),
        ("} if (true) {", "egress does this to clones, too"),
    ] {
        let faults = of_egress(to).expect_err(to).to_string();
        assert!(faults.contains(words), "{to}: {faults}");
    }
}

/// All programs but the one that needs replicas' numbers in egress fit the longest pipeline, whose stages do not all
/// have the same tables.
#[test]
fn programs_fit_stages_that_differ() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs");
    let mut names = Vec::new();
    for file in std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{error}")) {
        let path = file.unwrap_or_else(|error| panic!("{error}")).path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.extension().is_some_and(|extension| extension == "p4") && name != "multicast_router.p4" {
            let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{error}"));
            let lowered = program(&name, &text).lower(&Pipeline::new(12));
            let lowered = lowered.unwrap_or_else(|faults| panic!("{name}: {faults}"));
            for code in lowered.tables.iter().flatten() {
                let has_kind = code.kind.feature().is_none_or(|feature| Pipeline::new(12).has(feature, code.stage));
                assert!(has_kind, "{name}: a {:?} table in stage {}", code.kind, code.stage);
            }
            names.push(name);
        }
    }
    assert!(names.len() >= 17, "{names:?}");
}

#[test]
fn a_table_waits_for_a_stage_of_its_kind() {
    let acl = program("acl.p4", include_str!("../../programs/acl.p4"));
    let mut pipeline = Pipeline { ternary: 0b1010, ..Pipeline::new(4) };
    let lowered = acl.lower(&pipeline).unwrap_or_else(|faults| panic!("{faults}"));
    let stages: Vec<usize> = lowered.tables.iter().flatten().map(|code| code.stage).collect();
    assert_eq!(stages, [3, 1], "{}", lowered.show());
    assert!(lowered.show().contains("pipeline  stages 1, 3 have ternary tables"), "{}", lowered.show());
    pipeline.ternary = 0b0010;
    let faults = acl.lower(&pipeline).expect_err("one table has no stage").to_string();
    assert!(faults.contains("stage 1 has them") && faults.contains("`ternary_stages` with stage"), "{faults}");
    pipeline.ternary = 0;
    let faults = acl.lower(&pipeline).expect_err("no table has a stage").to_string();
    assert!(faults.contains("that has ternary tables; of the 4 stages, no stage has them"), "{faults}");
}
