// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Frames a second of one core: the router with 64-byte frames over many addresses, with few routes and with 10,000. Only this thread's processor time counts.

use penstock_rmt::Block;
use penstock_rmt_compiler::ir::{ActionCall, Entry, Match, Program};
use penstock_unit::{Block as _, Entering, Verdict};

const TENANT: u8 = 1;
const FRAMES: usize = 4096;
const ROUNDS: usize = 300;

/// Nanoseconds for which this thread has had a processor.
fn processor_time() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// A number that looks random.
fn mixed(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *seed >> 32
}

fn index(names: impl Iterator<Item = String>, end: &str) -> usize {
    names.enumerate().find(|(_, name)| name.ends_with(end)).map_or(0, |(index, _)| index)
}

/// The router with so many routes of 8 to 28 bits, to 16 next hops.
fn router(program: &Program, routes: usize) -> (Block, Vec<u32>) {
    let table = |end| index(program.tables.iter().map(|table| table.name.clone()), end);
    let action = |end| index(program.actions.iter().map(|action| action.name.clone()), end);
    let mut block = Block::default();
    block.load(TENANT, program.clone().into());
    let mut seed = 1;
    let mut addresses = Vec::new();
    if let Some(tenant) = block.tenant_mut(TENANT) {
        for hop in 0..16 {
            let call = ActionCall {
                action: action(".forward"),
                args: vec![hop % 2, 0x0200_0000_0000 + hop, 0x0400_0000_0000 + hop],
            };
            let entry = Entry::new(vec![Match::Exact(hop)], 0, call);
            tenant.insert(table(".next_hops"), &entry).unwrap_or_else(|error| panic!("{error}"));
        }
        while addresses.len() < routes {
            let length = 8 + mixed(&mut seed) as u32 % 21;
            let address = mixed(&mut seed) as u32;
            let prefix = address & !(u32::MAX >> length);
            let call = ActionCall { action: action(".route"), args: vec![u128::from(address % 16)] };
            let entry = Entry::new(vec![Match::Lpm(prefix.into(), length)], 0, call);
            if tenant.insert(table(".routes"), &entry).is_ok() {
                addresses.push(address);
            }
        }
    }
    (block, addresses)
}

fn frame(address: u32) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
    let mut header = vec![0x45, 0, 0, 46, 0, 0, 0x40, 0, 64, 17, 0, 0, 192, 0, 2, 1];
    header.extend(address.to_be_bytes());
    let sum: u32 = header.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    let sum = !((sum >> 16) + (sum & 0xFFFF)) as u16;
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    frame.extend(header);
    frame.resize(60, 0);
    frame
}

fn main() {
    let source = include_str!("../../programs/router.p4").replace("size = 1024", "size = 16384");
    let program =
        penstock_rmt_compiler::compile("router.p4", &source).unwrap_or_else(|faults| panic!("{faults}")).program;
    for routes in [16, 10_000] {
        let (mut block, addresses) = router(&program, routes);
        let mut frames: Vec<Vec<u8>> = (0..FRAMES).map(|at| frame(addresses[at * 7 % addresses.len()])).collect();
        let fresh = frames.clone();
        let (mut routed, mut nanoseconds) = (0, 0);
        for _ in 0..ROUNDS {
            frames.clone_from(&fresh);
            let start = processor_time();
            for frame in &mut frames {
                let entering = Entering { port: 0, hash: 0, tenant: TENANT };
                let verdict = block.carry(frame, &mut 0, entering, &mut Vec::new());
                routed += usize::from(matches!(verdict, Verdict::Port(_)));
            }
            nanoseconds += processor_time() - start;
        }
        let rate = (FRAMES * ROUNDS) as f64 * 1e3 / nanoseconds as f64;
        println!("router, {routes} routes: {rate:.2} Mpps, {routed} of {} frames routed", FRAMES * ROUNDS);
    }
}
