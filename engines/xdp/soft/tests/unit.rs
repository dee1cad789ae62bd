// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A unit on its own: slots, interfaces, verdicts and counters, as the card and the host see them.
#![allow(clippy::unwrap_used)]

mod common;

use penstock_unit::{Answer, Arrival, Departure, Destination, Identity, Outside, Unit as _};
use penstock_xdp_soft::{Engine, Loaded, Unit, regs};

/// A limit of steps, which this unit ignores: it works on all frames that it holds.
const STEPS: u64 = 1;

/// Records the unit's actions.
#[derive(Default)]
struct Notes {
    sent: Vec<(Destination, Vec<u8>)>,
    freed: Vec<u8>,
    declared: Vec<(u8, u16)>,
}

impl Outside for Notes {
    fn send(&mut self, departure: Departure, bytes: &[u8]) -> Answer {
        self.sent.push((departure.destination, bytes.to_vec()));
        Answer::Taken
    }
    fn generate(&mut self, _destination: Destination, _bytes: &[u8]) {}
    fn free(&mut self, slot: u8) {
        self.freed.push(slot);
    }
    fn declare(&mut self, count: u8, bytes: u16) {
        self.declared.push((count, bytes));
    }
}

/// Unit 3 of a card of four ports, with echo.c.
fn start(notes: &mut Notes) -> Unit {
    let object = common::own("echo");
    let mut engine = Engine::new(&object, 256).unwrap();
    let program = engine.load(&object, "echo").unwrap();
    let mut unit = Unit::new(Identity { unit: 3, units: 8, ports: 4 });
    unit.load(Loaded::new(0, engine, program));
    unit.run(notes, STEPS);
    assert!(notes.declared.is_empty(), "in reset");
    assert!(unit.host_write(regs::UNIT_RESET, 0) && unit.host_write(regs::XDP_HOST_BY_FLOW, 1));
    unit.run(notes, STEPS);
    unit.run(notes, STEPS);
    assert_eq!(notes.declared, [(32, 3520)]);
    unit
}

fn counter(unit: &Unit, register: u32) -> u64 {
    unit.count_at(register).unwrap()
}

#[test]
fn verdicts_lead_where_they_say() {
    let mut notes = Notes::default();
    let mut unit = start(&mut notes);
    // Port byte, verdict, target; the destination, and the interface that the program sees.
    let ethernet = |port| Some(Destination::Ethernet(port));
    let cases = [
        (0, 3, 0, ethernet(0), 1),
        (1, 3, 0, ethernet(1), 2),
        (10, 3, 0, ethernet(2), 3),
        (11, 3, 0, ethernet(3), 4),
        (2, 3, 0, Some(Destination::Host), 16),
        (0, 2, 0, Some(Destination::Host), 1),
        (0, 4, 4, ethernet(3), 1),
        (0, 4, 16, Some(Destination::Host), 1),
        (0, 4, 5, None, 1),
        (0, 4, 0, None, 1),
        (0, 1, 0, None, 1),
        (0, 0, 0, None, 1),
        (0, 200, 0, None, 1),
        // From another unit: back over loopback it cannot go.
        (3, 3, 0, None, 17),
    ];
    for (slot, (port, verdict, target, expected, ifindex)) in (1..).zip(cases) {
        let bytes = [verdict, target, 0, 0, 5, 6, 7, 8, 9];
        // Bits 7 to 10 of the hash are the context, those below are not its business.
        let hash = u32::from(slot % 16) << 7 | 0x7F | 0xFFFF_F800;
        unit.receive(slot, Arrival { port, hash, ..Arrival::default() }, &bytes);
        assert_eq!(unit.host_read(regs::UNIT_ACTIVE_SLOTS), Some(1 << (slot - 1)));
        unit.run(&mut notes, STEPS);
        assert_eq!(notes.freed.pop(), Some(slot));
        let mut seen = bytes;
        (seen[2], seen[3]) = (3 * 16 + slot % 16, ifindex);
        assert_eq!(notes.sent.pop(), expected.map(|to| (to, seen.to_vec())), "port {port}, verdict {verdict}");
    }
    assert!(notes.freed.is_empty() && unit.active_slots() == 0);
    let counters = [
        (regs::UNIT_RX_FRAMES, 14),
        (regs::UNIT_RX_BYTES, 14 * 9),
        (regs::UNIT_TX_FRAMES, 8),
        (regs::UNIT_TX_BYTES, 8 * 9),
        (regs::UNIT_BLOCKED, 1),
        (regs::UNIT_REFUSED, 3),
        (regs::XDP_HOST_ABORTED, 2),
    ];
    for (register, count) in counters {
        assert_eq!(counter(&unit, register), count, "{register:#x}");
    }
}

#[test]
fn a_reset_forgets_frames_and_slots() {
    let mut notes = Notes::default();
    let mut unit = start(&mut notes);
    unit.receive(1, Arrival::default(), &[3; 60]);
    assert!(unit.host_write(regs::UNIT_RESET, 1));
    unit.run(&mut notes, STEPS);
    assert!(notes.sent.is_empty() && unit.active_slots() == 0);
    unit.host_write(regs::UNIT_RESET, 0);
    unit.run(&mut notes, STEPS);
    assert_eq!(notes.declared.len(), 2);
    assert!(!unit.host_write(0x100, 0) && unit.host_read(0x100).is_none(), "there are registers only");
}
