// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `flow-table`: the work to find a place for a new context, by the load of the table, and whether a context is ever
//! lost (FlowBlaze, section 5.5, Figure 10).
//!
//! Measured on the table in RTL, by the element's own registers (engines/flow/regs/flow.rdl). MOVED counts entries that
//! left the stash for one of their places, either an empty place or in exchange for another entry. STASH has the
//! maximum number of entries.
//!
//! - *one at a time*: a table that is filled to the load with random keys gets one more, until the stash is empty
//!   again, and loses it again.
//! - *flood*: the same table is filled from the load before to this one by frames of new flows alone, 64 B at 100 Gb/s
//!   and 250 MHz; ports pause when the card asks for it.
//! - *trace*: new flows come among frames of known ones, as many as in Table 6, of the sizes of the trace: at the pace
//!   of the link that it was captured on, which is the paper's test, and without gaps at 40 Gb/s, both at 156.25 MHz.
//!   Frames of known flows are of any flow of the table.
//! - *all*: in the end a frame of each flow that was ever added must find its context.
//!
//! The paper's table is software: its moves are as many as the algorithm does, at 6.4 ns each, and its stash is filled
//! by insertions of 450 moves. It has room for as many entries as load 95 % means.

use std::collections::{BTreeMap, HashSet};

use penstock_bench::five_tuple::{Flow, Random};
use penstock_bench::mix::Trace;
use penstock_bench::row::{Better::Lower, Row};
use penstock_bench::{BenchError, Lab};
use penstock_device::rtl::RtlDevice;
use penstock_device::{Device, Rate, Run, Traffic};
use penstock_flow_host::{Ask, TableUse};
use serde_json::{Value, json};

use crate::card::{self, Key, PAPER_GBPS, PAPER_MHZ, SMALLEST};

/// The bench's name in its rows.
const BENCH: &str = "flow-table";

/// Loads that are measured, % of the places.
const LOADS: [u32; 7] = [50, 60, 70, 80, 90, 95, 97];
/// Load to which the paper's table is filled, %.
const PAPER_LOAD: u32 = 95;
/// Moves of an insertion there: the median, the most of 10,000 (section 5.5).
const PAPER_MOVES: (f64, f64) = (125.0, 300.0);
/// Entries of the stash that the paper's traces need at most, and that it has.
const PAPER_STASH: f64 = 8.0;

/// Insertions one at a time, for each load.
const SAMPLES: usize = 1000;
/// New flows of a trace.
const ARRIVALS: usize = 300;
/// Frames that are sent at once.
const FRAMES: usize = 16_384;
/// Looks at the stash within which an insertion must end: each takes tens of cycles.
const PATIENCE: usize = 10_000;

/// Measures all loads, one after the other.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    let mut bench = Bench::open(lab)?;
    for load in LOADS {
        let contexts = (u64::from(bench.table()?.places) * u64::from(load) / 100) as u32;
        let flood = bench.fill(contexts - 1)?;
        let case = case(load, "flood", None);
        let row = |metric, unit, goal, value| Row::new(BENCH, &case, (metric, unit, Lower), [None, goal], value);
        lab.report(&[
            row("lost", "contexts", Some(0.0), flood.lost),
            row("moves", "moves of a context", None, flood.moves),
            row("cycles_a_frame", "cycles", None, flood.cycles),
            row("stash_most", "entries", None, flood.most),
        ]);
        lab.report(&alone(load, bench.alone()?));
        if load == PAPER_LOAD {
            for trace in Trace::ALL {
                for pace in [Pace::Captured, Pace::NoGaps] {
                    lab.report(&arrivals(load, trace, pace, &bench.arrivals(trace, pace)?));
                }
            }
        }
    }
    let (load, missing) = (LOADS[LOADS.len() - 1], bench.missing()?);
    let case = case(load, "all", None);
    lab.report(&[Row::new(BENCH, &case, ("lost", "contexts", Lower), [None, Some(0.0)], missing)]);
    Ok(())
}

/// The speed of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// As fast as its link.
    Captured,
    /// At 40 Gb/s.
    NoGaps,
}

impl Pace {
    fn name(self) -> &'static str {
        match self {
            Self::Captured => "as captured",
            Self::NoGaps => "40 Gb/s",
        }
    }

    fn gbps(self, trace: Trace) -> f64 {
        match self {
            Self::Captured => trace.link(),
            Self::NoGaps => PAPER_GBPS,
        }
    }
}

/// The effect of frames of new flows on the table.
#[derive(Debug, Clone, Copy)]
struct Added {
    /// Missing contexts, and frames that never reached the table.
    lost: f64,
    /// Moves of a context.
    moves: f64,
    /// Most entries of the stash.
    most: f64,
    /// Cycles of a frame.
    cycles: f64,
}

fn case(load: u32, test: &str, trace: Option<(Trace, Pace)>) -> BTreeMap<String, Value> {
    let mut case = BTreeMap::from([("load".to_string(), json!(load)), ("test".to_string(), json!(test))]);
    if let Some((trace, pace)) = trace {
        case.insert("trace".to_string(), json!(trace.name()));
        case.insert("pace".to_string(), json!(pace.name()));
    }
    case
}

