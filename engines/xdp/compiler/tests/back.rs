// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rows do what the program does: the interpreter of the intermediate form against that of rows, on the same packets, at each number of lanes.
//! (That they do what the code before scheduling does, the back end proves of all that it makes.)
#![allow(clippy::unwrap_used)]

mod common;

use common::around::Around;
use common::packets::packet;
use common::world::Plain;
use common::{Numbers, compile, programs, root};
use penstock_xdp_compiler::back::code::Src;
use penstock_xdp_compiler::back::{self, BackError, Compiled, Options};
use penstock_xdp_compiler::check::check;
use penstock_xdp_compiler::ir::{self, Adjust, Arg, Layout, Memory, Op, Place, Space, Special, build};
use penstock_xdp_compiler::maps::MapKind;
use penstock_xdp_compiler::object::{Object, Program};
use penstock_xdp_compiler::passes::optimize;
use penstock_xdp_compiler::random;
use penstock_xdp_compiler::rows::Lanes;
use penstock_xdp_compiler::rows::run::{Machine, Surroundings};

/// A program of an object, in the form.
struct Case {
    object: Object,
    name: String,
    slots: usize,
    stack: u32,
    helpers: Vec<u32>,
    maps: Vec<u32>,
    plain: ir::Program,
    optimized: ir::Program,
}

/// None: the checker refuses it.
fn case(object: Object, program: &Program) -> Option<Case> {
    let facts = check(&object, program).ok()?.facts;
    let plain = build(&object, program, &facts, &Layout::plain(&object)).unwrap();
    let mut optimized = plain.clone();
    optimize(&mut optimized);
    Some(Case {
        object,
        name: program.name.clone(),
        slots: program.code.len(),
        stack: facts.stack_depth.next_multiple_of(8),
        helpers: facts.helpers.iter().copied().collect(),
        maps: facts.maps.iter().copied().collect(),
        plain,
        optimized,
    })
}

fn cases() -> Vec<Case> {
    let mut paths = programs();
    paths.push(root().join("engines/xdp/compiler/tests/objects/good.c"));
    let mut cases = Vec::new();
    for path in paths {
        let bytes = compile(&path, &[]);
        for entry in &Object::read(&bytes).unwrap().entries {
            let object = Object::read(&bytes).unwrap();
            let program = object.program(entry).unwrap();
            cases.push(case(object, &program).unwrap());
        }
    }
    cases
}

/// Entries for the maps, of which packets find some.
fn fill(case: &Case, world: &mut Plain, numbers: &mut Numbers) {
    for (index, map) in (0..).zip(&case.object.maps) {
        let keys: Vec<Vec<u8>> = match map.shape.kind().unwrap() {
            MapKind::Array if map.section == ".maps" => (0..4u32).map(|key| key.to_le_bytes().to_vec()).collect(),
            MapKind::LpmTrie => (0..6u8).map(|n| vec![24 + n / 3 * 8, 0, 0, 0, 10, 0, n & 1, n / 2]).collect(),
            MapKind::Hash if map.shape.key_bytes == 4 => (0..6).map(|n| vec![10, 0, n & 1, n / 2]).collect(),
            _ => continue,
        };
        for key in keys {
            if key.len() != map.shape.key_bytes as usize {
                continue;
            }
            let value: Vec<u8> =
                (0..map.shape.value_bytes).map(|_| [0, 1, 2, numbers.next() as u8][numbers.below(4)]).collect();
            world.set(index, &key, &value, 0);
        }
    }
}

fn rows(case: &Case, program: &ir::Program, lanes: Lanes) -> Compiled {
    back::compile(program, &Options { lanes, stack: case.stack })
        .unwrap_or_else(|error| panic!("{}, {} lanes: {error}\n{program}", case.name, lanes.count()))
}

