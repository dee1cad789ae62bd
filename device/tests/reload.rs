// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Programs follow each other on one device, whatever state the last one has left; each run has its own figures.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

use penstock_device::rtl::RtlDevice;
use penstock_device::{
    Design, Device, Image, Outcome, Override, Policy, Port, Rate, Root, Run, Target, Traffic, open, regs,
};

/// Programs go on after an error.
const HANDLER: &str = "void int_handler(void) { uint32_t flags = pn_interrupts(); \
                       if (flags & PN_INT_EVICT) PN_REG(RPU_CORE_READY_TO_EVICT) = 1; pn_ack(flags); }";

/// A design of this many units, and its image with a program, of which the text after `main(void)` is given.
fn image_of_main(root: &Root, units: u32, body: &str) -> (Design, Image) {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("penstock-reload-{}-{number}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let text = format!("#include <penstock.h>\n{HANDLER}\nint main(void) {{ {body} }}\n");
    fs::write(folder.join("program.c"), text).unwrap();
    let text = format!(
        "[card]\nname = \"reload\"\nports = 2\n[dispatch]\npolicy = \"round-robin\"\n\
         [[units]]\nengine = \"rpu\"\ncount = {units}\nprogram = \"program.c\"\n"
    );
    let design = Design::parse(&folder.join("design.toml"), &text).unwrap();
    let image = Image::of(root, &design).unwrap();
    fs::remove_dir_all(folder).unwrap();
    (design, image)
}

/// A design of one unit, and its image with a program of which only the loop is given.
fn image_of(root: &Root, body: &str) -> (Design, Image) {
    image_of_main(root, 1, &format!("pn_init(); for (;;) {{ {body} }}"))
}

/// Writes `mark` into the first byte of each frame and sends it to port 1.
fn marker(mark: u8) -> String {
    format!("pn_desc_t desc = pn_recv(); *pn_data() = {mark}; pn_send(pn_to(desc, PN_PORT_ETH(1)));")
}

fn traffic(count: usize, bytes: usize) -> Traffic {
    let mut traffic = Traffic::default();
    (0..count).for_each(|number| traffic.push(Port::Ethernet(0), &vec![number as u8; bytes], 0));
    traffic
}

/// Opens a design.
fn device_of(root: &Root, design: &Design, target: Target) -> Box<dyn Device> {
    open(root, design, target, &mut |_| {}).unwrap()
}

fn run(device: &mut dyn Device, traffic: &Traffic) -> Run {
    device.send(traffic, Rate::Lossless).unwrap();
    device.run(&mut |_| {}).unwrap()
}

#[test]
fn a_program_finds_the_card_as_after_power_up() {
    let root = Root::find().unwrap();
    // Frames stay in their slots; a unit that the host must report as hung; a wild access and a frame to a bad
    // destination.
    let keeps = "pn_recv();";
    let hangs = "pn_recv(); for (;;);";
    let errs = "*(volatile uint32_t *)0x6000000 = 1; pn_send(pn_to(pn_recv(), 0x3F));";
    for target in [Target::Soft, Target::Rtl] {
        let (design, first) = image_of(&root, &marker(1));
        let mut device = device_of(&root, &design, target);
        for (round, before) in [&marker(9), keeps, hangs, errs, keeps].into_iter().enumerate() {
            let (_, before) = image_of(&root, before);
            let mark = round as u8 + 1;
            let (_, image) = if mark == 1 { (design.clone(), first.clone()) } else { image_of(&root, &marker(mark)) };
            device.load(&before).unwrap();
            let earlier = run(&mut *device, &traffic(20, 9000));
            assert_eq!(earlier.departures.len() as u64 + earlier.drops.total(), 20, "{target}, round {round}");
            assert_eq!(round == 0, earlier.faults.is_empty(), "{target}, round {round}: {:?}", earlier.faults);

            device.load(&image).unwrap();
            for count in [100, 30] {
                let later = run(&mut *device, &traffic(count, 200));
                assert_eq!(later.faults, [""; 0], "{target}, round {round}");
                assert_eq!((later.departures.len(), later.drops.total()), (count, 0), "{target}, round {round}");
                assert!(later.departures.iter().all(|out| out.bytes[0] == mark), "{target}, round {round}");
            }
            device.write(regs::CARD_SLOTS_UNIT, 0).unwrap();
            assert_eq!(device.read(regs::CARD_SLOTS_FREE).unwrap(), 32, "{target}, round {round}");
            assert_eq!(device.read(regs::CARD_UNITS_IDLE).unwrap() & 1, 1);
        }
    }
}

#[test]
fn each_run_has_its_own_figures() {
    let root = Root::find().unwrap();
    // A wild access before the first frame, and a destination that does not exist for odd frames.
    let odd_ones_err = "static int started; if (!started) *(volatile uint32_t *)0x6000000 = 1; started = 1;
        pn_desc_t desc = pn_recv(); pn_send(pn_to(desc, *pn_hdr() & 1 ? 0x3F : 1));";
    let (design, image) = image_of(&root, odd_ones_err);
    for target in [Target::Soft, Target::Rtl] {
        let mut device = device_of(&root, &design, target);
        device.load(&image).unwrap();
        for (count, faults) in [(40, 2), (10, 0), (1, 0)] {
            let traffic = traffic(count, 100);
            let outcome = Outcome::new(&design, target, &run(&mut *device, &traffic));
            let counters = &outcome.counters;
            let (frames, refused) = (count as u64, count as u64 / 2);
            assert_eq!((outcome.frames_in, outcome.total_out()), (frames, frames - refused), "{target}");
            assert_eq!((outcome.drops.refused, outcome.drops.total()), (refused, refused));
            assert_eq!((counters.ports[0].rx_frames, counters.ports[0].rx_bytes), (frames, 100 * frames), "{target}");
            assert_eq!(counters.ports[1].tx_frames, frames - refused);
            assert_eq!((counters.units[0].rx_frames, counters.units[0].refused), (frames, refused));
            // A flag that was already up does not count for this run; one that rose before the first run belongs to
            // that.
            let errors = if faults == 0 { 0 } else { 1 << 8 | 1 << 10 };
            assert_eq!((outcome.faults.len(), counters.units[0].errors), (faults, errors), "{target}");
            let wire_bits = 8 * frames * (100 + 24);
            let ratio = outcome.gbps * 1000.0 / outcome.mpps / (wire_bits as f64 / frames as f64);
            assert!((ratio - 1.0).abs() < 1e-9, "{target}: {ratio}");
            if let penstock_device::Timing::Rtl { cycles, .. } = outcome.timing {
                let mpps = frames as f64 / (cycles as f64 / 250.0);
                assert!((outcome.mpps / mpps - 1.0).abs() < 1e-9, "{} of {mpps} Mpps", outcome.mpps);
            }
        }
        // The device's own counters go on.
        assert_eq!(device.counters().unwrap().ports[0].rx_frames, 51, "{target}");
    }
}

/// Frames that go to and fro between neighbours, wait for each other there, or for a neighbour that hangs: they are
/// gone when the program is loaded again, with their slots.
#[test]
fn neighbours_are_loaded_again_while_frames_are_between_them() {
    let root = Root::find().unwrap();
    // Passes each frame to the neighbour, which sends it to port 1 or, if its first byte asks for it, back for ever.
    let neighbours = "uint32_t neighbour = PN_PORT_UNIT(pn_unit() ^ 1);
        for (;;) {
            pn_desc_t desc = pn_recv();
            int leaves = pn_from(desc) == PN_PORT_LOOPBACK && *pn_hdr() != 0xC1;
            pn_send(pn_to(desc, leaves ? 1 : neighbour));
        }";
    let (design, sound) = image_of_main(&root, 4, &format!("pn_init(); {neighbours}"));
    let (_, one_slot) = image_of_main(&root, 4, &format!("pn_init_slots(1, PN_PMEM_BASE + 10, 512); {neighbours}"));
    let hangs = format!("pn_init(); if (pn_unit() & 1) {{ pn_recv(); for (;;); }} {neighbours}");
    let (_, hangs) = image_of_main(&root, 4, &hangs);
    let sent: Vec<_> = (0..600).map(|number| vec![(number / 6) as u8; 100]).collect();
    let both_ports = |frames: &[Vec<u8>]| {
        let mut traffic = Traffic::default();
        for (number, frame) in frames.iter().enumerate() {
            traffic.push(Port::Ethernet((number % 2) as u8), frame, 0);
        }
        traffic
    };
    let circling = |count: usize| both_ports(&vec![vec![0xC1; 300]; count]);
    for target in [Target::Soft, Target::Rtl] {
        let mut device = device_of(&root, &design, target);
        for (round, (before, frames)) in
            [(&sound, circling(1)), (&one_slot, circling(4)), (&sound, circling(50)), (&hangs, circling(100))]
                .into_iter()
                .enumerate()
        {
            device.load(before).unwrap();
            let earlier = run(&mut *device, &frames);
            assert_eq!((earlier.departures.len(), earlier.faults.is_empty()), (0, false), "{target}, round {round}");

            device.load(&sound).unwrap();
            let later = run(&mut *device, &both_ports(&sent));
            assert_eq!(later.faults, [""; 0], "{target}, round {round}");
            assert_eq!((later.departures.len(), later.drops.total()), (600, 0), "{target}, round {round}");
            let mut left: Vec<_> = later.departures.iter().map(|out| out.bytes.clone()).collect();
            left.sort_unstable();
            assert!(left == sent, "{target}, round {round}");
            for unit in 0..4 {
                device.write(regs::CARD_SLOTS_UNIT, unit).unwrap();
                assert_eq!(device.read(regs::CARD_SLOTS_FREE).unwrap(), 32, "{target}, round {round}, unit {unit}");
            }
        }
    }
}

#[test]
fn units_are_loaded_one_by_one_under_traffic_that_never_ends() {
    let root = Root::find().unwrap();
    // The reload keeps the number of frames that a unit has had, and the program reports it.
    let count = "static PN_KEPT uint32_t count; pn_debug(++count, 0);";
    let body = |mark: u8| format!("pn_init(); for (;;) {{ {} {count} }}", marker(mark));
    let (design, old) = image_of_main(&root, 2, &body(1));
    let (_, new) = image_of_main(&root, 2, &body(2));
    // By hash all frames are one unit's: they change to the other one and back.
    for policy in [Policy::RoundRobin, Policy::FlowHash] {
        let design = design.clone().with(Override { policy: Some(policy), ..Override::default() }).unwrap();
        let mut device = RtlDevice::open(&root, &design, None, &mut |_| {}).unwrap();
        device.load(&old).unwrap();
        // Traffic that one unit carries alone, and without a pause.
        let seen = device.measure_reload(&traffic(50, 200), Rate::Gbps(10.0), 2_000, &new).unwrap();
        assert_eq!((seen.units.len(), seen.drops.total()), (2, 0), "{policy:?}: {:?}", seen.drops);
        // 224 bytes a frame on the wire, 40 bits a cycle.
        let sent = seen.cycles as f64 * 40.0 / (8.0 * 224.0);
        assert!((seen.left as f64 - sent).abs() < 0.05 * sent, "{policy:?}: {} of {sent} frames left", seen.left);
        let run = run(&mut device, &traffic(10, 100));
        assert_eq!(run.departures.iter().map(|frame| frame.bytes[0]).collect::<Vec<_>>(), [2; 10]);
        let units = device.counters().unwrap().units;
        // By hash the last unit has had no frame since it was loaded, so it has not reported anything.
        let tell = if policy == Policy::RoundRobin { 2 } else { 1 };
        for (number, unit) in (0..).zip(&units[..tell]) {
            let told = device.read_unit(number, regs::UNIT_DEBUG_OUT_L).unwrap();
            assert_eq!(u64::from(told), unit.rx_frames, "{policy:?}, unit {number}");
        }
    }
}
