// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `l7-rate`: messages a second through one port, by skip-and-matches, rules, matched bytes, matchers, size and packets
//! of a message (QingNiao, Figures 4.12 and 4.16 to 4.23).
//!
//! Messages enter at port 0 without gaps, and those that are decided leave at port 1. The block drops packets whose
//! application has no room in its window queue; they are not in the rate. An application alone has the four matchers of
//! its block, and two in a block of two applications. Packets of messages of several are offered as fast as the card
//! takes them, because a lost packet costs its message. The paper's rate at few skip-and-matches is that of its DMA.

use penstock_bench::row::{Better::Higher, Row};
use penstock_bench::{BenchError, Lab, parameters, rates, wire};
use penstock_device::rtl::RtlDevice;
use penstock_device::{Port, Rate, Traffic};
use serde_json::json;

use crate::card;
use crate::load::{HEADERS, Message, PATHS, Paths};

/// The bench's name in its rows.
const BENCH: &str = "l7-rate";

/// Messages in the list that is repeated, a prime.
const MESSAGES: u32 = 61;
/// Cycles before the window, and of the window at least.
const WARMUP: u64 = 4_000;
const WINDOW: u64 = 20_000;

/// A case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Case {
    paths: Paths,
    /// Matchers of the application: 4, or 2 beside a second application.
    matchers: u8,
    /// Bytes of a packet without FCS.
    size: usize,
    /// Packets of a message.
    packets: u8,
}

const STEPS: usize = 4;
const BASE: Case = Case { paths: Paths::of(STEPS), matchers: 4, size: 128, packets: 1 };

/// One of the numbers changes at a time.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for matchers in [4, 2] {
        for steps in [1, 2, 4, 8, 12, 16, 24, 32, 48] {
            // The fields of so many skip-and-matches are longer.
            let size = if steps < 32 { 128 } else { 192 };
            cases.push(Case { paths: Paths::of(steps), matchers, size, ..BASE });
        }
    }
    let rules = [4, 32, 128, 512, 4096];
    cases.extend(rules.map(|rules| Case { paths: Paths { rules, ..BASE.paths }, ..BASE }));
    // The paper's messages have this size here.
    cases.extend([1, 8, 16, 32].map(|bytes| Case { paths: Paths { bytes, ..BASE.paths }, size: 256, ..BASE }));
    cases.extend([512, 1500].map(|size| Case { size, ..BASE }));
    for size in [128, 1500] {
        cases.extend((2..=8).map(|packets| Case { size, packets, ..BASE }));
    }
    cases
}

impl Case {
    fn parameters(self) -> std::collections::BTreeMap<String, serde_json::Value> {
        let Self { paths: Paths { steps, rules, bytes }, matchers, size, packets } = self;
        parameters(&[
            ("steps", json!(steps)),
            ("rules", json!(rules)),
            ("matched bytes", json!(bytes)),
            ("matchers", json!(matchers)),
            ("size", json!(size)),
            ("packets", json!(packets)),
        ])
    }

    /// Millions of messages a second in the paper, if its text says it, and our goal.
    fn figures(self) -> [Option<f64>; 2] {
        let line = rates::line(1, self.size) / f64::from(self.packets);
        let is_short = self.paths.steps <= STEPS && self.packets == 1;
        match self {
            Self { matchers: 2, .. } => [None, None],
            Self { paths: Paths { steps: 2, .. }, .. } => [Some(15.7), Some(line)],
            // "we observe a throughput of 91.28Gbps" with messages of four packets of 1500 bytes
            Self { packets: 4, size: 1500, .. } => [Some(91.28e3 / (8.0 * 1500.0 * 4.0)), Some(line)],
            Self { paths: Paths { steps: 48, .. }, .. } => [Some(3.37), Some(10.0)],
            _ => [None, (is_short || self.size == 1500).then_some(line)],
        }
    }
}

/// Measures all selected cases.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    for matchers in [4, 2] {
        let is_taken = |case: &Case| case.matchers == matchers && lab.selection.takes(&case.parameters());
        let cases = cases().into_iter().filter(is_taken).collect::<Vec<_>>();
        if cases.is_empty() {
            continue;
        }
        let mut device = if matchers == 4 { card::open(lab)? } else { card::open_pair(lab)? };
        for case in cases {
            let rate = measure(&mut device, case)?;
            lab.report(&rows(case, rate));
        }
    }
    Ok(())
}

