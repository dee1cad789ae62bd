// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Traffic like that of the traces of the FlowBlaze paper (NSDI 2019, Table 6), which are not ours to ship.
//!
//! A mix has the properties of a trace in the paper: the number of active flows, by three definitions of a flow at
//! once; the number of new flows; the mean size; and sizes that are bimodal with at least 30 % of the smallest.
//! Properties that the paper does not give are chosen so that frames of one flow follow each other more closely rather
//! than less:
//!
//! - Frames have 60 or 1,514 bytes, as many of each as give the mean: no other two sizes have more small ones.
//! - Half of the frames are of the flow of the frame before (trains). Others are drawn from the active flows by Zipf's
//!   law: the second flow has half as many as the first, the third a third, and so on.
//! - A pair of addresses beyond the first of each source is of a source that is drawn by the pairs that it has already,
//!   and so are five-tuples of a pair: few have many.
//! - New flows: Table 6 has the maximum of a millisecond. They arrive at that rate in a full millisecond of frames of
//!   the mean size, at 1 Gb/s (UNI1, UNI2, MW15) or 10 Gb/s (CHI15), so one frame in two to eleven has a new
//!   five-tuple. A new flow replaces one that is drawn uniformly from all flows, which ends.

use clap::ValueEnum;

use crate::five_tuple::{Flow, Random};
use crate::wire;

/// Sizes of the frames, without FCS.
const SMALL: usize = 60;
const LARGE: usize = 1514;

/// A trace of Table 6.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Trace {
    /// A data centre of a university.
    Uni1,
    /// Another one.
    Uni2,
    /// A link between Japan and the United States, 2015.
    Mw15,
    /// A backbone in Chicago, 2015.
    Chi15,
}

/// The figures of Table 6 for a trace; flows by source, source and destination, five-tuple.
struct Statistics {
    /// Most flows that were active in 10 s.
    active: [u32; 3],
    /// Most new flows in a millisecond.
    new: [u32; 3],
    /// Mean size of a frame, bytes.
    size: f64,
    /// Rate of the link, Gb/s: not in the paper.
    link: f64,
}

impl Trace {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Uni1, Self::Uni2, Self::Mw15, Self::Chi15];

    /// As the paper calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uni1 => "UNI1",
            Self::Uni2 => "UNI2",
            Self::Mw15 => "MW15",
            Self::Chi15 => "CHI15",
        }
    }

    fn statistics(self) -> Statistics {
        match self {
            Self::Uni1 => Statistics { active: [575, 997, 4_000], new: [13, 19, 39], size: 697.0, link: 1.0 },
            Self::Uni2 => Statistics { active: [948, 3_000, 7_000], new: [20, 42, 42], size: 751.0, link: 1.0 },
            Self::Mw15 => {
                Statistics { active: [12_000, 130_000, 152_000], new: [38, 112, 114], size: 540.0, link: 1.0 }
            }
            Self::Chi15 => {
                Statistics { active: [92_000, 147_000, 178_000], new: [135, 144, 144], size: 778.0, link: 10.0 }
            }
        }
    }

    /// Rate of the link that it was captured on, Gb/s.
    pub fn link(self) -> f64 {
        self.statistics().link
    }

    /// Share of the frames that begin a flow, by source, source and destination, five-tuple.
    pub fn begins(self) -> [f64; 3] {
        let Statistics { new, size, link, .. } = self.statistics();
        let frames_a_ms = link * 1e6 / ((size + wire::bytes(0) as f64) * 8.0);
        new.map(|new| f64::from(new) / frames_a_ms)
    }

    /// Share of the frames that are small.
    pub fn small(self) -> f64 {
        (LARGE as f64 - self.statistics().size) / (LARGE - SMALL) as f64
    }

    /// The size of a frame.
    pub fn size(self, random: &mut Random) -> usize {
        if random.part() < self.small() { SMALL } else { LARGE }
    }
}

/// A five-tuple by the numbers of its source, its pair of addresses and itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tuple {
    source: u32,
    pair: u32,
    number: u32,
}

impl Tuple {
    /// The same numbers give the same flow, and other numbers another one: up to 2^17 sources, 2^24 pairs, and 200,000
    /// five-tuples of a pair. Multiplication by an odd number spreads flows that would otherwise be neighbours.
    fn flow(self) -> Flow {
        let ports = 64_000;
        Flow {
            tcp: self.number & 1 == 1,
            // 198.18.0.0/15 is for benchmarks (RFC 2544), 10.0.0.0/8 is for private use (RFC 1918).
            source: 0xC612_0000 | (self.source.wrapping_mul(0x9E37) & 0x1_FFFF),
            destination: 0x0A00_0000 | (self.pair.wrapping_mul(0x9E_3779) & 0xFF_FFFF),
            source_port: 1024 + (self.number % ports) as u16,
            destination_port: [53, 80, 443, 6379][(self.number / ports % 4) as usize],
        }
    }
}

/// Frames of a mix, without end: flow and size.
pub struct Mix {
    trace: Trace,
    random: Random,
    /// Those that are active.
    flows: Vec<Tuple>,
    /// For each flow the cumulative frequency up to it, relative to that of the first.
    drawn: Vec<f64>,
    /// The flow of the frame before.
    last: usize,
    /// How many sources, pairs and five-tuples there were so far.
    seen: [u32; 3],
}

