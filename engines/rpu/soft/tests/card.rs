// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The card as a whole: the project's programs on it, frames in, frames and counters out.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::HashMap;

use common::*;
use penstock_rpu::regs as rpu_regs;
use penstock_shell::{Card, Exit, Source, regs};
use penstock_testing::Numbers;

/// The frames that left, owned: destination, source, index, bytes.
fn collect(card: &mut Card) -> Vec<(Exit, Source, u64, Vec<u8>)> {
    card.poll().iter().map(|f| (f.destination, f.source, f.index, f.bytes.to_vec())).collect()
}

/// An IPv4 UDP frame of `length` bytes.
fn ipv4(source: [u8; 4], flow: u16, length: usize) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0];
    frame.extend(source);
    frame.extend([192, 0, 2, 1]);
    frame.extend(flow.to_be_bytes());
    frame.extend([0, 53]);
    frame.resize(length, 0xA5);
    frame
}

#[test]
fn a_forwarder_swaps_ports_and_keeps_every_byte() {
    let mut numbers = Numbers::of_case(1);
    for (policy, program_name) in [
        (ROUND_ROBIN, "forward.c"),
        (LEAST_LOADED, "forward.c"),
        (FLOW_HASH, "forward_compat.c"),
        (FLOW_HASH_DROP, "forward.c"),
    ] {
        let mut card = card(4, 16, policy, &program(program_name));
        let mut sent: HashMap<(Source, u64), Vec<u8>> = HashMap::new();
        let mut counts = [0u64; 4];
        let mut left = Vec::new();
        for round in 0..3000u64 {
            let port = numbers.below(4) as u8;
            let length = if round % 50 == 0 { 16_374 } else { 14 + numbers.below(300) };
            let frame = numbers.bytes(length);
            card.push(Source::Ethernet(port), &frame).unwrap();
            sent.insert((Source::Ethernet(port), counts[usize::from(port)]), frame);
            counts[usize::from(port)] += 1;
            if numbers.below(100) == 0 {
                left.extend(collect(&mut card));
            }
        }
        left.extend(collect(&mut card));
        card.finish();
        assert!(card.faults().is_empty() && card.lost() == 0);
        assert_eq!(left.len(), sent.len());
        for (exit, source, index, bytes) in left {
            let Source::Ethernet(port) = source else { panic!("from {source:?}") };
            assert_eq!(exit, Exit::Ethernet(port ^ 1));
            assert_eq!(sent.remove(&(source, index)), Some(bytes));
        }
        for (port, &frames) in counts.iter().enumerate() {
            let (rx, tx) = (regs::CARD_STREAM_RX_FRAMES, regs::CARD_STREAM_TX_FRAMES);
            assert_eq!(u64::from(stream_read(&mut card, port as u32, rx)), frames);
            assert_eq!(u64::from(stream_read(&mut card, port as u32 ^ 1, tx)), frames);
        }
    }
}

#[test]
fn frames_of_a_flow_stay_in_order_and_on_one_unit() {
    let mut card = card(2, 16, FLOW_HASH, &program("forward.c"));
    for number in 0..4000u64 {
        let mut frame = ipv4([10, 0, 0, 1], (number % 97) as u16, 70);
        frame[60..68].copy_from_slice(&number.to_be_bytes());
        card.push(Source::Ethernet(0), &frame).unwrap();
    }
    let mut last: HashMap<u16, (u64, Option<u8>)> = HashMap::new();
    let mut units = std::collections::HashSet::new();
    for frame in card.poll() {
        let flow = u16::from_be_bytes([frame.bytes[34], frame.bytes[35]]);
        if let Some((index, unit)) = last.insert(flow, (frame.index, frame.unit)) {
            assert!(index < frame.index && unit == frame.unit, "flow {flow}");
        }
        units.insert(frame.unit);
    }
    assert_eq!(last.len(), 97);
    for (flow, (_, unit)) in last {
        // The table of this card names the units in turn.
        let entry = penstock_shell::flow_hash(&ipv4([10, 0, 0, 1], flow, 70)) % 128;
        assert_eq!(unit.map(u32::from), Some(entry % 16), "flow {flow}");
    }
    assert!(units.len() > 8, "97 flows spread over {} units", units.len());
}

