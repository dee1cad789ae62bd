// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `ids-compile`: processor time and memory for a set of rules, from text to the filter's tables; bytes of the
//! matcher on the card, beside Pigasus', and of the filter in native code.

use std::path::Path;

use penstock_bench::row::{Better::Lower, Row};
use penstock_bench::{BenchError, Lab, parameters, soft};
use penstock_device::files;
use penstock_ids::Scanner;
use penstock_ids_compiler::Program;
use penstock_ids_compiler::filter::WAYS;
use serde_json::json;

use crate::input::{program, sample};

/// The bench's name in its rows.
const BENCH: &str = "ids-compile";
/// Rules; goal for the time, s; Pigasus' bytes of its matcher and our goal for ours, MB.
const CASES: [(usize, Option<f64>, Option<f64>); 2] = [(10_000, None, Some(3.3)), (40_000, Some(10.0), None)];
/// Bits of the card's bitmaps at each of 64 offsets for two ports (engines/ids/machine.md, section 7): a memory has a
/// port for each lane.
const BITMAPS: usize = 64 * (2 * (1 << 15) * 2 + (1 << 16));
/// Bits of an entry of the exact table, and its banks.
const ENTRY: usize = 84;
const BANKS: usize = 2;

/// Measures all cases.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    for (count, goal, matcher) in CASES {
        let case = parameters(&[("rules", json!(count))]);
        if !lab.selection.takes(&case) {
            continue;
        }
        let rules = sample(count);
        // The highest mark of this process' memory is set back to what it has now.
        files::write(Path::new("/proc/self/clear_refs"), "5")?;
        let before = status("VmRSS:")?;
        let made = program(&rules)?;
        let memory = status("VmHWM:")? - before;
        let mpps = soft::mpps_of(1, 1, || program(&rules).map(drop))?;
        let row =
            |metric: &str, unit: &str, beside, value| Row::new(BENCH, &case, (metric, unit, Lower), beside, value);
        lab.report(&[
            row("seconds", "s", [None, goal], 1e-6 / mpps),
            row("memory", "MB at most, beyond the text", [None, None], memory),
            row("matcher", "MB on the card", [matcher, matcher], on_card(&made)),
            row(
                "native",
                "MB of the filter in native code",
                [None, None],
                Scanner::new(&made.filter).bytes() as f64 * 1e-6,
            ),
        ]);
    }
    Ok(())
}

/// MB of the card's memories with these rules.
fn on_card(program: &Program) -> f64 {
    (BITMAPS + BANKS * (WAYS << program.filter.log) * ENTRY) as f64 / 8e6
}

/// A number of this process' status, in MB.
fn status(name: &str) -> Result<f64, BenchError> {
    let text = files::read(Path::new("/proc/self/status"), "this bench needs a Linux kernel")?;
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<f64>().ok());
    number.map(|kb| kb * 1.024e-3).ok_or_else(|| BenchError::Wrong(BENCH, format!("the kernel does not tell {name}")))
}
