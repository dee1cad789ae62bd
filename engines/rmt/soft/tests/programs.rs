// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The programs that come with the engine, on frames whose answers are worked out by hand.

#![allow(clippy::expect_used, clippy::panic)]

use penstock_rmt::{Block, Tenant};
use penstock_rmt_compiler::ir::{ActionCall, Entry, Match, Program};
use penstock_unit::{Block as _, Entering, Verdict};

fn compile(name: &str, text: &str) -> Program {
    match penstock_rmt_compiler::compile(name, text) {
        Ok(compiled) => compiled.program,
        Err(faults) => panic!("{faults}"),
    }
}

fn router() -> Program {
    compile("router.p4", include_str!("../../programs/router.p4"))
}

fn insert(tenant: &mut Tenant, table: &str, keys: Vec<Match>, action: &str, args: Vec<u128>) {
    let program = tenant.program().clone();
    let ends = |name: &str, end: &str| name.rsplit('.').next() == Some(end);
    let table = program.tables.iter().position(|of| ends(&of.name, table)).expect("the table is there");
    let action = program.actions.iter().position(|of| ends(&of.name, action)).expect("the action is there");
    let entry = Entry::new(keys, 0, ActionCall { action, args });
    tenant.insert(table, &entry).expect("the entry fits");
}

/// A block with the router as tenant 5: 10.0.0.0/8 to next hop 1 at port 1, 10.1.0.0/16 to next hop 2 at port 0.
fn routing() -> Block {
    let mut block = Block::default();
    block.load(5, router().into()).expect("there is native code for it");
    let tenant = block.tenant_mut(5).expect("the program is loaded");
    insert(tenant, "routes", vec![Match::Lpm(0x0A00_0000, 8)], "route", vec![1]);
    insert(tenant, "routes", vec![Match::Lpm(0x0A01_0000, 16)], "route", vec![2]);
    insert(tenant, "routes", vec![Match::Lpm(0x0A02_0000, 16)], "drop", vec![]);
    insert(tenant, "next_hops", vec![Match::Exact(1)], "forward", vec![1, 0x0200_0000_0001, 0x0200_0000_0011]);
    insert(tenant, "next_hops", vec![Match::Exact(2)], "forward", vec![0, 0x0200_0000_0002, 0x0200_0000_0012]);
    block
}

/// RFC 1071, word by word.
fn checksum(header: &[u8]) -> u16 {
    let sum: u32 = header.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    !(((sum >> 16) + (sum & 0xFFFF)) as u16 + u16::from((sum >> 16) + (sum & 0xFFFF) > 0xFFFF))
}

fn ipv4(vlan: Option<u16>, options: &[u8], dst: [u8; 4], ttl: u8) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 0xFE, 2, 0, 0, 0, 0, 0xFF];
    if let Some(id) = vlan {
        frame.extend([0x81, 0x00, (id >> 8) as u8, id as u8]);
    }
    frame.extend([8, 0]);
    let mut header = vec![0x45 + options.len() as u8 / 4, 0, 0, 60, 0x12, 0x34, 0x40, 0, ttl, 17, 0, 0, 192, 0, 2, 1];
    header.extend(dst);
    header.extend(options);
    let sum = checksum(&header).to_be_bytes();
    header[10..12].copy_from_slice(&sum);
    frame.extend(header);
    frame.extend(0..40);
    frame
}

fn run(block: &mut Block, tenant: u8, frame: &[u8]) -> (Verdict, Vec<u8>) {
    let (mut bytes, mut mark) = (frame.to_vec(), 0);
    let entering = Entering { port: 0, hash: 0, tenant };
    let verdict = block.carry(&mut bytes, &mut mark, entering, &mut Vec::new());
    (verdict, bytes)
}

