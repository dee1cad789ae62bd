// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A unit on its own: traps, interrupts, slots and memories, as firmware and host see them.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use penstock_rpu::{Unit, accelerator::Kinds, regs};
use penstock_rpu_compiler::{Options, compile};
use penstock_unit::{Answer, Arrival, Departure, Destination, Identity, Outside, Pause, Unit as _};

const IMEM: u32 = 0x0200_0000;
const DMEM: u32 = 0x0080_0000;
const PMEM: u32 = 0x0100_0000;
/// The address of the test programs' results.
const RESULTS: u32 = 0x0080_6000;

/// Records the unit's actions.
#[derive(Default)]
struct Notes {
    sent: Vec<(Departure, Vec<u8>)>,
    generated: Vec<(Destination, Vec<u8>)>,
    freed: Vec<u8>,
    declared: Option<(u8, u16)>,
}

impl Outside for Notes {
    fn send(&mut self, departure: Departure, bytes: &[u8]) -> Answer {
        self.sent.push((departure, bytes.to_vec()));
        Answer::Taken
    }
    fn generate(&mut self, destination: Destination, bytes: &[u8]) {
        self.generated.push((destination, bytes.to_vec()));
    }
    fn free(&mut self, slot: u8) {
        self.freed.push(slot);
    }
    fn declare(&mut self, count: u8, bytes: u16) {
        self.declared = Some((count, bytes));
    }
}

/// Unit 5 of a card of 8 units and 2 ports with a program from `path` in engines/rpu.
fn start(path: &str) -> Unit {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap();
    let firmware = compile(&[root.join("engines/rpu").join(path)], &Options::new(root)).unwrap();
    let mut unit = Unit::new(Identity { unit: 5, units: 8, ports: 2 }, Kinds::default());
    for (base, bytes) in [(IMEM, &firmware.imem), (DMEM, &firmware.dmem)] {
        for (word, offset) in bytes.chunks_exact(4).zip((0..).step_by(4)) {
            unit.host_write(base + offset, u32::from_le_bytes(word.try_into().unwrap()));
        }
    }
    unit.host_write(regs::UNIT_RESET, 0);
    unit
}

fn byte(unit: &mut Unit, address: u32) -> u8 {
    (unit.host_read(address).unwrap() >> (8 * (address & 3))) as u8
}

#[test]
fn rosebuds_hash_in_front_of_a_frame() {
    let mut unit = start("programs/hash_front.c");
    let mut notes = Notes::default();
    unit.run(&mut notes, 10_000);
    // The last of these slots has no header copy.
    for (slot, hash) in [(1, 0u32), (2, 0x0102_0304), (16, 0xFFFF_0000), (17, 0x8000_0001)] {
        let frame: Vec<u8> = (0..60 + slot).collect();
        unit.receive(slot, Arrival { port: 1, hash, ..Arrival::default() }, &frame);
        unit.run(&mut notes, 10_000);
        let (departure, bytes) = notes.sent.pop().unwrap();
        assert_eq!(departure.destination, Destination::Ethernet(0));
        assert_eq!(bytes, [&hash.to_le_bytes()[..], &frame].concat());
    }
    assert_eq!(unit.host_read(regs::UNIT_ERRORS).unwrap(), 0);
}

/// Orders of the numbers below `count`: each of them, by index.
fn order(count: usize, mut index: usize) -> Vec<u8> {
    let mut left: Vec<u8> = (0..count as u8).collect();
    let pick = |left_count| {
        let at = index % left_count;
        index /= left_count;
        at
    };
    (1..=count).rev().map(pick).map(|at| left.remove(at)).collect()
}