#[test]
fn round_robin_serves_all_units_alike() {
    for policy in [ROUND_ROBIN, LEAST_LOADED] {
        let mut card = card(1, 8, policy, &program("forward.c"));
        for _ in 0..800 {
            card.push(Source::Ethernet(0), &[0; 60]).unwrap();
        }
        card.poll();
        for unit in 0..8 {
            assert_eq!(card.unit(unit).rx_frames, 100, "unit {unit}");
        }
    }
}

#[test]
fn bad_frames_are_dropped_with_their_reason() {
    let mut card = card(2, 2, ROUND_ROBIN, &program("forward_compat.c"));
    for length in [0, 13, 14, 16_374, 16_375, 16_384, 16_385, 65_536] {
        card.push(Source::Ethernet(0), &vec![1; length]).unwrap();
    }
    card.write(regs::CARD_PORT_ENABLE, 1).unwrap();
    card.push(Source::Ethernet(1), &[0; 60]).unwrap();
    // A slot of the compatible programs holds 16,384 bytes less the packet offset.
    assert_eq!(collect(&mut card).iter().map(|f| f.3.len()).collect::<Vec<_>>(), [14, 16_374]);
    assert_eq!(stream_read(&mut card, 0, regs::CARD_STREAM_DROP_RUNT), 2);
    assert_eq!(stream_read(&mut card, 0, regs::CARD_STREAM_DROP_OVERSIZE), 4);
    assert_eq!(stream_read(&mut card, 0, regs::CARD_STREAM_RX_FRAMES), 4);
    assert_eq!(stream_read(&mut card, 1, regs::CARD_STREAM_DROP_DISABLED), 1);
}

#[test]
fn all_frames_that_the_card_stores_fit_the_kits_slots() {
    let mut card = card(2, 2, ROUND_ROBIN, &program("forward.c"));
    let frame = Numbers::of_case(4).bytes(16_384);
    card.push(Source::Ethernet(1), &frame).unwrap();
    assert_eq!(collect(&mut card), [(Exit::Ethernet(0), Source::Ethernet(1), 0, frame)]);
    card.write(regs::CARD_SLOTS_UNIT, 1).unwrap();
    assert_eq!(card.read(regs::CARD_SLOTS_TOTAL).unwrap(), 32);
    assert_eq!(card.read(regs::CARD_SLOTS_FREE).unwrap(), 32);
    assert_eq!(card.read(regs::CARD_SLOTS_SIZE).unwrap(), 32_758);
    assert_eq!(card.read(regs::CARD_UNITS_IDLE).unwrap(), 3);
}

#[test]
fn the_host_sends_and_receives() {
    let mut card = card(2, 4, ROUND_ROBIN, &program("to_host.c"));
    card.push(Source::Ethernet(1), &[1; 64]).unwrap();
    card.push(Source::Host, &[2; 64]).unwrap();
    let left = collect(&mut card);
    assert!(left.contains(&(Exit::Host, Source::Ethernet(1), 0, vec![1; 64])));
    assert!(left.contains(&(Exit::Ethernet(0), Source::Host, 0, vec![2; 64])));
    assert_eq!(stream_read(&mut card, 4, regs::CARD_STREAM_RX_FRAMES), 1);
    assert_eq!(stream_read(&mut card, 4, regs::CARD_STREAM_TX_FRAMES), 1);
}

