// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock bench`: repeats the measurements of the papers, and prints them beside the papers' figures and the
//! project's goals.

use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use clap::builder::{PossibleValue, PossibleValuesParser};
use penstock_bench::row::{self, Row};
use penstock_bench::{Bench, BenchError, Lab, Selection, word};
use penstock_benches::benches;
use penstock_device::fpga::{self, Shell};
use penstock_device::rtl::RtlDevice;
use penstock_device::{Design, Root};
use penstock_engine::say;

use crate::files;
use crate::show::Bar;

/// The word for all benches.
const ALL: &str = "all";

/// Measures the card and prints the result beside the published or measured figures of others.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// Bench.
    #[arg(value_parser = names())]
    pub name: String,
    /// Write the figures as a JSON list.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Also write them to bench/results/NAME.json.
    #[arg(long)]
    pub save: bool,
    /// Only these frame sizes, in bytes without FCS.
    #[arg(long = "size", value_name = "BYTES", value_delimiter = ',')]
    pub sizes: Vec<usize>,
    /// Only cards with this number of units.
    #[arg(long = "units", value_name = "N", value_delimiter = ',')]
    pub units: Vec<u32>,
    /// Only cases with this parameter, for example `key=5-tuple`; may be given several times. Few benches have it.
    #[arg(long = "case", value_name = "NAME=VALUE", value_parser = parameter)]
    pub cases: Vec<(String, String)>,
}

/// A parameter of a case.
fn parameter(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').map(|(name, value)| (name.to_string(), value.to_string()));
    parts.ok_or_else(|| format!("`{text}`: write NAME=VALUE, for example trace=MW15"))
}

/// A bench.
fn names() -> PossibleValuesParser {
    let each = benches().map(|bench| PossibleValue::new(bench.name).help(bench.about));
    each.chain([PossibleValue::new(ALL).help("All of them")]).collect::<Vec<_>>().into()
}

/// Runs the measurement. An error names the cases that fall behind a published figure or a goal, after everything is
/// printed and written.
pub(crate) fn run(args: &Args, root: &Root) -> Result<(), BenchError> {
    let selection = Selection { sizes: args.sizes.clone(), units: args.units.clone(), cases: args.cases.clone() };
    let named = || benches().filter(|bench| args.name == ALL || args.name == bench.name);
    let chosen: Vec<&Bench> = named().filter(|bench| bench.measures(&selection)).collect();
    let has_units = |units: &u32| chosen.iter().any(|bench| bench.units.contains(units));
    let has_size = |size: &usize| chosen.iter().any(|bench| bench.sizes.contains(size));
    if chosen.is_empty() || !args.units.iter().all(has_units) || !args.sizes.iter().all(has_size) {
        return Err(BenchError::NoCase(named().map(choices).collect::<Vec<_>>().join("\n")));
    }
    let open = |design: &Design| {
        let mut bar = Bar::new(design.units());
        let device = RtlDevice::open(root, design, None, &mut |progress| bar.show(progress));
        bar.finish();
        device
    };
    let simulator = |design: &Design, shell: Shell| {
        let mut bar = Bar::new(design.units());
        let program = fpga::simulator(root, design, shell, &mut |progress| bar.show(progress));
        bar.finish();
        program
    };
    let mut all = Vec::new();
    for bench in chosen {
        let mut rows = Vec::new();
        say!("{}", heading(bench));
        let mut report = |new: &[Row]| {
            say::text(&line(new));
            rows.extend_from_slice(new);
        };
        (bench.run)(&Lab::new(root, &selection, &open, &simulator, &mut report))?;
        if args.save && !rows.is_empty() {
            save(&root.join(format!("bench/results/{}.json", bench.name)), &rows)?;
        }
        all.append(&mut rows);
    }
    if let Some(path) = &args.json {
        write(path, &all)?;
    }
    let worse = behind(&all);
    if worse.is_empty() { Ok(()) } else { Err(BenchError::Worse(worse)) }
}

