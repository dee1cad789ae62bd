// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The proof of rows: the back end proves all rows that it makes; this test changes rows, and the proof has to notice.
//!
//! A changed program that is still proven must do the same on all packets that are tried, by the interpreter of rows.
#![allow(clippy::unwrap_used)]

mod common;

use common::around::Around;
use common::helpers::{Reach, reach_of};
use common::packets::packet;
use common::{compile, programs, root};
use penstock_testing::Numbers;
use penstock_xdp_compiler::back::{self, Compiled, Options};
use penstock_xdp_compiler::check::check;
use penstock_xdp_compiler::helpers::Expanded;
use penstock_xdp_compiler::ir::{Layout, Memory};
use penstock_xdp_compiler::object::Object;
use penstock_xdp_compiler::prove::prove;
use penstock_xdp_compiler::random;
use penstock_xdp_compiler::rows::run::{Machine, Surroundings};
use penstock_xdp_compiler::rows::{Lanes, Row, decode};
use penstock_xdp_compiler::translate;

/// A program's rows for all numbers of lanes, its name and its object.
type Case = (Object, String, [(Lanes, Compiled); Lanes::ALL.len()]);

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |object: Object, program: &penstock_xdp_compiler::object::Program| {
        let Ok(checked) = check(&object, program) else { return };
        if reach_of(&checked.facts.helpers) < Reach::Rows {
            return;
        }
        let (form, Expanded { stack, .. }) =
            translate::form(&object, program, &checked.facts, &Layout::plain(&object)).unwrap();
        let rows = |lanes| (lanes, back::compile(&form, &Options { lanes, stack }).unwrap());
        cases.push((object, program.name.clone(), Lanes::ALL.map(rows)));
    };
    for path in programs() {
        let object = Object::read(&compile(&path, &[])).unwrap();
        if object.maps.iter().all(|map| map.inner.is_none()) {
            let program = object.program(&object.entries[0]).unwrap();
            add(object, &program);
        }
    }
    let bytes = compile(&root().join("engines/xdp/compiler/tests/objects/random.c"), &["-I", "."]);
    for seed in 0..20 {
        let object = Object::read(&bytes).unwrap();
        let program = random::program(&object, 0x9A7E + seed * 7919).unwrap();
        add(object, &program);
    }
    cases
}

/// All results of a program for some packets; None: it breaks a rule.
fn outcome(object: &Object, rows: &[Row], lanes: Lanes) -> Option<Vec<String>> {
    let mut numbers = Numbers(0x5EED_0005);
    let mut around = Around::new(object);
    let mut all = Vec::new();
    for _ in 0..12 {
        around.world.target = None;
        let surroundings = Surroundings { ifindex: 1, ..Surroundings::default() };
        let mut machine = Machine::new(rows, lanes, Memory::new(&packet(&mut numbers)), surroundings, &mut around);
        let done = machine.run().ok()?;
        let (memory, target) = (machine.memory, machine.target);
        // The target counts only for the verdict XDP_REDIRECT; the number of rows does not count.
        let target = target.or(around.world.target.map(|target| target as u8)).filter(|_| done.verdict == 4);
        all.push(format!(
            "{:?}",
            (done.verdict, done.next, target, memory.packet(), memory.metadata(), around.world.contents())
        ));
    }
    Some(all)
}

/// Changes a row's bits, or two rows; None: they are no rows then.
fn changed(words: &[Vec<u32>], numbers: &mut Numbers, lanes: Lanes) -> Option<Vec<Vec<u32>>> {
    let mut words = words.to_vec();
    let at = numbers.below(words.len());
    let lane = numbers.below(lanes.count());
    let other = numbers.below(lanes.count());
    let behind = (at + 1).min(words.len() - 1);
    let (low, high) = (1 + 2 * lane, 2 + 2 * lane);
    match numbers.below(8) {
        0 => words.swap(at, behind),
        // An operation moves one row on or back, or into another lane, or is removed.
        1 => {
            for part in [low, high] {
                (words[at][part], words[behind][part]) = (words[behind][part], words[at][part]);
            }
        }
        2 => {
            let (a, b) = (1 + 2 * lane, 1 + 2 * other);
            words[at].swap(a, b);
            words[at].swap(a + 1, b + 1);
        }
        3 => words[at][low..=high].fill(0),
        4 => words[at][0] ^= 1 << numbers.below(24),
        5 => words[at][high] ^= 1 << numbers.below(32),
        _ => words[at][low] ^= 1 << numbers.below(32),
    }
    words.iter().all(|row| decode(row, lanes).is_ok()).then_some(words)
}

/// `PENSTOCK_XDP_ROUNDS` sets the number of changes for each program and number of lanes.
#[test]
fn changed_rows_are_seen() {
    let rounds = std::env::var("PENSTOCK_XDP_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    let mut numbers = Numbers(0x0DD5_EED5);
    let (mut refused, mut proven) = (0, 0);
    for (object, name, compiled) in cases() {
        for (lanes, compiled) in compiled {
            let wanted = outcome(&object, &compiled.rows, lanes).unwrap();
            for round in 0..rounds {
                let Some(words) = changed(&compiled.words, &mut numbers, lanes).filter(|it| *it != compiled.words)
                else {
                    continue;
                };
                let rows: Vec<Row> = words.iter().map(|row| decode(row, lanes).unwrap()).collect();
                if prove(&compiled.code, &words, &compiled.claims, lanes).is_err() {
                    refused += 1;
                    continue;
                }
                proven += 1;
                let same = outcome(&object, &rows, lanes).is_some_and(|found| found == wanted);
                assert!(same, "{name}, {} lanes, round {round} is proven and does something else", lanes.count());
            }
        }
    }
    println!("{refused} refused, {proven} proven");
    assert!(refused > 1000, "{refused} refused");
}
