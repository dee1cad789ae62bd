// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The reports of Vivado that a build leaves: utilization and timing summary, as text (UG906, UG835
//! `report_utilization`, `report_timing_summary`). A report is recognised by its contents.

use std::fmt::{self, Write as _};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::area::{Area, RESOURCES, number};

/// Bytes of a report that are read: its summary is at the beginning.
const MOST_BYTES: u64 = 16 << 20;
/// Files and folders that a search for reports looks at, and how deep it goes.
const MOST_FILES: usize = 200_000;
const DEPTH: u32 = 10;
/// Lines of a section, and bytes of a line, that are looked at: many times those of the largest reports.
const MOST_LINES: usize = 100_000;
const LINE_BYTES: usize = 4_096;
/// Clocks and pairs of clocks that are kept.
const MOST_CLOCKS: usize = 1_000;

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A file cannot be read.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is no report that we know.
    #[error("{}: {problem}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// Two files are reports of the same kind.
    #[error("{}: {} is a report of the same kind; give one of each", path.display(), earlier.display())]
    Twice {
        /// The later one.
        path: PathBuf,
        /// The earlier one.
        earlier: PathBuf,
    },
    /// A folder has no report.
    #[error(
        "{}: there is no report of utilization or timing in this folder; is it the one in which the tool has built, and has the build ended?",
        .0.display()
    )]
    None(PathBuf),
}

/// The resources that a design uses.
#[derive(Debug, Clone, PartialEq)]
pub struct Utilization {
    /// The device.
    pub device: String,
    /// How far the tool was: `Synthesized`, `Placed`, `Routed`.
    pub state: String,
    /// The resources that the design uses.
    pub used: Area,
    /// The resources of the device.
    pub available: Area,
}

/// A clock, or the way from one clock to another.
#[derive(Debug, Clone, PartialEq)]
pub struct ClockTiming {
    /// The clock where paths begin.
    pub from: String,
    /// The clock where they end.
    pub to: String,
    /// Period of the clock, ns, if both are the same.
    pub period_ns: Option<f64>,
    /// Worst slack of setup, ns; None: no path.
    pub setup_ns: Option<f64>,
    /// Ends of paths that are too slow.
    pub failing: u64,
}

/// Whether a design meets its constraints.
#[derive(Debug, Clone, PartialEq)]
pub struct TimingSummary {
    /// The device.
    pub device: String,
    /// The worst slacks of setup, hold and pulse width, ns; None: nothing was checked.
    pub slacks_ns: [Option<f64>; 3],
    /// How many ends of paths fail each of them.
    pub failing: [u64; 3],
    /// The tool says that all constraints are met, and no path fails.
    pub is_met: bool,
    /// Each clock, and pairs of clocks that fail.
    pub clocks: Vec<ClockTiming>,
}

/// The contents of a build's reports.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reports {
    /// Resources, and the file that has them.
    pub utilization: Option<(PathBuf, Utilization)>,
    /// Timing, and the file that has it.
    pub timing: Option<(PathBuf, TimingSummary)>,
}

/// A report of some kind.
enum Report {
    Utilization(Utilization),
    Timing(TimingSummary),
}

/// Names of the resources in reports of UltraScale+ devices. A synthesized design has a star behind its LUTs, which are
/// only estimated.
const ROWS: [&[&str]; 5] =
    [&["CLB LUTs", "CLB LUTs*"], &["CLB Registers"], &["Block RAM Tile"], &["URAM"], &["DSPs", "DSP Slices"]];

/// A number that a report may have: finite, and not below zero.
fn amount(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0 && *value < 1e12)
}

/// A slack, which may be below zero.
fn slack(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|value| value.is_finite() && value.abs() < 1e9)
}

/// The value of a line in the head: `| Device       : xcu250-figd2104`.
fn head<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().take(40).find_map(|line| {
        let (key, value) = line.strip_prefix('|')?.split_once(':')?;
        (key.trim() == name).then(|| value.trim())
    })
}

