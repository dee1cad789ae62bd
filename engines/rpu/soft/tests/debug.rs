// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Units that a debugger halts: their behaviour, their state, and that the others go on.
#![allow(clippy::unwrap_used)]

mod common;

use common::*;
use penstock_rpu::regs as rpu_regs;
use penstock_shell::{Card, Cause, Source, regs};

const IMEM: u32 = 0x0200_0000;
const EBREAK: u32 = 0x0010_0073;
/// Values of HALTED.
const RUNS: u32 = 0;
const REQUEST: u32 = 1;
const AT_EBREAK: u32 = 2;
const STEPPED: u32 = 3;

/// A unit under a debugger.
struct Debugger<'a> {
    card: &'a mut Card,
    unit: u8,
}

impl Debugger<'_> {
    fn read(&mut self, offset: u32) -> u32 {
        self.card.read_unit(self.unit, offset).unwrap()
    }

    fn write(&mut self, offset: u32, value: u32) {
        self.card.write_unit(self.unit, offset, value).unwrap();
    }

    fn state(&mut self) -> (u32, u32) {
        (self.read(regs::UNIT_HALTED), self.read(regs::UNIT_PC))
    }

    fn step(&mut self) {
        self.write(regs::UNIT_STEP, 1);
    }

    /// One instruction in place of that at the PC.
    fn carry_out(&mut self, word: u32) {
        let pc = self.read(regs::UNIT_PC);
        let before = self.read(IMEM + pc);
        self.write(IMEM + pc, word);
        self.step();
        assert_eq!(self.state(), (STEPPED, pc + 4));
        self.write(IMEM + pc, before);
        self.write(regs::UNIT_PC, pc);
    }

    fn register(&mut self, number: u32) -> u32 {
        self.carry_out(
            number << 20 | rpu_regs::RPU_CORE_DATA >> 5 << 25 | (rpu_regs::RPU_CORE_DATA & 31) << 7 | 0x2023,
        );
        self.read(regs::UNIT_DATA)
    }

    fn set_register(&mut self, number: u32, value: u32) {
        self.write(regs::UNIT_DATA, value);
        self.carry_out(rpu_regs::RPU_CORE_DATA << 20 | number << 7 | 0x2003);
    }
}

fn push(card: &mut Card, frames: usize) {
    (0..frames).for_each(|_| card.push(Source::Ethernet(0), &[7; 100]).unwrap());
}

fn left(card: &mut Card) -> usize {
    card.poll().iter().count()
}

#[test]
fn a_unit_that_waits_halts_at_its_load_and_is_looked_at_there() {
    let mut card = card(2, 2, ROUND_ROBIN, &program("forward.c"));
    card.settle();
    let mut unit = Debugger { card: &mut card, unit: 1 };
    unit.write(regs::UNIT_HALT, 1);
    let (halted, pc) = unit.state();
    let recv = unit.read(IMEM + pc);
    assert_eq!((halted, recv & !0xF80), (REQUEST, rpu_regs::RPU_CORE_RECV << 20 | 0x2003));
    let own: Vec<u32> = (0..32).map(|number| unit.register(number)).collect();
    for number in 1..32 {
        unit.set_register(number, number * 0x0101_0101);
    }
    for number in 1..32 {
        assert_eq!(unit.register(number), number * 0x0101_0101);
    }
    unit.set_register(0, 5);
    assert_eq!(unit.register(0), 0);
    (1..32).for_each(|number| unit.set_register(number, own[number as usize]));
    assert_eq!(unit.state(), (STEPPED, pc));

    // A step waits for a frame, or until HALT is written again; it takes no interrupt.
    unit.write(regs::UNIT_POKE, 1);
    unit.step();
    assert_eq!(unit.state(), (RUNS, pc));
    unit.write(regs::UNIT_HALT, 1);
    assert_eq!(unit.state(), (REQUEST, pc));
    unit.step();
    push(unit.card, 2);
    assert_eq!(left(unit.card), 1);
    assert_eq!(unit.state(), (STEPPED, pc + 4));
    assert_eq!(unit.register(recv >> 7 & 31), 100 | 1 << 16);
    unit.write(regs::UNIT_HALT, 0);
    assert_eq!((unit.state().0, unit.read(regs::UNIT_STATUS)), (RUNS, 0));
    push(&mut card, 10);
    assert_eq!((left(&mut card), card.lost(), card.faults().len()), (11, 0, 0));
}

#[test]
fn ebreak_halts_only_when_it_is_told_to() {
    let mut card = card(2, 1, ROUND_ROBIN, &program("forward.c"));
    card.settle();
    let mut unit = Debugger { card: &mut card, unit: 0 };
    unit.write(regs::UNIT_HALT, 1);
    let place = unit.state().1 + 4;
    let own = unit.read(IMEM + place);
    unit.write(regs::UNIT_HALT, 2);
    for _ in 0..3 {
        unit.write(IMEM + place, EBREAK);
        push(unit.card, 12);
        unit.card.settle();
        assert_eq!(unit.state(), (AT_EBREAK, place));
        // Not executed, and not to be passed.
        unit.step();
        assert_eq!(unit.state(), (AT_EBREAK, place));
        unit.write(IMEM + place, own);
        // After 20,000 steps in place the unit does not count as hung.
        for _ in 0..20_000 {
            unit.carry_out(0x13);
        }
        assert!(unit.read(regs::UNIT_HELD_CYCLES) < 100 && unit.card.faults().is_empty());
        unit.step();
        assert_eq!(unit.state(), (STEPPED, place + 4));
        unit.write(regs::UNIT_HALT, 2);
    }
    assert_eq!(left(unit.card), 36);
    // Otherwise it is an exception.
    unit.write(IMEM + place, EBREAK);
    unit.write(regs::UNIT_HALT, 0);
    push(unit.card, 12);
    unit.card.settle();
    assert_eq!((unit.read(regs::UNIT_DEBUG_OUT_L), unit.read(regs::UNIT_DEBUG_OUT_H)), (place, 3));
}

