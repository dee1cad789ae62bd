// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The host writes bytes into its memory for a unit and reads the unit's bytes there, and a unit reaches only the range
//! that the host gives it, on both targets.
#![allow(clippy::unwrap_used)]

use std::{fs, ops::RangeInclusive};

use penstock_device::{
    Design, Device, DeviceError, HostMemoryCounters, Image, Port, Rate, Root, Target, Traffic, open,
};

/// Copies the host's bytes at 0x2468ACE1 into each frame and writes the frame to 0x1003.
const PROGRAM: &str = "
#include <penstock.h>
int main(void) {
    pn_init();
    for (;;) {
        pn_desc_t desc = pn_recv();
        uint8_t *data = pn_data();
        pn_host_write(7, 0x1003, data, pn_len(desc));
        pn_host_read(8, 0x2468ACE1, (void *)(PN_PMEM_BASE + 0xFFFC0), 50);
        pn_host_wait(8);
        pn_host_wait(7);
        for (int i = 0; i < 50; i++) data[i] = ((uint8_t *)(PN_PMEM_BASE + 0xFFFC0))[i];
        pn_send(desc ^ pn_port(1));
    }
}
";

const DESIGN: &str = "
[card]
name = \"host-memory\"
ports = 2

[dispatch]
policy = \"round-robin\"

[[units]]
engine = \"rpu\"
count = 1
program = \"program.c\"
";

