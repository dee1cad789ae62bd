// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Maps of devices and programs on a card in RTL, filled by the host: frames go to the destinations of their entries.
#![allow(clippy::unwrap_used)]

use std::any::Any;

use penstock_device::{Design, Device, Image, Port, Rate, Root, Run, Target, Traffic, open};
use penstock_xdp_compiler::helpers::PROGRAM;
use penstock_xdp_compiler::object::Object;
use penstock_xdp_host::XdpImage;
use penstock_xdp_host::window::MAPS_WINDOW;
use penstock_xdp_soft::regs;

const UPDATE: u32 = 4;

/// A card that runs a program, and the numbers of maps by their names.
struct Card {
    device: Box<dyn Device>,
    object: Object,
    image: Image,
}

fn card(program: &str, entry: &str) -> Card {
    let root = Root::find().unwrap();
    let text = format!(
        "[card]\nname = \"devices\"\nports = 2\n[dispatch]\npolicy = \"flow-hash\"\n\
         [[units]]\nengine = \"xdp\"\ncount = 2\nprogram = \"../{program}.c\"\nxdp.entry = \"{entry}\"\n"
    );
    let design = Design::parse(&root.join("designs/devices.toml"), &text).unwrap();
    let image = Image::of(&root, &design).unwrap();
    let mut device = open(&root, &design, Target::Rtl, &mut |_| {}).unwrap();
    device.load(&image).unwrap();
    let object = Object::read(image.groups[0].image.elf()).unwrap();
    Card { device, object, image }
}

/// Writes an entry into a map, as in engines/xdp/maps.md.
fn update(Card { device, object, .. }: &mut Card, map: &str, key: &[u8], value: &[u8]) {
    let (map, _) = object.map(map).unwrap();
    let parts = |bytes: &[u8]| bytes.len().div_ceil(16) as u32;
    let mut at = MAPS_WINDOW + regs::MAPS_HOST_DATA;
    for bytes in [key, value] {
        for word in 0..4 * parts(bytes) as usize {
            let mut four = [0; 4];
            let rest = bytes.get(4 * word..).unwrap_or_default();
            let count = rest.len().min(4);
            four[..count].copy_from_slice(&rest[..count]);
            device.write(at, u32::from_le_bytes(four)).unwrap();
            at += 4;
        }
    }
    device.write(MAPS_WINDOW + regs::MAPS_HOST_INFO, map).unwrap();
    let all = parts(key) + parts(value);
    device.write(MAPS_WINDOW + regs::MAPS_HOST_COMMAND, UPDATE | parts(key) << 4 | all << 8).unwrap();
    while device.read(MAPS_WINDOW + regs::MAPS_HOST_COMMAND).unwrap() & 1 != 0 {}
    assert_eq!(device.read(MAPS_WINDOW + regs::MAPS_HOST_DATA).unwrap(), 0);
}

fn run(Card { device, .. }: &mut Card, frames: &[Vec<u8>]) -> Run {
    let mut traffic = Traffic::default();
    frames.iter().for_each(|frame| traffic.push(Port::Ethernet(0), frame, 0));
    device.send(&traffic, Rate::Lossless).unwrap();
    device.run(&mut |_| {}).unwrap()
}

/// The frames that left, sorted.
fn sorted(run: &Run) -> Vec<(Port, Vec<u8>)> {
    let mut out: Vec<_> = run.departures.iter().map(|out| (out.to, out.bytes.clone())).collect();
    out.sort_by(|a, b| a.1.cmp(&b.1));
    out
}

#[test]
fn an_entry_says_where_frames_go() {
    let mut card = card("engines/xdp/programs/redirect_map", "redirect_map");
    let frames: Vec<Vec<u8>> = (0..40u8).map(|n| (0..60).map(|byte| byte ^ n).collect()).collect();
    let mut swapped: Vec<Vec<u8>> =
        frames.iter().map(|frame| [&frame[6..12], &frame[..6], &frame[12..]].concat()).collect();
    swapped.sort();
    // None, the second port, the first, a missing one, none again.
    for (ifindex, port) in [(0u32, None), (2, Some(1)), (1, Some(0)), (77, None), (0, None)] {
        update(&mut card, "ports", &[0; 4], &ifindex.to_le_bytes());
        let run = run(&mut card, &frames);
        let expected: Vec<_> =
            swapped.iter().filter_map(|frame| Some((Port::Ethernet(port?), frame.clone()))).collect();
        assert_eq!(sorted(&run), expected, "interface {ifindex}");
        let drops = [if ifindex == 0 { 40 } else { 0 }, if ifindex == 77 { 40 } else { 0 }];
        assert_eq!([run.drops.aborted, run.drops.refused], drops, "interface {ifindex}");
    }
}

