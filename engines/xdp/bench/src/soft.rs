// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `xdp-soft`: frames a second of XDP programs in native code, on one processor.
//!
//! Frames are in memory and are copied before each run, because programs change them. Maps are filled as in the
//! program's design in engines/xdp/bench/cards; entries that come from frames are there before the measurement begins.

use std::collections::BTreeMap;

use penstock_bench::row::{Better::Higher, Row};
use penstock_bench::{BenchError, Lab, parameters, soft, traffic};
use penstock_device::{Port, Root};
use penstock_xdp_soft::{Engine, Frame, Input};
use serde_json::json;

use crate::{programs, rate};

/// The project's goals.
const GOALS: [(&str, f64); 2] = [("xdp1", 10.0), ("simple_firewall", 5.0)];

/// Measures each program.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    for (name, _) in rate::PROGRAMS {
        let goal = GOALS.iter().find(|(with_goal, _)| *with_goal == name).map(|(_, mpps)| *mpps);
        let case = parameters(&[("program", json!(name)), ("size", json!(rate::SIZE))]);
        let mpps = measure(lab.root, name)?;
        lab.report(&[Row::new("xdp-soft", &case, ("mpps", "million frames/s", Higher), [None, goal], mpps)]);
    }
    Ok(())
}

/// Millions of frames a second.
fn measure(root: &Root, name: &'static str) -> Result<f64, BenchError> {
    let failed = |what: String| BenchError::Wrong(name, what);
    let (program, contents) = programs::loaded(root, name, None)?;
    let object = program.object();
    let mut engine = Engine::new(object, 1).map_err(|error| failed(error.to_string()))?;
    let entry = engine.load(object, program.name()).map_err(|error| failed(error.to_string()))?;
    let ids: BTreeMap<_, _> = object.maps.iter().map(|map| (&*map.name, engine.map(object, &map.name))).collect();
    programs::fill(name, engine.maps(), &contents, |map| *ids.get(map)?)?;
    let traffic = traffic::clean(programs::ports(name), rate::SIZE);
    let frames: Vec<(Frame, Input)> = traffic
        .frames
        .iter()
        .map(|frame| {
            let ifindex = if let Port::Ethernet(port) = frame.port { u32::from(port) + 1 } else { 0 };
            (Frame::new(traffic.bytes[frame.range.clone()].to_vec()), Input { ifindex, ..Input::default() })
        })
        .collect();
    let mut work = Frame::default();
    soft::mpps(frames.len(), || {
        for (frame, input) in &frames {
            work.data.clone_from(&frame.data);
            work.meta.clear();
            let verdict = engine.run(entry, &mut work, input).map_err(|error| failed(error.to_string()))?;
            if verdict.stopped {
                return Err(failed("it was stopped".into()));
            }
        }
        Ok(())
    })
}