/// The design with this program, in so many units.
fn design(root: &Root, name: &str, program: &str, units: u32) -> (Design, Image) {
    let folder = std::env::temp_dir().join(format!("penstock-host-memory-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("program.c"), program).unwrap();
    let text = DESIGN.replace("count = 1", &format!("count = {units}"));
    let design = Design::parse(&folder.join("design.toml"), &text).unwrap();
    let image = Image::of(root, &design).unwrap();
    fs::remove_dir_all(&folder).unwrap();
    (design, image)
}

#[test]
fn host_and_units_share_memory() {
    let root = Root::find().unwrap();
    let (design, image) = design(&root, "shared", PROGRAM, 1);

    let left: Vec<u8> = (0..50).map(|n| n * 5 + 1).collect();
    let frame: Vec<u8> = (0..1000).map(|n| (n * 7 % 251) as u8).collect();
    let mut traffic = Traffic::default();
    traffic.push(Port::Ethernet(0), &frame, 0);
    for target in [Target::Soft, Target::Rtl] {
        let mut device = open(&root, &design, target, &mut |_| {}).unwrap();
        device.load(&image).unwrap();
        device.host_write(0x2468_ACE1, &left).unwrap();
        device.send(&traffic, Rate::Lossless).unwrap();
        let run = device.run(&mut |_| {}).unwrap();
        assert_eq!(run.faults, [""; 0], "{target}");
        assert_eq!(run.departures.len(), 1, "{target}");
        assert_eq!(run.departures[0].bytes, [&left, &frame[50..]].concat(), "{target}");

        let mut memory = vec![0xEE; 1010];
        device.host_read(0x0FFE, &mut memory).unwrap();
        assert_eq!(memory, [&[0; 5], &frame[..], &[0; 5]].concat(), "{target}");
        let error = device.host_read(0x3FFF_FFFF, &mut memory).unwrap_err();
        assert!(matches!(error, DeviceError::HostMemory { address: 0x3FFF_FFFF, bytes: 1010 }), "{target}: {error}");
        assert!(device.host_write(u64::MAX, &[0; 2]).is_err(), "{target}");
    }
}

/// Writes the first 60 bytes of each frame to the address at byte 16 of the frame, and reads 50 bytes from the address
/// at byte 24 into the frame, from byte 40 on. Byte 0 then has the unit.
const REACH: &str = "
#include <penstock.h>
int main(void) {
    pn_init();
    uint8_t *buffer = (uint8_t *)(PN_PMEM_BASE + 0xFFFC0);
    for (;;) {
        pn_desc_t desc = pn_recv();
        uint8_t *data = pn_data();
        uint64_t to = 0, from = 0;
        for (int i = 0; i < 8; i++) to |= (uint64_t)data[16 + i] << 8 * i;
        for (int i = 0; i < 8; i++) from |= (uint64_t)data[24 + i] << 8 * i;
        for (int i = 0; i < 50; i++) buffer[i] = 0xA5;
        pn_host_write(7, to, data, 60);
        pn_host_wait(7);
        pn_host_read(8, from, buffer, 50);
        pn_host_wait(8);
        data[0] = pn_unit();
        for (int i = 0; i < 50; i++) data[40 + i] = buffer[i];
        pn_send(desc ^ pn_port(1));
    }
}
";

const TOP: u64 = u64::MAX;
/// Host memory in the simulation.
const THERE: RangeInclusive<u64> = 0..=0x3FFF_FFFF;

fn holds(range: &RangeInclusive<u64>, address: u64, bytes: u64) -> bool {
    address.checked_add(bytes - 1).is_some_and(|last| range.contains(&address) && range.contains(&last))
}

/// Sends a frame that has a unit write to one address and read from another one, and checks the unit's and the host's
/// memory and the counters. Returns the unit.
fn reach(device: &mut dyn Device, ranges: &[RangeInclusive<u64>; 2], to: u64, from: u64) -> usize {
    let what = format!("{}: write to {to:#x}, read from {from:#x}", device.target());
    let left: Vec<u8> = (0..50).map(|n| n * 3 + 1).collect();
    let is_there = |address, bytes| holds(&THERE, address, bytes);
    if is_there(to, 60) {
        device.host_write(to, &[0xEE; 60]).unwrap();
    }
    if is_there(from, 50) {
        device.host_write(from, &left).unwrap();
    }
    let mut frame: Vec<u8> = (0..100).collect();
    frame[16..24].copy_from_slice(&to.to_le_bytes());
    frame[24..32].copy_from_slice(&from.to_le_bytes());
    let mut traffic = Traffic::default();
    traffic.push(Port::Ethernet(0), &frame, 0);
    device.send(&traffic, Rate::Lossless).unwrap();
    let earlier = device.counters().unwrap();
    let run = device.run(&mut |_| {}).unwrap();
    assert_eq!(run.departures.len(), 1, "{what}: {:?}", run.faults);
    let back = &run.departures[0].bytes;
    let unit = usize::from(back[0]);
    let what = format!("{what}, by unit {unit}");

    let [writes, reads] = [holds(&ranges[unit], to, 60), holds(&ranges[unit], from, 50)];
    // The unit reads after it has written.
    let byte = |address: u64| match (address.wrapping_sub(to), address.wrapping_sub(from)) {
        (at @ 0..60, _) if writes => frame[at as usize],
        (_, at @ 0..50) => left[at as usize],
        _ => 0xEE,
    };
    if is_there(to, 60) {
        let mut memory = vec![0; 60];
        device.host_read(to, &mut memory).unwrap();
        assert_eq!(memory, (to..to + 60).map(byte).collect::<Vec<_>>(), "{what}");
    }
    let got = match (reads, is_there(from, 50)) {
        (true, true) => (from..from + 50).map(byte).collect(),
        (true, false) => vec![0; 50],
        (false, _) => vec![0xA5; 50],
    };
    assert_eq!(back[40..90], got, "{what}");

    let count = |yes: bool| u64::from(yes);
    let expected = HostMemoryCounters {
        reads: count(reads),
        read_bytes: 50 * count(reads),
        writes: count(writes),
        write_bytes: 60 * count(writes),
        errors: count(writes && !is_there(to, 60)) + count(reads && !is_there(from, 50)),
        denied: count(!writes) + count(!reads),
    };
    assert_eq!(device.counters().unwrap().since(&earlier).host_memory, expected, "{what}");
    let failed = expected.errors + expected.denied > 0;
    assert_eq!(!run.faults.is_empty(), failed && earlier.units[unit].errors == 0, "{what}: {:?}", run.faults);
    unit
}

#[test]
fn a_unit_reaches_its_range_only() {
    let root = Root::find().unwrap();
    let (design, image) = design(&root, "ranges", REACH, 2);
    let places = [
        // Both ends of the first range, with one byte beyond, and of the second one, its neighbour.
        (0x1_0000, 0x1_0FCE),
        (0x1_0FC4, 0x1_0000),
        (0x1_0FC5, 0x1_0FCF),
        (0x0_FFFF, 0x1_0FFF),
        (0x1_0FFF, 0x0_FFFF),
        (0x1_1000, 0x1_1FCE),
        (0x1_1FC5, 0x1_1FCF),
        (0x3FFF_FFC4, 0x3FFF_FFCE),
        // Beyond what the host has, at the end of the address space, and around it.
        (0x1_0001_0000, 0x1_0001_0000),
        (TOP - 59, TOP - 49),
        (TOP - 58, TOP - 48),
        (TOP, TOP),
    ];
    let (first, second, none) = (0x1_0000..=0x1_0FFF, 0x1_1000..=0x1_1FFF, RangeInclusive::new(1, 0));
    for target in [Target::Soft, Target::Rtl] {
        let mut device = open(&root, &design, target, &mut |_| {}).unwrap();
        device.load(&image).unwrap();
        let error = device.set_host_range(2, 0..=TOP).unwrap_err();
        assert!(error.to_string().contains("no unit 2"), "{error}");
        let mut ranges = [0..=TOP, 0..=TOP];
        for given in [
            None,
            Some([first.clone(), second.clone()]),
            Some([none.clone(), second.clone()]),
            Some([TOP - 0xFFF..=TOP, 0..=0x3FFF_FFFF]),
            Some([0x1_0000..=0x1_003B, none.clone()]),
            Some([0..=TOP, first.clone()]),
        ] {
            if let Some(given) = given {
                ranges = given;
                for (unit, range) in (0..).zip(&ranges) {
                    device.set_host_range(unit, range.clone()).unwrap();
                }
            }
            for (to, from) in places {
                // Errors are reported once for each load.
                device.load(&image).unwrap();
                let units = [(); 2].map(|()| reach(&mut *device, &ranges, to, from));
                assert_eq!(units.iter().sum::<usize>(), 1, "{target}: one frame for each unit");
            }
        }
    }
}