/// Rows of insertions one at a time.
fn alone(load: u32, moves: Vec<u64>) -> Vec<Row> {
    let case = case(load, "one at a time", None);
    let [median, mean, most] = summary(moves);
    let (paper_median, paper_most) = PAPER_MOVES;
    let paper = |moves: f64| (load == PAPER_LOAD).then_some(moves);
    let row = |metric, rates, value| Row::new(BENCH, &case, (metric, "moves of an insertion", Lower), rates, value);
    vec![
        row("moves_median", [paper(paper_median); 2], median),
        row("moves_most", [paper(paper_most); 2], most),
        row("moves_mean", [None, None], mean),
    ]
}

/// Rows of a trace.
fn arrivals(load: u32, trace: Trace, pace: Pace, added: &Added) -> [Row; 3] {
    let case = case(load, "trace", Some((trace, pace)));
    let row = |metric, unit, rates, value| Row::new(BENCH, &case, (metric, unit, Lower), rates, value);
    let paper = (pace == Pace::Captured).then_some(PAPER_STASH);
    [
        row("stash_most", "entries", [paper, paper], added.most),
        row("lost", "contexts", [None, Some(0.0)], added.lost),
        row("moves", "moves of a context", [None, None], added.moves),
    ]
}

/// Median, mean and most; 0 of nothing.
fn summary(mut values: Vec<u64>) -> [f64; 3] {
    values.sort_unstable();
    let (count, sum) = (values.len(), values.iter().sum::<u64>() as f64);
    let Some(most) = values.last() else { return [0.0; 3] };
    let median = (values[(count - 1) / 2] + values[count / 2]) as f64 / 2.0;
    [median, sum / count as f64, *most as f64]
}

/// Flows, none of them twice.
struct Flows {
    random: Random,
    seen: HashSet<(u32, u32, u32)>,
}

impl Flows {
    fn draw(&mut self) -> Flow {
        loop {
            let (addresses, ports) = (self.random.next(), self.random.next() as u32);
            let (source, destination) = ((addresses >> 32) as u32, addresses as u32);
            if self.seen.insert((source, destination, ports)) {
                let (source_port, destination_port) = ((ports >> 16) as u16, ports as u16);
                return Flow { tcp: false, source, destination, source_port, destination_port };
            }
        }
    }
}

/// Values of the fields of `5tuple`.
fn key(flow: &Flow) -> Vec<u64> {
    let protocol = if flow.tcp { 6 } else { 17 };
    vec![flow.source.into(), flow.destination.into(), protocol, flow.source_port.into(), flow.destination_port.into()]
}

/// A card and the flows that its element knows.
struct Bench {
    device: RtlDevice,
    element: String,
    flows: Flows,
    known: Vec<Flow>,
}

impl Bench {
    fn open(lab: &Lab) -> Result<Self, BenchError> {
        let mut device = lab.rtl(&card::card(lab.root, Key::FiveTuple)?)?;
        let element = card::element(BENCH, &mut device)?;
        Ok(Self { device, element, flows: Flows { random: Random(1), seen: HashSet::new() }, known: Vec::new() })
    }

    fn table(&mut self) -> Result<TableUse, BenchError> {
        card::ask(&mut self.device, &Ask::Table { element: self.element.clone(), forget: false })
    }

    /// Frames of new flows at line rate, until the table has this many contexts.
    fn fill(&mut self, contexts: u32) -> Result<Added, BenchError> {
        let missing = (contexts as usize).saturating_sub(self.known.len());
        let added: Vec<Flow> = (0..missing).map(|_| self.flows.draw()).collect();
        let (before, mut cycles, mut frames) = (self.begin()?, 0, 0);
        for some in added.chunks(FRAMES) {
            let run = self.send(some.iter().map(|flow| (*flow, SMALLEST)), Rate::Lossless)?;
            cycles += run.cycles.unwrap_or_default();
            frames += run.departures.len();
        }
        self.known.extend(&added);
        self.end(before, added.len(), added.len() - frames, cycles as f64 / frames.max(1) as f64)
    }

    /// Moves of insertions one at a time, each of which is undone.
    fn alone(&mut self) -> Result<Vec<u64>, BenchError> {
        let mut moves = Vec::with_capacity(SAMPLES);
        for _ in 0..SAMPLES {
            let (key, element) = (key(&self.flows.draw()), self.element.clone());
            let before = self.settled()?.moved;
            let insert = Ask::Insert { element, key: json!(key), context: Value::Null };
            card::ask::<Value>(&mut self.device, &insert)?;
            moves.push(self.settled()?.moved - before);
            if !self.remove(&key)? {
                return Err(BenchError::Wrong(BENCH, "a context that was added is not there".to_string()));
            }
        }
        Ok(moves)
    }

