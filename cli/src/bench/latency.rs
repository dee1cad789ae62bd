// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `rpu-latency`: time from a frame's first beat in to its last beat out under low load (Figure 7 c, Equation 1).
//!
//! Low load is one frame at a time on each port. Both edges move beats at line rate, so the time includes the same
//! parts as Equation 1: the frame's time on the wire in and out.

use penstock_device::rtl::RtlDevice;
use penstock_device::{CLOCK_MHZ, Device, ForGroup, Latency, Override, Port, Rate, Root, Traffic};

use super::row::{Better::Lower, Row};
use super::{BenchError, PORTS, SIZES, Selection, card, case, rates, traffic};

/// Units of the cards that are measured.
pub const UNITS: [u32; 1] = [16];
/// Frames of each port.
const FRAMES: usize = 4;

/// Goal for 64 bytes and less, ns.
const GOAL_SMALL_NS: f64 = 500.0;

/// Measures every size on 16 units and two ports. The value is the median.
pub fn run(root: &Root, selection: &Selection, report: &mut dyn FnMut(&[Row])) -> Result<(), BenchError> {
    for units in selection.units(&UNITS) {
        let mut device =
            card(root, "forward.toml", Override { units: vec![ForGroup::only(units)], ..Override::default() })?;
        for size in selection.sizes(&SIZES) {
            let Some(time) = measure(&mut device, size)? else { continue };
            let paper = rates::paper_latency(size);
            let goal = if size <= 64 { paper.min(GOAL_SMALL_NS) } else { paper };
            let case = case(units, PORTS, size, "forward");
            report(&[Row::new("rpu-latency", &case, ("latency_ns", "ns", Lower), [Some(paper), Some(goal)], time)]);
        }
    }
    Ok(())
}

/// The median time of frames of a size, ns, one at a time on each port.
pub fn measure(device: &mut RtlDevice, size: usize) -> Result<Option<f64>, BenchError> {
    let frames = traffic::clean(PORTS, size);
    let mut latencies = Vec::new();
    for index in 0..FRAMES {
        latencies.extend(alone(device, &frames, index)?);
    }
    Ok(Latency::of(latencies, CLOCK_MHZ).map(|latency| latency.p50))
}

/// Cycles that one frame of each port takes through the card, with nothing else in it.
fn alone(device: &mut RtlDevice, frames: &Traffic, index: usize) -> Result<Vec<u64>, BenchError> {
    let mut few = Traffic::default();
    for port in 0..PORTS as usize {
        let number = port * frames.frames.len() / PORTS as usize + index;
        few.push(Port::Ethernet(port as u8), frames.frame(number), 0);
    }
    device.send(&few, Rate::Lossless)?;
    let run = device.run(&mut |_| {})?;
    if run.departures.len() != few.frames.len() {
        let text = format!("{} of {} frames left", run.departures.len(), few.frames.len());
        return Err(BenchError::Wrong("latency", text));
    }
    Ok(run.departures.iter().map(|departure| departure.latency()).collect())
}
