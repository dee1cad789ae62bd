// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `flow-rate`: how much of line rate goes through an element of the flow engine, and what is dropped in front of it
//! (FlowBlaze, section 5.1, Figures 8, 11 and 12).
//!
//! Frames enter at port 0 without gaps and leave at port 1, past the units. The clock of a card only sets the number of
//! bytes a cycle: 40 Gb/s are 32 bytes a cycle at 156.25 MHz and 20 at 250 MHz. The card therefore runs with that many
//! bytes a cycle, inside frames too, in both directions. Frames that the card cannot take in time wait in its ingress,
//! which drops frames when its buffer of 512 KiB is full. That may take longer than the measurement. If more than 0.3 %
//! of the frames enter and do not leave, they also count as dropped; a smaller number may still be in flight. Contexts
//! are new: tables are empty at first, and `flow-table` measures how long a flow waits for room in a full one. Beside
//! the paper's 40 Gb/s, everything is measured at the 100 Gb/s of a port at 250 MHz.
//!
//! Sizes as captured are the paper's experiment and its *sim1*, all frames of 64 B its *sim2*. The traces are mixes of
//! our own ([`penstock_bench::mix`]) with the statistics of Table 6. The paper gives its losses in words: where it
//! names several traces at once, the worst of all four is set beside that. Its loss at 133 MHz is that of a bus of 256
//! bits, which carries 34 Gb/s there; ours is wider.

use std::collections::BTreeMap;

use penstock_bench::mix::{Mix, Trace};
use penstock_bench::row::{
    Better::{Higher, Lower},
    Row,
};
use penstock_bench::{BenchError, Lab, parameters, rates, wire};
use penstock_device::rtl::RtlDevice;
use penstock_device::{Device, Traffic};
use penstock_flow_host::Ask;
use serde_json::{Value, json};

use crate::card::{self, Key, PAPER_GBPS, PAPER_MHZ, SMALLEST};

/// The bench's name in its rows.
const BENCH: &str = "flow-rate";

/// Clocks of Figure 8, and ours, MHz.
const CLOCKS: [f64; 5] = [133.0, PAPER_MHZ, 166.0, 180.0, wire::CLOCK_MHZ];

/// Seed of all mixes.
const SEED: u64 = 1;

/// Cycles before the window.
const WARMUP: u64 = 10_000;
/// The largest difference between arriving and leaving frames of a window, as a part of them, although no frame waits:
/// frames in flight at its ends.
const ON_THEIR_WAY: f64 = 0.003;

/// Sizes of the frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sizes {
    /// Those of the trace.
    Captured,
    /// All as small as can be.
    Smallest,
}

impl Sizes {
    const ALL: [Self; 2] = [Self::Captured, Self::Smallest];

    fn name(self) -> &'static str {
        match self {
            Self::Captured => "as captured",
            Self::Smallest => "64 B",
        }
    }

    /// Cycles of the window.
    fn window(self) -> u64 {
        match self {
            Self::Captured => 120_000,
            Self::Smallest => 60_000,
        }
    }
}

/// A port's rate in Gb/s, and a clock in MHz.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Line {
    gbps: f64,
    mhz: f64,
}

impl Line {
    const PAPER: Self = Self { gbps: PAPER_GBPS, mhz: PAPER_MHZ };

    /// The paper's rate at all clocks, and ours at ours.
    fn all() -> impl Iterator<Item = Self> {
        let ours = Self { gbps: wire::LINE_GBPS, mhz: wire::CLOCK_MHZ };
        CLOCKS.into_iter().map(|mhz| Self { gbps: PAPER_GBPS, mhz }).chain([ours])
    }

    fn is_papers(self) -> bool {
        self.gbps == PAPER_GBPS
    }
}

/// What was seen.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    /// Percent of the frames.
    dropped: f64,
    /// Share of line rate.
    share: f64,
    /// From a frame's first beat in to its last beat out, ns: 99 % take no longer.
    latency: f64,
}