    /// New flows among frames of known ones; in the end they are forgotten.
    fn arrivals(&mut self, trace: Trace, pace: Pace) -> Result<Added, BenchError> {
        let begins = trace.begins()[2];
        let mut frames = Vec::new();
        let mut added = Vec::new();
        while added.len() < ARRIVALS {
            let random = &mut self.flows.random;
            let size = trace.size(random);
            let flow = if random.part() < begins {
                let flow = self.flows.draw();
                added.push(flow);
                flow
            } else {
                self.known[random.below(self.known.len() as u64) as usize]
            };
            frames.push((flow, size));
        }
        let before = self.begin()?;
        let count = frames.len();
        let run = self.send(frames.into_iter(), card::ports(pace.gbps(trace), PAPER_MHZ))?;
        let cycles = run.cycles.unwrap_or_default() as f64 / count as f64;
        let seen = self.end(before, added.len(), count - run.departures.len(), cycles)?;
        for flow in &added {
            self.remove(&key(flow))?;
        }
        Ok(seen)
    }

    /// Frames of flows that the element should know and does not.
    fn missing(&mut self) -> Result<f64, BenchError> {
        let known = self.known.clone();
        let before = card::counters(BENCH, &mut self.device)?;
        for some in known.chunks(FRAMES) {
            self.send(some.iter().map(|flow| (*flow, SMALLEST)), Rate::Lossless)?;
        }
        let after = card::counters(BENCH, &mut self.device)?;
        // Their row is the second.
        let found = after.rows[1].frames - before.rows[1].frames;
        Ok(known.len() as f64 - found as f64)
    }

    fn send(&mut self, frames: impl Iterator<Item = (Flow, usize)>, rate: Rate) -> Result<Run, BenchError> {
        let mut traffic = Traffic::default();
        frames.for_each(|(flow, size)| card::push(&mut traffic, &flow, size));
        self.device.send(&traffic, rate)?;
        let run = self.device.run(&mut |_| {})?;
        match run.faults.first() {
            Some(fault) => Err(BenchError::Wrong(BENCH, fault.clone())),
            None => Ok(run),
        }
    }

    /// The table before contexts are added.
    fn begin(&mut self) -> Result<TableUse, BenchError> {
        let table = self.settled()?;
        let forget = Ask::Table { element: self.element.clone(), forget: true };
        card::ask::<TableUse>(&mut self.device, &forget)?;
        Ok(table)
    }

    /// The result of the insertions, when `dropped` frames never arrived.
    fn end(&mut self, before: TableUse, added: usize, dropped: usize, cycles: f64) -> Result<Added, BenchError> {
        let after = self.settled()?;
        card::counters(BENCH, &mut self.device)?;
        let contexts = f64::from(after.contexts) - f64::from(before.contexts);
        let moves = (after.moved - before.moved) as f64 / added.max(1) as f64;
        Ok(Added { lost: added as f64 - contexts + dropped as f64, moves, most: after.most.into(), cycles })
    }

    /// Removes the context of a flow: whether it had one.
    fn remove(&mut self, key: &[u64]) -> Result<bool, BenchError> {
        let delete = Ask::Delete { element: self.element.clone(), key: json!(key), exist: false };
        card::ask(&mut self.device, &delete)
    }

    /// The table when its stash is empty.
    fn settled(&mut self) -> Result<TableUse, BenchError> {
        for _ in 0..PATIENCE {
            let table = self.table()?;
            if table.stash == 0 {
                return Ok(table);
            }
        }
        Err(BenchError::Wrong(BENCH, "the stash does not become empty".to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_mean_and_most() {
        assert_eq!(summary(vec![9, 1, 2]), [2.0, 4.0, 9.0]);
        assert_eq!(summary(vec![4, 1, 2, 9]), [3.0, 4.0, 9.0]);
        assert_eq!(summary(Vec::new()), [0.0; 3]);
    }

    #[test]
    fn only_the_papers_load_has_its_figures() {
        let rows = alone(95, vec![1, 2, 30]);
        let told: Vec<_> = rows.iter().map(|row| (row.metric.as_str(), row.paper, row.goal, row.value)).collect();
        let expected = [
            ("moves_median", Some(125.0), Some(125.0), 2.0),
            ("moves_most", Some(300.0), Some(300.0), 30.0),
            ("moves_mean", None, None, 11.0),
        ];
        assert_eq!(told, expected);
        assert!(alone(97, vec![1]).iter().all(|row| row.paper.is_none()));
        let added = Added { lost: 0.0, moves: 2.0, most: 3.0, cycles: 9.0 };
        let [stash, ..] = arrivals(95, Trace::Mw15, Pace::Captured, &added);
        assert_eq!((stash.paper, stash.goal, stash.value), (Some(8.0), Some(8.0), 3.0));
        assert_eq!(arrivals(95, Trace::Mw15, Pace::NoGaps, &added)[0].paper, None);
    }

    #[test]
    fn flows_differ() {
        let mut flows = Flows { random: Random(1), seen: HashSet::new() };
        let keys: HashSet<_> = (0..1000).map(|_| key(&flows.draw())).collect();
        assert_eq!(keys.len(), 1000);
    }
}
