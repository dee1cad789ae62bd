// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A card in hardware that carries frames: the model of its RTL, or a card behind a BAR. This module feeds it, watches
//! over its units and takes the frames that leave, in the same way on both; a [`Machine`] has what differs.

use std::collections::{HashMap, VecDeque};
use std::mem;
use std::ops::RangeInclusive;
use std::time::Instant;

use penstock_engine::window::read_unit;
use penstock_engine::{Bus, HELD_LIMIT, Kept, Log, Request};
use penstock_shell::{Cause, Fault};
use serde_json::Value as Json;

use crate::design::Design;
use crate::device::{Device, DeviceError, GENERATE_QUIET, Made, Progress, Rate, Run, Target, Work};
use crate::hop::Hop;
use crate::host::{BOOT_LIMIT, Host, LOOPBACK_STREAM};
use crate::image::{Image, PartImage};
use crate::inline;
use crate::outcome::{Counters, InlineCounters};
use crate::regs;
use crate::rtl::ModelHop;
use crate::rtl::model::{Entry, Exit, Frame, Step};
use crate::traffic::{Departure, Port, Traffic};

/// Cycles between two checks of the units.
pub const LOOK: u64 = 5_000;
/// Cycles without a beat after which the device checks for the end of a run.
pub const QUIET: u64 = 300;
/// Cycles without any movement after which missing frames count as lost: enough for the watchdog to report first.
pub const STILL: u64 = 25_000;

/// A card as this module drives it: its registers, its streams of frames, and its clock.
pub trait Machine: Bus + Sized {
    /// Which target it is.
    const TARGET: Target;
    /// Frames that leave say where they entered or who made them. If they do not, who made them is not known, and
    /// counters say how many were made.
    const KNOWS_MAKERS: bool;

    /// Cycles so far.
    fn cycle(&self) -> u64;

    /// The fault that the card found in itself, if any.
    fn failure(&self) -> Option<String>;

    /// Runs for at most `cycles`; ends early when all is sent and no beat has moved for `idle` cycles.
    fn step(&mut self, cycles: u64, idle: u64) -> Result<Step, DeviceError>;

    /// Frames that entered since the last [`Machine::clear`], by stream in the order in which they were queued.
    fn entries(&self) -> &[Entry];

    /// Frames that left since then, by exit in their order, and the buffer that holds their bytes.
    fn exits(&self) -> (&[Exit], &[u8]);

    /// The places that frames passed since then, if they are recorded.
    fn hops(&self) -> &[ModelHop] {
        &[]
    }

    /// Forgets entries, exits and hops.
    fn clear(&mut self);

    /// Forgets the frames that wait, except those half way in, and queues others.
    fn queue(&mut self, frames: &[Frame], bytes: &[u8]) -> Result<(), DeviceError>;

    /// Sets how fast frames enter and leave; `stopped` exits take nothing.
    fn pace(&mut self, rate: Rate, repeat: bool, stopped: &[Port]) -> Result<(), DeviceError>;

    /// Refuses traffic that cannot be brought to the card.
    fn accept(&mut self, _traffic: &Traffic) -> Result<(), DeviceError> {
        Ok(())
    }

    /// The first frames of a run are sent.
    fn begins(&mut self) {}

    /// None of the frames that have entered will leave any more.
    fn emptied(&mut self) {}

    /// A run has ended.
    fn ends(&mut self, _run: &mut Run) {}

    /// Makes sure that the card is as its driver left it.
    fn is_as_left(&mut self) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Takes a card that was reset by somebody else into use again; whether it was. Its registers are as after a reset.
    fn revive(&mut self) -> Result<bool, DeviceError> {
        Ok(false)
    }

    /// Makes sure that the card has taken all writes.
    fn flush(&mut self) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Refuses, if units reach no host memory.
    fn has_host_memory(&self) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Reads the host's memory.
    fn host_read(&self, address: u64, bytes: &mut [u8]) -> Result<(), DeviceError>;

