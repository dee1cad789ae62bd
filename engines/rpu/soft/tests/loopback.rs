// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! From unit to unit: places, refusals, and what waits.
#![allow(clippy::unwrap_used)]

mod common;

use common::*;
use penstock_shell::{Card, Cause, Exit, Source, StreamCounters, flow_hash, regs};

const LOOPBACK: usize = 5;
/// Port bytes.
const ANY_UNIT: u8 = 3;
const UNIT: u8 = 0x40;

/// Unit 0 sends each frame where its first byte says; unit 1 keeps what it gets, until a frame from elsewhere than unit 0 comes, and then
/// sends it all to port 1. They have four slots for frames of 502 bytes. The other units declare none.
const COLLECT: &str = "
    pn_desc_t kept[4];
    int count = 0;
    if (pn_unit() > 1) for (;;) pn_recv();
    pn_init_headers(4, PN_HEADERS_BASE, 128);
    pn_init_slots(4, PN_PMEM_BASE + 10, 512);
    for (;;) {
        pn_desc_t desc = pn_recv();
        if (pn_unit() == 0) { pn_send(pn_to(desc, pn_hdr()[0])); continue; }
        kept[count++] = desc;
        if (pn_from(desc) == PN_PORT_LOOPBACK) continue;
        for (int i = 0; i < count; i++) pn_send(pn_to(kept[i], 1));
        count = 0;
    }";

/// Pushes a frame that unit 0 of COLLECT sends to the port byte `to`.
fn push(card: &mut Card, to: u8, length: usize) {
    let mut frame = vec![to; length];
    frame[12] = 0;
    card.push(Source::Ethernet(0), &frame).unwrap();
}

/// First bytes of what has left since the last time.
fn left(card: &mut Card) -> Vec<u8> {
    card.poll().iter().map(|frame| frame.bytes[0]).collect()
}

#[test]
fn ports_and_host_leave_the_last_slot_free() {
    for (slots, taken) in [(1, 1), (2, 1), (5, 4)] {
        let keep = format!("pn_init_slots({slots}, PN_PMEM_BASE + 10, 512); for (;;) pn_recv();");
        for policy in [ROUND_ROBIN, LEAST_LOADED, FLOW_HASH, FLOW_HASH_DROP] {
            let mut card = card(1, 1, policy, &main_of(&keep));
            for number in 0..6 {
                let source = if number % 2 == 0 { Source::Ethernet(0) } else { Source::Host };
                card.push(source, &[0; 60]).unwrap();
            }
            card.poll();
            assert_eq!((card.unit(0).rx_frames, free_slots(&mut card, 0)), (taken, slots - taken as u32));
            let dropped = card.stream(0).policy + card.stream(4).policy;
            let (as_policy, as_lost) = if policy == FLOW_HASH_DROP { (6 - taken, 0) } else { (0, 6 - taken) };
            assert_eq!((dropped, card.lost()), (as_policy, as_lost), "policy {policy}, {slots} slots");
        }
    }
}

/// The first unit changes the addresses, the second one notes the flow hash that it sees, and itself.
#[test]
fn a_frame_keeps_the_flow_hash_with_which_it_entered() {
    let firmware = main_of(
        "pn_init();
         for (;;) {
             pn_desc_t desc = pn_recv();
             uint8_t *data = pn_data();
             if (pn_from(desc) == PN_PORT_LOOPBACK) {
                 uint32_t hash = pn_hash();
                 for (int i = 0; i < 4; i++) data[i] = (uint8_t)(hash >> (8 * i));
                 pn_send(pn_to(desc, PN_PORT_ETH(1)));
             } else {
                 for (int i = 26; i < 38; i++) data[i] ^= (uint8_t)i;
                 pn_send(pn_to(desc, PN_PORT_LOOPBACK));
             }
         }",
    );
    for policy in [ROUND_ROBIN, FLOW_HASH, FLOW_HASH_DROP] {
        let mut card = card(2, 8, policy, &firmware);
        let mut hashes = Vec::new();
        for flow in 0..100u8 {
            let mut frame = vec![flow; 60];
            frame[12..16].copy_from_slice(&[8, 0, 0x45, 0]);
            if flow % 10 == 0 {
                frame[12] = 9; // no IP: hash 0
            }
            hashes.push(flow_hash(&frame));
            card.push(Source::Ethernet(0), &frame).unwrap();
        }
        let frames = card.poll();
        assert_eq!(frames.len(), 100);
        for frame in frames {
            let hash = hashes[frame.index as usize];
            assert_eq!(frame.bytes[..4], hash.to_le_bytes(), "frame {}", frame.index);
            assert!(policy == ROUND_ROBIN || u32::from(frame.unit.unwrap()) == hash % 128 % 8, "frame {}", frame.index);
        }
    }
}