#[test]
fn units_make_frames_beside_those_they_forward() {
    const COUNT: u64 = 30_000;
    let firmware = main_of(
        "pn_init();
         volatile uint32_t *words = (volatile uint32_t *)(PN_PMEM_BASE + 0x6000);
         for (uint32_t n = 0;;) {
           if (pn_debug_in() && n < 30000) {
             words[0] = n;
             pn_generate(n % 3, (const void *)words, 60);
             n++;
           }
           if (pn_ready()) pn_send(pn_recv() ^ pn_port(1));
         }",
    );
    let mut card = card(2, 2, ROUND_ROBIN, &firmware);
    assert!(collect(&mut card).is_empty());
    card.write(regs::CARD_UNIT_WRITE_MASK, 3).unwrap();
    card.write(WINDOW + regs::UNIT_DEBUG_IN_L, 1).unwrap();
    for number in 0..500 {
        card.push(Source::Ethernet(number as u8 & 1), &[number as u8; 100]).unwrap();
    }
    let (mut made, mut forwarded, mut indices, mut polls) = ([0u64; 2], 0, Vec::new(), 0);
    while made != [COUNT; 2] {
        polls += 1;
        assert!(polls < 100, "{made:?} of {COUNT} after {polls} polls");
        for (exit, source, index, bytes) in collect(&mut card) {
            let Source::Unit(unit) = source else {
                forwarded += 1;
                continue;
            };
            let number = &mut made[usize::from(unit)];
            assert_eq!(exit, [Exit::Ethernet(0), Exit::Ethernet(1), Exit::Host][*number as usize % 3]);
            assert_eq!((bytes.len(), &bytes[..4]), (60, &(*number as u32).to_le_bytes()[..]));
            *number += 1;
            indices.push(index);
        }
    }
    assert!(polls > 1, "a unit does not run for ever in one poll");
    assert_eq!(forwarded, 500);
    indices.sort_unstable();
    assert!(indices.iter().copied().eq(0..2 * COUNT));
    assert!((0..9).all(|_| card.poll().is_empty()));
    assert_eq!(card.finish(), 0);
    assert!(card.faults().is_empty() && card.lost() == 0);
    for unit in 0..2 {
        assert_eq!(u64::from(unit_read(&mut card, unit, regs::UNIT_GENERATED)), COUNT);
        assert_eq!(u64::from(unit_read(&mut card, unit, regs::UNIT_TX_FRAMES)), COUNT + 250);
        assert_eq!(unit_read(&mut card, unit, regs::UNIT_RX_FRAMES), 250);
    }
    let out = [0, 1, 4].map(|stream| stream_read(&mut card, stream, regs::CARD_STREAM_TX_FRAMES));
    assert_eq!(out, [20_250, 20_250, 20_000]);
}

#[test]
fn frames_go_over_loopback_to_the_neighbour() {
    let mut card = card(2, 6, ROUND_ROBIN, &program("loopback.c"));
    for number in 0..500u16 {
        let mut frame = vec![7; 100];
        frame[1..3].copy_from_slice(&number.to_be_bytes());
        card.push(Source::Ethernet((number % 2) as u8), &frame).unwrap();
    }
    let left = collect(&mut card);
    assert_eq!(left.len(), 500);
    for (exit, source, index, bytes) in left {
        let Source::Ethernet(port) = source else { panic!("from {source:?}") };
        assert_eq!((exit, bytes[0]), (Exit::Ethernet(port ^ 1), port ^ 1));
        assert_eq!(u64::from(u16::from_be_bytes([bytes[1], bytes[2]])), 2 * index + u64::from(port));
        assert_eq!(bytes[3..], [7; 97]);
    }
    assert_eq!(stream_read(&mut card, 5, regs::CARD_STREAM_RX_FRAMES), 500);
    assert_eq!(stream_read(&mut card, 5, regs::CARD_STREAM_TX_FRAMES), 500);
    for unit in 0..6 {
        let counters = card.unit(unit);
        assert_eq!(counters.rx_frames, counters.tx_frames);
    }
}

/// Is `address` in the list? A plain loop over prefixes; the longest wins.
fn class_of(list: &str, address: [u8; 4]) -> u8 {
    let address = u32::from_be_bytes(address);
    let mut best = (-1, 0);
    for line in list.lines() {
        let (network, length) = line.split_once('/').unwrap_or((line, "32"));
        let network = u32::from(network.parse::<std::net::Ipv4Addr>().unwrap());
        let length: i32 = length.parse().unwrap();
        let same = length == 0 || (network ^ address) >> (32 - length) == 0;
        if same && length >= best.0 {
            best = (length, 1);
        }
    }
    best.1
}

const LIST: &str = "10.0.0.0/8\n192.168.7.0/24\n203.0.113.5\n255.255.255.255/32\n0.0.0.0/32\n";

