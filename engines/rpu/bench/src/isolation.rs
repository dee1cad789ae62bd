// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `rpu-isolation`: what units and exits lose beside a unit or an exit that does not do its work.
//!
//! Both ports receive 64-byte frames at line rate without a pause. The frames of the neighbours, which neither go
//! through the faulty unit nor to the faulty exit, are counted while the fault lasts, beside the same count without the
//! fault. A fault lasts from before the first frame on.

use std::collections::BTreeMap;

use penstock_bench::row::{
    Better::{Higher, Lower},
    Row,
};
use penstock_bench::{BenchError, Card, Lab, PORTS, parameters, rates, traffic, wire};
use penstock_device::rtl::RtlDevice;
use penstock_device::{Device, ForGroup, Override, Policy, Port, Rate, Traffic, regs, window};
use serde_json::{Value, json};

/// Units of the card that is measured.
pub(crate) const UNITS: [u32; 1] = [16];
/// Frame sizes that are measured.
pub(crate) const SIZES: [usize; 1] = [64];
/// Shortest window, in cycles.
const WINDOW: u64 = 40_000;
/// The faulty unit: not the first of its cluster.
const FAULTY: u32 = 1;
/// Every so many frames of a port are for the host where the host is an exit.
const TO_HOST_EVERY: usize = 8;
/// UDP destination port of these, and where it stands in a frame.
const TO_HOST: (std::ops::Range<usize>, u16) = (36..38, 54);

/// The behaviour of a unit: a debug word of engines/rpu/programs/neighbour.c.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Forward = 1,
    ForwardOrHost = 2,
    Drop = 3,
    Store = 4,
    StoreOnly = 5,
    Stop = 6,
}

/// What is wrong.
#[derive(Clone, Copy)]
enum Fault {
    Unit(Mode),
    Exit(Port),
}

/// Faults: name in the case, and what it is.
const FAULTS: [(&str, Fault); 5] = [
    ("unit that stores 2,048 words for each frame", Fault::Unit(Mode::Store)),
    ("unit that stores for ever", Fault::Unit(Mode::StoreOnly)),
    ("unit that is stuck", Fault::Unit(Mode::Stop)),
    ("host that takes nothing", Fault::Exit(Port::Host)),
    ("port that is paused", Fault::Exit(Port::Ethernet(1))),
];

const POLICIES: [(&str, Policy); 2] = [("round-robin", Policy::RoundRobin), ("flow-hash", Policy::FlowHash)];

/// Measures each fault under each policy.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    for units in lab.selection.units(&UNITS) {
        for size in lab.selection.sizes(&SIZES) {
            for (policy_name, policy) in POLICIES {
                for (beside, fault) in FAULTS {
                    let case =
                        parameters(&[("beside", json!(beside)), ("policy", json!(policy_name)), ("size", json!(size))]);
                    if lab.selection.takes(&case) {
                        lab.report(&rows(&case, lab, units, size, (policy, fault))?);
                    }
                }
            }
        }
    }
    Ok(())
}

/// Measures with a fault and without.
fn rows(
    case: &BTreeMap<String, Value>,
    lab: &Lab,
    units: u32,
    size: usize,
    (policy, fault): (Policy, Fault),
) -> Result<Vec<Row>, BenchError> {
    let frames = frames(fault, size);
    let mut healthy = open(lab, units, policy)?;
    // In turn, others take the frames of a unit that does not; by flow hash its frames are its own, and so counted in
    // neither run.
    let of_unit = match (fault, policy) {
        (Fault::Unit(_), Policy::FlowHash) => Mode::Drop,
        (Fault::Exit(Port::Host), _) => Mode::ForwardOrHost,
        _ => Mode::Forward,
    };
    let alone = measure(&mut healthy, units, &frames, size, fault, of_unit)?;
    let mut faulty = open(lab, units, policy)?;
    let of_unit = match fault {
        Fault::Unit(mode) => mode,
        Fault::Exit(exit) => {
            faulty.stop_exit(exit)?;
            of_unit
        }
    };
    let beside = measure(&mut faulty, units, &frames, size, fault, of_unit)?;
    // A bench without its fault would show the goal.
    if beside.moved * 10 > alone.moved {
        let (still, without) = (beside.moved, alone.moved);
        let text = format!("the faulty unit or exit moved {still} frames, and {without} without its fault");
        return Err(BenchError::Wrong("rpu-isolation", text));
    }
    let row = |metric, goal, value| Row::new("rpu-isolation", case, metric, [None, goal], value);
    Ok(vec![
        row(("mpps", "million frames/s of the neighbours", Higher), Some(alone.mpps), beside.mpps),
        row(("share", "of the neighbours' rate without the fault", Higher), Some(1.0), beside.mpps / alone.mpps),
        row(("overflow", "frames that found a port's ring full", Lower), Some(0.0), beside.overflow as f64),
        row(("policy", "frames for a unit that gave back no slot", Lower), None, beside.policy as f64),
    ])
}

