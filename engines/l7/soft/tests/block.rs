// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The block, packet by packet.

#![allow(clippy::unwrap_used)]

use penstock_l7::{Block, Limits};
use penstock_unit::{Block as _, Entering, Made, Verdict};

const RULES: &str = r#"
    message M { option (type) = 1; string s = 1 [(dispatch) = true]; }
    application a = 7 { udp port 7000; tenant 3; on M {
        rule unit { s = "unit"; } => unit 2;
        rule key { s = "key" ..; } => units by s;
        rule no { s = "no"; } => drop;
        default => queue 5; } }"#;
const ENTERING: Entering = Entering { port: 1, hash: 0xABCD, tenant: 3 };

/// A packet of a message of M, over IPv4 or IPv6.
#[derive(Clone)]
struct Packet {
    v6: bool,
    vlan: bool,
    host: u8,
    id: u8,
    count: u8,
    number: u8,
    part: Vec<u8>,
}

impl Packet {
    fn new(count: u8, number: u8, part: &[u8]) -> Self {
        Self { v6: false, vlan: false, host: 1, id: 9, count, number, part: part.to_vec() }
    }

    /// Where the IP header begins.
    fn ip(&self) -> usize {
        14 + 4 * usize::from(self.vlan)
    }

    fn udp(&self) -> usize {
        self.ip() + if self.v6 { 40 } else { 20 }
    }

    fn frame(&self) -> Vec<u8> {
        let length = (8 + 22 + self.part.len()) as u16;
        let mut frame = vec![2; 12];
        if self.vlan {
            frame.extend([0x81, 0, 0, 100]);
        }
        if self.v6 {
            frame.extend([0x86, 0xDD, 0x60, 0, 0, 0]);
            frame.extend(length.to_be_bytes());
            frame.extend([17, 64]);
            frame.extend([[0xFD; 15].as_slice(), &[self.host], &[0xFD; 16]].concat());
        } else {
            frame.extend([8, 0, 0x45, 0]);
            frame.extend((length + 20).to_be_bytes());
            frame.extend([0, 0, 0, 0, 64, 17, 0x12, 0x34, 10, 0, 0, self.host, 10, 0, 0, 99]);
        }
        frame.extend([0x0F, 0xA0, 0x1B, 0x58]);
        frame.extend(length.to_be_bytes());
        frame.extend([0xEE, 0xEE, 7, 1, 0, 0, 0, self.id, 0, 0, 0, 0, self.count, self.number, 0, 0]);
        frame.extend([0; 8]);
        frame.extend(&self.part);
        frame
    }
}

struct Run {
    block: Block,
    made: Vec<Made>,
}

impl Run {
    fn new(limits: Limits) -> Self {
        let program = penstock_l7_compiler::compile("test.l7", RULES).unwrap().program;
        Self { block: Block::new(&program, limits), made: Vec::new() }
    }

    fn send(&mut self, frame: &[u8]) -> Verdict {
        self.block.carry(&mut frame.to_vec(), &mut 0, ENTERING, &mut self.made)
    }
}

fn payload(field: &[u8], rest: usize) -> Vec<u8> {
    [&[1, field.len() as u8], field, &vec![0; rest]].concat()
}

#[test]
fn decisions_are_verdicts() {
    let mut run = Run::new(Limits::default());
    for field in ["unit", "key1", "key2", "no", "else"] {
        assert_eq!(run.send(&Packet::new(1, 0, &payload(field.as_bytes(), 0)).frame()), Verdict::Absorb);
    }
    let verdicts: Vec<_> = run.made.iter().map(|made| (made.verdict, made.mark)).collect();
    let key = |field: &str| u32::from(penstock_l7_compiler::hash::crc16(field.as_bytes()) & 0x7FFF);
    assert_eq!(
        verdicts,
        [
            (Verdict::Unit(2), 0x1_0002),
            (Verdict::Dispatch(key("key1")), 0x1_0000 | key("key1")),
            (Verdict::Dispatch(key("key2")), 0x1_0000 | key("key2")),
            (Verdict::Host, 0x1_0005),
        ]
    );
    assert_ne!(key("key1"), key("key2"));
    assert!(run.made.iter().all(|made| (made.port, made.hash, made.tenant) == (1, 0xABCD, 3)));
    let counters = run.block.counters(0);
    assert_eq!((counters.packets, counters.delivered, counters.denied), (5, 4, 1));
    assert_eq!(run.block.hits(0), [0, 1, 2, 1, 1]);
}

