// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A block of the engine in a native card: the destinations and the bytes of its frames, and the counters.
#![allow(clippy::unwrap_used)]

mod forward;

use std::any::Any;

use forward::Forward;
use penstock_flow::{Block, Chain, Options};
use penstock_shell::{BlockCounters, Card, Exit, Source, flow_hash, regs};
use penstock_unit::Unit;

const WINDOW: u32 = 0x4000_0000;
/// Values of POLICY.
const ROUND_ROBIN: u32 = 0;
const FLOW_HASH: u32 = 2;

/// The slots of most units here, and the port to which they send: the other one.
const SLOTS: (u8, u16) = (16, 2048);
const OTHER: fn(u8) -> u8 = |port| port ^ 1;

/// A card of units that send frames on, behind a program of the engine.
fn card(ports: u8, units: u8, policy: u32, slots: (u8, u16), to: fn(u8) -> u8, text: &str) -> Card {
    let program = penstock_flow_compiler::compile("test.efsm", text).unwrap().program;
    let unit = || -> Box<dyn Unit> { Box::new(Forward::new(slots, to)) };
    let mut card = Card::new(ports, (0..units).map(|_| unit()).collect());
    card.set_blocks(vec![Box::new(Block::new(Chain::new(&program, &Options::default())))]);
    let all = u32::MAX >> (32 - units);
    for entry in 0..regs::CARD_RETA_COUNT {
        card.write(regs::CARD_RETA + 4 * entry, entry % u32::from(units)).unwrap();
    }
    card.write(regs::CARD_POLICY, policy).unwrap();
    card.write(regs::CARD_UNIT_ENABLE, all).unwrap();
    card.write(regs::CARD_PORT_ENABLE, 0xF).unwrap();
    card.write(regs::CARD_UNIT_WRITE_MASK, all).unwrap();
    card.write(WINDOW + regs::UNIT_RESET, 0).unwrap();
    card
}

/// The block of the flow engine in a card.
fn block(card: &mut Card) -> &mut Block {
    let block: &mut dyn Any = card.block_mut(0).unwrap();
    block.downcast_mut().unwrap()
}

/// UDP from a port, with this many bytes in all.
fn udp(source_port: u8, length: usize) -> Vec<u8> {
    let mut frame = vec![2; 12];
    frame.extend([8, 0, 0x45, 0, ((length - 14) >> 8) as u8, (length - 14) as u8, 0, 0, 0, 0, 64, 17, 0, 0]);
    frame.extend([
        10,
        0,
        0,
        1,
        10,
        0,
        0,
        2,
        0,
        source_port,
        0,
        80,
        ((length - 34) >> 8) as u8,
        (length - 34) as u8,
        0,
        0,
    ]);
    frame.resize(length, 7);
    frame
}

/// The frames that left: exit, source, index at the source, unit, and length.
fn left(card: &mut Card) -> Vec<(Exit, Source, u64, Option<u8>, usize)> {
    card.poll()
        .iter()
        .map(|frame| (frame.destination, frame.source, frame.index, frame.unit, frame.bytes.len()))
        .collect()
}

#[test]
fn a_program_says_where_frames_go() {
    let text = "element where {
        udp.sport == 1 => drop
        udp.sport == 2 => host
        udp.sport == 3 => port 1
        udp.sport == 4 => port udp.sport
        udp.sport == 5 => port port
        udp.sport == 6 => opposite
        udp.sport == 7 => port ip.ttl
        udp.sport == 8 => port 2
    }";
    let mut card = card(4, 2, ROUND_ROBIN, SLOTS, |_| 1, text);
    let port = Source::Ethernet(2);
    (0..9).for_each(|number| card.push(port, &udp(number, 100)).unwrap());
    // Frames of the host do not go through it.
    card.push(Source::Host, &udp(1, 100)).unwrap();
    let mut all = left(&mut card);
    all.sort_by_key(|frame| (frame.1 == Source::Host, frame.2));
    assert_eq!(
        all,
        [
            (Exit::Ethernet(1), port, 0, Some(0), 100),
            (Exit::Host, port, 2, None, 100),
            (Exit::Ethernet(1), port, 3, None, 100),
            (Exit::Ethernet(2), port, 5, None, 100),
            (Exit::Ethernet(3), port, 6, None, 100),
            (Exit::Ethernet(2), port, 8, None, 100),
            (Exit::Ethernet(1), Source::Host, 0, Some(1), 100),
        ]
    );
    assert_eq!(card.block_counters(), [BlockCounters { frames: 9, blocked: 1, ..BlockCounters::default() }]);
    assert_eq!(card.inline_refused(), 2);
    assert_eq!(block(&mut card).chain().counters(0).unwrap().rows, [1; 8]);
    let sent = [1, 2, 3, 4].map(|stream| (card.stream(stream).tx_frames, card.stream(stream).tx_bytes));
    assert_eq!((card.stream(2).rx_frames, sent), (9, [(3, 300), (2, 200), (1, 100), (1, 100)]));
}

