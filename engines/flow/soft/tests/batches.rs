// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Many frames at once give the same results as one after the other, across batches and from element to element.
#![allow(clippy::unwrap_used)]

use penstock_flow::{Arrival, Chain, Frame, Options, Verdict};

/// Lets three frames of a flow through with a tag, and sends each frame to the port of its number.
const PROGRAM: &str = "
    element few {
        key eth.src
        flow seen
        seen < 3    => seen = seen + 1, push vlan 7
        else        => drop
    }
    element numbers {
        global count
        vlan        => count = count + 1, port count
    }";

fn frame(flow: usize) -> Frame {
    let mut bytes = vec![2; 60];
    bytes[11] = flow as u8;
    bytes[12..14].copy_from_slice(&[0x88, 0xB5]);
    // The verdict before the run has no meaning.
    Frame { bytes, arrival: Arrival::default(), verdict: Verdict::Host, mark: 0 }
}

#[test]
fn order_and_verdicts() {
    let program = penstock_flow_compiler::compile("few.efsm", PROGRAM).unwrap().program;
    let mut chain = Chain::new(&program, &Options::default());
    let flows: Vec<usize> = (0..200).map(|at| at * at % 41).collect();
    let mut frames: Vec<Frame> = flows.iter().map(|flow| frame(*flow)).collect();
    // The frame is too short for an address, so no element changes it.
    frames.insert(70, Frame { bytes: vec![2; 10], verdict: Verdict::Drop, ..Frame::default() });
    chain.run_all(&mut frames);
    assert_eq!(frames.remove(70).verdict, Verdict::Pass);

    let (mut seen, mut count) = ([0; 41], 0u32);
    for (frame, flow) in frames.iter().zip(flows) {
        seen[flow] += 1;
        if seen[flow] > 3 {
            assert_eq!((frame.verdict, frame.bytes.len()), (Verdict::Drop, 60));
        } else {
            count += 1;
            assert_eq!((frame.verdict, frame.bytes.len()), (Verdict::Port(count), 64));
            assert_eq!(frame.bytes[12..16], [0x81, 0, 0, 7]);
        }
    }
    assert!(count > 40 && count < 100, "{count}");
    assert_eq!(chain.counters(0).unwrap().frames, 201);
    assert_eq!(chain.counters(1).unwrap().frames, u64::from(count) + 1);
    chain.run_all(&mut []);
}

#[test]
fn metadata_begin_with_0() {
    let text = "element once { meta0 == 0 && meta1 == 0 => meta0 = 1, meta1 = 2 else => drop }";
    let program = penstock_flow_compiler::compile("once.efsm", text).unwrap().program;
    let mut chain = Chain::new(&program, &Options::default());
    let mut frames: Vec<Frame> = (0..100).map(frame).collect();
    for _ in 0..2 {
        frames.iter_mut().for_each(|frame| frame.mark = 0);
        chain.run_all(&mut frames);
        assert!(frames.iter().all(|frame| frame.verdict == Verdict::Pass && frame.mark == 1));
    }
    // The mark that a block leaves is `meta0` of the next one.
    chain.run_all(&mut frames);
    assert!(frames.iter().all(|frame| frame.verdict == Verdict::Drop && frame.mark == 1));
}