/// The fields that change in the frame of a message of several packets, for each kind of header.
#[test]
fn lengths_are_those_of_the_whole_message() {
    for (v6, vlan) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut run = Run::new(Limits::default());
        let of = |count, number, part: &[u8]| Packet { v6, vlan, ..Packet::new(count, number, part) };
        let all = payload(b"else", 3000);
        let packets = [of(3, 2, &all[2000..]), of(3, 0, &all[..1000]), of(3, 1, &all[1000..2000])];
        for (at, packet) in packets.iter().enumerate() {
            assert!(run.made.is_empty() && run.block.in_flight(0).0 == usize::from(at > 0));
            assert_eq!(run.send(&packet.frame()), Verdict::Absorb);
        }
        assert_eq!(run.block.in_flight(0), (0, 0));
        let whole = of(1, 0, &all);
        let mut expected = whole.frame();
        expected[whole.udp() + 6..whole.udp() + 8].fill(0);
        if !v6 {
            // The checksum that the packets have is wrong, and stays wrong by as much.
            let word = |at: usize| u32::from_be_bytes([0, 0, expected[at], expected[at + 1]]);
            let old = packets[1].frame();
            let length = u32::from_be_bytes([0, 0, old[whole.ip() + 2], old[whole.ip() + 3]]);
            let sum = (0xFFFF - 0x1234) + (0xFFFF - length) + word(whole.ip() + 2);
            let sum = 0xFFFF - (sum % 0xFFFF) as u16;
            expected[whole.ip() + 10..whole.ip() + 12].copy_from_slice(&sum.to_be_bytes());
        }
        assert_eq!(run.made[0].frame, expected, "v6 {v6}, tag {vlan}");
    }
}

#[test]
fn packets_that_cannot_be_are_dropped() {
    let mut run = Run::new(Limits::default());
    let good = Packet::new(2, 0, &payload(b"x", 10));
    let udp = good.udp();
    let changes: [&[(usize, u8)]; 6] = [
        &[(udp + 8 + 10, 0)],
        &[(udp + 8 + 10, 33)],
        &[(udp + 8 + 11, 2)],
        &[(udp + 5, 30)],
        &[(udp + 5, 200), (good.ip() + 3, 220)],
        &[(good.ip() + 3, 9)],
    ];
    for change in changes {
        let mut frame = good.frame();
        change.iter().for_each(|(at, value)| frame[*at] = *value);
        assert_eq!(run.send(&frame), Verdict::Drop, "{change:?}");
    }
    run.send(&good.frame());
    assert_eq!(run.send(&Packet::new(3, 1, b"z").frame()), Verdict::Drop);
    assert_eq!(run.send(&good.frame()), Verdict::Drop);
    let counters = run.block.counters(0);
    assert_eq!((counters.malformed, counters.duplicates, counters.packets), (7, 1, 1));
    // Bytes behind the datagram are padding.
    assert_eq!(run.send(&[Packet::new(2, 1, b"end").frame(), vec![0xAA; 20]].concat()), Verdict::Absorb);
    assert!(run.made[0].frame.ends_with(b"end"));
}

#[test]
fn frames_that_are_no_packets_go_on() {
    let mut run = Run::new(Limits::default());
    let good = Packet::new(1, 0, &payload(b"x", 0));
    let udp = good.udp();
    for (at, value) in [(12, 9), (14, 0x46), (20, 0x20), (21, 1), (23, 6), (udp + 2, 0), (udp + 8, 8), (udp + 20, 1)] {
        let mut frame = good.frame();
        frame[at] = value;
        assert_eq!(run.send(&frame), Verdict::Onward, "{at}");
    }
    for length in 0..udp + 30 {
        assert_eq!(run.send(&good.frame()[..length]), Verdict::Onward, "{length}");
    }
    let other = Entering { tenant: 2, ..ENTERING };
    assert_eq!(run.block.carry(&mut good.frame(), &mut 0, other, &mut run.made), Verdict::Onward);
    assert!(run.made.is_empty());
}

