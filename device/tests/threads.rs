// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! However many threads share the simulation of a card, it does the same in the same cycles.
#![allow(clippy::unwrap_used)]

use penstock_device::rtl::RtlDevice;
use penstock_device::{Design, Device, ForGroup, Image, Override, Port, Rate, Root, Traffic};

/// A frame that left: where, the cycles in which it entered and left, its bytes.
type Frame = (Port, u64, u64, Vec<u8>);

/// Sends frames of many sizes; gives those that left, and what the card counted.
fn run(device: &mut RtlDevice) -> (Vec<Frame>, String) {
    let mut traffic = Traffic::default();
    for number in 0..300_usize {
        let size = [60, 61, 127, 128, 129, 700, 1514][number % 7];
        traffic.push(Port::Ethernet((number % 2) as u8), &vec![number as u8; size], 0);
    }
    device.send(&traffic, Rate::Line).unwrap();
    let run = device.run(&mut |_| {}).unwrap();
    assert!(run.faults.is_empty(), "{:?}", run.faults);
    let left = run.departures.into_iter().map(|frame| (frame.to, frame.entered, frame.last, frame.bytes));
    (left.collect(), format!("{:?}", run.counters))
}

#[test]
fn threads_change_nothing() {
    let root = Root::find().unwrap();
    let design = Design::read(&root.join("designs/forward.toml")).unwrap();
    let design = design.with(Override { units: vec![ForGroup::only(3)], ..Override::default() }).unwrap();
    let image = Image::of(&root, &design).unwrap();
    let open = || {
        let mut device = RtlDevice::open(&root, &design, None, &mut |_| {}).unwrap();
        device.load(&image).unwrap();
        device
    };
    let mut device = open();
    let alone = [run(&mut device), run(&mut device)];
    assert_eq!(alone.each_ref().map(|(left, _)| left.len()), [300, 300]);
    // Two share the units, three have one or none, and five are more than there is work for.
    for threads in [2, 3, 5] {
        let mut device = open();
        device.use_threads(threads);
        let first = run(&mut device);
        // Threads can also be added and taken away between two runs.
        device.use_threads(threads % 3);
        assert_eq!([first, run(&mut device)], alone, "{threads} threads");
    }
}