    /// Writes the host's memory.
    fn host_write(&mut self, address: u64, bytes: &[u8]) -> Result<(), DeviceError>;
}

/// A design on a card in hardware.
pub struct CardDevice<M> {
    pub(crate) machine: M,
    pub(crate) host: Host,
    design: Design,
    /// Number of inline blocks.
    blocks: usize,
    /// Frames that are still to be handed to the card, and their bytes.
    pub(crate) waiting: VecDeque<Waiting>,
    bytes: Vec<u8>,
    pub(crate) sent: usize,
    pub(crate) empty: u64,
    rate: Rate,
    /// Exits whose receivers take nothing.
    stopped: Vec<Port>,
    /// What [`Device::advance`] has left on its way.
    flight: Option<Flight>,
    /// Programs were loaded, the last time in this cycle.
    is_loaded: bool,
    loaded: u64,
}

impl<M: Machine> CardDevice<M> {
    /// A design on a card that has just left its reset.
    pub(crate) fn begin(design: &Design, mut machine: M) -> Result<Self, DeviceError> {
        let mut host = Host::new(design);
        host.begin(&mut machine)?;
        Ok(Self {
            machine,
            host,
            design: design.clone(),
            blocks: design.inline.len(),
            waiting: VecDeque::new(),
            bytes: Vec::new(),
            sent: 0,
            empty: 0,
            rate: Rate::Lossless,
            stopped: Vec::new(),
            flight: None,
            is_loaded: false,
            loaded: 0,
        })
    }

    /// Cycles since reset.
    pub fn cycle(&self) -> u64 {
        self.machine.cycle()
    }

    /// From now on the receiver at this exit takes nothing.
    pub(crate) fn stop(&mut self, exit: Port) -> Result<(), DeviceError> {
        self.stopped.push(exit);
        self.set_pace(false)
    }

    pub(crate) fn set_pace(&mut self, repeat: bool) -> Result<(), DeviceError> {
        self.machine.pace(self.rate, repeat, &self.stopped)
    }

    /// Hands this many of the waiting frames to the card.
    pub(crate) fn start(&mut self, count: usize, repeat: bool) -> Result<(), DeviceError> {
        self.set_pace(repeat)?;
        let mut frames: Vec<Frame> = self.waiting.drain(..count).map(|waiting| waiting.frame).collect();
        // In the order of their times they are not adjacent.
        let base = frames.iter().map(|frame| frame.offset).min().unwrap_or_default();
        let end = frames.iter().map(|frame| frame.offset + u64::from(frame.length)).max().unwrap_or_default();
        frames.iter_mut().for_each(|frame| frame.offset -= base);
        self.machine.queue(&frames, &self.bytes[base as usize..end as usize])?;
        if self.waiting.is_empty() {
            self.bytes.clear();
        }
        Ok(())
    }

    /// Reads from the window of one unit.
    pub fn read_unit(&mut self, unit: u32, address: u32) -> Result<u32, DeviceError> {
        Ok(read_unit(&mut self.machine, unit, address)?)
    }

    /// Frames in flight: those of the last [`Device::advance`], if there was one.
    fn take_flight(&mut self) -> Result<Flight, DeviceError> {
        if let Some(flight) = self.flight.take() {
            return Ok(flight);
        }
        let mut flight = Flight::new(self.counters()?, self.machine.cycle(), self.loaded, self.host.ports);
        // Frames that were sent earlier and have left meanwhile: a halted unit may have gone on.
        flight.leave(&self.machine);
        self.machine.clear();
        self.machine.emptied();
        self.set_pace(false)?;
        self.machine.queue(&[], &[])?;
        Ok(flight)
    }

