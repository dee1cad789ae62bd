// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `xdp-rows`: how many rows the compiler makes of a program, at each number of lanes, and how many operations stand in one (hXDP, Figure 8 and
//! Table 3).

use std::collections::BTreeMap;

use penstock_device::{ImageError, Lanes, Root, XdpProgram};
use serde_json::json;

use super::BenchError;
use super::row::Row;
use super::xdp::PROGRAMS;
use crate::card::CardError;

/// Compiles all programs; no card is needed.
pub fn run(root: &Root, report: &mut dyn FnMut(&[Row])) -> Result<(), BenchError> {
    for program in &PROGRAMS {
        for lanes in Lanes::ALL {
            let failed = |error| BenchError::Card(CardError::Image(ImageError::Xdp(error)));
            let loaded =
                XdpProgram::of(root, &program.source(root), None, &BTreeMap::new(), lanes, 1).map_err(failed)?;
            let (compiled, _) = loaded.translate().map_err(failed)?;
            let case: BTreeMap<_, _> =
                [("program".to_string(), json!(program.name)), ("lanes".to_string(), json!(lanes.count()))]
                    .into_iter()
                    .collect();
            let row = |metric, unit, rates, value| Row::new("xdp-rows", &case, metric, unit, rates, value);
            let rows = compiled.rows.len() as f64;
            let rates = [program.paper_rows(lanes.count()), program.goal_rows(lanes.count())];
            report(&[
                row("rows", "rows of the whole program", rates, rows),
                row("ops_a_row", "operations in a row", [None, None], compiled.operations() as f64 / rows),
            ]);
        }
    }
    Ok(())
}
