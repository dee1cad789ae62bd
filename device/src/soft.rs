// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The `soft` target: the card in native code.

use std::collections::VecDeque;
use std::mem;
use std::ops::RangeInclusive;
use std::time::Instant;

use penstock_engine::{Bus, CardError, HELD_LIMIT, Identity, Kept, Log, Native, Record, Request};
use penstock_shell::{Card, Exit, Source};
use penstock_unit::{Block, Entering, Unit, Verdict};
use serde_json::Value as Json;

use crate::arrivals::{Arrival, Arrivals, Lanes};
use crate::counters::{BlockCounters, Counters, InlineCounters};
use crate::design::Design;
use crate::device::{Device, Work};
use crate::error::DeviceError;
use crate::host::{BOOT_LIMIT, Host, LOOK};
use crate::image::{Image, PartImage};
use crate::progress::Progress;
use crate::rate::Rate;
use crate::run::{Made, Run};
use crate::target::Target;
use crate::traffic::{Departure, Maker, Port, Traffic};

/// Frames pushed between two polls: enough to keep every unit at work, few enough to stay in the cache.
const BATCH: u64 = 256;
/// Frames between two updates of the progress.
const SHOW: u64 = 64 * BATCH;

/// Times in a row that drivers answer records, which may cause others, between two polls.
const SERVES: usize = 1000;

/// Polls in a row in which frames only circle over loopback (up to 100,000 hops each) after which they are given up.
const CIRCLES: u32 = 100;

/// Frames of a stream that are remembered after they entered: a frame that leaves after so many later ones of its stream
/// is not known any more, and has no time.
const KNOWN: usize = 1 << 20;

/// Streams that frames enter at: Ethernet 0..=3, host; the loopback last, where none does.
const STREAMS: usize = 6;

/// A design in native code.
pub struct SoftDevice {
    pub(crate) card: Card,
    pub(crate) host: Host,
    /// Number of inline blocks.
    blocks: usize,
    lanes: Lanes,
    /// Frames enter one at a time.
    in_turns: bool,
    /// Frames pushed so far, by stream.
    pub(crate) pushed: [u64; STREAMS],
    /// Units that shall take frames, as long as they live.
    pub(crate) wanted: u32,
    /// Units that start with a new program.
    pub(crate) starting: u32,
    /// Number of checks whether the unit that started last is up.
    pub(crate) looks: u64,
    /// Faults of the card that have been reported.
    pub(crate) told: usize,
    /// What [`Device::work`] has begun.
    flight: Option<Flight>,
    /// The reason why a driver could not answer the records of its blocks, until it is reported.
    pub(crate) unserved: Option<String>,
}

/// Frames that were sent, until their fate is known.
struct Flight {
    /// Frames that entered.
    entered: u64,
    streams: [Entered; STREAMS],
    /// Frames that left and had entered before.
    earlier: u64,
    before: Counters,
    faults_before: usize,
    run: Run,
    /// Frames accounted for when last counted, and polls since in which that has not changed.
    accounted: u64,
    circles: u32,
    /// In turns: the frame that entered last is still on its way.
    is_inside: bool,
    /// Frames that programs made, and turns of the units so far.
    made: Made,
    turns: u64,
    /// Frames have set the time that programs of units see.
    sets_time: bool,
    clock: Instant,
}

/// Whether a frame entered.
#[derive(PartialEq, Eq)]
enum Entry {
    Entered,
    /// The next frame waits for a unit that is debugged.
    Stuck,
    NoneWaits,
}

/// The frames of a stream that entered, as far as they are remembered.
#[derive(Default)]
struct Entered {
    /// Frames that had entered before.
    base: u64,
    /// Frames that are forgotten, those before included.
    forgotten: u64,
    frames: VecDeque<Arrival>,
}

impl Entered {
    fn push(&mut self, arrival: Arrival) {
        if self.frames.len() == KNOWN {
            self.frames.pop_front();
            self.forgotten += 1;
        }
        self.frames.push_back(arrival);
    }

    /// Frame `number` of all that entered the stream.
    fn get(&self, number: u64) -> Option<Arrival> {
        self.frames.get(usize::try_from(number.checked_sub(self.forgotten)?).ok()?).copied()
    }
}

