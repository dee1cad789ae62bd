// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock synth`: area and speed of the card's blocks, beside the paper's tables.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::Map;

use crate::bench::row::{self, Row};
use crate::synth::area::{self, Area};
use crate::synth::registry::{self, Block, Figures, Sources};
use crate::synth::timing::{self, Timing};
use crate::synth::tools::Tools;
use crate::synth::{SynthError, io_error};

/// No block of the 250 MHz domain may be slower than this part of the reference core.
const LOWEST_RATIO: f64 = 0.9;

/// Area (yosys, UltraScale+) and speed (nextpnr, ECP5, against VexRiscv_Lite) of the card's blocks.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Blocks to measure (bench/synth.toml); all when none is named.
    pub blocks: Vec<String>,
    /// Writes the figures as a JSON list.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Prints each step of the critical paths.
    #[arg(long)]
    pub paths: bool,
    /// Runs of the tools at a time.
    #[arg(long, default_value_t = 2, value_name = "N")]
    pub jobs: usize,
    /// Also writes bench/results/synth.json.
    #[arg(long)]
    pub save: bool,
}

/// What one run of the tools gave.
enum Outcome {
    Area(Area),
    Timing(Timing),
}

/// A run of the tools that is to be done.
struct Job {
    block: usize,
    /// Name in the progress messages.
    label: String,
    sources: Sources,
    folder: PathBuf,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Area,
    Timing,
}

/// All that is known of a block at the end.
#[derive(Default)]
struct Measured {
    area: Option<Area>,
    timing: Option<Timing>,
    failures: Vec<String>,
}

/// Measures the blocks, prints the table and writes the rows. An error names the blocks that are slower than
/// 0.9 of the reference core or could not be measured; everything else is printed and written all the same.
pub fn run(args: &Args, root: &Path) -> Result<(), SynthError> {
    let registry = registry::load(root)?;
    let blocks = registry::select(&registry, &args.blocks)?;
    let tools = Tools::find(root)?;
    let build = PathBuf::from("build/synth");

    // Block 0 is the reference core.
    let reference = &registry.reference;
    let sources = reference.sources(&tools.site_packages);
    let mut jobs = vec![
        job(0, &reference.name, sources.clone(), &build, Kind::Timing),
        job(0, &reference.name, sources, &build, Kind::Area),
    ];
    for (index, block) in blocks.iter().enumerate() {
        jobs.push(job(index + 1, &block.name, block.timing_sources(root)?, &build, Kind::Timing));
        jobs.push(job(index + 1, &block.name, block.area_sources(root)?, &build, Kind::Area));
    }
    let measured = work_off(&tools, &jobs, args.jobs, blocks.len() + 1);

    let base = measured[0].timing.as_ref().map(|timing| timing.median().fmax_mhz);
    let rows = rows(&blocks, &measured[1..], base);
    print!("{}", table(&reference.name, &blocks, &measured, base));
    for failure in &measured[0].failures {
        println!("{failure}");
    }
    print!("{}", remarks(&blocks, &measured[1..], base, args.paths));
    let text = row::to_json(&rows).map_err(|e| SynthError::Output { path: "synth".into(), message: e.to_string() })?;
    let saved = args.save.then(|| root.join("bench/results/synth.json"));
    for path in args.json.iter().chain(&saved) {
        fs::write(path, &text).map_err(io_error(path))?;
    }

    let failed: Vec<&str> = std::iter::once(reference.name.as_str())
        .chain(blocks.iter().map(|block| block.name.as_str()))
        .zip(&measured)
        .filter(|(_, measured)| !measured.failures.is_empty())
        .map(|(name, _)| name)
        .collect();
    if !failed.is_empty() {
        return Err(SynthError::Incomplete(failed.join(", ")));
    }
    let slow = slower_than(LOWEST_RATIO, &blocks, &measured[1..], base);
    if slow.is_empty() { Ok(()) } else { Err(SynthError::TooSlow(slow.join(", "))) }
}

fn job(block: usize, name: &str, sources: Sources, build: &Path, kind: Kind) -> Job {
    let part = match kind {
        Kind::Area => "area",
        Kind::Timing => "timing",
    };
    Job { block, label: format!("{name} ({part})"), sources, folder: build.join(name).join(part), kind }
}

/// Does the jobs in order, `threads` at a time.
fn work_off(tools: &Tools, jobs: &[Job], threads: usize, blocks: usize) -> Vec<Measured> {
    let next = AtomicUsize::new(0);
    let measured = Mutex::new((0..blocks).map(|_| Measured::default()).collect::<Vec<_>>());
    let work = || {
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            eprintln!("synth: {}", job.label);
            let outcome = match job.kind {
                Kind::Area => area::measure(tools, &job.sources, &job.folder).map(Outcome::Area),
                Kind::Timing => timing::measure(tools, &job.sources, &job.folder).map(Outcome::Timing),
            };
            let mut all = measured.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            match outcome {
                Ok(Outcome::Area(area)) => all[job.block].area = Some(area),
                Ok(Outcome::Timing(timing)) => all[job.block].timing = Some(timing),
                Err(error) => all[job.block].failures.push(format!("{}: {error}", job.label)),
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(work);
        }
    });
    measured.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Speed of a block against the reference core.
