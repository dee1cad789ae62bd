// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! More lanes never make more rows, and never refuse a program that fewer lanes take: shipped programs, the corpus,
//! large programs, random ones.
#![allow(clippy::unwrap_used)]

mod common;

use common::{compile, corpus, programs, root};
use penstock_xdp_compiler::back::{self, BackError, Options};
use penstock_xdp_compiler::check::check;
use penstock_xdp_compiler::helpers::Expanded;
use penstock_xdp_compiler::ir::Layout;
use penstock_xdp_compiler::object::{Object, Program};
use penstock_xdp_compiler::rows::Lanes;
use penstock_xdp_compiler::{random, translate};

/// Rows of a program at each number of lanes. None: the checker refuses it.
fn rows(object: &Object, program: &Program) -> Option<Vec<Result<usize, BackError>>> {
    let facts = check(object, program).ok()?.facts;
    let (form, Expanded { stack, .. }) = translate::form(object, program, &facts, &Layout::plain(object)).unwrap();
    let of = |lanes| back::compile(&form, &Options { lanes, stack }).map(|compiled| compiled.rows.len());
    Some(Lanes::ALL.into_iter().map(of).collect())
}

/// The violation in the rows of a program at rising numbers of lanes.
fn worse(name: &str, rows: &[Result<usize, BackError>]) -> Option<String> {
    let counts: Vec<usize> = rows.iter().map(|rows| *rows.as_ref().unwrap_or(&usize::MAX)).collect();
    let falling = counts.windows(2).all(|pair| pair[1] <= pair[0]);
    (!falling).then(|| format!("{name}: {rows:?}"))
}

#[test]
fn programs_of_users() {
    let large = ["large.c", "good.c", "helpers.c", "inner.c"];
    let more = large.map(|name| root().join("engines/xdp/compiler/tests/objects").join(name));
    let mut found = Vec::new();
    for path in programs().into_iter().chain(corpus()).chain(more) {
        let object = Object::read(&compile(&path, &[])).unwrap();
        for entry in &object.entries {
            let program = object.program(entry).unwrap();
            let rows = rows(&object, &program).unwrap();
            if path.ends_with("large.c") {
                println!("{}: {rows:?}", program.name);
            }
            found.extend(worse(&program.name, &rows));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// `PENSTOCK_XDP_ROUNDS` sets their number.
#[test]
fn random_programs() {
    let rounds = std::env::var("PENSTOCK_XDP_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(100);
    let object = Object::read(&compile(&root().join("engines/xdp/programs/simple_firewall.c"), &[])).unwrap();
    let mut found = Vec::new();
    for seed in 0..rounds {
        let program = random::program(&object, 0x1A4E5 + seed * 7919).unwrap();
        let Some(rows) = rows(&object, &program) else { continue };
        found.extend(worse(&format!("seed {seed}"), &rows));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