impl SoftDevice {
    /// Opens a design.
    ///
    /// # Errors
    /// An engine has no native units.
    pub fn open(design: &Design) -> Result<Self, DeviceError> {
        // The manifest keeps ports and units within a byte.
        let (ports, units) = (design.ports as u8, design.units() as u8);
        let made = (0..units).map(|unit| native(design, Identity { unit, units, ports }));
        let card = Card::new(ports, made.collect::<Result<_, _>>()?);
        let mut device = Self {
            card,
            host: Host::new(design),
            blocks: design.inline.len(),
            lanes: Lanes::default(),
            in_turns: false,
            pushed: [0; STREAMS],
            wanted: 0,
            starting: 0,
            looks: 0,
            told: 0,
            flight: None,
            unserved: None,
        };
        device.card.set_blocks(wires(device.blocks));
        device.host.begin(&mut SoftBus(&mut device.card))?;
        Ok(device)
    }

    /// Takes units that were given up out of the dispatch, so that the others get their flows.
    pub(crate) fn drop_dead(&mut self) -> Result<(), DeviceError> {
        if self.host.asleep != 0 {
            self.wanted |= self.host.take_woken(&mut SoftBus(&mut self.card))?;
        }
        let alive = self.wanted & !self.card.dead() & !self.starting;
        if alive != self.host.enabled {
            self.host.enable(&mut SoftBus(&mut self.card), alive)?;
        }
        Ok(())
    }

    fn take(&mut self, flight: &mut Flight) {
        let Flight { streams, run, made, earlier, .. } = flight;
        for frame in self.card.poll().iter() {
            let made_by = match frame.source {
                Source::Unit(unit) => Some(Maker::Unit(unit)),
                Source::Block(block) => Some(Maker::Block(block)),
                _ => None,
            };
            if matches!(made_by, Some(Maker::Unit(_))) {
                made.add(frame.bytes.len());
            }
            let stream = &streams[stream_of(frame.source)];
            let arrival = stream.get(frame.index);
            *earlier += u64::from(made_by.is_none() && frame.index < stream.base);
            let departure = Departure {
                to: port_of(frame.destination),
                from: entry_of(frame.source),
                input: arrival.map(|arrival| arrival.index),
                time_ns: arrival.map_or(0, |arrival| arrival.time_ns),
                made_by,
                mark: frame.mark,
                entered: 0,
                first: 0,
                last: 0,
                bytes: frame.bytes.to_vec(),
            };
            run.depart(departure, true);
        }
    }

    fn take_flight(&mut self) -> Result<Flight, DeviceError> {
        if let Some(flight) = self.flight.take() {
            return Ok(flight);
        }
        Ok(Flight {
            entered: 0,
            streams: self.pushed.map(|base| Entered { base, forgotten: base, frames: VecDeque::new() }),
            earlier: 0,
            before: self.all_counters()?,
            faults_before: self.card.faults().len(),
            run: Run { departures: Vec::with_capacity(self.lanes.sent), ..Run::default() },
            accounted: 0,
            circles: 0,
            is_inside: false,
            made: Made::default(),
            turns: 0,
            sets_time: false,
            clock: Instant::now(),
        })
    }

    /// All counters, including those of inline blocks.
    fn all_counters(&mut self) -> Result<Counters, DeviceError> {
        let counters = self.host.counters(&mut SoftBus(&mut self.card))?;
        Ok(Counters { inline: self.inline_counters()?, ..counters })
    }

    /// The counters of the inline blocks, if the card has any.
    pub(crate) fn inline_counters(&mut self) -> Result<Option<InlineCounters>, DeviceError> {
        if self.blocks == 0 {
            return Ok(None);
        }
        let shell = self.card.block_counters().to_vec();
        let of_shell = |_: &mut dyn Bus, block: usize| {
            let penstock_shell::BlockCounters { frames, made, absorbed, blocked, .. } = shell[block];
            Ok(BlockCounters { frames, made, absorbed, blocked, ..BlockCounters::default() })
        };
        let blocks = self.host.block_counters(&mut SoftBus(&mut self.card), of_shell)?;
        Ok(Some(InlineCounters { refused: self.card.inline_refused(), blocks }))
    }