#[test]
fn a_descriptor_may_be_written_in_any_order_and_width() {
    let mut unit = start("tests/firmware/descriptors.c");
    let mut notes = Notes::default();
    unit.run(&mut notes, 10_000);
    // The first bytes of a frame are commands to the program (see its source).
    let mut ways: Vec<Vec<u8>> = (0..32).map(|way| vec![way]).collect();
    for (width, orders) in [(4u8, 2), (2, 24), (1, 40_320)] {
        for index in 0..orders {
            let stores = order(8 / usize::from(width), index).into_iter().flat_map(|part| [part * width, width]);
            ways.push([32, 8 / width].into_iter().chain(stores).collect());
        }
    }
    let slots = (1..=32).cycle();
    for ((number, way), slot) in ways.iter().enumerate().zip(slots) {
        let length = 60 + number % 100;
        let mut frame: Vec<u8> = (0..length).map(|byte| (byte * 37 + number) as u8).collect();
        frame[..way.len()].copy_from_slice(way);
        let port = (number & 1) as u8;
        unit.receive(slot, Arrival { port, ..Arrival::default() }, &frame);
        unit.run(&mut notes, 10_000);
        let (departure, bytes) = notes.sent.pop().unwrap();
        assert_eq!((departure.destination, &bytes[..]), (Destination::Ethernet(port ^ 1), &frame[4..]), "{way:?}");
        assert_eq!(notes.freed.pop(), Some(slot));
    }
    assert_eq!((notes.sent.len(), unit.host_read(regs::UNIT_ERRORS).unwrap()), (0, 0));
}

#[test]
fn all_widths_of_loads_and_stores_agree() {
    // The program checks its loads and reports a wrong one in a debug word; its stores leave with the frame.
    let mut unit = start("tests/firmware/memory.c");
    let mut notes = Notes::default();
    unit.run(&mut notes, 10_000);
    for length in [60u8, 64, 65, 127, 128, 129, 250] {
        let frame: Vec<u8> = (0..length).map(|byte| byte.wrapping_mul(37)).collect();
        unit.receive(1, Arrival { port: 1, ..Arrival::default() }, &frame);
        while unit.run(&mut notes, 10_000) == Pause::Limit {}
        let expected: Vec<u8> = frame.iter().map(|byte| byte.wrapping_add(1)).collect();
        let (departure, bytes) = notes.sent.pop().unwrap();
        assert_eq!((departure.destination, bytes), (Destination::Ethernet(0), expected));
        assert_eq!(unit.host_read(regs::UNIT_DEBUG_OUT_L).unwrap(), 0, "a wrong load");
    }
    assert_eq!(unit.host_read(regs::UNIT_ERRORS).unwrap(), 0);
}

#[test]
fn exceptions_and_csrs_are_as_the_specification_says() {
    let mut unit = start("soft/tests/firmware/traps.c");
    assert_eq!(unit.run(&mut Notes::default(), 100_000), Pause::Limit);
    let mut at = RESULTS;
    let mut next = || {
        at += 4;
        unit.host_read(at - 4).unwrap()
    };
    // cause and mtval of each; mstatus shows interrupts off, and that they were on
    let odd = DMEM + 0x3001;
    for (cause, tval) in
        [(11, 0), (3, 0), (2, 0), (2, 0), (4, odd + 1), (4, odd), (6, odd), (6, odd), (2, 0), (2, 0), (0, 0)]
    {
        assert_eq!([next(), next(), next(), next()], [cause, tval, 0x1880, 5]);
    }
    assert_eq!(next(), 0xC5A5_C5A5);
    assert_eq!([next(), next()], [4, 5], "mtvec, mhartid");
    assert_eq!([next(), next()], [0xF0F0_F0EF, 7], "mscratch");
    assert_eq!([next(), next()], [5, 1], "mcycleh, minstret");
    let (dividend, divisor) = (0x0123_4567_89AB_CDEFu64, 0x100_0001u64);
    let quotient = dividend / divisor;
    assert_eq!([next(), next(), next()], [quotient as u32, (quotient >> 32) as u32, (dividend % divisor) as u32]);
    assert_eq!([next(), next()], [-100_000_000_000i64 as u32, -7i32 as u32]);
    assert_eq!([next(), next(), next()], [11, 1, 1], "string functions");
    assert_eq!(next(), 0xE4D);
}

