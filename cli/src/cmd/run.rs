// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock run`: captures through a card, captures out.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::{Args as ClapArgs, ValueEnum};
use penstock_device::capture::{CaptureError, Packing};
use penstock_device::fpga::{NoPlace, Place};
use penstock_device::rtl::Wave;
use penstock_device::{
    Departure, Device, DeviceError, ForGroup, Latency, Outcome, Override, Part, Policy, Progress, Rate, Root, Run,
    Target, Timing, Work,
};
use penstock_engine::{note, say};
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::card::{Card, CardError, On, Simulation};
use crate::cmd::tables::{Tables, table};
use crate::dump;
use crate::files::{self, FileError};
use crate::gdb::{self, Debugged};
use crate::inputs::{InputError, Inputs};
use crate::outputs::{Out, OutputError, Outputs};
use crate::report::{self, Exits, RunData};
use crate::show::{self, Bar, grouped};
use crate::trace;

/// Standard output, where a file would be named.
const STDOUT: &str = "-";

/// Sends captures through a card and writes the frames that leave.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// Manifest of the card, for example designs/forward.toml.
    pub design: PathBuf,
    /// Capture, and where its frames enter: a port number (0 when not given) or `host`. Repeatable.
    ///
    /// pcap or pcapng, plain or compressed (gzip, Zstandard); `-` is standard input (/dev/stdin@1 at another port). The
    /// card reads a capture as it takes its frames, so it may be longer than the memory, or a pipe without an end:
    /// Ctrl-C ends the captures, and the run with the frames that have entered.
    #[arg(long = "in", value_name = "FILE[@PORT]", required = true)]
    pub inputs: Vec<String>,
    /// Only take a part of the frames, for example the second of four: `2/4`. All frames between two addresses are in
    /// one part, those without IP in the first.
    #[arg(long, value_name = "K/N")]
    pub part: Option<Part>,
    /// Folder for port0.pcap, port1.pcap, ... and host.pcap; or `-@PORT`, which writes the frames of one port to standard
    /// output and the summary to standard error
    #[arg(long, value_name = "DIR|-@PORT", value_parser = Out::parse, allow_hyphen_values = true)]
    pub out: Out,
    /// Compress the captures: port0.pcap.gz or port0.pcap.zst
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub compress: Option<Compression>,
    /// The target that runs the design.
    #[arg(long, value_enum, default_value_t = TargetName::Soft)]
    pub target: TargetName,
    /// Where the card is, on fpga: sim:SOCKET or pci:0000:81:00.0 [default: sim, a simulated card of its own]
    #[arg(long, value_name = "CARD")]
    pub card: Option<String>,
    /// How fast frames enter: `lossless` (line rate, but ports may pause), `line`, Gb/s a port, `captured` (at the
    /// times in the captures), or `turns` (one at a time) [default: lossless, for some engines turns]
    ///
    /// Latency depends on the rate: at line rate frames queue; a low rate, say 1, shows the latency of a card without
    /// load. With `captured`, on rtl only, the first frame enters at once and each other one as long after it as in the
    /// captures; a second of a capture is 250 million cycles of simulation. In `turns`, frames of all ports enter in the
    /// order of their times, each one when the one before has left or was dropped, and programs that read the time see
    /// that of the capture. Stateful programs therefore send the same frames on all targets. At the other rates soft
    /// takes frames as fast as it can.
    /// docs/clocks.md says which time programs see at other rates.
    #[arg(long)]
    pub rate: Option<Rate>,
    /// Write the result as JSON; `-` is standard output, in place of the summary.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the report, an HTML page that opens offline.
    ///
    /// On rtl and fpga it takes 24 bytes of memory for each frame that leaves.
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
    /// Share the simulation of card and units (rtl) among this many threads. Results stay the same.
    ///
    /// Each thread needs a processor of its own that is idle; on a machine with other work, one thread is faster.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=32), conflicts_with = "wave")]
    pub threads: u32,
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
    ///
    /// The journeys and the frames that leave stay in memory until the run ends.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
}