#[test]
fn room_and_time_are_bounded() {
    let mut run = Run::new(Limits { messages: 3, pages: 40, timeout: 1000, in_card: false });
    let of = |host, id, number, bytes: usize| Packet { host, id, ..Packet::new(12, number, &vec![0; bytes]) };
    for host in 1..4 {
        assert_eq!(run.send(&of(host, 9, 1, 10).frame()), Verdict::Absorb);
    }
    assert_eq!(run.send(&of(4, 9, 1, 10).frame()), Verdict::Drop);
    run.block.set_time(600);
    assert_eq!(run.send(&of(1, 9, 2, 10).frame()), Verdict::Absorb);
    run.block.set_time(999);
    assert_eq!(run.block.in_flight(0).0, 3);
    run.block.set_time(1000);
    assert_eq!((run.block.in_flight(0).0, run.block.counters(0).expired), (1, 2));
    // 10,000 bytes take 20 pages, and 6,257 more are too many for a message.
    assert_eq!(run.send(&of(5, 1, 1, 10_000).frame()), Verdict::Absorb);
    assert_eq!(run.send(&of(5, 1, 2, 6_257).frame()), Verdict::Drop);
    assert_eq!(run.block.counters(0).oversize, 1);
    assert_eq!(run.send(&of(6, 1, 1, 10_000).frame()), Verdict::Drop);
    assert_eq!(run.block.counters(0).refused, 2);
    run.block.set_time(2000);
    assert_eq!(run.block.in_flight(0), (0, 0));
}

/// A datagram over IPv4, and two bytes behind it.
fn datagram(port: u16, payload: &[u8]) -> Vec<u8> {
    let length = (8 + payload.len()) as u16;
    let mut frame = vec![2; 12];
    frame.extend([8, 0, 0x45, 0]);
    frame.extend((length + 20).to_be_bytes());
    frame.extend([0, 0, 0, 0, 64, 17, 0x12, 0x34, 10, 0, 0, 1, 10, 0, 0, 99, 0x0F, 0xA0]);
    frame.extend(port.to_be_bytes());
    frame.extend(length.to_be_bytes());
    frame.extend([0xEE, 0xEE]);
    frame.extend(payload);
    frame.extend(b"..");
    frame
}

#[test]
fn messages_of_other_protocols_leave_as_they_came() {
    let text = r#"
        application names = 1 { udp port 53; protocol dns; on query {
            rule shop { name = zone "shop.example"; } => port 2;
            rule aaaa { name = zone "example"; type = 28; } => queues 4 ..= 7 in turn;
            default => unit 1; } }
        application store = 2 { udp port 11211; protocol memcached;
            on get { rule user { key = "user:" ..; } => port 3; default => drop; }
            default => queue 1; }"#;
    let program = penstock_l7_compiler::compile("test.l7", text).unwrap().program;
    let mut block = Block::new(&program, Limits::default());
    let name = |name: &[u8], of_type: u8| {
        datagram(53, &[&[0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0], name, &[0, 0, of_type, 0, 1]].concat())
    };
    let request = |text: &[u8]| datagram(11211, &[&[0, 1, 0, 0, 0, 1, 0, 0], text].concat());
    let mut made = Vec::new();
    let entering = Entering { port: 0, hash: 7, tenant: 0 };
    for (frame, verdict, number) in [
        (name(b"\x03WWW\x04shop\x07example", 1), Verdict::Port(2), 2),
        (name(b"\x03www\x07example", 28), Verdict::Host, 4),
        (name(b"\x07example", 28), Verdict::Host, 5),
        (name(b"\x07example", 1), Verdict::Unit(1), 1),
        (request(b"get user:7\r\n"), Verdict::Port(3), 3),
        (request(b"set user:7 0 0 1\r\nx\r\n"), Verdict::Host, 1),
    ] {
        assert_eq!(block.carry(&mut frame.clone(), &mut 0, entering, &mut made), Verdict::Absorb);
        let one = made.pop().unwrap();
        assert_eq!((one.verdict, one.mark, one.hash), (verdict, number, 7));
        assert_eq!(one.frame, frame[..frame.len() - 2]);
    }
    assert_eq!(block.carry(&mut request(b"get other\r\n"), &mut 0, entering, &mut made), Verdict::Absorb);
    assert_eq!(block.carry(&mut datagram(53, b""), &mut 0, entering, &mut made), Verdict::Drop);
    assert_eq!(block.carry(&mut datagram(54, b"x"), &mut 0, entering, &mut made), Verdict::Onward);
    assert!(made.is_empty());
    let names = block.counters(0);
    assert_eq!((names.packets, names.delivered, names.malformed), (4, 4, 1));
    assert_eq!((block.counters(1).denied, block.hits(0)), (1, &[0, 1, 2, 1][..]));
}