impl Mix {
    /// The same seed gives the same frames.
    pub fn new(trace: Trace, seed: u64) -> Self {
        let mut random = Random(seed);
        let seen @ [sources, pairs, tuples] = trace.statistics().active;
        // Source of each pair.
        let mut of_pair: Vec<u32> = (0..sources).collect();
        for pair in sources..pairs {
            of_pair.push(of_pair[random.below(pair.into()) as usize]);
        }
        let mut flows: Vec<Tuple> =
            of_pair.iter().zip(0..).map(|(source, pair)| Tuple { source: *source, pair, number: pair }).collect();
        for number in pairs..tuples {
            flows.push(Tuple { number, ..flows[random.below(number.into()) as usize] });
        }
        let mut sum = 0.0;
        let drawn = (1..=flows.len()).map(|rank| {
            sum += 1.0 / rank as f64;
            sum
        });
        Self { trace, random, drawn: drawn.collect(), flows, last: 0, seen }
    }

    /// A flow ends, and another one begins in its place.
    fn begin(&mut self) -> usize {
        let [of_source, of_pair, of_tuple] = self.trace.begins();
        let at = self.random.below(self.flows.len() as u64) as usize;
        let kind = self.random.part() * of_tuple;
        let flow = &mut self.flows[at];
        let mut next = |kind: usize| {
            self.seen[kind] += 1;
            self.seen[kind] - 1
        };
        flow.number = next(2);
        if kind < of_pair {
            flow.pair = next(1);
        }
        if kind < of_source {
            flow.source = next(0);
        }
        at
    }
}

impl Iterator for Mix {
    type Item = (Flow, usize);

    fn next(&mut self) -> Option<Self::Item> {
        if self.random.part() < self.trace.begins()[2] {
            self.last = self.begin();
        } else if self.random.below(2) == 0 {
            let all = self.drawn.last().copied().unwrap_or_default();
            let wanted = self.random.part() * all;
            self.last = self.drawn.partition_point(|drawn| *drawn <= wanted).min(self.flows.len() - 1);
        }
        Some((self.flows[self.last].flow(), self.trace.size(&mut self.random)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    type Key = (u32, u32, bool, u16, u16);

    fn key(flow: &Flow) -> Key {
        (flow.source, flow.destination, flow.tcp, flow.source_port, flow.destination_port)
    }

    /// How many sources, pairs and five-tuples there are.
    fn count(flows: impl Iterator<Item = Flow>) -> [usize; 3] {
        let mut sources = HashSet::new();
        let mut pairs = HashSet::new();
        let mut tuples = HashSet::new();
        for flow in flows {
            sources.insert(flow.source);
            pairs.insert((flow.source, flow.destination));
            tuples.insert(key(&flow));
        }
        [sources.len(), pairs.len(), tuples.len()]
    }

    #[test]
    fn there_are_as_many_flows_as_in_the_table() {
        for trace in Trace::ALL {
            let mix = Mix::new(trace, 1);
            let active = trace.statistics().active.map(|count| count as usize);
            assert_eq!(count(mix.flows.iter().map(|tuple| tuple.flow())), active, "{trace:?}");
        }
    }

    #[test]
    fn sizes_and_new_flows_are_as_in_the_table() {
        for trace in Trace::ALL {
            let mut mix = Mix::new(trace, 7);
            let before = mix.seen;
            let frames = 50_000;
            let sizes: usize = mix.by_ref().take(frames).map(|(_, size)| size).sum();
            let mean = sizes as f64 / frames as f64;
            assert!((mean / trace.statistics().size - 1.0).abs() < 0.03, "{trace:?}: {mean}");
            assert!(trace.small() > 0.3, "at least 30 % are small");
            for ((before, now), share) in before.iter().zip(mix.seen).zip(trace.begins()) {
                let begun = f64::from(now - before) / frames as f64;
                assert!((begun / share - 1.0).abs() < 0.05, "{trace:?}: {begun} {share}");
            }
        }
    }

    #[test]
    fn a_link_that_is_full_has_as_many_new_flows_a_millisecond_as_the_table_says() {
        // CHI15: 10 Gb/s of 778 bytes and 24 of preamble, gap and FCS are 1,559 frames a millisecond.
        assert!((Trace::Chi15.begins()[2] * 1558.6 - 144.0).abs() < 0.1);
        assert!((Trace::Mw15.begins()[0] * 221.6 - 38.0).abs() < 0.1);
    }

    #[test]
    fn half_of_the_frames_that_begin_no_flow_are_of_the_flow_before() {
        let frames: Vec<_> = Mix::new(Trace::Chi15, 3).take(20_000).map(|(flow, _)| key(&flow)).collect();
        let same = frames.windows(2).filter(|two| two[0] == two[1]).count() as f64 / frames.len() as f64;
        // A drawn flow is sometimes also the same.
        assert!((0.45..0.52).contains(&same), "{same}");
    }

    #[test]
    fn a_seed_says_which_frames() {
        let first =
            |seed| Mix::new(Trace::Uni1, seed).take(50).map(|(flow, size)| (key(&flow), size)).collect::<Vec<_>>();
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
    }
}
