// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The `rtl` target: the card's SystemVerilog, cycle for cycle, through Verilator.
//!
//! The clock loop, the MACs and the register master run in compiled code (device/rtl/driver.cpp); this module brings
//! the card up, feeds it, watches over its units and takes the frames that leave.
//!
//! How it measures: a frame's latency runs from the cycle of its first beat in to that of its last beat out, as the
//! card's own timestamp gives it. The throughput of [`RtlDevice::measure`] is counted over a window of cycles after a
//! warm-up, by last beats that left; the throughput of a run is what entered whole, from the first beat in to the last
//! beat moved.

mod build;
mod engines;
mod inline;
mod model;
mod pace;

use std::collections::{HashMap, VecDeque};
use std::fs::{self, File};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::{Duration, Instant};

pub use build::BuildError;
pub use pace::LINE_GBPS;
use penstock_engine::window::{count_unit, read_unit};
use penstock_engine::{Access, AccessError, Bus, CardError, HELD_LIMIT, Kept, Log, Native, Request, Root};
use penstock_shell::{Cause, Fault};
use serde_json::Value as Json;

use crate::card_top;
use crate::design::Design;
use crate::device::{Device, DeviceError, GENERATE_QUIET, Made, Progress, Rate, Run, Target, Work};
use crate::hop::Hop;
use crate::host::{BOOT_LIMIT, Host, LOOPBACK_STREAM};
use crate::image::{self, Image, PartImage};
use crate::outcome::{Counters, Drops, InlineCounters};
use crate::regs;
use crate::traffic::{Departure, Port, Traffic};
use build::{Kind, Parameters};
pub(crate) use model::Hop as ModelHop;
use model::{Exit, Frame, Model, Step};
use pace::Pace;

/// Cycles between two checks of the units.
const LOOK: u64 = 5_000;
/// Cycles without a beat after which the device checks for the end of a run.
const QUIET: u64 = 300;
/// Cycles without any movement after which missing frames count as lost: enough for the watchdog to report first.
const STILL: u64 = 25_000;

/// Cycles of a run to record.
#[derive(Debug, Clone)]
pub struct Wave {
    /// FST file to write.
    pub file: PathBuf,
    /// How many cycles after the card has begun to take the frames of the first [`Device::send`].
    pub from: u64,
    /// How many.
    pub cycles: u64,
}

/// The results of a card in a window of cycles, under traffic that never ends.
#[derive(Debug, Clone, Default)]
pub struct Window {
    /// Length of the window.
    pub cycles: u64,
    /// The duration of the simulation.
    pub time: Duration,
    /// Frames whose last beat left within it, and their bytes, by Ethernet port.
    pub left: Vec<(u64, u64)>,
    /// Frames whose first beat entered within it.
    pub entered: u64,
    /// Frames that entered units between two looks, one before and one after the window, and the cycles between the
    /// looks.
    pub taken: (u64, u64),
    /// Cycles from first beat in to last beat out of the frames that left within it.
    pub latencies: Vec<u64>,
    /// Frames that entered from the start of the warm-up on.
    pub offered: u64,
    /// Frames of these that were dropped, until the card was empty again.
    pub drops: Drops,
}

/// The results of a card while its units were reloaded, one after the other, under traffic that never ends.
#[derive(Debug, Clone, Default)]
pub struct Reloads {
    /// Cycles from the one on in which a unit gets no more frames until it gets frames again, by unit.
    pub units: Vec<u64>,
    /// Cycles of them all.
    pub cycles: u64,
    /// Frames whose last beat left meanwhile.
    pub left: u64,
    /// Frames dropped from the start of the warm-up until the card was empty again.
    pub drops: Drops,
}

/// The results of a card while its host changed it, under traffic that never ends.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// Cycles of each change.
    pub cycles: Vec<u64>,
    /// Cycles from first beat in to last beat out of the frames that left meanwhile, by Ethernet port.
    pub latencies: Vec<Vec<u64>>,
    /// Cycles of the first beats of frames that entered after the warm-up, and of the last beats of those that left, by
    /// Ethernet port. A frame that a block made has the time at which it was made, so its latency is found from these.
    pub entered: Vec<Vec<u64>>,
    pub left: Vec<Vec<u64>>,
    /// Frames dropped from the start of the warm-up until the card was empty again.
    pub drops: Drops,
}

