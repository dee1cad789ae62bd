// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A design at work.

use std::fmt;

use penstock_shell::AccessError;
use serde::Serialize;

use crate::design::{CLOCK_MHZ, Design};
use crate::hop::Hop;
use crate::image::Image;
use crate::outcome::{Counters, Drops};
use crate::root::Root;
use crate::rtl::{BuildError, RtlDevice};
use crate::soft::SoftDevice;
use crate::traffic::{Departure, Traffic};

/// What carries a design out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// Native code.
    Soft,
    /// The card's SystemVerilog through Verilator, cycle for cycle.
    Rtl,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Soft => "soft",
            Self::Rtl => "rtl",
        })
    }
}

/// How fast frames enter. `soft` takes them as fast as it can whatever this says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// Line rate, but no frame starts while its port is paused: nothing overflows.
    Lossless,
    /// 100 Gb/s a port, preamble, gap and FCS included, whatever the card says.
    Line,
    /// So many Gb/s a port, preamble, gap and FCS included, whatever the card says.
    Gbps(f64),
}

impl Rate {
    /// Parses `lossless`, `line` or a number of Gb/s.
    pub fn parse(word: &str) -> Result<Self, String> {
        match word {
            "lossless" => Ok(Self::Lossless),
            "line" => Ok(Self::Line),
            _ => match word.parse() {
                Ok(gbps) if (0.001..=100.0).contains(&gbps) => Ok(Self::Gbps(gbps)),
                _ => Err(format!("`{word}` is no rate: give `lossless`, `line`, or Gb/s between 0.001 and 100")),
            },
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lossless => f.write_str("line rate with pauses"),
            Self::Line => f.write_str("line rate"),
            Self::Gbps(gbps) => write!(f, "{gbps} Gb/s a port"),
        }
    }
}

/// How far a device has come.
#[derive(Debug, Clone)]
pub enum Progress {
    /// The model is being compiled: `done` of `total` steps.
    Building {
        /// Steps done.
        done: u64,
        /// Steps there are.
        total: u64,
    },
    /// Programs and tables are being written.
    Loading,
    /// Frames are on their way.
    Running {
        /// Frames that entered.
        entered: u64,
        /// Frames that left.
        left: u64,
        /// Frames there are.
        total: u64,
        /// Cycles so far; 0 on `soft`.
        cycles: u64,
    },
}

/// What [`Device::work`] has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Frames are on their way.
    Moving,
    /// Nothing moves any more, and may again: a debugger is at work at a unit.
    Waiting,
    /// Every frame has come out, was dropped and counted, or will not come.
    Done,
}

/// What came of the frames that were sent.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// Frames that left, in the order in which their last beats did, port by port.
    pub departures: Vec<Departure>,
    /// Frames that did not, by reason.
    pub drops: Drops,
    /// Cycle in which the first frame could enter; 0 on `soft`.
    pub start: u64,
    /// Cycles from the first beat in to the last beat that moved; none on `soft`.
    pub cycles: Option<u64>,
    /// Wall-clock seconds that the frames took.
    pub seconds: f64,
    /// What the card counted in this run, by streams and units; error flags that have risen since the load and that no run before has told.
    pub counters: Counters,
    /// What went wrong, in sentences, while everything else was still delivered.
    pub faults: Vec<String>,
    /// Where frames came by, in time order; on `rtl`, when it was told to record it.
    pub hops: Vec<Hop>,
}

impl Run {
    /// Time of a departure in a capture, ns: on `rtl` of its last beat, from the cycle on in which the first frame could enter; on `soft`
    /// when the frame that entered was captured.
    pub fn time_ns(&self, departure: &Departure, traffic: &Traffic) -> u64 {
        match (self.cycles, departure.input) {
            (Some(_), _) => departure.last.saturating_sub(self.start) * 1000 / u64::from(CLOCK_MHZ),
            (None, Some(index)) => traffic.frames[index].time_ns,
            (None, None) => 0,
        }
    }

    /// Takes down what the card counted between `before` and `now`.
    pub(crate) fn count(&mut self, before: &Counters, now: &Counters) {
        self.counters = now.since(before);
        self.drops = self.counters.drops();
    }

    /// Says that so many frames go from unit to unit and never leave.
    pub(crate) fn note_circling(&mut self, frames: u64) {
        self.faults.push(format!("{frames} frames still circle over loopback"));
    }