#[test]
fn interrupts_come_when_the_mask_lets_them() {
    for mask in [0x0, 0x1, 0x2, 0x10, 0x33, 0xFFFF] {
        let mut unit = start("soft/tests/firmware/interrupts.c");
        let mut notes = Notes::default();
        unit.host_write(regs::UNIT_DEBUG_IN_L, mask);
        // The program counts in the broadcast region.
        while matches!(unit.run(&mut notes, 1000), Pause::Limit | Pause::Listening) {}
        for round in 0..40 {
            // The second one raises its interrupt when the first one is taken.
            unit.receive(1 + 2 * (round % 16), Arrival::default(), &[0; 60]);
            unit.receive(2 + 2 * (round % 16), Arrival::default(), &[0; 60]);
            unit.host_write(regs::UNIT_POKE, 1);
            if round % 4 == 0 {
                unit.host_write(regs::UNIT_EVICT, 1);
            }
            while matches!(unit.run(&mut notes, 1000), Pause::Polling | Pause::Listening) && unit.active_slots() != 0 {}
            for _ in 0..100 {
                unit.run(&mut notes, 1000);
            }
        }
        while unit.run(&mut notes, 1000) == Pause::Listening {}
        let count = |unit: &mut Unit, bit: u32| unit.host_read(RESULTS + 4 * bit).unwrap();
        assert_eq!(notes.sent.len(), 80);
        assert_eq!(count(&mut unit, 16), 0, "registers changed by an interrupt");
        let timers = count(&mut unit, 0);
        let expected = unit.steps() / 500;
        if mask & 1 != 0 {
            assert!(u64::from(timers).abs_diff(expected) <= 1, "{timers} of {expected} timer interrupts");
        }
        // Masked flags are visible, and are acknowledged, when another interrupt is taken.
        for (bit, times) in [(1, 80), (4, 40), (5, 10)] {
            let counted = count(&mut unit, bit);
            if mask & 0x3F == 0 {
                assert_eq!(counted, 0);
            } else if mask >> bit & 1 != 0 {
                assert_eq!(counted, times, "mask {mask:#x}, bit {bit}");
            }
        }
        assert_eq!(unit.host_read(regs::UNIT_STATUS).unwrap(), 0);
        assert_eq!(unit.host_read(regs::UNIT_ERRORS).unwrap(), 0);
    }
}

#[test]
fn the_kits_handler_answers_an_evict() {
    let mut unit = start("programs/forward_compat.c");
    let mut notes = Notes::default();
    unit.run(&mut notes, 10_000);
    assert_eq!(unit.host_read(regs::UNIT_STATUS).unwrap(), 0);
    unit.host_write(regs::UNIT_POKE, 1);
    unit.run(&mut notes, 10_000);
    assert_eq!(unit.host_read(regs::UNIT_STATUS).unwrap(), 0);
    unit.host_write(regs::UNIT_EVICT, 1);
    unit.run(&mut notes, 10_000);
    assert_eq!(unit.host_read(regs::UNIT_STATUS).unwrap(), 2);
}

#[test]
fn a_recv_that_waits_gives_way_to_interrupts() {
    let mut unit = start("programs/forward.c");
    let mut notes = Notes::default();
    assert_eq!(unit.run(&mut notes, 10_000), Pause::Waiting);
    let at = unit.pc();
    for (register, status) in [(regs::UNIT_POKE, 0), (regs::UNIT_EVICT, 2)] {
        let before = unit.steps();
        unit.host_write(register, 1);
        assert_eq!(unit.run(&mut notes, 10_000), Pause::Waiting);
        assert!(unit.steps() > before, "the handler has run");
        assert_eq!(unit.host_read(regs::UNIT_STATUS).unwrap(), status);
        assert_eq!(unit.pc(), at, "the load comes again");
    }
    let frame: Vec<u8> = (0..60).collect();
    unit.receive(3, Arrival::default(), &frame);
    unit.run(&mut notes, 1000);
    let (departure, bytes) = notes.sent.pop().unwrap();
    assert_eq!((departure.destination, bytes), (Destination::Ethernet(1), frame));
}

#[test]
fn frames_lie_where_the_program_has_declared() {
    let mut unit = start("programs/forward.c");
    let mut notes = Notes::default();
    assert_eq!(unit.run(&mut notes, 10_000), Pause::Waiting);
    assert_eq!(notes.declared, Some((32, 32 * 1024 - 10)));
    for slot in 1..=32u8 {
        for length in [14usize, 63, 64, 127, 128, 129, 200, 16_384] {
            let header = 0x80_4000 + 256 * u32::from(slot - 1) + 10;
            let around: Vec<u8> = (header - 4..header + 132).map(|at| byte(&mut unit, at)).collect();
            let frame: Vec<u8> = (0..length).map(|i| (i * 7 + usize::from(slot)) as u8).collect();
            unit.receive(slot, Arrival::default(), &frame);
            let frame_at = PMEM + 32 * 1024 * u32::from(slot - 1) + 10;
            for (i, &expected) in frame.iter().enumerate() {
                assert_eq!(byte(&mut unit, frame_at + i as u32), expected);
            }
            for (i, &before) in (0..136).zip(&around) {
                let copied = i >= 4 && i < 4 + length.min(128);
                assert_eq!(byte(&mut unit, header - 4 + i as u32), if copied { frame[i - 4] } else { before });
            }
            assert_eq!(unit.host_read(regs::UNIT_ACTIVE_SLOTS).unwrap(), 1 << (slot - 1));
            unit.run(&mut notes, 1000);
            let (departure, bytes) = notes.sent.pop().unwrap();
            assert_eq!((departure.destination, bytes), (Destination::Ethernet(1), frame));
            assert_eq!(notes.freed.pop(), Some(slot));
        }
    }
    let counters = unit.counters();
    assert_eq!((counters.rx_frames, counters.tx_frames), (256, 256));
    assert_eq!(counters.rx_bytes, 32 * (14 + 63 + 64 + 127 + 128 + 129 + 200 + 16_384));
    assert_eq!(counters.tx_bytes, counters.rx_bytes);
}