    /// Lets the next frame in. If it has to wait for a unit that is debugged, it stays, unless it `must` enter.
    fn enter(&mut self, flight: &mut Flight, must: bool) -> Result<Entry, DeviceError> {
        // Units may have died in any of the steps before, the last run's end among them.
        self.drop_dead()?;
        let Some(lane) = self.lanes.earliest() else { return Ok(Entry::NoneWaits) };
        let Some(arrival) = lane.head() else { return Ok(Entry::NoneWaits) };
        if !must && self.host.asleep != 0 {
            return Ok(Entry::Stuck);
        }
        let source = source_of(lane.port);
        let time = arrival.time_ns;
        match self.in_turns {
            true => self.card.settle_time(time),
            false => self.card.set_time(time),
        }
        if self.in_turns && time != 0 {
            self.host.set_unit_time(&mut SoftBus(&mut self.card), Some(time))?;
            flight.sets_time = true;
        }
        let frame = lane.bytes();
        let entered = if must { self.card.push(source, frame).map(|()| true) } else { self.card.offer(source, frame) };
        if !entered.map_err(|error| DeviceError::Unsupported(error.to_string()))? {
            return Ok(Entry::Stuck);
        }
        lane.take();
        let stream = stream_of(source);
        flight.streams[stream].push(arrival);
        flight.entered += 1;
        self.pushed[stream] += 1;
        Ok(Entry::Entered)
    }

    /// Carries on for as many frames as are pushed between two polls.
    fn carry(&mut self, flight: &mut Flight, progress: &mut dyn FnMut(Progress)) -> Result<Work, DeviceError> {
        let batch = match self.in_turns {
            true => u64::from(!flight.is_inside),
            false => BATCH,
        };
        let end = flight.entered + batch;
        let mut is_stuck = false;
        while flight.entered < end {
            match self.enter(flight, false)? {
                Entry::Entered => {}
                Entry::Stuck => {
                    is_stuck = true;
                    break;
                }
                Entry::NoneWaits => break,
            }
        }
        self.drop_dead()?;
        let made = flight.made.frames;
        self.take(flight);
        self.serve(flight)?;
        flight.turns += 1;
        if flight.entered.is_multiple_of(SHOW) {
            progress(Progress::Running { entered: flight.entered, left: flight.run.left.total(), cycles: 0 });
        }
        let waits = !self.lanes.is_empty();
        if waits && !is_stuck && !self.in_turns {
            return Ok(Work::Moving);
        }
        let generates = flight.made.frames > made;
        let counters = self.all_counters()?.since(&flight.before);
        let ended = flight.run.left.total() - flight.made.frames + counters.drops().total() + counters.absorbed();
        let now = ended.saturating_sub(counters.made_by_blocks());
        flight.circles = if now == flight.accounted { flight.circles + 1 } else { 0 };
        flight.accounted = now;
        let starts = self.host.asleep & !self.card.debugged() != 0 && u64::from(flight.circles) < BOOT_LIMIT / LOOK;
        let circles = self.card.busy() && flight.circles < CIRCLES;
        if waits && !is_stuck {
            flight.is_inside = circles && now < flight.entered;
            return Ok(Work::Moving);
        }
        Ok(match () {
            () if starts || circles => Work::Moving,
            () if flight.made.go_on(flight.turns * HELD_LIMIT, generates) => Work::Moving,
            () if self.host.asleep & self.card.debugged() == 0 && self.host.asleep != 0 => Work::Done,
            () if is_stuck || self.holds_frames() => Work::Waiting,
            () => Work::Done,
        })
    }

    /// Lets drivers answer records until no record waits, and collects the frames that leave then.
    fn serve(&mut self, flight: &mut Flight) -> Result<(), DeviceError> {
        for _ in 0..SERVES {
            if !self.host.serve(&mut SoftBus(&mut self.card))? {
                break;
            }
            self.take(flight);
        }
        Ok(())
    }

    /// A unit that is debugged holds frames.
    fn holds_frames(&self) -> bool {
        let debugged = self.card.debugged();
        (0..self.host.units as u8).any(|unit| debugged >> unit & 1 != 0 && self.card.slots(unit).1 != 0)
    }
}

/// The entry of frames of a port.
pub(crate) fn source_of(port: Port) -> Source {
    match port {
        Port::Ethernet(port) => Source::Ethernet(port),
        Port::Host => Source::Host,
    }
}

/// The port at which frames of a source enter; none where units or blocks made them.
fn entry_of(source: Source) -> Option<Port> {
    match source {
        Source::Ethernet(port) => Some(Port::Ethernet(port)),
        Source::Host => Some(Port::Host),
        Source::Loopback | Source::Unit(_) | Source::Block(_) => None,
    }
}

