// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The results for the frames of a run, frame by frame and in sums.

use std::collections::{BTreeMap, BTreeSet};

use crate::counters::{Counters, Drops, WIRE_OVERHEAD};
use crate::hop::Hop;
use crate::traffic::{Departure, Maker, Port};

/// Cycles (on `soft` instructions of a unit) without a frame made by a program after which, when some came before, a
/// run ends.
pub const GENERATE_QUIET: u64 = 10_000;
/// Cycles (on `soft` instructions of a unit), and bytes, after which programs that only make frames are taken to do so
/// without end.
pub(crate) const GENERATE_LIMIT: u64 = 4_000_000;
pub(crate) const GENERATE_BYTES: u64 = 256 << 20;

/// Frames that programs made in a run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Made {
    pub frames: u64,
    /// Their bytes on the wire, since nothing else happens.
    pub bytes: u64,
    /// Time since which nothing else happens.
    pub alone_since: Option<u64>,
    /// They did not end.
    pub endless: bool,
}

impl Made {
    /// Takes a frame down.
    pub(crate) fn add(&mut self, bytes: usize) {
        self.frames += 1;
        self.bytes += bytes as u64 + WIRE_OVERHEAD;
    }

    /// Whether to wait for more frames now that nothing else happens: the last one left recently, so the others are not
    /// overdue.
    pub(crate) fn go_on(&mut self, now: u64, just_now: bool) -> bool {
        if self.alone_since.is_none() {
            self.bytes = 0;
        }
        let since = *self.alone_since.get_or_insert(now);
        self.endless = just_now && (now - since > GENERATE_LIMIT || self.bytes > GENERATE_BYTES);
        just_now && !self.endless
    }
}

/// Sums over the frames that left in a run.
#[derive(Debug, Clone, Default)]
pub struct Left {
    /// Frames by exit.
    pub frames: BTreeMap<Port, u64>,
    /// Their bytes, without FCS.
    pub bytes: u64,
    /// How many of those that had entered took so many cycles; on `soft` all took none.
    pub latencies: BTreeMap<u64, u64>,
    /// Frames that programs of units made.
    generated: u64,
    /// The units of these programs.
    makers: BTreeSet<u8>,
}

impl Left {
    /// Frames that left.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.frames.values().sum()
    }
}

/// The results for the frames that were sent.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// Frames that were sent, whether they could enter or not, and their bytes.
    pub offered: (u64, u64),
    /// Frames that left, in the order in which their last beats did, port by port; without those that
    /// [`Device::take_departures`](crate::Device::take_departures) gave.
    pub departures: Vec<Departure>,
    /// Sums over all frames that left.
    pub left: Left,
    /// Frames that did not, by reason.
    pub drops: Drops,
    /// Frames that programs made and that left in this run or were lost, and frames that inline blocks made: together
    /// with the sent ones they equal departures, drops and absorbed frames.
    pub generated: u64,
    /// Cycle in which the first frame could enter; 0 on `soft`.
    pub start: u64,
    /// Cycles from the first beat in to the last beat that moved; none on `soft`.
    pub cycles: Option<u64>,
    /// Wall-clock seconds that the frames took, with the time to read those of [`Device::stream`](crate::Device::stream).
    pub seconds: f64,
    /// The card's counts in this run, by streams and units, and the error flags that were raised since the load and not
    /// reported by an earlier run.
    pub counters: Counters,
    /// Faults of the run, in sentences; everything else was still delivered.
    pub faults: Vec<String>,
    /// Lines that programs have printed.
    pub log: Vec<String>,
    /// The places that frames passed, in time order; on `rtl`, if recording was enabled.
    pub hops: Vec<Hop>,
}

impl Run {
    /// Records a frame that left. If frames say who made them, only frames that programs or blocks made have no time of
    /// entry; if they do not, all frames that are not known to have entered.
    pub(crate) fn depart(&mut self, departure: Departure, knows_makers: bool) {
        let has_entered = if knows_makers { departure.made_by.is_none() } else { departure.input.is_some() };
        let left = &mut self.left;
        *left.frames.entry(departure.to).or_default() += 1;
        left.bytes += departure.bytes.len() as u64;
        if has_entered {
            *left.latencies.entry(departure.latency()).or_default() += 1;
        }
        if let Some(unit) = departure.made_by.and_then(Maker::unit) {
            left.generated += 1;
            left.makers.insert(unit);
        }
        self.departures.push(departure);
    }

    /// Records the card's counts between `before` and `now`.
    pub(crate) fn count(&mut self, before: &Counters, now: &Counters) {
        self.counters = now.since(before);
        self.drops = self.counters.drops();
    }

    /// Reports that this many frames circle between units and never leave.
    pub(crate) fn note_circling(&mut self, frames: u64) {
        self.faults.push(format!("{frames} frames still circle over loopback"));
    }