fn ratio(measured: &Measured, base: Option<f64>) -> Option<f64> {
    Some(measured.timing.as_ref()?.median().fmax_mhz / base?)
}

/// Metric, unit, paper, goal and value of a block.
fn figures(block: &Block, measured: &Measured, base: Option<f64>) -> Vec<(&'static str, &'static str, Option<f64>, Option<f64>, Option<f64>)> {
    let (paper, goal, area): (&Figures, &Figures, _) = (&block.paper, &block.goal, measured.area);
    vec![
        ("lut", "LUT", paper.lut, goal.lut, area.map(|a| a.lut)),
        ("ff", "FF", paper.ff, goal.ff, area.map(|a| a.ff)),
        ("bram", "36 Kbit blocks", paper.bram, goal.bram, area.map(|a| a.bram)),
        ("uram", "288 Kbit blocks", paper.uram, goal.uram, area.map(|a| a.uram)),
        ("dsp", "DSP", paper.dsp, goal.dsp, area.map(|a| a.dsp)),
        ("fmax_ratio", "of the reference core", paper.fmax_ratio, goal.fmax_ratio, ratio(measured, base)),
    ]
}

fn rows(blocks: &[Block], measured: &[Measured], base: Option<f64>) -> Vec<Row> {
    let mut rows = Vec::new();
    for (block, measured) in blocks.iter().zip(measured) {
        for (metric, unit, paper, goal, value) in figures(block, measured, base) {
            let Some(value) = value else { continue };
            let case = Map::from_iter([("block".to_string(), block.name.clone().into())]);
            rows.push(Row { bench: "synth".into(), case, metric: metric.into(), unit: unit.into(), paper, goal, value });
        }
    }
    rows
}

/// The table: ours, and the paper's below it where there is one.
fn table(reference: &str, blocks: &[Block], measured: &[Measured], base: Option<f64>) -> String {
    let cell = |value: Option<f64>, digits: usize| value.map_or("-".to_string(), |value| format!("{value:.digits$}"));
    let line = |name: &str, area: [Option<f64>; 5], fmax: Option<f64>, ratio: Option<f64>, about: &str| {
        let [lut, ff, bram, uram, dsp] = area;
        let half = |value: Option<f64>| cell(value, usize::from(value.is_some_and(|v| v.fract() != 0.0)));
        format!(
            "{name:<20}{:>9}{:>9}{:>8}{:>7}{:>6}{:>9}{:>8}  {about}\n",
            cell(lut, 0), cell(ff, 0), half(bram), cell(uram, 0), cell(dsp, 0), cell(fmax, 1), cell(ratio, 2)
        )
    };
    let ours = |area: Option<Area>| {
        [area.map(|a| a.lut), area.map(|a| a.ff), area.map(|a| a.bram), area.map(|a| a.uram), area.map(|a| a.dsp)]
    };
    let mut text = format!(
        "{:<20}{:>9}{:>9}{:>8}{:>7}{:>6}{:>9}{:>8}\n",
        "block", "LUT", "FF", "BRAM", "URAM", "DSP", "MHz ECP5", "ratio"
    );
    text += &line(reference, ours(measured[0].area), base, base.map(|_| 1.0), "reference core");
    for (block, measured) in blocks.iter().zip(&measured[1..]) {
        let fmax = measured.timing.as_ref().map(|timing| timing.median().fmax_mhz);
        text += &line(&block.name, ours(measured.area), fmax, ratio(measured, base), &block.about);
        let paper = &block.paper;
        if paper.lut.is_some() {
            text += &line("  paper", [paper.lut, paper.ff, paper.bram, paper.uram, paper.dsp], None, None, "");
        }
    }
    text
}

/// What the table cannot say: what was changed for the placement, what limits the slow blocks, what failed.
fn remarks(blocks: &[Block], measured: &[Measured], base: Option<f64>, paths: bool) -> String {
    let mut text = String::new();
    for (block, measured) in blocks.iter().zip(measured) {
        if let Some(note) = &block.timing.note {
            text += &format!("\n{}: for the placement {note}", block.name);
        }
        let slow = ratio(measured, base).filter(|ratio| *ratio < 1.0);
        if let Some(ratio) = slow {
            text += &format!("\n{}: below 1.0 ({ratio:.2})", block.name);
        }
        if let Some(timing) = measured.timing.as_ref().filter(|_| paths || slow.is_some()) {
            let path = &timing.median().path;
            text += &format!("\n  {} -> {}: {:.1} ns, {} levels", path.start, path.end, path.delay_ns, path.levels);
            for (delay, what) in path.steps.iter().filter(|_| paths) {
                text += &format!("\n    {delay:6.2} {what}");
            }
        }
        for failure in &measured.failures {
            text += &format!("\n{failure}");
        }
    }
    text.push('\n');
    text
}

/// Names and ratios of the blocks below `limit`.
fn slower_than(limit: f64, blocks: &[Block], measured: &[Measured], base: Option<f64>) -> Vec<String> {
    let ratios = blocks.iter().zip(measured).filter_map(|(block, measured)| Some((block, ratio(measured, base)?)));
    ratios.filter(|(_, ratio)| *ratio < limit).map(|(block, ratio)| format!("{} ({ratio:.2})", block.name)).collect()
}
