// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The contract of inline blocks: verdicts, frames that blocks make and absorb, and what is counted. The blocks do what a frame says,
//! as those of the tests of the card in RTL do (shell/tests/inline_block.sv): block n looks at byte 6 + 2n, and at byte 7 + 2n for a value.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::VecDeque;

use common::{FLOW_HASH, FLOW_HASH_DROP, ROUND_ROBIN, card, main_of, unit_read};
use penstock_shell::{BlockCounters, Card, Exit, Source, regs};
use penstock_unit::{Block, Entering, Made, Record, Verdict};

const TO_PORT: u8 = 1;
const TO_HOST: u8 = 2;
const TO_UNIT: u8 = 3;
const TO_KEY: u8 = 4;
const DROP: u8 = 5;
const MARK: u8 = 6;
const TELL_MARK: u8 = 7;
const ABSORB: u8 = 8;
/// Makes `value` copies, whose byte 5 is their number from 1.
const COPY: u8 = 9;
/// As [`COPY`], and the frame itself ends in the block.
const REPLACE: u8 = 10;
/// Adds so many KiB.
const GROW: u8 = 11;
/// Makes a copy that is for the unit `value`.
const COPY_TO_UNIT: u8 = 12;
/// The value becomes the frame's tenant.
const TELL_TENANT: u8 = 13;
/// The frame is held, and a record asks the driver for a verdict, with the value as reason.
const HOLD: u8 = 14;

/// The block at this place.
#[derive(Default)]
struct Op {
    place: usize,
    held: Vec<Made>,
    records: VecDeque<Record>,
}

impl Block for Op {
    fn carry(&mut self, frame: &mut Vec<u8>, mark: &mut u32, entering: Entering, made: &mut Vec<Made>) -> Verdict {
        let (op, value) = (frame[6 + 2 * self.place], frame[7 + 2 * self.place]);
        let copy = |number: u8, verdict| {
            let mut frame = frame.clone();
            frame[5] = number;
            let Entering { port, hash, tenant } = entering;
            Made { port, frame, hash, tenant, mark: 100 + u32::from(number), verdict }
        };
        match op {
            TO_PORT => return Verdict::Port(value.into()),
            TO_HOST => return Verdict::Host,
            TO_UNIT => return Verdict::Unit(value.into()),
            TO_KEY => return Verdict::Dispatch(0xABCD_0000 + u32::from(value)),
            DROP => return Verdict::Drop,
            ABSORB => return Verdict::Absorb,
            COPY | REPLACE => {
                made.extend((1..=value).map(|number| copy(number, Verdict::Onward)));
                return if op == COPY { Verdict::Onward } else { Verdict::Absorb };
            }
            COPY_TO_UNIT => made.push(copy(1, Verdict::Unit(value.into()))),
            TELL_TENANT => frame[7 + 2 * self.place] = entering.tenant,
            HOLD => {
                let Entering { port, hash, tenant } = entering;
                self.held.push(copy(value, Verdict::Onward));
                self.records.push_back(Record { reason: value, tenant, port, hash, mark: *mark, ..Record::default() });
                return Verdict::Absorb;
            }
            MARK => *mark = value.into(),
            TELL_MARK => frame[7 + 2 * self.place] = *mark as u8,
            GROW => frame.resize(frame.len() + 1024 * usize::from(value), 0),
            _ => {}
        }
        Verdict::Onward
    }

    fn take_record(&mut self) -> Option<Record> {
        self.records.pop_front()
    }

    /// Lets the frame with the record's reason go, with its mark.
    fn give_record(&mut self, record: &Record, made: &mut Vec<Made>) {
        let held = self.held.extract_if(.., |one| one.frame[5] == record.reason);
        made.extend(held.map(|one| Made { mark: record.mark, ..one }));
    }

    fn set_time(&mut self, _ns: u64) {}
}

