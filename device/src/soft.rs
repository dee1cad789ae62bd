// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The `soft` target: the card in native code.

use std::ops::RangeInclusive;
use std::time::Instant;

use penstock_engine::{Bus, CardError, HELD_LIMIT, Identity, Kept, Log, Native, Record, Request};
use penstock_shell::{Card, Exit, Source};
use penstock_unit::{Block, Entering, Unit, Verdict};
use serde_json::Value as Json;

use crate::design::Design;
use crate::device::{Device, DeviceError, Made, Progress, Rate, Run, Target, Work};
use crate::host::{BOOT_LIMIT, Host, LOOK};
use crate::image::{Image, PartImage};
use crate::outcome::{BlockCounters, Counters, InlineCounters};
use crate::traffic::{Departure, Maker, Port, Traffic};

/// Frames pushed between two polls: enough to keep every unit at work, few enough to stay in the cache.
const BATCH: usize = 256;
/// Frames between two updates of the progress.
const SHOW: usize = 64 * BATCH;

/// Times in a row that drivers answer records, which may cause others, between two polls.
const SERVES: usize = 1000;

/// Polls in a row in which frames only circle over loopback (up to 100,000 hops each) after which they are given up.
const CIRCLES: u32 = 100;

/// Streams that frames enter at: Ethernet 0..=3, host; the loopback last, where none does.
const STREAMS: usize = 6;

/// A design in native code.
pub struct SoftDevice {
    pub(crate) card: Card,
    pub(crate) host: Host,
    /// Number of inline blocks.
    blocks: usize,
    waiting: Traffic,
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
    traffic: Traffic,
    /// The order in which frames enter, and the place there of the next one.
    order: Vec<usize>,
    next: usize,
    /// Indices of the frames of each stream, in order, and how many had entered it before.
    indices: [Vec<usize>; STREAMS],
    base: [u64; STREAMS],
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
            waiting: Traffic::default(),
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
        let Flight { indices, base, run, made, .. } = flight;
        for frame in self.card.poll().iter() {
            let stream = stream_of(frame.source);
            let input = frame.index.checked_sub(base[stream]).and_then(|n| indices[stream].get(n as usize)).copied();
            let to = port_of(frame.destination);
            let made_by = match frame.source {
                Source::Unit(unit) => Some(Maker::Unit(unit)),
                Source::Block(block) => Some(Maker::Block(block)),
                _ => None,
            };
            if matches!(made_by, Some(Maker::Unit(_))) {
                made.add(frame.bytes.len());
            }
            let bytes = frame.bytes.to_vec();
            let mark = frame.mark;
            run.departures.push(Departure { to, input, made_by, mark, entered: 0, first: 0, last: 0, bytes });
        }
    }

    fn take_flight(&mut self) -> Result<Flight, DeviceError> {
        let traffic = std::mem::take(&mut self.waiting);
        if let Some(mut flight) = self.flight.take() {
            if !traffic.frames.is_empty() {
                let before = flight.traffic.frames.len();
                flight.traffic.append(&traffic);
                flight.order.extend(flight.traffic.by_time(before));
            }
            return Ok(flight);
        }
        let order = traffic.by_time(0);
        Ok(Flight {
            traffic,
            order,
            next: 0,
            indices: Default::default(),
            base: self.pushed,
            before: self.all_counters()?,
            faults_before: self.card.faults().len(),
            run: Run::default(),
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

    /// Lets the next frame in; false when it has to wait for a unit that is debugged, unless it `must`.
    fn enter(&mut self, flight: &mut Flight, must: bool) -> Result<bool, DeviceError> {
        let number = flight.order[flight.next];
        let source = source_of(flight.traffic.frames[number].port);
        let stream = stream_of(source);
        // Units may have died in any of the steps before, the last run's end among them.
        self.drop_dead()?;
        if !must && self.host.asleep != 0 {
            return Ok(false);
        }
        let time = flight.traffic.frames[number].time_ns;
        match self.in_turns {
            true => self.card.settle_time(time),
            false => self.card.set_time(time),
        }
        if self.in_turns && time != 0 {
            self.host.set_unit_time(&mut SoftBus(&mut self.card), Some(time))?;
            flight.sets_time = true;
        }
        let frame = flight.traffic.frame(number);
        let entered = if must { self.card.push(source, frame).map(|()| true) } else { self.card.offer(source, frame) };
        if !entered.map_err(|error| DeviceError::Unsupported(error.to_string()))? {
            return Ok(false);
        }
        flight.indices[stream].push(number);
        self.pushed[stream] += 1;
        flight.next += 1;
        Ok(true)
    }

    /// Carries on for as many frames as are pushed between two polls.
    fn carry(&mut self, flight: &mut Flight, progress: &mut dyn FnMut(Progress)) -> Result<Work, DeviceError> {
        let total = flight.traffic.frames.len();
        let batch = match self.in_turns {
            true => usize::from(!flight.is_inside),
            false => BATCH,
        };
        let end = total.min(flight.next + batch);
        let mut is_stuck = false;
        while flight.next < end && !is_stuck {
            is_stuck = !self.enter(flight, false)?;
        }
        self.drop_dead()?;
        let made = flight.made.frames;
        self.take(flight);
        self.serve(flight)?;
        flight.turns += 1;
        if flight.next.is_multiple_of(SHOW) {
            let (entered, left) = (flight.next as u64, flight.run.departures.len() as u64);
            progress(Progress::Running { entered, left, total: total as u64, cycles: 0 });
        }
        if flight.next < total && !is_stuck && !self.in_turns {
            return Ok(Work::Moving);
        }
        let generates = flight.made.frames > made;
        let counters = self.all_counters()?.since(&flight.before);
        let ended =
            flight.run.departures.len() as u64 - flight.made.frames + counters.drops().total() + counters.absorbed();
        let now = ended.saturating_sub(counters.made_by_blocks());
        flight.circles = if now == flight.accounted { flight.circles + 1 } else { 0 };
        flight.accounted = now;
        let starts = self.host.asleep & !self.card.debugged() != 0 && u64::from(flight.circles) < BOOT_LIMIT / LOOK;
        let circles = self.card.busy() && flight.circles < CIRCLES;
        if flight.next < total && !is_stuck {
            flight.is_inside = circles && now < flight.next as u64;
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
        self.flight = None;
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
        traffic.check_ports(self.host.ports).map_err(DeviceError::Unsupported)?;
        self.waiting.append(traffic);
        self.in_turns = rate == Rate::Turns;
        Ok(())
    }

    fn run(&mut self, progress: &mut dyn FnMut(Progress)) -> Result<Run, DeviceError> {
        while self.work(progress)? == Work::Moving {}
        let mut flight = self.take_flight()?;
        while flight.next < flight.traffic.frames.len() {
            self.enter(&mut flight, true)?;
        }
        self.serve(&mut flight)?;
        let circling = self.card.finish();
        self.take(&mut flight);
        if flight.sets_time {
            self.set_unit_time(None)?;
        }
        self.host.each_driver(|driver| driver.end_run(&mut SoftBus(&mut self.card)))?;
        let Flight { traffic, before, faults_before, mut run, made, clock, .. } = flight;
        run.seconds = clock.elapsed().as_secs_f64();

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
        let is_earlier = |departure: &&Departure| departure.input.is_none() && departure.made_by.is_none();
        let earlier = run.departures.iter().filter(is_earlier).count();
        run.settle((traffic.frames.len() + earlier) as u64, made.endless, true);
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
#[allow(clippy::unwrap_used)]
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
