// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The time that a frame takes through a card with nothing else in it.

use penstock_device::{CLOCK_MHZ, Device, Latency, Port, Rate, Traffic};

use crate::{BenchError, PORTS, traffic};

/// Frames of each port.
const FRAMES: usize = 4;

/// The median time of frames of a size, ns, one at a time on each port.
pub fn measure(device: &mut dyn Device, size: usize) -> Result<Option<f64>, BenchError> {
    let frames = traffic::clean(PORTS, size);
    let mut latencies = Vec::new();
    for index in 0..FRAMES {
        latencies.extend(alone(device, &frames, index)?);
    }
    Ok(Latency::of(latencies, CLOCK_MHZ).map(|latency| latency.p50))
}

/// Cycles that one frame of each port takes through the card, with nothing else in it.
fn alone(device: &mut dyn Device, frames: &Traffic, index: usize) -> Result<Vec<u64>, BenchError> {
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