/// Frames that are repeated endlessly: the counters before, and the frames that have entered and left so far.
struct Endless {
    before: Counters,
    entered: u64,
    left: u64,
}

/// A design on its own RTL.
pub struct RtlDevice {
    model: Model,
    host: Host,
    /// Number of inline blocks.
    blocks: usize,
    /// Frames that are still to be handed to the model, and their bytes.
    waiting: VecDeque<Waiting>,
    bytes: Vec<u8>,
    sent: usize,
    empty: u64,
    rate: Rate,
    /// Exits whose receivers take nothing.
    stopped: Vec<Port>,
    /// What [`Device::advance`] has left on its way.
    flight: Option<Flight>,
    /// Programs were loaded, the last time in this cycle.
    is_loaded: bool,
    loaded: u64,
    /// The recording.
    wave: Option<Wave>,
}

impl RtlDevice {
    /// Builds or finds the model of a design and takes it through reset.
    pub fn open(
        root: &Root,
        design: &Design,
        wave: Option<Wave>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Self, DeviceError> {
        let kinds = design.groups.iter().flat_map(|group| {
            let kind = Kind { engine: group.engine.name(), param: group.part.parameter() as u32 };
            std::iter::repeat_n(kind, group.units.len())
        });
        // Hardware of a block may follow from its program.
        let blocks = image::inline(root, design)?;
        let blocks = blocks.iter().map(|block| (block.engine.number() as u8, block.parameter()));
        let parameters = Parameters {
            ports: design.ports,
            units: kinds.collect(),
            ingress_depth: card_top::INGRESS_DEPTH,
            blocks: blocks.collect(),
            map_rows: card_top::map_rows(design),
            waves: wave.is_some(),
        };
        let library = build::library(root, &parameters, progress)?;
        let mut model = Model::open(&library).map_err(|source| BuildError::Load { path: library, source })?;
        let mut host = Host::new(design);
        host.begin(&mut model)?;
        if let Some(Wave { file, .. }) = &wave {
            // A file that exists afterwards belongs to this run.
            File::create(file).and_then(|_| fs::remove_file(file)).map_err(|error| {
                DeviceError::broken(format!("{}: cannot record waves there: {error}", file.display()))
            })?;
        }
        Ok(Self {
            model,
            host,
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
            wave,
        })
    }

    /// From now on [`Run::hops`] records the places that frames pass.
    pub fn record_hops(&mut self) {
        self.model.keep_hops(true);
    }

    /// Cycles since reset.
    pub fn cycle(&self) -> u64 {
        self.model.cycle()
    }

    /// Repeats the frames of `traffic` endlessly, lets the card warm up, and counts what it does in a window.
    /// Ends with the card empty, and fails when frames got lost on the way.
    pub fn measure(&mut self, traffic: &Traffic, rate: Rate, warmup: u64, window: u64) -> Result<Window, DeviceError> {
        let mut endless = self.begin_endless(traffic, rate, warmup)?;
        let mut result = self.count_window(&mut endless, window)?;
        result.drops = self.end_endless(&mut endless)?;
        result.offered = endless.entered;
        Ok(result)
    }

    /// The same on a card that may never be empty again, because a unit or an exit is stuck: ends with the window, and
    /// leaves `drops` and `offered` 0. Nothing can be sent through the card afterwards.
    pub fn measure_stuck(
        &mut self,
        traffic: &Traffic,
        rate: Rate,
        warmup: u64,
        window: u64,
    ) -> Result<Window, DeviceError> {
        let mut endless = self.begin_endless(traffic, rate, warmup)?;
        self.count_window(&mut endless, window)
    }

    /// From now on the receiver at this exit takes nothing.
    pub fn stop_exit(&mut self, exit: Port) {
        self.stopped.push(exit);
        self.set_pace(false);
    }

    /// Counts what a card does in a window of cycles.
    fn count_window(&mut self, endless: &mut Endless, window: u64) -> Result<Window, DeviceError> {
        let (taken, looked) = (self.taken()?, self.model.cycle());
        self.count_endless(endless);
        let (from, clock) = (self.model.cycle(), Instant::now());
        let mut result = Window { cycles: window, left: vec![(0, 0); self.host.ports as usize], ..Window::default() };
        while self.model.cycle() < from + window {
            self.model.step(LOOK.min(from + window - self.model.cycle()), u64::MAX);
            check(&self.model)?;
            result.entered += self.model.entries().len() as u64;
            for exit in self.model.exits().0 {
                result.latencies.push(exit.last - exit.entered());
                if let Some((frames, bytes)) = result.left.get_mut(usize::from(exit.stream)) {
                    *frames += 1;
                    *bytes += u64::from(exit.length);
                }
            }
            self.count_endless(endless);
        }
        result.time = clock.elapsed();
        result.taken = (self.taken()? - taken, self.model.cycle() - looked);
        Ok(result)
    }

    /// Frames that have entered units.
    fn taken(&mut self) -> Result<u64, DeviceError> {
        (0..self.host.units).try_fold(0, |sum, unit| Ok(sum + count_unit(&mut self.model, unit, regs::UNIT_RX_FRAMES)?))
    }

    /// Repeats the frames of `traffic` endlessly, lets the card warm up, and loads its units anew, one after the other.
    /// Ends with the card empty, and fails when frames got lost on the way.
    pub fn measure_reload(
        &mut self,
        traffic: &Traffic,
        rate: Rate,
        warmup: u64,
        image: &Image,
    ) -> Result<Reloads, DeviceError> {
        let mut endless = self.begin_endless(traffic, rate, warmup)?;
        let (from, left) = (self.model.cycle(), endless.left);
        let mut result = Reloads::default();
        for unit in 0..self.host.units {
            let start = self.model.cycle();
            self.host.reload_unit(&mut self.model, unit, image)?;
            result.units.push(self.model.cycle() - start);
            self.count_endless(&mut endless);
        }
        result.cycles = self.model.cycle() - from;
        result.left = endless.left - left;
        result.drops = self.end_endless(&mut endless)?;
        Ok(result)
    }

    /// Repeats the frames of `traffic` endlessly and lets the card warm up.
    fn begin_endless(&mut self, traffic: &Traffic, rate: Rate, warmup: u64) -> Result<Endless, DeviceError> {
        let mut endless = Endless { before: self.counters()?, entered: 0, left: 0 };
        self.send(traffic, rate)?;
        self.model.clear();
        self.start(self.waiting.len(), true);
        (self.sent, self.empty) = (0, 0);
        self.model.keep_bytes(false);
        self.model.step(warmup, u64::MAX);
        self.count_endless(&mut endless);
        Ok(endless)
    }

    /// Records the frames that have entered and left.
    fn count_endless(&mut self, endless: &mut Endless) {
        endless.entered += self.model.entries().len() as u64;
        endless.left += self.model.exits().0.len() as u64;
        self.model.clear();
    }

    /// Repeats the frames of `traffic` endlessly, lets the card warm up, and makes requests to its services, one after
    /// the other. Ends with the card empty, and fails when frames got lost on the way.
    pub fn measure_changes(
        &mut self,
        traffic: &Traffic,
        rate: Rate,
        warmup: u64,
        requests: &[Request],
    ) -> Result<Changes, DeviceError> {
        let mut endless = self.begin_endless(traffic, rate, warmup)?;
        let by_port = vec![Vec::new(); self.host.ports as usize];
        let (latencies, entered, left) = (by_port.clone(), by_port.clone(), by_port);
        let mut result = Changes { latencies, entered, left, ..Changes::default() };
        for request in requests {
            let start = self.model.cycle();
            self.call(request)?;
            result.cycles.push(self.model.cycle() - start);
            for entry in self.model.entries() {
                if let Some(entered) = result.entered.get_mut(entry.stream as usize) {
                    entered.push(entry.cycle);
                }
            }
            for exit in self.model.exits().0 {
                let port = usize::from(exit.stream);
                if let (Some(latencies), Some(left)) = (result.latencies.get_mut(port), result.left.get_mut(port)) {
                    latencies.push(exit.last - exit.entered());
                    left.push(exit.last);
                }
            }
            self.count_endless(&mut endless);
        }
        result.drops = self.end_endless(&mut endless)?;
        Ok(result)
    }

    /// Sends no more frames, and waits until the card is empty; returns the drops. An error has the number of lost
    /// frames.
    fn end_endless(&mut self, endless: &mut Endless) -> Result<Drops, DeviceError> {
        self.set_pace(false);
        self.model.queue(&[], &[]);
        // Blocks make one frame of several, or several of one.
        let (mut drops, mut come, mut gone) = (Drops::default(), endless.entered, endless.left);
        // Frames that units drop move no beat, so the loop counts looks without a change.
        let (mut told, mut looks) = ((0, 0), 0);
        while looks < STILL / QUIET {
            self.model.step(LOOK, QUIET);
            self.count_endless(endless);
            let counters = self.counters()?.since(&endless.before);
            drops = counters.drops();
            come = endless.entered + counters.made_by_blocks();
            gone = endless.left + drops.total() + counters.absorbed();
            if gone >= come {
                break;
            }
            let now = (gone, self.host.steps(&mut self.model)?);
            looks = if now == told { looks + 1 } else { 0 };
            told = now;
        }
        self.model.keep_bytes(true);
        check(&self.model)?;
        match come.saturating_sub(gone) {
            0 => Ok(drops),
            missing => Err(DeviceError::broken(format!(
                "{missing} of {} frames neither left nor were counted",
                endless.entered
            ))),
        }
    }

    fn set_pace(&mut self, repeat: bool) {
        let out = |exit, pace| if self.stopped.contains(&exit) { Pace::stopped() } else { pace };
        for port in 0..self.host.ports {
            let exit = out(Port::Ethernet(port as u8), Pace::out_of(self.rate));
            self.model.pace(port, Pace::of(self.rate, repeat), exit);
        }
        let exit = out(Port::Host, Pace::unlimited(false));
        self.model.pace(self.host.ports, Pace::unlimited(repeat), exit);
    }

    /// Hands this many of the waiting frames to the model.
    fn start(&mut self, count: usize, repeat: bool) {
        self.set_pace(repeat);
        let mut frames: Vec<Frame> = self.waiting.drain(..count).map(|waiting| waiting.frame).collect();
        // In the order of their times they are not adjacent.
        let base = frames.iter().map(|frame| frame.offset).min().unwrap_or_default();
        let end = frames.iter().map(|frame| frame.offset + u64::from(frame.length)).max().unwrap_or_default();
        frames.iter_mut().for_each(|frame| frame.offset -= base);
        self.model.queue(&frames, &self.bytes[base as usize..end as usize]);
        if self.waiting.is_empty() {
            self.bytes.clear();
        }
    }

    /// Reads from the window of one unit.
    pub fn read_unit(&mut self, unit: u32, address: u32) -> Result<u32, DeviceError> {
        Ok(read_unit(&mut self.model, unit, address)?)
    }

    /// Frames in flight: those of the last [`Device::advance`], if there was one.
    fn take_flight(&mut self) -> Result<Flight, DeviceError> {
        if let Some(flight) = self.flight.take() {
            return Ok(flight);
        }
        let mut flight = Flight::new(self.counters()?, self.model.cycle(), self.loaded, self.host.ports);
        // Frames that were sent earlier and have left meanwhile: a halted unit may have gone on.
        flight.leave(&self.model);
        self.model.clear();
        self.set_pace(false);
        self.model.queue(&[], &[]);
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
            let (time, model) = (next.time_ns, &mut self.model);
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
        self.start(count, false);
        Ok(())
    }

    /// Records the frames that entered and left since the last call; false if there were only frames that programs
    /// made.
    fn collect(&mut self, flight: &mut Flight) -> bool {
        let (entries, (exits, _)) = (self.model.entries(), self.model.exits());
        let moved = !entries.is_empty() || exits.iter().any(|exit| !exit.is_generated());
        if let Some(last) = exits.iter().filter(|exit| exit.is_generated()).map(|exit| exit.last).max() {
            flight.made_at = last;
        }
        let made = exits.iter().filter(|exit| exit.is_generated()).map(Exit::entered).min();
        let first = entries.first().map(|entry| entry.cycle);
        flight.first = flight.first.or(first.into_iter().chain(made).min());
        flight.last = flight.last.max(entries.last().map_or(0, |e| e.cycle)).max(exits.last().map_or(0, |e| e.last));
        flight.matcher.enter(entries);
        flight.leave(&self.model);
        self.model.clear();
        moved
    }

    /// Carries on until the next check of the card.
    fn carry(&mut self, flight: &mut Flight, progress: &mut dyn FnMut(Progress)) -> Result<Work, DeviceError> {
        self.top_up(flight)?;
        if self.rate == Rate::Turns {
            flight.stride = QUIET;
        }
        let step = self.model.step(flight.stride, QUIET);
        if self.collect(flight) {
            flight.moved = self.model.cycle();
        }
        progress(Progress::Running {
            entered: flight.matcher.entered,
            left: flight.run.departures.len() as u64,
            total: flight.queued,
            cycles: self.model.cycle(),
        });
        if step == Step::Failed {
            let text = self.model.failure().unwrap_or_default();
            flight.run.faults.push(format!("the card broke a contract: {text}"));
            return Ok(Work::Done);
        }
        self.watch(flight)?;
        if self.host.serve(&mut self.model)? {
            (flight.moved, flight.stride) = (self.model.cycle(), QUIET);
            return Ok(Work::Moving);
        }
        if step != Step::Idle && self.model.cycle() - flight.moved <= LOOK {
            flight.stride = LOOK;
            return Ok(Work::Moving);
        }
        let counters = self.counters()?.since(&flight.before);
        let drops = counters.drops();
        let by_blocks = (counters.made_by_blocks(), counters.absorbed());
        if (drops, by_blocks) != (flight.run.drops, flight.by_blocks) {
            (flight.run.drops, flight.by_blocks) = (drops, by_blocks);
            flight.moved = self.model.cycle();
        }
        let accounted = flight.accounted();
        flight.stands = None;
        if self.waiting.is_empty() && flight.matcher.entered == flight.queued && accounted >= flight.queued {
            let now = self.model.cycle();
            let told = counters.units.iter().map(|unit| unit.generated).sum();
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
            flight.moved = self.model.cycle();
            return Ok(Work::Moving);
        }
        let patience = if self.host.asleep == 0 { STILL } else { BOOT_LIMIT };
        if self.model.cycle() - flight.moved <= patience {
            return Ok(Work::Moving);
        }
        let steps = self.host.steps(&mut self.model)?;
        if steps != flight.steps {
            (flight.steps, flight.moved) = (steps, self.model.cycle());
            return Ok(Work::Moving);
        }
        flight.stands = Some((flight.matcher.entered.saturating_sub(accounted), circling));
        if self.host.debugged(&mut self.model)? == 0 {
            // In turns, other frames may pass a frame that is stuck.
            if !self.waiting.is_empty() && self.host.asleep == 0 && flight.matcher.entered == flight.queued {
                flight.given_up = flight.queued.saturating_sub(accounted);
                flight.moved = self.model.cycle();
                return Ok(Work::Moving);
            }
            return Ok(Work::Done);
        }
        // Those that then go on have their full time again.
        flight.moved = self.model.cycle();
        Ok(Work::Waiting)
    }

    /// Lets frames that have entered go through the inline blocks, as far as they can.
    fn empty_blocks(&mut self) -> Result<(), DeviceError> {
        let level = |port| regs::CARD_STREAM_BASE + port * regs::CARD_STREAM_STRIDE + regs::CARD_STREAM_RX_LEVEL;
        let levels: Vec<u32> = (0..self.host.ports).map(level).collect();
        let (mut before, mut still) = (None, 0);
        while still <= STILL {
            let waiting = levels.iter().try_fold(0, |sum, level| Ok::<_, DeviceError>(sum + self.read(*level)?))?;
            if waiting == 0 && !inline::is_busy(&mut self.model)? {
                break;
            }
            still = if before == Some(waiting) { still + LOOK } else { 0 };
            before = Some(waiting);
            self.model.step(LOOK, u64::MAX);
            check(&self.model)?;
        }
        Ok(())
    }

    /// Occasionally checks every unit, and takes hung units out of the dispatch.
    fn watch(&mut self, flight: &mut Flight) -> Result<(), DeviceError> {
        if self.model.cycle() - flight.watched < LOOK {
            return Ok(());
        }
        flight.watched = self.model.cycle();
        self.host.take_woken(&mut self.model)?;
        let enabled = self.host.enabled;
        let mut alive = enabled;
        for unit in (0..self.host.units).filter(|unit| enabled >> unit & 1 == 1) {
            if u64::from(self.read_unit(unit, regs::UNIT_HELD_CYCLES)?) > HELD_LIMIT {
                flight.run.faults.push(self.host.stands(&mut self.model, unit)?);
                alive &= !(1 << unit);
            }
        }
        if alive != enabled {
            self.host.enable(&mut self.model, alive)?;
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
                run.faults.push(self.host.fault(&mut self.model, &fault)?);
                continue;
            }
            self.write(regs::CARD_SLOTS_UNIT, unit)?;
            let full = slots != 0 && self.read(regs::CARD_SLOTS_FREE)? == 0;
            if self.host.enabled >> unit & 1 == 0 {
                in_circles = in_circles.saturating_sub(slots.count_ones().into());
            } else if waiting && full && !held && !circling {
                let pc = self.read_unit(unit, regs::UNIT_PC)?;
                let fault = Fault { unit: unit as u8, pc, slots, cause: Cause::Full };
                run.faults.push(self.host.fault(&mut self.model, &fault)?);
            }
        }
        if circling {
            run.note_circling(in_circles);
        }
        Ok(())
    }
}

