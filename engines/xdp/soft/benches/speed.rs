// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Frames a second on one processor, from memory: `cargo bench -p penstock-xdp-soft`. Frames have 64 bytes, in and out are copies.
#![allow(clippy::unwrap_used)]

#[path = "../../compiler/tests/common/mod.rs"]
mod objects;

use std::time::{Duration, Instant};

use penstock_xdp_compiler::object::Object;
use penstock_xdp_soft::{Engine, Frame, Input};

/// How many flows the frames belong to.
const FLOWS: usize = 1000;
/// How long each program is measured, at the best of several times: the machine may have other work.
const TIME: Duration = Duration::from_millis(300);
const TIMES: usize = 5;

/// A UDP frame of a flow.
fn frame(flow: usize) -> Vec<u8> {
    let mut frame = vec![0x11; 12];
    frame.extend([
        8,
        0,
        0x45,
        0,
        0,
        46,
        0,
        0,
        0x40,
        0,
        64,
        17,
        0,
        0,
        10,
        0,
        (flow >> 8) as u8,
        flow as u8,
        10,
        9,
        9,
        9,
    ]);
    frame.extend([0x30, 0x39, 0, 80, 0, 26, 0, 0]);
    frame.resize(60, 0);
    frame
}

fn measure(name: &str) -> f64 {
    let path = objects::root().join(format!("engines/xdp/programs/{name}.c"));
    let object = Object::read(&objects::compile(&path, &[])).unwrap();
    let mut engine = Engine::new(&object, 8).unwrap();
    let program = engine.load(&object, name).unwrap();
    let frames: Vec<_> = (0..FLOWS).map(|flow| Frame::new(frame(flow))).collect();
    let input = Input { ifindex: 1, ..Input::default() };
    let mut work = Frame::default();
    let mut best = f64::INFINITY;
    for _ in 0..TIMES {
        let (start, mut runs) = (Instant::now(), 0u32);
        while start.elapsed() < TIME {
            for frame in &frames {
                work.data.clone_from(&frame.data);
                engine.run(program, &mut work, &input).unwrap();
            }
            runs += FLOWS as u32;
        }
        best = best.min(start.elapsed().as_secs_f64() / f64::from(runs));
    }
    best
}

fn main() {
    for name in ["drop", "xdp1", "xdp2", "simple_firewall", "router_ipv4", "load_balancer"] {
        let seconds = measure(name);
        println!("{name:16} {:6.1} Mpps, {:5.0} ns", 1e-6 / seconds, seconds * 1e9);
    }
}
