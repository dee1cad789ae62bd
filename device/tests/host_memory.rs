// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The host writes bytes into its memory for a unit and reads the unit's bytes there, on both targets.
#![allow(clippy::unwrap_used)]

use std::fs;

use penstock_device::{Design, DeviceError, Image, Port, Rate, Root, Target, Traffic, open};

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

#[test]
fn host_and_units_share_memory() {
    let root = Root::find().unwrap();
    let folder = std::env::temp_dir().join(format!("penstock-host-memory-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("program.c"), PROGRAM).unwrap();
    let design = Design::parse(&folder.join("design.toml"), DESIGN).unwrap();
    let image = Image::of(&root, &design).unwrap();
    fs::remove_dir_all(&folder).unwrap();

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