impl Device for RtlDevice {
    fn target(&self) -> Target {
        Target::Rtl
    }

    fn load(&mut self, image: &Image) -> Result<(), DeviceError> {
        self.host.check(image, false)?;
        if self.flight.take().is_some() {
            self.waiting.clear();
            self.start(0, false);
            (self.sent, self.empty) = (0, 0);
        }
        // No frame meets a block that is half loaded, and no frame that entered before meets the new program.
        self.write(regs::CARD_PORT_ENABLE, 0)?;
        if self.blocks > 0 && self.is_loaded {
            self.empty_blocks()?;
        }
        self.host.load(&mut self.model, image)?;
        self.is_loaded = true;
        self.loaded = self.model.cycle();
        Ok(())
    }

    fn swap(&mut self, image: &PartImage) -> Result<Kept, DeviceError> {
        let kept = self.host.swap(&mut self.model, image)?;
        if let Some(flight) = &mut self.flight {
            flight.moved = self.model.cycle();
        }
        Ok(kept)
    }

    fn refill(&mut self, image: &PartImage) -> Result<(), DeviceError> {
        Ok(self.host.refill(&mut self.model, image)?)
    }

    fn set_ingress(&mut self, groups: &[usize]) -> Result<(), DeviceError> {
        self.host.set_ingress(&mut self.model, groups)
    }