    /// Hands over what was sent, once all frames before have entered; in turns the next frame, once nothing is known to
    /// be inside.
    fn top_up(&mut self, flight: &mut Flight) -> Result<(), DeviceError> {
        let Some(next) = self.waiting.front() else { return Ok(()) };
        if flight.matcher.entered < flight.queued || self.host.asleep != 0 {
            return Ok(());
        }
        let mut count = self.waiting.len();
        if self.rate == Rate::Turns {
            if flight.accounted() + flight.given_up < flight.queued {
                return Ok(());
            }
            count = 1;
            self.machine.emptied();
            let (time, model) = (next.time_ns, &mut self.machine);
            self.host.each_driver(|driver| driver.set_time(model, time))?;
            if time != 0 {
                self.host.set_unit_time(model, Some(time))?;
                flight.sets_time = true;
            }
        }
        for waiting in self.waiting.range(..count) {
            flight.matcher.expect(waiting.frame.stream, waiting.index);
        }
        flight.queued += count as u64;
        self.start(count, false)
    }

    /// Records the frames that entered and left since the last call; false if there were only frames that programs
    /// made.
    fn collect(&mut self, flight: &mut Flight) -> bool {
        let (entries, (exits, _)) = (self.machine.entries(), self.machine.exits());
        let moved = !entries.is_empty() || exits.iter().any(Exit::is_of_traffic);
        if let Some(last) = exits.iter().filter(|exit| exit.is_generated()).map(|exit| exit.last).max() {
            flight.made_at = last;
        }
        let made = exits.iter().filter(|exit| exit.is_generated()).map(Exit::entered).min();
        let first = entries.first().map(|entry| entry.cycle);
        flight.first = flight.first.or(first.into_iter().chain(made).min());
        flight.last = flight.last.max(entries.last().map_or(0, |e| e.cycle)).max(exits.last().map_or(0, |e| e.last));
        flight.matcher.enter(entries);
        flight.leave(&self.machine);
        self.machine.clear();
        moved
    }

    /// Carries what was sent until nothing moves any more.
    fn carry_all(&mut self, progress: &mut dyn FnMut(Progress)) -> Result<Run, DeviceError> {
        while self.work(progress)? == Work::Moving {}
        let model = &mut self.machine;
        if model.failure().is_none() {
            self.host.each_driver(|driver| driver.end_run(model))?;
        }
        self.host.each_driver(|driver| driver.release_time(model))?;
        let mut flight = self.take_flight()?;
        if flight.sets_time {
            self.set_unit_time(None)?;
        }
        if let Some((inside, circling)) = flight.stands {
            self.explain_standstill(inside, circling, &mut flight.run)?;
            self.host.report_asleep(&mut self.machine, &mut flight.run.faults)?;
        }
        // Frames that have not entered are lost, like those that do not leave.
        let queued = flight.queued + self.waiting.len() as u64;
        self.waiting.clear();
        self.bytes.clear();
        let Flight { before, earlier, made, mut run, first, last, .. } = flight;
        run.cycles = Some(first.map_or(0, |first| last + 1 - first));
        run.in_turns = self.rate == Rate::Turns;
        if self.machine.failure().is_none() {
            run.count(&before, &self.counters()?);
            self.host.report_errors(&mut self.machine, &mut run.counters.units, &mut run.faults)?;
            run.log = self.take_log()?.into_lines();
        }
        run.settle(queued + earlier, made.endless, M::KNOWS_MAKERS);
        self.machine.ends(&mut run);
        run.drops.runt += self.empty;
        (self.sent, self.empty) = (0, 0);
        Ok(run)
    }

