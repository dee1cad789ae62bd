// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Features that the engine has and the kernel lacks: processors, targets of redirections, records to the host, the
//! clock, routes.
#![allow(clippy::unwrap_used)]

mod common;

use std::net::IpAddr;

use common::{object, own, shipped};
use penstock_xdp_compiler::object::Object;
use penstock_xdp_maps::Store;
use penstock_xdp_soft::{
    Action, Engine, Frame, Input, Interface, LoadError, Neighbour, Port, Route, RouteKind, RunError, Target, Verdict,
};

/// An engine of an object with two processors.
struct Card {
    object: Object,
    engine: Engine,
}

impl Card {
    fn new(object: Object) -> Card {
        let engine = Engine::new(&object, 2).unwrap();
        Card { object, engine }
    }

    fn run(&mut self, program: &str, data: &[u8], input: Input) -> (Verdict, Frame) {
        let program = self.engine.load(&self.object, program).unwrap();
        let mut frame = Frame::new(data.to_vec());
        (self.engine.run(program, &mut frame, &input).unwrap(), frame)
    }

    fn set(&mut self, map: &str, key: u32, value: &[u8]) {
        let id = self.engine.map(&self.object, map).unwrap();
        self.engine.maps().set(id, &key.to_ne_bytes(), value, Store::Any).unwrap();
    }
}

/// Each processor counts for itself.
#[test]
fn processors() {
    let mut card = Card::new(shipped("redirect_map"));
    for cpu in [0, 1, 1] {
        card.run("redirect_map", &[0; 60], Input { cpu, ..Input::default() });
    }
    let map = card.engine.map(&card.object, "redirected").unwrap();
    let counts: Vec<u8> = [1u64, 2].into_iter().flat_map(u64::to_ne_bytes).collect();
    assert_eq!(card.engine.maps().get(map, &[0; 4]).unwrap(), counts);
    let program = card.engine.load(&card.object, "redirect_map").unwrap();
    let refused = card.engine.run(program, &mut Frame::default(), &Input { cpu: 2, ..Input::default() });
    assert_eq!(refused, Err(RunError::Processor { cpu: 2, cpus: 2 }));
}

/// The command in a frame of helpers.c.
fn command(which: u32, key: u32, flags: u64, words: &[u64]) -> Vec<u8> {
    let mut frame = [0u32.to_ne_bytes(), which.to_ne_bytes()].concat();
    frame.extend(flags.to_ne_bytes());
    frame.extend([key.to_ne_bytes(), [0; 4]].concat());
    frame.extend(0u64.to_ne_bytes());
    frame.extend(words.iter().copied().flat_map(u64::to_ne_bytes));
    frame.resize(110, 0x5A);
    frame
}

#[test]
fn targets() {
    let mut card = Card::new(own("helpers"));
    let input = Input { ifindex: 7, ..Input::default() };
    for (key, ifindex) in [(0, 5u32), (2, 7), (3, 9)] {
        card.set("devmap", key, &ifindex.to_ne_bytes());
    }
    let (program, egress) = (card.engine.load(&card.object, "head").unwrap(), 6u32);
    card.set("devmap_hash", 77, &[egress.to_ne_bytes(), program.handle().to_ne_bytes()].concat());
    card.set("cpumap", 1, &64u32.to_ne_bytes());
    card.set("xskmap", 4, &3u32.to_ne_bytes());
    let plain = |ifindex| Port { ifindex, program: None };
    for (name, frame, target) in [
        ("to_port", command(12, 0, 0, &[]), Some(Target::Port(plain(12)))),
        ("to_devmap", command(0, 3, 0, &[]), Some(Target::Port(plain(9)))),
        ("to_devmap", command(0, 1, 2, &[]), None),
        ("to_devmap", command(0, 0, 8, &[]), Some(Target::Ports(vec![plain(5), plain(7), plain(9)]))),
        ("to_devmap", command(0, 0, 24, &[]), Some(Target::Ports(vec![plain(5), plain(9)]))),
        ("to_devmap_hash", command(0, 77, 0, &[]), Some(Target::Port(Port { ifindex: 6, program: Some(program) }))),
        ("to_cpumap", command(0, 1, 0, &[]), Some(Target::Cpu { cpu: 1, program: None })),
        ("to_xskmap", command(0, 4, 0, &[]), Some(Target::Socket(3))),
        ("to_xskmap", command(0, 5, 1, &[]), None),
    ] {
        let (verdict, _) = card.run(name, &frame, input);
        assert_eq!(verdict.action() == Action::Redirect, target.is_some(), "{name}");
        assert_eq!(verdict.target, target, "{name}");
    }
}

