// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A design at work.

use std::collections::{BTreeMap, BTreeSet};
use std::{fmt, ops::RangeInclusive};

use penstock_engine::{CardError, EngineError, Kept, Log, Request, Root};
use serde::Serialize;
use serde_json::Value as Json;

use crate::arrivals::Arrivals;
use crate::design::Design;
use crate::fpga::{FpgaDevice, FpgaError, Place};
use crate::hop::Hop;
use crate::image::{Image, PartImage};
use crate::outcome::{Counters, Drops, WIRE_OVERHEAD};
use crate::rtl::{BuildError, RtlDevice};
use crate::soft::SoftDevice;
use crate::traffic::{Departure, Maker, Port, Traffic};

/// The target that runs a design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// Native code.
    Soft,
    /// The card's SystemVerilog through Verilator, cycle for cycle.
    Rtl,
    /// A card behind a BAR: a real one, or the same with its shell in simulation.
    Fpga,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Soft => "soft",
            Self::Rtl => "rtl",
            Self::Fpga => "fpga",
        })
    }
}

/// The rate at which frames enter. `soft` always takes them as fast as it can, except in turns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// Line rate, but no frame starts while its port is paused: nothing overflows.
    Lossless,
    /// 100 Gb/s a port, including preamble, gap and FCS, even if the card asks for a pause.
    Line,
    /// This many Gb/s a port, including preamble, gap and FCS, even if the card asks for a pause.
    Gbps(f64),
    /// Ports of this many Gb/s: no byte enters or leaves faster. This measures a card at another clock, because only
    /// the number of bytes a cycle matters.
    Ports(f64),
    /// At the times of the frames, counted from the first one, even if the card asks for a pause. A frame whose time is
    /// over when the port is free, and one without a time, enters right behind the frame before it. The simulation also
    /// runs through the time between frames.
    Captured,
    /// One frame at a time, in the order of their times: the next enters when the one before has left or was dropped.
    /// Programs that read the time see that of the capture (docs/clocks.md), so stateful programs do the same on both
    /// targets.
    Turns,
}

impl Rate {
    /// Parses `lossless`, `line`, `captured`, `turns` or a number of Gb/s.
    pub fn parse(word: &str) -> Result<Self, String> {
        match word {
            "lossless" => Ok(Self::Lossless),
            "line" => Ok(Self::Line),
            "captured" => Ok(Self::Captured),
            "turns" => Ok(Self::Turns),
            _ => match word.parse() {
                Ok(gbps) if (0.001..=100.0).contains(&gbps) => Ok(Self::Gbps(gbps)),
                _ => Err(format!(
                    "`{word}` is no rate: give `lossless`, `line`, `captured`, `turns`, or Gb/s between 0.001 and 100"
                )),
            },
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lossless => f.write_str("line rate with pauses"),
            Self::Turns => f.write_str("one frame at a time"),
            Self::Line => f.write_str("line rate"),
            Self::Captured => f.write_str("the times of the captures"),
            Self::Gbps(gbps) => write!(f, "{gbps} Gb/s a port"),
            Self::Ports(gbps) => write!(f, "line rate of ports of {gbps} Gb/s"),
        }
    }
}

/// The progress of a device.
#[derive(Debug, Clone)]
pub enum Progress {
    /// The model is being compiled: `done` of `total` steps.
    Building {
        /// Steps done.
        done: u64,
        /// Steps there are.
        total: u64,
    },
    /// Another process or thread compiles the model's sources.
    Waiting,
    /// Programs and tables are being written.
    Loading,
    /// Frames are on their way.
    Running {
        /// Frames that entered.
        entered: u64,
        /// Frames that left.
        left: u64,
        /// Cycles so far; 0 on `soft`.
        cycles: u64,
    },
}

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
    pub fn add(&mut self, bytes: usize) {
        self.frames += 1;
        self.bytes += bytes as u64 + WIRE_OVERHEAD;
    }

    /// Whether to wait for more frames now that nothing else happens: the last one left recently, so the others are not
    /// overdue.
    pub fn go_on(&mut self, now: u64, just_now: bool) -> bool {
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
    /// [`Device::take_departures`] gave.
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
    /// Wall-clock seconds that the frames took, with the time to read those of [`Device::stream`].
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

/// A fault after which a device cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// The model could not be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The card refused an access, did not start, or broke its own contract.
    #[error(transparent)]
    Card(#[from] CardError),
    /// An engine could not do its part.
    #[error(transparent)]
    Engine(#[from] EngineError),
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
    /// The card cannot be reached, or is another one than the driver's.
    #[error(transparent)]
    Fpga(#[from] FpgaError),
    /// At [`Rate::Captured`], a frame comes so late that the simulation would not end.
    #[error(
        "the next frame of {port} comes {seconds} s after the frames before it, and at the rate `captured` a card runs \
         through at most 60 s without a frame: shift the times of the capture, or use the rate `turns`"
    )]
    Silence {
        /// The port.
        port: Port,
        /// Seconds without a frame.
        seconds: u64,
    },
    /// A card behind a BAR does not have this.
    #[error("a card on fpga has no {what}: {way_out}")]
    NotOnFpga {
        /// What is missing.
        what: &'static str,
        /// The way out: another call, or another target.
        way_out: &'static str,
    },
}

impl DeviceError {
    /// A card that broke a contract; a sentence.
    pub(crate) fn broken(text: impl Into<String>) -> Self {
        CardError::Broken(text.into()).into()
    }
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
    /// runs until none has left for [`GENERATE_QUIET`] cycles (on `soft` instructions). The first of them must leave
    /// within 300 cycles of the last sent frame or, if none was sent, within [`GENERATE_QUIET`]. Programs that do not
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

/// Opens a design on a target; on `fpga`, on a simulated card of its own ([`FpgaDevice::open`] takes others). On `rtl`
/// and on a simulated card the first time builds the model, which `progress` shows.
pub fn open(
    root: &Root,
    design: &Design,
    target: Target,
    progress: &mut dyn FnMut(Progress),
) -> Result<Box<dyn Device>, DeviceError> {
    Ok(match target {
        Target::Soft => Box::new(SoftDevice::open(design)?),
        Target::Rtl => Box::new(RtlDevice::open(root, design, None, progress)?),
        Target::Fpga => Box::new(FpgaDevice::open(root, design, &Place::default(), progress)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{BlockCounters, InlineCounters};
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
