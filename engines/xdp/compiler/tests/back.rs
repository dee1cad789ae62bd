// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rows do what the program does: the interpreter of the intermediate form against that of rows, on the same packets,
//! at each number of lanes. (The back end itself proves, for all its output, that rows do what the code before
//! scheduling does.)
#![allow(clippy::panic, clippy::unwrap_used)]

mod common;

use common::around::Around;
use common::helpers::{Reach, reach, reach_of};
use common::packets::packet;
use common::world::{Plain, row_of};
use common::{compile, corpus, programs, root};
use penstock_testing::Numbers;
use penstock_xdp_compiler::back::code::Src;
use penstock_xdp_compiler::back::{self, BackError, Compiled, Options};
use penstock_xdp_compiler::check::{HELPERS, check};
use penstock_xdp_compiler::helpers::{self, expand};
use penstock_xdp_compiler::ir::{self, Adjust, Arg, Layout, Memory, Next, Op, Place, Space, Special, build, verify};
use penstock_xdp_compiler::maps::MapKind;
use penstock_xdp_compiler::object::{Object, Program};
use penstock_xdp_compiler::passes::optimize;
use penstock_xdp_compiler::random;
use penstock_xdp_compiler::rows::run::{Machine, Surroundings};
use penstock_xdp_compiler::rows::{Asks, Do, Lanes};
use penstock_xdp_compiler::translate;

/// A program of an object, in the form.
struct Case {
    object: Object,
    name: String,
    slots: usize,
    helpers: Vec<u32>,
    plain: Form,
    optimized: Form,
}

/// A program, and the same with its helpers' code, of which rows are made.
struct Form {
    program: ir::Program,
    expanded: ir::Program,
    /// Bytes of the stack that it uses.
    stack: u32,
}

/// None: the checker refuses it.
fn case(object: Object, program: &Program) -> Option<Case> {
    let facts = check(&object, program).ok()?.facts;
    let layout = Layout::plain(&object);
    let plain = build(&object, program, &facts, &layout).unwrap();
    let mut optimized = plain.clone();
    optimize(&mut optimized);
    // As if packets had metadata, and as the compiler does it.
    let around = helpers::Around { object: &object, source: program, facts: &facts, layout: &layout, metadata: true };
    let mut expanded = plain.clone();
    let stack = expand(&mut expanded, &around, facts.stack_depth.next_multiple_of(8)).stack;
    let plain = Form { program: plain, expanded, stack };
    let (expanded, helpers::Expanded { stack, .. }) = translate::form(&object, program, &facts, &layout).unwrap();
    let optimized = Form { program: optimized, expanded, stack };
    for form in [&plain, &optimized] {
        verify(&form.expanded).unwrap_or_else(|broken| panic!("{broken}\n{}", form.expanded));
    }
    Some(Case {
        object,
        name: program.name.clone(),
        slots: program.code.len(),
        helpers: facts.helpers.iter().copied().collect(),
        plain,
        optimized,
    })
}

fn cases() -> Vec<Case> {
    let mut paths: Vec<_> = programs().into_iter().chain(corpus()).collect();
    paths.extend(
        ["good.c", "helpers.c", "inner.c"].map(|name| root().join("engines/xdp/compiler/tests/objects").join(name)),
    );
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
            MapKind::Devmap | MapKind::DevmapHash => (1..7u32).map(|key| key.to_le_bytes().to_vec()).collect(),
            MapKind::LpmTrie => (0..6u8).map(|n| vec![24 + n / 3 * 8, 0, 0, 0, 10, 0, n & 1, n / 2]).collect(),
            MapKind::Hash if map.shape.key_bytes == 4 => (0..6).map(|n| vec![10, 0, n & 1, n / 2]).collect(),
            _ => continue,
        };
        for key in keys {
            if key.len() != map.shape.key_bytes as usize {
                continue;
            }
            let mut value: Vec<u8> =
                (0..map.shape.value_bytes).map(|_| [0, 1, 2, numbers.next() as u8][numbers.below(4)]).collect();
            // Interface 0 means none, and rows know the interfaces below 256.
            if matches!(map.shape.kind(), Ok(MapKind::Devmap | MapKind::DevmapHash)) {
                value[..4].copy_from_slice(&(1 + numbers.below(255) as u32).to_le_bytes());
            }
            world.set(index, &key, &value, 0);
        }
    }
}

fn rows(case: &Case, form: &Form, lanes: Lanes) -> Compiled {
    back::compile(&form.expanded, &Options { lanes, stack: form.stack })
        .unwrap_or_else(|error| panic!("{}, {} lanes: {error}\n{}", case.name, lanes.count(), form.expanded))
}

