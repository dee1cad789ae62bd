// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Converts the results of a device to the contents of the report.

use std::path::Path;

use penstock_device::{Counters, Departure, Design, Group, Outcome, Policy, PortCounters, Run, Timing};
use penstock_live::protocol::Status;

use super::data::{Exit, ReportData, RunData, Slow, StreamCounters, UnitCounters};
use super::flow::Flow;

/// A report about a design, without runs yet.
pub(crate) fn design(design: &Design) -> ReportData {
    let ports = format!("{} port{}", design.ports, if design.ports == 1 { "" } else { "s" });
    let policy = match design.policy {
        Policy::RoundRobin => "round robin",
        Policy::LeastLoaded => "least loaded",
        Policy::FlowHash => "flow hash",
        Policy::FlowHashDrop => "flow hash that drops",
    };
    let mut facts = vec![ports, policy.to_owned()];
    for Group { name, units, engine, program, part, .. } in &design.groups {
        let engine = engine.name();
        let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
        facts.push(format!("{name}{} {engine} unit{}", units.len(), if units.len() == 1 { "" } else { "s" }));
        facts.push(file_name(program));
        facts.extend(part.given_files().iter().map(|(table, path)| format!("{table}: {}", file_name(path))));
    }
    facts.push(format!("{} MHz", design.clock_mhz));
    ReportData { design: design.name.clone(), facts, ports: design.ports as usize, verdict: None, runs: Vec::new() }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

impl RunData {
    /// The results of a design on one target; `outcome` sums `run` up, and `exits` has the frames that left, if the
    /// target keeps time.
    pub(crate) fn new(design: &Design, run: &Run, outcome: &Outcome, exits: Exits) -> Self {
        let clock_mhz = match outcome.timing {
            Timing::Rtl { clock_mhz, .. } => Some(f64::from(clock_mhz)),
            Timing::Soft { .. } => None,
        };
        let (exits, slowest) = clock_mhz.map(|clock| exits.in_ns(clock)).unwrap_or_default();
        Self {
            target: outcome.target.to_string(),
            frames_in: outcome.frames_in,
            generated: outcome.generated,
            bytes_in: outcome.bytes_in,
            bytes_out: outcome.bytes_out,
            frames_out: outcome.frames_out.iter().map(|(to, n)| (to.clone(), *n)).collect(),
            drops: outcome.drops.list().iter().map(|(reason, n)| ((*reason).to_owned(), *n)).collect(),
            gbps: outcome.gbps,
            mpps: outcome.mpps,
            clock_mhz,
            cycles: run.cycles,
            seconds: Some(run.seconds),
            streams: run.counters.ports.iter().map(StreamCounters::from).collect(),
            host: (&run.counters.host).into(),
            loopback: (&run.counters.loopback).into(),
            units: run.counters.units.iter().map(UnitCounters::from).collect(),
            groups: design.groups.iter().flat_map(|group| vec![group.name.clone(); group.units.len()]).collect(),
            faults: outcome.faults.clone(),
            exits,
            slowest,
        }
    }
}

impl RunData {
    /// A card that is up, as far as its drawing needs it.
    pub(crate) fn live(status: &Status, counters: &Counters) -> Self {
        let lanes = || counters.ports.iter().chain([&counters.host]);
        Self {
            target: "soft".to_owned(),
            frames_in: lanes().map(|lane| lane.rx_frames).sum(),
            generated: counters.units.iter().map(|unit| unit.generated).sum(),
            streams: counters.ports.iter().map(StreamCounters::from).collect(),
            host: (&counters.host).into(),
            loopback: (&counters.loopback).into(),
            units: counters.units.iter().map(UnitCounters::from).collect(),
            groups: status.units.iter().map(|unit| unit.group.clone()).collect(),
            ..Self::default()
        }
    }
}

/// Frames in the list of the slowest.
const SLOWEST: usize = 12;

/// The frames that left a card, collected while they leave: 24 bytes each, and the slowest with their flows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Exits {
    /// With cycles in place of ns.
    exits: Vec<Exit>,
    /// The slowest first; of equally slow ones the first that left.
    slowest: Vec<Slow>,
}

impl Exits {
    /// All frames that left.
    pub(crate) fn of(departures: &[Departure]) -> Self {
        let mut exits = Self::default();
        departures.iter().for_each(|departure| exits.add(departure));
        exits
    }

    /// Adds a frame that left after all others.
    pub(crate) fn add(&mut self, d: &Departure) {
        let exit = Exit { entered_ns: d.entered as f64, left_ns: d.last as f64, bytes: d.bytes.len() as u32 };
        self.exits.push(exit);
        let place = self.slowest.partition_point(|slow| slow.exit.latency_ns() >= exit.latency_ns());
        if place == SLOWEST {
            return;
        }
        self.slowest.truncate(SLOWEST - 1);
        let source = match (d.made_by, d.from) {
            (Some(maker), _) => maker.to_string(),
            (None, Some(port)) => port.to_string(),
            (None, None) => String::new(),
        };
        let (destination, flow) = (d.to.to_string(), Flow::of(&d.bytes).to_string());
        self.slowest.insert(place, Slow { exit, source, destination, flow });
    }

    /// The frames with times since the first of them entered, and the slowest of them.
    fn in_ns(mut self, clock_mhz: f64) -> (Vec<Exit>, Vec<Slow>) {
        let start = self.exits.iter().map(|exit| exit.entered_ns).fold(f64::INFINITY, f64::min);
        for exit in self.exits.iter_mut().chain(self.slowest.iter_mut().map(|slow| &mut slow.exit)) {
            exit.entered_ns = (exit.entered_ns - start) * 1e3 / clock_mhz;
            exit.left_ns = (exit.left_ns - start) * 1e3 / clock_mhz;
        }
        (self.exits, self.slowest)
    }
}

impl From<&PortCounters> for StreamCounters {
    fn from(c: &PortCounters) -> Self {
        Self {
            rx_frames: c.rx_frames,
            rx_bytes: c.rx_bytes,
            rx_drops: c.drop_overflow
                + c.drop_oversize
                + c.drop_runt
                + c.drop_damaged
                + c.drop_disabled
                + c.drop_policy,
            rx_stalls: c.rx_stalls,
            tx_frames: c.tx_frames,
            tx_bytes: c.tx_bytes,
            tx_stalls: c.tx_stalls,
        }
    }
}

impl From<&penstock_device::UnitCounters> for UnitCounters {
    fn from(c: &penstock_device::UnitCounters) -> Self {
        Self {
            rx_frames: c.rx_frames,
            rx_bytes: c.rx_bytes,
            tx_frames: c.tx_frames,
            blocked: c.blocked,
            generated: c.generated,
        }
    }
}
