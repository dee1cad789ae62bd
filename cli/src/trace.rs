// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Each frame's journey as a trace in the Trace Event Format, which Perfetto (ui.perfetto.dev) and chrome://tracing
//! open.
//!
//! Each block of the card and each unit is a process with a slice for every frame in it, as many threads as it had
//! frames at a time; arrows join a frame's slices. A slice ends where the next one begins: with the frame's first beat
//! at the next block, at an exit with its last.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use penstock_device::{CLOCK_MHZ, Departure, Design, Hop, Maker, Place, Port, Run};
use serde::Serialize;
use serde_json::json;

/// A block of the card, in the order in which it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Block {
    Ingress(u8),
    Chain,
    Dispatcher,
    SwitchIn,
    Unit(u8),
    SwitchOut,
    Loopback,
    Exit(u8),
}

/// A frame in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Slice {
    block: Block,
    begin: u64,
    end: u64,
}

/// A frame's way, and its fate.
#[derive(Debug, Clone, Default)]
struct Journey {
    slices: Vec<Slice>,
    /// Its place, and the time since when it is there.
    now: Option<(Block, u64)>,
    name: String,
    bytes: usize,
}

impl Journey {
    fn is_in(&self, block: Block) -> bool {
        self.now.is_some_and(|(now, _)| now == block)
    }

    fn move_on(&mut self, cycle: u64, next: Option<Block>) {
        if let Some((block, begin)) = self.now.filter(|(_, begin)| *begin < cycle) {
            self.slices.push(Slice { block, begin, end: cycle });
        }
        self.now = next.map(|block| (block, cycle));
    }
}

/// One event of the format.
#[derive(Serialize)]
struct Event<'a> {
    name: &'a str,
    cat: &'a str,
    ph: &'a str,
    /// Microseconds.
    ts: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    pid: usize,
    tid: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bp: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<serde_json::Value>,
}

