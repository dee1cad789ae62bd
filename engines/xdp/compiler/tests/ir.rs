// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The intermediate form and its passes: the form changes a packet exactly as Linux does, before and after each pass.
#![allow(clippy::panic, clippy::unwrap_used)]

mod common;

use common::helpers::{Reach, reach_of};
use common::kernel::{self, Maps, allowed, loaded};
use common::packets::packet;
use common::world::Plain;
use common::{compile, corpus, programs, root};
use penstock_testing::Numbers;
use penstock_xdp_compiler::check::check;
use penstock_xdp_compiler::helpers::{Around, expand};
use penstock_xdp_compiler::ir::{
    Adjust, Block, Layout, Memory, Op, Outcome, Place, Space, Special, Stop, build, run, verify,
};
use penstock_xdp_compiler::maps::MapKind;
use penstock_xdp_compiler::object::{Object, Program};
use penstock_xdp_compiler::passes::{PASSES, optimize};
use penstock_xdp_compiler::random;
use penstock_xdp_compiler::{ir, object, translate};

/// A program of an object, in the form.
struct Case {
    object: Object,
    program: Program,
    plain: ir::Program,
    optimized: ir::Program,
    /// With the helpers' code: of the first of these, and as rows are made of it.
    expanded: [ir::Program; 2],
}

fn built(object: &Object, program: &object::Program, layout: &Layout) -> ir::Program {
    let checked = check(object, program).unwrap_or_else(|error| panic!("{}: {error}", program.name));
    let built = build(object, program, &checked.facts, layout).unwrap_or_else(|error| panic!("{error}"));
    verify(&built).unwrap_or_else(|broken| panic!("{}: {broken}\n{built}", program.name));
    built
}

fn expanded(object: &Object, program: &object::Program, plain: &ir::Program) -> [ir::Program; 2] {
    let (layout, mut first) = (Layout::plain(object), plain.clone());
    let facts = check(object, program).unwrap().facts;
    let stack = facts.stack_depth.next_multiple_of(8);
    expand(&mut first, &Around { object, source: program, facts: &facts, layout: &layout, metadata: true }, stack);
    let (second, _) = translate::form(object, program, &facts, &layout).unwrap();
    for form in [&first, &second] {
        verify(form).unwrap_or_else(|broken| panic!("{}: {broken}\n{form}", program.name));
    }
    [first, second]
}

/// All programs of the tests: those that are shipped, and those of the checker's tests.
fn cases() -> Vec<Case> {
    let mut paths: Vec<_> = programs().into_iter().chain(corpus()).collect();
    paths.extend(["good.c", "helpers.c"].map(|name| root().join("engines/xdp/compiler/tests/objects").join(name)));
    let mut cases = Vec::new();
    for path in paths {
        let bytes = compile(&path, &[]);
        for entry in &Object::read(&bytes).unwrap().entries {
            let object = Object::read(&bytes).unwrap();
            let program = object.program(entry).unwrap();
            let plain = built(&object, &program, &Layout::plain(&object));
            let mut optimized = plain.clone();
            optimize(&mut optimized);
            let expanded = expanded(&object, &program, &plain);
            cases.push(Case { object, program, plain, optimized, expanded });
        }
    }
    cases
}

/// Puts entries into the maps, the same ones here and there.
fn fill(case: &Case, world: &mut Plain, maps: Option<&Maps>, numbers: &mut Numbers) {
    for (index, map) in case.object.maps.iter().enumerate() {
        let kind = map.shape.kind().unwrap();
        let keys: Vec<Vec<u8>> = match kind {
            MapKind::Array if !map.section.starts_with('.') || map.section == ".maps" => {
                (0..map.shape.max_entries.min(8)).map(|key| key.to_le_bytes().to_vec()).collect()
            }
            MapKind::Devmap | MapKind::DevmapHash => [0u32, 3, 5, 6].map(|key| key.to_le_bytes().to_vec()).to_vec(),
            // Addresses as the packets have them.
            MapKind::LpmTrie => {
                (0..6).map(|n| [[[16, 24, 32][n % 3], 0, 0, 0], [10, 0, n as u8 & 1, n as u8 / 2]].concat()).collect()
            }
            MapKind::Hash if map.shape.key_bytes == 4 => {
                (0..6).map(|n| if n < 3 { vec![10, 0, 0, n] } else { vec![n, 0, 0, 0] }).collect()
            }
            _ => continue,
        };
        for key in keys {
            let mut value: Vec<u8> =
                (0..map.shape.value_bytes).map(|_| [0, 1, 2, 3, numbers.next() as u8][numbers.below(5)]).collect();
            // The interface that each machine has, and no program.
            if matches!(kind, MapKind::Devmap | MapKind::DevmapHash) {
                value.fill(0);
                value[0] = 1;
            }
            let mut known = key.clone();
            known.truncate(map.shape.key_bytes as usize);
            world.set(index as u32, &known, &value, 0);
            if let Some(maps) = maps {
                maps.set(index as u32, &known, &value).unwrap();
            }
        }
    }
}

