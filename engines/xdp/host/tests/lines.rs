// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The lines that programs print on a native card.
#![allow(clippy::unwrap_used)]

use penstock_device::{Design, Device, Image, LiveDevice, Port, Root, SoftDevice};

/// The lines wait even if another program has replaced the one that printed them.
#[test]
fn lines_are_taken_once() {
    let root = Root::find().unwrap();
    let text = "[card]\nname = \"lines\"\nports = 2\n[[units]]\nengine = \"xdp\"\ncount = 2\n\
        program = \"../engines/xdp/tests/firmware/printed.c\"\n[dispatch]\npolicy = \"round-robin\"\n";
    let design = Design::parse(&root.join("designs/lines.toml"), text).unwrap();
    let [first, second, third] = [(); 3].map(|()| Image::of(&root, &design).unwrap());
    let mut device = SoftDevice::open(&design).unwrap();
    device.load(&first).unwrap();
    let print = |device: &mut SoftDevice, frames: usize| {
        (0..frames).for_each(|_| device.push(Port::Ethernet(0), &[0; 100]).unwrap());
        assert_eq!(device.pump().count(), 0);
    };
    let taken = |device: &mut SoftDevice| {
        let log = device.take_log().unwrap();
        assert!(log.lines.iter().all(|line| line == "hello"));
        (log.lines.len(), log.lost)
    };
    print(&mut device, 3);
    assert_eq!((taken(&mut device), taken(&mut device)), ((3, 0), (0, 0)));
    print(&mut device, 2);
    device.swap(&second.groups[0]).unwrap();
    print(&mut device, 2);
    assert_eq!(taken(&mut device), (4, 0));
    for unit in 0..2 {
        print(&mut device, 2);
        device.start_unit(unit, &third).unwrap();
        while !device.is_up(unit).unwrap() {}
    }
    print(&mut device, 1);
    assert_eq!(taken(&mut device), (5, 0));
    for _ in 0..258 {
        print(&mut device, 256);
    }
    let lost = 258 * 256 - (1 << 16);
    assert_eq!(taken(&mut device), (1 << 16, lost));
    print(&mut device, 1);
    assert_eq!(taken(&mut device), (1, lost));
    device.load(&first).unwrap();
    assert_eq!(taken(&mut device), (0, 0));
}
