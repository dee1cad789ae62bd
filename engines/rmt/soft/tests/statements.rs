// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Single statements, on frames whose answers are worked out by hand.

#![allow(clippy::expect_used, clippy::panic)]

use penstock_rmt::Block;
use penstock_rmt_compiler::ir::{ActionCall, Entry, Match};
use penstock_unit::{Block as _, Entering, Verdict};

const WIDE: u128 = 0x0011_2233_4455_6677_8899_AABB_CCDD_EEFF;

/// A block whose table sets frames of kind 1, ends ingress for frames of kind 2, and replaces the first header of
/// frames of kind 4.
fn block() -> Block {
    let compiled = penstock_rmt_compiler::compile("statements.p4", include_str!("statements.p4"));
    let program = compiled.unwrap_or_else(|faults| panic!("{faults}")).program;
    let action = |end: &str| program.actions.iter().position(|of| of.name.ends_with(end)).expect("it is there");
    let (set, stop, replace) = (action(".set"), action(".stop"), action(".replace"));
    let mut block = Block::default();
    block.load(0, program.into()).expect("there is native code for it");
    let tenant = block.tenant_mut(0).expect("the program is loaded");
    for (kind, action, args) in [(1, set, vec![0x5A, WIDE]), (2, stop, vec![]), (4, replace, vec![])] {
        tenant.insert(0, &Entry::new(vec![Match::Exact(kind)], 0, ActionCall { action, args })).expect("it fits");
    }
    block
}

/// A frame of a kind whose varbit has a length in bits; it has some bytes behind its headers.
fn frame(kind: u8, length: u8) -> Vec<u8> {
    let mut frame = vec![kind, length];
    frame.extend([0xCC; 16]);
    frame.extend((0..length / 8 + 20).map(|byte| 0x10 + byte));
    frame
}

fn run(frame: &[u8]) -> (Verdict, Vec<u8>) {
    let mut frame = frame.to_vec();
    let verdict = block().carry(&mut frame, &mut 0, Entering::default(), &mut Vec::new());
    (verdict, frame)
}

#[test]
fn an_action_has_its_arguments_and_a_switch_one_case() {
    for length in [0, 8, 64] {
        let mut expected = frame(1, length);
        expected[0] = 0xEE;
        expected[1] |= 0x40;
        expected[2..18].copy_from_slice(&WIDE.to_be_bytes());
        let at = 18 + usize::from(length) / 8;
        expected[at] = expected[at] & 0xF0 | 0x5;
        expected[at + 1] = expected[at + 1] & 0xF | 0xA0;
        assert_eq!(run(&frame(1, length)), (Verdict::Port(0), expected));
    }
    let mut expected = frame(3, 8);
    (expected[0], expected[1]) = (0xEE, 0x88);
    assert_eq!(run(&frame(3, 8)), (Verdict::Port(0), expected));
}

#[test]
fn exit_in_an_action_of_a_table_ends_ingress() {
    assert_eq!(run(&frame(2, 8)), (Verdict::Port(0), frame(2, 8)));
}

#[test]
fn a_header_takes_the_place_of_another_one() {
    let before = frame(4, 8);
    let mut expected = vec![0; 15];
    expected.extend([1, 0xAB, 0xCD]);
    expected.extend(&before[18..]);
    assert_eq!(run(&before), (Verdict::Port(0), expected));
}

/// `error` of core.p4.
#[test]
fn a_parser_ends_with_its_error() {
    let leaves = |frame: &[u8]| run(frame).0;
    assert_eq!(leaves(&frame(3, 64)), Verdict::Port(0));
    assert_eq!(leaves(&frame(3, 72)), Verdict::Port(4), "the varbit is too long");
    assert_eq!(leaves(&frame(3, 12)), Verdict::Port(6), "the varbit has half a byte");
    assert_eq!(leaves(&frame(3, 64)[..28]), Verdict::Port(0), "the frame ends behind its headers");
    assert_eq!(leaves(&frame(3, 64)[..27]), Verdict::Port(1), "the frame ends in its headers");
    assert_eq!(leaves(&frame(9, 0)), Verdict::Port(5), "the parser has no end");
}