/// The effect of a program on a packet: its verdict, and the packet with its metadata.
fn outcome(program: &ir::Program, packet: &[u8], world: &mut Plain) -> (Result<Outcome, Stop>, Vec<u8>) {
    let mut memory = Memory::new(packet);
    let outcome = run(program, &mut memory, world);
    (outcome, [memory.metadata(), memory.packet()].concat())
}

/// Whether a program depends on properties that differ from machine to machine, or needs features that the tests lack.
fn special(case: &Case) -> bool {
    let checked = check(&case.object, &case.program).unwrap();
    reach_of(&checked.facts.helpers) < Reach::Linux
        || case.object.maps.iter().any(|map| map.inner.is_some()) && checked.facts.helpers.contains(&1)
}

#[test]
fn as_linux() {
    if !allowed() {
        return;
    }
    let mut compared = 0;
    for case in cases().iter().filter(|case| !special(case)) {
        let mut numbers = Numbers(0x5EED_0001);
        let maps = Maps::new(&case.object).unwrap();
        let reason = || kernel::reason(&case.object, &maps, &case.program);
        let program = loaded(&case.object, &maps, &case.program)
            .unwrap_or_else(|error| panic!("{}: {error}: {}", case.program.name, reason()));
        let mut world = Plain::new(&case.object);
        fill(case, &mut world, Some(&maps), &mut numbers);
        let forms = [&case.plain, &case.optimized, &case.expanded[0], &case.expanded[1]];
        let mut others = [world.clone(), world.clone(), world.clone()];
        for round in 0..400 {
            let packet = packet(&mut numbers);
            let theirs = kernel::run(&program, &packet).unwrap();
            for (form, world) in forms.iter().zip([&mut world].into_iter().chain(&mut others)) {
                let (ours, after) = outcome(form, &packet, world);
                let name = format!("{}, round {round}", case.program.name);
                let ours = ours.unwrap_or_else(|stop| panic!("{name}: {stop}\n{form}"));
                assert_eq!(ours.verdict, theirs.0, "{name}: {packet:02x?}\n{form}");
                assert!(after == theirs.1, "{name}: {packet:02x?} became {after:02x?}, not {:02x?}\n{form}", theirs.1);
            }
        }
        assert!(others.iter().all(|other| world.contents() == other.contents()), "{}", case.program.name);
        for (index, map) in (0..).zip(&case.object.maps) {
            for key in maps.keys(index, &map.shape) {
                let (ours, theirs) = (world.get(index, &key), maps.get(index, &map.shape, &key));
                assert_eq!(ours, theirs, "{}: {} at {key:02x?}", case.program.name, map.name);
                compared += 1;
            }
            assert!(world.keys(index).iter().all(|key| maps.get(index, &map.shape, key).is_some()), "{}", map.name);
        }
    }
    assert!(compared > 100, "{compared}");
}

/// Each pass leaves a program that is well formed and does the same.
#[test]
fn passes_keep() {
    for case in cases() {
        let mut numbers = Numbers(0x5EED_0002);
        let mut first = Plain::new(&case.object);
        fill(&case, &mut first, None, &mut numbers);
        let packets: Vec<_> = (0..60).map(|_| packet(&mut numbers)).collect();
        let judge = |program: &ir::Program| {
            let mut world = first.clone();
            let outcomes: Vec<_> = packets
                .iter()
                .map(|packet| outcome(program, packet, &mut world))
                .map(|(ended, after)| (ended.map(|ended| (ended.verdict, ended.next)).ok(), after))
                .collect();
            (outcomes, world.contents())
        };
        let wanted = judge(&case.plain);
        let mut program = case.plain.clone();
        for round in 0..16 {
            let mut changed = false;
            for pass in PASSES {
                let before = program.clone();
                changed |= (pass.run)(&mut program);
                if before == program {
                    continue;
                }
                let name = format!("{}: {} in round {round}", case.program.name, pass.name);
                verify(&program).unwrap_or_else(|broken| panic!("{name}: {broken}\n{before}\n{program}"));
                assert!(judge(&program) == wanted, "{name}\n{before}\n{program}");
            }
            if !changed {
                break;
            }
            assert!(round < 15, "{}: no end", case.program.name);
        }
        assert_eq!(program, case.optimized, "{}", case.program.name);
    }
}