/// Cells of a line of a table; None if it is none.
fn cells(line: &str) -> Option<Vec<&str>> {
    if line.len() > LINE_BYTES {
        return None;
    }
    let inner = line.trim_end().strip_prefix('|')?.strip_suffix('|')?;
    Some(inner.split('|').map(str::trim).collect())
}

impl Utilization {
    /// Reads a report.
    fn read(text: &str) -> Result<Self, String> {
        let mut found: [Option<(f64, f64)>; 5] = [None; 5];
        // The columns of the table that the line is in.
        let mut columns = None;
        for row in text.lines().map(cells) {
            let Some(row) = row else {
                continue;
            };
            if row.first() == Some(&"Site Type") {
                let at = |name: &str| row.iter().position(|cell| *cell == name);
                columns = at("Used").zip(at("Available"));
                continue;
            }
            let Some(resource) = ROWS.iter().position(|names| row.first().is_some_and(|name| names.contains(name)))
            else {
                continue;
            };
            // A row stands in several tables; the first has the whole device.
            let Some((used, available)) = columns.filter(|_| found[resource].is_none()) else { continue };
            let value = |at: usize| row.get(at).and_then(|cell| amount(cell));
            let (Some(used), Some(available)) = (value(used), value(available)) else {
                return Err(format!("`{}` has no numbers: {}", row[0], row.join(" | ")));
            };
            found[resource] = Some((used, available));
        }
        let Some(lut) = found[0] else {
            return Err("it has no row `CLB LUTs` with columns `Used` and `Available`: give the report of \
                        `report_utilization` without options, of an UltraScale+ device"
                .into());
        };
        let missing = ROWS.iter().zip(&found).find(|(names, row)| row.is_none() && names[0] != "URAM");
        if let Some((names, _)) = missing {
            return Err(format!("it has no row `{}`: it was cut off, or is of another kind of device", names[0]));
        }
        // A device without UltraRAM has no row for it.
        let area = |of: fn((f64, f64)) -> f64| Area {
            lut: of(lut),
            ff: found[1].map_or(0.0, of),
            bram: found[2].map_or(0.0, of),
            uram: found[3].map_or(0.0, of),
            dsp: found[4].map_or(0.0, of),
        };
        Ok(Self {
            device: head(text, "Device").unwrap_or("?").to_owned(),
            state: head(text, "Design State").unwrap_or("?").to_owned(),
            used: area(|(used, _)| used),
            available: area(|(_, available)| available),
        })
    }
}

/// The lines of a section, from below its title to the next title.
fn section<'a>(text: &'a str, title: &str) -> Option<Vec<&'a str>> {
    let is_title = |line: &str| line.strip_prefix("| ").is_some_and(|name| name.trim_end() == title);
    let mut lines = text.lines().skip_while(|line| !is_title(line));
    lines.next()?;
    let lines = lines.skip(1).take_while(|line| !line.starts_with("| "));
    Some(lines.filter(|line| line.len() <= LINE_BYTES).take(MOST_LINES).collect())
}

/// A table without frames: numbers end where the titles of their columns do.
struct Columns {
    /// Titles and ends.
    ends: Vec<(String, usize)>,
}

/// Words of a line with the columns behind their ends.
fn words(line: &str) -> Vec<(&str, usize)> {
    line.split_whitespace().map(|word| (word, word.as_ptr() as usize - line.as_ptr() as usize + word.len())).collect()
}

impl Columns {
    /// The columns of a head line; titles have single blanks inside.
    fn of(line: &str) -> Self {
        let mut ends: Vec<(String, usize)> = Vec::new();
        for (word, end) in words(line) {
            match ends.last_mut() {
                Some((title, last)) if end - word.len() == *last + 1 => {
                    title.push(' ');
                    title.push_str(word);
                    *last = end;
                }
                _ => ends.push((word.to_owned(), end)),
            }
        }
        Self { ends }
    }

