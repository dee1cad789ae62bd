// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Frames between units: both targets deliver, refuse and count them alike.
#![allow(clippy::unwrap_used)]

use std::fs;

use penstock_device::{Design, Device, Image, Port, Rate, Root, Run, Target, Traffic, open, regs};

/// Unit 0 changes the headers and sends each frame where its first byte says; the others write the flow hash that they see
/// into it and send it to port 1. Unit 0 has larger slots than the others.
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

fn design(name: &str, policy: &str, program: &str) -> String {
    format!(
        "[card]\nname = \"{name}\"\nports = 2\n[dispatch]\npolicy = \"{policy}\"\n\
         [[units]]\nengine = \"rpu\"\ncount = 4\nprogram = \"{program}\"\n"
    )
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
    let folder = std::env::temp_dir().join(format!("penstock-loopback-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("program.c"), PROGRAM).unwrap();
    let text = design("loopback", "flow-hash", "program.c");
    let design = Design::parse(&folder.join("design.toml"), &text).unwrap();
    let image = Image::of(&root, &design).unwrap();
    fs::remove_dir_all(folder).unwrap();

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
