// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Linux as an oracle: the kernel's verifier accepts every program that the checker accepts. Skipped, with the reason,
//! where bpf() is not allowed.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;
use std::path::PathBuf;

use common::kernel::{Maps, allowed, load, reason};
use common::{compile, programs, root};
use penstock_testing::Numbers;
use penstock_xdp_compiler::check::check;
use penstock_xdp_compiler::insn::{AluOp, Code, Cond, Insn, Operand, Reg, Size, Width};
use penstock_xdp_compiler::object::{Object, ObjectError, Program};

fn objects() -> Vec<Object> {
    let mut paths = programs();
    paths.push(root().join("engines/xdp/compiler/tests/objects/all.c"));
    paths.iter().map(|path| Object::read(&compile(path, &[])).unwrap()).collect()
}

#[test]
fn shipped_programs_load() {
    if !allowed() {
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

/// Third-party objects: those of Debian's xdp-tools if they are installed, and those in the folders that
/// `PENSTOCK_XDP_OBJECTS` names.
fn others() -> Vec<PathBuf> {
    let folder = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let tools = folder("/usr/lib".into()).map(|of_machine| of_machine.join("bpf"));
    let named = std::env::var_os("PENSTOCK_XDP_OBJECTS").unwrap_or_default();
    let mut paths: Vec<_> = tools.chain(std::env::split_paths(&named)).flat_map(folder).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "o"));
    paths.sort();
    paths
}

/// Programs of others are accepted where Linux accepts them. Maps without a size, which their loaders give them, get
/// one.
#[test]
fn objects_of_others() {
    let paths = others();
    if paths.is_empty() {
        return penstock_testing::skipped("no objects of others; apt-get install xdp-tools");
    }
    if !allowed() {
        return;
    }
    let mut differ = Vec::new();
    for path in paths {
        let mut object = match Object::read(&std::fs::read(&path).unwrap()) {
            Ok(object) => object,
            Err(ObjectError::NoProgram(_)) => continue,
            Err(error) => panic!("{}: {error}", path.display()),
        };
        let unsized_maps: Vec<_> =
            object.maps.iter().filter(|map| map.shape.max_entries == 0).map(|map| map.name.clone()).collect();
        unsized_maps.iter().for_each(|name| object.set_entries(name, 16).unwrap());
        let maps = Maps::new(&object);
        for entry in &object.entries {
            let name = format!("{} {}", path.file_name().unwrap().display(), entry.name);
            let linked = object.program(entry).map_err(|error| error.to_string());
            let ours = linked.as_ref().map_err(String::clone);
            let ours = ours.and_then(|program| check(&object, program).map(drop).map_err(|error| error.to_string()));
            let theirs = match (&maps, &linked) {
                (Ok(maps), Ok(program)) => load(&object, maps, program).map_err(|_| reason(&object, maps, program)),
                (Err(error), _) => Err(format!("its maps: {error}")),
                (_, Err(_)) => Err("it cannot be put together".to_owned()),
            };
            println!("{name}: here {ours:?}, Linux {theirs:?}");
            if ours.is_ok() != theirs.is_ok() {
                differ.push(name);
            }
        }
    }
    assert!(differ.is_empty(), "{differ:?}");
}

