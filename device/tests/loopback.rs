// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Frames between units: both targets deliver, refuse and count them alike.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

use penstock_device::{Design, Device, Image, Port, Rate, Root, Run, Target, Traffic, open, regs};

/// Unit 0 changes the headers and sends each frame where its first byte says; the others write the flow hash that they
/// see into it and send it to port 1. Unit 0 has larger slots than the others.
const PROGRAM: &str = "
#include <penstock.h>
int main(void) {
    pn_init_headers(8, PN_HEADERS_BASE, 128);
    pn_init_slots(8, PN_PMEM_BASE + 10, pn_unit() ? 512 : 1024);
    for (;;) {
        pn_desc_t desc = pn_recv();
        uint8_t *data = pn_data();
        if (pn_unit() == 0) {
            for (int i = 26; i < 38; i++) data[i] ^= (uint8_t)i;
            pn_send(pn_to(desc, pn_hdr()[0]));
        } else {
            uint32_t hash = pn_hash();
            for (int i = 0; i < 4; i++) data[i] = (uint8_t)(hash >> (8 * i));
            pn_send(pn_to(desc, PN_PORT_ETH(1)));
        }
    }
}
";

/// One slot a unit: each sends frames from a port to the next unit, and the others to port 1.
const RING: &str = "
#include <penstock.h>
int main(void) {
    pn_init_slots(1, PN_PMEM_BASE + 10, 512);
    for (;;) {
        pn_desc_t desc = pn_recv();
        pn_send(pn_to(desc, pn_from(desc) == PN_PORT_LOOPBACK ? PN_PORT_ETH(1) : PN_PORT_UNIT((pn_unit() + 1) & 3)));
    }
}
";

/// Changes the addresses of each frame and sends it to a unit of the dispatcher's choice, which sends it to port 1.
/// Both write their number into its first bytes, and the second unit also the flow hash that it sees, after them.
const TO_ANY: &str = "
#include <penstock.h>
int main(void) {
    pn_init();
    for (;;) {
        pn_desc_t desc = pn_recv();
        uint8_t *data = pn_data();
        if (pn_from(desc) == PN_PORT_LOOPBACK) {
            uint32_t hash = pn_hash();
            data[1] = (uint8_t)pn_unit();
            for (int i = 0; i < 4; i++) data[2 + i] = (uint8_t)(hash >> (8 * i));
            pn_send(pn_to(desc, PN_PORT_ETH(1)));
        } else {
            data[0] = (uint8_t)pn_unit();
            for (int i = 26; i < 34; i++) data[i] ^= (uint8_t)(i * 37);
            pn_send(pn_to(desc, PN_PORT_LOOPBACK));
        }
    }
}
";

fn design(name: &str, policy: &str, program: &str) -> String {
    format!(
        "[card]\nname = \"{name}\"\nports = 2\n[dispatch]\npolicy = \"{policy}\"\n\
         [[units]]\nengine = \"rpu\"\ncount = 4\nprogram = \"{program}\"\n"
    )
}

