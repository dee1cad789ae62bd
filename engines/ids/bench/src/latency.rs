// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `ids-latency`: ns from a frame's first beat into the card to its last beat out, frames of TCP in order: alone, and at
//! line rate on both ports. Pigasus has 3 us.

use penstock_bench::row::{Better::Lower, Row};
use penstock_bench::{BenchError, Lab, parameters, wire};
use penstock_device::rtl::RtlDevice;
use penstock_device::{Device, Latency, Port, Rate, Traffic};
use serde_json::json;

use crate::card;
use crate::input::sample;
use crate::load::{self, FLOWS, Sizes};

/// The bench's name in its rows.
const BENCH: &str = "ids-latency";
const RULES: usize = 10_000;
const SIZES: [usize; 4] = [64, 256, 800, 1500];
/// Sizes that are sent at line rate: those that the card has line rate for.
const LOADED_FROM: usize = 256;
/// Frames that are alone.
const FRAMES: usize = 8;
/// Cycles before the window, of the window, and of traffic beyond it.
const WARMUP: u64 = 4_000;
const WINDOW: u64 = 20_000;
const BEYOND: u64 = 2_000;
/// Figures of Pigasus and of ours, ns.
const FIGURES: [Option<f64>; 2] = [Some(3_000.0), Some(2_000.0)];

/// Measures all sizes, alone and loaded.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    let mut device = card::open(lab, None, &sample(RULES), RULES)?;
    // Flows of the bench's cases have numbers of their own.
    let mut first = 0;
    let mut next = || {
        first += FLOWS;
        first
    };
    for size in SIZES {
        let alone = alone(&mut device, size, next())?;
        lab.report(&rows(size, "alone", alone)?);
        if size >= LOADED_FROM {
            let traffic = load::traffic(2, Sizes::One(size), next(), WARMUP + WINDOW + BEYOND);
            let seen = device.measure(&traffic, Rate::Line, WARMUP, WINDOW)?;
            lab.report(&rows(size, "line rate", seen.latencies)?);
        }
    }
    Ok(())
}

/// Rows of a case from cycles of frames.
fn rows(size: usize, load: &str, cycles: Vec<u64>) -> Result<[Row; 2], BenchError> {
    let case = parameters(&[("size", json!(size)), ("load", json!(load))]);
    let longest = cycles.iter().max().map(|most| *most as f64 * 1000.0 / wire::CLOCK_MHZ);
    let median = Latency::of(cycles, penstock_device::CLOCK_MHZ).map(|latency| latency.p50);
    let (Some(longest), Some(median)) = (longest, median) else {
        return Err(BenchError::Wrong(BENCH, format!("no frame of {size} bytes left")));
    };
    let row = |metric, unit, figures, ns| Row::new(BENCH, &case, (metric, unit, Lower), figures, ns);
    Ok([row("median_ns", "ns", FIGURES, median), row("longest_ns", "ns", [None, None], longest)])
}

/// Cycles of frames of a flow that are alone in the card.
fn alone(device: &mut RtlDevice, size: usize, first: u32) -> Result<Vec<u64>, BenchError> {
    // Each flow's SYN, then a segment of each; segments of other flows stay away.
    let all = load::traffic(1, Sizes::One(size), first, 2_000);
    let mut cycles = Vec::new();
    for number in (0..FRAMES).flat_map(|flow| [flow, FLOWS as usize + flow]) {
        let mut one = Traffic::default();
        one.push(Port::Ethernet(0), all.frame(number), 0);
        device.send(&one, Rate::Lossless)?;
        let run = device.run(&mut |_| {})?;
        let left: Vec<u64> = run.departures.iter().map(|departure| departure.latency()).collect();
        if left.len() != 1 {
            return Err(BenchError::Wrong(BENCH, format!("{} frames left in place of one", left.len())));
        }
        if number >= FLOWS as usize {
            cycles.extend(left);
        }
    }
    Ok(cycles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_become_ns() {
        let [median, longest] = rows(64, "alone", vec![500, 499, 501]).unwrap();
        assert_eq!((median.value, longest.value), (2_000.0, 2_004.0));
        assert!(median.missed().is_empty());
        assert_eq!(rows(64, "alone", vec![501]).unwrap()[0].missed(), [("goal", 2_000.0)]);
        assert!(rows(64, "alone", Vec::new()).is_err());
    }
}