/// Runs both on the same packets. Gives the rows carried out for a packet, on average.
fn same(case: &Case, form: &Form, compiled: &Compiled, lanes: Lanes, count: usize) -> f64 {
    let program = &form.program;
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
            let (lanes, expanded) = (lanes.count(), &form.expanded);
            format!("{}, {lanes} lanes, round {round}\n{program}\n{expanded}\n{}", case.name, rows.join("\n"))
        };
        let mut memory = Memory::new(&packet);
        let wanted = ir::run(program, &mut memory, &mut world).unwrap_or_else(|stop| panic!("{stop}: {}", text()));
        let surroundings = Surroundings { ifindex: 1, ..Surroundings::default() };
        let mut machine = Machine::new(&compiled.rows, lanes, Memory::new(&packet), surroundings, &mut around);
        let done = machine.run().unwrap_or_else(|error| panic!("{error}: {}", text()));
        let (after, target) = (machine.memory, machine.target);
        carried_out += done.rows;
        let verdict = if wanted.verdict > 4 { 0 } else { wanted.verdict };
        let next = wanted.next.map(|next| match next {
            Next::Entry { map, index } => row_of(map, index),
            Next::Row(row) => row,
        });
        assert_eq!((done.verdict, done.next), (verdict, next), "{}", text());
        // Interfaces above 255 do not exist; requests with flags go to the helper.
        let named = |target: u32| u8::try_from(target).unwrap_or(0);
        assert_eq!(target.or(around.world.target.map(named)), world.target.map(named), "{}", text());
        assert!(after.packet() == memory.packet() && after.metadata() == memory.metadata(), "{}", text());
        assert!(around.world.contents() == world.contents(), "{}", text());
    }
    carried_out as f64 / count as f64
}

/// Whether rows are held against the form.
fn judged(case: &Case) -> bool {
    reach_of(&case.helpers) >= Reach::Rows
}

/// The tests name a reach for each helper.
#[test]
fn no_helper_is_forgotten() {
    let reached = HELPERS.iter().filter(|helper| reach(helper.number) >= Reach::Rows);
    assert!(reached.count() > HELPERS.len() / 2);
}

#[test]
fn as_the_form() {
    let cases = cases();
    for lanes in Lanes::ALL {
        for case in &cases {
            for form in [&case.plain, &case.optimized] {
                let compiled = rows(case, form, lanes);
                if judged(case) {
                    same(case, form, &compiled, lanes, 60);
                }
            }
        }
    }
}

/// The variables that bound a request's accesses are among those that it reads: other variables may have changed by
/// then.
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

/// If a window can hold a key completely, it does: the engine does not have to request it.
#[test]
fn keys_in_windows() {
    let whole = ["simple_firewall", "router_ipv4", "blocklist", "blocklist_copies", "five_tuple", "long_keys", "macs"];
    for case in cases().iter().filter(|case| whole.contains(&case.name.as_str()) || case.name == "headers_as_key") {
        for lanes in Lanes::ALL {
            let compiled = rows(case, &case.optimized, lanes);
            for node in compiled.code.blocks.iter().flat_map(|block| &block.nodes) {
                let Do::Request { asks, .. } = &node.op else { continue };
                if let Asks::Lookup { key, .. } | Asks::Update { key, .. } | Asks::Delete { key, .. } = asks {
                    assert_eq!(key.is_some(), whole.contains(&case.name.as_str()), "{}: {node:?}", case.name);
                }
            }
        }
    }
}

/// Bytes of the packet, loaded before it moves and stored afterwards, in the other order.
fn many_values(count: u32) -> ir::Program {
    let arg = |number| Arg::Value(ir::ValueId(number));
    let place = |base, offset: u32| Place { space: Space::Packet, base: arg(base), offset: offset as i32, bytes: 1 };
    let mut ops = vec![Op::Read(Special::Data)];
    ops.extend((0..count).map(|at| Op::Load { place: place(0, at), signed: false, swap: false }));
    ops.push(Op::Adjust { what: Adjust::Head, by: Arg::Const(4), bare: false });
    ops.push(Op::Read(Special::Data));
    ops.extend((0..count).map(|at| Op::Store { place: place(count + 2, at), swap: false, value: arg(count - at) }));
    let result = |number, op: &Op| (!matches!(op, Op::Store { .. })).then_some(ir::ValueId(number));
    let inst = |(number, op)| ir::Inst { result: result(number, &op), op, slot: 0 };
    let insts = (0..).zip(ops).map(inst).collect();
    let end = ir::End::Exit(arg(count + 1));
    ir::Program { blocks: vec![ir::Block { params: vec![], insts, end, end_slot: 0 }], values: count + 3 }
}

