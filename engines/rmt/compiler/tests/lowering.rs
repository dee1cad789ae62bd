// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Where programs go in the machine.

use penstock_rmt_compiler::Compiled;

fn program(name: &str, text: &str) -> Compiled {
    penstock_rmt_compiler::compile(name, text).unwrap_or_else(|faults| panic!("{faults}"))
}

#[test]
fn the_router_takes_three_stages() {
    let compiled = program("router.p4", include_str!("../../programs/router.p4"));
    let lowered = compiled.lower(3).unwrap_or_else(|faults| panic!("{faults}"));
    println!("{}", lowered.show());
    assert!(!lowered.stateful());
    let faults = compiled.lower(2).expect_err("two stages are too few").to_string();
    assert!(faults.contains("needs 3 stages, the design has 2"), "{faults}");
}

#[test]
fn the_calculator_takes_one_stage() {
    let compiled = program("calculator.p4", include_str!("../../programs/calculator.p4"));
    let lowered = compiled.lower(1).unwrap_or_else(|faults| panic!("{faults}"));
    println!("{}", lowered.show());
    assert!(lowered.stateful());
}

#[test]
fn the_firewall_fits_five_stages() {
    let compiled = program("firewall.p4", include_str!("../../programs/firewall.p4"));
    let lowered = compiled.lower(5).unwrap_or_else(|faults| panic!("{faults}"));
    println!("{}", lowered.show());
}