#[test]
fn routes() {
    let mut card = card("engines/xdp/programs/router_ipv4", "router_ipv4");
    let prefix = |bits: u8, address: [u8; 4]| [[bits, 0, 0, 0], address].concat();
    let route = |port: u8, gateway: [u8; 4]| [[port, 0, 0, 0], gateway].concat();
    update(&mut card, "routes", &prefix(8, [10, 0, 0, 0]), &route(5, [192, 0, 2, 1]));
    update(&mut card, "routes", &prefix(24, [10, 1, 1, 0]), &route(9, [0; 4]));
    update(&mut card, "routes", &prefix(24, [10, 2, 2, 0]), &route(63, [192, 0, 2, 1]));
    update(&mut card, "neighbours", &[192, 0, 2, 1], &[1; 12]);
    update(&mut card, "neighbours", &[10, 1, 1, 7], &[2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3]);
    update(&mut card, "ports", &[5, 0, 0, 0], &2u32.to_le_bytes());
    update(&mut card, "ports", &[9, 0, 0, 0], &1u32.to_le_bytes());

    let frame = |ttl: u8, to: [u8; 4]| {
        let mut frame = vec![0xEE; 12];
        frame.extend([8, 0, 0x45, 0, 0, 46, 0, 0, 0, 0, ttl, 17, 0x12, 0xFF, 10, 9, 9, 9]);
        frame.extend(to);
        frame.resize(60, ttl);
        frame
    };
    // The addresses of the last hop, the TTL less one, and the new checksum (RFC 1624).
    let routed = |ttl: u8, to: [u8; 4], macs: [u8; 12]| {
        let mut out = frame(ttl, to);
        out[..12].copy_from_slice(&macs);
        out[22] -= 1;
        let sum = 0x12FFu32 + 0x0100;
        out[24..26].copy_from_slice(&((sum & 0xFFFF) as u16).to_be_bytes());
        out
    };
    let near = [2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3];
    let frames = [
        frame(64, [10, 7, 7, 7]),
        frame(63, [10, 1, 1, 7]),
        frame(62, [10, 1, 1, 8]),
        frame(61, [11, 0, 0, 1]),
        frame(60, [10, 2, 2, 2]),
        frame(1, [10, 7, 7, 7]),
    ];
    let run = run(&mut card, &frames);
    let mut expected = vec![
        (Port::Ethernet(1), routed(64, [10, 7, 7, 7], [1; 12])),
        (Port::Ethernet(0), routed(63, [10, 1, 1, 7], near)),
        (Port::Host, frame(62, [10, 1, 1, 8])),
        (Port::Host, frame(1, [10, 7, 7, 7])),
    ];
    expected.sort_by(|a, b| a.1.cmp(&b.1));
    assert_eq!(sorted(&run), expected);
    // No route, and a route to a port that is not in the map.
    assert_eq!((run.drops.blocked, run.drops.aborted, run.drops.total()), (1, 1, 2));
}

#[test]
fn devices_by_hash() {
    let mut card = card("engines/xdp/tests/firmware/hashed", "hashed");
    for (key, ifindex) in [(3u8, 2u8), (200, 1)] {
        update(&mut card, "ports", &[key, 0, 0, 0], &[ifindex, 0, 0, 0, 0, 0, 0, 0]);
    }
    let keys = [3u8, 4, 200, 0];
    let mut frames: Vec<Vec<u8>> =
        (0..64u8).map(|n| [vec![keys[usize::from(n % 4)]], vec![n / 4; 63]].concat()).collect();
    let run = run(&mut card, &frames);
    frames.sort();
    let port = |frame: &Vec<u8>| match frame[..2] {
        [3, _] => Port::Ethernet(1),
        [200, _] => Port::Ethernet(0),
        [_, odd] if odd % 2 == 1 => Port::Host,
        _ => Port::Ethernet(0),
    };
    let expected: Vec<_> = frames.iter().map(|frame| (port(frame), frame.clone())).collect();
    assert_eq!(sorted(&run), expected);
}

/// Entry 2 of the program array in firmware/helped.c, which that leaves empty.
#[test]
fn an_entry_says_which_program_takes_over() {
    let mut card = card("engines/xdp/tests/firmware/helped", "helped");
    let image: &dyn Any = &*card.image.groups[0].image;
    let rows = image.downcast_ref::<XdpImage>().unwrap().rows().unwrap();
    let row = rows.programs.iter().find(|(name, _)| name == "second").unwrap().1;
    let frames: Vec<Vec<u8>> = (0..20).map(|n| [vec![5, 4 * n + 2], vec![0; 78]].concat()).collect();
    for entry in [0, PROGRAM | row, 0] {
        update(&mut card, "programs", &2u32.to_le_bytes(), &entry.to_le_bytes());
        let run = run(&mut card, &frames);
        let ran = |frame: &Vec<u8>| {
            let mut frame = frame.clone();
            let gave = if entry == 0 { [1, 0] } else { [7, frame[1].min(33)] };
            frame[2..4].copy_from_slice(&gave);
            (Port::Ethernet(0), frame)
        };
        assert_eq!(sorted(&run), frames.iter().map(ran).collect::<Vec<_>>(), "{entry:#x}");
    }
}
