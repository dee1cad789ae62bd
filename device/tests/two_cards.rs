// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Several simulated cards of one model live beside each other, and end in any order.
#![allow(clippy::unwrap_used)]

use penstock_device::{Design, Device, Root, Target, open, regs};

#[test]
fn cards_end_in_any_order() {
    let root = Root::find().unwrap();
    let design = Design::read(&root.join("designs/one-unit.toml")).unwrap();
    let card = || open(&root, &design, Target::Rtl, &mut |_| {}).unwrap();
    let cycle = |card: &mut Box<dyn Device>| card.read(regs::CARD_CYCLES_L).unwrap();

    let (mut first, mut second) = (card(), card());
    let start = cycle(&mut first);
    second.advance(1000).unwrap();
    assert!(cycle(&mut first) < start + 100, "the second card's cycles are not the first's");
    drop(second);
    first.advance(1000).unwrap();
    assert!(cycle(&mut first) >= start + 1000);

    let mut third = card();
    third.advance(10).unwrap();
    assert!(cycle(&mut first) >= start + 1000, "a new card leaves the others as they are");
    third.advance(10).unwrap();
    drop(third);
    drop(first);
}