#[test]
fn slots_are_declared_as_asked_or_refused() {
    const REFUSED: u32 = 1 << 11;
    let declare = |count: u32, base: u32, bytes: u32| {
        let mut unit = start("soft/tests/firmware/slots.c");
        let mut notes = Notes::default();
        unit.host_write(regs::UNIT_DEBUG_IN_L, count | bytes << 8);
        unit.host_write(regs::UNIT_DEBUG_IN_H, base);
        unit.run(&mut notes, 10_000);
        (notes.declared, unit.host_read(regs::UNIT_ERRORS).unwrap())
    };
    let (kib, mib) = (1 << 10, 1 << 20);
    // A slot that is longer than the field allows is declared with the maximum.
    for (count, base, bytes, room) in [
        (32, PMEM + 10, 32 * kib, 32 * 1024 - 10),
        (16, PMEM, 64 * kib, 0xFFFF),
        (16, PMEM + 10, 64 * kib, 0xFFF6),
        (8, PMEM + 10, 128 * kib, 0xFFFF),
        (1, PMEM + 14, mib, 0xFFFF),
        (2, PMEM + mib - 2 * 2048, 2048, 2048),
        (31, PMEM + 0xC00A, 2048, 2038),
    ] {
        assert_eq!(declare(count, base, bytes), (Some((count as u8, room)), 0), "{count} at {base:#x} of {bytes}");
    }
    for (count, base, bytes) in [
        (0, PMEM + 10, 2048),
        (33, PMEM + 10, 2048),
        (255, PMEM, 64),
        (32, PMEM + 10, 64 * kib),
        (16, PMEM + 2048, 64 * kib),
        (1, PMEM + 64 + 10, mib),
        (8, PMEM + 9, 2048),
        (8, PMEM + 16, 2048),
        (8, PMEM + 10, 10),
        (8, PMEM + 10, 0),
        (8, PMEM + mib, 2048),
        (3, 0x7000_000A, 0x80_0000),
    ] {
        assert_eq!(declare(count, base, bytes), (None, REFUSED), "{count} at {base:#x} of {bytes}");
    }
    for (count, base, bytes, errors) in [
        (32, 0x80_4000, 256, 0),
        (16, 0x80_4000, 128, 0),
        (1, 0x80_5F60, 0, 0),
        (1, 0x80_5F80, 0, REFUSED),
        (33, 0x80_4000, 128, REFUSED),
        (2, 0x80_4000, 96, REFUSED),
        (2, 0x80_4000, 136, REFUSED),
        (2, 0x80_4010, 128, REFUSED),
        (2, 0x80_3000, 128, REFUSED),
        (2, 0x80_4000, 0x80_0000, REFUSED),
    ] {
        assert_eq!(declare(count, base, bytes), (None, errors), "{count} headers at {base:#x} of {bytes}");
    }
}