#[test]
fn records() {
    let mut card = Card::new(own("helpers"));
    let (ring, perf) = (card.engine.map(&card.object, "ring").unwrap(), card.engine.map(&card.object, "perf").unwrap());
    // The queue of processor 1 is entry 1; entry 0 stays empty.
    card.set("perf", 1, &1u32.to_ne_bytes());
    let input = |cpu| Input { cpu, ..Input::default() };
    let own_queue = u64::from(u32::MAX);
    let event = command(8, 0, own_queue | 5 << 32, &[0x0102_0304_0506_0708]);
    let (verdict, _) = card.run("event", &event, input(0));
    assert_eq!(verdict.result.cast_signed(), -2);
    let (verdict, _) = card.run("event", &event, input(1));
    assert_eq!(verdict.result, 0);
    let (verdict, _) = card.run("event", &command(8, 0, 1, &[]), input(0));
    assert_eq!(verdict.result.cast_signed(), -95);
    let taken = card.engine.maps().events(perf, 1).unwrap().take().unwrap();
    assert_eq!(taken, [&[8, 7, 6, 5, 4, 3, 2, 1][..], &event[..5]].concat());
    assert_eq!(card.engine.maps().events(perf, 1).unwrap().take(), None);
    let (verdict, _) = card.run("output", &command(3, 0, 0, &[0x61_6263]), input(0));
    assert_eq!(verdict.result, 0);
    assert_eq!(card.engine.maps().take_record(ring).unwrap(), b"cba");
}

#[test]
fn egress_programs() {
    let mut card = Card::new(object("all"));
    for (egress, action) in [(3, Action::Drop), (4, Action::Pass)] {
        let (verdict, _) = card.run("leaving", &[0; 60], Input { egress, ..Input::default() });
        assert_eq!(verdict.action(), action);
    }
    // The map in a map that the object puts there holds 0 at 2, then 5.
    assert_eq!(card.run("second_program", &[0; 60], Input::default()).0.action(), Action::Drop);
    card.set("first", 2, &5u64.to_ne_bytes());
    assert_eq!(card.run("second_program", &[0; 60], Input::default()).0.action(), Action::Pass);
}

#[test]
fn refused() {
    let mut card = Card::new(shipped("xdp1"));
    assert!(matches!(card.engine.load(&card.object, "other"), Err(LoadError::Name { .. })));
    let program = card.engine.load(&card.object, "xdp1").unwrap();
    let long = card.engine.run(program, &mut Frame::new(vec![0; 3521]), &Input::default());
    assert_eq!(long, Err(RunError::Frame(3521)));
    assert!(card.engine.run(program, &mut Frame::new(vec![0; 3520]), &Input::default()).is_ok());
}

/// `struct bpf_fib_lookup` for IPv4.
fn query(dest: [u8; 4], length: u16, ifindex: u32) -> Vec<u8> {
    let mut query = vec![0; 64];
    query[0] = 2;
    query[6..8].copy_from_slice(&length.to_ne_bytes());
    query[8..12].copy_from_slice(&ifindex.to_ne_bytes());
    query[32..36].copy_from_slice(&dest);
    query
}