/// Values without a register live on the stack, if there is room.
#[test]
fn short_of_registers() {
    let program = many_values(80);
    let bytes = compile(&root().join("engines/xdp/programs/drop.c"), &[]);
    let object = Object::read(&bytes).unwrap();
    for lanes in Lanes::ALL {
        let compiled = back::compile(&program, &Options { lanes, stack: 0 }).unwrap();
        assert!(compiled.spilled > 0);
        let mut around = Around::new(&object);
        let packet: Vec<u8> = (0..120).map(|byte| byte ^ 0x55).collect();
        let mut memory = Memory::new(&packet);
        let wanted = ir::run(&program, &mut memory, &mut around.world.clone()).unwrap().verdict;
        let surroundings = Surroundings::default();
        let mut machine = Machine::new(&compiled.rows, lanes, Memory::new(&packet), surroundings, &mut around);
        assert_eq!(machine.run().unwrap().verdict, wanted);
        assert_eq!(machine.memory.packet(), memory.packet());
        let error = back::compile(&program, &Options { lanes, stack: 512 }).unwrap_err();
        assert!(matches!(error, BackError::NoRoom { free: 0, stack: 512, .. }), "{error}");
    }
}

/// If a program finds no room at one number of lanes, the message lists the numbers at which it does.
#[test]
fn other_numbers_of_lanes() {
    let options = |lanes| Options { lanes, stack: 512 };
    let rows = |lanes, count| back::compile(&many_values(count), &options(lanes)).map(|compiled| compiled.rows.len());
    // Three lanes have 48 registers, four have 32, eight have 64.
    let three = rows(Lanes::new(3).unwrap(), 40).unwrap();
    let eight = rows(Lanes::new(8).unwrap(), 40).unwrap();
    let error = rows(Lanes::FOUR, 40).unwrap_err().to_string();
    assert!(
        error.ends_with(&format!("; with 3 lanes it fits in {three} rows, with 8 lanes it fits in {eight} rows")),
        "{error}"
    );
    assert!(rows(Lanes::FOUR, 80).unwrap_err().to_string().ends_with("or less than 512 bytes of stack"));
}

/// Random programs, unchanged and optimized. `PENSTOCK_XDP_ROUNDS` sets their number.
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
            for form in [&case.plain, &case.optimized] {
                let compiled = rows(&case, form, lanes);
                same(&case, form, &compiled, lanes, 8);
            }
        }
    }
    assert!(judged_programs * 4 > rounds, "{judged_programs} of {rounds}");
}

/// Rows of the shipped programs: printed, and not above the goals.
#[test]
fn table() {
    let goals = [("xdp1", 24), ("xdp2", 30), ("xdp_adjust_tail", 40), ("router_ipv4", 46), ("rxq_info", 30)];
    let more = [("tx_ip_tunnel", 90), ("redirect_map", 14), ("simple_firewall", 24), ("load_balancer", 88)];
    let goals: Vec<_> = goals.into_iter().chain(more).collect();
    let shown = std::env::var("PENSTOCK_XDP_SHOW").unwrap_or_default();
    let show_at = std::env::var("PENSTOCK_XDP_LANES").ok().and_then(|lanes| Lanes::new(lanes.parse().ok()?));
    println!("program: slots, instructions, rows at 1, 2, 3, 4, 8 lanes, rows a packet, operations at 4");
    let mut missed = Vec::new();
    for case in cases() {
        let all: Vec<_> = Lanes::ALL.iter().map(|lanes| rows(&case, &case.optimized, *lanes)).collect();
        let counts: Vec<_> = all.iter().map(|compiled| compiled.rows.len()).collect();
        let at = |lanes| Lanes::ALL.iter().position(|it| *it == lanes).unwrap();
        let averages = Lanes::ALL.into_iter().zip(&all).filter(|_| judged(&case)).map(|(lanes, compiled)| {
            let average = same(&case, &case.optimized, compiled, lanes, 200);
            format!("{average:.1}")
        });
        println!(
            "{:20} {:>5} {:>5}  {counts:?}  {}  {:>5}",
            case.name,
            case.slots,
            case.optimized.expanded.size(),
            averages.collect::<Vec<_>>().join(" "),
            all[at(Lanes::FOUR)].operations(),
        );
        if shown == case.name {
            println!("{}", case.optimized.expanded);
            let rows = &all[at(show_at.unwrap_or(Lanes::FOUR))].rows;
            rows.iter().enumerate().for_each(|(at, row)| println!("{at:3}: {row}"));
        }
        let rows = counts[at(Lanes::FOUR)];
        if let Some((_, goal)) = goals.iter().find(|(name, goal)| *name == case.name && rows > *goal) {
            missed.push((case.name.clone(), rows, *goal));
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}