    /// Carries on until the next check of the card.
    fn carry(&mut self, flight: &mut Flight, progress: &mut dyn FnMut(Progress)) -> Result<Work, DeviceError> {
        self.top_up(flight)?;
        if self.rate == Rate::Turns {
            flight.stride = QUIET;
        }
        let step = match mem::take(&mut flight.wait) {
            0 => self.machine.step(flight.stride, QUIET)?,
            // A model in which nothing moves would come back at once, and a look takes longer than that.
            wait => match self.machine.step(wait, u64::MAX)? {
                Step::Failed => Step::Failed,
                Step::Idle | Step::OutOfCycles => Step::Idle,
            },
        };
        if self.collect(flight) {
            flight.moved = self.machine.cycle();
        }
        progress(Progress::Running {
            entered: flight.matcher.entered,
            left: flight.run.departures.len() as u64,
            total: flight.queued,
            cycles: self.machine.cycle(),
        });
        if step == Step::Failed {
            let text = self.machine.failure().unwrap_or_default();
            flight.run.faults.push(format!("the card broke a contract: {text}"));
            return Ok(Work::Done);
        }
        self.watch(flight)?;
        if self.host.serve(&mut self.machine)? {
            (flight.moved, flight.stride) = (self.machine.cycle(), QUIET);
            return Ok(Work::Moving);
        }
        if step != Step::Idle && self.machine.cycle() - flight.moved <= LOOK {
            flight.stride = LOOK;
            return Ok(Work::Moving);
        }
        let looks_at = self.machine.cycle();
        let counters = self.counters()?.since(&flight.before);
        // Behind a BAR the look itself takes longer than frames have time to move.
        flight.moved += self.machine.cycle() - looks_at;
        let drops = counters.drops();
        let by_blocks = (counters.made_by_blocks(), counters.absorbed());
        if (drops, by_blocks) != (flight.run.drops, flight.by_blocks) {
            (flight.run.drops, flight.by_blocks) = (drops, by_blocks);
            flight.moved = self.machine.cycle();
        }
        let told: u64 = counters.units.iter().map(|unit| unit.generated).sum();
        if !M::KNOWS_MAKERS {
            // Some may be on their way still.
            flight.made.frames = told.min(flight.run.departures.len() as u64 - flight.earlier);
        }
        let accounted = flight.accounted();
        if !M::KNOWS_MAKERS && accounted != flight.ended {
            (flight.ended, flight.moved) = (accounted, self.machine.cycle());
        }
        flight.stands = None;
        if self.waiting.is_empty() && flight.matcher.entered == flight.queued && accounted >= flight.queued {
            let now = self.machine.cycle();
            if told > flight.told {
                (flight.told, flight.made_at) = (told, now);
            }
            let may_come = flight.made.frames > 0 || told > 0 || flight.queued == 0;
            let generates = may_come && now - flight.made_at <= GENERATE_QUIET;
            return Ok(if flight.made.go_on(now, generates) { Work::Moving } else { Work::Done });
        }
        let circling = counters.loopback.tx_frames != flight.hops;
        flight.hops = counters.loopback.tx_frames;
        // The model is already quiet: go on in small steps until the counters change.
        flight.stride = QUIET;
        let is_paced = !matches!(self.rate, Rate::Lossless | Rate::Turns);
        if is_paced && flight.matcher.entered < flight.queued {
            // The next frame enters at its time, whatever the card does.
            flight.moved = self.machine.cycle();
            return Ok(Work::Moving);
        }
        let patience = if self.host.asleep == 0 { STILL } else { BOOT_LIMIT };
        let still = self.machine.cycle() - flight.moved;
        if still <= patience {
            flight.wait = still.clamp(QUIET, LOOK);
            return Ok(Work::Moving);
        }
        let steps = self.host.steps(&mut self.machine)?;
        if steps != flight.steps {
            (flight.steps, flight.moved) = (steps, self.machine.cycle());
            return Ok(Work::Moving);
        }
        flight.stands = Some((flight.matcher.entered.saturating_sub(accounted), circling));
        if self.host.debugged(&mut self.machine)? == 0 {
            // In turns, other frames may pass a frame that is stuck.
            if !self.waiting.is_empty() && self.host.asleep == 0 && flight.matcher.entered == flight.queued {
                flight.given_up = flight.queued.saturating_sub(accounted);
                flight.moved = self.machine.cycle();
                return Ok(Work::Moving);
            }
            return Ok(Work::Done);
        }
        // Those that then go on have their full time again.
        flight.moved = self.machine.cycle();
        Ok(Work::Waiting)
    }

