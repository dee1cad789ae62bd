// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Converts the results of a device to the contents of the report.

use std::path::Path;

use penstock_device::{Counters, Departure, Design, Group, Outcome, Policy, PortCounters, Run, Timing, Traffic};
use penstock_live::protocol::Status;

use super::data::{Exit, ReportData, RunData, StreamCounters, UnitCounters};
use super::flow::Flow;

/// A report about a design, without runs yet.
pub fn design(design: &Design) -> ReportData {
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
    /// The results of a design on one target with `traffic`; `outcome` sums `run` up.
    pub fn new(design: &Design, traffic: &Traffic, run: &Run, outcome: &Outcome) -> Self {
        let clock_mhz = match outcome.timing {
            Timing::Rtl { clock_mhz, .. } => Some(f64::from(clock_mhz)),
            Timing::Soft { .. } => None,
        };
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
            exits: clock_mhz.map_or_else(Vec::new, |clock| exits(traffic, &run.departures, clock)),
        }
    }
}

impl RunData {
    /// A card that is up, as far as its drawing needs it.
    pub fn live(status: &Status, counters: &Counters) -> Self {
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

/// The frames that left, with times since the first of them entered.
fn exits(traffic: &Traffic, departures: &[Departure], clock_mhz: f64) -> Vec<Exit> {
    let start = departures.iter().map(|d| d.entered).min().unwrap_or(0);
    let ns = |cycle: u64| (cycle - start) as f64 * 1e3 / clock_mhz;
    let exit = |d: &Departure| Exit {
        entered_ns: ns(d.entered),
        left_ns: ns(d.last),
        bytes: d.bytes.len() as u32,
        source: match (d.made_by, d.input) {
            (Some(maker), _) => maker.to_string(),
            (None, Some(index)) => traffic.frames[index].port.to_string(),
            (None, None) => String::new(),
        },
        destination: d.to.to_string(),
        flow: Flow::of(&d.bytes).to_string(),
    };
    departures.iter().map(exit).collect()
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
