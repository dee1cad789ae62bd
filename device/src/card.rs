// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A card in hardware that carries frames: the model of its RTL, or a card behind a BAR. This module feeds it, watches
//! over its units and takes the frames that leave, in the same way on both; a [`Machine`] has what differs.

use std::collections::{BTreeMap, VecDeque};
use std::mem;
use std::ops::RangeInclusive;
use std::time::Instant;

use penstock_engine::window::read_unit;
use penstock_engine::{Bus, HELD_LIMIT, Kept, Log, Request};
use penstock_shell::{Cause, Fault};
use serde_json::Value as Json;

use crate::arrivals::{Arrival, Arrivals, Lanes};
use crate::counters::{Counters, InlineCounters};
use crate::design::{CLOCK_MHZ, Design};
use crate::device::{Device, Work};
use crate::error::DeviceError;
use crate::hop::Hop;
use crate::host::{BOOT_LIMIT, Host, LOOPBACK_STREAM};
use crate::image::{Image, PartImage};
use crate::inline;
use crate::progress::Progress;
use crate::rate::Rate;
use crate::regs;
use crate::replay::{Due, Replay};
use crate::rtl::model::Hop as ModelHop;
use crate::rtl::model::{Entry, Exit, Frame, Step};
use crate::run::{GENERATE_QUIET, Made, Run};
use crate::target::Target;
use crate::traffic::{Departure, Port, Traffic};

/// Cycles between two checks of the units.
pub(crate) const LOOK: u64 = 5_000;
/// Cycles without a beat after which the device checks for the end of a run.
pub(crate) const QUIET: u64 = 300;
/// Cycles without any movement after which missing frames count as lost: enough for the watchdog to report first.
pub(crate) const STILL: u64 = 25_000;

/// Cycles that the frames of each port that were handed to the card last at least, unless no further ones wait: more than
/// pass between two calls of [`CardDevice::top_up`], so no port runs dry.
const AHEAD: u64 = 1 << 16;
/// Bytes that enter in a cycle at most.
const BUS_BYTES: u64 = 64;
/// Frames that are remembered inside the card, more than it holds: the others were dropped.
const INSIDE: usize = 1 << 18;

/// A card as this module drives it: its registers, its streams of frames, and its clock.
pub trait Machine: Bus + Sized {
    /// Which target it is.
    const TARGET: Target;
    /// Frames that leave say where they entered or who made them. If they do not, who made them is not known, and
    /// counters say how many were made.
    const KNOWS_MAKERS: bool;

    /// Frames can enter at the times of their captures.
    const KEEPS_TIMES: bool;

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

    /// Queues frames behind those that wait.
    fn add(&mut self, frames: &[Frame], bytes: &[u8]) -> Result<(), DeviceError>;

    /// Sets how fast frames enter and leave; `stopped` exits take nothing.
    fn pace(&mut self, rate: Rate, repeat: bool, stopped: &[Port]) -> Result<(), DeviceError>;

