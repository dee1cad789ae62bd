// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Messages a second on one core: `cargo bench -p penstock-l7`. Each message takes four skip-and-matches in hardware.
#![allow(clippy::print_stdout, reason = "a program for developers, which prints what it finds")]
#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::hint::black_box;
use std::time::Instant;

use penstock_l7::{Block, Limits, Rules};
use penstock_unit::{Block as _, Entering};

const RULES: usize = 200;
const MESSAGES: usize = 2_000_000;

fn main() {
    let mut text = "message M { option (type) = 1; string path = 1 [(dispatch) = true]; }
        application a = 1 { udp port 7000; on M {\n"
        .to_owned();
    for rule in 0..RULES {
        let _ = writeln!(
            text,
            "rule r{rule} {{ path = \"/\" until \"/\" \"v1/\" until \"/\" \"item{rule:03}/\" ..; }} => queue {rule};"
        );
    }
    text += "default => drop; } }";
    let program = penstock_l7_compiler::compile("bench.l7", &text).unwrap().program;
    let paths: Vec<String> =
        (0..RULES).map(|rule| format!("/site{}/v1/user{rule}/item{rule:03}/x", rule % 7)).collect();
    let payloads: Vec<Vec<u8>> =
        paths.iter().map(|path| [&[1, path.len() as u8], path.as_bytes(), &[9, 60], &[0; 60]].concat()).collect();

    let mut rules = Rules::new(&program.applications[0], &program);
    measure("decisions", |at| {
        black_box(rules.decide(1, &payloads[at % RULES]));
    });

    let frames: Vec<Vec<u8>> = payloads.iter().map(|payload| frame(payload)).collect();
    let mut block = Block::new(&program, Limits::default());
    let mut made = Vec::new();
    let mut copy = Vec::new();
    measure("frames of one packet through a block", |at| {
        copy.clear();
        copy.extend_from_slice(&frames[at % RULES]);
        black_box(block.carry(&mut copy, &mut 0, Entering::default(), &mut made));
        made.clear();
    });
}

fn measure(what: &str, mut job: impl FnMut(usize)) {
    (0..RULES).for_each(&mut job);
    let begin = Instant::now();
    (0..MESSAGES).for_each(&mut job);
    let seconds = begin.elapsed().as_secs_f64();
    println!("{:.1} M/s {what}, {RULES} rules", MESSAGES as f64 / seconds / 1e6);
}

fn frame(payload: &[u8]) -> Vec<u8> {
    let length = (30 + payload.len()) as u16;
    let mut frame = vec![2; 12];
    frame.extend([8, 0, 0x45, 0]);
    frame.extend((length + 20).to_be_bytes());
    frame.extend([0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0x0F, 0xA0, 0x1B, 0x58]);
    frame.extend(length.to_be_bytes());
    frame.extend([0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    frame.extend(payload);
    frame
}
