// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `l7-rate`: messages a second through one port, by skip-and-matches, rules, size and packets of a message (QingNiao,
//! Figures 4.16 to 4.21).
//!
//! Messages enter at port 0 without gaps, and those that are decided leave at port 1. The block drops packets whose
//! application has no room in its window queue; they are not in the rate. The paper's rate at few skip-and-matches is
//! that of its DMA.

use penstock_bench::row::{Better::Higher, Row};
use penstock_bench::{BenchError, Lab, parameters, rates, wire};
use penstock_device::rtl::RtlDevice;
use penstock_device::{Port, Rate, Traffic};
use serde_json::json;

use crate::card;
use crate::load::{HEADERS, Message, PATHS, path};

/// The bench's name in its rows.
const BENCH: &str = "l7-rate";

/// Messages in the list that is repeated, a prime.
const MESSAGES: u32 = 61;
/// Cycles before the window, and of the window at least.
const WARMUP: u64 = 4_000;
const WINDOW: u64 = 20_000;

/// A case: skip-and-matches, rules, bytes of a packet without FCS, packets of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Case {
    steps: usize,
    rules: usize,
    size: usize,
    packets: u8,
}

const BASE: Case = Case { steps: 4, rules: 1, size: 128, packets: 1 };

/// One of the four numbers changes at a time.
const CASES: [Case; 16] = [
    Case { steps: 1, ..BASE },
    Case { steps: 2, ..BASE },
    BASE,
    Case { steps: 8, ..BASE },
    Case { steps: 16, ..BASE },
    // The fields of so many skip-and-matches are longer.
    Case { steps: 32, size: 192, ..BASE },
    Case { steps: 48, size: 192, ..BASE },
    Case { rules: 4, ..BASE },
    Case { rules: 32, ..BASE },
    Case { rules: 128, ..BASE },
    Case { size: 256, ..BASE },
    Case { size: 512, ..BASE },
    Case { size: 1500, ..BASE },
    Case { size: 1500, packets: 2, ..BASE },
    Case { size: 1500, packets: 4, ..BASE },
    Case { size: 1500, packets: 8, ..BASE },
];

impl Case {
    fn parameters(self) -> std::collections::BTreeMap<String, serde_json::Value> {
        let Self { steps, rules, size, packets } = self;
        parameters(&[
            ("steps", json!(steps)),
            ("rules", json!(rules)),
            ("size", json!(size)),
            ("packets", json!(packets)),
        ])
    }

    /// Millions of messages a second in the paper, if its text says it, and our goal.
    fn figures(self) -> [Option<f64>; 2] {
        let line = rates::line(1, self.size) / f64::from(self.packets);
        match self {
            Self { steps: 2, rules: 1, size: 128, packets: 1 } => [Some(15.7), Some(line)],
            // "we observe a throughput of 91.28Gbps" with messages of four packets of 1500 bytes
            Self { packets: 4, size: 1500, .. } => [Some(91.28e3 / (8.0 * 1500.0 * 4.0)), Some(line)],
            Self { steps: 1 | 4, .. } => [None, Some(line)],
            Self { steps: 48, .. } => [Some(3.37), Some(10.0)],
            _ => [None, None],
        }
    }
}

/// Measures all selected cases.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    let cases = CASES.into_iter().filter(|case| lab.selection.takes(&case.parameters())).collect::<Vec<_>>();
    if cases.is_empty() {
        return Ok(());
    }
    let mut device = card::open(lab)?;
    for case in cases {
        let rate = measure(&mut device, case)?;
        let share = rate * f64::from(case.packets) / rates::line(1, case.size);
        let parameters = case.parameters();
        let row = |metric, unit, figures, value| Row::new(BENCH, &parameters, (metric, unit, Higher), figures, value);
        lab.report(&[
            row("mrps", "million messages/s", case.figures(), rate),
            row("share", "of line rate", [None, None], share),
        ]);
    }
    Ok(())
}

/// The messages of a case, each of another rule in turn.
fn traffic(case: Case) -> Traffic {
    let Case { steps, rules, size, packets } = case;
    let mut traffic = Traffic::default();
    for id in 0..MESSAGES {
        let path = path(steps, id as usize % rules, rules);
        // A case ends within a message, whose number the next case must not use with another count.
        let id = u32::from(packets) << 16 | id;
        for frame in (Message { app: PATHS, path: &path, id, size, packets }).frames() {
            traffic.push(Port::Ethernet(0), &frame, 0);
        }
    }
    traffic
}

/// Millions of messages a second.
fn measure(device: &mut RtlDevice, case: Case) -> Result<f64, BenchError> {
    card::load_rules(device, case.steps, case.rules)?;
    let window = rates::whole_frames(case.size, WINDOW) * u64::from(case.packets);
    let seen = device.measure(&traffic(case), Rate::Line, WARMUP, window)?;
    let bytes = HEADERS as u64 + (case.size - HEADERS) as u64 * u64::from(case.packets);
    match seen.left[..] {
        [(0, 0), (messages, all)] if messages > 0 && all == messages * bytes => {
            Ok(messages as f64 * wire::CLOCK_MHZ / window as f64)
        }
        _ => {
            Err(BenchError::Wrong(BENCH, format!("{case:?}: not all messages leave whole at port 1: {:?}", seen.left)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_have_the_size_of_their_case() {
        for case in CASES {
            let traffic = traffic(case);
            assert_eq!(traffic.frames.len(), MESSAGES as usize * usize::from(case.packets));
            assert!(traffic.frames[0].range.len() == case.size, "{case:?}: {}", traffic.frames[0].range.len());
        }
    }

    #[test]
    fn goals() {
        assert!(BASE.figures()[1].is_some_and(|goal| (goal - 82.2).abs() < 0.1));
        assert_eq!(Case { steps: 48, size: 192, ..BASE }.figures(), [Some(3.37), Some(10.0)]);
        assert_eq!(Case { steps: 8, ..BASE }.figures(), [None, None]);
    }
}