    /// The word of a line in a column.
    fn cell<'a>(&self, line: &'a str, title: &str) -> Option<&'a str> {
        let end = self.ends.iter().find(|(name, _)| name == title)?.1;
        words(line).into_iter().find(|(_, at)| *at == end).map(|(word, _)| word)
    }
}

/// The head line of a section's table, and its rows.
fn table<'a>(lines: &[&'a str]) -> Option<(Columns, Vec<&'a str>)> {
    // Frames of titles are rules without a blank.
    let is_rule =
        |line: &str| line.contains("  ") && line.contains('-') && line.bytes().all(|byte| b" -".contains(&byte));
    let rule = lines.iter().position(|line| is_rule(line))?;
    let head = lines.get(rule.checked_sub(1)?)?;
    let rows = lines.get(rule + 1..)?.iter().take_while(|line| !line.trim().is_empty()).copied();
    Some((Columns::of(head), rows.collect()))
}

impl TimingSummary {
    /// Reads a report.
    fn read(text: &str) -> Result<Self, String> {
        let missing = |what: &str| format!("it has no {what}: give the report of `report_timing_summary`");
        let lines = section(text, "Design Timing Summary").ok_or_else(|| missing("`Design Timing Summary`"))?;
        let (columns, rows) = table(&lines).ok_or_else(|| missing("table below `Design Timing Summary`"))?;
        let row = rows.first().ok_or_else(|| missing("figures below `Design Timing Summary`"))?;
        let mut summary = Self {
            device: head(text, "Device").unwrap_or("?").to_owned(),
            slacks_ns: [None; 3],
            failing: [0; 3],
            is_met: lines.iter().any(|line| line.trim() == "All user specified timing constraints are met."),
            clocks: Vec::new(),
        };
        let kinds = [
            ("WNS(ns)", "TNS Failing Endpoints"),
            ("WHS(ns)", "THS Failing Endpoints"),
            ("WPWS(ns)", "TPWS Failing Endpoints"),
        ];
        for (index, (worst, failing)) in kinds.into_iter().enumerate() {
            let cell = |title| columns.cell(row, title).ok_or_else(|| missing(&format!("figure below `{title}`")));
            summary.slacks_ns[index] = match cell(worst)? {
                "NA" => None,
                text => Some(slack(text).ok_or_else(|| format!("`{worst}` is no number: {text}"))?),
            };
            summary.failing[index] = match cell(failing)? {
                "NA" => 0,
                text => text.parse().map_err(|_| format!("`{failing}` is no count: {text}"))?,
            };
        }
        summary.is_met &= summary.failing == [0; 3] && summary.slacks_ns.iter().flatten().all(|slack| *slack >= 0.0);
        let periods = section(text, "Clock Summary").and_then(|lines| table(&lines));
        let periods: Vec<(&str, f64)> = periods.map_or_else(Vec::new, |(_, rows)| {
            let period = |row: &'_ str| {
                let (_, behind) = row.split_once('}')?;
                amount(behind.split_whitespace().next()?)
            };
            rows.into_iter().filter_map(|row| Some((row.split_whitespace().next()?, period(row)?))).collect()
        });
        let of = |columns: &Columns, row: &str, from: &str, to: &str, period_ns| ClockTiming {
            from: from.to_owned(),
            to: to.to_owned(),
            period_ns,
            setup_ns: columns.cell(row, "WNS(ns)").and_then(slack),
            failing: columns.cell(row, "TNS Failing Endpoints").and_then(|text| text.parse().ok()).unwrap_or(0),
        };
        if let Some((columns, rows)) = section(text, "Intra Clock Table").and_then(|lines| table(&lines)) {
            for row in rows.into_iter().take(MOST_CLOCKS) {
                let Some(name) = row.split_whitespace().next() else { continue };
                let period = periods.iter().find(|(clock, _)| *clock == name).map(|(_, period)| *period);
                summary.clocks.push(of(&columns, row, name, name, period));
            }
        }
        if let Some((columns, rows)) = section(text, "Inter Clock Table").and_then(|lines| table(&lines)) {
            for row in rows.into_iter().take(MOST_CLOCKS) {
                let mut names = row.split_whitespace();
                let (Some(from), Some(to)) = (names.next(), names.next()) else { continue };
                let clock = of(&columns, row, from, to, None);
                if clock.failing > 0 {
                    summary.clocks.push(clock);
                }
            }
        }
        Ok(summary)
    }
}