/// A message of one packet stays nowhere, but the room of its application may be used up by others.
#[test]
fn a_message_of_one_packet_needs_room() {
    for (limits, room) in [
        (Limits { messages: 2, ..Limits::default() }, true),
        (Limits { messages: 1, ..Limits::default() }, false),
        (Limits { pages: 2, ..Limits::default() }, true),
        (Limits { pages: 1, ..Limits::default() }, false),
    ] {
        let mut run = Run::new(limits);
        assert_eq!(run.send(&Packet::new(2, 0, &payload(b"else", 0)).frame()), Verdict::Absorb);
        let verdict = run.send(&Packet { id: 10, ..Packet::new(1, 0, &payload(b"else", 0)) }.frame());
        assert_eq!(verdict, if room { Verdict::Absorb } else { Verdict::Drop }, "{limits:?}");
        assert_eq!((run.made.len(), run.block.counters(0).refused), (usize::from(room), u64::from(!room)));
    }
}

/// `longest` makes several rules of one, for the lengths of its patterns; they have one counter and take turns together.
#[test]
fn patterns_of_several_lengths_take_turns_together() {
    let text = r#"
        application store = 2 { udp port 11211; protocol memcached;
            on get longest key { rule r { key = "a" .. | "bcd" ..; } => queues 4 ..= 7 in turn; default => drop; } }"#;
    let compiled = penstock_l7_compiler::compile("test.l7", text).unwrap();
    assert_eq!(compiled.images[0].decisions().len(), 3);
    let mut block = Block::new(&compiled.program, Limits::default());
    let mut made = Vec::new();
    for key in ["a1", "bcd1", "a2", "bcd2", "none"] {
        let request = [&[0, 1, 0, 0, 0, 1, 0, 0], format!("get {key}\r\n").as_bytes()].concat();
        let entering = Entering { port: 0, hash: 7, tenant: 0 };
        assert_eq!(block.carry(&mut datagram(11211, &request), &mut 0, entering, &mut made), Verdict::Absorb);
    }
    assert_eq!(made.iter().map(|made| made.mark).collect::<Vec<_>>(), [4, 5, 6, 7]);
    assert_eq!(block.hits(0), [0, 4, 1]);
}

/// In card memory a message is decided when it is whole, by the rules of that moment, and messages of one packet need no
/// room.
#[test]
fn messages_in_card_memory_are_decided_when_they_are_whole() {
    let mut run = Run::new(Limits { messages: 1, pages: 3, ..Limits::of(1024, 0) });
    let of = |id, number, bytes: usize| Packet { id, ..Packet::new(2, number, &payload(b"unit", bytes)) };
    // Packet 0 has 6 bytes of a field, and 128 of headers: a byte more takes another page of 2,048.
    assert_eq!(run.send(&of(1, 0, 2048 - 128 - 6).frame()), Verdict::Absorb);
    assert_eq!((run.block.in_flight(0), run.block.hits(0)[1]), ((1, 1), 0));
    assert_eq!(run.send(&of(2, 0, 0).frame()), Verdict::Drop);
    let single = Packet { id: 3, ..Packet::new(1, 0, &payload(b"unit", 5000)) };
    assert_eq!(run.send(&single.frame()), Verdict::Absorb);
    assert_eq!((run.made.len(), run.block.hits(0)[1]), (1, 1));
    let text = RULES.replace("unit 2", "unit 4");
    let program = penstock_l7_compiler::compile("test.l7", &text).unwrap().program;
    run.block.set_rules(0, &program.applications[0], &program);
    assert_eq!(run.send(&of(1, 1, 4096 - 6 + 1).frame()), Verdict::Drop);
    assert_eq!(run.send(&of(1, 1, 4096 - 6).frame()), Verdict::Absorb);
    assert_eq!((run.made.len(), run.made[1].verdict, run.block.hits(0)[1]), (2, Verdict::Unit(4), 1));
    assert_eq!(run.block.in_flight(0), (0, 0));
    assert_eq!(run.send(&of(4, 0, 2048 - 128 - 6 + 1).frame()), Verdict::Absorb);
    assert_eq!(run.block.in_flight(0), (1, 2));
    assert_eq!(run.block.counters(0).refused, 2);
}