fn rows(case: Case, rate: f64) -> [Row; 2] {
    let share = rate * f64::from(case.packets) / rates::line(1, case.size);
    let parameters = case.parameters();
    let row = |metric, unit, figures, value| Row::new(BENCH, &parameters, (metric, unit, Higher), figures, value);
    [row("mrps", "million messages/s", case.figures(), rate), row("share", "of line rate", [None, None], share)]
}

/// The messages of a case, each of another rule in turn.
fn traffic(case: Case) -> Traffic {
    let Case { paths, size, packets, .. } = case;
    let mut traffic = Traffic::default();
    for id in 0..MESSAGES {
        // All rules if there are fewer than messages, otherwise some from the first to the last.
        let path = paths.path(id as usize * paths.rules.div_ceil(MESSAGES as usize) % paths.rules);
        // A case ends within a message, which waits for its other packets: no other case may use its number.
        let id = (size as u32) << 20 | u32::from(packets) << 16 | id;
        for frame in (Message { app: PATHS, path: &path, id, size, packets }).frames() {
            traffic.push(Port::Ethernet(0), &frame, 0);
        }
    }
    traffic
}

/// Millions of messages a second.
fn measure(device: &mut RtlDevice, case: Case) -> Result<f64, BenchError> {
    card::load_rules(device, case.paths)?;
    let window = rates::whole_frames(case.size, WINDOW) * u64::from(case.packets);
    let rate = if case.packets == 1 { Rate::Line } else { Rate::Lossless };
    let seen = device.measure(&traffic(case), rate, WARMUP, window)?;
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
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn packets_have_the_size_of_their_case() {
        for case in cases() {
            let traffic = traffic(case);
            assert_eq!(traffic.frames.len(), MESSAGES as usize * usize::from(case.packets));
            assert!(traffic.frames[0].range.len() == case.size, "{case:?}: {}", traffic.frames[0].range.len());
        }
    }

    /// A case with many rules has messages of rules from the first to the last.
    #[test]
    fn messages_have_different_rules() {
        let frames = traffic(Case { paths: Paths { rules: 4096, ..BASE.paths }, ..BASE });
        let mut last: Vec<&[u8]> =
            frames.frames.iter().map(|frame| &frames.bytes[frame.range.clone()][72..77]).collect();
        assert_eq!((last[0], last[60]), (&b"b0000"[..], &b"b4080"[..]));
        last.dedup();
        assert_eq!(last.len(), 61);
    }

    /// The packets of a message that a case has begun must not meet those of another case.
    #[test]
    fn cases_share_no_numbers_of_messages_of_several_packets() {
        let mut numbers = HashMap::new();
        for case in cases().into_iter().filter(|case| case.packets > 1) {
            let traffic = traffic(case);
            for frame in &traffic.frames {
                let number = traffic.bytes[frame.range.clone()][44..48].to_vec();
                assert_eq!(numbers.entry(number).or_insert(case), &case);
            }
        }
        assert_eq!(numbers.len(), 14 * MESSAGES as usize);
    }

    #[test]
    fn goals() {
        assert!(BASE.figures()[1].is_some_and(|goal| (goal - 82.2).abs() < 0.1));
        assert_eq!(Case { paths: Paths::of(48), size: 192, ..BASE }.figures(), [Some(3.37), Some(10.0)]);
        assert_eq!(Case { paths: Paths::of(8), ..BASE }.figures(), [None, None]);
        assert_eq!(Case { packets: 2, ..BASE }.figures(), [None, None]);
        let whole = Case { size: 1500, packets: 4, ..BASE }.figures();
        assert!(whole[0].is_some_and(|paper| (paper - 1.9).abs() < 0.01));
        assert!(whole[1].is_some_and(|goal| (goal - 2.05).abs() < 0.01));
        // Only the paper's own case stands beside its figures.
        let with_paper = cases().into_iter().filter(|case| case.figures()[0].is_some()).count();
        assert_eq!(with_paper, 3);
    }
}
