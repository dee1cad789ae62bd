// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `rpu-reload`: the time for which a unit gets no frames while its program and its tables are reloaded, and the effect
//! on the traffic.
//!
//! Both ports run at line rate without a pause, and the units are loaded one after the other: out of the dispatch,
//! drained, reset, written through the card's AXI4-Lite port (a word in some ten cycles), started, and back when its
//! slots are declared. The paper's figure (section 4.1) includes a partial reconfiguration of the unit's logic, which a
//! new program or table does not need here.

use penstock_bench::row::{
    Better::{Higher, Lower},
    Row,
};
use penstock_bench::{BenchError, Card, Lab, PORTS, case, rates, traffic, wire};
use penstock_device::{ForGroup, Override, Policy, Rate};

/// Units of the card that is measured.
pub(crate) const UNITS: [u32; 1] = [16];

/// Firmware: name in the case, manifest, frame size at which one unit less still carries line rate.
const FIRMWARE: [(&str, &str, usize); 2] = [("forward", "forward.toml", 64), ("firewall", "firewall.toml", 128)];
/// Frame sizes that are measured.
pub(crate) const SIZES: [usize; 2] = [FIRMWARE[0].2, FIRMWARE[1].2];

/// The paper's time from pause to boot, averaged over 320 loads, us.
const PAPER_US: f64 = 756_000.0;
/// The goal, us: a program is a few thousand words.
const GOAL_US: f64 = 1_000.0;

/// Reloads all units, for each firmware.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    for units in lab.selection.units(&UNITS) {
        for (firmware, manifest, size) in FIRMWARE {
            if lab.selection.sizes(&[size]).next().is_none() {
                continue;
            }
            let change = Override {
                units: vec![ForGroup::only(units)],
                policy: Some(Policy::RoundRobin),
                ..Override::default()
            };
            let card = Card::read(lab.root, &lab.root.join("designs").join(manifest), change)?;
            let frames = traffic::clean(PORTS, size);
            let seen = lab.rtl(&card)?.measure_reload(&frames, Rate::Line, rates::warmup(size), &card.image)?;
            let longest = seen.units.iter().max().copied().unwrap_or(0) as f64 / wire::CLOCK_MHZ;
            let share = seen.left as f64 * wire::CLOCK_MHZ / seen.cycles as f64 / rates::line(PORTS, size);
            let case = case(units, PORTS, size, firmware);
            let row = |metric, rates, value| Row::new("rpu-reload", &case, metric, rates, value);
            lab.report(&[
                row(
                    ("reload_us", "us without frames, the longest of the units", Lower),
                    [Some(PAPER_US), Some(GOAL_US)],
                    longest,
                ),
                row(("dropped", "frames", Lower), [None, Some(0.0)], seen.drops.total() as f64),
                row(("share", "of line rate meanwhile", Higher), [None, Some(1.0)], share),
            ]);
        }
    }
    Ok(())
}