/// Measures all mixes by all keys at all clocks.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    let mut device: Option<RtlDevice> = None;
    let takes = |key, sizes, line| move |trace: &Trace| lab.selection.takes(&case(key, Some(*trace), sizes, line));
    for key in Key::ALL {
        let all = || Sizes::ALL.into_iter().flat_map(|sizes| Line::all().map(move |line| (sizes, line)));
        if !all().any(|(sizes, line)| Trace::ALL.iter().any(takes(key, sizes, line))) {
            continue;
        }
        let card = card::card(lab.root, key)?;
        let device = match &mut device {
            Some(device) => {
                device.load(&card.image)?;
                device
            }
            none => none.insert(lab.rtl(&card)?),
        };
        for (sizes, line) in all() {
            let mut dropped = Vec::new();
            for trace in Trace::ALL.into_iter().filter(takes(key, sizes, line)) {
                let seen = measure(device, key, trace, sizes, line)?;
                dropped.push(seen.dropped);
                lab.report(&rows(key, trace, sizes, line, seen));
            }
            if dropped.len() == Trace::ALL.len() && sizes == Sizes::Captured && line == Line::PAPER {
                let worst = dropped.into_iter().fold(0.0, f64::max);
                lab.report(&[dropped_row(key, None, sizes, line, worst)]);
            }
        }
    }
    Ok(())
}

/// Measures one mix; all flows are new.
fn measure(device: &mut RtlDevice, key: Key, trace: Trace, sizes: Sizes, line: Line) -> Result<Seen, BenchError> {
    if key != Key::OneFlow {
        let element = card::element(BENCH, device)?;
        card::ask::<serde_json::Value>(device, &Ask::Clear { element })?;
    }
    let window = sizes.window();
    let bytes = (WARMUP + window) as f64 * card::bytes_a_cycle(line.gbps, line.mhz);
    let seen = device.measure(&mix(trace, sizes, bytes), card::ports(line.gbps, line.mhz), WARMUP, window)?;
    card::counters(BENCH, device)?;
    let left: u64 = seen.left.iter().map(|(frames, _)| frames).sum();
    if left == 0 || seen.left[1].0 != left {
        return Err(BenchError::Wrong(BENCH, "not all frames leave at port 1".to_string()));
    }
    let share = left as f64 / seen.entered as f64;
    let dropped = 100.0 * too_many(seen.drops.total() as f64 / seen.offered as f64, share);
    let latency = card::percentile(BENCH, &seen.latencies, 99)? as f64 * 1000.0 / line.mhz;
    Ok(Seen { dropped, share, latency })
}

/// The part of the frames that the card cannot take: dropped frames or, while the buffer holds them, frames that
/// arrived and did not leave.
fn too_many(dropped: f64, share: f64) -> f64 {
    let waiting = 1.0 - share;
    if waiting > ON_THEIR_WAY { dropped.max(waiting) } else { dropped }
}

/// Frames that take at least this many bytes on the wire, and some more.
fn mix(trace: Trace, sizes: Sizes, bytes: f64) -> Traffic {
    let mut traffic = Traffic::default();
    let mut on_the_wire = 0;
    for (flow, size) in Mix::new(trace, SEED) {
        if on_the_wire as f64 > 1.05 * bytes {
            break;
        }
        let size = if sizes == Sizes::Smallest { SMALLEST } else { size };
        card::push(&mut traffic, &flow, size);
        on_the_wire += wire::bytes(size);
    }
    traffic
}

/// The row of a trace.
fn rows(key: Key, trace: Trace, sizes: Sizes, line: Line, seen: Seen) -> [Row; 3] {
    let case = case(key, Some(trace), sizes, line);
    [
        dropped_row(key, Some(trace), sizes, line, seen.dropped),
        Row::new(BENCH, &case, ("share", "of line rate", Higher), [None, goal_share(key, sizes, line)], seen.share),
        Row::new(BENCH, &case, ("latency_p99_ns", "ns", Lower), [None, None], seen.latency),
    ]
}

/// The row of a trace, or of the worst of all traces.
fn dropped_row(key: Key, trace: Option<Trace>, sizes: Sizes, line: Line, dropped: f64) -> Row {
    let rates = [paper_dropped(key, trace, sizes, line), goal_dropped(sizes, line)];
    Row::new(BENCH, &case(key, trace, sizes, line), ("dropped", "% of the frames", Lower), rates, dropped)
}

fn case(key: Key, trace: Option<Trace>, sizes: Sizes, line: Line) -> BTreeMap<String, Value> {
    parameters(&[
        ("key", json!(key.name())),
        ("trace", json!(trace.map_or("worst", Trace::name))),
        ("sizes", json!(sizes.name())),
        ("gbps", number(line.gbps)),
        ("mhz", number(line.mhz)),
    ])
}

/// A number without a fraction if it is an integer.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 { json!(value as u64) } else { json!(value) }
}

