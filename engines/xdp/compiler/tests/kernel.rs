// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Linux as an oracle: what the checker accepts, the kernel's verifier accepts too. Skipped, with the reason, where bpf() is not allowed.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;

use common::kernel::{Maps, allowed, load, reason};
use common::{Numbers, compile, programs, root};
use penstock_xdp_compiler::check::check;
use penstock_xdp_compiler::insn::Code;
use penstock_xdp_compiler::object::{Object, Program};

/// Says why a test is skipped.
fn skipped() -> bool {
    allowed().inspect_err(|reason| eprintln!("skipped: {reason}")).is_err()
}

fn objects() -> Vec<Object> {
    let mut paths = programs();
    paths.push(root().join("engines/xdp/compiler/tests/objects/all.c"));
    paths.iter().map(|path| Object::read(&compile(path, &[])).unwrap()).collect()
}

#[test]
fn shipped_programs_load() {
    if skipped() {
        return;
    }
    for object in objects() {
        let maps = Maps::new(&object).unwrap();
        for entry in &object.entries {
            let program = object.program(entry).unwrap();
            check(&object, &program).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
            assert!(load(&object, &maps, &program).is_ok(), "{}: {}", entry.name, reason(&object, &maps, &program));
        }
    }
}

/// Changes some instructions of a program.
fn mutate(program: &Program, numbers: &mut Numbers) -> Option<Program> {
    let mut bytes = program.code.encode();
    let slots = bytes.len() / 8;
    for _ in 0..1 + numbers.below(2) {
        let at = numbers.below(slots) * 8;
        match numbers.below(8) {
            // A small change of the number.
            0 => bytes[at + 4] = bytes[at + 4].wrapping_add([1, 0xff, 4, 0x80][numbers.below(4)]),
            1 => bytes[at + 2] = bytes[at + 2].wrapping_add([1, 0xff, 4, 0xf8][numbers.below(4)]),
            // Other registers.
            2 => bytes[at + 1] = bytes[at + 1] & 0xf0 | numbers.below(11) as u8,
            3 => bytes[at + 1] = bytes[at + 1] & 0x0f | (numbers.below(11) as u8) << 4,
            // Another operation of the same class.
            4 => bytes[at] = bytes[at] & 0x0f | (numbers.below(16) as u8) << 4,
            5 => bytes[at] ^= [1, 3, 8, 0x18][numbers.below(4)],
            // The instruction is gone, or twice there.
            6 => bytes[at..at + 8].copy_from_slice(&[5, 0, 0, 0, 0, 0, 0, 0]),
            _ => {
                let other = numbers.below(slots) * 8;
                let copied: [u8; 8] = bytes[other..other + 8].try_into().unwrap();
                bytes[at..at + 8].copy_from_slice(&copied);
            }
        }
    }
    let code = Code::decode(&bytes).ok()?;
    Some(Program { code, ..program.clone() })
}

/// Programs that are nearly right: what the checker accepts of them, the kernel accepts.
#[test]
fn changed_programs() {
    if skipped() {
        return;
    }
    let rounds = std::env::var("PENSTOCK_XDP_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(4000);
    let mut numbers = Numbers(0x1234_5678_9ABC_DEF1);
    let objects = objects();
    let loaded: Vec<_> = objects.iter().map(|object| Maps::new(object).unwrap()).collect();
    let mut counts = [[0usize; 2]; 2];
    let mut stricter: BTreeMap<String, usize> = BTreeMap::new();
    for round in 0..rounds {
        let which = round % objects.len();
        let object = &objects[which];
        let entry = &object.entries[numbers.below(object.entries.len())];
        let Some(program) = mutate(&object.program(entry).unwrap(), &mut numbers) else { continue };
        let ours = check(object, &program);
        let theirs = load(object, &loaded[which], &program);
        counts[usize::from(ours.is_ok())][usize::from(theirs.is_ok())] += 1;
        match (ours, theirs) {
            (Ok(_), Err(_)) => {
                let error = reason(object, &loaded[which], &program);
                let listing: Vec<_> = program.code.iter().map(|(slot, insn)| format!("{slot}: {insn}")).collect();
                panic!("{}, accepted here, refused there: {error}\n{}", entry.name, listing.join("\n"));
            }
            (Err(error), Ok(())) => {
                let rule = format!("{:?}", error.rule);
                let rule = rule.split(['(', ' ', '{']).next().unwrap_or_default().to_owned();
                *stricter.entry(rule).or_default() += 1;
                if std::env::var_os("PENSTOCK_XDP_SHOW").is_some() {
                    println!("{}: {error}", entry.name);
                }
            }
            _ => {}
        }
    }
    println!("refused/accepted here, by refused/accepted there: {counts:?}; stricter here: {stricter:?}");
    assert!(counts[1][1] > rounds / 10 && counts[0][0] > rounds / 10, "{counts:?}");
}
