// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `rpu-soft`: frames a second of whole cards in native code, on one processor.
//!
//! Frames are in memory. The measured time covers all that a run does with them: the flow hash, dispatch, the copy into
//! a slot, the program's instructions, its accelerators, and the copy of what leaves.

use penstock_bench::row::{Better::Higher, Row};
use penstock_bench::{BenchError, Card, Lab, PORTS, parameters, soft, traffic};
use penstock_device::{Device, ForGroup, Override, Rate, SoftDevice, Traffic};
use serde_json::json;

use crate::firewall;

/// Units of the cards that are measured.
pub(crate) const UNITS: [u32; 2] = [1, 16];

/// Bytes of a frame without FCS.
const SIZE: usize = 64;

/// The project's goal for the forwarder, in million frames a second.
const GOAL: f64 = 10.0;

/// Frames in one run, at least: its begin and end do not count then.
const FRAMES: usize = 10_000;

/// Frames that are timed at once, at least.
const TIMED: usize = 1_000_000;

/// Designs, each with its goal.
const DESIGNS: [(&str, Option<f64>); 4] =
    [("forward", Some(GOAL)), ("fingerprint", None), ("firewall", None), ("firewall-compat", None)];

/// Measures the forwarder, and programs with more work.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    let (list, blocked) = firewall::written_list(lab.root)?;
    for (name, goal) in DESIGNS {
        for units in lab.selection.units(&UNITS) {
            let case = parameters(&[("program", json!(name)), ("units", json!(units)), ("size", json!(SIZE))]);
            if !lab.selection.takes(&case) {
                continue;
            }
            let is_firewall = name.starts_with("firewall");
            let tables = is_firewall.then(|| ("ip_prefix".to_string(), list.clone())).into_iter().collect();
            let change = Override { units: vec![ForGroup::only(units)], tables, ..Override::default() };
            let card = Card::read(lab.root, &lab.root.join(format!("designs/{name}.toml")), change)?;
            let mut device = SoftDevice::open(&card.design)?;
            device.load(&card.image)?;
            let frames = repeated(&traffic::mixed(PORTS, SIZE, if is_firewall { &blocked } else { &[] }));
            let mpps = soft::mpps_of(TIMED, frames.frames.len(), || run_once(&mut device, name, &frames))?;
            lab.report(&[Row::new("rpu-soft", &case, ("mpps", "million frames/s", Higher), [None, goal], mpps)]);
        }
    }
    Ok(())
}

/// The frames so often that a run takes a while.
fn repeated(frames: &Traffic) -> Traffic {
    let mut all = Traffic::default();
    while all.frames.len() < FRAMES {
        all.append(frames);
    }
    all
}

/// Carries the frames through the card. A card that loses some would be fast and worthless.
fn run_once(device: &mut SoftDevice, name: &'static str, frames: &Traffic) -> Result<(), BenchError> {
    device.send(frames, Rate::Lossless)?;
    let run = device.run(&mut |_| {})?;
    match run.departures.len() as u64 + run.drops.blocked == frames.frames.len() as u64 && run.faults.is_empty() {
        true => Ok(()),
        false => {
            let text = format!(
                "of {} frames, {} left and {} were blocked",
                frames.frames.len(),
                run.departures.len(),
                run.drops.blocked
            );
            Err(BenchError::Wrong(name, text))
        }
    }
}
