// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `rpu-generate`: how many frames a second the packet generator makes for two ports, with 16 units (section 6.1 has
//! them as the source of its traffic) and with one alone.

use penstock_bench::{BenchError, Lab, PORTS, SIZES, case, rates, throughput, wire};
use penstock_device::rtl::RtlDevice;
use penstock_device::{Device, ForGroup, Override, Rate, Traffic, regs, window};

use crate::paper;

/// Units of the cards that are measured.
pub(crate) const UNITS: [u32; 2] = [16, 1];
/// Shortest window, in cycles.
const WINDOW: u64 = 40_000;
/// Frames of a unit in the check, and the number for an endless stream.
const FEW: u32 = 20;
const ENDLESS: u32 = 0xFFFF;

/// Measures every size on 16 units, for which line rate is the goal, and on one.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    for units in lab.selection.units(&UNITS) {
        let programs = vec![ForGroup::only(lab.root.join("engines/rpu/programs/generator.c"))];
        let mut device = lab.shipped(
            "forward.toml",
            Override { units: vec![ForGroup::only(units)], programs, ..Override::default() },
        )?;
        for size in lab.selection.sizes(&SIZES) {
            check(&mut device, units, size)?;
            order(&mut device, units, size, ENDLESS)?;
            let window = rates::whole_frames(size, WINDOW);
            let seen = device.measure(&Traffic::default(), Rate::Line, rates::warmup(size), window)?;
            let left: u64 = seen.left.iter().map(|(frames, _)| frames).sum();
            let mpps = left as f64 * wire::CLOCK_MHZ / seen.cycles as f64;
            let line = rates::line(PORTS, size);
            let goals = [paper::paper_generate(units, size), (units == 16).then_some(line)];
            lab.report(&throughput("rpu-generate", &case(units, PORTS, size, "generator"), line, goals, mpps, size));
        }
    }
    Ok(())
}

/// Lets every unit make this many frames, for both ports in turn and as fast as it can.
fn order(device: &mut RtlDevice, units: u32, size: usize, frames: u32) -> Result<(), BenchError> {
    const BOTH_PORTS: u32 = 1 << 20;
    for unit in 0..units {
        window::write(device, unit, regs::UNIT_DEBUG_IN_H, &0u32.to_le_bytes())?;
        window::write(device, unit, regs::UNIT_DEBUG_IN_L, &(size as u32 | BOTH_PORTS).to_le_bytes())?;
        window::write(device, unit, regs::UNIT_DEBUG_IN_H, &frames.to_le_bytes())?;
    }
    Ok(())
}

/// The measured frames must be the ordered ones: a few frames of this size from each unit, half of them at each port.
/// Frames of the last measurement that are still in flight leave first.
fn check(device: &mut RtlDevice, units: u32, size: usize) -> Result<(), BenchError> {
    order(device, units, size, 0)?;
    device.run(&mut |_| {})?;
    order(device, units, size, FEW)?;
    let run = device.run(&mut |_| {})?;
    let sound = run.departures.iter().filter(|out| out.made_by.is_some() && out.bytes.len() == size).count() as u32;
    if sound != units * FEW || run.departures.len() as u32 != sound {
        let text = format!("{sound} frames of {size} bytes left, of {}", units * FEW);
        return Err(BenchError::Wrong("rpu-generate", text));
    }
    Ok(())
}
