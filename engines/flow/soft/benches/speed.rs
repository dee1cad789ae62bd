// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Frames a second on one processor, from memory: `cargo bench -p penstock-flow`. Frames have 60 bytes and go through
//! the chain in place. Only this thread's processor time counts.
#![allow(clippy::print_stdout, reason = "a program for developers, which prints what it finds")]
#![allow(clippy::unwrap_used)]

use penstock_flow::{Arrival, Chain, Frame, Options, Verdict};

/// Frames of a measurement, and number of measurements, of which the best counts. The clock has ticks of up to 4 ms.
const FRAMES: usize = 4_000_000;
const TIMES: usize = 5;

/// Nanoseconds for which this thread has had a processor.
fn processor_time() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

/// A UDP frame of a flow.
fn frame(flow: usize) -> Vec<u8> {
    let mut frame = vec![0x02; 12];
    frame.extend([8, 0, 0x45, 0, 0, 46, 0, 0, 0x40, 0, 64, 17, 0, 0]);
    frame.extend([10, (flow >> 16) as u8, (flow >> 8) as u8, flow as u8, 192, 0, 2, 1]);
    frame.extend([0x30, 0x39, 0, 80, 0, 26, 0, 0]);
    frame.resize(60, 0);
    frame
}

/// Seconds per frame.
fn measure(program: &str, flows: usize) -> f64 {
    let file = format!("{}/../programs/{program}.efsm", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&file).unwrap();
    let program = penstock_flow_compiler::compile(&file, &text).unwrap().program;
    let mut chain = Chain::new(&program, &Options { contexts: 150_000, events: 0, ..Options::default() });
    // The first frame comes from inside, so that the firewall opens.
    let arrival = Arrival { port: 1, hash: 0, time: 0 };
    // 7,919 is a prime that divides no number of flows here.
    let frames =
        (0..flows).map(|at| Frame { bytes: frame(at * 7919 % flows), arrival, verdict: Verdict::Pass, mark: 0 });
    let mut frames: Vec<Frame> = frames.collect();
    chain.run_all(&mut frames);
    assert_eq!(chain.count(0).unwrap(), flows);
    // Few frames are repeated, so that all batches have the same length.
    let times = 1000usize.div_ceil(flows);
    let mut frames: Vec<Frame> = (0..times).flat_map(|_| frames.clone()).collect();
    let mut best = f64::INFINITY;
    for _ in 0..TIMES {
        let start = processor_time();
        let rounds = FRAMES.div_ceil(frames.len());
        for _ in 0..rounds {
            chain.run_all(&mut frames);
        }
        assert!(frames.iter().all(|frame| frame.verdict != Verdict::Drop));
        best = best.min((processor_time() - start) as f64 * 1e-9 / (rounds * frames.len()) as f64);
    }
    best
}

fn main() {
    for program in ["udp_firewall", "big_flows"] {
        for flows in [4, 10_000, 100_000] {
            let seconds = measure(program, flows);
            println!("{program:14} {flows:6} flows {:6.1} Mpps, {:5.0} ns", 1e-6 / seconds, seconds * 1e9);
        }
    }
}