    /// Lets frames that have entered go through the inline blocks, as far as they can.
    fn empty_blocks(&mut self) -> Result<(), DeviceError> {
        let level = |port| regs::CARD_STREAM_BASE + port * regs::CARD_STREAM_STRIDE + regs::CARD_STREAM_RX_LEVEL;
        let levels: Vec<u32> = (0..self.host.ports).map(level).collect();
        let (mut before, mut still) = (None, 0);
        while still <= STILL {
            let waiting = levels.iter().try_fold(0, |sum, level| Ok::<_, DeviceError>(sum + self.read(*level)?))?;
            if waiting == 0 && !inline::is_busy(&mut self.machine)? {
                break;
            }
            still = if before == Some(waiting) { still + LOOK } else { 0 };
            before = Some(waiting);
            self.machine.pass(LOOK)?;
        }
        Ok(())
    }

    /// Occasionally checks every unit, and takes hung units out of the dispatch.
    fn watch(&mut self, flight: &mut Flight) -> Result<(), DeviceError> {
        if self.machine.cycle() - flight.watched < LOOK {
            return Ok(());
        }
        flight.watched = self.machine.cycle();
        self.host.take_woken(&mut self.machine)?;
        let enabled = self.host.enabled;
        let mut alive = enabled;
        for unit in (0..self.host.units).filter(|unit| enabled >> unit & 1 == 1) {
            if u64::from(self.read_unit(unit, regs::UNIT_HELD_CYCLES)?) > HELD_LIMIT {
                flight.run.faults.push(self.host.stands(&mut self.machine, unit)?);
                alive &= !(1 << unit);
            }
        }
        if alive != enabled {
            self.host.enable(&mut self.machine, alive)?;
        }
        Ok(())
    }

    /// Says what keeps the frames in a card that none enters or leaves any more: they go round over loopback, or wait
    /// for each other there.
    fn explain_standstill(&mut self, inside: u64, circling: bool, run: &mut Run) -> Result<(), DeviceError> {
        let level = regs::CARD_STREAM_BASE + LOOPBACK_STREAM * regs::CARD_STREAM_STRIDE + regs::CARD_STREAM_RX_LEVEL;
        let waiting = self.read(level)? != 0;
        let mut in_circles = inside;
        for unit in 0..self.host.units {
            let slots = self.read_unit(unit, regs::UNIT_ACTIVE_SLOTS)?;
            let held = self.read_unit(unit, regs::UNIT_HELD_CYCLES)? != 0;
            if slots != 0 && self.read_unit(unit, regs::UNIT_HALTED)? != 0 {
                let pc = self.read_unit(unit, regs::UNIT_PC)?;
                let fault = Fault { unit: unit as u8, pc, slots, cause: Cause::Halted };
                run.faults.push(self.host.fault(&mut self.machine, &fault)?);
                continue;
            }
            self.write(regs::CARD_SLOTS_UNIT, unit)?;
            let full = slots != 0 && self.read(regs::CARD_SLOTS_FREE)? == 0;
            if self.host.enabled >> unit & 1 == 0 {
                in_circles = in_circles.saturating_sub(slots.count_ones().into());
            } else if waiting && full && !held && !circling {
                let pc = self.read_unit(unit, regs::UNIT_PC)?;
                let fault = Fault { unit: unit as u8, pc, slots, cause: Cause::Full };
                run.faults.push(self.host.fault(&mut self.machine, &fault)?);
            }
        }
        if circling {
            run.note_circling(in_circles);
        }
        Ok(())
    }
}

impl<M: Machine> Device for CardDevice<M> {
    fn target(&self) -> Target {
        M::TARGET
    }

