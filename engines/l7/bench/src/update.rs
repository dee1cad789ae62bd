// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `l7-update`: the rules of one application are swapped while messages of both enter at line rate.
//!
//! The old and the new rules send the same messages to the same port, so each message leaves. The bench counts those
//! that are lost, and compares the other application's longest latency meanwhile with that without a swap. In the paper
//! the application whose rules change stops for 1.5 s.

use penstock_bench::row::{Better::Lower, Row};
use penstock_bench::{BenchError, Lab, parameters, wire};
use serde_json::json;

use crate::card;
use crate::load::{OTHERS, Paths};
use crate::pair::{Measured, load_rules, looks, measure};

/// The bench's name in its rows.
const BENCH: &str = "l7-update";
const STEPS: usize = 4;
const SIZE: usize = 128;
/// Swaps, and looks at the counters for the figures without a swap.
const SWAPS: usize = 4;
const LOOKS: usize = 8;
/// Time in us for which the paper's application stops.
const PAPER_STOPS_US: f64 = 1_500_000.0;

/// Measures swaps.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    let mut device = card::open_pair(lab)?;
    load_rules(&mut device, [STEPS; 2])?;
    let quiet = measure(BENCH, &mut device, [STEPS; 2], SIZE, &looks(LOOKS))?;
    let swaps = vec![card::load(OTHERS, Paths::of(STEPS)); SWAPS];
    let seen = measure(BENCH, &mut device, [STEPS; 2], SIZE, &swaps)?;
    lab.report(&rows(&quiet, &seen));
    Ok(())
}

fn rows(quiet: &Measured, seen: &Measured) -> [Row; 4] {
    let case = parameters(&[("steps", json!(STEPS)), ("size", json!(SIZE))]);
    let row = |metric, figures, value| Row::new(BENCH, &case, metric, figures, value);
    let swap = seen.cycles.iter().sum::<u64>() as f64 / seen.cycles.len().max(1) as f64 / wire::CLOCK_MHZ;
    let longer = |app: usize| seen.flows[app].longest as f64 - quiet.flows[app].longest as f64;
    [
        row(("us", "us for a swap", Lower), [Some(PAPER_STOPS_US), None], swap),
        row(("lost", "messages", Lower), [None, Some(0.0)], seen.dropped as f64),
        row(("longer", "cycles, longest latency of the other", Lower), [None, Some(0.0)], longer(0)),
        row(("own_longer", "cycles, longest latency of the one that changes", Lower), [None, None], longer(1)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pair::Flow;

    #[test]
    fn a_lost_message_or_a_cycle_falls_behind() {
        let of = |longest, dropped| {
            let flow = Flow { mrps: 41.0, longest, mean: 90.0 };
            Measured { cycles: vec![500], flows: [flow.clone(), flow], dropped }
        };
        let missed = |seen| rows(&of(100, 0), &seen).iter().filter(|row| !row.missed().is_empty()).count();
        assert_eq!((missed(of(100, 0)), missed(of(101, 0)), missed(of(100, 1))), (0, 1, 1));
    }
}
