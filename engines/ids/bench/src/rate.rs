// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `ids-rate`: Gb/s and frames a second of the card, by size of the frames, ports and rules.
//!
//! TCP of a hundred flows for each port, in order; no rule is about the payload, which is random bytes. Every frame is
//! searched at all offsets and leaves at the other port, as long as the card takes all: behind a frame that is lost in
//! front of it, its stream is told to the host and not searched. A row below line rate only says how many frames pass.
//! Beside ours stands the port of Pigasus in Rosebud: 200 Gb/s from 800 bytes on.

use std::collections::BTreeMap;

use penstock_bench::row::{
    Better::{Higher, Lower},
    Row,
};
use penstock_bench::{BenchError, Lab, parameters, wire};
use penstock_device::Rate;
use penstock_device::rtl::RtlDevice;
use serde_json::{Value, json};

use crate::card;
use crate::input::sample;
use crate::load::{self, Sizes};

/// The bench's name in its rows.
const BENCH: &str = "ids-rate";
/// Cycles before the window, of the window, and of traffic beyond it.
const WARMUP: u64 = 4_000;
const WINDOW: u64 = 20_000;
const BEYOND: u64 = 2_000;
/// The size from which Rosebud's port has line rate, and that from which ours is to have it.
const PAPER_FROM: usize = 800;
const GOAL_FROM: usize = 256;
/// Goal for smaller frames at both ports, Mpps.
const GOAL_MPPS: f64 = 100.0;

/// A case: rules, ports, sizes of the frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Case {
    rules: usize,
    ports: u8,
    sizes: Sizes,
}

const SIZES: [Sizes; 9] = [
    Sizes::One(64),
    Sizes::One(65),
    Sizes::One(128),
    Sizes::One(256),
    Sizes::One(257),
    Sizes::One(512),
    Sizes::One(800),
    Sizes::One(1500),
    Sizes::Mix,
];
const RULES: [usize; 2] = [1_000, 10_000];
/// Rules and ports that all sizes are measured with.
const SETS: [(usize, u8); 3] = [(RULES[0], 2), (RULES[1], 2), (RULES[1], 1)];

impl Case {
    fn all() -> impl Iterator<Item = Self> {
        let sizes = |(rules, ports)| SIZES.into_iter().map(move |sizes| Self { rules, ports, sizes });
        SETS.into_iter().flat_map(sizes)
    }

    fn parameters(self) -> BTreeMap<String, Value> {
        let Self { rules, ports, sizes } = self;
        parameters(&[("rules", json!(rules)), ("ports", json!(ports)), ("size", json!(sizes.name()))])
    }

    /// Bits on the wire of a frame.
    fn bits(self) -> f64 {
        (self.sizes.mean() + wire::bytes(0) as f64) * 8.0
    }

    /// Line rate, Gb/s.
    fn line(self) -> f64 {
        f64::from(self.ports) * wire::LINE_GBPS
    }

    /// Gb/s of the port of Rosebud, and our goal.
    fn figures(self) -> [Option<f64>; 2] {
        let paper = matches!(self.sizes, Sizes::One(size) if size >= PAPER_FROM);
        let goal = match self.sizes {
            Sizes::One(size) if size < GOAL_FROM => {
                (self.ports == 2).then(|| self.line().min(GOAL_MPPS * self.bits() * 1e-3))
            }
            _ => Some(self.line()),
        };
        [paper.then(|| self.line()), goal]
    }
}

/// Measures all selected cases.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    let mut device = None;
    let mut flows = 0;
    for rules in RULES {
        let cases = Case::all().filter(|case| case.rules == rules && lab.selection.takes(&case.parameters()));
        for (number, case) in cases.enumerate() {
            if number == 0 {
                device = Some(card::open(lab, device.take(), &sample(rules), rules)?);
            }
            let Some(device) = &mut device else { continue };
            lab.report(&measure(device, case, flows)?);
            flows += load::FLOWS;
        }
    }
    Ok(())
}

fn measure(device: &mut RtlDevice, case: Case, first: u32) -> Result<Vec<Row>, BenchError> {
    let parameters = case.parameters();
    let wrong = |text: String| BenchError::Wrong(BENCH, format!("{parameters:?}: {text}"));
    let before = card::stats(device)?;
    let traffic = load::traffic(case.ports, case.sizes, first, WARMUP + WINDOW + BEYOND);
    let seen = device.measure(&traffic, Rate::Line, WARMUP, WINDOW)?;
    let after = card::stats(device)?;
    let since = |name| Ok::<_, BenchError>(card::counter(BENCH, &after, name)? - card::counter(BENCH, &before, name)?);
    // Frames that a port's ring has no room for were not taken; all others leave.
    let drops = seen.drops.total() - seen.drops.overflow;
    if drops > 0 {
        return Err(wrong(format!("{drops} frames were dropped: {:?}", seen.drops)));
    }
    let frames: u64 = seen.left.iter().map(|(frames, _)| frames).sum();
    let bytes: u64 = seen.left.iter().map(|(_, bytes)| bytes).sum();
    let searched = since("frames")?;
    if frames == 0 || searched < frames {
        return Err(wrong(format!("{frames} frames left, and the block had {searched}")));
    }
    let mpps = frames as f64 * wire::CLOCK_MHZ / WINDOW as f64;
    let gbps = (bytes + frames * wire::bytes(0)) as f64 * 8e-3 * wire::CLOCK_MHZ / WINDOW as f64;
    let share = |count: u64| 100.0 * count as f64 / searched as f64;
    let row =
        |metric, unit, better, figures, value| Row::new(BENCH, &parameters, (metric, unit, better), figures, value);
    Ok(vec![
        row("gbps", "Gb/s with FCS, preamble and gap", Higher, case.figures(), gbps),
        row("mpps", "million frames/s", Higher, [None, None], mpps),
        row("unchecked", "% of the frames had more hits than lookups", Lower, [None, None], share(since("unchecked")?)),
        row("strings", "% of the frames had a string", Lower, [None, None], share(since("strings")?)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_cases() {
        let figures = |ports, sizes| Case { rules: 1_000, ports, sizes }.figures();
        assert_eq!(figures(2, Sizes::One(64)), [None, Some(70.4)]);
        assert_eq!(figures(1, Sizes::One(64)), [None, None]);
        assert_eq!(figures(2, Sizes::One(256)), [None, Some(200.0)]);
        assert_eq!(figures(1, Sizes::One(800)), [Some(100.0), Some(100.0)]);
        assert_eq!(figures(2, Sizes::Mix), [None, Some(200.0)]);
    }
}