#[test]
fn a_halt_outlasts_a_reset() {
    let mut card = card(2, 2, ROUND_ROBIN, &program("forward.c"));
    let mut unit = Debugger { card: &mut card, unit: 0 };
    unit.write(regs::UNIT_RESET, 1);
    unit.write(regs::UNIT_HALT, 1);
    assert_eq!(unit.state(), (RUNS, 0));
    unit.card.write(regs::CARD_UNIT_FLUSH, 1).unwrap();
    unit.write(regs::UNIT_RESET, 0);
    assert_eq!(unit.state(), (REQUEST, 0));
    let instructions = unit.card.steps();
    push(unit.card, 5);
    assert_eq!(left(unit.card), 5, "the other unit goes on");
    unit.step();
    assert!(unit.state().1 > 4 && unit.card.steps() > instructions);
    unit.write(regs::UNIT_PC, 0x1_0007);
    assert_eq!(unit.state(), (STEPPED, 4), "modulo 64 KiB, whole words");
    unit.write(regs::UNIT_PC, 0);
    unit.write(regs::UNIT_HALT, 0);
    unit.write(regs::UNIT_PC, 0x20);
    assert_ne!(unit.state().1, 0x20, "only of a core that is halted");
    assert_eq!(free_slots(&mut card, 0), 32);
}

#[test]
fn frames_wait_for_a_unit_that_is_halted() {
    let mut card = card(2, 2, FLOW_HASH, &program("forward.c"));
    card.settle();
    all_flows_to(&mut card, 1);
    Debugger { card: &mut card, unit: 1 }.write(regs::UNIT_HALT, 1);
    let frame = [7; 100];
    let taken = (0..40).filter(|_| card.offer(Source::Ethernet(0), &frame).unwrap()).count();
    assert_eq!((taken, left(&mut card)), (31, 0));
    assert_eq!(stream_read(&mut card, 0, regs::CARD_STREAM_RX_FRAMES), 31);
    card.give_up_full();
    card.finish();
    let faults: Vec<_> = card.faults().iter().map(|fault| (fault.unit, fault.cause)).collect();
    assert_eq!((faults, card.dead(), card.lost()), (vec![(1, Cause::Halted)], 0, 0));
    // Pushed all the same, a frame is lost.
    card.push(Source::Ethernet(0), &frame).unwrap();
    assert_eq!((card.lost(), stream_read(&mut card, 0, regs::CARD_STREAM_RX_FRAMES)), (1, 32));
    Debugger { card: &mut card, unit: 1 }.write(regs::UNIT_HALT, 0);
    assert!(card.offer(Source::Ethernet(0), &frame).unwrap());
    let indices: Vec<u64> = card.poll().iter().map(|frame| frame.index).collect();
    assert_eq!(indices, (0..31).chain([32]).collect::<Vec<_>>());
}

#[test]
fn a_unit_that_is_debugged_may_take_as_long_as_it_likes() {
    let slow = "pn_init(); pn_desc_t d = pn_recv(); for (volatile int n = 0; n < 9000; n++); pn_send(d); pn_recv();";
    for ebreak_halts in [0, 2] {
        let mut card = card(2, 1, ROUND_ROBIN, &main_of(slow));
        card.settle();
        Debugger { card: &mut card, unit: 0 }.write(regs::UNIT_HALT, ebreak_halts);
        push(&mut card, 1);
        let sent: usize = (0..10).map(|_| left(&mut card)).sum();
        assert_eq!((sent, card.faults().len()), if ebreak_halts == 0 { (0, 1) } else { (1, 0) });
    }
}

#[test]
fn a_unit_that_hangs_can_be_stepped() {
    let mut card = card(2, 2, ROUND_ROBIN, &main_of("pn_init(); pn_recv(); for (volatile int n = 0;; n++);"));
    push(&mut card, 1);
    card.settle();
    assert_eq!(card.dead(), 1);
    let mut unit = Debugger { card: &mut card, unit: 0 };
    unit.write(regs::UNIT_HALT, 1);
    let places: Vec<u32> = (0..50)
        .map(|_| {
            unit.step();
            assert_eq!(unit.state().0, STEPPED);
            unit.state().1
        })
        .collect();
    assert_eq!(unit.card.faults().len(), 1, "it is told of once");
    let first = places[0];
    assert!(places.iter().filter(|place| **place == first).count() > 3 && places.iter().any(|place| *place != first));
}

#[test]
fn a_unit_that_is_let_go_while_its_step_waits_runs() {
    let mut card = card(2, 1, ROUND_ROBIN, &main_of("pn_init(); for (;;) pn_send(pn_recv() ^ pn_port(1));"));
    card.settle();
    let mut unit = Debugger { card: &mut card, unit: 0 };
    unit.write(regs::UNIT_HALT, 1);
    unit.write(regs::UNIT_STEP, 1);
    unit.write(regs::UNIT_HALT, 0);
    push(&mut card, 3);
    assert_eq!(left(&mut card), 3);
}
