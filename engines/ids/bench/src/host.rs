// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `ids-host`: the share of frames that the card tells the host, why, and the rules that the host evaluates for each.
//!
//! One frame at a time, so the host has answered before the next one comes. The alerts are those of native code, or the
//! bench fails, unless the host needed rows that the card's log no longer had.

use penstock_bench::row::{Better::Lower, Row};
use penstock_bench::{BenchError, Lab, parameters};
use penstock_device::rtl::RtlDevice;
use penstock_device::{Device, Port, Rate, Traffic};
use penstock_ids::{Bounds, Inspector};
use penstock_ids_host::Ask;
use penstock_ids_samples::Frame;
use serde_json::json;

use crate::card;
use crate::input::{Source, program, sample};

/// The bench's name in its rows.
const BENCH: &str = "ids-host";
const RULES: usize = 10_000;
const SOURCES: [Source; 2] = [Source::Sessions(1_448), Source::Captures];
/// Bytes of generated frames, and of each capture: simulation is slow.
const BYTES: usize = 400_000;
const CAPTURED: usize = 40_000;
/// Bytes of frames that a card takes: captures on a host may have longer ones.
const TAKEN: std::ops::RangeInclusive<usize> = 14..=16_384;
/// Figures of Pigasus, which are also ours to reach: % of the frames, rules of each.
const SHARE: f64 = 5.0;
const CANDIDATES: f64 = 1.1;
/// Reasons of a record by the names of their counters.
const REASONS: [&str; 8] = ["string", "unchecked", "order", "midstream", "fragment", "headers", "followed", "class"];

/// Measures all selected cases.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    let rules = sample(RULES);
    let mut device: Option<RtlDevice> = None;
    for source in SOURCES {
        let case = parameters(&[("rules", json!(RULES)), ("traffic", json!(source.name()))]);
        if !lab.selection.takes(&case) {
            continue;
        }
        let Some(mut frames) = source.some_frames(&rules, BYTES, CAPTURED)? else { continue };
        frames.retain(|frame| TAKEN.contains(&frame.bytes.len()));
        let opened = card::open(lab, device.take(), &rules, RULES)?;
        let told = measure(device.insert(opened), &frames)?;
        let mut inspector = Inspector::new(program(&rules)?, Bounds::default(), false);
        let carried = frames.iter().map(|frame| inspector.carry(&frame.bytes, 0, frame.time).alerts.len());
        let alerts: usize = carried.sum();
        if told.alerts != alerts && told.gone == 0 {
            let text = format!("{case:?}: {} alerts, and {alerts} of native code", told.alerts);
            return Err(BenchError::Wrong(BENCH, text));
        }
        let row = |metric: &str, unit: &str, figure: Option<f64>, value| {
            Row::new(BENCH, &case, (metric, unit, Lower), [figure, figure], value)
        };
        let share = |part: u64| 100.0 * part as f64 / told.frames as f64;
        let of_told = told.evaluated as f64 / told.told.max(1) as f64;
        let mut rows = vec![
            row("told", "% of the frames are told", Some(SHARE), share(told.told)),
            row("candidates", "rules for each told frame", Some(CANDIDATES), of_told),
            row("history", "% of the frames are read from the log for them", None, share(told.history)),
            row("gone", "% of the frames had rows that the log no longer had", None, share(told.gone)),
            row("missed", "alerts of native code and not of the card", None, alerts as f64 - told.alerts as f64),
        ];
        for (name, part) in REASONS.iter().zip(told.reasons).filter(|(_, part)| *part > 0) {
            let unit = format!("% of the frames have the reason {name}");
            rows.push(row(&format!("told_{name}"), &unit, None, share(part)));
        }
        lab.report(&rows);
    }
    Ok(())
}

/// Counts of a run.
struct Seen {
    frames: u64,
    told: u64,
    history: u64,
    gone: u64,
    evaluated: u64,
    alerts: usize,
    reasons: [u64; 8],
}

fn measure(device: &mut RtlDevice, frames: &[Frame]) -> Result<Seen, BenchError> {
    let mut traffic = Traffic::default();
    for frame in frames {
        traffic.push(Port::Ethernet(0), &frame.bytes, frame.time);
    }
    device.send(&traffic, Rate::Turns)?;
    let run = device.run(&mut |_| {})?;
    if run.departures.len() != frames.len() {
        return Err(BenchError::Wrong(BENCH, format!("{} of {} frames left", run.departures.len(), frames.len())));
    }
    let alerts = device.call(&Ask::Alerts.request())?;
    let stats = card::stats(device)?;
    let counter = |name: &str| card::counter(BENCH, &stats, name);
    if counter("lost_records")? > 0 {
        return Err(BenchError::Wrong(BENCH, "the queue of records was full".to_owned()));
    }
    let mut reasons = [0; 8];
    for (name, count) in REASONS.iter().zip(&mut reasons) {
        *count = counter(&format!("told_{name}"))?;
    }
    Ok(Seen {
        frames: counter("frames")?,
        told: counter("told")?,
        history: counter("history")?,
        gone: counter("gone")?,
        evaluated: stats["detect"]["evaluated"].as_u64().unwrap_or_default(),
        alerts: alerts.as_array().map_or(0, Vec::len),
        reasons,
    })
}