    fn set_unit_time(&mut self, ns: Option<u64>) -> Result<(), DeviceError> {
        Ok(self.host.set_unit_time(&mut self.model, ns)?)
    }

    fn send(&mut self, traffic: &Traffic, rate: Rate) -> Result<(), DeviceError> {
        traffic.check_ports(self.host.ports).map_err(DeviceError::Unsupported)?;
        if self.sent == 0
            && let Some(Wave { file, from, cycles }) = &self.wave
        {
            self.model.wave(file, *from, *cycles);
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
        while self.work(progress)? == Work::Moving {}
        let model = &mut self.model;
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
            self.host.report_asleep(&mut self.model, &mut flight.run.faults)?;
        }
        // Frames that have not entered are lost, like those that do not leave.
        let queued = flight.queued + self.waiting.len() as u64;
        self.waiting.clear();
        self.bytes.clear();
        let Flight { before, earlier, made, mut run, first, last, .. } = flight;
        run.cycles = Some(first.map_or(0, |first| last + 1 - first));
        run.in_turns = self.rate == Rate::Turns;
        if self.model.failure().is_none() {
            run.count(&before, &self.counters()?);
            self.host.report_errors(&mut self.model, &mut run.counters.units, &mut run.faults)?;
            run.log = self.take_log()?.into_lines();
        }
        run.settle(queued + earlier, made.endless);
        if let Some(Wave { file, from, .. }) = self.wave.take()
            && !file.exists()
        {
            let (file, cycles) = (file.display(), run.cycles.unwrap_or_default());
            run.faults.push(format!("{file} was not written: the run took {cycles} cycles, and waves were to be recorded from cycle {from} on"));
        }
        run.drops.runt += self.empty;
        (self.sent, self.empty) = (0, 0);
        Ok(run)
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
        let end = self.model.cycle().saturating_add(cycles);
        while self.model.cycle() < end {
            self.top_up(&mut flight)?;
            self.model.step(LOOK.min(end - self.model.cycle()), u64::MAX);
            self.collect(&mut flight);
            check(&self.model)?;
            self.watch(&mut flight)?;
            self.host.serve(&mut self.model)?;
        }
        flight.run.seconds += clock.elapsed().as_secs_f64();
        flight.moved = end;
        let left = flight.run.departures[given..].to_vec();
        self.flight = Some(flight);
        Ok(left)
    }