/// How many programs are tried.
fn rounds() -> usize {
    std::env::var("PENSTOCK_XDP_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(4000)
}

/// The instructions of a program.
fn listing(program: &Program) -> String {
    program.code.iter().map(|(slot, insn)| format!("{slot}: {insn}\n")).collect()
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

/// Programs that are almost valid: the kernel accepts those that the checker accepts.
#[test]
fn changed_programs() {
    if !allowed() {
        return;
    }
    let rounds = rounds();
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
                panic!("{}, accepted here, refused there: {error}\n{}", entry.name, listing(&program));
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

/// A program of random arithmetic whose results are used as indices into the stack.
fn arithmetic(numbers: &mut Numbers) -> Vec<Insn> {
    let reg = |number: usize| Reg::new(number as u8).unwrap();
    let alu = |op, width, dst, src| Insn::Alu { op, width, dst, src };
    let mut code = Vec::new();
    for at in 1..=8 {
        code.push(Insn::Store { size: Size::B8, base: Reg::FP, offset: -8 * at, src: Operand::Imm(0) });
    }
    code.push(alu(AluOp::Mov, Width::W64, Reg::R0, Operand::Imm(0)));
    for number in 2..6 {
        let offset = [12, 16][numbers.below(2)];
        code.push(Insn::Load { size: Size::B4, signed: false, dst: reg(number), base: Reg::R1, offset });
    }
    let ops = [
        AluOp::Add,
        AluOp::Sub,
        AluOp::Mul,
        AluOp::Or,
        AluOp::And,
        AluOp::Lsh,
        AluOp::Rsh,
        AluOp::Xor,
        AluOp::Mov,
        AluOp::Arsh,
        AluOp::And,
        AluOp::Div,
        AluOp::Mod,
    ];
    let conds =
        [Cond::Gt, Cond::Ge, Cond::Lt, Cond::Le, Cond::Sgt, Cond::Slt, Cond::Eq, Cond::Ne, Cond::Set, Cond::Sge];
    let uses = 1 + numbers.below(2);
    for _ in 0..uses {
        for _ in 0..2 + numbers.below(7) {
            let width = [Width::W32, Width::W64][numbers.below(2)];
            let dst = reg(2 + numbers.below(4));
            let imm = [1, 3, 7, 15, 31, 32, 63, 255, -1, -8, 0x7fff_ffff][numbers.below(11)];
            let src = if numbers.below(3) == 0 { Operand::Reg(reg(2 + numbers.below(4))) } else { Operand::Imm(imm) };
            code.push(match numbers.below(8) {
                0..5 => alu(ops[numbers.below(ops.len())], width, dst, src),
                5 => Insn::MovSx {
                    width: Width::W64,
                    from: [Size::B1, Size::B2, Size::B4][numbers.below(3)],
                    dst,
                    src: dst,
                },
                // A jump to the end, which is at most 40 slots ahead: the distance is filled in later.
                _ => Insn::Branch { cond: conds[numbers.below(conds.len())], width, left: dst, right: src, offset: 0 },
            });
        }
        let index = reg(2 + numbers.below(4));
        if numbers.below(2) == 0 {
            code.push(alu(AluOp::And, [Width::W32, Width::W64][numbers.below(2)], index, Operand::Imm(31)));
        }
        code.push(alu(AluOp::Mov, Width::W64, Reg::R6, Operand::Reg(Reg::FP)));
        code.push(alu(AluOp::Add, Width::W64, Reg::R6, Operand::Reg(index)));
        code.push(Insn::Store { size: Size::B1, base: Reg::R6, offset: -64, src: Operand::Imm(1) });
    }
    code.push(Insn::Exit);
    let end = code.len() - 1;
    for (slot, insn) in code.iter_mut().enumerate() {
        if let Insn::Branch { offset, .. } = insn {
            *offset = if numbers.below(4) == 0 { 0 } else { (end - slot - 1) as i16 };
        }
    }
    code
}

/// The kernel knows all but a few of the checker's bounds; src/check/tests.rs tests that these are true.
#[test]
fn random_arithmetic() {
    if !allowed() {
        return;
    }
    let object = Object::read(&compile(&root().join("engines/xdp/programs/drop.c"), &[])).unwrap();
    let maps = Maps::new(&object).unwrap();
    let template = object.program(&object.entries[0]).unwrap();
    let mut numbers = Numbers(0x0F1E_2D3C_4B5A_6978);
    let mut counts = [[0usize; 2]; 2];
    for _ in 0..rounds() {
        let bytes: Vec<u8> = arithmetic(&mut numbers).iter().flat_map(|insn| insn.encode().0).collect();
        let code = Code::decode(&bytes).unwrap();
        let mut program = Program { code, ..template.clone() };
        program.functions[0].slots = 0..program.code.len();
        program.lines = vec![None; program.code.len()];
        let ours = check(&object, &program).is_ok();
        let theirs = load(&object, &maps, &program).is_ok();
        counts[usize::from(ours)][usize::from(theirs)] += 1;
        if ours && !theirs && std::env::var_os("PENSTOCK_XDP_SHOW").is_some() {
            println!("accepted here, refused there: {}\n{}", reason(&object, &maps, &program), listing(&program));
        }
    }
    println!("refused/accepted here, by refused/accepted there: {counts:?}");
    assert!(counts[1][0] * 200 < counts[1][1], "{counts:?}");
    assert!(counts[1][1] > rounds() / 20 && counts[0][0] > rounds() / 20, "{counts:?}");
}
