// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock demo`: the firewall card on real and hostile traffic, on both targets, judged and reported.

mod judge;
mod list;
mod traffic;

use std::path::PathBuf;
use std::time::Instant;

use penstock_device::capture::CaptureError;
use penstock_device::{Outcome, Override, Rate, Root, Target};
use penstock_engine::say;

use super::run::summary;
use crate::card::{Card, CardError};
use crate::files::{self, FileError};
use crate::report::{self, Exits, RunData};
use crate::show::grouped;

const DESIGN: &str = "designs/firewall.toml";
const LIST: &str = "designs/blocklist-demo.txt";
const REPORT: &str = "build/demo/report.html";
/// The way out if a file of the demo has changed.
const RESTORE: &str = "bring the folder designs back with `git checkout designs`";

/// The firewall card on captures of real programs mixed with hostile sources, on both targets.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The place of the report [default: build/demo/report.html in the repository]
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
}

/// Why the demo did not end well.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DemoError {
    #[error(transparent)]
    Card(#[from] CardError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{0}; {RESTORE}")]
    Capture(#[from] CaptureError),
    /// The demo's own reading of the block list.
    #[error("{}:{message}", path.display())]
    List { path: PathBuf, message: String },
    #[error("{0}; {RESTORE}")]
    Captures(String),
    #[error("the demo did not give what it must; the report shows more")]
    Verdict,
}

/// Runs the demo. An error also when the targets differ from each other or from the block list; the report is written
/// all the same.
pub(crate) fn run(args: &Args, root: &Root) -> Result<(), DemoError> {
    let began = Instant::now();
    let list_path = root.join(LIST);
    let text = files::read(&list_path, RESTORE)?;
    let rules = list::parse(&text).map_err(|message| DemoError::List { path: list_path.clone(), message })?;
    let mix = traffic::mix(root, &rules)?;
    if !mix.faults.is_empty() {
        return Err(DemoError::Captures(mix.faults.join("; ")));
    }
    let change = Override { tables: vec![("ip_prefix".to_owned(), list_path)], ..Override::default() };
    let card = Card::read(root, &root.join(DESIGN), change)?;
    say!(
        "The card: {} RISC-V units between {} ports, firewall firmware, {} prefixes.",
        card.design.units(),
        card.design.ports,
        rules.len()
    );
    say!(
        "The traffic: {} frames of nginx and curl, redis, dnsmasq and dig, among {} frames from hostile sources.",
        grouped(mix.captured),
        grouped(mix.made)
    );

    let mut outcomes = Vec::new();
    let mut runs = Vec::new();
    for target in [Target::Soft, Target::Rtl] {
        let run = card.carry(root, target, &mix.traffic, Rate::Lossless)?;
        let outcome = Outcome::new(&card.design, target, &run);
        say::text(&format!("\n{}", summary(&outcome, Rate::Lossless)));
        outcomes.push(outcome);
        runs.push(run);
    }
    let verdict = judge::judge(&mix.traffic, &rules, [(Target::Soft, &runs[0]), (Target::Rtl, &runs[1])]);
    say!("\n{}", verdict.headline);
    for reason in &verdict.reasons {
        say!("  {reason}");
    }

    let good = verdict.good;
    let mut data = report::design(&card.design);
    data.verdict = Some(verdict);
    data.runs = runs
        .iter()
        .zip(&outcomes)
        .map(|(run, outcome)| RunData::new(&card.design, run, outcome, Exits::of(&run.departures)))
        .collect();
    let path = args.report.clone().unwrap_or_else(|| root.join(REPORT));
    report::write(&path, &data)?;
    say!("\nThe report: {} ({:.1} s in all)", path.display(), began.elapsed().as_secs_f64());
    if good { Ok(()) } else { Err(DemoError::Verdict) }
}
