// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The checker: accepted programs, refused programs with their messages, and facts. If bpf() is allowed, the tests also
//! ask Linux.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;

use common::kernel::{Maps, allowed, load, reason};
use common::{compile, compile_text, programs, root};
use penstock_xdp_compiler::check::{Checked, MapRef, Operand, PacketCheck, Region, check};
use penstock_xdp_compiler::insn::{Callee, Insn, Reg};
use penstock_xdp_compiler::object::{Object, Program};

fn object(name: &str) -> Object {
    let path = root().join("engines/xdp/compiler/tests/objects").join(name);
    Object::read(&compile(&path, &["-Wno-unused-parameter", "-Wno-return-type"])).unwrap()
}

/// Linux' verdict on a program of bad.c.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Linux {
    Refuses,
    Takes,
    /// That depends on its version.
    Either,
}

/// The expected result before each program of bad.c: part of the message, and the verdict of Linux.
fn expected() -> BTreeMap<String, (String, Linux)> {
    let source = std::fs::read_to_string(root().join("engines/xdp/compiler/tests/objects/bad.c")).unwrap();
    // A long message takes several lines of its comment.
    let source = source.replace("\n * ", " ");
    let mut expected = BTreeMap::new();
    let mut message = None;
    for line in source.lines() {
        if let Some(text) = line.strip_prefix("/* refused") {
            let (mark, text) = text.split_once(": ").unwrap();
            let linux = match mark {
                "" => Linux::Refuses,
                ", here only" => Linux::Takes,
                ", newer" => Linux::Either,
                other => panic!("`{other}` is no mark"),
            };
            message = Some((text.trim_end_matches(" */").to_owned(), linux));
        } else if let Some(rest) = line.strip_prefix("ASM(") {
            let name = rest.split(',').next().unwrap();
            expected.insert(name.to_owned(), message.take().expect("a message before each program"));
        }
    }
    expected
}