/// A compression, as the command line names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Compression {
    /// gzip.
    Gz,
    /// Zstandard.
    Zst,
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
pub(crate) enum RunError {
    #[error(transparent)]
    Card(#[from] CardError),
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    Input(#[from] InputError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error(transparent)]
    Capture(#[from] CaptureError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("waiting for Ctrl-C: {0}")]
    Signal(#[source] std::io::Error),
    #[error("--out {0}: standard output takes the frames of a port, and --{1} has no place; give --out a folder")]
    StdoutTaken(String, &'static str),
    #[error("--wave needs --target rtl: only the RTL has signals to record")]
    WaveOnSoft,
    #[error("--trace needs --target rtl: on soft a frame's way takes no time, and a card on fpga does not tell it")]
    TraceOnSoft,
    #[error("--threads needs --target rtl: soft runs on one thread, and a card on fpga is not simulated here")]
    ThreadsElsewhere,
    #[error("--card needs --target fpga")]
    CardElsewhere,
    #[error(transparent)]
    Place(#[from] NoPlace),
    #[error("--rate needs --target rtl or fpga, but for `turns`: soft takes frames as fast as it can")]
    RateOnSoft,
    /// Everything else was delivered and written.
    #[error("{}", .0.join("\nerror: "))]
    Faults(Vec<String>),
}

/// Runs the card. Faults that leave the rest of the run whole are reported after everything is written.
pub(crate) fn run(args: &Args, root: &Root) -> Result<(), RunError> {
    let target = Target::from(args.target);
    check(args, target)?;
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
    check_stdout(args)?;
    let packing = match args.compress {
        None => Packing::Plain,
        Some(Compression::Gz) => Packing::Gzip,
        Some(Compression::Zst) => Packing::Zstandard,
    };
    let stop = Arc::new(AtomicBool::new(false));
    let mut inputs = Inputs::open(&args.inputs, args.part, &stop)?;
    let wave =
        args.wave.as_ref().map(|file| Wave { file: file.clone(), from: args.wave_from, cycles: args.wave_cycles });
    let simulation = Simulation { wave, hops: args.trace.is_some(), threads: args.threads };
    open_outputs(args, card.design.ports, packing)?;
    if let (Out::Folder(folder), Some(debugged)) = (&args.out, args.gdb)
        && let Some(image) = card.image.of_unit(debugged.unit)
    {
        files::write(&folder.join("program.elf"), image.image.elf())?;
    }
    show::step(format_args!("captures are open"));
    let on = match target {
        Target::Fpga => On::Card(place),
        Target::Soft | Target::Rtl => On::Target(target, simulation),
    };
    let mut bar = Bar::new(card.design.units());
    let mut device = card.open(root, on, args.gdb, &mut |progress| bar.show(progress))?;
    inputs.stream(&mut *device, rate)?;
    show::step(format_args!("programs and tables are loaded"));

    let mut sinks = Sinks {
        outputs: Outputs::create(&args.out, card.design.ports, packing)?,
        exits: args.report.as_ref().map(|_| Exits::default()).filter(|_| target != Target::Soft),
        traced: args.trace.as_ref().map(|_| Vec::new()),
    };
    let mut shown = |progress: Progress| bar.show(progress);
    if let Some(debugged) = args.gdb {
        let served = gdb::debug_run(&mut *device, debugged, &debugged.listen().map_err(CardError::from)?, &mut shown);
        served.map_err(CardError::from)?;
    } else {
        stop_on_signals(&stop)?;
    }
    let carried = carry(&mut *device, &mut sinks, &mut shown);
    let Sinks { outputs, exits, traced } = sinks;
    // The captures are whole even if the run ended with an error.
    let finished = outputs.finish();
    let mut run = carried?;
    finished?;
    show::step(format_args!("{} frames have left", run.left.total()));
    args.dumps
        .iter()
        .try_for_each(|(service, folder)| dump::write(&mut *device, service, folder))
        .map_err(CardError::from)?;
    bar.finish();

    let mut outcome = Outcome::new(&card.design, target, &run);
    outcome.faults.append(&mut inputs.faults());
    if let Some(path) = &args.json {
        write_json(path, &outcome)?;
    }
    if let Some(path) = &args.report {
        let mut data = report::design(&card.design);
        data.runs.push(RunData::new(&card.design, &run, &outcome, exits.unwrap_or_default()));
        report::write(path, &data)?;
    }
    if let Some(path) = &args.trace {
        run.departures = traced.unwrap_or_default();
        trace::write(path, &card.design, &run, |index| inputs.number(index)).map_err(|e| FileError::output(path, e))?;
    }
    if inputs.are_stopped() {
        note!("the captures were not read to their ends: a signal stopped them");
    }
    if !show::is_quiet() && !args.prints_json() {
        let log: String = outcome.log.iter().map(|line| format!("log: {line}\n")).collect();
        let text = log + &summary(&outcome, rate);
        match args.out {
            Out::Folder(_) => say::text(&text),
            Out::Stdout(_) => say::notes(&text),
        }
    }
    if outcome.faults.is_empty() { Ok(()) } else { Err(RunError::Faults(outcome.faults)) }
}

impl Args {
    /// Whether the result goes to standard output, in place of the summary.
    fn prints_json(&self) -> bool {
        self.json.as_ref().is_some_and(|path| path.as_os_str() == STDOUT)
    }
}

/// Refuses options that the target does not have.
fn check(args: &Args, target: Target) -> Result<(), RunError> {
    if args.wave.is_some() && target != Target::Rtl {
        return Err(RunError::WaveOnSoft);
    }
    if args.trace.is_some() && target != Target::Rtl {
        return Err(RunError::TraceOnSoft);
    }
    if args.threads > 1 && target != Target::Rtl {
        return Err(RunError::ThreadsElsewhere);
    }
    if args.rate.is_some_and(|rate| rate != Rate::Turns) && target == Target::Soft {
        return Err(RunError::RateOnSoft);
    }
    if args.card.is_some() && target != Target::Fpga {
        return Err(RunError::CardElsewhere);
    }
    Ok(())
}

/// Refuses options that write to standard output when it takes the frames of a port.
fn check_stdout(args: &Args) -> Result<(), RunError> {
    let Out::Stdout(port) = args.out else { return Ok(()) };
    match args.prints_json().then_some("json -").or(args.gdb.map(|_| "gdb")) {
        Some(option) => {
            Err(RunError::StdoutTaken(format!("-@{}", port.to_string().trim_start_matches("port")), option))
        }
        None => Ok(()),
    }
}

/// Writes the result to a file or to standard output.
fn write_json(path: &Path, outcome: &Outcome) -> Result<(), FileError> {
    let text = serde_json::to_string_pretty(outcome).map_err(|e| FileError::output(path, e.into()))? + "\n";
    if path.as_os_str() == STDOUT {
        say::text(&text);
        return Ok(());
    }
    files::write(path, text)
}

/// The takers of the frames that leave.
struct Sinks {
    outputs: Outputs,
    /// For the report.
    exits: Option<Exits>,
    /// For the trace.
    traced: Option<Vec<Departure>>,
}

impl Sinks {
    fn take(&mut self, departures: Vec<Departure>) -> Result<(), CaptureError> {
        self.outputs.write(&departures)?;
        if let Some(exits) = &mut self.exits {
            departures.iter().for_each(|departure| exits.add(departure));
        }
        if let Some(traced) = &mut self.traced {
            traced.extend(departures);
        }
        Ok(())
    }
}

/// Carries what the captures bring, and passes on what leaves.
fn carry(device: &mut dyn Device, sinks: &mut Sinks, progress: &mut dyn FnMut(Progress)) -> Result<Run, RunError> {
    while device.work(progress)? == Work::Moving {
        sinks.take(device.take_departures())?;
    }
    let mut run = device.run(progress)?;
    sinks.take(std::mem::take(&mut run.departures))?;
    Ok(run)
}

/// From now on the first SIGINT or SIGTERM sets `stop`, and the second ends the program at once.
fn stop_on_signals(stop: &Arc<AtomicBool>) -> Result<(), RunError> {
    for signal in [SIGINT, SIGTERM] {
        let ends = signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, stop.clone());
        ends.and_then(|_| signal_hook::flag::register(signal, stop.clone())).map_err(RunError::Signal)?;
    }
    Ok(())
}

/// Finds out before a run, which may be long, whether its results can be written.
fn open_outputs(args: &Args, ports: u32, packing: Packing) -> Result<(), RunError> {
    args.out.check(ports, packing)?;
    let single = [&args.json, &args.report, &args.trace, &args.wave].into_iter().flatten();
    single.filter(|path| path.as_os_str() != STDOUT).try_for_each(|path| files::writable(path))?;
    args.dumps.iter().try_for_each(|(service, folder)| dump::check(service, folder)).map_err(CardError::from)?;
    Ok(())
}

/// A summary of a run in a few lines; frames entered at `rate`.
pub(crate) fn summary(outcome: &Outcome, rate: Rate) -> String {
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
pub(crate) fn program(text: &str) -> Result<ForGroup<PathBuf>, String> {
    let ForGroup { group, value } = ForGroup::parse(text);
    let missing = || format!("`{text}` is no program: write FILE, or GROUP=FILE");
    if value.is_empty() { Err(missing()) } else { Ok(ForGroup { group, value: value.into() }) }
}

/// Parses [GROUP=]COUNT.
pub(crate) fn units(text: &str) -> Result<ForGroup<u32>, String> {
    let ForGroup { group, value } = ForGroup::parse(text);
    let count = value.parse().map_err(|_| format!("`{text}` is no number of units: write COUNT, or GROUP=COUNT"));
    Ok(ForGroup { group, value: count? })
}

/// Parses a dispatch policy.
pub(crate) fn policy(word: &str) -> Result<Policy, String> {
    Policy::parse(word)
        .ok_or_else(|| format!("`{word}` is no policy: give round-robin, least-loaded, flow-hash or flow-hash-drop"))
}
