// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The results of a run: the numbers behind result.json and the report.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::counters::{Counters, Drops, WIRE_OVERHEAD};
use crate::design::Design;
use crate::run::Run;
use crate::target::Target;

/// Time from the first beat of a frame in to its last beat out, ns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Latency {
    /// Median.
    pub p50: f64,
    /// 99 % are at or below it.
    pub p99: f64,
    /// The slowest.
    pub max: f64,
}

impl Latency {
    /// The statistics of a set of latencies in cycles; None for an empty set.
    pub fn of(cycles: Vec<u64>, clock_mhz: u32) -> Option<Self> {
        let mut counts = BTreeMap::new();
        cycles.into_iter().for_each(|latency| *counts.entry(latency).or_default() += 1);
        Self::of_counts(&counts, clock_mhz)
    }

    /// The same of a set that has so many of each latency.
    pub fn of_counts(counts: &BTreeMap<u64, u64>, clock_mhz: u32) -> Option<Self> {
        let total: u64 = counts.values().sum();
        let ns = |share: f64| {
            let rank = ((total as f64 * share).ceil() as u64).max(1);
            let mut below = 0;
            let reaches = |(_, count): &(&u64, &u64)| {
                below += **count;
                below >= rank
            };
            counts.iter().find(reaches).map(|(latency, _)| *latency as f64 * 1000.0 / f64::from(clock_mhz))
        };
        Some(Self { p50: ns(0.5)?, p99: ns(0.99)?, max: ns(1.0)? })
    }
}

/// How long a run took, in the time of its target.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Timing {
    /// Simulated time.
    Rtl {
        /// Cycles from the first beat in to the last beat that moved.
        cycles: u64,
        /// Clock, MHz.
        clock_mhz: u32,
        /// Latencies of frames that had entered, ns; none when no such frame left.
        latency_ns: Option<Latency>,
    },
    /// Wall-clock time.
    Soft {
        /// Seconds from the first frame in to the last one out.
        seconds: f64,
    },
}

/// The results of a run. Serialises to result.json (docs/architecture.md).
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// Target.
    pub target: Target,
    /// Name of the design.
    pub design: String,
    /// Frames offered to the card.
    pub frames_in: u64,
    /// Frames that programs and inline blocks made. Together with the offered ones they equal the frames that left,
    /// were dropped and were absorbed.
    pub generated: u64,
    /// Frames that ended in inline blocks, as they were meant to.
    pub absorbed: u64,
    /// Frames that left, by destination.
    pub frames_out: BTreeMap<String, u64>,
    /// Frames that did not, by reason.
    pub drops: Drops,
    /// Bytes offered, without FCS.
    pub bytes_in: u64,
    /// Bytes that left, without FCS, including frames that programs made.
    pub bytes_out: u64,
    /// How long it took.
    #[serde(flatten)]
    pub timing: Timing,
    /// Frames a microsecond that entered whole, from the first beat in to the last beat moved.
    pub mpps: f64,
    /// The same in wire terms, with preamble, gap and FCS.
    pub gbps: f64,
    /// The counters of ports and units in this run.
    pub counters: Counters,
    /// Faults of the run, in sentences; empty if all went well.
    pub faults: Vec<String>,
    /// Lines that programs have printed.
    pub log: Vec<String>,
}

impl Outcome {
    /// Sums a run up.
    pub fn new(design: &Design, target: Target, run: &Run) -> Self {
        let mut frames_out = BTreeMap::new();
        for port in 0..design.ports {
            frames_out.insert(format!("port{port}"), 0);
        }
        frames_out.insert("host".to_string(), 0);
        for (port, count) in &run.left.frames {
            frames_out.insert(port.to_string(), *count);
        }
        let (frames_in, bytes_in) = run.offered;
        let (timing, micros) = match run.cycles {
            Some(cycles) => {
                let latency_ns = Latency::of_counts(&run.left.latencies, design.clock_mhz);
                let micros = cycles as f64 / f64::from(design.clock_mhz);
                (Timing::Rtl { cycles, clock_mhz: design.clock_mhz, latency_ns }, micros)
            }
            None => (Timing::Soft { seconds: run.seconds }, run.seconds * 1e6),
        };
        let edges = || run.counters.ports.iter().chain([&run.counters.host]);
        let taken: u64 = edges().map(|port| port.rx_frames).sum();
        let taken_bytes: u64 = edges().map(|port| port.rx_bytes).sum();
        let wire_bits = (taken_bytes + WIRE_OVERHEAD * taken) as f64 * 8.0;
        let rate = |amount: f64| if micros > 0.0 { amount / micros } else { 0.0 };
        Self {
            target,
            design: design.name.clone(),
            frames_in,
            generated: run.generated,
            absorbed: run.counters.absorbed(),
            frames_out,
            drops: run.drops,
            bytes_in,
            bytes_out: run.left.bytes,
            timing,
            mpps: rate(taken as f64),
            gbps: rate(wire_bits) / 1000.0,
            counters: run.counters.clone(),
            faults: run.faults.clone(),
            log: run.log.clone(),
        }
    }

    /// Frames that left, to any destination.
    pub fn total_out(&self) -> u64 {
        self.frames_out.values().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latency_percentiles() {
        let latency = Latency::of((1..=100).rev().collect(), 250);
        assert_eq!(latency, Some(Latency { p50: 200.0, p99: 396.0, max: 400.0 }));
        assert_eq!(Latency::of(vec![7], 250), Some(Latency { p50: 28.0, p99: 28.0, max: 28.0 }));
        assert_eq!(Latency::of(vec![], 250), None);
    }
}