#[test]
fn each_rule_is_kept() {
    let expected = expected();
    let object = object("bad.c");
    assert_eq!(object.entries.len(), expected.len());
    let maps = allowed().then(|| Maps::new(&object).unwrap());
    let mut wrong = Vec::new();
    for entry in &object.entries {
        let (message, linux) = &expected[&entry.name];
        let program = object.program(entry).unwrap();
        match check(&object, &program) {
            Ok(_) => wrong.push(format!("{}: accepted", entry.name)),
            Err(error) if !error.to_string().contains(message) => {
                wrong.push(format!("{}: {error}\n    instead of: {message}", entry.name));
            }
            Err(_) => {}
        }
        if let Some(maps) = &maps {
            match load(&object, maps, &program) {
                Ok(()) if *linux == Linux::Refuses => wrong.push(format!("{}: Linux takes it", entry.name)),
                Err(error) if *linux == Linux::Takes => {
                    wrong.push(format!("{}: Linux refuses it: {error}", entry.name))
                }
                _ => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn right_for_a_reason() {
    let object = object("good.c");
    let maps = allowed().then(|| Maps::new(&object).unwrap());
    let mut wrong = Vec::new();
    for entry in &object.entries {
        let program = object.program(entry).unwrap();
        if let Err(error) = check(&object, &program) {
            wrong.push(format!("{}: {error}", entry.name));
        }
        if let Some(maps) = maps.as_ref().filter(|maps| load(&object, maps, &program).is_err()) {
            wrong.push(format!("{}: Linux: {}", entry.name, reason(&object, maps, &program)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// All shipped programs keep the rules, as compiled for each version of the instruction set.
#[test]
fn shipped_programs() {
    for cpu in ["v1", "v2", "v3", "v4"] {
        for path in programs() {
            let object = Object::read(&compile(&path, &[&format!("-mcpu={cpu}")])).unwrap();
            for entry in &object.entries {
                let program = object.program(entry).unwrap();
                let checked = check(&object, &program).unwrap_or_else(|error| panic!("{cpu}: {error}"));
                // Each instruction is checked a few times, not once for each path.
                assert!(checked.facts.visited < 5 * program.code.len(), "{cpu} {}", entry.name);
            }
        }
    }
}

fn checked(object: &Object, name: &str) -> (Program, Checked) {
    let program = object.program(object.entries.iter().find(|entry| entry.name == name).unwrap()).unwrap();
    let checked = check(object, &program).unwrap();
    (program, checked)
}

/// The last slot with an instruction that is asked for.
fn slot_of(program: &Program, what: impl Fn(Insn) -> bool) -> usize {
    program.code.iter().filter(|(_, insn)| what(*insn)).map(|(slot, _)| slot).last().unwrap()
}

/// Checks of the packet's end in every shape, and the accesses that rely on them.
#[test]
fn facts_of_packet_checks() {
    let object = object("good.c");
    for (name, bytes, when_taken) in [
        ("greater", 14, false),
        ("greater_equal", 15, false),
        ("less", 15, true),
        ("less_equal", 14, true),
        ("end_less", 14, false),
        ("end_less_equal", 15, false),
        ("end_greater", 15, true),
        ("end_greater_equal", 14, true),
    ] {
        let (program, checked) = checked(&object, name);
        let jump = slot_of(&program, |insn| matches!(insn, Insn::Branch { .. }));
        let branch = checked.facts.insns[jump].branch.unwrap();
        assert_eq!(branch.packet, Some(PacketCheck { bytes, when_taken, variable: false }), "{name}");
        assert!(branch.taken && branch.not_taken && !branch.null_check, "{name}");
        let load = slot_of(&program, |insn| matches!(insn, Insn::Load { offset: 12.., .. }));
        let (_, access) = &checked.facts.insns[load].accesses[0];
        let offset = if bytes == 14 { 12 } else { 14 };
        assert_eq!((access.region, access.offset), (Some(Region::Packet), (offset, offset)), "{name}");
        assert_eq!(access.proofs.iter().copied().collect::<Vec<_>>(), [jump], "{name}");
        assert_eq!(checked.facts.packet_bytes, Some(if bytes == 14 { 14 } else { 15 }), "{name}");
    }
    // Behind a header of variable length the proven bytes count from there, and the highest byte is unknown.
    let (program, checked) = checked(&object, "options");
    let checks: Vec<_> = program.code.iter().filter_map(|(slot, _)| checked.facts.insns[slot].branch?.packet).collect();
    assert_eq!(checks.iter().map(|check| check.variable).collect::<Vec<_>>(), [false, true]);
    assert_eq!((checks[0].bytes, checked.facts.packet_bytes), (34, None));
}

#[test]
fn facts_of_calls_and_values() {
    let object = Object::read(&compile(&root().join("engines/xdp/programs/xdp1.c"), &[])).unwrap();
    let (program, checked) = checked(&object, "xdp1");
    let facts = &checked.facts;
    let call = slot_of(&program, |insn| matches!(insn, Insn::Call(Callee::Helper(1))));
    let (index, _) = object.map("protocols").unwrap();
    assert_eq!(facts.insns[call].maps.iter().copied().collect::<Vec<_>>(), [MapRef::Of(index)]);
    let (arg, key) = &facts.insns[call].accesses[0];
    assert_eq!((*arg, key.region, key.offset, key.bytes, key.writes), (1, Some(Region::Stack(0)), (-4, -4), 4, false));
    let null = slot_of(&program, |insn| matches!(insn, Insn::Branch { left: Reg::R0, .. }));
    assert!(facts.insns[null].branch.unwrap().null_check);
    let store = slot_of(&program, |insn| matches!(insn, Insn::Store { base: Reg::R0, .. }));
    let (_, access) = &facts.insns[store].accesses[0];
    assert_eq!(
        (access.region, access.offset, access.writes),
        (Some(Region::MapValue(MapRef::Of(index))), (0, 0), true)
    );
    assert_eq!(
        facts.insns[store].left,
        Some(Operand::Pointer { region: Region::MapValue(MapRef::Of(index)), offset: (0, 0), nullable: false })
    );
    assert_eq!(facts.helpers.iter().copied().collect::<Vec<_>>(), [1]);
    assert_eq!(facts.maps.iter().copied().collect::<Vec<_>>(), [index]);
    assert_eq!((facts.stack.clone(), facts.packet_bytes), (vec![4], Some(32)));
    assert!(facts.unreached(&program.code).is_empty());
    // The protocol is one byte, on all paths that lead to the store of the key.
    let key = slot_of(&program, |insn| matches!(insn, Insn::Store { base: Reg::FP, .. }));
    let Some(Operand::Number(number)) = facts.insns[key].right else { panic!("{:?}", facts.insns[key]) };
    assert_eq!((number.wide.umin, number.wide.umax), (0, 255));
}

/// A global constant decides a branch: the other side is never reached.
#[test]
fn facts_of_constants() {
    let text = r#"
        #include <bpf.h>
        volatile const __u32 mode = 2;
        SEC("xdp") int p(struct xdp_md *ctx) {
          return mode == 2 ? bpf_redirect(1, 0) : bpf_redirect(ctx->rx_queue_index, 0);
        }"#;
    let object = Object::read(&compile_text("constant", text, &[])).unwrap();
    let (program, checked) = checked(&object, "p");
    let branch = slot_of(&program, |insn| matches!(insn, Insn::Branch { .. }));
    let branch = checked.facts.insns[branch].branch.unwrap();
    assert!(branch.taken != branch.not_taken);
    assert!(!checked.facts.unreached(&program.code).is_empty());
}

/// Helpers that are reserved for free software.
#[test]
fn license() {
    let text = r#"
        #include <bpf.h>
        SEC("xdp") int p(struct xdp_md *ctx) {
          char text[4] = "hi";
          bpf_trace_printk(text, 3);
          return XDP_PASS;
        }
        char _license[] SEC("license") = "LICENSE";"#;
    for (license, allowed) in [("GPL", true), ("Dual MIT/GPL", true), ("Apache-2.0", false), ("gpl", false)] {
        let object = Object::read(&compile_text("license", &text.replace("LICENSE", license), &[])).unwrap();
        let program = object.program(&object.entries[0]).unwrap();
        assert_eq!(check(&object, &program).is_ok(), allowed, "{license}");
    }
}