impl ClockTiming {
    /// The fastest clock with which the slowest path would be in time, MHz.
    fn fastest_mhz(&self) -> Option<f64> {
        let needs = self.period_ns? - self.setup_ns?;
        (needs > 0.0).then(|| 1000.0 / needs)
    }
}

/// Reads a text as a report.
fn parse(text: &str) -> Result<Report, String> {
    let has = |words: &str| text.lines().any(|line| line.trim() == words);
    match (has("Timing Summary Report"), has("Utilization Design Information")) {
        (true, _) => TimingSummary::read(text).map(Report::Timing),
        (_, true) => Utilization::read(text).map(Report::Utilization),
        _ => {
            Err("this is no text report of utilization or timing by Vivado: give a file that `report_utilization` or \
                  `report_timing_summary` wrote"
                .into())
        }
    }
}

fn load(path: &Path) -> Result<Report, ReportError> {
    let file = |source| ReportError::File { path: path.to_path_buf(), source };
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes)).map_err(file)?;
    parse(&String::from_utf8_lossy(&bytes)).map_err(|problem| ReportError::Format { path: path.to_path_buf(), problem })
}

/// Files with the ending `.rpt` below a folder, the newest first.
fn candidates(folder: &Path) -> Result<Vec<(SystemTime, PathBuf)>, ReportError> {
    let mut found = Vec::new();
    let (mut folders, mut seen) = (vec![(folder.to_path_buf(), 0)], 0);
    while let Some((path, depth)) = folders.pop() {
        let file = |source| ReportError::File { path: path.clone(), source };
        for entry in fs::read_dir(&path).map_err(file)? {
            seen += 1;
            let Ok(entry) = entry else { continue };
            let (Ok(kind), path) = (entry.file_type(), entry.path()) else { continue };
            if kind.is_dir() && depth < DEPTH && seen < MOST_FILES {
                folders.push((path, depth + 1));
            } else if kind.is_file() && path.extension().is_some_and(|ending| ending == "rpt") {
                let changed = entry.metadata().and_then(|about| about.modified());
                found.push((changed.unwrap_or(SystemTime::UNIX_EPOCH), path));
            }
        }
    }
    found.sort();
    found.reverse();
    Ok(found)
}

impl Reports {
    fn add(&mut self, path: &Path, report: Report) {
        match report {
            Report::Utilization(report) => self.utilization = Some((path.to_path_buf(), report)),
            Report::Timing(report) => self.timing = Some((path.to_path_buf(), report)),
        }
    }

    /// Reads reports.
    ///
    /// # Errors
    /// A file cannot be read, or is no report; two are of one kind.
    pub fn of_files(paths: &[PathBuf]) -> Result<Self, ReportError> {
        let mut all = Self::default();
        for path in paths {
            let report = load(path)?;
            let earlier = match &report {
                Report::Utilization(_) => all.utilization.as_ref().map(|(path, _)| path),
                Report::Timing(_) => all.timing.as_ref().map(|(path, _)| path),
            };
            if let Some(earlier) = earlier {
                return Err(ReportError::Twice { path: path.clone(), earlier: earlier.clone() });
            }
            all.add(path, report);
        }
        Ok(all)
    }