/// The frame as the router sends it.
fn routed(frame: &[u8], vlan: bool, options: usize, hop: u8) -> Vec<u8> {
    let mut frame = frame.to_vec();
    frame[..12].copy_from_slice(&[2, 0, 0, 0, 0, 0x10 + hop, 2, 0, 0, 0, 0, hop]);
    let ip = if vlan { 18 } else { 14 };
    frame[ip + 8] -= 1;
    frame[ip + 10..ip + 12].fill(0);
    let sum = checksum(&frame[ip..ip + 20 + options]).to_be_bytes();
    frame[ip + 10..ip + 12].copy_from_slice(&sum);
    frame
}

#[test]
fn the_router_routes() {
    let mut block = routing();
    for vlan in [None, Some(1), Some(4095)] {
        for options in [&[][..], &[1; 4], &[7; 40]] {
            let frame = ipv4(vlan, options, [10, 2 - 1, 9, 9], 64);
            let expected = routed(&frame, vlan.is_some(), options.len(), 2);
            assert_eq!(run(&mut block, 5, &frame), (Verdict::Port(0), expected));
            let frame = ipv4(vlan, options, [10, 9, 9, 9], 2);
            let expected = routed(&frame, vlan.is_some(), options.len(), 1);
            assert_eq!(run(&mut block, 5, &frame), (Verdict::Port(1), expected));
        }
    }
}

#[test]
fn the_router_drops_what_it_does_not_route() {
    let mut block = routing();
    let mut wrong = ipv4(None, &[], [10, 1, 0, 1], 64);
    wrong[24] ^= 1;
    let mut other = ipv4(None, &[], [10, 1, 0, 1], 64);
    other[13] = 6;
    let short = ipv4(None, &[7; 8], [10, 1, 0, 1], 64)[..40].to_vec();
    let mut version = ipv4(None, &[], [10, 1, 0, 1], 64);
    version[14] = 0x65;
    let frames = [
        wrong,
        other,
        short,
        version,
        ipv4(None, &[], [11, 1, 0, 1], 64),
        ipv4(None, &[], [10, 2, 0, 1], 64),
        ipv4(Some(3), &[], [10, 1, 0, 1], 1),
        ipv4(Some(3), &[], [10, 1, 0, 1], 0),
    ];
    for frame in &frames {
        assert_eq!(run(&mut block, 5, frame).0, Verdict::Drop);
    }
    let counts = block.tenant(5).map(Tenant::frames);
    assert_eq!(counts, Some((frames.len() as u64, frames.len() as u64)));
    assert_eq!(run(&mut block, 6, &frames[0]), (Verdict::Onward, frames[0].clone()));
}

#[test]
fn entries_come_and_go() {
    let mut block = routing();
    let frame = ipv4(None, &[], [10, 1, 0, 1], 64);
    let tenant = block.tenant_mut(5).expect("the program is loaded");
    let (entry, _) = tenant.entries(0).swap_remove(1);
    assert_eq!(entry.keys, [Match::Lpm(0x0A01_0000, 16)]);
    assert!(tenant.insert(0, &entry).is_err());
    tenant.delete(0, &entry).expect("it is there");
    assert!(tenant.delete(0, &entry).is_err());
    assert_eq!(run(&mut block, 5, &frame).0, Verdict::Port(1));
    let tenant = block.tenant_mut(5).expect("the program is loaded");
    let program = tenant.program().clone();
    tenant.set_default(1, &ActionCall { action: 0, args: vec![7] });
    assert_eq!(tenant.default(1).args, [7]);
    block.load(5, program).expect("there is native code for it");
    assert_eq!(block.tenant(5).map(|tenant| tenant.entries(0).len()), Some(0));
}

