// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock synth`: area and speed of the card's blocks, beside the paper's tables.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use penstock_bench::row::{
    self, Better,
    Better::{Higher, Lower},
    Row,
};
use penstock_device::Root;
use penstock_engine::{note, say};
use serde_json::Value;

use crate::files;
use crate::synth::area::{self, Area};
use crate::synth::registry::{self, Block, Figures, Router, Sources, Sum};
use crate::synth::timing::{self, Repository, Timing};
use crate::synth::tools::Tools;
use crate::synth::{SynthError, io_error};

/// No block of the 250 MHz domain may be slower than this part of the reference core.
const LOWEST_RATIO: f64 = 0.9;

/// Area (yosys, UltraScale+) and speed (nextpnr, ECP5, against VexRiscv_Lite) of the card's blocks.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Blocks to measure, of bench/synth.toml here and in the engines; all when none is named.
    pub blocks: Vec<String>,
    /// Writes the figures as a JSON list.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Prints each step of the critical paths.
    #[arg(long)]
    pub paths: bool,
    /// Places blocks again even if there is a placement of the same netlist by the same tools, here or in
    /// bench/placements.
    #[arg(long)]
    pub again: bool,
    /// Runs of the tools at a time.
    #[arg(long, default_value_t = 2, value_name = "N")]
    pub jobs: usize,
    /// Measures only this.
    #[arg(long, value_enum)]
    pub only: Option<Kind>,
    /// Also writes the figures into bench/results/synth.json, where unmeasured ones stay, and the placements into
    /// bench/placements.
    #[arg(long)]
    pub save: bool,
    /// Measures nothing: only checks whether the tools can read the blocks.
    #[arg(long, conflicts_with_all = ["json", "paths", "only", "save", "again"])]
    pub check: bool,
}

/// The result of one run of the tools.
enum Outcome {
    Read,
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
    task: Task,
}