    /// Finds the newest report of each kind below a folder. Other reports of the tool are not looked at; of those from
    /// before `since` none counts.
    ///
    /// # Errors
    /// The folder cannot be read, or has no report.
    pub fn of_folder(folder: &Path, since: Option<SystemTime>) -> Result<Self, ReportError> {
        let mut all = Self::default();
        for (changed, path) in candidates(folder)? {
            if since.is_some_and(|since| changed < since) || all.utilization.is_some() && all.timing.is_some() {
                break;
            }
            match load(&path) {
                Ok(Report::Utilization(_)) if all.utilization.is_some() => {}
                Ok(Report::Timing(_)) if all.timing.is_some() => {}
                Ok(report) => all.add(&path, report),
                Err(_) => {}
            }
        }
        if all == Self::default() { Err(ReportError::None(folder.to_path_buf())) } else { Ok(all) }
    }
}

impl fmt::Display for Reports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((path, report)) = &self.utilization {
            let Utilization { device, state, used, available } = report;
            writeln!(f, "{} ({state}):", path.display())?;
            let mut rows: Vec<(&str, [String; 5])> = vec![
                ("area", RESOURCES.map(|(_, title, _)| title.to_owned())),
                ("used", RESOURCES.map(|(.., of)| number(of(used)))),
                (device, RESOURCES.map(|(.., of)| number(of(available)))),
            ];
            let share =
                |used: f64, has: f64| if has > 0.0 { format!("{:.1} %", 100.0 * used / has) } else { "-".into() };
            rows.push(("  of it", RESOURCES.map(|(.., of)| share(of(used), of(available)))));
            for (name, [lut, ff, bram, uram, dsp]) in rows {
                writeln!(f, "{name:<28}{lut:>10}{ff:>11}{bram:>8}{uram:>7}{dsp:>8}")?;
            }
        }
        if let Some((path, report)) = &self.timing {
            writeln!(f, "{} ({}):", path.display(), report.device)?;
            let names = ["setup", "hold", "pulse width"];
            for ((name, slack), failing) in names.into_iter().zip(report.slacks_ns).zip(report.failing) {
                let slack = slack.map_or("not checked".into(), |slack| format!("{slack:.3} ns"));
                writeln!(f, "worst slack of {name:<13}{slack:>12}, {failing} ends of paths fail")?;
            }
            let mut clocks = String::new();
            for clock in &report.clocks {
                let cell =
                    |value: Option<f64>, digits: usize| value.map_or("-".into(), |value| format!("{value:.digits$}"));
                let name =
                    if clock.from == clock.to { clock.from.clone() } else { format!("{} to {}", clock.from, clock.to) };
                let mhz = clock.period_ns.filter(|period| *period > 0.0).map(|period| 1000.0 / period);
                let _ = writeln!(
                    clocks,
                    "{name:<40}{:>10}{:>12}{:>10}{:>9}",
                    cell(mhz, 3),
                    cell(clock.setup_ns, 3),
                    cell(clock.fastest_mhz(), 1),
                    clock.failing
                );
            }
            if !clocks.is_empty() {
                writeln!(f, "{:<40}{:>10}{:>12}{:>10}{:>9}", "clock", "MHz", "slack ns", "MHz max", "failing")?;
                f.write_str(&clocks)?;
            }
            f.write_str(if report.is_met {
                "all constraints are met\n"
            } else {
                "NOT all constraints are met: this bitstream must not be used\n"
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use penstock_testing::{Numbers, damage};

    use super::*;

    const UTILIZATION: &str = include_str!("../../tests/reports/utilization.rpt");
    const TIMING: &str = include_str!("../../tests/reports/timing.rpt");
    const FAILING: &str = include_str!("../../tests/reports/failing.rpt");

    #[test]
    fn a_utilization_report_is_read() {
        let Ok(Report::Utilization(report)) = parse(UTILIZATION) else { panic!("no utilization") };
        let used = Area { lut: 301_234.0, ff: 245_678.0, bram: 826.5, uram: 519.0, dsp: 68.0 };
        let available = Area { lut: 1_728_000.0, ff: 3_456_000.0, bram: 2688.0, uram: 1280.0, dsp: 12288.0 };
        assert_eq!((report.used, report.available), (used, available));
        assert_eq!((&*report.device, &*report.state), ("xcu250-figd2104-2L-e", "Routed"));
        // A device without UltraRAM, and a design that is only synthesized
        let text: String =
            UTILIZATION.lines().filter(|line| !line.contains("URAM")).map(|line| format!("{line}\r\n")).collect();
        let Ok(Report::Utilization(report)) = parse(&text.replace("CLB LUTs ", "CLB LUTs*")) else { panic!("{text}") };
        assert_eq!(report.used, Area { uram: 0.0, ..used });
        assert_eq!(report.available.uram, 0.0);
    }

    #[test]
    fn a_timing_report_is_read() {
        let Ok(Report::Timing(report)) = parse(TIMING) else { panic!("no timing") };
        assert_eq!((report.slacks_ns, report.failing), ([Some(0.042), Some(0.011), Some(0.124)], [0; 3]));
        assert!(report.is_met);
        let clock = |name: &str, period_ns, setup_ns| ClockTiming {
            from: name.into(),
            to: name.into(),
            period_ns,
            setup_ns,
            failing: 0,
        };
        let clocks = [
            clock("axil_aclk", Some(8.0), Some(2.5)),
            clock("card_clk_out", Some(4.0), Some(0.042)),
            // It has no path of its own.
            clock("qsfp0_refclk_p", Some(6.4), None),
            clock("txoutclk_out[0]", Some(3.103), Some(0.25)),
        ];
        assert_eq!(report.clocks, clocks);
        assert_eq!(report.clocks[1].fastest_mhz().map(|mhz| (mhz * 10.0).round()), Some(2527.0));
    }

    #[test]
    fn a_design_that_is_too_slow_is_known() {
        let Ok(Report::Timing(report)) = parse(FAILING) else { panic!("no timing") };
        assert_eq!((report.slacks_ns, report.failing), ([Some(-0.731), Some(0.011), None], [1204, 0, 0]));
        assert!(!report.is_met);
        let slow: Vec<_> = report.clocks.iter().filter(|clock| clock.failing > 0).collect();
        assert_eq!(slow.len(), 2);
        assert_eq!((&*slow[0].from, &*slow[0].to, slow[0].setup_ns), ("card_clk_out", "card_clk_out", Some(-0.731)));
        assert_eq!((&*slow[1].from, &*slow[1].to, slow[1].failing), ("axil_aclk", "card_clk_out", 3));
        let text = Reports { utilization: None, timing: Some(("a.rpt".into(), report)) }.to_string();
        assert!(text.contains("NOT all constraints are met") && text.contains("axil_aclk to card_clk_out"), "{text}");
    }

    #[test]
    fn what_is_no_report_is_refused() {
        let fails = |text: &str, words: &str| {
            let error = parse(text).err().unwrap();
            assert!(error.contains(words), "{error}");
        };
        fails("", "this is no text report");
        fails("Utilization Design Information\n", "no row `CLB LUTs`");
        fails("Timing Summary Report\n", "no `Design Timing Summary`");
        fails(&UTILIZATION.replace("301234", "many"), "`CLB LUTs` has no numbers");
        fails(&UTILIZATION.replace("301234", "-1"), "`CLB LUTs` has no numbers");
        fails(&UTILIZATION.replace("301234", "nan"), "`CLB LUTs` has no numbers");
        fails(&TIMING.replacen("0.042", "0,042", 1), "`WNS(ns)` is no number");
        fails(&TIMING.replacen("0.042", "  inf", 1), "`WNS(ns)` is no number");
        // Cut in the middle of the figures
        let cut = TIMING.find("0.042").unwrap();
        fails(&TIMING[..cut], "no figure");
    }

    /// Damaged reports are read or refused.
    #[test]
    fn damaged_reports_do_no_harm() {
        let mut read = [0; 2];
        for case in 0..3_000 {
            let mut numbers = Numbers::of_case(case);
            let mut bytes = numbers.of(&[UTILIZATION, TIMING, FAILING]).as_bytes().to_vec();
            damage::bytes(&mut bytes, &mut numbers);
            match parse(&String::from_utf8_lossy(&bytes)) {
                Ok(Report::Utilization(report)) => {
                    read[0] += 1;
                    let reports = Reports { utilization: Some(("a".into(), report)), timing: None };
                    assert!(!reports.to_string().contains("inf"));
                }
                Ok(Report::Timing(report)) => {
                    read[1] += 1;
                    assert!(report.clocks.len() <= 2 * MOST_CLOCKS);
                    assert!(!Reports { utilization: None, timing: Some(("a".into(), report)) }.to_string().is_empty());
                }
                Err(problem) => assert!(!problem.is_empty()),
            }
        }
        assert!(read.iter().all(|read| *read > 100), "{read:?}: the cases must not all be refused");
    }

    /// Reports as long as are read, without an end of a line, a section or a table: vectors of their parts stay small.
    #[test]
    fn long_reports_take_little_memory() {
        let longest = MOST_BYTES as usize;
        let fill = |text: &str, part: &str| text.to_owned() + &part.repeat((longest - text.len()) / part.len());
        let row = "| Site Type | Used | Fixed | Available |\n";
        let title = "| Design Timing Summary\n| ---------------------\n";
        for part in ["|", "| ", " a", "-  ", "a\n", "\n", "|\n", "||||||||\n"] {
            for head in [
                "Utilization Design Information\n".to_owned(),
                format!("Utilization Design Information\n{row}"),
                "Timing Summary Report\n".to_owned(),
                format!("Timing Summary Report\n{title}"),
                format!("Timing Summary Report\n{title}\nWNS(ns)\n-------  --\n"),
            ] {
                let text = fill(&head, part);
                assert!(parse(&text).is_err());
                let lines = section(&text, "Design Timing Summary").unwrap_or_default();
                assert!(lines.len() <= MOST_LINES && lines.iter().all(|line| line.len() <= LINE_BYTES));
                assert!(text.lines().filter_map(cells).all(|cells| cells.len() <= LINE_BYTES));
            }
        }
    }

    #[test]
    fn the_newest_report_of_each_kind_is_found() {
        let folder = std::env::temp_dir().join(format!("penstock-reports-{}", std::process::id()));
        let put = |name: &str, text: &str, seconds: u64| {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            File::options().append(true).open(&path).unwrap().set_modified(time).unwrap();
        };
        put("a/runs/impl_1/top_utilization_placed.rpt", UTILIZATION, 10);
        put("a/runs/impl_1/top_timing_summary_routed.rpt", TIMING, 20);
        put("a/runs/impl_1/top_timing_summary_old.rpt", FAILING, 5);
        put("a/runs/impl_1/top_clock_utilization.rpt", "Clock Utilization\n", 30);
        put("a/runs/impl_1/top_timing.txt", FAILING, 40);
        let found = Reports::of_folder(&folder, None).unwrap();
        assert!(found.timing.as_ref().unwrap().1.is_met);
        assert!(found.utilization.as_ref().unwrap().0.ends_with("top_utilization_placed.rpt"));
        let since = |seconds| Some(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds));
        let found = Reports::of_folder(&folder, since(15)).unwrap();
        assert!(found.utilization.is_none() && found.timing.is_some());
        assert!(matches!(Reports::of_folder(&folder, since(25)), Err(ReportError::None(_))));
        assert!(matches!(Reports::of_folder(&folder.join("none"), None), Err(ReportError::File { .. })));
        fs::remove_dir_all(folder).unwrap();
    }
}
