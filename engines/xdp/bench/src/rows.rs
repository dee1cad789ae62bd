// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `xdp-rows`: how many rows the compiler makes of a program, at each number of lanes, how many operations stand in
//! one, and how many rows a frame takes (hXDP, Figure 8 and Table 3).
//!
//! A row of the paper counts the call of a helper as one instruction, whatever the helper does in its own hardware. Our
//! rows include all helper code that the compiler adds to the program: the rows of xdp_adjust_tail include csum_diff
//! and the clearing of adjust_tail. An operation of the card's maps counts as one on both sides.

use penstock_bench::row::{
    Better::{Higher, Lower},
    Row,
};
use penstock_bench::{BenchError, Lab, parameters};
use penstock_device::EngineError;
use penstock_xdp_compiler::card::Room;
use penstock_xdp_host::{Lanes, Settings, XdpProgram};
use serde_json::json;

use crate::programs::PROGRAMS;
use crate::{executed, others, rate};

/// Compiles all programs, ours and third-party ones; no card is needed.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    for program in &PROGRAMS {
        for lanes in Lanes::ALL {
            let failed = |error: penstock_xdp_host::XdpError| BenchError::Engine(EngineError::program(error));
            let (source, settings, room) = (program.source(lab.root), Settings::default(), &mut Room::default());
            let loaded = XdpProgram::of(lab.root, &source, None, &settings, lanes, room, 1).map_err(failed)?;
            let (compiled, _) = loaded.translate().map_err(failed)?;
            let case = parameters(&[("program", json!(program.name)), ("lanes", json!(lanes.count()))]);
            let row = |metric, rates, value| Row::new("xdp-rows", &case, metric, rates, value);
            let rows = compiled.rows.len() as f64;
            let executed = executed::rows_a_frame(lab.root, program.name, lanes, rate::SIZE)?;
            let rates = [program.paper_rows(lanes.count()), program.goal_rows(lanes.count())];
            lab.report(&[
                row(("rows", "rows of the whole program", Lower), rates, rows),
                row(("ops_a_row", "operations in a row", Higher), [None, None], compiled.operations() as f64 / rows),
                row(("rows_a_frame", "rows carried out for a frame of 64 B", Lower), [None, None], executed),
            ]);
        }
    }
    others::run(lab.root, &mut |rows| lab.report(rows));
    Ok(())
}
