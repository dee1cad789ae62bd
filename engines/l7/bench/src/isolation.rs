// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `l7-isolation`: an application with two skip-and-matches beside one with 48, whose messages exceed the rate of its
//! matchers.
//!
//! The first application's rate and latency stand beside those that it has while the second one also has two
//! skip-and-matches. The paper's matchers are shared: its first application would wait for the second one's messages.

use penstock_bench::row::{Better::Higher, Better::Lower, Row};
use penstock_bench::{BenchError, Lab, parameters, rates};
use serde_json::json;

use crate::card;
use crate::pair::{Measured, load_rules, looks, measure};

/// The bench's name in its rows.
const BENCH: &str = "l7-isolation";
const FEW: usize = 2;
const MANY: usize = 48;
/// Bytes of a message that holds 48 delimiters.
const SIZE: usize = 192;
/// Looks at the counters, which are the window.
const LOOKS: usize = 8;
/// Share of its rate that the first application keeps, at least: a window ends within a message.
const GOAL: f64 = 0.999;

/// Measures both.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    let mut device = card::open_pair(lab)?;
    let mut of = |steps| {
        load_rules(&mut device, steps)?;
        measure(BENCH, &mut device, steps, SIZE, &looks(LOOKS))
    };
    let alike = of([FEW, FEW])?;
    let slow = of([FEW, MANY])?;
    lab.report(&rows(&alike, &slow));
    Ok(())
}

fn rows(alike: &Measured, slow: &Measured) -> [Row; 6] {
    let case = parameters(&[("steps", json!(FEW)), ("beside", json!(MANY)), ("size", json!(SIZE))]);
    let row = |metric, goal, value| Row::new(BENCH, &case, metric, [None, goal], value);
    let ([before, _], [first, second]) = (&alike.flows, &slow.flows);
    let half = rates::line(1, SIZE) / 2.0;
    [
        row(("mrps", "million messages/s of the first", Higher), Some(half * GOAL), first.mrps),
        row(("kept", "of its rate beside an equal one", Higher), Some(GOAL), first.mrps / before.mrps),
        row(("longest", "cycles, its longest latency", Lower), Some(before.longest as f64), first.longest as f64),
        row(("mean", "cycles, its mean latency", Lower), Some(before.mean), first.mean),
        row(("beside_mrps", "million messages/s of the second", Higher), None, second.mrps),
        row(("refused", "packets of the second", Lower), None, slow.dropped as f64),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pair::Flow;

    #[test]
    fn a_cycle_or_a_message_less_falls_behind() {
        let of = |mrps, longest| {
            let flow = Flow { mrps, longest, mean: 90.0 };
            Measured { cycles: vec![1000], flows: [flow.clone(), flow], dropped: 0 }
        };
        assert!(rows(&of(28.9, 100), &of(28.9, 100)).iter().all(|row| row.missed().is_empty()));
        let missed = |slow| rows(&of(28.9, 100), &slow).iter().filter(|row| !row.missed().is_empty()).count();
        assert_eq!((missed(of(28.9, 101)), missed(of(28.0, 100))), (1, 2));
    }
}