/// The exit of frames.
pub(crate) fn port_of(exit: Exit) -> Port {
    match exit {
        Exit::Ethernet(port) => Port::Ethernet(port),
        Exit::Host => Port::Host,
    }
}

pub(crate) fn stream_of(source: Source) -> usize {
    match source {
        Source::Ethernet(port) => usize::from(port),
        Source::Host => 4,
        // None enters there.
        Source::Loopback | Source::Unit(_) | Source::Block(_) => 5,
    }
}

/// A unit of `soft`.
fn native(design: &Design, identity: Identity) -> Result<Box<dyn Unit>, DeviceError> {
    let group = design.groups.iter().find(|group| group.units.contains(&identity.unit.into()));
    let unit = group.and_then(|group| group.part.unit(identity));
    let none = || {
        DeviceError::Unsupported(format!("unit {} does not run on soft: its engine has no native units", identity.unit))
    };
    unit.ok_or_else(none)
}

/// A card in native code, as drivers reach it.
pub(crate) struct SoftBus<'a>(pub &'a mut Card);

impl Bus for SoftBus<'_> {
    fn read(&mut self, address: u32) -> Result<u32, CardError> {
        Ok(self.0.read(address)?)
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), CardError> {
        Ok(self.0.write(address, value)?)
    }

    fn pass(&mut self, _cycles: u64) -> Result<(), CardError> {
        self.0.settle();
        Ok(())
    }

    fn native(&mut self) -> Option<&mut dyn Native> {
        Some(self)
    }
}

impl Native for SoftBus<'_> {
    fn unit(&mut self, unit: u32) -> Option<&mut dyn Unit> {
        self.0.unit_mut(u8::try_from(unit).ok()?)
    }

    fn block(&mut self, block: usize) -> Option<&mut dyn Block> {
        self.0.block_mut(block)
    }

    fn set_block(&mut self, block: usize, to: Box<dyn Block>) {
        self.0.set_block(block, to);
    }

    fn take_record(&mut self, block: usize) -> Option<Record> {
        self.0.take_record(block)
    }

    fn give_record(&mut self, block: usize, record: &Record) {
        self.0.give_record(block, record);
    }
}

/// The place of an inline block before the first load: frames pass.
struct Wire;

impl Block for Wire {
    fn carry(&mut self, _: &mut Vec<u8>, _: &mut u32, _: Entering, _: &mut Vec<penstock_unit::Made>) -> Verdict {
        Verdict::Onward
    }

    fn set_time(&mut self, _ns: u64) {}
}

/// Blocks of a card before the first load.
fn wires(blocks: usize) -> Vec<Box<dyn Block>> {
    (0..blocks).map(|_| Box::new(Wire) as Box<dyn Block>).collect()
}

impl Device for SoftDevice {
    fn target(&self) -> Target {
        Target::Soft
    }

    fn load(&mut self, image: &Image) -> Result<(), DeviceError> {
        self.host.check(image, true)?;
        self.card.set_blocks(wires(self.blocks));
        self.host.load(&mut SoftBus(&mut self.card), image)?;
        self.wanted = self.host.enabled;
        self.starting = 0;
        // Frames of the old program, which no longer count.
        self.card.poll();
        if self.flight.take().is_some() {
            self.lanes = Lanes::default();
        }
        Ok(())
    }

    fn swap(&mut self, image: &PartImage) -> Result<Kept, DeviceError> {
        Ok(self.host.swap(&mut SoftBus(&mut self.card), image)?)
    }

    fn refill(&mut self, image: &PartImage) -> Result<(), DeviceError> {
        self.card.settle();
        Ok(self.host.refill(&mut SoftBus(&mut self.card), image)?)
    }

    fn set_ingress(&mut self, groups: &[usize]) -> Result<(), DeviceError> {
        self.card.settle();
        self.host.set_ingress(&mut SoftBus(&mut self.card), groups)
    }

    fn set_unit_time(&mut self, ns: Option<u64>) -> Result<(), DeviceError> {
        Ok(self.host.set_unit_time(&mut SoftBus(&mut self.card), ns)?)
    }

    fn send(&mut self, traffic: &Traffic, rate: Rate) -> Result<(), DeviceError> {
        traffic.check_ports(self.host.ports)?;
        self.lanes.send(traffic);
        self.in_turns = rate == Rate::Turns;
        Ok(())
    }