/// A card whose units wait for the word that says what they are to do.
fn open(lab: &Lab, units: u32, policy: Policy) -> Result<RtlDevice, BenchError> {
    let change = Override {
        units: vec![ForGroup::only(units)],
        programs: vec![ForGroup::only(lab.root.join("engines/rpu/programs/neighbour.c"))],
        policy: Some(policy),
        ..Override::default()
    };
    lab.rtl(&Card::read(lab.root, &lab.root.join("designs/forward.toml"), change)?)
}

/// Frames of both ports, where the fault is the host's some of them for it.
fn frames(fault: Fault, size: usize) -> Traffic {
    let clean = traffic::clean(PORTS, size);
    if !matches!(fault, Fault::Exit(Port::Host)) {
        return clean;
    }
    let mut mixed = Traffic::default();
    for (index, frame) in clean.frames.iter().enumerate() {
        let mut bytes = clean.frame(index).to_vec();
        if index % TO_HOST_EVERY == 0 {
            bytes[TO_HOST.0].copy_from_slice(&TO_HOST.1.to_be_bytes());
        }
        mixed.push(frame.port, &bytes, frame.time_ns);
    }
    mixed
}

/// The frames so far that the faulty unit took or that left at the faulty exit.
fn moved(device: &mut RtlDevice, fault: Fault) -> Result<u64, BenchError> {
    Ok(match fault {
        Fault::Unit(_) => device.read_unit(FAULTY, regs::UNIT_RX_FRAMES)?.into(),
        Fault::Exit(Port::Host) => device.counters()?.host.tx_frames,
        Fault::Exit(Port::Ethernet(port)) => device.counters()?.ports[usize::from(port)].tx_frames,
    })
}

/// Rates and counts of a card in a window.
struct Seen {
    /// Frames of the neighbours that left, million a second.
    mpps: f64,
    /// Frames that found a port's ring full.
    overflow: u64,
    /// Frames that were dropped because their unit gave back no slot.
    policy: u64,
    /// Frames that the faulty unit took or that left at the faulty exit.
    moved: u64,
}

/// Measures one card. `of_unit` is the mode of the faulty unit, or, when an exit is faulty, of all units.
fn measure(
    device: &mut RtlDevice,
    units: u32,
    frames: &Traffic,
    size: usize,
    fault: Fault,
    of_unit: Mode,
) -> Result<Seen, BenchError> {
    for unit in 0..units {
        let is_healthy = matches!(fault, Fault::Unit(_)) && unit != FAULTY;
        let mode = if is_healthy { Mode::Forward } else { of_unit };
        window::write(device, unit, regs::UNIT_DEBUG_IN_L, &(mode as u32).to_le_bytes())?;
    }
    let (before, still) = (device.counters()?.drops(), moved(device, fault)?);
    let window = device.measure_stuck(frames, Rate::Line, rates::warmup(size), rates::whole_frames(size, WINDOW))?;
    let left = window.left.iter().enumerate().filter(|(port, _)| match fault {
        Fault::Exit(Port::Ethernet(stopped)) => *port != usize::from(stopped),
        _ => true,
    });
    let frames: u64 = left.map(|(_, (frames, _))| frames).sum();
    let after = device.counters()?.drops();
    Ok(Seen {
        mpps: frames as f64 * wire::CLOCK_MHZ / window.cycles as f64,
        overflow: after.overflow - before.overflow,
        policy: after.policy - before.policy,
        moved: moved(device, fault)? - still,
    })
}
