// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `flow-soft`: frames a second of state machines in native code, on one processor (FlowBlaze, Figure 7).
//!
//! Frames are in memory, one flow after the other. The measured time covers all work on a frame in a chain: headers,
//! key, context, row, the writes of context and frame, and the verdict. It does not cover moving frames into memory and
//! out of it.

use std::path::PathBuf;

use penstock_bench::five_tuple::Flow;
use penstock_bench::row::{Better::Higher, Row};
use penstock_bench::{BenchError, Lab, parameters, soft};
use penstock_device::files;
use penstock_flow::{Arrival, Chain, Frame, Options, Verdict};
use penstock_flow_compiler::compile;
use serde_json::json;

/// Programs of engines/flow/programs.
const PROGRAMS: [&str; 2] = ["udp_firewall", "big_flows"];

/// How many flows there are. The paper has four, which fit any cache.
const FLOWS: [u32; 3] = [4, 10_000, 100_000];

/// FlowBlaze on mSwitch and on XDP takes two processors for 10 Gb/s of the smallest frames, which are these.
const PAPER: f64 = 14.88 / 2.0;

/// The project's goal, for any number of flows.
const GOAL: f64 = 10.0;

/// Bytes of a frame without FCS.
const SIZE: usize = 60;

/// Frames in memory, at least.
const FRAMES: u32 = 1000;

/// Contexts of the table: more than flows, as in any table that is not to be full.
const CONTEXTS: u32 = 1 << 17;

/// Sources of the flows: 198.18.0.0/15 belongs to benchmarks (RFC 2544).
const SOURCES: u32 = 0xC612_0000;

/// Neighbours in memory are not neighbours in the table: sources follow each other at this distance, a prime that
/// divides no number of flows.
const STRIDE: u32 = 7919;

/// Measures both programs.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    for program in PROGRAMS {
        for flows in FLOWS {
            let mpps = measure(lab.root.join(format!("engines/flow/programs/{program}.efsm")), flows)?;
            let case = parameters(&[("program", json!(program)), ("flows", json!(flows))]);
            let paper = (flows == 4).then_some(PAPER);
            lab.report(&[Row::new(
                "flow-soft",
                &case,
                ("mpps", "million frames/s", Higher),
                [paper, Some(GOAL)],
                mpps,
            )]);
        }
    }
    Ok(())
}

/// Millions of frames a second.
fn measure(path: PathBuf, flows: u32) -> Result<f64, BenchError> {
    let text = files::read(&path, "it is a file of the checkout: run this from a whole one")?;
    let compiled = compile(&path.display().to_string(), &text);
    let program = compiled.map_err(|faults| BenchError::Program(Box::new(faults)))?.program;
    let mut chain = Chain::new(&program, &Options { contexts: CONTEXTS, events: 0, ..Options::default() });
    let mut frames: Vec<Frame> = (0..flows.max(FRAMES)).map(|number| frame(number, flows)).collect();
    let mpps = soft::mpps(frames.len(), || {
        chain.run_all(&mut frames);
        Ok(())
    })?;
    let wrong = |what: &str| Err(BenchError::Wrong("flow-soft", format!("{}: {what}", path.display())));
    if frames.iter().any(|frame| frame.verdict == Verdict::Drop) {
        return wrong("a frame was dropped");
    }
    if chain.count(0).ok() != Some(flows as usize) {
        return wrong("there are not as many contexts as flows");
    }
    Ok(mpps)
}

/// A frame of one of the flows, from inside, so that the firewall opens.
fn frame(number: u32, flows: u32) -> Frame {
    let flow = Flow {
        tcp: false,
        source: SOURCES + number.wrapping_mul(STRIDE) % flows,
        destination: 0xC000_0201,
        source_port: 1024,
        destination_port: 53,
    };
    let mut bytes = Vec::new();
    flow.write(&mut bytes, SIZE, number.into());
    Frame { bytes, arrival: Arrival { port: 1, hash: 0, time: 0 }, verdict: Verdict::Pass, mark: 0 }
}