#[test]
fn routes() {
    let mut card = Card::new(own("routes"));
    let address = |text: &str| text.parse::<IpAddr>().unwrap();
    let route = |prefix, bits, kind, ifindex, gateway: Option<&str>| Route {
        prefix: address(prefix),
        bits,
        kind,
        ifindex,
        gateway: gateway.map(address),
        metric: 0,
    };
    let routes = card.engine.routes();
    routes.routes = vec![
        route("0.0.0.0", 0, RouteKind::Unicast, 2, Some("10.0.0.1")),
        route("10.0.0.0", 24, RouteKind::Unicast, 2, None),
        route("10.0.0.128", 25, RouteKind::Blackhole, 0, None),
        route("10.9.0.0", 16, RouteKind::Unreachable, 0, None),
        route("10.9.9.0", 24, RouteKind::Prohibit, 0, None),
        route("10.1.0.0", 16, RouteKind::Local, 1, None),
    ];
    for (ifindex, forwards) in [(1, true), (2, true), (3, false)] {
        routes.interfaces.insert(ifindex, Interface { mac: [ifindex as u8; 6], mtu: 1500, forwards });
    }
    let near = Neighbour { ifindex: 2, address: address("10.0.0.1") };
    routes.neighbours.insert(near, [0xAA; 6]);
    for (dest, length, ifindex, answer, left) in [
        ([8, 8, 8, 8], 1500, 1, 0, Some([10, 0, 0, 1])),
        ([10, 0, 0, 1], 0, 1, 0, Some([10, 0, 0, 1])),
        ([10, 0, 0, 5], 0, 1, 7, None),
        ([10, 0, 0, 200], 0, 1, 1, None),
        ([10, 9, 1, 1], 0, 1, 2, None),
        ([10, 9, 9, 1], 0, 1, 3, None),
        ([10, 1, 9, 1], 0, 1, 4, None),
        ([8, 8, 8, 8], 1501, 1, 8, None),
        ([8, 8, 8, 8], 60, 3, 5, None),
        ([8, 8, 8, 8], 60, 9, -19, None),
    ] {
        let (verdict, frame) = card.run("route", &query(dest, length, ifindex), Input::default());
        assert_eq!(verdict.result.cast_signed(), answer, "{dest:?}");
        if let Some(hop) = left {
            assert_eq!(frame.data[8..12], 2u32.to_ne_bytes());
            assert_eq!(frame.data[32..36], hop);
            assert_eq!(frame.data[52..58], [2; 6]);
            assert_eq!(frame.data[58..64], [0xAA; 6]);
        }
    }
}

/// A map that has no room refuses the programs that use it, and no others.
#[test]
fn maps_without_room() {
    let mut object = own("helpers");
    object.set_entries("lru_hash", u32::MAX).unwrap();
    let mut card = Card::new(object);
    assert_eq!(card.run("fill_stack", &[0; 64], Input::default()).0.result, 0x5A);
    assert!(card.engine.map(&card.object, "lru_hash").is_none() && card.engine.map(&card.object, "array").is_some());
    let error = card.engine.load(&card.object, "on_lru_hash").unwrap_err().to_string();
    assert!(error.starts_with("map lru_hash: ") && error.contains("fewer entries"), "{error}");
}

/// A helper that fails does not change the stack, which holds nothing of the last frame.
#[test]
fn stack_of_the_frame_before() {
    let mut card = Card::new(own("helpers"));
    assert_eq!(card.run("fill_stack", &[0; 64], Input::default()).0.result, 0x5A);
    assert_eq!(card.run("unfilled_stack", &[0; 64], Input::default()).0.result, 0);
}

/// The clock keeps its setting; the same seed gives the same numbers.
#[test]
fn clock_and_chance() {
    let mut card = Card::new(own("routes"));
    card.engine.set_time(0x1_2345_6789_ABCD);
    let (_, frame) = card.run("time_and_chance", &[0; 64], Input::default());
    assert_eq!(frame.data[..8], 0x1_2345_6789_ABCDu64.to_ne_bytes());
    assert_eq!(frame.data[16..24], frame.data[..8]);
    let mut drawn = Vec::new();
    for seed in [1, 1, 2] {
        card.engine.set_seed(seed);
        drawn.push(card.run("time_and_chance", &[0; 64], Input::default()).1.data[8..12].to_vec());
    }
    assert_eq!(drawn[0], drawn[1]);
    assert_ne!(drawn[0], drawn[2]);
}