/// The purpose of a run of the tools.
enum Task {
    /// To see that the block can be read.
    Read,
    Area,
    Timing(Repository),
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    /// Area on UltraScale+.
    Area,
    /// Speed on ECP5 against the reference core.
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
pub(crate) fn run(args: &Args, root: &Root) -> Result<(), SynthError> {
    let root = root.path();
    let registry = registry::load(root)?;
    let blocks = registry::select(&registry, &args.blocks)?;
    let tools = Tools::find(root)?;
    let (build, placements) = (PathBuf::from("build/synth"), Path::new("bench/placements"));
    tools.prepare(&build)?;
    if args.check {
        return check(&tools, root, &blocks, &build.join("check"), args.jobs);
    }

    // First the reference core, once for each router, then the blocks.
    let reference = &registry.reference;
    let mut routers: Vec<Router> = blocks.iter().map(|block| block.timing.router).collect();
    routers.sort_unstable();
    routers.dedup();
    let references: Vec<String> =
        routers.iter().map(|router| format!("{} {}", reference.name, router.name())).collect();
    let area = |block, name: &str, sources, folder: &Path| Job {
        block,
        label: format!("{name} (area)"),
        sources,
        folder: build.join(folder).join("area"),
        task: Task::Area,
    };
    let timing = |block, name: &str, sources, folder: &Path| Job {
        block,
        label: format!("{name} (timing)"),
        sources,
        folder: build.join(folder).join("timing"),
        task: Task::Timing(Repository { folder: placements.join(folder), again: args.again, save: args.save }),
    };
    let mut jobs = Vec::new();
    for (index, (name, router)) in references.iter().zip(&routers).enumerate() {
        let (sources, folder) = (reference.sources(&tools.site_packages, *router), Path::new(&reference.name));
        jobs.push(timing(index, name, sources.clone(), &folder.join(router.name())));
        if index == 0 {
            jobs.push(area(index, name, sources, folder));
        }
    }
    for (index, block) in blocks.iter().enumerate() {
        let (index, folder) = (index + routers.len(), Path::new(&block.name));
        if !block.area_only {
            jobs.push(timing(index, &block.name, block.timing_sources(root)?, folder));
        }
        jobs.push(area(index, &block.name, block.area_sources(root)?, folder));
    }
    jobs.retain(|job| match job.task {
        Task::Read => true,
        Task::Area => args.only != Some(Kind::Timing),
        Task::Timing(_) => args.only != Some(Kind::Area),
    });
    let all = work_off(&tools, &jobs, args.jobs, routers.len() + blocks.len());
    let (bases, measured) = all.split_at(routers.len());

    let base: Base = routers
        .iter()
        .zip(bases)
        .filter_map(|(router, measured)| Some((*router, measured.timing.as_ref()?.median().fmax_mhz)))
        .collect();
    let values = values(&blocks, measured, &base);
    let lines = lines(&blocks, &registry.sums, &values);
    say::text(&table(&reference.name, bases[0].area, &base, &lines));
    for failure in bases.iter().flat_map(|measured| &measured.failures) {
        say!("{failure}");
    }
    for (name, measured) in references.iter().zip(bases) {
        say::text(&about_placements(name, measured));
    }
    say::text(&remarks(&blocks, measured, &base, args.paths));
    if let Some(path) = &args.json {
        write(path, &lines)?;
    }
    if args.save {
        let path = root.join("bench/results/synth.json");
        let all = beside(saved(&path)?, values);
        write(&path, &self::lines(&registry.blocks, &registry.sums, &all))?;
    }

    let failed: Vec<&str> = references
        .iter()
        .chain(blocks.iter().map(|block| &block.name))
        .map(String::as_str)
        .zip(&all)
        .filter(|(_, measured)| !measured.failures.is_empty())
        .map(|(name, _)| name)
        .collect();
    if !failed.is_empty() {
        return Err(SynthError::Incomplete(failed.join(", ")));
    }
    let slow = slower_than(LOWEST_RATIO, &blocks, measured, &base);
    if slow.is_empty() { Ok(()) } else { Err(SynthError::TooSlow(slow.join(", "))) }
}

/// Reads each block, both for the card and for placement. An error names the blocks that the tools refuse.
fn check(tools: &Tools, root: &Path, blocks: &[Block], build: &Path, threads: usize) -> Result<(), SynthError> {
    let mut jobs = Vec::new();
    for (block, described) in blocks.iter().enumerate() {
        let name = &described.name;
        let mut forms = vec![("card", described.area_sources(root)?)];
        if !described.area_only {
            forms.push(("placed", described.timing_sources(root)?));
        }
        // Many are placed as they are on the card.
        forms.dedup_by(|(_, placed), (_, card)| placed == card);
        for (form, sources) in forms {
            let (label, folder) = (format!("{name} ({form})"), build.join(name).join(form));
            jobs.push(Job { block, label, sources, folder, task: Task::Read });
        }
    }
    let read = work_off(tools, &jobs, threads, blocks.len());
    for failure in read.iter().flat_map(|read| &read.failures) {
        say!("{failure}");
    }
    let failed: Vec<&str> =
        blocks.iter().zip(&read).filter(|(_, read)| !read.failures.is_empty()).map(|(block, _)| &*block.name).collect();
    say!("{} blocks read, {} refused", blocks.len() - failed.len(), failed.len());
    if failed.is_empty() { Ok(()) } else { Err(SynthError::Unreadable(failed.join(", "))) }
}

/// Does the jobs in order, `threads` at a time.
fn work_off(tools: &Tools, jobs: &[Job], threads: usize, blocks: usize) -> Vec<Measured> {
    let next = AtomicUsize::new(0);
    let measured = Mutex::new((0..blocks).map(|_| Measured::default()).collect::<Vec<_>>());
    let work = || {
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (sources, folder) = (&job.sources, &job.folder);
            let outcome = match &job.task {
                Task::Read => tools.read(sources, folder).map(|()| Outcome::Read),
                Task::Area => area::measure(tools, sources, folder).map(Outcome::Area),
                Task::Timing(repository) => timing::measure(tools, sources, folder, repository).map(Outcome::Timing),
            };
            match &outcome {
                Ok(Outcome::Read) => {}
                Ok(Outcome::Area(area)) => note!("synth: {}: {:.0} LUT, {:.0} FF", job.label, area.lut, area.ff),
                Ok(Outcome::Timing(timing)) => note!("synth: {}: {:.1} MHz", job.label, timing.median().fmax_mhz),
                Err(_) => note!("synth: {}: failed", job.label),
            }
            let mut all = measured.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            match outcome {
                Ok(Outcome::Read) => {}
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

/// MHz of the reference core, by the router that connected it.
type Base = BTreeMap<Router, f64>;

/// Speed of a block against the reference core.
fn ratio(block: &Block, measured: &Measured, base: &Base) -> Option<f64> {
    Some(measured.timing.as_ref()?.median().fmax_mhz / base.get(&block.timing.router)?)
}

/// A line of the table: a block, or a part of the card that is made of several.
struct Line<'a> {
    name: &'a str,
    about: &'a str,
    paper: Figures,
    goal: Figures,
    value: Figures,
    fmax_mhz: Option<f64>,
    /// The result of a block.
    router: Option<Router>,
}

/// Figures of blocks by their names, and their MHz.
type Values = BTreeMap<String, (Figures, Option<f64>)>;

/// The results of this run.
fn values(blocks: &[Block], measured: &[Measured], base: &Base) -> Values {
    let value = |block: &Block, measured: &Measured| {
        let mhz = measured.timing.as_ref().map(|timing| timing.median().fmax_mhz);
        (figures(measured.area, ratio(block, measured, base)), mhz)
    };
    blocks.iter().zip(measured).map(|(block, measured)| (block.name.clone(), value(block, measured))).collect()
}

/// The saved results of earlier runs; empty before the first.
fn saved(path: &Path) -> Result<Values, SynthError> {
    if !path.exists() {
        return Ok(Values::new());
    }
    let text = fs::read_to_string(path).map_err(io_error(path))?;
    let rows = serde_json::from_str(&text)
        .map_err(|error| SynthError::Output { path: path.into(), message: error.to_string() })?;
    Ok(values_of(rows))
}

/// The figures in rows; speeds are not in them but as ratios.
fn values_of(rows: Vec<Row>) -> Values {
    let mut values = Values::new();
    for row in rows {
        let Some(block) = row.case.get("block").and_then(Value::as_str) else { continue };
        let (figures, _) = values.entry(block.into()).or_default();
        if let Some((.., slot)) = METRICS.iter().find(|(metric, ..)| *metric == row.metric) {
            *slot(figures) = Some(row.value);
        }
    }
    values
}

/// `before`, with all that was measured `now` in its place.
fn beside(mut before: Values, now: Values) -> Values {
    for (block, (mut figures, mhz)) in now {
        let slot = before.entry(block).or_default();
        for (.., of) in METRICS {
            if let Some(value) = *of(&mut figures) {
                *of(&mut slot.0) = Some(value);
            }
        }
        slot.1 = mhz;
    }
    before
}

/// The figures of the blocks, then those of the sums for which all blocks have figures.
fn lines<'a>(blocks: &'a [Block], sums: &'a [Sum], values: &Values) -> Vec<Line<'a>> {
    let mut lines: Vec<Line> = blocks
        .iter()
        .filter_map(|block| Some((block, values.get(&block.name)?)))
        .map(|(block, (value, fmax_mhz))| Line {
            name: &block.name,
            about: &block.about,
            paper: block.paper,
            goal: block.goal,
            value: *value,
            fmax_mhz: *fmax_mhz,
            router: Some(block.timing.router),
        })
        .collect();
    let blocks = lines.len();
    for sum in sums {
        let parts: Option<Vec<(&Line, f64)>> = sum
            .of
            .iter()
            .map(|(name, count)| Some((lines[..blocks].iter().find(|line| line.name == name)?, *count)))
            .collect();
        let Some(parts) = parts else { continue };
        let total =
            |of: fn(&Figures) -> Option<f64>| parts.iter().map(|(line, count)| Some(of(&line.value)? * count)).sum();
        let slowest = |values: Vec<Option<f64>>| {
            values
                .into_iter()
                .collect::<Option<Vec<f64>>>()
                .map(|values| values.into_iter().fold(f64::INFINITY, f64::min))
        };
        let value = Figures {
            lut: total(|f| f.lut),
            ff: total(|f| f.ff),
            bram: total(|f| f.bram),
            uram: total(|f| f.uram),
            dsp: total(|f| f.dsp),
            fmax_ratio: slowest(parts.iter().map(|(line, _)| line.value.fmax_ratio).collect()),
        };
        let fmax_mhz = slowest(parts.iter().map(|(line, _)| line.fmax_mhz).collect());
        let (name, about, paper, goal) = (&sum.name, &sum.about, sum.paper, sum.goal);
        lines.push(Line { name, about, paper, goal, value, fmax_mhz, router: None });
    }
    lines
}

fn figures(area: Option<Area>, fmax_ratio: Option<f64>) -> Figures {
    Figures {
        lut: area.map(|a| a.lut),
        ff: area.map(|a| a.ff),
        bram: area.map(|a| a.bram),
        uram: area.map(|a| a.uram),
        dsp: area.map(|a| a.dsp),
        fmax_ratio,
    }
}

/// Metric, its unit, which way it gets better, and where it is found.
type Metric = (&'static str, &'static str, Better, fn(&mut Figures) -> &mut Option<f64>);
const METRICS: [Metric; 6] = [
    ("lut", "LUT", Lower, |f| &mut f.lut),
    ("ff", "FF", Lower, |f| &mut f.ff),
    ("bram", "36 Kbit blocks", Lower, |f| &mut f.bram),
    ("uram", "288 Kbit blocks", Lower, |f| &mut f.uram),
    ("dsp", "DSP", Lower, |f| &mut f.dsp),
    ("fmax_ratio", "of the reference core", Higher, |f| &mut f.fmax_ratio),
];

fn write(path: &Path, lines: &[Line]) -> Result<(), SynthError> {
    let text = row::to_json(&rows(lines))
        .map_err(|error| SynthError::Output { path: path.into(), message: error.to_string() })?;
    Ok(files::write(path, &text)?)
}

fn rows(lines: &[Line]) -> Vec<Row> {
    let mut rows = Vec::new();
    for line in lines {
        for (metric, unit, better, of) in METRICS {
            let read = |mut figures: Figures| *of(&mut figures);
            let Some(value) = read(line.value) else { continue };
            let mut case = BTreeMap::from_iter([("block".to_string(), line.name.into())]);
            if let Some(router) = line.router.filter(|_| metric == "fmax_ratio") {
                case.insert("router".into(), router.name().into());
            }
            rows.push(Row {
                bench: "synth".into(),
                case,
                metric: metric.into(),
                unit: unit.into(),
                paper: read(line.paper),
                peer: None,
                goal: read(line.goal),
                better,
                value,
            });
        }
    }
    rows
}

/// The table: our figures, with the paper's below if there are any.
fn table(reference: &str, area: Option<Area>, base: &Base, lines: &[Line]) -> String {
    let cell = |value: Option<f64>, digits: usize| value.map_or("-".to_string(), |value| format!("{value:.digits$}"));
    let row = |name: &str, figures: &Figures, fmax: Option<f64>, about: &str| {
        let halves = usize::from(figures.bram.is_some_and(|bram| bram.fract() != 0.0));
        format!(
            "{name:<18}{:>8}{:>8}{:>7}{:>6}{:>5}{:>10}{:>7}  {about}",
            cell(figures.lut, 0),
            cell(figures.ff, 0),
            cell(figures.bram, halves),
            cell(figures.uram, 0),
            cell(figures.dsp, 0),
            cell(fmax, 1),
            cell(figures.fmax_ratio, 2),
        )
        .trim_end()
        .to_string()
            + "\n"
    };
    let mut text = format!(
        "{:<18}{:>8}{:>8}{:>7}{:>6}{:>5}{:>10}{:>7}\n",
        "block", "LUT", "FF", "BRAM", "URAM", "DSP", "MHz ECP5", "ratio"
    );
    if base.is_empty() {
        text += &row(reference, &figures(area, None), None, "reference core");
    }
    for (index, (router, mhz)) in base.iter().enumerate() {
        let area = area.filter(|_| index == 0);
        text += &row(reference, &figures(area, Some(1.0)), Some(*mhz), &format!("reference core, {}", router.name()));
    }
    for line in lines {
        text += &row(line.name, &line.value, line.fmax_mhz, line.about);
        if line.paper.lut.is_some() {
            text += &row("  paper", &line.paper, None, "");
        }
    }
    text
}

/// Remarks below the table: changes for the placement, the limits of slow blocks, failures.
fn remarks(blocks: &[Block], measured: &[Measured], base: &Base, paths: bool) -> String {
    let mut text = String::new();
    for (block, measured) in blocks.iter().zip(measured) {
        if let Some(note) = &block.timing.note {
            text += &format!("\n{}: for the placement {note}", block.name);
        }
        if block.timing.placements == 1 {
            text += &format!("\n{}: one placement, not the median of three", block.name);
        }
        text += &about_placements(&block.name, measured);
        if block.timing.router != Router::default() {
            text += &format!("\n{}: connected by {}, like its reference", block.name, block.timing.router.name());
        }
        let slow = ratio(block, measured, base).filter(|ratio| *ratio < 1.0);
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

/// Which placements were there before, and which the router could not connect.
fn about_placements(name: &str, measured: &Measured) -> String {
    let Some(timing) = &measured.timing else { return String::new() };
    let mut text = String::new();
    if timing.kept > 0 {
        let all = timing.runs.len() + timing.unrouted.len();
        text += &format!("\n{name}: {} of {all} placements were made before, of the same netlist", timing.kept);
    }
    for seed in &timing.unrouted {
        text += &format!("\n{name}: the router failed at placement {seed}; another one took its place");
    }
    text
}

/// Names and ratios of the blocks below `limit`.
fn slower_than(limit: f64, blocks: &[Block], measured: &[Measured], base: &Base) -> Vec<String> {
    let ratios =
        blocks.iter().zip(measured).filter_map(|(block, measured)| Some((block, ratio(block, measured, base)?)));
    ratios.filter(|(_, ratio)| *ratio < limit).map(|(block, ratio)| format!("{} ({ratio:.2})", block.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_that_were_not_measured_stay_saved() {
        let registry: registry::Registry = toml::from_str(
            "[reference]\nname = \"r\"\ntop = \"r\"\nfile = \"r.v\"\n\
             [[block]]\nname = \"a\"\nabout = \"\"\ntop = \"a\"\nfiles = []\n\
             [[block]]\nname = \"b\"\nabout = \"\"\ntop = \"b\"\nfiles = []\n\
             [[sum]]\nname = \"both\"\nabout = \"\"\nof = { a = 1, b = 2 }\n",
        )
        .unwrap();
        let area = |lut| Figures { lut: Some(lut), ..Figures::default() };
        let mut rows = Vec::new();
        let mut save = |block: &str, figures| {
            let now = Values::from([(block.to_string(), (figures, None))]);
            let all = beside(values_of(std::mem::take(&mut rows)), now);
            rows = super::rows(&lines(&registry.blocks, &registry.sums, &all));
        };
        save("a", Figures { fmax_ratio: Some(1.5), ..area(10.0) });
        save("b", area(1.0));
        save("a", area(20.0));
        let found: Vec<_> =
            rows.iter().map(|row| (row.case["block"].as_str().unwrap(), row.metric.as_str(), row.value)).collect();
        assert_eq!(found, [("a", "lut", 20.0), ("a", "fmax_ratio", 1.5), ("b", "lut", 1.0), ("both", "lut", 22.0)]);
    }
}