/// Stores to two maps stay in their order, for others see both.
#[test]
fn in_turn() {
    let cases = cases();
    let case = cases.iter().find(|case| case.program.name == "in_turn").unwrap();
    let insts = case.optimized.blocks.iter().flat_map(|block| &block.insts);
    let sizes: Vec<_> = insts
        .filter_map(|inst| match &inst.op {
            Op::Store { place: Place { space: Space::Map(_), bytes, .. }, .. } => Some(*bytes),
            _ => None,
        })
        .collect();
    assert_eq!(sizes, [4, 8, 4], "{}", case.optimized);
}

/// A compare-and-exchange compares with r0, whatever wrote it.
#[test]
fn compares_with_r0() {
    let bytes = compile(&root().join("engines/xdp/compiler/tests/objects/good.c"), &[]);
    let object = Object::read(&bytes).unwrap();
    let entry = object.entries.iter().find(|entry| entry.name == "compared").unwrap();
    let plain = built(&object, &object.program(entry).unwrap(), &Layout::plain(&object));
    for first in 0..4u8 {
        let verdict = if first & 1 == first >> 1 { 3 } else { u32::from(first & 1) };
        let (ended, _) = outcome(&plain, &[first; 14], &mut Plain::new(&object));
        assert_eq!(ended.unwrap().verdict, verdict, "{first}\n{plain}");
    }
}

/// How many instructions are left of each program: printed, and not more than there were.
#[test]
fn table() {
    let shown = std::env::var("PENSTOCK_XDP_SHOW").unwrap_or_default();
    println!("{:20} {:>6} {:>6} {:>6}", "program", "slots", "built", "left");
    for case in cases() {
        let mut program = case.plain.clone();
        let report = optimize(&mut program);
        let passes: Vec<_> = report.removed.iter().filter(|(_, count)| *count != 0).collect();
        println!(
            "{:20} {:>6} {:>6} {:>6}  {passes:?}",
            case.program.name,
            case.program.code.len(),
            report.before,
            report.after,
        );
        if shown.split(',').any(|name| name == case.program.name) {
            println!("{}\n{program}", case.plain);
        }
        assert!(report.after <= report.before && report.after == program.size());
    }
}

/// How many random programs are tried.
fn rounds() -> u64 {
    std::env::var("PENSTOCK_XDP_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(150)
}

/// Random programs give the same results here, before and after the passes, as in Linux, if bpf() is allowed.
#[test]
fn random_programs() {
    let bytes = compile(&root().join("engines/xdp/compiler/tests/objects/random.c"), &[]);
    let linux = allowed();
    let (mut refused, mut before, mut after) = (0, 0, 0);
    for seed in 1..=rounds() {
        let object = Object::read(&bytes).unwrap();
        let program = random::program(&object, seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)).unwrap();
        let checked = match check(&object, &program) {
            Ok(checked) => checked,
            // Too many paths.
            Err(error) => {
                refused += 1;
                println!("{seed}: {error}");
                continue;
            }
        };
        // Lookups in arrays are arithmetic, or calls, as the target can.
        let layout = if seed % 2 == 0 { Layout::plain(&object) } else { Layout::default() };
        let plain = build(&object, &program, &checked.facts, &layout).unwrap();
        verify(&plain).unwrap_or_else(|broken| panic!("{seed}: {broken}\n{plain}"));
        let mut optimized = plain.clone();
        optimize(&mut optimized);
        verify(&optimized).unwrap_or_else(|broken| panic!("{seed}: {broken}\n{optimized}"));
        before += plain.size();
        after += optimized.size();
        let mut numbers = Numbers(seed);
        let expanded = expanded(&object, &program, &plain);
        let case = Case { object, program, plain, optimized, expanded };
        let loaded = linux.then(|| {
            let maps = Maps::new(&case.object).unwrap();
            let program = loaded(&case.object, &maps, &case.program);
            let reason = || kernel::reason(&case.object, &maps, &case.program);
            let program = program.unwrap_or_else(|error| panic!("{seed}: {error}: {}", reason()));
            (maps, program)
        });
        let mut world = Plain::new(&case.object);
        let mut other = world.clone();
        for round in 0..12 {
            let packet = packet(&mut numbers);
            let before = world.clone();
            let (ours, ours_after) = outcome(&case.plain, &packet, &mut world);
            let verdict = ours.as_ref().map(|ours| ours.verdict).unwrap_or_else(|stop| panic!("{seed}: {stop}"));
            if let Some((_, program)) = &loaded {
                let theirs = kernel::run(program, &packet).unwrap();
                assert_eq!(verdict, theirs.0, "{seed}, round {round}: Linux\n{}", case.plain);
                assert!(ours_after == theirs.1, "{seed}, round {round}: Linux' packet");
            }
            let (then, then_after) = outcome(&case.optimized, &packet, &mut other);
            let forms = || format!("{seed}, round {round}\n{}\n{}", case.plain, case.optimized);
            assert_eq!(then.map(|then| then.verdict), Ok(verdict), "{}", forms());
            assert!(then_after == ours_after && world.contents() == other.contents(), "{}", forms());
            let mut third = before.clone();
            let (last, last_after) = outcome(&case.expanded[1], &packet, &mut third);
            let after = last_after == ours_after && world.contents() == third.contents();
            assert!(last.map(|last| last.verdict) == Ok(verdict) && after, "{}\n{}", forms(), case.expanded[1]);
        }
        if let Some((maps, _)) = &loaded {
            for (index, map) in (0..).zip(&case.object.maps) {
                for key in maps.keys(index, &map.shape) {
                    let theirs = maps.get(index, &map.shape, &key);
                    assert_eq!(world.get(index, &key), theirs, "{seed}: {} at {key:02x?}", map.name);
                }
            }
        }
    }
    println!("{refused} refused; {before} instructions became {after}");
    assert!(refused * 20 < rounds() && after < before);
}