/// The parameters by which cases of a bench can be selected: a line.
fn choices(bench: &Bench) -> String {
    let mut choices = Vec::new();
    if !bench.units.is_empty() {
        choices.push(format!("--units {}", list(bench.units)));
    }
    if !bench.sizes.is_empty() {
        choices.push(format!("--size {}", list(bench.sizes)));
    }
    if bench.has_cases {
        choices.push("--case with a parameter that it prints, as NAME=VALUE".to_string());
    }
    if choices.is_empty() {
        choices.push("no choice of cases".to_string());
    }
    format!("  {}: {}", bench.name, choices.join("; "))
}

fn list<T: ToString>(numbers: &[T]) -> String {
    numbers.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

fn write(path: &Path, rows: &[Row]) -> Result<(), BenchError> {
    Ok(files::write(path, row::to_json(rows)?)?)
}

/// Writes the rows over the saved ones of the same cases, and says how many saved rows stay as they were.
fn save(path: &Path, rows: &[Row]) -> Result<(), BenchError> {
    let before = match path.exists() {
        true => serde_json::from_str(&files::read(path, "delete it to begin anew")?)?,
        false => Vec::new(),
    };
    let (rows, kept) = row::beside(before, rows.to_vec());
    if kept > 0 {
        say!("{}: {kept} rows that this run did not measure stay; delete the file to drop them", path.display());
    }
    write(path, &rows)
}

/// The message about rows below the figure beside them: a line for each case, with the first such row.
fn behind(rows: &[Row]) -> Vec<String> {
    let mut lines: Vec<(&Row, String)> = Vec::new();
    for row in rows {
        let missed = row.missed();
        if missed.is_empty() || lines.iter().any(|(other, _)| (&other.bench, &other.case) == (&row.bench, &row.case)) {
            continue;
        }
        let figures: Vec<String> = missed.iter().map(|(name, figure)| format!("{name} {figure:.1}")).collect();
        let text = format!("{} {}: {:.1} {}, {}", row.bench, case(row), row.value, row.metric, figures.join(", "));
        lines.push((row, text));
    }
    lines.into_iter().map(|(_, text)| text).collect()
}

fn heading(bench: &Bench) -> String {
    format!("\n{}\n{:<44}{:>12}{:>12}{:>12}", bench.name, "case", "ours", bench.beside, "goal")
}

/// The parameters of a row's case.
fn case(row: &Row) -> String {
    let parameters: Vec<String> = row.case.iter().map(|(name, value)| format!("{name} {}", word(value))).collect();
    parameters.join(" ")
}

/// One line for the rows of a case: the first in full, followed by the others.
fn line(rows: &[Row]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let number = |value: Option<f64>| value.map_or("-".to_string(), |value| format!("{value:.1}"));
    let mut text = format!(
        "{:<44}{:>12}{:>12}{:>12} {}",
        case(first),
        number(Some(first.value)),
        number(first.paper),
        number(first.goal),
        first.metric
    );
    for row in &rows[1..] {
        text += &match row.metric.as_str() {
            "share" => format!("  {:5.1} % {}", row.value * 100.0, row.unit),
            metric => format!("  {:6.1} {metric}", row.value),
        };
    }
    if let Some(peer) = &first.peer {
        text += &format!("\n  beside it, {peer}");
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use penstock_bench::row::Better::{self, Higher, Lower};
    use std::slice::from_ref;

    fn plain() -> Bench {
        Bench::new("plain", "a bench without choices", |_| Ok(()))
    }

    fn row(metric: &str, better: Better, rates: [Option<f64>; 2], value: f64) -> Row {
        Row::new("b", &Default::default(), (metric, "u", better), rates, value)
    }

    /// The row has the direction of improvement, so no metric is skipped because its name is unknown.
    #[test]
    fn a_figure_is_missed_in_the_direction_that_the_row_names() {
        let missed = |better, rates, value| !row("of any name", better, rates, value).missed().is_empty();
        for rates in [[Some(100.0), None], [None, Some(100.0)]] {
            assert!(missed(Higher, rates, 98.0) && !missed(Higher, rates, 99.5) && !missed(Higher, rates, 200.0));
            assert!(missed(Lower, rates, 101.0) && !missed(Lower, rates, 100.0) && !missed(Lower, rates, 1.0));
        }
        assert!(!missed(Higher, [None, None], 0.0) && missed(Lower, [None, Some(0.0)], 1.0));
        assert!(missed(Lower, [Some(15.0), Some(0.0)], 1.0));
        let both = row("mpps", Higher, [Some(10.0), Some(20.0)], 1.0);
        assert_eq!(both.missed(), [("paper", 10.0), ("goal", 20.0)]);
        assert_eq!(row("mpps", Higher, [Some(10.0), Some(20.0)], 15.0).missed(), [("goal", 20.0)]);
    }

    /// `gbps` and `share` are equivalent to `mpps`.
    #[test]
    fn a_case_that_falls_behind_is_told_once() {
        let other = Row { bench: "other".into(), ..row("mpps", Higher, [Some(10.0), None], 20.0) };
        let rows = ["mpps", "gbps"].map(|metric| row(metric, Higher, [None, Some(10.0)], 5.0));
        assert_eq!(behind(&[&rows[..], &[other]].concat()), ["b : 5.0 mpps, goal 10.0"]);
    }

    #[test]
    fn a_parameter_selects_cases() {
        let cases =
            ["trace=MW15", "mhz=156.25"].map(parameter).into_iter().collect::<Result<_, _>>().unwrap_or_default();
        let selection = Selection { sizes: Vec::new(), units: Vec::new(), cases };
        let case = |trace: &str, mhz: f64| {
            [("trace".to_string(), trace.into()), ("mhz".to_string(), mhz.into())].into_iter().collect()
        };
        assert!(selection.takes(&case("MW15", 156.25)));
        assert!(!selection.takes(&case("MW15", 166.0)) && !selection.takes(&case("UNI1", 156.25)));
        let by_case = Bench { has_cases: true, ..plain() };
        assert!(by_case.measures(&selection) && !plain().measures(&selection));
        assert!(parameter("MW15").is_err());
    }

    #[test]
    fn a_measured_peer_is_told_from_a_paper() {
        let published = row("cycles_per_s", Higher, [Some(109.0), None], 200.0);
        let measured = Row { peer: Some("measured: somewhere".into()), ..published.clone() };
        assert!(!line(from_ref(&published)).contains("measured"));
        assert!(
            line(from_ref(&measured)).contains("109.0") && line(from_ref(&measured)).contains("measured: somewhere")
        );
        assert!(!row::to_json(from_ref(&published)).unwrap_or_default().contains("peer"));
        let json = row::to_json(from_ref(&measured)).unwrap_or_default();
        assert_eq!(serde_json::from_str::<Vec<Row>>(&json).unwrap_or_default(), [measured]);
    }

    #[test]
    fn sizes_and_units_select_benches() {
        let bench = Bench { units: &[16, 8], sizes: &[64, 128], ..plain() };
        let takes = |units: &[u32], sizes: &[usize]| {
            bench.measures(&Selection { units: units.to_vec(), sizes: sizes.to_vec(), cases: Vec::new() })
        };
        assert!(takes(&[], &[]) && takes(&[8], &[]) && takes(&[8, 4], &[64, 1]));
        assert!(!takes(&[4], &[]) && !takes(&[8], &[65]));
        let of_units = |units: &[u32]| Selection { units: units.to_vec(), ..Selection::default() };
        assert!(plain().measures(&of_units(&[])) && !plain().measures(&of_units(&[1])));
    }

    #[test]
    fn names_of_benches_differ_and_have_help() {
        let mut names: Vec<&str> = benches().map(|bench| bench.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(benches().all(|bench| !bench.about.is_empty() && bench.name != ALL));
    }
}
