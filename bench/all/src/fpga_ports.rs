// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `fpga-ports`: what the ports of a real card carry, with the smallest forwarder in the model of each shell.
//!
//! Frames enter and leave at the far ends of the MACs, whose clocks and cables run at the card's pace, and 100 ppm
//! faster and slower than that. No paper gives such figures; line rate without loss is the goal. The latency of the
//! same card on `rtl`, which has no MACs' clocks, is subtracted from that behind the MACs.

use std::collections::BTreeMap;

use penstock_bench::row::{Better::Lower, Row};
use penstock_bench::{BenchError, Card, Lab, PORTS, latency, parameters, rates, throughput, traffic, wire};
use penstock_device::fpga::{FpgaDevice, Shell};
use penstock_device::rtl::RtlDevice;
use penstock_device::{CLOCK_MHZ, Departure, Device, ForGroup, Latency, Override, Policy, Port, Rate, Traffic};
use serde_json::{Value, json};

/// Sizes of the frames, bytes without FCS.
pub(crate) const SIZES: [usize; 6] = [60, 64, 65, 128, 1500, 9000];

/// Units of the card: as many as line rate of two ports needs.
const UNITS: u32 = 16;
/// Bytes that a port of the card takes in a ns: 128 a cycle.
const PORT_BYTES_A_NS: f64 = 32.0;
/// Shortest window, in cycles.
const WINDOW: u64 = 40_000;
/// Cycles behind the window in which frames still enter: more than a frame takes through the card.
const BEHIND: u64 = 4_000;
/// Ports with traffic, and how much faster than the card the MACs are, in ppm.
const LOADS: [(u32, i32); 4] = [(PORTS, 0), (1, 0), (PORTS, 100), (PORTS, -100)];
/// Goal for the growth of the latency, ns: two cycles. If a card is 100 ppm too slow, it is 12 ns.
const GOAL_GROWTH_NS: f64 = 8.0;
/// Largest frames with this goal. A window has too few larger ones: the order in which they meet in the card decides.
const GROWTH_UP_TO: usize = 128;
/// Goal for the crossings' latency, ns, beside the times that the frame takes on the wire and at a port of the card: it
/// waits until a queue has all of it, once on each way.
const GOAL_ADDED_NS: f64 = 100.0;

/// Measures all sizes in each shell.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    let change =
        Override { policy: Some(Policy::RoundRobin), units: vec![ForGroup::only(UNITS)], ..Override::default() };
    let card = Card::read(lab.root, &lab.root.join("designs/forward.toml"), change)?;
    let mut plain = None;
    for shell in Shell::ALL {
        for (ports, drift) in LOADS {
            let mut device = None;
            for size in lab.selection.sizes(&SIZES) {
                let case = parameters(&[
                    ("shell", json!(shell.name())),
                    ("ports", json!(ports)),
                    ("drift_ppm", json!(drift)),
                    ("size", json!(size)),
                ]);
                if !lab.selection.takes(&case) {
                    continue;
                }
                let device = match &mut device {
                    Some(device) => device,
                    none => none.insert(lab.fpga(&card, shell, drift.into())?),
                };
                let mut rows = carried(device, &case, ports, drift, size)?;
                if (ports, drift) == LOADS[0] {
                    let plain = match &mut plain {
                        Some(plain) => plain,
                        none => none.insert(lab.rtl(&card)?),
                    };
                    rows.extend(added(device, plain, &case, size)?);
                }
                lab.report(&rows);
            }
        }
    }
    Ok(())
}

/// Throughput at line rate, frames that were lost, and how much longer frames take at the end of the window than at its
/// beginning: a card that is 100 ppm too slow loses frames only after a long time, and until then each waits longer.
fn carried(
    device: &mut FpgaDevice,
    case: &BTreeMap<String, Value>,
    ports: u32,
    drift: i32,
    size: usize,
) -> Result<Vec<Row>, BenchError> {
    let (warmup, window) = (2 * rates::warmup(size), rates::whole_frames(size, WINDOW));
    let frames = repeated(ports, size, warmup + window + BEHIND);
    device.send(&frames, Rate::Line)?;
    let run = device.run(&mut |_| {})?;
    if !run.faults.is_empty() {
        return Err(BenchError::Wrong("fpga-ports", run.faults.join("; ")));
    }
    let begin = run.start + warmup;
    let within = |from: u64, cycles: u64| {
        let range = begin + from..begin + from + cycles;
        run.departures.iter().filter(move |departure| range.contains(&departure.last))
    };
    let line = rates::line(ports, size) * (1.0 + f64::from(drift) * 1e-6);
    let mpps = within(0, window).count() as f64 * wire::CLOCK_MHZ / window as f64;
    let quarter = window / 4;
    let growth = median(within(window - quarter, quarter)) - median(within(0, quarter));
    let lost = frames.frames.len().saturating_sub(run.departures.len());
    let mut rows = throughput("fpga-ports", case, line, [None, Some(line)], mpps, size);
    rows.push(Row::new("fpga-ports", case, ("lost", "frames", Lower), [None, Some(0.0)], lost as f64));
    let goal = (size <= GROWTH_UP_TO).then_some(GOAL_GROWTH_NS);
    rows.push(Row::new("fpga-ports", case, ("growth_ns", "ns", Lower), [None, goal], growth));
    Ok(rows)
}

/// Frames of each port that fill it for so many cycles.
fn repeated(ports: u32, size: usize, cycles: u64) -> Traffic {
    let list = traffic::clean(ports, size);
    let each = list.frames.len() / ports as usize;
    let count = (cycles * wire::LINE_BYTES_A_CYCLE).div_ceil(wire::bytes(size)) as usize;
    let mut traffic = Traffic::default();
    for port in 0..ports as usize {
        for index in 0..count {
            traffic.push(Port::Ethernet(port as u8), list.frame(port * each + index % each), 0);
        }
    }
    traffic
}

/// Median latency, ns.
fn median<'a>(departures: impl Iterator<Item = &'a Departure>) -> f64 {
    Latency::of(departures.map(Departure::latency).collect(), CLOCK_MHZ).map_or(f64::NAN, |latency| latency.p50)
}

/// Latency of a frame that is alone in the card, from MAC to MAC, and what the crossings have of it.
fn added(
    device: &mut FpgaDevice,
    plain: &mut RtlDevice,
    case: &BTreeMap<String, Value>,
    size: usize,
) -> Result<Vec<Row>, BenchError> {
    let (Some(whole), Some(inside)) = (latency::measure(device, size)?, latency::measure(plain, size)?) else {
        return Err(BenchError::Wrong("fpga-ports", format!("no frame of {size} B left")));
    };
    let goal = GOAL_ADDED_NS + size as f64 * (8.0 / wire::LINE_GBPS + 1.0 / PORT_BYTES_A_NS);
    let row = |metric, goal, value| Row::new("fpga-ports", case, (metric, "ns", Lower), [None, goal], value);
    Ok(vec![row("latency_ns", None, whole), row("added_ns", Some(goal), whole - inside)])
}
