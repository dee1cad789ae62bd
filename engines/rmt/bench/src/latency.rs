// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `rmt-latency`: cycles that the pipeline takes, by stages and frame size.
//!
//! A frame of no tenant passes the whole pipeline unchanged, as every other frame does, and goes on to the unit. Its
//! time through the card, less that of a card without the block, is the pipeline's. The paper gives the cycles that its
//! pipeline of five stages adds on Corundum: 106 for 64 bytes, 129 for 1,500 (section 3.5.2).

use penstock_bench::row::{Better::Lower, Row};
use penstock_bench::{BenchError, Lab, latency, parameters, wire};
use penstock_device::rtl::RtlDevice;
use serde_json::json;

use crate::card::{self, ROUTER, STAGES};

/// The bench's name in its rows.
const BENCH: &str = "rmt-latency";
/// Frame sizes, and the paper's cycles.
const SIZES: [(usize, f64); 2] = [(64, 106.0), (1500, 129.0)];
/// Stages, and the goal in cycles.
const PIPELINES: [(u8, f64); 2] = [(STAGES, 80.0), (12, 140.0)];

/// Measures all pipelines.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    let mut without = card::open_without_block(lab)?;
    for (stages, goal) in PIPELINES {
        let mut with = card::open(lab, stages, ROUTER, 1)?;
        for (size, paper) in SIZES {
            let cycles = cycles(&mut with, size)? - cycles(&mut without, size)?;
            let case = parameters(&[("stages", json!(stages)), ("size", json!(size))]);
            let paper = (stages == STAGES).then_some(paper);
            let metric = ("cycles", "cycles that the pipeline adds", Lower);
            lab.report(&[Row::new(BENCH, &case, metric, [paper, Some(goal)], cycles)]);
        }
    }
    Ok(())
}

/// Median cycles of frames that are alone in the card.
fn cycles(device: &mut RtlDevice, size: usize) -> Result<f64, BenchError> {
    let ns = latency::measure(device, size)?;
    let ns = ns.ok_or_else(|| BenchError::Wrong(BENCH, format!("no frame of {size} bytes left")))?;
    Ok((ns * wire::CLOCK_MHZ / 1000.0).round())
}
