// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The `rtl` target: the card's SystemVerilog, cycle for cycle, through Verilator.
//!
//! The clock loop, the MACs and the register master run in compiled code (device/rtl/driver.cpp); this module builds
//! it, and measures. [`CardDevice`] carries frames.
//!
//! How it measures: a frame's latency runs from the cycle of its first beat in to that of its last beat out, as the
//! card's own timestamp gives it. The throughput of [`RtlDevice::measure`] is counted over a window of cycles after a
//! warm-up, by last beats that left; the throughput of a run is what entered whole, from the first beat in to the last
//! beat moved.

pub(crate) mod build;
mod engines;
pub(crate) mod error;
pub(crate) mod model;
pub(crate) mod pace;
mod wave;

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, Instant};

pub use error::BuildError;
pub use pace::LINE_GBPS;
use penstock_engine::window::count_unit;
use penstock_engine::{Access, AccessError, Bus, CardError, Native, Request, Root};
pub use wave::Wave;

use crate::card::{CardDevice, LOOK, Machine, QUIET, STILL};
use crate::card_top;
use crate::counters::{Counters, Drops};
use crate::design::Design;
use crate::device::Device;
use crate::error::DeviceError;
use crate::image::{self, Image};
use crate::progress::Progress;
use crate::rate::Rate;
use crate::regs;
use crate::run::Run;
use crate::target::Target;
use crate::traffic::{Port, Traffic};
use build::{Around, Kind, Parameters};
use model::{Entry, Exit, Frame, Model, Step};
use pace::Pace;

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
    /// The same for the frames that left.
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

/// The parameters of a design's model.
pub(crate) fn parameters(root: &Root, design: &Design, around: Around) -> Result<Parameters, DeviceError> {
    let kinds = design.groups.iter().flat_map(|group| {
        let kind = Kind { engine: group.engine.name(), param: group.part.parameter() as u32 };
        std::iter::repeat_n(kind, group.units.len())
    });
    // Hardware of a block may follow from its program.
    let blocks = image::inline(root, design)?;
    let blocks = blocks.iter().map(|block| (block.engine.number() as u8, block.parameter()));
    Ok(Parameters {
        ports: design.ports,
        units: kinds.collect(),
        ingress_depth: card_top::INGRESS_DEPTH,
        blocks: blocks.collect(),
        map_rows: card_top::map_rows(design),
        around,
    })
}

/// Builds or finds the model of a design, and gives the path of its library.
///
/// # Errors
/// If the program of an inline block or the model does not build.
pub fn library(root: &Root, design: &Design, progress: &mut dyn FnMut(Progress)) -> Result<PathBuf, DeviceError> {
    Ok(build::model(root, &parameters(root, design, Around::Loop)?, progress)?)
}

/// A design on its own RTL.
pub type RtlDevice = CardDevice<Model>;