#[test]
fn refused_frames_are_counted_once_and_give_their_slots_back() {
    let firmware = main_of(&COLLECT.replacen("512", "pn_unit() ? 512 : 1024", 1));
    for policy in [FLOW_HASH, FLOW_HASH_DROP] {
        // Unit 2 has no slots, unit 3 is not enabled, units 4 on do not exist.
        for (to, length, as_policy, as_oversize) in
            [(UNIT + 2, 60, 1, 0), (UNIT + 3, 60, 1, 0), (UNIT + 1, 503, 0, 1), (UNIT + 1, 502, 0, 0), (1, 60, 0, 0)]
        {
            let mut card = card(2, 4, policy, &firmware);
            all_flows_to(&mut card, 0);
            card.write(regs::CARD_UNIT_ENABLE, 0b0111).unwrap();
            push(&mut card, to, length);
            card.poll();
            let refused = as_policy + as_oversize;
            let loops = u64::from(to >= UNIT) - refused;
            let expected = StreamCounters {
                policy: as_policy,
                oversize: as_oversize,
                rx_frames: loops,
                rx_bytes: loops * length as u64,
                tx_frames: loops,
                tx_bytes: loops * length as u64,
                ..StreamCounters::default()
            };
            assert_eq!(card.stream(LOOPBACK), expected, "to {to:#x}");
            let sender = card.unit(0);
            assert_eq!((sender.rx_frames, sender.tx_frames), (1, 1 - refused));
            assert_eq!(sender.tx_bytes, (1 - refused) * length as u64);
            assert_eq!((sender.blocked, sender.refused, free_slots(&mut card, 0)), (0, 0, 4));
            assert_eq!((card.lost(), card.faults().len()), (0, 0));
        }
    }
}

#[test]
fn a_flow_whose_unit_is_closed_is_dropped() {
    for policy in [FLOW_HASH, FLOW_HASH_DROP] {
        for (unit, enabled) in [(2, 0b111), (0, 0b110), (17, u32::MAX)] {
            let mut card = card(2, 3, policy, &main_of(COLLECT));
            all_flows_to(&mut card, unit);
            card.write(regs::CARD_UNIT_ENABLE, enabled).unwrap();
            card.push(Source::Ethernet(1), &[0; 60]).unwrap();
            card.push(Source::Host, &[0; 60]).unwrap();
            card.poll();
            assert_eq!((card.stream(1).policy, card.stream(4).policy, card.lost()), (1, 1, 0), "unit {unit}");
            assert_eq!((card.stream(1).rx_frames, card.unit(0).rx_frames), (1, 0));
        }
    }
}

/// Over loopback to whatever unit the hash names, which is the sender, whose only slot the frame itself has.
#[test]
fn a_full_unit_drops_only_where_the_policy_says_so() {
    let firmware = main_of("pn_init_slots(1, PN_PMEM_BASE + 10, 512); for (;;) pn_send(pn_to(pn_recv(), 3));");
    for (policy, dropped) in [(FLOW_HASH_DROP, 1), (FLOW_HASH, 0), (ROUND_ROBIN, 0)] {
        let mut card = card(1, 1, policy, &firmware);
        for round in 1..=3 {
            push(&mut card, ANY_UNIT, 60);
            card.poll();
            assert_eq!(free_slots(&mut card, 0), dropped);
            assert_eq!((card.finish(), free_slots(&mut card, 0)), (0, 1));
            assert_eq!((card.stream(LOOPBACK).policy, card.unit(0).tx_frames), (round * u64::from(dropped), 0));
            assert_eq!(card.lost(), round * u64::from(1 - dropped));
            assert_eq!(card.faults().len() as u64, card.lost());
            assert!(card.faults().iter().all(|fault| (fault.unit, fault.cause) == (0, Cause::Full)));
        }
    }
}