/// Runs both on the same packets. Gives the rows carried out for a packet, on average.
fn same(case: &Case, program: &ir::Program, compiled: &Compiled, lanes: Lanes, count: usize) -> f64 {
    let mut numbers = Numbers(0x5EED_0004);
    let mut world = Plain::new(&case.object);
    fill(case, &mut world, &mut numbers);
    let mut around = Around::new(&case.object);
    around.world = world.clone();
    let mut carried_out = 0;
    for round in 0..count {
        let packet = packet(&mut numbers);
        (world.target, around.world.target) = (None, None);
        let text = || {
            let rows: Vec<_> = compiled.rows.iter().enumerate().map(|(at, row)| format!("{at}: {row}")).collect();
            format!("{}, {} lanes, round {round}\n{program}\n{}", case.name, lanes.count(), rows.join("\n"))
        };
        let mut memory = Memory::new(&packet);
        let wanted = ir::run(program, &mut memory, &mut world).unwrap_or_else(|stop| panic!("{stop}: {}", text()));
        let surroundings = Surroundings { ifindex: 1, ..Surroundings::default() };
        let mut machine = Machine::new(&compiled.rows, lanes, Memory::new(&packet), surroundings, &mut around);
        let done = machine.run().unwrap_or_else(|error| panic!("{error}: {}", text()));
        let (after, target) = (machine.memory, machine.target);
        carried_out += done.rows;
        let verdict = if wanted.verdict > 4 { 0 } else { wanted.verdict };
        let tail_call = done.tail_call.map(|(map, index)| (map.into(), index));
        assert_eq!((done.verdict, tail_call), (verdict, wanted.tail_call), "{}", text());
        // Interfaces above 255 are none; who asks with flags asks the helper.
        let named = |target: u32| u8::try_from(target).unwrap_or(0);
        assert_eq!(target.or(around.world.target.map(named)), world.target.map(named), "{}", text());
        assert!(after.packet() == memory.packet() && after.metadata() == memory.metadata(), "{}", text());
        assert!(around.world.contents() == world.contents(), "{}", text());
    }
    carried_out as f64 / count as f64
}

/// Programs whose maps and helpers the tests have, and that do not look at the clock, which goes on with each look.
fn judged(case: &Case) -> bool {
    case.helpers.iter().all(|helper| [1, 2, 3, 6, 8, 12, 23, 25, 28, 44, 51, 54, 65].contains(helper))
        && !case.maps.iter().any(|map| case.object.maps[*map as usize].inner.is_some())
}

#[test]
fn as_the_form() {
    let cases = cases();
    for lanes in Lanes::ALL {
        for case in &cases {
            for program in [&case.plain, &case.optimized] {
                let compiled = rows(case, program, lanes);
                if judged(case) {
                    same(case, program, &compiled, lanes, 60);
                }
            }
        }
    }
}

/// What a request reaches is told by variables that it reads: others may hold something else by then.
#[test]
fn reach_of_requests() {
    for case in cases() {
        for lanes in Lanes::ALL {
            let compiled = rows(&case, &case.optimized, lanes);
            for node in compiled.code.blocks.iter().flat_map(|block| &block.nodes) {
                for (at, _) in node.reach.iter().filter_map(|touch| touch.at) {
                    let read = !matches!(at.base, Src::Var(_)) || node.reads().contains(&at.base);
                    assert!(read, "{}: {node:?}", case.name);
                }
            }
        }
    }
}

/// Bytes of the packet, loaded before it moves and stored behind that, in the other order.
fn many_values(count: u32) -> ir::Program {
    let arg = |number| Arg::Value(ir::ValueId(number));
    let place = |base, offset: u32| Place { space: Space::Packet, base: arg(base), offset: offset as i32, bytes: 1 };
    let mut ops = vec![Op::Read(Special::Data)];
    ops.extend((0..count).map(|at| Op::Load { place: place(0, at), signed: false, swap: false }));
    ops.push(Op::Adjust { what: Adjust::Head, by: Arg::Const(4) });
    ops.push(Op::Read(Special::Data));
    ops.extend((0..count).map(|at| Op::Store { place: place(count + 2, at), swap: false, value: arg(count - at) }));
    let result = |number, op: &Op| (!matches!(op, Op::Store { .. })).then_some(ir::ValueId(number));
    let inst = |(number, op)| ir::Inst { result: result(number, &op), op, slot: 0 };
    let insts = (0..).zip(ops).map(inst).collect();
    let end = ir::End::Exit(arg(count + 1));
    ir::Program { blocks: vec![ir::Block { params: vec![], insts, end, end_slot: 0 }], values: count + 3 }
}

