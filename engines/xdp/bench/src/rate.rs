// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `xdp-rate`: the number of 64-byte frames that XDP programs process each second (hXDP, section 4.3 and Figures 10,
//! 12, 13), on one unit at our clock and at the paper's, and on cards of many units; and the time of a frame in the
//! card (Figure 11). A frame counts when it enters a unit. A unit holds at most thirty-two frames, so this is the rate
//! at which it finishes them, dropped or sent.

use std::collections::BTreeMap;

use penstock_bench::row::{
    Better::{Higher, Lower},
    Row,
};
use penstock_bench::{BenchError, Lab, latency, parameters, rates, traffic, wire};
use penstock_device::{Device, Rate, window};
use serde_json::{Value, json};

use crate::programs;

/// The bench's name in its rows.
const BENCH: &str = "xdp-rate";
/// Units of the cards that are measured.
pub(crate) const UNITS: [u32; 5] = [1, 2, 4, 8, 16];
/// The size of the frames, and that of the firewall's frames, whose goal is line rate of a port.
pub(crate) const SIZE: usize = 64;
const SMALLEST: usize = 60;
/// Sizes of the frames whose time is measured.
pub(crate) const SIZES: [usize; 5] = [60, 64, 256, 512, 1500];
/// Window, in cycles.
const WINDOW: u64 = 40_000;
/// Clock of the paper's core, MHz.
const PAPER_MHZ: f64 = 156.25;

/// Programs, each the design of its name in engines/xdp/bench/cards, and the rates of the paper's core for them,
/// millions of frames a second.
pub(crate) const PROGRAMS: [(&str, f64); 12] = [
    ("drop", 52.0),
    ("tx", 22.5),
    ("redirect", 15.0),
    ("xdp1", 11.2),
    ("xdp2", 6.9),
    ("xdp_adjust_tail", 2.6),
    ("router_ipv4", 4.0),
    ("rxq_info", 9.9),
    ("tx_ip_tunnel", 2.4),
    ("redirect_map", 9.8),
    ("simple_firewall", 6.53),
    ("load_balancer", 2.9),
];
/// The program that is measured over all sizes.
const TIMED: &str = "redirect";

/// Measures each program on each card. The goals: on one unit what the paper's core would do at our clock, and of the
/// firewall on sixteen line rate of a port.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    for units in lab.selection.units(&UNITS) {
        for (name, paper) in PROGRAMS {
            if lab.selection.takes(&case(name, units, SIZE)) {
                lab.report(&rate(lab, name, units, SIZE, Some(paper))?);
            }
            if name == "simple_firewall" && lab.selection.takes(&case(name, units, SMALLEST)) {
                lab.report(&rate(lab, name, units, SMALLEST, None)?);
            }
        }
    }
    let timed: Vec<usize> =
        lab.selection.sizes(&SIZES).filter(|size| lab.selection.takes(&case(TIMED, 1, *size))).collect();
    if lab.selection.units(&[1]).next().is_some() && !timed.is_empty() {
        let mut device = programs::card(lab, TIMED, 1)?;
        for size in timed {
            if let Some(time) = latency::measure(&mut device, size)? {
                lab.report(&[Row::new(BENCH, &case(TIMED, 1, size), ("latency_ns", "ns", Lower), [None, None], time)]);
            }
        }
    }
    Ok(())
}

/// The rate of a program on this number of units.
fn rate(lab: &Lab, name: &str, units: u32, size: usize, paper: Option<f64>) -> Result<Vec<Row>, BenchError> {
    let mut device = programs::card(lab, name, units)?;
    let ports = programs::ports(name);
    let frames = traffic::clean(ports, size);
    let rows_before = rows(&mut device, units)?;
    let window = rates::whole_frames(size, WINDOW);
    let seen = device.measure(&frames, Rate::Line, rates::warmup(size), window)?;
    let all: u64 = device.counters()?.units.iter().map(|unit| unit.rx_frames).sum();
    let rows = rows(&mut device, units)?.wrapping_sub(rows_before);
    let (taken, cycles) = seen.taken;
    let mpps = taken as f64 * wire::CLOCK_MHZ / cycles as f64;
    let case = case(name, units, size);
    let line = rates::line(ports, size);
    let scaled = paper.map(|paper| (paper * wire::CLOCK_MHZ / PAPER_MHZ).min(line));
    let row = |metric, rates, value| Row::new(BENCH, &case, metric, rates, value);
    let mut result = vec![
        row(("mpps", "million frames/s", Higher), [None, if units == 1 { scaled } else { None }], mpps),
        row(("share", "of line rate", Higher), [None, None], mpps / line),
        row(("rows_a_frame", "rows carried out for a frame", Lower), [None, None], f64::from(rows) / all as f64),
    ];
    if units == 1 && paper.is_some() {
        let at = mpps * PAPER_MHZ / wire::CLOCK_MHZ;
        result.push(row(("mpps_at_156", "million frames/s at 156.25 MHz", Higher), [paper, None], at));
    }
    if paper.is_none() && units == 16 {
        result[0].goal = Some(line);
    }
    Ok(result)
}

fn case(name: &str, units: u32, size: usize) -> BTreeMap<String, Value> {
    parameters(&[("program", json!(name)), ("units", json!(units)), ("size", json!(size))])
}

/// Rows that all units have carried out, modulo 2^32.
fn rows(device: &mut impl Device, units: u32) -> Result<u32, BenchError> {
    let mut sum = 0u32;
    for unit in 0..units {
        let mut word = [0; 4];
        window::read(device, unit, penstock_xdp_soft::regs::XDP_HOST_ROWS, &mut word)?;
        sum = sum.wrapping_add(u32::from_le_bytes(word));
    }
    Ok(sum)
}