/// Writes the journeys of a run; `number` gives the number of a frame by its [`Departure::input`].
pub(crate) fn write(path: &Path, design: &Design, run: &Run, number: impl Fn(usize) -> usize) -> io::Result<()> {
    let mut journeys = journeys(design.ports as u8, run, number);
    journeys.sort_by_key(|journey| journey.slices.first().map(|slice| slice.begin));
    let threads = threads(&journeys);
    let mut blocks: Vec<Block> = threads.iter().flatten().map(|(slice, _)| slice.block).collect();
    blocks.sort_unstable();
    blocks.dedup();

    let mut file = BufWriter::new(File::create(path)?);
    writeln!(file, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    for (pid, block) in blocks.iter().enumerate() {
        let name = json!({"name":"process_name","ph":"M","pid":pid,"tid":0,"args":{"name":name_of(*block, design)}});
        writeln!(file, "{name},")?;
        let order = json!({"name":"process_sort_index","ph":"M","pid":pid,"tid":0,"args":{"sort_index":pid}});
        writeln!(file, "{order},")?;
    }
    for (id, (journey, placed)) in journeys.iter().zip(&threads).enumerate() {
        for (step, (slice, thread)) in placed.iter().enumerate() {
            let Ok(pid) = blocks.binary_search(&slice.block) else { continue };
            let event = Event {
                name: &journey.name,
                cat: "frame",
                ph: "X",
                ts: microseconds(slice.begin - run.start.min(slice.begin)),
                dur: Some(microseconds(slice.end - slice.begin)),
                pid,
                tid: *thread,
                id: None,
                bp: None,
                args: Some(json!({"bytes": journey.bytes, "cycles": slice.end - slice.begin})),
            };
            writeln!(file, "{},", serde_json::to_string(&event)?)?;
            let ph = if step == 0 {
                "s"
            } else if step + 1 < placed.len() {
                "t"
            } else {
                "f"
            };
            let bp = (ph == "f").then_some("e");
            let arrow = Event { name: "way", ph, dur: None, id: Some(id), bp, args: None, ..event };
            writeln!(file, "{},", serde_json::to_string(&arrow)?)?;
        }
    }
    let end = json!({"name":"clock","ph":"M","pid":0,"tid":0,"args":{"mhz":CLOCK_MHZ,"first_cycle":run.start}});
    writeln!(file, "{end}\n]}}")?;
    file.flush()
}

fn microseconds(cycles: u64) -> f64 {
    cycles as f64 / f64::from(CLOCK_MHZ)
}

fn name_of(block: Block, design: &Design) -> String {
    let stream = |index: u8| match u32::from(index) {
        port if port < design.ports => format!("port {port}"),
        _ => "host".to_string(),
    };
    match block {
        Block::Ingress(index) => format!("ingress, {}", stream(index)),
        Block::Chain => "inline chain".to_string(),
        Block::Dispatcher => "dispatcher".to_string(),
        Block::SwitchIn => "switch to the units".to_string(),
        Block::Unit(unit) => format!("unit {unit}"),
        Block::SwitchOut => "switch from the units".to_string(),
        Block::Loopback => "loopback".to_string(),
        Block::Exit(index) => format!("exit, {}", stream(index)),
    }
}

/// Place and time of a frame's entry; no two frames have the same.
type Key = (u8, u64);

/// The port byte of frames that have been over loopback.
const LOOPED: u8 = 3;

/// Frames of a slot that are remembered.
const KEPT: usize = 4;

/// The fate of each recorded frame.
fn journeys(ports: u8, run: &Run, number: impl Fn(usize) -> usize) -> Vec<Journey> {
    let mut all = Journeys { ports, known: HashMap::new(), of_slot: HashMap::new() };
    run.hops.iter().for_each(|hop| all.pass(hop));
    run.departures.iter().for_each(|departure| all.leave(departure, &number));
    all.known.into_values().filter(|journey| !journey.name.is_empty()).collect()
}

/// Journeys that are being read.
struct Journeys {
    ports: u8,
    known: HashMap<Key, Journey>,
    /// By unit and slot, frames that it was given to, the last one last: those before may still be on their way out.
    of_slot: HashMap<(u8, u8), VecDeque<Key>>,
}

impl Journeys {
    /// A frame passes a place.
    fn pass(&mut self, hop: &Hop) {
        let Hop { cycle, place, source, entered, unit, slot } = *hop;
        if let Place::SlotFree(unit) = place {
            self.free((unit, slot), cycle);
            return;
        }
        if matches!(place, Place::StepIn(_) | Place::StepOut(_)) {
            // The trace does not identify the frame of these headers.
            return;
        }
        let Some(key) = self.key(hop) else { return };
        let journey = self.known.entry(key).or_default();
        match place {
            Place::Chain(port) => {
                journey.now = Some((Block::Ingress(port), entered));
                journey.move_on(cycle, Some(Block::Chain));
            }
            Place::Ingress(stream) => {
                if !journey.is_in(Block::Chain) {
                    let made = matches!(Maker::of_source(source), Some(Maker::Block(_)));
                    journey.now = Some((if made { Block::Chain } else { Block::Ingress(stream) }, entered));
                }
                journey.move_on(cycle, Some(Block::Dispatcher));
            }
            Place::Dispatched(_) => journey.move_on(cycle, Some(Block::SwitchIn)),
            Place::UnitIn(at) => {
                give(self.of_slot.entry((at, slot)).or_default(), key);
                journey.move_on(cycle, Some(Block::Unit(at)));
            }
            Place::UnitOut(at) => {
                if matches!(Maker::of_source(source), Some(Maker::Unit(_))) {
                    journey.now = Some((Block::Unit(at), entered));
                }
                give(self.of_slot.entry((unit, slot)).or_default(), key);
                journey.move_on(cycle, Some(Block::SwitchOut));
            }
            Place::Exit(exit) if exit == self.ports + 1 => journey.move_on(cycle, Some(Block::Loopback)),
            Place::Exit(exit) => journey.move_on(cycle, Some(Block::Exit(exit))),
            Place::SlotFree(_) | Place::StepIn(_) | Place::StepOut(_) => {}
        }
    }

    /// A slot is free. If its frame has not left, the program dropped it.
    fn free(&mut self, (unit, slot): (u8, u8), cycle: u64) {
        if let Some(journey) = self.of_slot.get(&(unit, slot)).and_then(|frames| self.known.get_mut(frames.back()?))
            && journey.is_in(Block::Unit(unit))
        {
            journey.move_on(cycle, None);
            journey.name = "dropped".to_string();
        }
    }

    /// The frame that passes. Over loopback its slot identifies it. If it goes over loopback again, it is identified by
    /// leaving a unit at the expected place.
    fn key(&self, hop: &Hop) -> Option<Key> {
        let Hop { place, source, entered, unit, slot, .. } = *hop;
        if source != LOOPED {
            return Some((source, entered));
        }
        let leaves = |(key, journey): (&Key, &Journey)| {
            (key.1 == entered && matches!(place, Place::UnitOut(unit) if journey.is_in(Block::Unit(unit))))
                .then_some(*key)
        };
        let frames = self.of_slot.get(&(unit, slot));
        let labelled = frames.and_then(|frames| frames.iter().rev().find(|key| key.1 == entered).copied());
        labelled.or_else(|| self.known.iter().find_map(leaves))
    }

    /// A frame has left the card.
    fn leave(&mut self, departure: &Departure, number: impl Fn(usize) -> usize) {
        let (source, name) = match (departure.input.zip(departure.from), departure.made_by) {
            (_, Some(maker)) => (maker.source(), format!("made by {maker}")),
            (None, None) => return,
            (Some((index, port)), None) => {
                let source = match port {
                    Port::Ethernet(port @ 0..=1) => port,
                    Port::Ethernet(port) => 8 + port,
                    Port::Host => 2,
                };
                (source, format!("frame {}", number(index)))
            }
        };
        if let Some(journey) = self.known.get_mut(&(source, departure.entered)) {
            journey.move_on(departure.last, None);
            journey.name = name;
            journey.bytes = departure.bytes.len();
        }
    }
}

/// A slot is given to a frame.
fn give(frames: &mut VecDeque<Key>, key: Key) {
    if frames.back() != Some(&key) {
        frames.push_back(key);
    }
    if frames.len() > KEPT {
        frames.pop_front();
    }
}

/// Assigns each slice to a thread of its block, so that no two slices of a thread overlap.
fn threads(journeys: &[Journey]) -> Vec<Vec<(Slice, usize)>> {
    let mut all: Vec<(Slice, usize, usize)> = Vec::new();
    for (index, journey) in journeys.iter().enumerate() {
        all.extend(journey.slices.iter().enumerate().map(|(step, slice)| (*slice, index, step)));
    }
    all.sort_by_key(|(slice, ..)| slice.begin);
    let mut busy_until: HashMap<Block, Vec<u64>> = HashMap::new();
    let mut placed: Vec<Vec<(Slice, usize)>> =
        journeys.iter().map(|journey| journey.slices.iter().map(|slice| (*slice, 0)).collect()).collect();
    for (slice, index, step) in all {
        let lanes = busy_until.entry(slice.block).or_default();
        let lane = lanes.iter().position(|until| *until <= slice.begin).unwrap_or(lanes.len());
        if lane == lanes.len() {
            lanes.push(0);
        }
        lanes[lane] = slice.end;
        placed[index][step].1 = lane;
    }
    placed
}

#[cfg(test)]
mod tests {
    use penstock_device::Departure;

    use super::*;

    fn hop(cycle: u64, place: Place, source: u8, unit: u8, slot: u8) -> Hop {
        Hop { cycle, place, source, entered: 10, unit, slot }
    }

    #[test]
    fn a_slice_ends_where_the_next_begins() {
        let hops = vec![
            hop(13, Place::Ingress(0), 0, 0, 0),
            hop(15, Place::Dispatched(0), 0, 2, 3),
            hop(18, Place::UnitIn(2), 0, 2, 3),
            hop(30, Place::UnitOut(2), 0, 5, 7),
            hop(33, Place::Exit(3), 0, 5, 7),
            hop(35, Place::Dispatched(3), 3, 5, 7),
            hop(37, Place::UnitIn(5), 3, 5, 7),
            hop(40, Place::SlotFree(2), 0, 2, 3),
            hop(60, Place::SlotFree(5), 0, 5, 7),
        ];
        let run = Run { hops, ..Run::default() };
        let journeys = journeys(2, &run, |index| index);
        let slices: Vec<_> = journeys[0].slices.iter().map(|s| (s.block, s.begin, s.end)).collect();
        assert_eq!(journeys[0].name, "dropped");
        assert_eq!(
            slices,
            [
                (Block::Ingress(0), 10, 13),
                (Block::Dispatcher, 13, 15),
                (Block::SwitchIn, 15, 18),
                (Block::Unit(2), 18, 30),
                (Block::SwitchOut, 30, 33),
                (Block::Loopback, 33, 35),
                (Block::SwitchIn, 35, 37),
                (Block::Unit(5), 37, 60),
            ]
        );
    }

    #[test]
    fn a_chain_is_between_ingress_and_dispatcher_or_exit() {
        let steps = [hop(15, Place::StepIn(0), 0, 0, 0), hop(23, Place::StepOut(0), 0, 0, 0)];
        for (place, block) in [(Place::Ingress(0), Block::Dispatcher), (Place::Exit(0), Block::Exit(0))] {
            let mut hops = vec![hop(13, Place::Chain(0), 0, 0, 0)];
            hops.extend(steps);
            hops.push(hop(40, place, 0, 0, 0));
            let bytes = vec![0; 60];
            let departure = Departure {
                to: Port::Ethernet(0),
                from: Some(Port::Ethernet(0)),
                input: Some(0),
                time_ns: 0,
                made_by: None,
                mark: 0,
                entered: 10,
                first: 41,
                last: 42,
                bytes,
            };
            let run = Run { hops, departures: vec![departure], ..Run::default() };
            let journeys = journeys(2, &run, |index| index);
            let slices: Vec<_> = journeys[0].slices.iter().map(|s| (s.block, s.begin, s.end)).collect();
            assert_eq!(slices, [(Block::Ingress(0), 10, 13), (Block::Chain, 13, 40), (block, 40, 42)]);
        }
    }

    #[test]
    fn a_frame_that_a_program_made_begins_in_its_unit() {
        let hops = vec![hop(14, Place::UnitOut(5), 0x45, 5, 0), hop(17, Place::Exit(1), 0x45, 5, 0)];
        let bytes = vec![0; 60];
        let departure = Departure {
            to: Port::Ethernet(1),
            from: None,
            input: None,
            time_ns: 0,
            made_by: Some(Maker::Unit(5)),
            mark: 0,
            entered: 10,
            first: 20,
            last: 22,
            bytes,
        };
        let run = Run { hops, departures: vec![departure], ..Run::default() };
        let journeys = journeys(2, &run, |index| index);
        assert_eq!((journeys[0].name.as_str(), journeys[0].bytes), ("made by unit 5", 60));
        let slices: Vec<_> = journeys[0].slices.iter().map(|s| (s.block, s.begin, s.end)).collect();
        assert_eq!(slices, [(Block::Unit(5), 10, 14), (Block::SwitchOut, 14, 17), (Block::Exit(1), 17, 22)]);
    }

    #[test]
    fn slices_of_a_thread_do_not_overlap() {
        let slice =
            |begin, end| Journey { slices: vec![Slice { block: Block::Dispatcher, begin, end }], ..Journey::default() };
        let threads = threads(&[slice(0, 10), slice(5, 7), slice(6, 20), slice(7, 8), slice(10, 11)]);
        assert_eq!(threads.iter().map(|placed| placed[0].1).collect::<Vec<_>>(), [0, 1, 2, 1, 0]);
    }
}