#[test]
fn both_firewalls_drop_what_the_list_says() {
    for name in ["firewall.c", "firewall_compat.c"] {
        let mut card = card_with_table(2, 16, FLOW_HASH, &program(name), LIST);
        let mut numbers = Numbers::of_case(7);
        let interesting = [
            [10, 0, 0, 0],
            [9, 255, 255, 255],
            [11, 0, 0, 0],
            [203, 0, 113, 5],
            [203, 0, 113, 6],
            [255; 4],
            [0; 4],
            [0, 0, 0, 1],
        ];
        let mut expected = Vec::new();
        for number in 0..2000u64 {
            let source: [u8; 4] = match numbers.below(3) {
                0 => interesting[numbers.below(8)],
                1 => [192, 168, 5 + numbers.below(4) as u8, 1],
                _ => numbers.bytes(4).try_into().unwrap(),
            };
            let mut frame = ipv4(source, number as u16, 34 + numbers.below(600));
            match numbers.below(10) {
                0 => frame[12..14].copy_from_slice(&[0x86, 0xDD]),
                1 => frame.truncate(33),
                _ if class_of(LIST, source) == 0 => expected.push(number),
                _ => {}
            }
            card.push(Source::Ethernet(0), &frame).unwrap();
        }
        let mut passed: Vec<u64> = collect(&mut card)
            .into_iter()
            .map(|(exit, _, index, _)| {
                assert_eq!(exit, Exit::Ethernet(1));
                index
            })
            .collect();
        passed.sort_unstable();
        assert_eq!(passed, expected, "{name}");
        let blocked: u32 = (0..16).map(|unit| unit_read(&mut card, unit, regs::UNIT_BLOCKED)).sum();
        assert_eq!(blocked as usize, 2000 - expected.len());
    }
}

/// An independent check of this capture against this list finds 2,100 sources inside and 4 outside.
#[test]
fn the_papers_listing_drops_the_papers_capture() {
    // The suite sets the folder of captures and lists outside of the repository; the papers are beside them.
    let data = std::env::var_os("PENSTOCK_DATA").map(std::path::PathBuf::from).unwrap_or_default();
    let listing = data.join("../papers/rosebud-appendix-c.c");
    if data.as_os_str().is_empty() || !listing.is_file() {
        return penstock_testing::skipped("PENSTOCK_DATA does not lead to the paper's listing");
    }
    let list = std::fs::read_to_string(data.join("blocklist-1050.txt")).unwrap();
    let frames = capture(&data.join("traffic/firewall-2104.pcap"));
    assert_eq!(frames.len(), 2104);
    for firmware in [build(&listing), program("firewall.c"), program("firewall_compat.c")] {
        let mut card = card_with_table(2, 16, FLOW_HASH, &firmware, &list);
        for frame in &frames {
            card.push(Source::Ethernet(0), frame).unwrap();
        }
        let passed = collect(&mut card);
        let inside = |frame: &[u8]| class_of(&list, frame[26..30].try_into().unwrap()) != 0;
        assert!(passed.iter().all(|(_, _, _, bytes)| !inside(bytes)));
        assert_eq!(passed.len(), 4);
        let blocked: u64 = (0..16).map(|unit| card.unit(unit).blocked).sum();
        assert_eq!(blocked, 2100);
        card.finish();
        assert!(card.faults().is_empty());
    }
}

#[test]
fn a_unit_that_hangs_is_named_and_the_others_deliver() {
    let firmware = program("bad/hang.c");
    let mut card = card(2, 4, ROUND_ROBIN, &firmware);
    for number in 0..400u32 {
        let first = if number == 42 { 0xEE } else { 0 };
        card.push(Source::Ethernet(0), &[first; 60]).unwrap();
        if number == 50 {
            card.poll();
        }
    }
    card.poll();
    card.finish();
    let [fault] = card.faults() else { panic!("{:?}", card.faults()) };
    assert_eq!(fault.unit, 42 % 4);
    assert_eq!(fault.to_string(), "unit 2 has not released a slot for 10,000 instructions");
    assert!(firmware.locate(fault.pc).unwrap().starts_with("hang.c:"), "{:?}", firmware.locate(fault.pc));
    let sent: u64 = (0..2).map(|port| card.stream(port).tx_frames).sum();
    assert!(card.lost() >= 1 && card.lost() < 20);
    assert_eq!(sent + card.lost(), 400);
}

#[test]
fn a_unit_starts_anew_after_reset_and_flush() {
    let mut card = card(2, 1, ROUND_ROBIN, &program("bad/hang.c"));
    card.push(Source::Ethernet(0), &[0xEE; 60]).unwrap();
    assert!(card.poll().is_empty());
    assert_eq!(card.lost(), 1);
    card.push(Source::Ethernet(0), &[1; 60]).unwrap();
    assert!(card.poll().is_empty());
    assert_eq!(card.lost(), 2);
    card.write(WINDOW + regs::UNIT_RESET, 1).unwrap();
    card.write(regs::CARD_UNIT_FLUSH, 1).unwrap();
    card.write(WINDOW + regs::UNIT_RESET, 0).unwrap();
    card.push(Source::Ethernet(0), &[1; 60]).unwrap();
    assert_eq!(card.poll().len(), 1);
    assert_eq!(card.lost(), 2);
}