#[test]
fn nothing_lies_where_null_pointers_lead() {
    let mut unit = start("tests/firmware/pointer.c");
    let mut notes = Notes::default();
    unit.run(&mut notes, 10_000);
    let mut last = 0;
    for (address, is_wild) in
        [(0u32, true), (4, true), (0xFC, true), (0x5FC, true), (0x600, false), (0x7FC, false)].into_iter().chain([
            (0x800, true),
            (0x803, true),
            (0xFFFC, true),
            (0x3F_FFFC, true),
            (DMEM + 0x3000, false),
            (0xFFFF_FFFC, true),
        ])
    {
        for (access, width) in [(0u8, 1), (1, 2), (2, 4), (3, 1), (4, 2), (5, 4)] {
            let address = address & !(width - 1);
            let mut frame = [0u8; 60];
            frame[0] = access;
            frame[1..5].copy_from_slice(&address.to_le_bytes());
            unit.receive(1, Arrival::default(), &frame);
            unit.run(&mut notes, 10_000);
            assert_eq!(notes.sent.pop().unwrap().1, frame);
            last = if is_wild { address } else { last };
            assert_eq!(unit.host_read(regs::UNIT_ERROR_ADDR).unwrap(), last, "access {access} at {address:#x}");
        }
    }
    assert_eq!(unit.host_read(regs::UNIT_ERRORS).unwrap(), 1 << 8);
}

#[test]
fn a_unit_in_reset_does_nothing_and_forgets() {
    let mut unit = start("programs/forward.c");
    let mut notes = Notes::default();
    unit.run(&mut notes, 10_000);
    unit.receive(3, Arrival::default(), &[0; 60]);
    unit.host_write(regs::UNIT_RESET, 1);
    assert_eq!(unit.run(&mut notes, 10_000), Pause::Waiting);
    assert!(notes.sent.is_empty() && unit.active_slots() == 0);
    assert_eq!(unit.host_read(regs::UNIT_STATUS).unwrap(), 1);
    unit.host_write(regs::UNIT_RESET, 0);
    notes.declared = None;
    unit.run(&mut notes, 10_000);
    assert!(notes.declared.is_some());
}

#[test]
fn rosebuds_functions_do_what_their_names_say() {
    let mut unit = start("soft/tests/firmware/compat.c");
    let mut notes = Notes::default();
    unit.host_write(regs::UNIT_DEBUG_IN_L, 77);
    unit.run(&mut notes, 10_000);
    assert_eq!(notes.declared, Some((16, 16_374)));
    let values: Vec<u32> = (0..12).map(|i| unit.host_read(RESULTS + 4 * i).unwrap()).collect();
    let (mib, kib) = (1 << 20, 1 << 10);
    assert_eq!(values, [5, 64 * kib, 32 * kib, mib, 8 * kib, 32, 1, mib, 0, 0, 0, 77]);
    assert_eq!(unit.host_read(regs::UNIT_DEBUG_OUT_L).unwrap(), 0x0D0E_0B06);

    // Order of the frame's first byte, its destination, and its length.
    let frame: Vec<u8> = (0..60).collect();
    let prepended = [&[0x12, 0x34], &frame[..]].concat();
    let ethernet = Destination::Ethernet(1);
    let cases = [
        (0, Some((ethernet, frame.clone())), 0),
        (1, Some((ethernet, frame.clone())), 0),
        (2, None, 0),
        (3, Some((Destination::Unit(6), frame.clone())), 0),
        (4, Some((ethernet, frame[4..].to_vec())), 0),
        (5, Some((ethernet, prepended)), 0),
        (6, None, 1),
        (7, None, 2),
    ];
    for (slot, (order, mut expected, refused)) in (1..).zip(cases) {
        let mut bytes = frame.clone();
        bytes[0] = order;
        if let Some((_, expected)) = &mut expected {
            match order {
                4 => {}
                5 => expected[2] = order,
                _ => expected[0] = order,
            }
        }
        unit.receive(slot, Arrival { port: 1, ..Arrival::default() }, &bytes);
        unit.run(&mut notes, 10_000);
        let sent = notes.sent.pop().map(|(departure, bytes)| (departure.destination, bytes));
        assert_eq!(sent, expected, "order {order}");
        assert_eq!(notes.freed.pop(), Some(slot));
        assert_eq!(unit.host_read(RESULTS + 64).unwrap(), 60 | u32::from(slot) << 16 | 1 << 24);
        assert_eq!(unit.host_read(RESULTS + 68).unwrap(), PMEM + 0xC_000A + 0x4000 * u32::from(slot - 1));
        assert_eq!(unit.host_read(RESULTS + 72).unwrap(), 1 << (slot - 1));
        assert_eq!(unit.counters().refused, refused);
    }
    assert_eq!(unit.counters().blocked, 1); // the one that pkt_done_msg gave back
    assert_eq!(unit.host_read(regs::UNIT_ERRORS).unwrap(), 1 << 9 | 1 << 10);
}