/// A card of two ports and four units, which send what they get to the neighbour of its port, or to port 1 if a block made it; and two blocks.
fn op_card(policy: u32) -> Card {
    let body = "pn_init_slots(2, PN_PMEM_BASE + 10, 16384); \
        for (;;) { pn_desc_t d = pn_recv(); pn_send(pn_to(d, pn_from(d) < 2 ? pn_from(d) ^ 1 : 1)); }";
    let mut card = card(2, 4, policy, &main_of(body));
    card.set_blocks((0..2).map(|place| Box::new(Op { place, ..Op::default() }) as Box<dyn Block>).collect());
    assert_eq!(card.poll().len(), 0);
    card
}

fn frame(number: u8, first: (u8, u8), second: (u8, u8)) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, number, 0, first.0, first.1, second.0, second.1, 0, 0, 0x88, 0xB5];
    frame.resize(60, number);
    frame
}

fn push(card: &mut Card, number: u8, first: (u8, u8), second: (u8, u8)) {
    card.push(Source::Ethernet(0), &frame(number, first, second)).unwrap();
}

/// The frames that left: exit, number, number of the copy, source, and unit.
fn left(card: &mut Card) -> Vec<(Exit, u8, u8, Source, Option<u8>)> {
    let frames = card.poll();
    frames.iter().map(|one| (one.destination, one.bytes[4], one.bytes[5], one.source, one.unit)).collect()
}

fn counters(card: &Card) -> [[u64; 5]; 2] {
    let of = |BlockCounters { frames, made, absorbed, blocked, oversize }| [frames, made, absorbed, blocked, oversize];
    let all: Vec<_> = card.block_counters().iter().copied().map(of).collect();
    all.try_into().unwrap()
}

const PORT0: Source = Source::Ethernet(0);
const PORT1: Exit = Exit::Ethernet(1);

#[test]
fn the_last_block_that_decides_wins() {
    let mut card = op_card(ROUND_ROBIN);
    push(&mut card, 0, (TO_PORT, 0), (0, 0));
    push(&mut card, 1, (TO_PORT, 0), (TO_HOST, 0));
    push(&mut card, 2, (TO_UNIT, 3), (0, 0));
    push(&mut card, 3, (DROP, 0), (TO_HOST, 0));
    push(&mut card, 4, (TO_HOST, 0), (ABSORB, 0));
    push(&mut card, 5, (TO_UNIT, 2), (TO_PORT, 2));
    push(&mut card, 6, (TO_HOST, 0), (TO_UNIT, 4));
    let mut all = left(&mut card);
    all.sort_by_key(|one| one.1);
    assert_eq!(
        all,
        [(Exit::Ethernet(0), 0, 0, PORT0, None), (Exit::Host, 1, 0, PORT0, None), (PORT1, 2, 0, PORT0, Some(3)),]
    );
    assert_eq!((counters(&card), card.inline_refused()), ([[7, 0, 0, 1, 0], [6, 0, 1, 0, 0]], 2));
}

/// A unit that a block names gets its frames under every policy, though the dispatcher does not choose it; a key goes by RETA.
#[test]
fn blocks_name_units_and_keys_under_every_policy() {
    for policy in 0..5 {
        let mut card = op_card(policy);
        card.write(regs::CARD_UNIT_INGRESS, 0b0111).unwrap();
        card.write(regs::CARD_RETA + 4 * 9, 2).unwrap();
        card.write(regs::CARD_RETA + 4 * 10, 3).unwrap();
        (0..12).for_each(|number| push(&mut card, number, (TO_UNIT, 3), (0, 0)));
        (12..24).for_each(|number| push(&mut card, number, (TO_KEY, 9 + 128 * (number % 2)), (0, 0)));
        let units: Vec<_> = left(&mut card).iter().map(|one| one.4).collect();
        assert_eq!(units.iter().filter(|unit| **unit == Some(3)).count(), 12, "policy {policy}");
        assert_eq!(units.iter().filter(|unit| **unit == Some(2)).count(), 12, "policy {policy}");
        // A key names only units that the dispatcher may choose, and a unit that is named must be enabled.
        push(&mut card, 24, (TO_KEY, 10), (0, 0));
        card.write(regs::CARD_UNIT_ENABLE, 0b0111).unwrap();
        push(&mut card, 25, (TO_UNIT, 3), (0, 0));
        assert_eq!((left(&mut card).len(), card.stream(0).policy, card.lost()), (0, 2, 0), "policy {policy}");
    }
}