    fn load(&mut self, image: &Image) -> Result<(), DeviceError> {
        self.host.check(image, false)?;
        if self.machine.revive()? {
            self.host = Host::new(&self.design);
            self.host.begin(&mut self.machine)?;
            self.is_loaded = false;
        }
        if self.flight.take().is_some() {
            self.waiting.clear();
            self.start(0, false)?;
            (self.sent, self.empty) = (0, 0);
        }
        // No frame meets a block that is half loaded, and no frame that entered before meets the new program.
        self.write(regs::CARD_PORT_ENABLE, 0)?;
        if self.blocks > 0 && self.is_loaded {
            self.empty_blocks()?;
        }
        self.host.load(&mut self.machine, image)?;
        self.machine.flush()?;
        self.is_loaded = true;
        self.loaded = self.machine.cycle();
        Ok(())
    }

    fn swap(&mut self, image: &PartImage) -> Result<Kept, DeviceError> {
        self.machine.is_as_left()?;
        let kept = self.host.swap(&mut self.machine, image)?;
        self.machine.flush()?;
        if let Some(flight) = &mut self.flight {
            flight.moved = self.machine.cycle();
        }
        Ok(kept)
    }

    fn refill(&mut self, image: &PartImage) -> Result<(), DeviceError> {
        self.machine.is_as_left()?;
        self.host.refill(&mut self.machine, image)?;
        self.machine.flush()
    }

    fn set_ingress(&mut self, groups: &[usize]) -> Result<(), DeviceError> {
        self.machine.is_as_left()?;
        self.host.set_ingress(&mut self.machine, groups)?;
        self.machine.flush()
    }

    fn set_unit_time(&mut self, ns: Option<u64>) -> Result<(), DeviceError> {
        self.machine.is_as_left()?;
        self.host.set_unit_time(&mut self.machine, ns)?;
        self.machine.flush()
    }

    fn send(&mut self, traffic: &Traffic, rate: Rate) -> Result<(), DeviceError> {
        traffic.check_ports(self.host.ports).map_err(DeviceError::Unsupported)?;
        self.machine.is_as_left()?;
        self.machine.accept(traffic)?;
        if self.sent == 0 {
            self.machine.begins();
        }
        let (base, sent) = (self.bytes.len(), self.sent);
        self.bytes.extend_from_slice(&traffic.bytes);
        self.sent += traffic.frames.len();
        let order = match rate {
            Rate::Turns => traffic.by_time(0),
            _ => (0..traffic.frames.len()).collect(),
        };
        for number in order {
            let frame = &traffic.frames[number];
            if frame.range.is_empty() {
                // The bus cannot carry these frames: a MAC would drop them, so they are counted here.
                self.empty += 1;
                continue;
            }
            let stream = frame.port.model_stream(self.host.ports);
            let (offset, length) = ((base + frame.range.start) as u64, frame.range.len() as u32);
            self.waiting.push_back(Waiting {
                frame: Frame { offset, length, stream, ..Frame::default() },
                index: sent + number,
                time_ns: frame.time_ns,
            });
        }
        self.rate = rate;
        Ok(())
    }

    fn run(&mut self, progress: &mut dyn FnMut(Progress)) -> Result<Run, DeviceError> {
        let run = self.carry_all(progress);
        if run.is_err() {
            // Nothing of it is left for the next one.
            self.flight = None;
            self.waiting.clear();
            self.bytes.clear();
            (self.sent, self.empty) = (0, 0);
        }
        run
    }

    fn work(&mut self, progress: &mut dyn FnMut(Progress)) -> Result<Work, DeviceError> {
        let clock = Instant::now();
        let mut flight = self.take_flight()?;
        let work = self.carry(&mut flight, progress);
        flight.run.seconds += clock.elapsed().as_secs_f64();
        self.flight = Some(flight);
        work
    }