    fn stream(&mut self, port: Port, frames: Box<dyn Arrivals>, rate: Rate) -> Result<(), DeviceError> {
        port.check(self.host.ports)?;
        self.lanes.push(port, frames);
        self.in_turns = rate == Rate::Turns;
        Ok(())
    }

    fn take_departures(&mut self) -> Vec<Departure> {
        self.flight.as_mut().map_or_else(Vec::new, |flight| mem::take(&mut flight.run.departures))
    }

    fn run(&mut self, progress: &mut dyn FnMut(Progress)) -> Result<Run, DeviceError> {
        while self.work(progress)? == Work::Moving {}
        let mut flight = self.take_flight()?;
        while self.enter(&mut flight, true)? == Entry::Entered {}
        self.serve(&mut flight)?;
        let circling = self.card.finish();
        self.take(&mut flight);
        if flight.sets_time {
            self.set_unit_time(None)?;
        }
        self.host.each_driver(|driver| driver.end_run(&mut SoftBus(&mut self.card)))?;
        let Flight { entered, earlier, before, faults_before, mut run, made, clock, .. } = flight;
        run.seconds = clock.elapsed().as_secs_f64();
        run.offered = mem::take(&mut self.lanes).taken();

        let faults = self.card.faults()[faults_before..].to_vec();
        for fault in &faults {
            run.faults.push(self.host.fault(&mut SoftBus(&mut self.card), fault)?);
        }
        if circling > 0 {
            run.note_circling(circling);
        }
        self.host.report_asleep(&mut SoftBus(&mut self.card), &mut run.faults)?;
        run.count(&before, &self.all_counters()?);
        self.host.report_errors(&mut SoftBus(&mut self.card), &mut run.counters.units, &mut run.faults)?;
        // Some frames that were sent earlier may leave now: a halted unit has gone on.
        run.settle(entered + earlier, made.endless, true);
        run.log = self.take_log()?.into_lines();
        Ok(run)
    }

    fn work(&mut self, progress: &mut dyn FnMut(Progress)) -> Result<Work, DeviceError> {
        let mut flight = self.take_flight()?;
        let work = self.carry(&mut flight, progress);
        self.flight = Some(flight);
        work
    }

    fn advance(&mut self, _cycles: u64) -> Result<Vec<Departure>, DeviceError> {
        let text = "soft has no cycles: run carries every frame to its end; take target rtl to go by cycles";
        Err(DeviceError::Unsupported(text.to_string()))
    }

    fn call(&mut self, request: &Request) -> Result<Json, DeviceError> {
        self.card.settle();
        Ok(self.host.call(&mut SoftBus(&mut self.card), request)?)
    }

    fn take_log(&mut self) -> Result<Log, DeviceError> {
        Ok(self.host.take_log(&mut SoftBus(&mut self.card))?)
    }

    fn counters(&mut self) -> Result<Counters, DeviceError> {
        self.all_counters()
    }

    fn read(&mut self, address: u32) -> Result<u32, DeviceError> {
        Ok(self.card.read(address).map_err(CardError::from)?)
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), DeviceError> {
        Ok(self.card.write(address, value).map_err(CardError::from)?)
    }

    fn set_host_range(&mut self, unit: u32, range: RangeInclusive<u64>) -> Result<(), DeviceError> {
        self.host.set_host_range(&mut SoftBus(&mut self.card), unit, range)
    }

    fn host_read(&self, address: u64, bytes: &mut [u8]) -> Result<(), DeviceError> {
        let error = DeviceError::HostMemory { address, bytes: bytes.len() };
        self.card.host_memory().read(address, bytes).then_some(()).ok_or(error)
    }