    /// Of `queued` frames and the frames that inline blocks made, counts those as lost that neither left nor were
    /// absorbed or dropped and counted, and reports them. Also reports frames that programs made and that did not
    /// leave. Some frames of an `endless` generator are still in flight. If departures do not say who made them, the
    /// counters say how many were made.
    pub(crate) fn settle(&mut self, queued: u64, endless: bool, knows_makers: bool) {
        let told: u64 = self.counters.units.iter().map(|unit| unit.generated).sum();
        let left = self.left.total();
        let made = if knows_makers { self.left.generated } else { told.min(left) };
        let entered = left - made;
        let made_by_blocks = self.counters.made_by_blocks();
        let lost = (queued + made_by_blocks).saturating_sub(entered + self.drops.total() + self.counters.absorbed());
        let lost_made = if endless { 0 } else { told.saturating_sub(made) };
        self.generated = made + lost_made + made_by_blocks;
        self.drops.lost = lost + lost_made;
        if lost > 0 {
            self.faults.push(format!("{lost} frames are lost: they entered and neither left nor were dropped"));
        }
        if lost_made > 0 {
            self.faults.push(format!("{lost_made} frames are lost: programs made them and they have not left"));
        }
        if endless {
            let makers: Vec<String> = self.left.makers.iter().map(u8::to_string).collect();
            self.faults.push(format!(
                "units go on and on sending frames that they make ({}); a run ends when none has come for {},000 cycles (on soft \
                 instructions), so let the program stop after some, or look at it from Python cycle by cycle (step) on rtl",
                makers.join(", "),
                GENERATE_QUIET / 1000,
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::{BlockCounters, InlineCounters};
    use penstock_engine::UnitCounters;

    fn out(made_by: Option<Maker>) -> Departure {
        let (to, bytes) = (Port::Host, Vec::new());
        Departure { to, from: None, input: None, time_ns: 0, made_by, mark: 0, entered: 0, first: 0, last: 0, bytes }
    }

    /// A run in which these frames left.
    fn run(departures: impl IntoIterator<Item = Departure>, drops: Drops, counters: &Counters) -> Run {
        let mut run = Run { drops, counters: counters.clone(), ..Run::default() };
        departures.into_iter().for_each(|departure| run.depart(departure, true));
        run
    }

    #[test]
    fn what_is_not_accounted_for_is_lost() {
        for (queued, lost) in [(9, 0), (10, 0), (11, 1), (1000, 990)] {
            let drops = Drops { runt: 1, blocked: 2, refused: 4, ..Drops::default() };
            let mut run = run(vec![out(None); 3], drops, &Counters::default());
            run.settle(queued, false, true);
            assert_eq!(run.drops, Drops { lost, ..drops });
            assert_eq!(run.faults.len(), usize::from(lost > 0));
        }
    }

    #[test]
    fn what_programs_made_is_accounted_for() {
        let unit = UnitCounters { generated: 3, blocked: 1, ..UnitCounters::default() };
        let counters = Counters { units: vec![unit; 2], ..Counters::default() };
        // Five have left, one is lost, or on its way if they go on and on; more may leave than were counted, from
        // before the run.
        for (made, endless, lost, generated) in [(5, false, 1, 6), (5, true, 0, 5), (6, false, 0, 6), (8, false, 0, 8)]
        {
            let mut departures = vec![out(Some(Maker::Unit(1))); made];
            departures.push(out(None));
            let mut run = run(departures, counters.drops(), &counters);
            run.settle(3, endless, true);
            assert_eq!((run.drops.lost, run.generated), (lost, generated));
            assert_eq!(3 + run.generated, run.departures.len() as u64 + run.drops.total());
            assert_eq!(run.faults.len(), usize::from(lost > 0 || endless), "{:?}", run.faults);
        }
    }

    /// Blocks made 5 frames of the 10 that entered, absorbed 4 and dropped 2: 9 leave.
    #[test]
    fn what_blocks_make_and_absorb_is_accounted_for() {
        let block = BlockCounters { made: 5, absorbed: 4, blocked: 2, ..BlockCounters::default() };
        let inline = InlineCounters { blocks: vec![block], ..InlineCounters::default() };
        let counters = Counters { inline: Some(inline), ..Counters::default() };
        let made = |number| out((number < 5).then_some(Maker::Block(0)));
        for (left, lost) in [(9, 0), (8, 1), (6, 3)] {
            let mut run = run((0..left).map(made), counters.drops(), &counters);
            run.settle(10, false, true);
            assert_eq!((run.drops.lost, run.generated), (lost, 5));
        }
    }

    #[test]
    fn generators_end_or_are_ended() {
        let mut made = Made::default();
        made.add(1 << 29);
        assert!(made.go_on(100, true), "what came before does not count");
        assert!(made.go_on(100 + GENERATE_LIMIT, true) && !made.endless);
        assert!(!made.go_on(101 + GENERATE_LIMIT, false) && !made.endless);
        assert!(!made.go_on(101 + GENERATE_LIMIT, true) && made.endless);
        let mut made = Made::default();
        assert!(made.go_on(0, true));
        made.add(1 << 28);
        assert!(!made.go_on(0, true) && made.endless);
    }
}
