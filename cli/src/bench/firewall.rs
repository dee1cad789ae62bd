// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `rpu-firewall`: how many frames a second the firewall judges against 1,050 prefixes (section 7.2).
//!
//! A few frames in a hundred come from blocked sources, as in the paper, and never leave; the rate counts them too, by
//! the known share of clean frames among those offered.

use std::path::PathBuf;

use penstock_device::rtl::RtlDevice;
use penstock_device::{Device, ForGroup, Override, Rate, Root, Traffic};

use super::forward::warmup;
use super::row::Row;
use super::{BenchError, PORTS, SIZES, Selection, card, case, rates, throughput, traffic};
use crate::{files, wire};

/// Units of the cards that are measured.
pub const UNITS: [u32; 1] = [16];
/// Prefixes of the list.
const PREFIXES: usize = 1050;
/// Shortest frames that are measured.
pub const MIN_SIZE: usize = 64;
/// Shortest window, in cycles.
const WINDOW: u64 = 40_000;

/// Firmware: name in the case, manifest, smallest size at which line rate is the goal.
const FIRMWARE: [(&str, &str, usize); 2] =
    [("firewall", "firewall.toml", 64), ("firewall_compat", "firewall-compat.toml", 128)];

/// Measures every size from 64 bytes on 16 units and two ports, with our firmware and with Rosebud's interface.
pub fn run(root: &Root, selection: &Selection, report: &mut dyn FnMut(&[Row])) -> Result<(), BenchError> {
    let (text, blocked) = traffic::block_list(PREFIXES);
    let list = write_list(root, &text)?;
    for units in selection.units(&UNITS) {
        for (firmware, manifest, goal_from) in FIRMWARE {
            let tables = [("ip_prefix".to_string(), list.clone())].into();
            let mut device =
                card(root, manifest, Override { units: vec![ForGroup::only(units)], tables, ..Override::default() })?;
            check(&mut device, &traffic::mixed(PORTS, 64, &blocked))?;
            for size in selection.sizes(&SIZES).filter(|size| *size >= MIN_SIZE) {
                let frames = traffic::mixed(PORTS, size, &blocked);
                let window = traffic::whole_lists(size, WINDOW);
                let seen = device.measure(&frames, Rate::Line, warmup(size), window)?;
                let left: u64 = seen.left.iter().map(|(frames, _)| frames).sum();
                let mpps = left as f64 / traffic::clean_share() * wire::CLOCK_MHZ / seen.cycles as f64;
                let line = rates::line(PORTS, size);
                let goals = [rates::paper_firewall(size), (size >= goal_from).then_some(line)];
                report(&throughput("rpu-firewall", &case(units, PORTS, size, firmware), line, goals, mpps, size));
            }
        }
    }
    Ok(())
}

/// A card that lets everything through, or nothing, is fast and worthless: before it is measured, exactly the frames of
/// clean sources must come out.
fn check(device: &mut RtlDevice, frames: &Traffic) -> Result<(), BenchError> {
    device.send(frames, Rate::Lossless)?;
    let run = device.run(&mut |_| {})?;
    let clean = (frames.frames.len() as f64 * traffic::clean_share()).round() as usize;
    let blocked = (frames.frames.len() - clean) as u64;
    if run.departures.len() == clean && run.drops.blocked == blocked && run.drops.total() == blocked {
        return Ok(());
    }
    let text = format!(
        "of {clean} clean frames and {blocked} of blocked sources, {} left and {} were blocked",
        run.departures.len(),
        run.drops.blocked
    );
    Err(BenchError::Wrong("rpu-firewall", text))
}

fn write_list(root: &Root, text: &str) -> Result<PathBuf, BenchError> {
    let folder = root.path().join("build/bench");
    let path = folder.join("blocklist-1050.txt");
    files::make_folder(&folder)?;
    files::write(&path, text)?;
    Ok(path)
}