#[test]
fn the_calculator_answers_and_counts() {
    let program = compile("calculator.p4", include_str!("../../programs/calculator.p4"));
    let mut block = Block::default();
    block.load(9, program.into()).expect("there is native code for it");
    let request = |vlan: bool, operator: u8, left: u32, right: u32| {
        let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
        if vlan {
            frame.extend([0x81, 0x00, 1, 1]);
        }
        frame.extend([0x12, 0x34, b'P', b'4', 1, operator]);
        frame.extend(left.to_be_bytes());
        frame.extend(right.to_be_bytes());
        frame.extend([0; 8]);
        frame.resize(60, 0xEE);
        frame
    };
    let cases: [(u8, u32); 5] = [
        (b'+', 0xFFFF_FFF0u32.wrapping_add(0x1234)),
        (b'-', 0xFFFF_FFF0 - 0x1234),
        (b'&', 0xFFFF_FFF0 & 0x1234),
        (b'|', 0xFFFF_FFF0 | 0x1234),
        (b'^', 0xFFFF_FFF0 ^ 0x1234),
    ];
    for (count, (operator, result)) in cases.into_iter().enumerate() {
        let vlan = count % 2 == 1;
        let frame = request(vlan, operator, 0xFFFF_FFF0, 0x1234);
        let mut expected = frame.clone();
        expected[..12].rotate_left(6);
        let at = if vlan { 30 } else { 26 };
        expected[at..at + 4].copy_from_slice(&result.to_be_bytes());
        expected[at + 4..at + 8].copy_from_slice(&(count as u32 + 1).to_be_bytes());
        assert_eq!(run(&mut block, 9, &frame), (Verdict::Port(0), expected));
    }
    assert_eq!(run(&mut block, 9, &request(false, b'/', 1, 1)).0, Verdict::Drop);
    let mut other = request(false, b'+', 1, 1);
    other[16] = 2;
    assert_eq!(run(&mut block, 9, &other).0, Verdict::Drop);
    assert_eq!(block.tenant(9).map(|tenant| tenant.register(0).to_vec()), Some(vec![5]));
}

#[test]
fn the_access_list_classifies_counts_and_drops() {
    let mut block = Block::default();
    block
        .load(3, compile("acl.p4", include_str!("../../programs/acl.p4")).into())
        .expect("there is native code for it");
    let tenant = block.tenant_mut(3).expect("the program is loaded");
    insert(tenant, "classes", vec![Match::Lpm(0x0A00_0000, 8), Match::Exact(17)], "set_class", vec![1]);
    insert(tenant, "classes", vec![Match::Lpm(0x0A01_0000, 16), Match::Exact(17)], "set_class", vec![5]);
    insert(tenant, "classes", vec![Match::Lpm(0x0A01_0000, 16), Match::Exact(6)], "set_class", vec![9]);
    let any = Match::Ternary(0, 0);
    let from = |value: u128| Match::Ternary(value, 0xFFFF_FFFF);
    let keys = vec![any, from(0x0A01_0001), any, Match::Range(0, 0xFFFF)];
    insert(tenant, "lines", keys.clone(), "deny", vec![]);
    for options in [&[][..], &[7; 8]] {
        let (verdict, frame) = run(&mut block, 3, &ipv4(Some(9), options, [10, 1, 0, 2], 64));
        assert_eq!((verdict, frame[19]), (Verdict::Port(1), 5 << 2));
        assert_eq!(checksum(&frame[18..38 + options.len()]), 0);
        let (verdict, frame) = run(&mut block, 3, &ipv4(None, options, [10, 2, 0, 2], 64));
        assert_eq!((verdict, frame[15]), (Verdict::Port(1), 1 << 2));
        let (verdict, _) = run(&mut block, 3, &ipv4(None, options, [10, 1, 0, 1], 64));
        assert_eq!(verdict, Verdict::Drop);
    }
    let tenant = block.tenant(3).expect("the program is loaded");
    let classified = tenant.counter(1);
    assert_eq!([1, 5, 9].map(|class| classified[class].packets), [2, 4, 0]);
    let line = Entry::new(keys, 0, ActionCall { action: 0, args: vec![] });
    let lines = tenant.program().tables.iter().position(|table| table.name.ends_with(".lines"));
    assert_eq!(lines.map(|lines| tenant.entry_count(lines, &line).packets), Some(2));
}