    fn call(&mut self, request: &Request) -> Result<Json, DeviceError> {
        Ok(self.host.call(&mut self.model, request)?)
    }

    fn take_log(&mut self) -> Result<Log, DeviceError> {
        Ok(self.host.take_log(&mut self.model)?)
    }

    fn counters(&mut self) -> Result<Counters, DeviceError> {
        let counters = self.host.counters(&mut self.model)?;
        if self.blocks == 0 {
            return Ok(counters);
        }
        let blocks = self.host.block_counters(&mut self.model, inline::counters)?;
        let refused = inline::refused(&mut self.model, self.blocks)?;
        Ok(Counters { inline: Some(InlineCounters { refused, blocks }), ..counters })
    }

    fn read(&mut self, address: u32) -> Result<u32, DeviceError> {
        Ok(Bus::read(&mut self.model, address)?)
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), DeviceError> {
        Ok(Bus::write(&mut self.model, address, value)?)
    }

    fn set_host_range(&mut self, unit: u32, range: RangeInclusive<u64>) -> Result<(), DeviceError> {
        self.host.set_host_range(&mut self.model, unit, range)
    }

    fn host_read(&self, address: u64, bytes: &mut [u8]) -> Result<(), DeviceError> {
        let error = DeviceError::HostMemory { address, bytes: bytes.len() };
        self.model.host_read(address, bytes).then_some(()).ok_or(error)
    }

