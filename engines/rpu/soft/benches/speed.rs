// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! How fast the soft card is on one core: million frames and instructions a second, for each program and frame size.
//! Seconds are those that this thread had a processor (Linux), so that other work on the machine does not count.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "a program for developers, which prints what it finds")]
#![allow(clippy::unwrap_used)]

#[path = "../tests/common/mod.rs"]
mod common;

use common::*;
use penstock_shell::Source;

/// An IPv4 UDP frame of `length` bytes from 198.51.100.1, one of many flows.
fn frame(flow: u16, length: usize) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0];
    frame.extend([198, 51, 100, 1, 192, 0, 2, 1]);
    frame.extend(flow.to_be_bytes());
    frame.resize(length, 0);
    frame
}

/// Seconds of processor time that this thread has had.
fn seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    stat.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

fn main() {
    let list: String = (0..2000u32).map(|i| format!("10.{}.{}.0/25\n", i / 200, i % 200)).collect();
    for (name, policy) in [
        ("forward.c", ROUND_ROBIN),
        ("forward.c", FLOW_HASH),
        ("forward_compat.c", FLOW_HASH),
        ("firewall.c", FLOW_HASH),
        ("firewall_compat.c", FLOW_HASH),
        ("loopback.c", ROUND_ROBIN),
    ] {
        for length in [64, 1500] {
            let mut card = card_with_table(2, 16, policy, &program(name), &list);
            let frames: Vec<Vec<u8>> = (0..1024).map(|flow| frame(flow, length)).collect();
            let (mut pushed, mut left) = (0u64, 0u64);
            let instructions = card.steps();
            let start = seconds();
            while seconds() - start < 0.5 {
                for batch in frames.chunks(256) {
                    for (number, frame) in batch.iter().enumerate() {
                        card.push(Source::Ethernet(number as u8 & 1), frame).unwrap();
                    }
                    pushed += batch.len() as u64;
                    left += card.poll().len() as u64;
                }
            }
            let seconds = seconds() - start;
            assert_eq!(pushed, left);
            let executed = card.steps() - instructions;
            println!(
                "{name:<18} policy {policy} {length:>5} B: {:6.2} Mpps, {:6.1} M instructions/s, {:.1} a frame",
                pushed as f64 / seconds / 1e6,
                executed as f64 / seconds / 1e6,
                executed as f64 / pushed as f64
            );
        }
    }
}