#[test]
fn made_frames_go_first_and_through_the_blocks_behind() {
    let mut card = op_card(ROUND_ROBIN);
    push(&mut card, 0, (COPY, 3), (TO_HOST, 0));
    let all = left(&mut card);
    let made = |number: u8| (Exit::Host, 0, number, Source::Block(0), None);
    assert_eq!(all, [made(1), made(2), made(3), (Exit::Host, 0, 0, PORT0, None)]);
    assert_eq!(counters(&card), [[1, 3, 0, 0, 0], [4, 0, 0, 0, 0]]);

    // The second block makes two of each of the three; they leave before the one that caused them.
    push(&mut card, 1, (REPLACE, 3), (COPY, 2));
    let sources: Vec<_> = left(&mut card).iter().map(|one| (one.0, one.3)).collect();
    assert_eq!(sources.len(), 9);
    assert!(sources.iter().all(|(to, source)| *to == PORT1 && *source != PORT0));
    assert_eq!(sources.iter().filter(|(_, source)| *source == Source::Block(1)).count(), 6);
    assert_eq!(counters(&card), [[2, 6, 1, 0, 0], [7, 6, 0, 0, 0]]);

    // The index counts the frames of a block; marks and verdicts of their own come with them.
    push(&mut card, 2, (COPY, 1), (TELL_MARK, 0));
    let marks: Vec<_> = card.poll().iter().map(|one| (one.source, one.index, one.bytes[9])).collect();
    assert!(marks.contains(&(Source::Block(0), 6, 101)) && marks.contains(&(PORT0, 2, 0)), "{marks:?}");
    push(&mut card, 3, (COPY_TO_UNIT, 2), (0, 0));
    push(&mut card, 4, (COPY_TO_UNIT, 4), (TO_HOST, 0));
    push(&mut card, 5, (COPY_TO_UNIT, 4), (0, 0));
    let all = left(&mut card);
    assert!(all.contains(&(PORT1, 3, 1, Source::Block(0), Some(2))), "{all:?}");
    assert_eq!((all.len(), card.inline_refused()), (5, 1));
}

/// A unit finds the block in the port byte of a made frame.
#[test]
fn units_see_who_made_a_frame() {
    let body = "pn_init_slots(2, PN_PMEM_BASE + 10, 2048); \
        for (;;) { pn_desc_t d = pn_recv(); *(volatile uint8_t *)pn_data() = pn_from(d); pn_send(pn_to(d, 1)); }";
    let mut card = card(2, 1, ROUND_ROBIN, &main_of(body));
    card.set_blocks((0..2).map(|place| Box::new(Op { place, ..Op::default() }) as Box<dyn Block>).collect());
    push(&mut card, 0, (COPY, 1), (COPY, 1));
    let bytes: Vec<_> = card.poll().iter().map(|one| one.bytes[0]).collect();
    assert_eq!(bytes, [0x81, 0x80, 0x81, 0x00]);
}

#[test]
fn a_frame_that_became_too_long_ends_in_the_block_that_made_it_so() {
    let mut card = op_card(ROUND_ROBIN);
    push(&mut card, 0, (GROW, 16), (0, 0));
    push(&mut card, 1, (0, 0), (GROW, 16));
    push(&mut card, 2, (GROW, 15), (TO_HOST, 0));
    assert_eq!(left(&mut card).len(), 1);
    assert_eq!(counters(&card), [[3, 0, 0, 0, 1], [2, 0, 0, 0, 1]]);
    assert_eq!(card.stream(0).oversize, 2);
}

