// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `rmt-rate`: frames a second through a pipeline of five stages, by program, ports, size and tenants.
//!
//! Each frame is changed and leaves at the port that it did not enter at; the bench fails if one is dropped. The paper's
//! figure is that of optimized Menshen on Corundum: 100 Gb/s from 256 bytes (section 3.5.2).

use std::collections::BTreeMap;

use penstock_bench::row::{Better::Higher, Row};
use penstock_bench::{BenchError, Lab, parameters, rates, wire};
use penstock_device::Rate;
use penstock_device::rtl::RtlDevice;
use serde_json::{Value, json};

use crate::card::{self, ACL, NETCHAIN, Program, ROUTER, STAGES, TENANTS};
use crate::load;

/// The bench's name in its rows.
const BENCH: &str = "rmt-rate";
/// Cycles of the window at least.
const WINDOW: u64 = 20_000;
/// Frame size from which the paper's pipeline is at line rate of its port.
const PAPER_FROM: usize = 256;
/// Goal for programs with registers, Mpps: a frame a cycle.
const STATEFUL_GOAL: f64 = 250.0;

/// A case: program, ports, frame size without FCS, tenants that take turns.
#[derive(Debug, Clone, Copy)]
struct Case {
    program: Program,
    ports: u8,
    size: usize,
    tenants: u16,
}

const BASE: Case = Case { program: ROUTER, ports: 2, size: 64, tenants: 1 };

const CASES: [Case; 16] = [
    Case { ports: 1, ..BASE },
    Case { ports: 1, size: 256, ..BASE },
    Case { ports: 1, size: 1500, ..BASE },
    Case { size: 60, ..BASE },
    BASE,
    Case { size: 65, ..BASE },
    Case { size: 81, ..BASE },
    Case { size: 128, ..BASE },
    Case { size: 256, ..BASE },
    Case { size: 512, ..BASE },
    Case { size: 1500, ..BASE },
    Case { size: 9000, ..BASE },
    Case { tenants: 8, ..BASE },
    Case { tenants: TENANTS, ..BASE },
    Case { program: ACL, ..BASE },
    Case { program: NETCHAIN, ..BASE },
];

impl Case {
    fn parameters(self) -> BTreeMap<String, Value> {
        let Self { program, ports, size, tenants } = self;
        parameters(&[
            ("program", json!(program.name)),
            ("ports", json!(ports)),
            ("size", json!(size)),
            ("tenants", json!(tenants)),
        ])
    }

    /// Mpps of the paper, and our goal.
    fn figures(self) -> [Option<f64>; 2] {
        let line = rates::line(self.ports.into(), self.size);
        let goal = if self.program.stateful { line.min(STATEFUL_GOAL) } else { line };
        let of_paper = self.size >= PAPER_FROM && self.size <= 1500 && !self.program.stateful;
        [of_paper.then(|| rates::line(1, self.size)), Some(goal)]
    }
}

/// Measures all selected cases.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    let mut open: Option<(Program, u16, RtlDevice)> = None;
    for case in CASES.into_iter().filter(|case| lab.selection.takes(&case.parameters())) {
        let mut device = match open.take() {
            Some((program, tenants, device)) if (program.name, tenants) == (case.program.name, case.tenants) => device,
            _ => card::open(lab, STAGES, case.program, case.tenants)?,
        };
        let rate = measure(&mut device, case)?;
        open = Some((case.program, case.tenants, device));
        let parameters = case.parameters();
        let row = |metric, unit, figures, value| Row::new(BENCH, &parameters, (metric, unit, Higher), figures, value);
        let line = rates::line(case.ports.into(), case.size);
        lab.report(&[
            row("mpps", "million frames/s", case.figures(), rate),
            row("share", "of line rate", [None, None], rate / line),
        ]);
    }
    Ok(())
}

/// Millions of frames a second.
fn measure(device: &mut RtlDevice, case: Case) -> Result<f64, BenchError> {
    let Case { program, ports, size, tenants } = case;
    let traffic = load::traffic(program, ports, tenants, size);
    let window = rates::whole_frames(size, WINDOW);
    let seen = device.measure(&traffic, Rate::Line, rates::warmup(size), window)?;
    let wrong = |text: String| BenchError::Wrong(BENCH, format!("{:?}: {text}", case.parameters()));
    // Frames that a port's ring has no room for were not taken; all others leave changed.
    let drops = seen.drops.total() - seen.drops.overflow;
    if drops > 0 {
        return Err(wrong(format!("{drops} frames were dropped: {:?}", seen.drops)));
    }
    let to = |port: usize| usize::from(ports) == 2 || port == 1;
    if let Some((port, left)) = seen.left.iter().enumerate().find(|(port, left)| (left.0 > 0) != to(*port)) {
        return Err(wrong(format!("{} frames left at port {port}", left.0)));
    }
    let frames: u64 = seen.left.iter().map(|(frames, _)| frames).sum();
    if seen.left.iter().map(|(_, bytes)| bytes).sum::<u64>() != frames * size as u64 {
        return Err(wrong("frames changed their length".to_owned()));
    }
    Ok(frames as f64 * wire::CLOCK_MHZ / window as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_cases() {
        let mpps = |case: Case| case.figures().map(|figure| figure.map(|mpps| mpps.round()));
        assert_eq!(mpps(BASE), [None, Some(284.0)]);
        assert_eq!(mpps(Case { size: 256, ports: 1, ..BASE }), [Some(45.0), Some(45.0)]);
        assert_eq!(mpps(Case { size: 256, ..BASE }), [Some(45.0), Some(89.0)]);
        assert_eq!(mpps(Case { program: NETCHAIN, ..BASE }), [None, Some(250.0)]);
        assert_eq!(mpps(Case { size: 9000, ..BASE })[0], None);
    }
}