#[test]
fn wrong_programs_are_caught_and_go_on() {
    let cases = [
        ("bad/double_release.c", 100, 0, 1 << 9, rpu_regs::RPU_HOST_DESCRIPTOR_PC),
        ("bad/nowhere.c", 0, 100, 1 << 10, rpu_regs::RPU_HOST_DESTINATION_PC),
    ];
    for (name, sent, refused, error, pc) in cases {
        let firmware = program(name);
        let mut card = card(2, 1, ROUND_ROBIN, &firmware);
        for _ in 0..100 {
            card.push(Source::Ethernet(0), &[0; 60]).unwrap();
        }
        assert_eq!(card.poll().len(), sent, "{name}");
        assert_eq!(unit_read(&mut card, 0, regs::UNIT_REFUSED), refused, "{name}");
        assert_eq!(unit_read(&mut card, 0, regs::UNIT_ERRORS), error, "{name}");
        // The last error is a store of a word: sw.
        let at = unit_read(&mut card, 0, pc) as usize;
        let instruction = u32::from_le_bytes(firmware.imem[at..at + 4].try_into().unwrap());
        assert_eq!(instruction & 0x707F, 0x2023, "{name}: pc=0x{at:x}");
        card.finish();
        assert!(card.faults().is_empty(), "{name}");
    }
}

#[test]
fn a_wild_access_ends_the_program() {
    let firmware = program("bad/wild.c");
    let mut card = card(2, 1, ROUND_ROBIN, &firmware);
    for _ in 0..10 {
        card.push(Source::Ethernet(0), &[0; 60]).unwrap();
    }
    assert!(card.poll().is_empty());
    let [fault] = card.faults() else { panic!("{:?}", card.faults()) };
    assert_eq!(firmware.function(fault.pc), Some("ended_by_wild_access"));
    assert_eq!(unit_read(&mut card, 0, regs::UNIT_ERRORS), 1 << 8);
    assert_eq!(unit_read(&mut card, 0, regs::UNIT_ERROR_ADDR), 0x0F00_0040);
    let at = unit_read(&mut card, 0, rpu_regs::RPU_HOST_WILD_PC);
    assert!(firmware.locate(at).unwrap().starts_with("wild.c:10"), "{:?}", firmware.locate(at));
}

#[test]
fn time_that_the_host_tells_of_rings_timers() {
    let mut card = card(2, 1, ROUND_ROBIN, &program("timer.c"));
    card.write(WINDOW + regs::UNIT_DEBUG_IN_L, 10_000).unwrap();
    card.push(Source::Ethernet(0), &[0; 60]).unwrap();
    card.poll();
    let set = card.until_timer().unwrap();
    assert!((9_900..=10_000).contains(&set), "{set}");
    let mut rings = Vec::new();
    for cycles in [9_000, 2_000, 8_000, 2_000, 45_000, 5_000] {
        card.pass(cycles);
        card.poll();
        rings.push(unit_read(&mut card, 0, regs::UNIT_DEBUG_OUT_L));
    }
    // Those that were missed are one.
    assert_eq!(rings, [0, 1, 1, 2, 3, 4]);
    // Nobody waits for the timer of a core that does not run: it is due for as long as that lasts.
    card.write(WINDOW + regs::UNIT_HALT, 1).unwrap();
    card.pass(50_000);
    assert_eq!(card.until_timer(), None);
    card.write(WINDOW + regs::UNIT_HALT, 0).unwrap();
    card.poll();
    assert_eq!(unit_read(&mut card, 0, regs::UNIT_DEBUG_OUT_L), 5);
    assert!(card.until_timer().is_some_and(|cycles| cycles > 0));
}