/// A unit that is debugged takes no more: what blocks made of a frame waits in its order, and goes through the blocks once.
#[test]
fn made_frames_without_a_place_are_offered_again() {
    for (policy, op) in [(FLOW_HASH, 0), (FLOW_HASH_DROP, TO_UNIT)] {
        let mut card = op_card(policy);
        (0..128).for_each(|entry| card.write(regs::CARD_RETA + 4 * entry, 0).unwrap());
        card.write(regs::CARD_UNIT_WRITE_MASK, 1).unwrap();
        card.write(common::WINDOW + regs::UNIT_HALT, 1).unwrap();
        let many = frame(7, (REPLACE, 5), (op, 0));
        // Frames of a port may have one of the two slots: of five copies four wait.
        assert!(!card.offer(PORT0, &many).unwrap());
        assert!(!card.offer(PORT0, &many).unwrap());
        assert_eq!(unit_read(&mut card, 0, regs::UNIT_HALTED), 1);
        assert_eq!(counters(&card), [[1, 5, 1, 0, 0], [5, 0, 0, 0, 0]]);
        card.write(common::WINDOW + regs::UNIT_HALT, 0).unwrap();
        let first: Vec<_> = left(&mut card).iter().map(|one| one.2).collect();
        assert!(card.offer(PORT0, &many).unwrap());
        let rest: Vec<_> = left(&mut card).iter().map(|one| one.2).collect();
        assert_eq!([first, rest].concat(), [1, 2, 3, 4, 5]);
        assert_eq!((counters(&card), card.lost()), ([[1, 5, 1, 0, 0], [5, 0, 0, 0, 0]], 0));
        // The same, but nobody offers it again: what waits is lost.
        card.write(common::WINDOW + regs::UNIT_HALT, 1).unwrap();
        card.push(PORT0, &many).unwrap();
        assert_eq!((card.lost(), card.stream(0).rx_frames, card.stream(0).policy), (4, 2, 0));
    }
}

/// As the card in RTL (shell/tests/test_inline.py, `tenants`).
#[test]
fn a_frame_s_tenant_follows_from_its_port_and_tag() {
    let mut card = op_card(ROUND_ROBIN);
    let window = 0x4400_1000;
    for (vlan, ports, tenant) in [(1, 3, 1), (100, 3, 2), (4094, 3, 63), (200, 1, 9), (200, 2, 10), (100, 1, 12)] {
        card.write(window + regs::INLINE_TENANT_VLAN, ports << 16 | vlan).unwrap();
        card.write(window + regs::INLINE_TENANT, tenant).unwrap();
        assert_eq!(card.read(window + regs::INLINE_TENANT_VLAN), Ok(ports << 16 | vlan));
    }
    assert!(card.read(window + regs::INLINE_TENANT).is_err());
    let mut tenant_of = |port: u8, kind: u16, tci: u16, size: usize| {
        let mut bytes = frame(0, (REPLACE, 1), (TELL_TENANT, 0));
        bytes[12..16].copy_from_slice(&[kind.to_be_bytes(), tci.to_be_bytes()].concat());
        bytes.truncate(size);
        card.push(Source::Ethernet(port), &bytes).unwrap();
        // The second block's view of the frame that the first one has made.
        card.poll().iter().map(|one| one.bytes[9]).collect::<Vec<_>>()
    };
    for kind in [0x8100, 0x88A8] {
        assert_eq!([1, 100, 4094, 200].map(|vlan| tenant_of(0, kind, vlan, 60)), [[1], [12], [63], [9]]);
        assert_eq!([1, 100, 4094, 200].map(|vlan| tenant_of(1, kind, 0xF000 | vlan, 16)), [[1], [2], [63], [10]]);
        // 257 has the low byte of 1.
        assert_eq!([0, 2, 257, 4095].map(|vlan| tenant_of(0, kind, vlan, 60)), [[0]; 4]);
        assert_eq!(tenant_of(0, kind, 1, 15), [0]);
    }
    assert_eq!([0x0800, 0x9100, 0x0081].map(|kind| tenant_of(0, kind, 1, 60)), [[0]; 3]);
}