impl RtlDevice {
    /// Builds or finds the model of a design and takes it through reset.
    pub fn open(
        root: &Root,
        design: &Design,
        wave: Option<Wave>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Self, DeviceError> {
        let around = if wave.is_some() { Around::Waves } else { Around::Loop };
        let parameters = parameters(root, design, around)?;
        let library = build::model(root, &parameters, progress)?;
        let mut model =
            Model::open(&library, design.ports).map_err(|source| BuildError::Load { path: library, source })?;
        if let Some(Wave { file, .. }) = &wave {
            // A file that exists afterwards belongs to this run.
            File::create(file).and_then(|_| fs::remove_file(file)).map_err(|error| {
                DeviceError::broken(format!("{}: cannot record waves there: {error}", file.display()))
            })?;
        }
        model.recording = wave;
        Self::begin(design, model)
    }

    /// From now on this many threads share the simulation of card and units. Frames and cycles stay the same. It is for
    /// machines with idle processors, since threads look for work for some 50 us before they sleep. A model that records
    /// waves has one thread.
    pub fn use_threads(&mut self, threads: u32) {
        self.machine.use_threads(threads);
    }

    /// From now on [`Run::hops`] records the places that frames pass.
    pub fn record_hops(&mut self) {
        self.machine.keep_hops(true);
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
    pub fn stop_exit(&mut self, exit: Port) -> Result<(), DeviceError> {
        self.stop(exit)
    }

    /// Counts what a card does in a window of cycles.
    fn count_window(&mut self, endless: &mut Endless, window: u64) -> Result<Window, DeviceError> {
        let (taken, looked) = (self.taken()?, self.machine.cycle());
        self.count_endless(endless);
        let (from, clock) = (self.machine.cycle(), Instant::now());
        let mut result = Window { cycles: window, left: vec![(0, 0); self.host.ports as usize], ..Window::default() };
        while self.machine.cycle() < from + window {
            self.machine.step(LOOK.min(from + window - self.machine.cycle()), u64::MAX);
            check(&self.machine)?;
            result.entered += self.machine.entries().len() as u64;
            for exit in self.machine.exits().0 {
                result.latencies.push(exit.last - exit.entered());
                if let Some((frames, bytes)) = result.left.get_mut(usize::from(exit.stream)) {
                    *frames += 1;
                    *bytes += u64::from(exit.length);
                }
            }
            self.count_endless(endless);
        }
        result.time = clock.elapsed();
        result.taken = (self.taken()? - taken, self.machine.cycle() - looked);
        Ok(result)
    }

    /// Frames that have entered units.
    fn taken(&mut self) -> Result<u64, DeviceError> {
        (0..self.host.units)
            .try_fold(0, |sum, unit| Ok(sum + count_unit(&mut self.machine, unit, regs::UNIT_RX_FRAMES)?))
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
        let (from, left) = (self.machine.cycle(), endless.left);
        let mut result = Reloads::default();
        for unit in 0..self.host.units {
            let start = self.machine.cycle();
            self.host.reload_unit(&mut self.machine, unit, image)?;
            result.units.push(self.machine.cycle() - start);
            self.count_endless(&mut endless);
        }
        result.cycles = self.machine.cycle() - from;
        result.left = endless.left - left;
        result.drops = self.end_endless(&mut endless)?;
        Ok(result)
    }

    /// Repeats the frames of `traffic` endlessly and lets the card warm up.
    fn begin_endless(&mut self, traffic: &Traffic, rate: Rate, warmup: u64) -> Result<Endless, DeviceError> {
        let mut endless = Endless { before: self.counters()?, entered: 0, left: 0 };
        self.begin_sending(&traffic.ports(), rate)?;
        self.machine.clear();
        self.set_pace(true)?;
        let frames = traffic.frames.iter().filter(|frame| !frame.range.is_empty()).map(|frame| Frame {
            offset: frame.range.start as u64,
            length: frame.range.len() as u32,
            stream: frame.port.model_stream(self.host.ports),
            ..Frame::default()
        });
        let frames: Vec<Frame> = frames.collect();
        self.machine.queue(&frames, &traffic.bytes);
        self.machine.keep_bytes(false);
        self.machine.step(warmup, u64::MAX);
        self.count_endless(&mut endless);
        Ok(endless)
    }

    /// Records the frames that have entered and left.
    fn count_endless(&mut self, endless: &mut Endless) {
        endless.entered += self.machine.entries().len() as u64;
        endless.left += self.machine.exits().0.len() as u64;
        self.machine.clear();
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
            let start = self.machine.cycle();
            self.call(request)?;
            result.cycles.push(self.machine.cycle() - start);
            for entry in self.machine.entries() {
                if let Some(entered) = result.entered.get_mut(entry.stream as usize) {
                    entered.push(entry.cycle);
                }
            }
            for exit in self.machine.exits().0 {
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
        self.set_pace(false)?;
        self.machine.queue(&[], &[]);
        // Blocks make one frame of several, or several of one.
        let (mut drops, mut come, mut gone) = (Drops::default(), endless.entered, endless.left);
        // Frames that units drop move no beat, so the loop counts looks without a change.
        let (mut told, mut looks) = ((0, 0), 0);
        while looks < STILL / QUIET {
            self.machine.step(LOOK, QUIET);
            self.count_endless(endless);
            let counters = self.counters()?.since(&endless.before);
            drops = counters.drops();
            come = endless.entered + counters.made_by_blocks();
            gone = endless.left + drops.total() + counters.absorbed();
            if gone >= come {
                break;
            }
            let now = (gone, self.host.steps(&mut self.machine)?);
            looks = if now == told { looks + 1 } else { 0 };
            told = now;
        }
        self.machine.keep_bytes(true);
        check(&self.machine)?;
        match come.saturating_sub(gone) {
            0 => Ok(drops),
            missing => Err(DeviceError::broken(format!(
                "{missing} of {} frames neither left nor were counted",
                endless.entered
            ))),
        }
    }
}

impl Machine for Model {
    const TARGET: Target = Target::Rtl;
    const KNOWS_MAKERS: bool = true;
    const KEEPS_TIMES: bool = true;

    fn cycle(&self) -> u64 {
        self.cycle()
    }

    fn failure(&self) -> Option<String> {
        self.failure()
    }

    fn step(&mut self, cycles: u64, idle: u64) -> Result<Step, DeviceError> {
        Ok(self.step(cycles, idle))
    }

    fn entries(&self) -> &[Entry] {
        self.entries()
    }

    fn exits(&self) -> (&[Exit], &[u8]) {
        self.exits()
    }

    fn hops(&self) -> &[model::Hop] {
        self.hops()
    }

    fn clear(&mut self) {
        self.clear();
    }

    fn queue(&mut self, frames: &[Frame], bytes: &[u8]) -> Result<(), DeviceError> {
        self.queue(frames, bytes);
        Ok(())
    }

    fn add(&mut self, frames: &[Frame], bytes: &[u8]) -> Result<(), DeviceError> {
        self.add(frames, bytes);
        Ok(())
    }

    fn pace(&mut self, rate: Rate, repeat: bool, stopped: &[Port]) -> Result<(), DeviceError> {
        let out = |exit, pace| if stopped.contains(&exit) { Pace::stopped() } else { pace };
        for port in 0..self.ports {
            let exit = out(Port::Ethernet(port as u8), Pace::out_of(rate));
            self.pace(port, Pace::of(rate, repeat), exit);
        }
        let exit = out(Port::Host, Pace::unlimited(false));
        self.pace(self.ports, Pace::unlimited(repeat), exit);
        Ok(())
    }

    fn begins(&mut self) {
        if let Some(Wave { file, from, cycles }) = self.recording.clone() {
            self.wave(&file, from, cycles);
        }
    }

    fn ends(&mut self, run: &mut Run) {
        if let Some(Wave { file, from, .. }) = self.recording.take()
            && !file.exists()
        {
            let (file, cycles) = (file.display(), run.cycles.unwrap_or_default());
            run.faults.push(format!("{file} was not written: the run took {cycles} cycles, and waves were to be recorded from cycle {from} on"));
        }
    }

    fn host_read(&self, address: u64, bytes: &mut [u8]) -> Result<(), DeviceError> {
        let error = DeviceError::HostMemory { address, bytes: bytes.len() };
        self.host_read(address, bytes).then_some(()).ok_or(error)
    }

    fn host_write(&mut self, address: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        let error = DeviceError::HostMemory { address, bytes: bytes.len() };
        self.host_write(address, bytes).then_some(()).ok_or(error)
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
