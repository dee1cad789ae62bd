// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The time for a frame on one processor: `cargo bench -p penstock-headers`. Frames follow each other in memory, each
//! of another flow.
#![allow(clippy::print_stdout, reason = "a program for developers, which prints what it finds")]
#![allow(clippy::unwrap_used)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use penstock_headers::{Field, Headers};

/// How many frames there are.
const FRAMES: usize = 1000;
/// How long each step is measured. The best pass over all frames counts: the machine may have other work.
const TIME: Duration = Duration::from_millis(500);

/// A frame from its headers, in hex, and 64 bytes of payload; the last bytes of both addresses are set by `flow`.
fn frames(headers: &str, last_bytes: [usize; 2]) -> Vec<Vec<u8>> {
    let digits: String = headers.split_whitespace().collect();
    let bytes = (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap());
    let mut frame: Vec<u8> = bytes.collect();
    frame.extend([0x55; 64]);
    let of_flow = |flow: usize| {
        let mut frame = frame.clone();
        frame[last_bytes[0]] = flow as u8;
        frame[last_bytes[1]] = (flow >> 8) as u8;
        frame
    };
    (0..FRAMES).map(of_flow).collect()
}

/// Nanoseconds that `step` takes for a frame.
fn measure(frames: &mut [Vec<u8>], step: impl Fn(&mut Vec<u8>)) -> f64 {
    let (start, mut best) = (Instant::now(), Duration::MAX);
    while start.elapsed() < TIME {
        let pass = Instant::now();
        frames.iter_mut().for_each(&step);
        best = best.min(pass.elapsed());
    }
    best.as_nanos() as f64 / FRAMES as f64
}

fn main() {
    const ETHERNET: &str = "020000000001 020000000002";
    const IP: &str = "0000 4000 4006 0000 0a000001 0a000002";
    const TCP: &str = "3039 0050 00000001 00000002 5018 ffff 0000 0000";
    const OPTIONS: &str = "3039 0050 00000001 00000002 8018 ffff 0000 0000 0101080a 00000001 00000002";
    const IP6: &str = "20010db8000000000000000000000001 20010db8000000000000000000000002";
    let shapes = [
        ("IPv4 TCP", frames(&format!("{ETHERNET} 0800 4500 0068 {IP} {TCP}"), [29, 33])),
        ("two VLANs, IPv4 TCP", frames(&format!("{ETHERNET} 88a80064 81000065 0800 4500 0068 {IP} {TCP}"), [37, 41])),
        ("IPv4 TCP, options", frames(&format!("{ETHERNET} 0800 4600 0078 {IP} 94040000 {OPTIONS}"), [29, 33])),
        ("IPv6 TCP", frames(&format!("{ETHERNET} 86dd 60000000 0054 0640 {IP6} {TCP}"), [37, 53])),
        ("IPv6, two extensions, TCP", {
            frames(
                &format!("{ETHERNET} 86dd 60000000 0064 0040 {IP6} 3c00010400000000 0600010400000000 {TCP}"),
                [37, 53],
            )
        }),
    ];
    println!("{:28} parse  and five-tuple  and NAT", "ns a frame");
    for (name, mut frames) in shapes {
        let headers = Headers::parse(&frames[0]);
        assert!(headers.get(&frames[0], Field::Data7).is_some() || name.contains("IPv6,"), "{name}");
        let version6 = name.contains("IPv6");
        let tuple = if version6 { [Field::Ip6Src, Field::Ip6Dst] } else { [Field::IpSrc, Field::IpDst] };
        let tuple = [tuple[0], tuple[1], Field::L4Proto, Field::L4Sport, Field::L4Dport];
        let parse = measure(&mut frames, |frame| {
            black_box(Headers::parse(black_box(frame)));
        });
        let key = measure(&mut frames, |frame| {
            let headers = Headers::parse(black_box(frame));
            black_box(tuple.map(|field| headers.get(frame, field)));
        });
        let nat = measure(&mut frames, |frame| {
            let mut headers = Headers::parse(black_box(frame));
            let values = tuple.map(|field| headers.get(frame, field).unwrap());
            headers.set(frame, tuple[0], values[0] ^ 1).unwrap();
            headers.set(frame, Field::L4Sport, values[3] ^ 1).unwrap();
            headers.repair(frame);
        });
        println!("{name:28} {parse:5.1} {key:15.1} {nat:8.1}");
    }
}