#[test]
fn the_driver_decides_about_frames_that_a_block_holds() {
    let mut card = op_card(ROUND_ROBIN);
    for number in 1..=3 {
        push(&mut card, number, (HOLD, number), (TELL_MARK, 0));
    }
    assert_eq!((card.poll().len(), counters(&card)), (0, [[3, 0, 3, 0, 0], [0; 5]]));
    let records: Vec<_> = (0..4).map_while(|_| card.take_record(0)).collect();
    assert_eq!(
        records.iter().map(|record| (record.block, record.reason)).collect::<Vec<_>>(),
        [(0, 1), (0, 2), (0, 3)]
    );
    assert_eq!((card.take_record(1), card.take_record(2)), (None, None));
    for (reason, mark) in [(2, 22), (9, 99), (1, 11)] {
        card.give_record(0, &Record { reason, mark, ..Record::default() });
    }
    // Another block knows nothing of it, and there is no third one.
    card.give_record(1, &Record { reason: 3, ..Record::default() });
    card.give_record(2, &Record { reason: 3, ..Record::default() });
    let mut all: Vec<_> = card.poll().iter().map(|one| (one.bytes[4], one.bytes[9], one.source)).collect();
    all.sort_by_key(|one| one.0);
    assert_eq!(all, [(1, 11, Source::Block(0)), (2, 22, Source::Block(0))]);
    assert_eq!(counters(&card), [[3, 2, 3, 0, 0], [2, 0, 0, 0, 0]]);
}

/// Frames that a record causes wait for a unit that is debugged, and go on with it.
#[test]
fn frames_of_records_wait_for_a_place() {
    for goes_on in [true, false] {
        let mut card = op_card(FLOW_HASH);
        (0..128).for_each(|entry| card.write(regs::CARD_RETA + 4 * entry, 0).unwrap());
        (1..=4).for_each(|number| push(&mut card, number, (HOLD, number), (0, 0)));
        card.write(regs::CARD_UNIT_WRITE_MASK, 1).unwrap();
        card.write(common::WINDOW + regs::UNIT_HALT, 1).unwrap();
        for reason in 1..=4 {
            card.give_record(0, &Record { reason, ..Record::default() });
        }
        assert_eq!((card.poll().len(), card.lost()), (0, 0));
        if goes_on {
            card.write(common::WINDOW + regs::UNIT_HALT, 0).unwrap();
            let numbers: Vec<_> = (0..4).flat_map(|_| left(&mut card)).map(|one| one.1).collect();
            assert_eq!(numbers, [1, 2, 3, 4]);
        }
        card.finish();
        // One frame has the slot of the halted unit.
        assert_eq!(card.lost(), if goes_on { 0 } else { 3 });
    }
}

/// The host sees the mark of a frame that the blocks send to it; at a port, and behind a unit, the mark is 0.
#[test]
fn the_host_sees_marks() {
    let mut card = op_card(1);
    push(&mut card, 1, (MARK, 77), (TO_HOST, 0));
    push(&mut card, 2, (MARK, 78), (TO_PORT, 1));
    push(&mut card, 3, (MARK, 79), (TO_UNIT, 2));
    push(&mut card, 4, (TO_HOST, 0), (0, 0));
    let mut marks: Vec<_> = card.poll().iter().map(|frame| (frame.bytes[4], frame.destination, frame.mark)).collect();
    marks.sort_by_key(|(number, ..)| *number);
    let port = Exit::Ethernet(1);
    assert_eq!(marks, [(1, Exit::Host, 77), (2, port, 0), (3, port, 0), (4, Exit::Host, 0)]);
}