    fn host_write(&mut self, address: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        let error = DeviceError::HostMemory { address, bytes: bytes.len() };
        self.model.host_write(address, bytes).then_some(()).ok_or(error)
    }
}

impl Bus for Model {
    fn read(&mut self, address: u32) -> Result<u32, CardError> {
        let (response, value) = Model::read(self, address);
        answer(Access::Read, address, response).map(|()| value)
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), CardError> {
        let response = Model::write(self, address, value);
        answer(Access::Write, address, response)
    }

    fn pass(&mut self, cycles: u64) -> Result<(), CardError> {
        self.step(cycles, u64::MAX);
        check(self)
    }

    fn native(&mut self) -> Option<&mut dyn Native> {
        None
    }
}

/// The contract that the card broke, if it did.
fn check(model: &Model) -> Result<(), CardError> {
    model.failure().map_or(Ok(()), |text| Err(CardError::Broken(format!("the card broke a contract: {text}"))))
}

fn answer(access: Access, address: u32, response: u32) -> Result<(), CardError> {
    match response {
        0 => Ok(()),
        4 => Err(CardError::Broken(format!("the card did not answer a {access} of register 0x{address:08x}"))),
        _ => Err(AccessError { access, address }.into()),
    }
}

/// A frame that was sent, its index among these, and when it was captured.
struct Waiting {
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
            by_blocks: (0, 0),
            steps: 0,
            sets_time: false,
            loaded,
            first: None,
            last: 0,
            watched: cycle,
            moved: cycle,
            stride: LOOK,
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
    fn leave(&mut self, model: &Model) {
        let (exits, bytes) = model.exits();
        for exit in exits.iter().filter(|exit| exit.entered() >= self.loaded) {
            let range = exit.offset as usize..exit.offset as usize + exit.length as usize;
            if exit.is_generated() {
                self.made.add(exit.length as usize);
            } else {
                self.earlier += u64::from(exit.entered() < self.run.start);
            }
            self.run.departures.push(self.matcher.depart(exit, bytes[range].to_vec()));
        }
        self.run.hops.extend(model.hops().iter().map(Hop::from));
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

    fn enter(&mut self, entries: &[model::Entry]) {
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