#[test]
fn frames_wait_in_order_for_a_full_unit_and_others_pass() {
    let mut card = card(2, 2, FLOW_HASH, &main_of(COLLECT));
    all_flows_to(&mut card, 0);
    for _ in 0..4 {
        push(&mut card, UNIT + 1, 60);
    }
    assert!(left(&mut card).is_empty());
    push(&mut card, UNIT + 1, 61);
    push(&mut card, 0, 62);
    push(&mut card, UNIT + 1, 63);
    push(&mut card, 0, 64);
    assert_eq!(left(&mut card), [0, 0]);
    assert_eq!([0, 1].map(|unit| free_slots(&mut card, unit)), [2, 0]);
    let waiting = |card: &mut Card| [0, 1, 4, 5].map(|stream| stream_read(card, stream, regs::CARD_STREAM_RX_LEVEL));
    assert_eq!(waiting(&mut card), [0, 0, 0, 1]);
    assert_eq!((card.unit(0).tx_frames, card.stream(LOOPBACK).rx_frames, card.lost()), (6, 4, 0));
    // The host takes unit 1 out of the dispatch: what waits for it is dropped.
    card.write(regs::CARD_UNIT_ENABLE, 0b01).unwrap();
    assert!(left(&mut card).is_empty());
    assert_eq!((card.stream(LOOPBACK).policy, free_slots(&mut card, 0)), (2, 4));
    assert_eq!(waiting(&mut card), [0; 4]);
}

#[test]
fn frames_that_wait_go_on_when_there_is_room() {
    let collect_three =
        COLLECT.replacen("if (pn_from(desc) == PN_PORT_LOOPBACK) continue;", "if (count < 3) continue;", 1);
    let mut card = card(2, 2, FLOW_HASH, &main_of(&collect_three));
    all_flows_to(&mut card, 0);
    for number in 0..300 {
        push(&mut card, UNIT + 1, 60 + number);
    }
    let lengths: Vec<_> = card.poll().iter().map(|frame| (frame.destination, frame.bytes.len())).collect();
    assert_eq!(lengths, (60..360).map(|length| (Exit::Ethernet(1), length)).collect::<Vec<_>>());
    card.finish();
    assert_eq!((card.lost(), card.faults().len()), (0, 0));
    assert_eq!((card.stream(LOOPBACK).tx_frames, card.stream(LOOPBACK).tx_bytes), (300, (60..360).sum::<u64>()));
}

#[test]
fn frames_for_a_unit_that_stays_full_are_lost_with_it() {
    let mut card = card(2, 2, FLOW_HASH, &main_of(COLLECT));
    all_flows_to(&mut card, 0);
    for _ in 0..6 {
        push(&mut card, UNIT + 1, 60);
    }
    card.poll();
    assert_eq!((card.finish(), card.lost(), card.dead()), (0, 6, 0b10));
    let [fault] = card.faults() else { panic!("{:?}", card.faults()) };
    assert_eq!((fault.unit, fault.cause, fault.slots), (1, Cause::Waits, 0b1111));
    assert_eq!(fault.to_string(), "unit 1 waits for frames and has not released 4 that it holds");
    // The sender is well.
    assert_eq!(free_slots(&mut card, 0), 4);
    push(&mut card, 1, 60);
    assert_eq!(left(&mut card), [1]);
}

#[test]
fn a_unit_that_is_flushed_loses_what_is_on_its_way() {
    let mut card = card(2, 2, FLOW_HASH, &main_of(COLLECT));
    all_flows_to(&mut card, 0);
    for _ in 0..6 {
        push(&mut card, UNIT + 1, 60);
    }
    card.write(WINDOW + regs::UNIT_RESET, 1).unwrap();
    card.write(regs::CARD_UNIT_FLUSH, 0b11).unwrap();
    card.write(WINDOW + regs::UNIT_RESET, 0).unwrap();
    assert_eq!([0, 1].map(|unit| free_slots(&mut card, unit)), [4, 4]);
    assert_eq!(card.lost(), 6);
    push(&mut card, 1, 60);
    assert_eq!(left(&mut card), [1]);
    card.finish();
    assert_eq!((card.lost(), card.faults().len()), (6, 0));
}

/// Many more frames than slots, all between neighbours, in both directions at once.
#[test]
fn neighbours_that_send_to_each_other_do_not_wait_for_ever() {
    for slots in [2, 3, 32] {
        let swap = format!(
            "pn_init_headers({slots}, PN_HEADERS_BASE, 128);
             pn_init_slots({slots}, PN_PMEM_BASE + 10, 512);
             for (;;) {{
                 pn_desc_t desc = pn_recv();
                 pn_send(pn_to(desc, pn_from(desc) == PN_PORT_LOOPBACK ? 1 : PN_PORT_UNIT(pn_unit() ^ 1)));
             }}"
        );
        for policy in [ROUND_ROBIN, LEAST_LOADED] {
            let mut card = card(2, 4, policy, &main_of(&swap));
            for number in 0..1000u32 {
                card.push(Source::Ethernet((number % 2) as u8), &[0; 60]).unwrap();
            }
            assert_eq!(card.poll().len(), 1000, "{slots} slots");
            card.finish();
            assert_eq!((card.lost(), card.faults().len()), (0, 0));
            assert!((0..4).all(|unit| free_slots(&mut card, unit) == slots));
        }
    }
}
