// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock run`: captures through a card, captures out.

use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, ValueEnum};
use penstock_device::capture::{self, CaptureError};
use penstock_device::fpga::{NoPlace, Place};
use penstock_device::rtl::Wave;
use penstock_device::{
    Design, ForGroup, Latency, Outcome, Override, Part, Policy, Port, Rate, Root, Run, Target, Timing, Traffic,
};
use penstock_engine::say;

use crate::card::{Card, CardError, On, Recording};
use crate::cmd::tables::{Tables, table};
use crate::files::{self, FileError};
use crate::gdb::Debugged;
use crate::report::{self, RunData};
use crate::show::{self, grouped};
use crate::trace;

/// Ethernet ports that a card has at most.
const MAX_PORTS: u8 = 4;

/// Standard output, where a file would be named.
const STDOUT: &str = "-";

/// Sends captures through a card and writes the frames that leave.
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// Manifest of the card, for example designs/forward.toml.
    pub design: PathBuf,
    /// Capture, and where its frames enter: a port number (0 when not given) or `host`. Repeatable.
    ///
    /// pcap or pcapng, plain or compressed (gzip, Zstandard); `-` is standard input (/dev/stdin@1 at another port).
    #[arg(long = "in", value_name = "FILE[@PORT]", required = true)]
    pub inputs: Vec<String>,
    /// Only take a part of the frames, for example the second of four: `2/4`. All frames between two addresses are in
    /// one part, those without IP in the first.
    #[arg(long, value_name = "K/N", value_parser = Part::parse)]
    pub part: Option<Part>,
    /// Folder for port0.pcap, port1.pcap, ... and host.pcap.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// The target that runs the design.
    #[arg(long, value_enum, default_value_t = TargetName::Soft)]
    pub target: TargetName,
    /// Where the card is, on fpga: sim:SOCKET or pci:0000:81:00.0 [default: sim, a simulated card of its own]
    #[arg(long, value_name = "CARD")]
    pub card: Option<String>,
    /// How fast frames enter (rtl): `lossless` (line rate, but ports may pause), `line`, Gb/s a port, or `turns` (one
    /// at a time) [default: lossless, for some engines turns]
    ///
    /// The rate at which frames enter, whatever their times in the captures are. Latency depends on it: at line rate
    /// frames queue; a low rate, say 1, shows the latency of a card without load. In `turns`, on both targets, frames
    /// of all ports enter in the order of their times, each one when the one before has left or was dropped, and programs
    /// that read the time see that of the capture. Stateful programs therefore do the same on both targets.
    /// docs/clocks.md says which time programs see at other rates.
    #[arg(long, value_parser = Rate::parse)]
    pub rate: Option<Rate>,
    /// Write the result as JSON; `-` is standard output, in place of the summary.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the report, an HTML page that opens offline.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Use this program instead of the design's; of several groups of units or blocks, for the named one. Repeatable.
    #[arg(long = "program", value_name = "[GROUP=]FILE", value_parser = program)]
    pub programs: Vec<ForGroup<PathBuf>>,
    /// Files of tables.
    #[command(flatten)]
    pub tables: Tables,
    /// After the frames, write all tables of a service into this folder, for example `map=maps`. Repeatable.
    #[arg(long = "dump", value_name = "SERVICE=DIR", value_parser = table)]
    pub dumps: Vec<(String, PathBuf)>,
    /// Build the card with this many units; with several groups, in the named group. Repeatable.
    #[arg(long, value_name = "[GROUP=]COUNT", value_parser = units)]
    pub units: Vec<ForGroup<u32>>,
    /// Dispatch by this policy: round-robin, least-loaded, flow-hash or flow-hash-drop.
    #[arg(long, value_parser = policy)]
    pub policy: Option<Policy>,
    /// Halt this unit at its first instruction and wait for gdb at this port of the machine [default port: 3333]; the
    /// others go on
    ///
    /// The program with its symbols is then in the folder of --out: program.elf.
    #[arg(long, value_name = "UNIT[:PORT]", value_parser = Debugged::parse)]
    pub gdb: Option<Debugged>,
    /// Record waves (rtl) into an FST file.
    #[arg(long, value_name = "FILE")]
    pub wave: Option<PathBuf>,
    /// First cycle to record, counted from where the card begins to take frames.
    #[arg(long, default_value_t = 0, requires = "wave")]
    pub wave_from: u64,
    /// How many cycles to record.
    #[arg(long, default_value_t = 10_000, requires = "wave")]
    pub wave_cycles: u64,
    /// Write each frame's journey through the card (rtl) as a trace for ui.perfetto.dev or chrome://tracing.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
}

/// A target, as the command line names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TargetName {
    /// Native code.
    Soft,
    /// The card's RTL through Verilator.
    Rtl,
    /// A card behind a BAR, real or in simulation (docs/cards.md).
    Fpga,
}