    /// Refuses frames if none can be brought to the card.
    fn accept(&mut self) -> Result<(), DeviceError> {
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
    pub(crate) blocks: usize,
    /// Frames that are still to be handed to the card.
    lanes: Lanes,
    /// Frames without a byte, which the bus cannot carry: a MAC would drop them, so they are counted here.
    empty: u64,
    /// Frames were sent since the last run.
    has_begun: bool,
    pub(crate) rate: Rate,
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
            lanes: Lanes::default(),
            empty: 0,
            has_begun: false,
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

    /// Frames of a port, or of all, are about to be sent at a rate.
    pub(crate) fn begin_sending(&mut self, ports: &[Port], rate: Rate) -> Result<(), DeviceError> {
        self.machine.is_as_left()?;
        for port in ports {
            port.check(self.host.ports)?;
            self.machine.accept()?;
        }
        if rate == Rate::Captured && !M::KEEPS_TIMES {
            return Err(DeviceError::NotOnFpga {
                what: "cable that sends frames at the times of captures",
                way_out: "use another rate, or rtl",
            });
        }
        if !mem::replace(&mut self.has_begun, true) {
            self.machine.begins();
        }
        if let Some(flight) = &mut self.flight
            && self.lanes.is_empty()
        {
            flight.replay = Replay::default();
        }
        self.rate = rate;
        Ok(())
    }

    /// Forgets the frames that wait.
    fn forget(&mut self) {
        self.lanes = Lanes::default();
        self.empty = 0;
        self.has_begun = false;
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
        flight.oldest = self.lanes.oldest();
        // Frames that were sent earlier and have left meanwhile: a halted unit may have gone on.
        flight.leave(&self.machine);
        self.machine.clear();
        self.machine.emptied();
        self.set_pace(false)?;
        self.machine.queue(&[], &[])?;
        Ok(flight)
    }

    /// Hands over frames that wait: of each port so many that it does not run dry; in turns the next frame, once nothing
    /// is known to be inside.
    fn top_up(&mut self, flight: &mut Flight) -> Result<(), DeviceError> {
        if self.host.asleep != 0 || self.lanes.is_empty() {
            return Ok(());
        }
        if flight.rate != Some(self.rate) || self.rate == Rate::Turns {
            if flight.matcher.entered < flight.queued {
                return Ok(());
            }
            if self.rate == Rate::Turns {
                return self.hand_next(flight);
            }
            self.set_pace(false)?;
            flight.rate = Some(self.rate);
        }
        flight.oldest = flight.oldest.or(self.lanes.oldest());
        if self.rate == Rate::Captured {
            flight.replay.begin(self.machine.cycle(), self.lanes.oldest_captured());
        }
        let mut batch = Batch::default();
        for port in self.lanes.ports() {
            let stream = port.model_stream(self.host.ports);
            if !flight.matcher.lasts(stream, AHEAD) {
                while !flight.matcher.lasts(stream, 2 * AHEAD) && self.hand(flight, port, &mut batch) {}
            }
        }
        if !batch.frames.is_empty() {
            return self.machine.add(&batch.frames, &batch.bytes);
        }
        if self.rate == Rate::Captured && flight.matcher.entered == flight.queued {
            return self.check_silence(flight);
        }
        Ok(())
    }

    /// Begins anew with a card that somebody else has reset; its drivers know nothing of before.
    pub(crate) fn revive(&mut self) -> Result<(), DeviceError> {
        if self.machine.revive()? {
            self.host = Host::new(&self.design);
            self.host.begin(&mut self.machine)?;
            self.is_loaded = false;
        }
        Ok(())
    }

    /// Port and time of the next frame, if one waits.
    fn next_frame(&mut self) -> Option<(Port, u64)> {
        let lane = self.lanes.earliest()?;
        Some((lane.port, lane.head()?.time_ns))
    }

    /// Fails if frames wait, and the first of them comes too late.
    fn check_silence(&mut self, flight: &Flight) -> Result<(), DeviceError> {
        let Some((port, time)) = self.next_frame() else { return Ok(()) };
        let Due::Late(seconds) = flight.replay.due(time, self.machine.cycle()) else { return Ok(()) };
        self.forget();
        Err(DeviceError::Silence { port, seconds })
    }

    /// Hands over the next frame in turns, if all before it have left, or were dropped and counted.
    fn hand_next(&mut self, flight: &mut Flight) -> Result<(), DeviceError> {
        if flight.accounted() + flight.given_up < flight.queued {
            return Ok(());
        }
        flight.rate = Some(self.rate);
        flight.oldest = flight.oldest.or(self.lanes.oldest());
        let mut batch = Batch::default();
        while let Some((port, time)) = self.next_frame()
            && batch.frames.is_empty()
        {
            if !self.hand(flight, port, &mut batch) {
                continue;
            }
            self.machine.emptied();
            let model = &mut self.machine;
            self.host.each_driver(|driver| driver.set_time(model, time))?;
            if time != 0 {
                self.host.set_unit_time(model, Some(time))?;
                flight.sets_time = true;
            }
        }
        self.set_pace(false)?;
        self.machine.queue(&batch.frames, &batch.bytes)
    }

    /// Takes the next frame of a port; false if the port has no frame that the card can take now.
    fn hand(&mut self, flight: &mut Flight, port: Port, batch: &mut Batch) -> bool {
        let now = self.machine.cycle();
        let Some(lane) = self.lanes.lane(port) else { return false };
        let Some(arrival) = lane.head() else { return false };
        let bytes = lane.bytes();
        let due = if self.rate == Rate::Captured { flight.replay.due(arrival.time_ns, now) } else { Due::At(0) };
        let Due::At(earliest) = due else { return false };
        let stream = port.model_stream(self.host.ports);
        let is_empty = bytes.is_empty();
        if is_empty {
            self.empty += 1;
        } else {
            let (offset, length) = (batch.bytes.len() as u64, bytes.len() as u32);
            batch.bytes.extend_from_slice(bytes);
            flight.replay.last = flight.replay.last.max(earliest);
            batch.frames.push(Frame { earliest, offset, length, stream, ..Frame::default() });
            flight.matcher.expect(stream, arrival, length);
            flight.queued += 1;
        }
        lane.take();
        !is_empty
    }

    /// Takes all frames that wait, as they cannot enter; gives how many could have.
    fn take_rest(&mut self) -> u64 {
        let mut rest = 0;
        while let Some(lane) = self.lanes.earliest() {
            *(if lane.bytes().is_empty() { &mut self.empty } else { &mut rest }) += 1;
            lane.take();
        }
        rest
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
        let queued = flight.queued + self.take_rest();
        let Flight { before, earlier, made, mut run, first, last, .. } = flight;
        run.cycles = Some(first.map_or(0, |first| last + 1 - first));
        run.offered = self.lanes.taken();
        if self.machine.failure().is_none() {
            run.count(&before, &self.counters()?);
            self.host.report_errors(&mut self.machine, &mut run.counters.units, &mut run.faults)?;
            run.log = self.take_log()?.into_lines();
        }
        run.settle(queued + earlier, made.endless, M::KNOWS_MAKERS);
        self.machine.ends(&mut run);
        run.drops.runt += self.empty;
        self.forget();
        Ok(run)
    }

    /// Carries on until the next check of the card.
    fn carry(&mut self, flight: &mut Flight, progress: &mut dyn FnMut(Progress)) -> Result<Work, DeviceError> {
        self.top_up(flight)?;
        let step = self.step(flight)?;
        if self.collect(flight) {
            flight.moved = self.machine.cycle();
        }
        progress(Progress::Running {
            entered: flight.matcher.entered,
            left: flight.run.left.total(),
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
        let counters = self.look(flight)?;
        let accounted = flight.accounted();
        flight.stands = None;
        if self.lanes.is_empty() && flight.matcher.entered == flight.queued && accounted >= flight.queued {
            let told = generated(&counters);
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
        if is_paced && (flight.matcher.waits_at_ports() || self.machine.cycle() < flight.replay.last) {
            // The next frame enters at its time, whatever the card does. The host's queue waits for the card.
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
        if self.host.debugged(&mut self.machine)? > 0 {
            // Units that then go on have their full time again.
            flight.moved = self.machine.cycle();
            return Ok(Work::Waiting);
        }
        // In turns, other frames may pass a frame that is stuck.
        if !self.lanes.is_empty() && self.host.asleep == 0 && flight.matcher.entered == flight.queued {
            flight.given_up = flight.queued.saturating_sub(accounted);
            flight.moved = self.machine.cycle();
            return Ok(Work::Moving);
        }
        Ok(Work::Done)
    }

    /// Lets the card work until it is time for the next look at it.
    fn step(&mut self, flight: &mut Flight) -> Result<Step, DeviceError> {
        if self.rate == Rate::Turns {
            flight.stride = QUIET;
        }
        match mem::take(&mut flight.wait) {
            0 => self.machine.step(flight.stride, QUIET),
            // A model in which nothing moves would come back at once, and a look takes longer than that.
            wait => match self.machine.step(wait, u64::MAX)? {
                Step::Failed => Ok(Step::Failed),
                Step::Idle | Step::OutOfCycles => Ok(Step::Idle),
            },
        }
    }

    /// Looks at the counters since the beginning, and notes what has moved since the last look.
    fn look(&mut self, flight: &mut Flight) -> Result<Counters, DeviceError> {
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
        if !M::KNOWS_MAKERS {
            // Some may be on their way still.
            flight.made.frames = generated(&counters).min(flight.run.left.total() - flight.earlier);
            let accounted = flight.accounted();
            if accounted != flight.ended {
                (flight.ended, flight.moved) = (accounted, self.machine.cycle());
            }
        }
        Ok(counters)
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

/// Frames that the programs of all units made.
fn generated(counters: &Counters) -> u64 {
    counters.units.iter().map(|unit| unit.generated).sum()
}

impl<M: Machine> Device for CardDevice<M> {
    fn target(&self) -> Target {
        M::TARGET
    }

    fn load(&mut self, image: &Image) -> Result<(), DeviceError> {
        self.host.check(image, false)?;
        self.revive()?;
        if self.flight.take().is_some() {
            self.forget();
            self.set_pace(false)?;
            self.machine.queue(&[], &[])?;
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
        self.begin_sending(&traffic.ports(), rate)?;
        self.lanes.send(traffic);
        Ok(())
    }

    fn stream(&mut self, port: Port, frames: Box<dyn Arrivals>, rate: Rate) -> Result<(), DeviceError> {
        self.begin_sending(&[port], rate)?;
        self.lanes.push(port, frames);
        Ok(())
    }

    fn take_departures(&mut self) -> Vec<Departure> {
        self.flight.as_mut().map_or_else(Vec::new, |flight| mem::take(&mut flight.run.departures))
    }

    fn run(&mut self, progress: &mut dyn FnMut(Progress)) -> Result<Run, DeviceError> {
        let run = self.carry_all(progress);
        if run.is_err() {
            // Nothing of it is left for the next one.
            self.flight = None;
            self.forget();
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
        if self.rate == Rate::Turns && !self.lanes.is_empty() {
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

/// Frames on their way to the card.
#[derive(Default)]
struct Batch {
    frames: Vec<Frame>,
    bytes: Vec<u8>,
}

/// Frames that were sent, from the cycle in which the first of them could enter until their fate is known.
struct Flight {
    before: Counters,
    matcher: Matcher,
    queued: u64,
    /// The rate of the frames that were handed over last, and the time of the oldest frame that waited at first.
    rate: Option<Rate>,
    oldest: Option<u64>,
    /// The times of captures, at [`Rate::Captured`].
    replay: Replay,
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
            rate: None,
            oldest: None,
            replay: Replay::default(),
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
        let ended = self.run.left.total() - self.earlier - self.made.frames + self.run.drops.total() + absorbed;
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
            let (input, departure) = self.matcher.depart(exit, bytes[range].to_vec());
            let ns = |cycles: u64| cycles * 1000 / u64::from(CLOCK_MHZ);
            let time_ns = match input {
                Some(arrival) if self.rate == Some(Rate::Turns) => arrival.time_ns + ns(departure.latency()),
                _ if self.rate == Some(Rate::Captured) => self.replay.time(exit.last).unwrap_or_default(),
                _ => self.oldest.unwrap_or_default() + ns(exit.last.saturating_sub(self.run.start)),
            };
            self.run.depart(Departure { time_ns, ..departure }, M::KNOWS_MAKERS);
        }
        self.run.hops.extend(machine.hops().iter().map(Hop::from));
    }
}

/// Tells which frame of the traffic a leaving frame was, by where and when it entered.
struct Matcher {
    ports: u32,
    streams: Vec<Expected>,
    /// The frames inside the card, by when and where they entered.
    inside: BTreeMap<(u64, u32), Arrival>,
    entered: u64,
}

/// The frames of a stream that were handed to the card and have not entered, and their bytes.
#[derive(Clone, Default)]
struct Expected {
    frames: VecDeque<(Arrival, u32)>,
    bytes: u64,
}

impl Matcher {
    fn new(ports: u32) -> Self {
        let streams = vec![Expected::default(); ports as usize + 1];
        Self { ports, streams, inside: BTreeMap::new(), entered: 0 }
    }

    /// Records that a frame enters at a stream, after the earlier ones.
    fn expect(&mut self, stream: u8, arrival: Arrival, length: u32) {
        let expected = &mut self.streams[usize::from(stream)];
        expected.frames.push_back((arrival, length));
        expected.bytes += u64::from(length);
    }

    /// Whether the frames that a stream expects take this many cycles at least.
    fn lasts(&self, stream: u8, cycles: u64) -> bool {
        let Expected { frames, bytes } = &self.streams[usize::from(stream)];
        frames.len() as u64 >= cycles || *bytes >= cycles * BUS_BYTES
    }

    /// Whether a frame that was handed over has not entered its Ethernet port.
    fn waits_at_ports(&self) -> bool {
        self.streams[..self.ports as usize].iter().any(|expected| !expected.frames.is_empty())
    }

    fn enter(&mut self, entries: &[Entry]) {
        for entry in entries {
            let expected = &mut self.streams[entry.stream as usize];
            if let Some((arrival, length)) = expected.frames.pop_front() {
                expected.bytes -= u64::from(length);
                self.inside.insert((entry.cycle, entry.stream), arrival);
            }
            self.entered += 1;
        }
        while self.inside.len() > INSIDE {
            self.inside.pop_first();
        }
    }

    /// A frame that leaves, without its time, and which one it was.
    fn depart(&mut self, exit: &Exit, bytes: Vec<u8>) -> (Option<Arrival>, Departure) {
        let entered = exit.entered();
        let stream = match exit.source {
            0x00 | 0x01 => Some(u32::from(exit.source)),
            0x02 => Some(self.ports),
            0x08..=0x0B => Some(u32::from(exit.source) - 8),
            _ => None,
        };
        let stream = match stream {
            Some(stream) => Some(stream),
            None if exit.made_by().is_some() => None,
            // A frame that went over loopback no longer has its port of entry; the cycle identifies it, unless two
            // frames entered in it.
            None => {
                let mut there = self.inside.range((entered, 0)..=(entered, self.ports)).map(|((_, stream), _)| *stream);
                there.next().filter(|_| there.next().is_none())
            }
        };
        let arrival = stream.and_then(|stream| self.inside.remove(&(entered, stream)));
        let from = arrival.and(stream).map(|stream| Port::from_model_stream(stream as u8, self.ports));
        let (to, input) = (Port::from_model_stream(exit.stream, self.ports), arrival.map(|arrival| arrival.index));
        let Exit { first, last, mark, .. } = *exit;
        (arrival, Departure { to, from, input, time_ns: 0, made_by: exit.made_by(), mark, entered, first, last, bytes })
    }
}