    fn advance(&mut self, cycles: u64) -> Result<Vec<Departure>, DeviceError> {
        if self.rate == Rate::Turns && !self.waiting.is_empty() {
            return Err(DeviceError::Unsupported("frames in turns have no cycles of their own: run them".into()));
        }
        let clock = Instant::now();
        let given = self.flight.as_ref().map_or(0, |flight| flight.run.departures.len());
        let mut flight = self.take_flight()?;
        let end = self.machine.cycle().saturating_add(cycles);
        while self.machine.cycle() < end {
            self.top_up(&mut flight)?;
            let step = self.machine.step(LOOK.min(end - self.machine.cycle()), u64::MAX)?;
            self.collect(&mut flight);
            if step == Step::Failed {
                return Err(DeviceError::broken(format!(
                    "the card broke a contract: {}",
                    self.machine.failure().unwrap_or_default()
                )));
            }
            self.watch(&mut flight)?;
            self.host.serve(&mut self.machine)?;
        }
        flight.run.seconds += clock.elapsed().as_secs_f64();
        flight.moved = end;
        let left = flight.run.departures[given..].to_vec();
        self.flight = Some(flight);
        Ok(left)
    }

    fn call(&mut self, request: &Request) -> Result<Json, DeviceError> {
        self.machine.is_as_left()?;
        let answer = self.host.call(&mut self.machine, request)?;
        self.machine.flush()?;
        Ok(answer)
    }

    fn take_log(&mut self) -> Result<Log, DeviceError> {
        self.machine.is_as_left()?;
        Ok(self.host.take_log(&mut self.machine)?)
    }

    fn counters(&mut self) -> Result<Counters, DeviceError> {
        self.machine.is_as_left()?;
        let counters = self.host.counters(&mut self.machine)?;
        if self.blocks == 0 {
            return Ok(counters);
        }
        let blocks = self.host.block_counters(&mut self.machine, inline::counters)?;
        let refused = inline::refused(&mut self.machine, self.blocks)?;
        Ok(Counters { inline: Some(InlineCounters { refused, blocks }), ..counters })
    }

    fn read(&mut self, address: u32) -> Result<u32, DeviceError> {
        Ok(self.machine.read(address)?)
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), DeviceError> {
        self.machine.write(address, value)?;
        self.machine.flush()
    }

    fn set_host_range(&mut self, unit: u32, range: RangeInclusive<u64>) -> Result<(), DeviceError> {
        self.machine.has_host_memory()?;
        self.host.set_host_range(&mut self.machine, unit, range)
    }

    fn host_read(&self, address: u64, bytes: &mut [u8]) -> Result<(), DeviceError> {
        self.machine.host_read(address, bytes)
    }

    fn host_write(&mut self, address: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.machine.host_write(address, bytes)
    }
}

/// A frame that was sent, its index among these, and when it was captured.
pub(crate) struct Waiting {
    frame: Frame,
    index: usize,
    time_ns: u64,
}

/// Frames that were sent, from the cycle in which the first of them could enter until their fate is known.
struct Flight {
    before: Counters,
    matcher: Matcher,
    queued: u64,
    /// The number of these that will not leave; the next frame enters all the same.
    given_up: u64,
    run: Run,
    /// Departures of frames that had entered before.
    earlier: u64,
    /// Frames that programs made, as they left and as the units counted them, and the cycle in which the last of them
    /// was seen.
    made: Made,
    told: u64,
    made_at: u64,
    /// The frames that had left, or been dropped or absorbed, when last counted.
    ended: u64,
    /// Frames that inline blocks made and absorbed, when last counted.
    by_blocks: (u64, u64),
    /// Frames have set the time that programs of units see.
    sets_time: bool,
    /// Cycle in which the program was loaded: frames that entered before it no longer count.
    loaded: u64,
    /// Cycle of the first beat in, and of the last that moved.
    first: Option<u64>,
    last: u64,
    /// Cycle of the last check of the units, and of the last movement.
    watched: u64,
    moved: u64,
    /// The programs' work when nothing else moved.
    steps: u32,
    /// Cycles until the next check of the whole card.
    stride: u64,
    /// The same after a check that found the card still; otherwise 0.
    wait: u64,
    /// Frames that had gone over loopback when last counted.
    hops: u64,
    /// Nothing moves any more: the number of frames inside, and whether they circle over loopback.
    stands: Option<(u64, bool)>,
}

