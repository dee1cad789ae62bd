// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `ids-flows`: frames a second of the card by the number of live flows.
//!
//! All flows are opened, then each frame is the next segment of a flow that is drawn uniformly. The frames have 128
//! bytes, and no frame enters a port that asks for a pause: no segment is lost, so a frame is told to the host only if
//! its bytes met a rule's string or if its flow had lost its line. The rules are about UDP, so that SYN is not told.
//! Beside ours stands the reassembler of Pigasus: 25 million frames a second, 100,000 flows.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use penstock_bench::five_tuple::Random;
use penstock_bench::row::{
    Better::{Higher, Lower},
    Row,
};
use penstock_bench::{BenchError, Lab, parameters, wire};
use penstock_device::rtl::RtlDevice;
use penstock_device::{Device as _, Port, Rate, Traffic};
use serde_json::{Value, json};

use crate::card;
use crate::load::{ACK, HEADERS, SYN, segment};

/// The bench's name in its rows.
const BENCH: &str = "ids-flows";
/// Live flows.
const FLOWS: [u32; 4] = [1_000, 10_000, 100_000, 1_000_000];
/// Flows that the paper has, and millions of frames a second that it has with them; our goal with all numbers.
const PAPER_FLOWS: u32 = 100_000;
const PAPER: f64 = 25.0;
const GOAL: f64 = 100.0;
/// Goal for frames that the host is told, %.
const GOAL_TOLD: f64 = 5.0;
/// Bytes of a frame without FCS.
const SIZE: usize = 128;
/// Rules with a string each.
const RULES: u32 = 1_000;
/// Flows that are opened at a time.
const AT_ONCE: u32 = 50_000;
/// Cycles before the window, of the window, and of traffic beyond it.
const WARMUP: u64 = 4_000;
const WINDOW: u64 = 20_000;
const BEYOND: u64 = 2_000;
/// Every flow's first network: 10.0.0.0/8.
const NETWORK: u32 = 0x0A00_0000;

/// Rules about UDP, each with a string of eight letters.
fn rules() -> String {
    let mut random = Random(8);
    let mut text = String::new();
    for number in 1..=RULES {
        let key: String = (0..8).map(|_| char::from(b'a' + (random.next() % 26) as u8)).collect();
        let _ = writeln!(text, "alert udp any any -> any any (content:\"{key}\"; sid:{number};)");
    }
    text
}

/// A segment of a flow, padded to the least size of Ethernet.
fn frame(flow: u32, sequence: u32, flags: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = segment(NETWORK | flow, 1024 + (flow & 0x7FFF) as u16, sequence, flags, payload);
    frame.resize(frame.len().max(60), 0);
    frame
}

/// The port of a flow.
fn port(flow: u32) -> Port {
    Port::Ethernet((flow % 2) as u8)
}

/// Segments for so many cycles of two ports at line rate, of `flows` flows that have been opened.
fn traffic(flows: u32, cycles: u64) -> Traffic {
    let mut random = Random(u64::from(flows));
    let mut sent: BTreeMap<u32, u32> = BTreeMap::new();
    let mut traffic = Traffic::default();
    for _ in 0..2 * cycles * wire::LINE_BYTES_A_CYCLE / wire::bytes(SIZE) {
        let flow = (random.next() % u64::from(flows)) as u32;
        let payload: Vec<u8> = (HEADERS..SIZE).map(|_| random.next() as u8).collect();
        let at = sent.entry(flow).or_insert(1);
        traffic.push(port(flow), &frame(flow, *at, ACK, &payload), 0);
        *at += payload.len() as u32;
    }
    traffic
}

/// Measures all selected cases.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    let mut device = None;
    for flows in FLOWS {
        let case = parameters(&[("flows", json!(flows))]);
        if lab.selection.takes(&case) {
            let mut card = card::open_design(lab, device.take(), "flows.toml", &rules(), BENCH)?;
            lab.report(&measure(&mut card, flows, &case)?);
            device = Some(card);
        }
    }
    Ok(())
}

/// Why frames were told that no rule and no lost line explains, by the increase of each counter; None: there are none.
fn told_wrongly(since: &dyn Fn(&str) -> Result<u64, BenchError>) -> Result<Option<String>, BenchError> {
    for name in ["told_order", "told_fragment", "told_headers", "told_class", "lost_records", "memory_errors"] {
        let count = since(name)?;
        if count > 0 {
            return Ok(Some(format!("{name} counts {count}")));
        }
    }
    let (told, known) = (since("told")?, since("strings")? + since("unchecked")? + since("evicted")?);
    Ok((told > known).then(|| format!("{told} frames were told, and {known} of them had a reason")))
}

