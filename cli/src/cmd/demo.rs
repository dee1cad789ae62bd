// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock demo`: the firewall card on real and hostile traffic, on both targets, judged and reported.

mod judge;
mod list;
mod traffic;

use std::path::PathBuf;
use std::time::Instant;

use penstock_device::capture::CaptureError;
use penstock_device::{
    Design, DesignError, DeviceError, Image, ImageError, Outcome, Override, Progress, Rate, Root, Run, Target, Traffic,
    open,
};

use super::run::summary;
use crate::report::{self, RunData};
use crate::show::{Bar, grouped};

const DESIGN: &str = "designs/firewall.toml";
const LIST: &str = "designs/blocklist-demo.txt";
const REPORT: &str = "build/demo/report.html";

/// The firewall card on captures of real programs mixed with hostile sources, on both targets.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where the report goes [default: build/demo/report.html in the repository]
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
}

/// Why the demo did not end well.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    #[error(transparent)]
    Design(#[from] DesignError),
    #[error(transparent)]
    Image(#[from] ImageError),
    #[error(transparent)]
    Capture(#[from] CaptureError),
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The demo's own reading of the block list.
    #[error("{}:{message}", path.display())]
    List { path: PathBuf, message: String },
    #[error("{0}; bring designs/traffic back with `git checkout designs/traffic`")]
    Captures(String),
    #[error("{}: {source}; check the folder, and that it may be written", path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("the demo did not give what it must; the report shows more")]
    Verdict,
}

/// Runs the demo. An error also when the targets differ from each other or from the block list; the report is written all the same.
pub fn run(args: &Args, root: &Root) -> Result<(), DemoError> {
    let began = Instant::now();
    let list_path = root.join(LIST);
    let text =
        std::fs::read_to_string(&list_path).map_err(|source| DemoError::File { path: list_path.clone(), source })?;
    let rules = list::parse(&text).map_err(|message| DemoError::List { path: list_path.clone(), message })?;
    let mix = traffic::mix(root, &rules)?;
    if !mix.faults.is_empty() {
        return Err(DemoError::Captures(mix.faults.join("; ")));
    }
    let change = Override { tables: [("ip_prefix".to_owned(), list_path)].into(), ..Override::default() };
    let design = Design::read(&root.join(DESIGN))?.with(change)?;
    let image = Image::of(root, &design)?;
    println!(
        "The card: {} RISC-V units between {} ports, firewall firmware, {} prefixes.",
        design.units,
        design.ports,
        rules.len()
    );
    println!(
        "The traffic: {} frames of nginx and curl, redis, dnsmasq and dig, among {} frames from hostile sources.",
        grouped(mix.captured),
        grouped(mix.made)
    );

    let mut outcomes = Vec::new();
    let mut runs = Vec::new();
    for target in [Target::Soft, Target::Rtl] {
        let run = carry(root, &design, &image, &mix.traffic, target)?;
        let outcome = Outcome::new(&design, target, &mix.traffic, &run);
        print!("\n{}", summary(&outcome));
        outcomes.push(outcome);
        runs.push(run);
    }
    let verdict = judge::judge(&mix.traffic, &rules, [(Target::Soft, &runs[0]), (Target::Rtl, &runs[1])]);
    println!("\n{}", verdict.headline);
    for reason in &verdict.reasons {
        println!("  {reason}");
    }

    let good = verdict.good;
    let mut data = report::design(&design);
    data.verdict = Some(verdict);
    data.runs = runs.iter().zip(&outcomes).map(|(run, outcome)| RunData::new(&mix.traffic, run, outcome)).collect();
    let path = args.report.clone().unwrap_or_else(|| root.join(REPORT));
    report::write(&path, &data).map_err(|source| DemoError::File { path: path.clone(), source })?;
    println!("\nThe report: {} ({:.1} s in all)", path.display(), began.elapsed().as_secs_f64());
    if good { Ok(()) } else { Err(DemoError::Verdict) }
}

/// Sends the traffic through the card on one target.
fn carry(root: &Root, design: &Design, image: &Image, traffic: &Traffic, target: Target) -> Result<Run, DemoError> {
    let mut bar = Bar::new();
    let mut shown = |progress: Progress| bar.show(progress);
    let mut device = open(root, design, target, &mut shown)?;
    device.load(image)?;
    device.send(traffic, Rate::Lossless)?;
    let run = device.run(&mut shown)?;
    bar.finish();
    Ok(run)
}