    /// Counts as lost what, of `queued` frames, neither left nor was dropped and counted, and says so.
    pub(crate) fn settle(&mut self, queued: u64) {
        self.drops.lost = queued.saturating_sub(self.departures.len() as u64 + self.drops.total());
        if self.drops.lost > 0 {
            self.faults
                .push(format!("{} frames are lost: they entered and neither left nor were dropped", self.drops.lost));
        }
    }
}

/// A device that cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// The model could not be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The card did not come up, or broke a contract of its own.
    #[error("{0}")]
    Card(String),
    /// The card answered an access to the host address space with an error.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// Host memory ends at 1 GiB.
    #[error("host memory ends at 0x40000000: it has no {bytes} bytes from 0x{address:x} on")]
    HostMemory {
        /// First byte.
        address: u64,
        /// How many.
        bytes: usize,
    },
    /// The target cannot do this.
    #[error("{0}")]
    Unsupported(String),
}

/// A card at work. The same frames in give the same frames out on every target.
pub trait Device {
    /// Which target it is.
    fn target(&self) -> Target;

    /// Resets the units, writes programs and tables, and brings the card up. After [`Device::advance`] the frames that were sent before
    /// are gone; else they wait for the run.
    fn load(&mut self, image: &Image) -> Result<(), DeviceError>;

    /// Fills the accelerator's table of every unit anew ([`Image::table`]) while the programs stay as they are. A frame that is looked up
    /// meanwhile meets the old table on `soft`, and on `rtl` perhaps a part of each.
    fn load_tables(&mut self, table: &[(u32, u32)]) -> Result<(), DeviceError>;

    /// Queues frames; [`Device::run`] carries them.
    fn send(&mut self, traffic: &Traffic, rate: Rate) -> Result<(), DeviceError>;

    /// Runs until every queued frame has come out, was dropped and counted, or is lost.
    fn run(&mut self, progress: &mut dyn FnMut(Progress)) -> Result<Run, DeviceError>;

    /// Carries queued frames on for a while, as [`Device::run`] does until nothing moves. Between two calls the card can be looked at;
    /// `run` then ends what was begun, and its figures and departures are those of the whole.
    fn work(&mut self, progress: &mut dyn FnMut(Progress)) -> Result<Work, DeviceError>;

    /// Lets the card work for so many cycles, in which queued frames enter as they can; gives the frames that left meanwhile.
    /// The next [`Device::run`] carries on from there, and its figures and departures are those of the whole. Frames sent meanwhile
    /// wait until all those before have entered.
    ///
    /// # Errors
    /// `soft` has no cycles.
    fn advance(&mut self, cycles: u64) -> Result<Vec<Departure>, DeviceError>;

    /// All counters now.
    fn counters(&mut self) -> Result<Counters, DeviceError>;

    /// Reads a register of the host address space (shell/regs/card.rdl).
    fn read(&mut self, address: u32) -> Result<u32, DeviceError>;

    /// Writes a register of the host address space.
    fn write(&mut self, address: u32, value: u32) -> Result<(), DeviceError>;

    /// Reads the host memory that units reach: 1 GiB from address 0, zero where nobody wrote.
    fn host_read(&self, address: u64, bytes: &mut [u8]) -> Result<(), DeviceError>;

    /// Writes the host memory that units reach.
    fn host_write(&mut self, address: u64, bytes: &[u8]) -> Result<(), DeviceError>;
}

/// Opens a design on a target. On `rtl` the first time builds the model, which `progress` shows.
pub fn open(
    root: &Root,
    design: &Design,
    target: Target,
    progress: &mut dyn FnMut(Progress),
) -> Result<Box<dyn Device>, DeviceError> {
    Ok(match target {
        Target::Soft => Box::new(SoftDevice::open(design)),
        Target::Rtl => Box::new(RtlDevice::open(root, design, None, progress)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::Port;

    #[test]
    fn what_is_not_accounted_for_is_lost() {
        for (queued, lost) in [(9, 0), (10, 0), (11, 1), (1000, 990)] {
            let out = Departure { to: Port::Host, input: None, entered: 0, first: 0, last: 0, bytes: Vec::new() };
            let drops = Drops { runt: 1, blocked: 2, refused: 4, ..Drops::default() };
            let mut run = Run { departures: vec![out; 3], drops, ..Run::default() };
            run.settle(queued);
            assert_eq!(run.drops, Drops { lost, ..drops });
            assert_eq!(run.faults.len(), usize::from(lost > 0));
        }
    }
}