impl From<TargetName> for Target {
    fn from(name: TargetName) -> Self {
        match name {
            TargetName::Soft => Self::Soft,
            TargetName::Rtl => Self::Rtl,
            TargetName::Fpga => Self::Fpga,
        }
    }
}

/// Why a run did not end well.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Card(#[from] CardError),
    #[error(transparent)]
    Capture(#[from] CaptureError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("--wave needs --target rtl: only the RTL has signals to record")]
    WaveOnSoft,
    #[error("--trace needs --target rtl: on soft a frame's way takes no time, and a card on fpga does not tell it")]
    TraceOnSoft,
    #[error("--card needs --target fpga")]
    CardElsewhere,
    #[error(transparent)]
    Place(#[from] NoPlace),
    #[error("--rate needs --target rtl or fpga, but for `turns`: soft takes frames as fast as it can")]
    RateOnSoft,
    #[error("--in {input}: `{port}` is no port, and there is no such file; give FILE@0, FILE@1, ... or FILE@host")]
    Port { input: String, port: String },
    /// Everything else was delivered and written.
    #[error("{}", .0.join("\nerror: "))]
    Faults(Vec<String>),
}

/// Runs the card. Faults that leave the rest of the run whole are reported after everything is written.
pub fn run(args: &Args, root: &Root) -> Result<(), RunError> {
    let target = Target::from(args.target);
    if args.wave.is_some() && target != Target::Rtl {
        return Err(RunError::WaveOnSoft);
    }
    if args.trace.is_some() && target != Target::Rtl {
        return Err(RunError::TraceOnSoft);
    }
    if args.rate.is_some_and(|rate| rate != Rate::Turns) && target == Target::Soft {
        return Err(RunError::RateOnSoft);
    }
    if args.card.is_some() && target != Target::Fpga {
        return Err(RunError::CardElsewhere);
    }
    let place = args.card.as_deref().map_or(Ok(Place::default()), str::parse)?;
    let change = Override {
        programs: args.programs.clone(),
        tables: args.tables.0.clone(),
        units: args.units.clone(),
        policy: args.policy,
        ..Override::default()
    };
    let card = Card::read(root, &args.design, change)?;
    let rate = args.rate.unwrap_or_else(|| card.design.default_rate(target));
    let (traffic, mut faults) = read_inputs(&args.inputs, args.part)?;
    let wave =
        args.wave.as_ref().map(|file| Wave { file: file.clone(), from: args.wave_from, cycles: args.wave_cycles });
    let recording = Recording { wave, hops: args.trace.is_some() };
    if let Some(image) = args.gdb.and_then(|debugged| card.image.of_unit(debugged.unit)) {
        files::make_folder(&args.out)?;
        files::write(&args.out.join("program.elf"), image.image.elf())?;
    }
    open_outputs(args)?;
    show::step(format_args!("captures are read"));
    let on = match target {
        Target::Fpga => On::Card(place),
        Target::Soft | Target::Rtl => On::Target(target, recording),
    };
    let run = card.carry_debugged(root, on, &traffic, rate, args.gdb, &args.dumps)?;

    let mut outcome = Outcome::new(&card.design, target, &traffic, &run);
    outcome.faults.append(&mut faults);
    write_outputs(&args.out, &card.design, &traffic, &run)?;
    if let Some(path) = &args.json {
        let text = serde_json::to_string_pretty(&outcome).map_err(|e| FileError::output(path, e.into()))?;
        if path.as_os_str() == STDOUT { say::text(&(text + "\n")) } else { files::write(path, text + "\n")? }
    }
    if let Some(path) = &args.report {
        let mut data = report::design(&card.design);
        data.runs.push(RunData::new(&card.design, &traffic, &run, &outcome));
        report::write(path, &data)?;
    }
    if let Some(path) = &args.trace {
        trace::write(path, &card.design, &traffic, &run).map_err(|e| FileError::output(path, e))?;
    }
    if !show::is_quiet() && args.json.as_ref().is_none_or(|path| path.as_os_str() != STDOUT) {
        outcome.log.iter().for_each(|line| say!("log: {line}"));
        say::text(&summary(&outcome, rate));
    }
    if outcome.faults.is_empty() { Ok(()) } else { Err(RunError::Faults(outcome.faults)) }
}

/// Finds out before a run, which may be long, whether its results can be written.
fn open_outputs(args: &Args) -> Result<(), RunError> {
    files::make_folder(&args.out)?;
    files::writable(&args.out.join(format!("{}.pcap", Port::Ethernet(0))))?;
    let single = [&args.json, &args.report, &args.trace].into_iter().flatten();
    single.filter(|path| path.as_os_str() != STDOUT).try_for_each(|path| files::writable(path))?;
    Ok(())
}

/// Frames of all captures, or a part of them, and the faults of damaged ones.
fn read_inputs(inputs: &[String], part: Option<Part>) -> Result<(Traffic, Vec<String>), RunError> {
    let mut traffic = Traffic::default();
    let mut faults = Vec::new();
    for input in inputs {
        let (path, port) = match input.rsplit_once('@').map(|(path, port)| (path, port, Port::parse(port))) {
            Some((path, _, Some(port))) => (path, port),
            Some((_, port, None)) if !Path::new(input).exists() => {
                return Err(RunError::Port { input: input.clone(), port: port.to_string() });
            }
            _ => (input.as_str(), Port::Ethernet(0)),
        };
        if path != capture::STDIN {
            files::readable(Path::new(path), files::CAPTURE)?;
        }
        let mut capture = capture::read(Path::new(path))?;
        match part {
            None => traffic.extend(&capture, port),
            Some(part) => {
                let frames = capture.frames().filter(|(_, bytes)| part.holds(bytes));
                frames.for_each(|(time_ns, bytes)| traffic.push(port, bytes, time_ns));
            }
        }
        faults.append(&mut capture.faults);
    }
    Ok((traffic, faults))
}

/// One capture per destination; they replace all captures of an earlier run.
fn write_outputs(folder: &Path, design: &Design, traffic: &Traffic, run: &Run) -> Result<(), RunError> {
    files::make_folder(folder)?;
    let time_ns = run.clock(traffic);
    for port in (0..MAX_PORTS).map(Port::Ethernet).chain([Port::Host]) {
        files::remove(&folder.join(format!("{port}.pcap")))?;
    }
    for port in (0..design.ports as u8).map(Port::Ethernet).chain([Port::Host]) {
        let departures = run.departures.iter().filter(|departure| departure.to == port);
        let frames = departures.map(|departure| (time_ns(departure), departure.bytes.as_slice()));
        capture::write(&folder.join(format!("{port}.pcap")), frames)?;
    }
    Ok(())
}

/// A summary of a run in a few lines; frames entered at `rate`.
pub fn summary(outcome: &Outcome, rate: Rate) -> String {
    let list = |items: Vec<(String, u64)>| {
        let words: Vec<_> = items
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|(name, count)| format!("{name} {}", grouped(count)))
            .collect();
        if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) }
    };
    let out = list(outcome.frames_out.iter().map(|(to, count)| (to.clone(), *count)).collect());
    let drops = list(outcome.drops.list().into_iter().map(|(reason, count)| (reason.to_string(), count)).collect());
    let made = match outcome.generated {
        0 => String::new(),
        count => format!(", {} made in the card", grouped(count)),
    };
    let taken = match outcome.total_out() {
        0 => String::new(),
        _ => format!("{:.2} Mpps, {:.2} Gb/s taken in, ", outcome.mpps, outcome.gbps),
    };
    let speed = match outcome.timing {
        Timing::Rtl { cycles, clock_mhz, latency_ns } => {
            let latency = latency_ns.map_or(String::new(), |Latency { p50, p99, max }| {
                format!("; latency at {rate}: p50 {p50:.0} ns, p99 {p99:.0} ns, max {max:.0} ns")
            });
            format!("{taken}{} cycles at {clock_mhz} MHz{latency}", grouped(cycles))
        }
        Timing::Soft { seconds } => format!("{taken}{seconds:.3} s of this machine"),
    };
    format!(
        "{} on {}: {} frames in{made}, {} out{out}, {} dropped{drops}\n{speed}\n",
        outcome.design,
        outcome.target,
        grouped(outcome.frames_in),
        grouped(outcome.total_out()),
        grouped(outcome.drops.total()),
    )
}

/// Parses [GROUP=]FILE.
pub fn program(text: &str) -> Result<ForGroup<PathBuf>, String> {
    let ForGroup { group, value } = ForGroup::parse(text);
    let missing = || format!("`{text}` is no program: write FILE, or GROUP=FILE");
    if value.is_empty() { Err(missing()) } else { Ok(ForGroup { group, value: value.into() }) }
}

/// Parses [GROUP=]COUNT.
pub fn units(text: &str) -> Result<ForGroup<u32>, String> {
    let ForGroup { group, value } = ForGroup::parse(text);
    let count = value.parse().map_err(|_| format!("`{text}` is no number of units: write COUNT, or GROUP=COUNT"));
    Ok(ForGroup { group, value: count? })
}

/// Parses a dispatch policy.
pub fn policy(word: &str) -> Result<Policy, String> {
    Policy::parse(word)
        .ok_or_else(|| format!("`{word}` is no policy: give round-robin, least-loaded, flow-hash or flow-hash-drop"))
}