/// The verifier of the form finds malformed programs.
#[test]
fn verify_refuses() {
    let cases = cases();
    let case = cases.iter().find(|case| case.program.name == "xdp1").unwrap();
    let refused = |what: &str, change: &dyn Fn(&mut ir::Program)| {
        let mut program = case.optimized.clone();
        change(&mut program);
        let broken = verify(&program).expect_err(what).to_string();
        assert!(broken.contains(what), "{broken}, not {what}");
    };
    let load = |program: &ir::Program| {
        let is_load = |inst: &ir::Inst| matches!(inst.op, Op::Load { .. });
        let mut blocks = program.blocks.iter().enumerate();
        blocks.find_map(|(block, found)| Some((block, found.insts.iter().position(is_load)?))).unwrap()
    };
    refused("defined twice", &|program| {
        let (block, inst) = load(program);
        let copy = program.blocks[block].insts[inst].clone();
        program.blocks[block].insts.push(copy);
    });
    refused("is not defined", &|program| {
        let (block, inst) = load(program);
        program.blocks[block].insts[inst].result = None;
    });
    refused("not there on all ways", &|program| {
        let (block, inst) = load(program);
        let moved = program.blocks[block].insts.remove(inst);
        program.blocks.last_mut().unwrap().insts.push(moved);
    });
    refused("before it is defined", &|program| {
        let block = program.blocks.iter_mut().max_by_key(|block| block.insts.len()).unwrap();
        block.insts.reverse();
    });
    refused("9 bytes at once", &|program| {
        let (block, inst) = load(program);
        if let Op::Load { place, .. } = &mut program.blocks[block].insts[inst].op {
            place.bytes = 9;
        }
    });
    refused("changes while the program runs", &|program| {
        let (block, inst) = load(program);
        if let Op::Load { place, .. } = &mut program.blocks[block].insts[inst].op {
            place.base = ir::Arg::Special(ir::Special::Data);
        }
    });
    refused("nothing leads to it", &|program| {
        let last = program.blocks.last().unwrap().clone();
        program.blocks.push(Block { params: vec![], ..last });
    });
    refused("takes 0 values, not 1", &|program| {
        let mut edges = program.blocks[0].end.edges_mut();
        edges[0].args.push(ir::Arg::Const(0));
    });
}

/// The packet's ends move within Linux' limits, with its error numbers; metadata goes along, and what is new at the
/// tail is 0.
#[test]
fn moved_ends() {
    let mut memory = Memory::new(&[7; 60]);
    let moves = [
        (Adjust::Meta, -6i64, -13),
        (Adjust::Meta, -256, -22),
        (Adjust::Meta, 4, -22),
        (Adjust::Meta, -8, 0),
        (Adjust::Head, 47, -22),
        (Adjust::Head, -209, -22),
        (Adjust::Tail, -47, -22),
        (Adjust::Tail, 3461, -22),
    ];
    for (what, by, result) in moves {
        assert_eq!(memory.adjust(what, by.cast_unsigned(), false).cast_signed(), result, "{what:?} {by}");
    }
    let at = memory.special(Special::DataMeta).unwrap();
    memory.write(at, &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
    assert_eq!(memory.adjust(Adjust::Head, 40, false), 0);
    assert_eq!(memory.adjust(Adjust::Tail, 4, false), 0);
    assert_eq!(memory.metadata(), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(memory.packet(), [[7; 20].as_slice(), &[0; 4]].concat());
}