/// A design of four units, and its image with a program of which the text is given.
fn image_of(root: &Root, policy: &str, program: &str) -> (Design, Image) {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("penstock-loopback-{}-{number}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("program.c"), program).unwrap();
    let design = Design::parse(&folder.join("design.toml"), &design("loopback", policy, "program.c")).unwrap();
    let image = Image::of(root, &design).unwrap();
    fs::remove_dir_all(folder).unwrap();
    (design, image)
}

/// Opens a design.
fn device_of(root: &Root, design: &Design, target: Target) -> Box<dyn Device> {
    open(root, design, target, &mut |_| {}).unwrap()
}

fn run(device: &mut dyn Device, traffic: &Traffic) -> Run {
    device.send(traffic, Rate::Lossless).unwrap();
    device.run(&mut |_| {}).unwrap()
}

/// An IPv4 frame whose first byte is `to`.
fn frame(to: u8, number: u8, length: usize) -> Vec<u8> {
    let mut frame = vec![number; length];
    frame[0] = to;
    frame[12..24].copy_from_slice(&[8, 0, 0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17]);
    frame
}

#[test]
fn refusals_are_counted_alike_and_a_frame_keeps_its_hash() {
    let root = Root::find().unwrap();
    let (design, image) = image_of(&root, "flow-hash", PROGRAM);

    // Unit 1 takes frames of up to 502 bytes; unit 2 will have no slots and unit 3 not be enabled.
    let mut traffic = Traffic::default();
    for number in 0..60u8 {
        let (to, length) =
            [(0x41, 64), (0x42, 70), (0x43, 80), (0x41, 503), (0x41, 502), (1, 90)][usize::from(number % 6)];
        traffic.push(Port::Ethernet(number % 2), &frame(to, number, length), 0);
    }
    for target in [Target::Soft, Target::Rtl] {
        let mut device = device_of(&root, &design, target);
        device.load(&image).unwrap();
        for entry in 0..regs::CARD_RETA_COUNT {
            device.write(regs::CARD_RETA + 4 * entry, 0).unwrap();
        }
        device.write(regs::CARD_UNIT_ENABLE, 0b0111).unwrap();
        device.write(regs::CARD_UNIT_FLUSH, 0b0100).unwrap();
        let outcome = run(&mut *device, &traffic);
        assert_eq!(outcome.faults, [""; 0], "{target}");
        assert_eq!((outcome.drops.policy, outcome.drops.oversize, outcome.drops.total()), (20, 10, 30), "{target}");
        let counters = &outcome.counters;
        let loopback = &counters.loopback;
        assert_eq!((loopback.drop_policy, loopback.drop_oversize), (20, 10), "{target}");
        assert_eq!((loopback.rx_frames, loopback.tx_frames), (20, 20), "{target}");
        assert_eq!((loopback.rx_bytes, loopback.tx_bytes), (5660, 5660), "{target}");
        let units: Vec<_> = counters.units.iter().map(|unit| (unit.rx_frames, unit.tx_frames)).collect();
        assert_eq!(units, [(60, 30), (20, 20), (0, 0), (0, 0)], "{target}");
        assert_eq!(counters.units[0].tx_bytes, 5660 + 900, "{target}");
        assert_eq!(counters.units[0].blocked + counters.units[0].refused, 0, "{target}");
        device.write(regs::CARD_SLOTS_UNIT, 0).unwrap();
        assert_eq!(device.read(regs::CARD_SLOTS_FREE).unwrap(), 8, "{target}");

        assert_eq!(outcome.departures.len(), 30, "{target}");
        let mut looped = 0;
        for out in outcome.departures.iter().filter(|out| out.bytes.len() != 90) {
            let number = out.bytes[40];
            let entered = frame(0, number, out.bytes.len());
            assert_eq!(out.bytes[..4], penstock_shell::flow_hash(&entered).to_le_bytes(), "{target}, frame {number}");
            looped += 1;
        }
        assert_eq!(looped, 20);

        // A flow whose unit cannot take it is dropped at once.
        for unit in [2, 3] {
            for entry in 0..regs::CARD_RETA_COUNT {
                device.write(regs::CARD_RETA + 4 * entry, unit).unwrap();
            }
            let outcome = run(&mut *device, &traffic);
            assert_eq!((outcome.drops.policy, outcome.drops.total()), (60, 60), "{target}, unit {unit}");
            assert_eq!(outcome.counters.ports.iter().map(|port| port.drop_policy).collect::<Vec<_>>(), [30, 30]);
        }
    }
}

#[test]
fn neighbours_pass_on_more_frames_than_they_have_slots() {
    let root = Root::find().unwrap();
    let text = design("neighbours", "round-robin", "../engines/rpu/programs/loopback.c");
    let design = Design::parse(&root.join("designs/neighbours.toml"), &text).unwrap();
    let image = Image::of(&root, &design).unwrap();
    let mut traffic = Traffic::default();
    for number in 0..3000u32 {
        traffic.push(Port::Ethernet((number % 2) as u8), &[&[0; 40], &number.to_le_bytes()[..], &[7; 20]].concat(), 0);
    }
    for target in [Target::Soft, Target::Rtl] {
        let mut device = device_of(&root, &design, target);
        device.load(&image).unwrap();
        let outcome = run(&mut *device, &traffic);
        assert_eq!((outcome.faults.len(), outcome.drops.total()), (0, 0), "{target}: {:?}", outcome.faults);
        let mut left: Vec<_> = outcome.departures.iter().map(|out| out.bytes[40..44].to_vec()).collect();
        left.sort_by_key(|bytes| u32::from_le_bytes(bytes[..].try_into().unwrap()));
        assert_eq!(left, (0..3000u32).map(|number| number.to_le_bytes().to_vec()).collect::<Vec<_>>(), "{target}");
        assert_eq!((outcome.counters.loopback.rx_frames, outcome.counters.loopback.tx_frames), (3000, 3000));
    }
}

/// The policy uses the hash with which a frame entered, not its present bytes; or it takes the units in turn.
#[test]
fn frames_for_any_unit_go_where_the_policy_says() {
    let root = Root::find().unwrap();
    // No pattern of period four.
    let unit_of = |entry: u32| (entry * entry + entry / 8) % 4;
    let mut traffic = Traffic::default();
    let mut hashes = Vec::new();
    for number in 0..200u8 {
        let frame = frame(number, number, 60 + usize::from(number) % 70);
        hashes.push(penstock_shell::flow_hash(&frame));
        traffic.push(Port::Ethernet(number % 2), &frame, 0);
    }
    for policy in ["flow-hash", "round-robin", "least-loaded"] {
        let (design, image) = image_of(&root, policy, TO_ANY);
        for target in [Target::Soft, Target::Rtl] {
            let mut device = device_of(&root, &design, target);
            device.load(&image).unwrap();
            for entry in 0..regs::CARD_RETA_COUNT {
                device.write(regs::CARD_RETA + 4 * entry, unit_of(entry)).unwrap();
            }
            let outcome = run(&mut *device, &traffic);
            let case = format!("{policy} on {target}");
            assert_eq!((&outcome.faults[..], outcome.drops.total()), (&[][..], 0), "{case}");
            let mut numbers: Vec<_> = outcome.departures.iter().map(|out| out.bytes[40]).collect();
            numbers.sort_unstable();
            assert_eq!(numbers, (0..200).collect::<Vec<_>>(), "{case}");
            let mut got = [0; 4];
            for out in &outcome.departures {
                let hash = hashes[usize::from(out.bytes[40])];
                assert_eq!(out.bytes[2..6], hash.to_le_bytes(), "{case}");
                let unit = unit_of(hash % 128) as u8;
                assert!(policy != "flow-hash" || out.bytes[..2] == [unit, unit], "{case}");
                got[usize::from(out.bytes[1])] += 1;
            }
            assert!(got.iter().all(|frames| *frames > 20), "{case}: {got:?}");
            let loopback = &outcome.counters.loopback;
            assert_eq!((loopback.rx_frames, loopback.tx_frames), (200, 200), "{case}");
        }
    }
}

#[test]
fn units_that_wait_for_each_other_are_named() {
    let root = Root::find().unwrap();
    let (design, image) = image_of(&root, "round-robin", RING);
    let mut traffic = Traffic::default();
    (0..8).for_each(|number| traffic.push(Port::Ethernet(number % 2), &[number; 60], 0));
    let mut expected: Vec<_> = (0..4)
        .map(|unit| {
            format!("unit {unit} stays full: its frames and those for it wait for each other over loopback, pc=")
        })
        .collect();
    expected.push("8 frames are lost".to_string());
    for target in [Target::Soft, Target::Rtl] {
        let mut device = device_of(&root, &design, target);
        device.load(&image).unwrap();
        let outcome = run(&mut *device, &traffic);
        assert_eq!((outcome.drops.lost, outcome.drops.total()), (8, 8), "{target}");
        assert_eq!(outcome.faults.len(), 5, "{target}: {:?}", outcome.faults);
        for (fault, start) in outcome.faults.iter().zip(&expected) {
            assert!(fault.starts_with(start), "{target}: {:?}", outcome.faults);
        }
    }
}

#[test]
fn frames_that_go_round_are_told() {
    let root = Root::find().unwrap();
    let text = design("circle", "round-robin", "../engines/rpu/programs/bad/circle.c");
    let design = Design::parse(&root.join("designs/circle.toml"), &text).unwrap();
    let image = Image::of(&root, &design).unwrap();
    let mut traffic = Traffic::default();
    [1, 0xC1, 2, 0xC1, 0xC1, 3].iter().for_each(|first| traffic.push(Port::Ethernet(0), &[*first; 60], 0));
    for target in [Target::Soft, Target::Rtl] {
        let mut device = device_of(&root, &design, target);
        device.load(&image).unwrap();
        let outcome = run(&mut *device, &traffic);
        assert_eq!((outcome.departures.len(), outcome.drops.lost, outcome.drops.total()), (3, 3, 3), "{target}");
        assert_eq!(outcome.faults.len(), 2, "{target}: {:?}", outcome.faults);
        assert_eq!(outcome.faults[0], "3 frames still circle over loopback", "{target}");
    }
}