#[test]
fn an_illegal_instruction_stops_the_unit_and_says_where() {
    let firmware = program("bad/illegal.c");
    let mut card = card(2, 1, ROUND_ROBIN, &firmware);
    card.push(Source::Ethernet(0), &[0; 60]).unwrap();
    card.poll();
    assert_eq!(card.faults().len(), 1);
    let pc = unit_read(&mut card, 0, regs::UNIT_DEBUG_OUT_L);
    assert!(firmware.locate(pc).unwrap().starts_with("illegal.c:9"), "{:?}", firmware.locate(pc));
    assert_eq!(unit_read(&mut card, 0, regs::UNIT_DEBUG_OUT_H), 2);
}

#[test]
fn frames_that_circle_end_with_the_traffic() {
    let mut card = card(2, 4, ROUND_ROBIN, &program("bad/circle.c"));
    for first in [0xC1, 0, 0xC1, 0, 0] {
        card.push(Source::Ethernet(0), &[first; 60]).unwrap();
    }
    assert_eq!(card.poll().len(), 3);
    assert!(card.busy());
    assert_eq!((card.finish(), card.lost(), card.busy()), (2, 2, false));
    assert!(card.faults().is_empty() && card.poll().is_empty());
}

#[test]
fn flow_hash_that_drops_counts_what_a_full_unit_misses() {
    let mut card = card(2, 2, FLOW_HASH_DROP, &program("bad/hang.c"));
    let mut frame = ipv4([10, 1, 1, 1], 1, 60);
    frame[0] = 0xEE;
    for _ in 0..100 {
        card.push(Source::Ethernet(0), &frame).unwrap();
    }
    card.poll();
    assert_eq!(card.faults().len(), 1);
    assert_eq!(card.lost() + u64::from(stream_read(&mut card, 0, regs::CARD_STREAM_DROP_POLICY)), 100);
    assert!(card.lost() <= 32);
}

#[test]
fn a_drained_unit_gets_nothing() {
    let mut card = card(2, 4, ROUND_ROBIN, &program("forward.c"));
    card.write(regs::CARD_UNIT_ENABLE, 0b1011).unwrap();
    for _ in 0..90 {
        card.push(Source::Ethernet(0), &[0; 60]).unwrap();
    }
    assert_eq!(card.poll().len(), 90);
    assert_eq!([0, 1, 2, 3].map(|unit| card.unit(unit).rx_frames), [30, 30, 0, 30]);
}

#[test]
fn registers_say_what_the_card_is() {
    let mut card = card(3, 5, LEAST_LOADED, &program("forward.c"));
    assert_eq!(card.read(regs::CARD_MAGIC).unwrap(), u32::from_be_bytes(*b"PENS"));
    assert_eq!((card.read(regs::CARD_PORTS).unwrap(), card.read(regs::CARD_UNITS).unwrap()), (3, 5));
    assert_eq!(card.read(regs::CARD_MAX_FRAME).unwrap(), 16_384);
    assert_eq!(card.read(regs::CARD_POLICY).unwrap(), LEAST_LOADED);
    assert_eq!(card.read(regs::CARD_UNIT_ENABLE).unwrap(), 0b11111);
    assert_eq!(card.read(regs::CARD_RETA + 4 * 7).unwrap(), 2);
    assert_eq!(unit_read(&mut card, 4, regs::UNIT_ID), 4);
    assert_eq!(unit_read(&mut card, 4, regs::UNIT_ENGINE), u32::from_le_bytes(*b"rpu\0"));
    assert_eq!(unit_read(&mut card, 4, rpu_regs::RPU_HOST_ACCEL), 1);
    assert_eq!(unit_read(&mut card, 0, regs::UNIT_STATUS), 0);
    // The other way round than it was written: first instruction of the program, table word.
    assert_eq!(unit_read(&mut card, 3, 0x0200_0000) & 0x7F, 0x6F);
    assert_eq!(unit_read(&mut card, 3, 0x0300_0000), u32::MAX);
}

#[test]
fn frames_enter_where_the_card_has_ports() {
    let mut card = card(3, 1, ROUND_ROBIN, &program("forward.c"));
    for source in [3, 4, 5, 6, 255].map(Source::Ethernet).into_iter().chain([Source::Loopback]) {
        let error = card.push(source, &[0; 60]).unwrap_err().to_string();
        assert!(error.contains("has 3 Ethernet ports"), "{error}");
    }
    assert!((0..6).all(|stream| card.stream(stream) == penstock_shell::StreamCounters::default()));
    card.push(Source::Ethernet(2), &[0; 60]).unwrap();
    assert_eq!(card.stream(2).rx_frames, 1);
}