#[test]
fn edits_reach_units_and_lengths_are_watched() {
    let text = "element tag { udp.sport < 4 => push vlan 5 udp.sport == 4 => push vlan 6, opposite }";
    let mut card = card(2, 1, FLOW_HASH, (2, 16_374), OTHER, text);
    let port = Source::Ethernet(0);
    card.push(port, &udp(1, 100)).unwrap();
    card.push(port, &udp(9, 100)).unwrap();
    // Too long for the slot, for the card, and just right for both.
    for (source, length) in [(1, 16_371), (4, 16_381), (4, 16_380), (1, 16_370)] {
        card.push(port, &udp(source, length)).unwrap();
    }
    let all: Vec<_> = card.poll().iter().map(|frame| (frame.index, frame.bytes.to_vec())).collect();
    let mut lengths: Vec<_> = all.iter().map(|(index, bytes)| (*index, bytes.len())).collect();
    lengths.sort();
    assert_eq!(lengths, [(0, 104), (1, 100), (4, 16_384), (5, 16_374)]);
    assert_eq!(card.stream(0).oversize, 2);
    let tagged = &all.iter().find(|(index, _)| *index == 0).unwrap().1;
    assert_eq!((&tagged[12..18], &tagged[18..]), (&[0x81, 0, 0, 5, 8, 0][..], &udp(1, 100)[14..]));
}

/// The dispatcher has a frame's hash as it entered, whatever the chain has made of its addresses.
#[test]
fn the_flow_hash_is_that_of_the_frame_as_it_came() {
    let text = "element move { udp => ip.src = 1.2.3.4, l4.sport = 99 }";
    let mut card = card(2, 8, FLOW_HASH, SLOTS, OTHER, text);
    let frames: Vec<_> = (0..100).map(|number| udp(number, 80)).collect();
    frames.iter().for_each(|frame| card.push(Source::Ethernet(0), frame).unwrap());
    let mut seen = 0;
    for frame in card.poll().iter() {
        let hash = flow_hash(&frames[frame.index as usize]);
        assert_eq!(frame.unit.map(u32::from), Some(hash % 128 % 8));
        seen += 1;
    }
    assert_eq!(seen, 100);
}

/// A frame that has to wait for a unit that is debugged goes through the chain once.
#[test]
fn a_frame_that_is_offered_again_is_not_taken_twice() {
    let text = "element once { key udp.sport states NEW, SEEN in NEW { udp => goto SEEN, push vlan 5 } \
        in SEEN { udp => drop } }";
    let mut card = card(2, 1, FLOW_HASH, (2, 2048), OTHER, text);
    assert_eq!(left(&mut card).len(), 0);
    card.write(regs::CARD_UNIT_WRITE_MASK, 1).unwrap();
    card.write(WINDOW + regs::UNIT_HALT, 1).unwrap();
    let mut waiting = 0;
    while card.offer(Source::Ethernet(0), &udp(waiting, 80)).unwrap() {
        waiting += 1;
        assert!(waiting < 10);
    }
    assert!(!card.offer(Source::Ethernet(0), &udp(waiting, 80)).unwrap());
    // A frame of another port comes in between.
    assert!(!card.offer(Source::Ethernet(1), &udp(100, 80)).unwrap());
    card.write(regs::CARD_UNIT_READ, 0).unwrap();
    assert_eq!((left(&mut card).len(), card.read(WINDOW + regs::UNIT_HALTED).unwrap()), (0, 1));
    card.write(WINDOW + regs::UNIT_HALT, 0).unwrap();
    assert_eq!(left(&mut card).len(), usize::from(waiting));
    assert!(card.offer(Source::Ethernet(1), &udp(100, 80)).unwrap());
    assert!(card.offer(Source::Ethernet(0), &udp(waiting, 80)).unwrap());
    assert_eq!(left(&mut card).iter().map(|frame| frame.4).collect::<Vec<_>>(), [84; 2]);
    assert_eq!(card.block_counters(), [BlockCounters { frames: u64::from(waiting) + 2, ..BlockCounters::default() }]);
    assert_eq!(card.inline_refused(), 0);
}

#[test]
fn the_clock_goes_on_and_takes_contexts_with_it() {
    let text = "element seen { key udp.sport states NEW, SEEN in NEW { udp => goto SEEN for 10 us, opposite } \
        in SEEN { udp => drop } }";
    let mut card = card(2, 1, ROUND_ROBIN, SLOTS, OTHER, text);
    let push = |card: &mut Card, time: u64| {
        card.set_time(1000 * time);
        card.push(Source::Ethernet(0), &udp(1, 80)).unwrap();
        left(card).len()
    };
    let times = [100, 109, 3, 110, 119];
    assert_eq!(times.map(|time| push(&mut card, time)), [1, 0, 0, 1, 0]);
    card.set_time(5000);
    assert_eq!(block(&mut card).time(), 119);
    // A place of the table each microsecond: 15,892 contexts have twice as many at least.
    let count = |card: &mut Card, time: u64| {
        card.set_time(1000 * time);
        block(card).chain().count(0).unwrap()
    };
    assert_eq!((count(&mut card, 119), count(&mut card, 2_000_000)), (1, 0));
    let block = block(&mut card);
    assert_eq!((block.time(), block.chain().counters(0).unwrap().expired), (2_000_000, 2));
}