impl Flight {
    fn new(before: Counters, cycle: u64, loaded: u64, ports: u32) -> Self {
        let run = Run { start: cycle, ..Run::default() };
        Self {
            before,
            matcher: Matcher::new(ports),
            queued: 0,
            given_up: 0,
            run,
            earlier: 0,
            made: Made::default(),
            told: 0,
            made_at: cycle,
            ended: 0,
            by_blocks: (0, 0),
            steps: 0,
            sets_time: false,
            loaded,
            first: None,
            last: 0,
            watched: cycle,
            moved: cycle,
            stride: LOOK,
            wait: 0,
            hops: 0,
            stands: None,
        }
    }

    /// Number of handed-over frames that are known to have left, or to have been dropped or absorbed.
    fn accounted(&self) -> u64 {
        let (made, absorbed) = self.by_blocks;
        let ended =
            self.run.departures.len() as u64 - self.earlier - self.made.frames + self.run.drops.total() + absorbed;
        ended.saturating_sub(made)
    }

    /// Records the frames that have left.
    fn leave<M: Machine>(&mut self, machine: &M) {
        let (exits, bytes) = machine.exits();
        for exit in exits.iter().filter(|exit| exit.entered() >= self.loaded) {
            let range = exit.offset as usize..exit.offset as usize + exit.length as usize;
            if exit.is_generated() {
                self.made.add(exit.length as usize);
            } else {
                // A frame of unknown source may have been made.
                self.earlier += u64::from(exit.is_of_traffic() && exit.entered() < self.run.start);
            }
            self.run.departures.push(self.matcher.depart(exit, bytes[range].to_vec()));
        }
        self.run.hops.extend(machine.hops().iter().map(Hop::from));
    }
}

/// Tells which frame of the traffic a leaving frame was, by where and when it entered.
struct Matcher {
    ports: u32,
    /// Indices of the frames of each stream, in order, and how many of them have entered.
    streams: Vec<(Vec<usize>, usize)>,
    inside: HashMap<(u32, u64), usize>,
    entered: u64,
}

impl Matcher {
    fn new(ports: u32) -> Self {
        Self { ports, streams: vec![(Vec::new(), 0); ports as usize + 1], inside: HashMap::new(), entered: 0 }
    }

    /// Records that frame `index` enters at a stream, after the earlier ones.
    fn expect(&mut self, stream: u8, index: usize) {
        self.streams[usize::from(stream)].0.push(index);
    }

    fn enter(&mut self, entries: &[Entry]) {
        for entry in entries {
            let (indices, next) = &mut self.streams[entry.stream as usize];
            if let Some(index) = indices.get(*next) {
                self.inside.insert((entry.stream, entry.cycle), *index);
            }
            *next += 1;
            self.entered += 1;
        }
    }

    fn depart(&mut self, exit: &Exit, bytes: Vec<u8>) -> Departure {
        let entered = exit.entered();
        let stream = match exit.source {
            0x00 | 0x01 => Some(u32::from(exit.source)),
            0x02 => Some(self.ports),
            0x08..=0x0B => Some(u32::from(exit.source) - 8),
            _ => None,
        };
        let input = match stream {
            Some(stream) => self.inside.remove(&(stream, entered)),
            None if exit.made_by().is_some() => None,
            // A frame that went over loopback no longer has its port of entry; the cycle identifies it, unless two
            // frames entered in it.
            None => {
                let mut there = (0..=self.ports).filter(|stream| self.inside.contains_key(&(*stream, entered)));
                match (there.next(), there.next()) {
                    (Some(stream), None) => self.inside.remove(&(stream, entered)),
                    _ => None,
                }
            }
        };
        let to = Port::from_model_stream(exit.stream, self.ports);
        let Exit { first, last, mark, .. } = *exit;
        Departure { to, input, made_by: exit.made_by(), mark, entered, first, last, bytes }
    }
}
