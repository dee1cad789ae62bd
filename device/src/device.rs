// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A design at work.

use std::ops::RangeInclusive;

use penstock_engine::{Kept, Log, Request};
use serde_json::Value as Json;

use crate::arrivals::Arrivals;
use crate::counters::Counters;
use crate::error::DeviceError;
use crate::image::{Image, PartImage};
use crate::progress::Progress;
use crate::rate::Rate;
use crate::run::Run;
use crate::target::Target;
use crate::traffic::{Departure, Port, Traffic};

/// The result of [`Device::work`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Frames are on their way.
    Moving,
    /// Nothing moves any more, and may again: a debugger is at work at a unit.
    Waiting,
    /// Every frame has left, was dropped and counted, or will not leave.
    Done,
}

/// A card at work. The same frames in give the same frames out on every target.
pub trait Device {
    /// Which target it is.
    fn target(&self) -> Target;

    /// Resets the units, writes programs and tables, and brings the card up. After [`Device::advance`] the frames that
    /// were sent before are gone; otherwise they wait for the run.
    fn load(&mut self, image: &Image) -> Result<(), DeviceError>;

    /// Gives a part another program between two frames: no frame is lost or waits for a unit, and the clock goes on.
    /// Returns the names of the program's tables, and whether each kept its contents.
    ///
    /// # Errors
    /// If the engine restarts with another program, or if there is no room for it beside the running one, which then
    /// goes on.
    fn swap(&mut self, image: &PartImage) -> Result<Kept, DeviceError>;

    /// Fills the tables of a part again, from an image whose program the part already runs
    /// ([`penstock_engine::Driver::refill`]).
    fn refill(&mut self, image: &PartImage) -> Result<(), DeviceError>;

    /// Lets the dispatcher give frames of ports and host to the units of these groups, by their indices, instead of
    /// those of the design; no frame is lost. At least one group is required.
    fn set_ingress(&mut self, groups: &[usize]) -> Result<(), DeviceError>;

    /// Sets the time that programs of units see, in ns: the kit's `pn_time()`, `bpf_ktime_get_ns()`. It stands there
    /// until it is set again; without a time it goes on. Frames in turns that were captured at a time set it
    /// themselves, and let it go on at the end of the run.
    fn set_unit_time(&mut self, ns: Option<u64>) -> Result<(), DeviceError>;

    /// Queues frames; [`Device::run`] carries them.
    fn send(&mut self, traffic: &Traffic, rate: Rate) -> Result<(), DeviceError>;

    /// Queues frames at one port, behind those that wait there, which are read as the card takes them: as few as the
    /// card needs are in memory.
    fn stream(&mut self, port: Port, frames: Box<dyn Arrivals>, rate: Rate) -> Result<(), DeviceError>;

    /// Takes the frames that have left in a run so far, each once. Between two calls of [`Device::work`] this keeps the
    /// memory of a long run small; [`Run::departures`] has the rest.
    fn take_departures(&mut self) -> Vec<Departure>;

    /// Runs until every queued frame has left, was dropped and counted, or is lost. If programs made frames, it also
    /// runs until none has left for [`GENERATE_QUIET`](crate::GENERATE_QUIET) cycles (on `soft` instructions). The first of them must leave
    /// within 300 cycles of the last sent frame or, if none was sent, within [`GENERATE_QUIET`](crate::GENERATE_QUIET). Programs that do not
    /// stop are a fault, and end the run.
    fn run(&mut self, progress: &mut dyn FnMut(Progress)) -> Result<Run, DeviceError>;

    /// Carries queued frames on for a while, as [`Device::run`] does until nothing moves. The card can be inspected
    /// between two calls; a later `run` completes the work, and its figures and departures cover the whole.
    fn work(&mut self, progress: &mut dyn FnMut(Progress)) -> Result<Work, DeviceError>;

    /// Lets the card work for so many cycles, in which queued frames enter as they can; gives the frames that left
    /// meanwhile. The next [`Device::run`] carries on from there, and its figures and departures are those of the
    /// whole. Frames sent meanwhile enter behind those that wait at their port.
    ///
    /// # Errors
    /// `soft` has no cycles; frames in turns enter when the card is empty, whatever cycle that is.
    fn advance(&mut self, cycles: u64) -> Result<Vec<Departure>, DeviceError>;

    /// Carries out a request of a service of one of the design's engines ([`penstock_engine::Engine::services`]),
    /// between two frames.
    ///
    /// # Errors
    /// There is no such service, or the request is not understood or not possible; then nothing has changed.
    fn call(&mut self, request: &Request) -> Result<Json, DeviceError>;

    /// Takes the lines that programs have printed, each once.
    fn take_log(&mut self) -> Result<Log, DeviceError>;

    /// All counters now.
    fn counters(&mut self) -> Result<Counters, DeviceError>;

    /// Reads a register of the host address space (shell/regs/card.rdl).
    fn read(&mut self, address: u32) -> Result<u32, DeviceError>;

    /// Writes a register of the host address space.
    fn write(&mut self, address: u32, value: u32) -> Result<(), DeviceError>;

    /// Lets a unit reach these bytes of host memory and no others; none if the range is empty. Every unit reaches all
    /// until this is called. The card denies requests with a byte outside: the unit gets the error of a request that
    /// the host refuses, and neither memory changes. Requests that the card has begun are still carried out.
    ///
    /// # Errors
    /// The card has no such unit.
    fn set_host_range(&mut self, unit: u32, range: RangeInclusive<u64>) -> Result<(), DeviceError>;

    /// Reads the host memory that units reach: 1 GiB from address 0, zero where it was not written.
    fn host_read(&self, address: u64, bytes: &mut [u8]) -> Result<(), DeviceError>;

    /// Writes the host memory that units reach.
    fn host_write(&mut self, address: u64, bytes: &[u8]) -> Result<(), DeviceError>;
}