fn measure(device: &mut RtlDevice, flows: u32, case: &BTreeMap<String, Value>) -> Result<Vec<Row>, BenchError> {
    let wrong = |text: String| BenchError::Wrong(BENCH, format!("{flows} flows: {text}"));
    for first in (0..flows).step_by(AT_ONCE as usize) {
        let mut opening = Traffic::default();
        for flow in first..flows.min(first + AT_ONCE) {
            opening.push(port(flow), &frame(flow, 0, SYN, b""), 0);
        }
        device.send(&opening, Rate::Lossless)?;
        let run = device.run(&mut |_| {})?;
        if run.departures.len() != opening.frames.len() {
            return Err(wrong(format!("{} of {} SYN left", run.departures.len(), opening.frames.len())));
        }
    }
    let before = card::stats(device)?;
    let traffic = traffic(flows, WARMUP + WINDOW + BEYOND);
    let seen = device.measure(&traffic, Rate::Lossless, WARMUP, WINDOW)?;
    let after = card::stats(device)?;
    let since =
        |name: &str| Ok::<_, BenchError>(card::counter(BENCH, &after, name)? - card::counter(BENCH, &before, name)?);
    let (frames, unchecked) = (since("frames")?, since("unchecked")?);
    if seen.drops.total() > 0 || frames != seen.offered {
        return Err(wrong(format!("{} frames entered, {frames} were decided: {:?}", seen.offered, seen.drops)));
    }
    if let Some(text) = told_wrongly(&since)? {
        return Err(wrong(text));
    }
    if frames > traffic.frames.len() as u64 {
        return Err(wrong(format!("{frames} frames entered, so segments came again")));
    }
    let left: u64 = seen.left.iter().map(|(frames, _)| frames).sum();
    let share = |count: u64| 100.0 * count as f64 / frames as f64;
    let paper = (flows <= PAPER_FLOWS).then_some(PAPER);
    let row = |metric, unit, better, figures, value| Row::new(BENCH, case, (metric, unit, better), figures, value);
    let mpps = left as f64 * wire::CLOCK_MHZ / WINDOW as f64;
    Ok(vec![
        row("mpps", "million frames/s", Higher, [paper, Some(GOAL)], mpps),
        row("unchecked", "% of the frames had more hits than lookups", Lower, [None, Some(0.0)], share(unchecked)),
        row("told", "% of the frames were told to the host", Lower, [None, Some(GOAL_TOLD)], share(since("told")?)),
        row("evicted", "% of the frames took another flow's line", Lower, [None, None], share(since("evicted")?)),
        row("fetched", "% of the frames had their line in card memory", Lower, [None, None], share(since("fetched")?)),
    ])
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use penstock_ids::{Bounds, Inspector};
    use penstock_ids_samples::Rules;

    use super::*;
    use crate::input::program;

    /// Frames may be told for a string, for hits without a lookup and for a lost line, and for nothing else.
    #[test]
    fn other_reasons_are_wrong() {
        let counts = |pairs: &[(&str, u64)]| {
            let counts: BTreeMap<String, u64> =
                pairs.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
            told_wrongly(&|name| Ok(counts.get(name).copied().unwrap_or_default())).unwrap()
        };
        assert_eq!(counts(&[("told", 6), ("strings", 1), ("unchecked", 2), ("evicted", 3)]), None);
        assert!(counts(&[("told", 7), ("strings", 1), ("unchecked", 2), ("evicted", 3)]).is_some());
        assert_eq!(counts(&[("told", 1), ("told_order", 1), ("evicted", 1)]), Some("told_order counts 1".to_owned()));
    }

    /// Segments of flows that were opened are in order, and no rule is met.
    #[test]
    fn flows_are_in_order() {
        let program = program(&Rules { text: rules(), triggers: Vec::new() }).unwrap();
        let mut inspector = Inspector::new(Arc::clone(&program), Bounds::default(), false);
        for flow in 0..50 {
            inspector.carry(&frame(flow, 0, SYN, b""), 0, 0);
        }
        let traffic = traffic(50, 500);
        let alerts: usize =
            (0..traffic.frames.len()).map(|n| inspector.carry(traffic.frame(n), 0, 0).alerts.len()).sum();
        let stats = inspector.stats();
        assert_eq!((alerts, stats.frames.malformed, stats.streams.out_of_order), (0, 0, 0));
        assert_eq!(stats.flows.begun, 50);
    }
}
