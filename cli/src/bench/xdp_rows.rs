// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `xdp-rows`: how many rows the compiler makes of a program, at each number of lanes, how many operations stand in
//! one, and how many rows a frame takes (hXDP, Figure 8 and Table 3).
//!
//! A row of the paper counts the call of a helper as one instruction, whatever the helper does in its own hardware. Our
//! rows include all helper code that the compiler adds to the program: the rows of xdp_adjust_tail include csum_diff
//! and the clearing of adjust_tail. An operation of the card's maps counts as one on both sides.

use std::collections::BTreeMap;

use penstock_device::{EngineError, Root};
use penstock_xdp_compiler::card::Room;
use penstock_xdp_host::{Lanes, Settings, XdpProgram};
use serde_json::json;

use super::BenchError;
use super::row::{
    Better::{Higher, Lower},
    Row,
};
use super::xdp::PROGRAMS;
use super::{xdp_others, xdp_rate, xdp_run};
use crate::card::CardError;

/// Compiles all programs, ours and third-party ones; no card is needed.
pub fn run(root: &Root, report: &mut dyn FnMut(&[Row])) -> Result<(), BenchError> {
    for program in &PROGRAMS {
        for lanes in Lanes::ALL {
            let failed =
                |error: penstock_xdp_host::XdpError| BenchError::Card(CardError::Engine(EngineError::program(error)));
            let (source, settings, room) = (program.source(root), Settings::default(), &mut Room::default());
            let loaded = XdpProgram::of(root, &source, None, &settings, lanes, room, 1).map_err(failed)?;
            let (compiled, _) = loaded.translate().map_err(failed)?;
            let case: BTreeMap<_, _> =
                [("program".to_string(), json!(program.name)), ("lanes".to_string(), json!(lanes.count()))]
                    .into_iter()
                    .collect();
            let row = |metric, rates, value| Row::new("xdp-rows", &case, metric, rates, value);
            let rows = compiled.rows.len() as f64;
            let executed = xdp_run::rows_a_frame(root, program.name, lanes, xdp_rate::SIZE)?;
            let rates = [program.paper_rows(lanes.count()), program.goal_rows(lanes.count())];
            report(&[
                row(("rows", "rows of the whole program", Lower), rates, rows),
                row(("ops_a_row", "operations in a row", Higher), [None, None], compiled.operations() as f64 / rows),
                row(("rows_a_frame", "rows carried out for a frame of 64 B", Lower), [None, None], executed),
            ]);
        }
    }
    xdp_others::run(root, report);
    Ok(())
}