    fn host_write(&mut self, address: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        let error = DeviceError::HostMemory { address, bytes: bytes.len() };
        self.card.host_memory_mut().write(address, bytes).then_some(()).ok_or(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use penstock_engine::{Root, window::UNIT_WINDOW};
    use penstock_shell::regs;

    /// A card of four units with a program of the checkout.
    fn device(policy: &str, program: &str) -> SoftDevice {
        let design = testing::card(policy, 4, &testing::program(program));
        let mut device = SoftDevice::open(&design).unwrap();
        device.load(&Image::of(&Root::find().unwrap(), &design).unwrap()).unwrap();
        device
    }

    fn run(device: &mut SoftDevice, first_bytes: &[u8]) -> Run {
        let mut traffic = Traffic::default();
        for &first in first_bytes {
            traffic.push(Port::Ethernet(0), &[first; 60], 0);
        }
        device.send(&traffic, Rate::Lossless).unwrap();
        device.run(&mut |_| {}).unwrap()
    }

    #[test]
    fn frames_that_circle_are_given_up_and_lost() {
        let mut device = device("round-robin", "bad/circle.c");
        for _ in 0..2 {
            let run = run(&mut device, &[1, 0xC1, 2, 0xC1, 0xC1, 3]);
            let mut left: Vec<_> = run.departures.iter().map(|out| (out.input, out.bytes[0])).collect();
            left.sort_unstable();
            assert_eq!(left, [(Some(0), 1), (Some(2), 2), (Some(5), 3)]);
            assert_eq!((run.drops.lost, run.drops.total()), (3, 3));
            assert!(run.faults.contains(&"3 frames still circle over loopback".to_string()), "{:?}", run.faults);
        }
        let run = run(&mut device, &[1; 10]);
        assert_eq!((run.departures.len(), run.drops.total(), run.faults.len()), (10, 0, 0));
    }

    #[test]
    fn frames_of_a_unit_that_died_are_lost() {
        let mut device = device("round-robin", "bad/hang.c");
        let mut first_bytes = [0; 300];
        first_bytes[42] = 0xEE;
        let run = run(&mut device, &first_bytes);
        assert!(run.drops.lost >= 1 && run.faults.len() == 2, "{:?}", run.faults);
        assert_eq!(run.departures.len() as u64 + run.drops.total(), 300);
    }

    #[test]
    fn a_run_has_not_ended_while_a_unit_that_is_halted_holds_frames() {
        let mut device = device("round-robin", "forward.c");
        let halt = |device: &mut SoftDevice, on: u32| {
            device.write(regs::CARD_UNIT_WRITE_MASK, 0b10).unwrap();
            device.write(UNIT_WINDOW + regs::UNIT_HALT, on).unwrap();
        };
        let work = |device: &mut SoftDevice| loop {
            match device.work(&mut |_| {}).unwrap() {
                Work::Moving => {}
                other => break other,
            }
        };
        halt(&mut device, 1);
        let mut traffic = Traffic::default();
        for first in 0..8 {
            traffic.push(Port::Ethernet(0), &[first; 60], 0);
        }
        device.send(&traffic, Rate::Lossless).unwrap();
        assert_eq!(work(&mut device), Work::Waiting);
        halt(&mut device, 0);
        assert_eq!(work(&mut device), Work::Done);
        let run = device.run(&mut |_| {}).unwrap();
        assert_eq!((run.departures.len(), run.drops.total(), run.faults.len()), (8, 0, 0), "{:?}", run.faults);
    }

    #[test]
    fn frames_wait_for_units_that_wait_for_one_that_is_halted() {
        for halted in 0..4 {
            let mut device = device("flow-hash", "two_step.c");
            let halt = |device: &mut SoftDevice, on: u32| {
                device.write(regs::CARD_UNIT_WRITE_MASK, 1 << halted).unwrap();
                device.write(UNIT_WINDOW + regs::UNIT_HALT, on).unwrap();
            };
            halt(&mut device, 1);
            let mut traffic = Traffic::default();
            // No IP: all go to the same unit, and from there to its neighbour.
            (0..200).for_each(|first| traffic.push(Port::Ethernet(0), &[first; 60], 0));
            device.send(&traffic, Rate::Lossless).unwrap();
            while device.work(&mut |_| {}).unwrap() == Work::Moving {}
            halt(&mut device, 0);
            let run = device.run(&mut |_| {}).unwrap();
            assert_eq!((run.departures.len(), run.drops.total(), run.faults.len()), (200, 0, 0), "unit {halted}");
        }
    }

    #[test]
    fn flows_of_a_unit_that_died_in_the_last_run_go_elsewhere() {
        let mut device = device("flow-hash", "bad/hang.c");
        for _ in 0..3 {
            // No IP: all of them have hash 0.
            let hung = run(&mut device, &[0xEE]);
            assert_eq!((hung.drops.lost, hung.drops.total(), hung.faults.len()), (1, 1, 2), "{:?}", hung.faults);
            let next = run(&mut device, &[1]);
            assert_eq!((next.departures.len(), next.faults.len()), (1, 0), "{:?}", next.faults);
        }
    }
}