/// The share of frames that the paper's card drops, % (section 5.1 and Figure 8), if the text gives it.
fn paper_dropped(key: Key, trace: Option<Trace>, sizes: Sizes, line: Line) -> Option<f64> {
    if sizes != Sizes::Captured || !line.is_papers() {
        return None;
    }
    match (line.mhz, key, trace) {
        // "roughly 15%", whatever the flows are
        (133.0, ..) => Some(15.0),
        // "4.6-10.20%, depending on the trace" and "0-1.8%"
        (PAPER_MHZ, Key::OneFlow, None) => Some(10.2),
        (PAPER_MHZ, Key::FiveTuple, None) => Some(1.8),
        // "for all the traces and all flow definitions", so also at more
        (166.0 | 180.0, Key::Source | Key::Pair | Key::FiveTuple, _) => Some(0.0),
        (180.0, Key::OneFlow, Some(Trace::Uni2)) => Some(0.7),
        _ => None,
    }
}

/// The project drops nothing from the paper's clock on, and nothing of the traces at 100 Gb/s.
fn goal_dropped(sizes: Sizes, line: Line) -> Option<f64> {
    (line.mhz >= PAPER_MHZ && (line.is_papers() || sizes == Sizes::Captured)).then_some(0.0)
}

/// A frame every cycle, of one flow every other: at 100 Gb/s and 250 MHz that is less than line rate.
fn goal_share(key: Key, sizes: Sizes, line: Line) -> Option<f64> {
    let most = if key == Key::OneFlow { line.mhz / 2.0 } else { line.mhz };
    let frames = rates::line(1, SMALLEST) * line.gbps / wire::LINE_GBPS;
    let share = if sizes == Sizes::Smallest { (most / frames).min(1.0) } else { 1.0 };
    (line.mhz >= PAPER_MHZ).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAPER: Line = Line::PAPER;
    const OURS: Line = Line { gbps: 100.0, mhz: 250.0 };

    #[test]
    fn what_the_paper_says() {
        let captured = |key, trace, line| paper_dropped(key, trace, Sizes::Captured, line);
        assert_eq!(captured(Key::OneFlow, None, PAPER), Some(10.2));
        assert_eq!(captured(Key::OneFlow, Some(Trace::Uni1), PAPER), None, "it says of several which is the worst");
        assert_eq!(captured(Key::Pair, Some(Trace::Chi15), Line { mhz: 166.0, ..PAPER }), Some(0.0));
        assert_eq!(captured(Key::OneFlow, Some(Trace::Chi15), Line { mhz: 166.0, ..PAPER }), None);
        assert_eq!(captured(Key::OneFlow, None, OURS), None);
        assert_eq!(paper_dropped(Key::OneFlow, None, Sizes::Smallest, PAPER), None, "Figure 12 has no numbers");
    }

    #[test]
    fn goals() {
        assert_eq!(goal_dropped(Sizes::Smallest, PAPER), Some(0.0));
        assert_eq!(goal_dropped(Sizes::Smallest, Line { mhz: 133.0, ..PAPER }), None);
        assert_eq!((goal_dropped(Sizes::Captured, OURS), goal_dropped(Sizes::Smallest, OURS)), (Some(0.0), None));
        let share = |key, line| goal_share(key, Sizes::Smallest, line);
        // 125 of 148.8 million frames a second.
        assert!(share(Key::OneFlow, OURS).is_some_and(|share| (share - 0.84).abs() < 1e-9));
        assert_eq!((share(Key::Source, OURS), share(Key::OneFlow, PAPER)), (Some(1.0), Some(1.0)));
        assert_eq!(goal_share(Key::OneFlow, Sizes::Captured, OURS), Some(1.0));
        assert_eq!(share(Key::Source, Line { mhz: 133.0, ..PAPER }), None);
    }

    #[test]
    fn what_waits_at_the_end_is_dropped() {
        assert_eq!(too_many(0.0, 0.998), 0.0);
        assert!((too_many(0.0, 0.95) - 0.05).abs() < 1e-9 && (too_many(0.02, 0.9) - 0.1).abs() < 1e-9);
        assert_eq!((too_many(0.02, 1.0), too_many(0.0, 1.001)), (0.02, 0.0));
    }

    #[test]
    fn a_mix_lasts_for_its_window() {
        for sizes in Sizes::ALL {
            let traffic = mix(Trace::Mw15, sizes, 1e6);
            let bytes: u64 = traffic.frames.iter().map(|frame| wire::bytes(frame.range.len())).sum();
            assert!((1_050_000..1_052_000).contains(&bytes), "{bytes}");
        }
    }
}