/// What has no register is on the stack, if there is room.
#[test]
fn short_of_registers() {
    let program = many_values(80);
    let bytes = compile(&root().join("engines/xdp/programs/drop.c"), &[]);
    let object = Object::read(&bytes).unwrap();
    let (plain, optimized) = (program.clone(), program);
    let case =
        Case { object, name: "many".into(), slots: 0, stack: 0, helpers: vec![], maps: vec![], plain, optimized };
    for lanes in Lanes::ALL {
        let compiled = rows(&case, &case.plain, lanes);
        assert!(compiled.spilled > 0);
        let mut around = Around::new(&case.object);
        let packet: Vec<u8> = (0..120).map(|byte| byte ^ 0x55).collect();
        let mut memory = Memory::new(&packet);
        let wanted = ir::run(&case.plain, &mut memory, &mut around.world.clone()).unwrap().verdict;
        let surroundings = Surroundings::default();
        let mut machine = Machine::new(&compiled.rows, lanes, Memory::new(&packet), surroundings, &mut around);
        assert_eq!(machine.run().unwrap().verdict, wanted);
        assert_eq!(machine.memory.packet(), memory.packet());
        let error = back::compile(&case.plain, &Options { lanes, stack: 512 }).unwrap_err();
        assert_eq!(error, BackError::NoRoom { free: 0, stack: 512 });
    }
}

/// Random programs, as they are and optimized. `PENSTOCK_XDP_ROUNDS` says how many.
#[test]
fn random_programs() {
    let rounds = std::env::var("PENSTOCK_XDP_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(40);
    let sources =
        ["xdp1.c", "simple_firewall.c"].map(|name| compile(&root().join("engines/xdp/programs").join(name), &[]));
    let mut judged_programs = 0;
    for seed in 0..rounds {
        let object = Object::read(&sources[seed as usize % sources.len()]).unwrap();
        let program = random::program(&object, 0x5EED + seed * 7919).unwrap();
        let Some(case) = case(object, &program).filter(judged) else { continue };
        judged_programs += 1;
        for lanes in Lanes::ALL {
            for program in [&case.plain, &case.optimized] {
                let compiled = rows(&case, program, lanes);
                same(&case, program, &compiled, lanes, 8);
            }
        }
    }
    assert!(judged_programs * 4 > rounds, "{judged_programs} of {rounds}");
}

/// Rows of the shipped programs: printed, and no more than what is aimed at.
#[test]
fn table() {
    let goals = [("xdp1", 24), ("xdp2", 30), ("xdp_adjust_tail", 40), ("router_ipv4", 46), ("rxq_info", 30)];
    let more = [("tx_ip_tunnel", 90), ("redirect_map", 14), ("simple_firewall", 24), ("load_balancer", 88)];
    let goals: Vec<_> = goals.into_iter().chain(more).collect();
    let shown = std::env::var("PENSTOCK_XDP_SHOW").unwrap_or_default();
    println!("program: slots, instructions, rows at 1, 2, 4, 8 lanes, operations, rows a packet, spilled at 4");
    let mut missed = Vec::new();
    for case in cases() {
        let all: Vec<_> = Lanes::ALL.iter().map(|lanes| rows(&case, &case.optimized, *lanes)).collect();
        let counts: Vec<_> = all.iter().map(|compiled| compiled.rows.len()).collect();
        let four = &all[2];
        let average = if judged(&case) { same(&case, &case.optimized, four, Lanes::FOUR, 200) } else { 0.0 };
        println!(
            "{:20} {:>5} {:>5}  {counts:?} {:>5} {average:>6.1} {}",
            case.name,
            case.slots,
            case.optimized.size(),
            four.operations(),
            four.spilled
        );
        if shown == case.name {
            println!("{}", case.optimized);
            four.rows.iter().enumerate().for_each(|(at, row)| println!("{at:3}: {row}"));
        }
        if let Some((_, goal)) = goals.iter().find(|(name, goal)| *name == case.name && counts[2] > *goal) {
            missed.push((case.name.clone(), counts[2], *goal));
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}
