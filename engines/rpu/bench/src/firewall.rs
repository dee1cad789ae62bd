// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `rpu-firewall`: how many frames a second the firewall judges against 1,050 prefixes (section 7.2).
//!
//! A few frames in a hundred come from blocked sources, as in the paper, and never leave; the rate counts them too, by
//! the known share of clean frames among those offered.

use std::path::PathBuf;

use penstock_bench::{BenchError, Lab, PORTS, SIZES, case, rates, throughput, traffic, wire};
use penstock_device::rtl::RtlDevice;
use penstock_device::{Device, ForGroup, Override, Rate, Root, Traffic, files};

use crate::paper;

/// Units of the cards that are measured.
pub(crate) const UNITS: [u32; 1] = [16];
/// Prefixes of the list.
const PREFIXES: usize = 1050;
/// Sizes that are measured.
pub(crate) const FROM_64: &[usize] = SIZES.split_at(1).1;
/// Shortest window, in cycles.
const WINDOW: u64 = 40_000;

/// Firmware: name in the case, manifest, smallest size at which line rate is the goal.
const FIRMWARE: [(&str, &str, usize); 2] =
    [("firewall", "firewall.toml", 64), ("firewall_compat", "firewall-compat.toml", 128)];

/// Measures every size from 64 bytes on 16 units and two ports, with our firmware and with Rosebud's interface.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    let (list, blocked) = written_list(lab.root)?;
    for units in lab.selection.units(&UNITS) {
        for (firmware, manifest, goal_from) in FIRMWARE {
            let tables = [("ip_prefix".to_string(), list.clone())].into();
            let mut device =
                lab.shipped(manifest, Override { units: vec![ForGroup::only(units)], tables, ..Override::default() })?;
            check(&mut device, &traffic::mixed(PORTS, 64, &blocked))?;
            for size in lab.selection.sizes(FROM_64) {
                let frames = traffic::mixed(PORTS, size, &blocked);
                let window = traffic::whole_lists(size, WINDOW);
                let seen = device.measure(&frames, Rate::Line, rates::warmup(size), window)?;
                let left: u64 = seen.left.iter().map(|(frames, _)| frames).sum();
                let mpps = left as f64 / traffic::clean_share() * wire::CLOCK_MHZ / seen.cycles as f64;
                let line = rates::line(PORTS, size);
                let goals = [paper::paper_firewall(size), (size >= goal_from).then_some(line)];
                lab.report(&throughput("rpu-firewall", &case(units, PORTS, size, firmware), line, goals, mpps, size));
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

/// Writes the block list to a file. Gives its path, and an address in each of its prefixes.
pub(crate) fn written_list(root: &Root) -> Result<(PathBuf, Vec<u32>), BenchError> {
    let (text, blocked) = block_list(PREFIXES);
    let folder = root.path().join("build/bench");
    let path = folder.join("blocklist-1050.txt");
    files::make_folder(&folder)?;
    files::write(&path, text)?;
    Ok((path, blocked))
}

/// A block list of `count` prefixes of 16 to 32 bits, none of which holds a clean source, and an address in each.
fn block_list(count: usize) -> (String, Vec<u32>) {
    let mut state: u32 = 0x2545_F491;
    let mut next = || {
        // Marsaglia's xorshift: the same list every time.
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    };
    let mut text = String::from("# Generated for the firewall bench.\n");
    let mut inside = Vec::new();
    while inside.len() < count {
        let (address, length) = (next(), 16 + next() % 17);
        let first = address >> 24;
        if !(1..=223).contains(&first) || address >> 17 == traffic::CLEAN >> 17 {
            continue;
        }
        let network = address & (u32::MAX << (32 - length));
        text += &format!("{}/{length}\n", std::net::Ipv4Addr::from(network));
        inside.push(address);
    }
    (text, inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_inside_their_prefixes_and_clean_sources_are_not() {
        let (text, inside) = block_list(1050);
        let prefixes: Vec<(u32, u32)> = text
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| {
                let (address, length) = line.split_once('/').unwrap();
                (u32::from(address.parse::<std::net::Ipv4Addr>().unwrap()), length.parse().unwrap())
            })
            .collect();
        let holds = |prefix: &(u32, u32), address: u32| (prefix.0 ^ address).leading_zeros() >= prefix.1;
        assert_eq!((prefixes.len(), inside.len()), (1050, 1050));
        assert!(prefixes.iter().zip(&inside).all(|(prefix, address)| holds(prefix, *address)));
        assert!(
            (traffic::CLEAN..traffic::CLEAN + 122).all(|source| !prefixes.iter().any(|prefix| holds(prefix, source)))
        );
    }
}
