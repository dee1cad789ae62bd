// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock bench`: repeats the measurements of the papers, and prints them beside the papers' figures and the
//! project's goals.

use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, ValueEnum};
use penstock_device::Root;
use penstock_engine::say;

use crate::bench::row::{self, Row};
use crate::bench::{
    BenchError, SIZES, Selection, firewall, flow_latency, flow_rate, flow_soft, flow_table, forward, generate, latency,
    messages, reload, sim_speed, word, xdp_rate, xdp_rows, xdp_soft,
};
use crate::files;

/// Measures the card and prints the result beside the published or measured figures of others.
#[derive(Debug, ClapArgs)]
pub struct Args {
    #[arg(value_enum)]
    pub name: Name,
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
    /// Only cases of flow-rate and xdp-rate with this parameter, for example `key=5-tuple`; may be given several times.
    #[arg(long = "case", value_name = "NAME=VALUE", value_parser = parameter)]
    pub cases: Vec<(String, String)>,
}

/// A parameter of a case.
fn parameter(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').map(|(name, value)| (name.to_string(), value.to_string()));
    parts.ok_or_else(|| format!("`{text}`: write NAME=VALUE, for example trace=MW15"))
}

/// A bench.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Name {
    /// Throughput of the smallest forwarder (Rosebud, Figure 7 a and b).
    RpuForward,
    /// Latency of the smallest forwarder (Figure 7 c, Equation 1).
    RpuLatency,
    /// Throughput of the firewall (section 7.2).
    RpuFirewall,
    /// Loopback between units, and broadcast (section 6.3).
    RpuMessages,
    /// Frames that the units make themselves.
    RpuGenerate,
    /// New programs and tables under load (section 4.1).
    RpuReload,
    /// Rows that XDP programs become (hXDP, Figure 8, Table 3).
    XdpRows,
    /// Throughput of XDP programs (hXDP, section 4.3).
    XdpRate,
    /// XDP programs in native code.
    XdpSoft,
    /// State machines in native code (FlowBlaze, Figure 7).
    FlowSoft,
    /// Line rate through an element of the flow engine (FlowBlaze, Figures 8, 11 and 12).
    FlowRate,
    /// Places for new contexts (FlowBlaze, Figure 10).
    FlowTable,
    /// Cycles in an element and in a chain of them (FlowBlaze, section 5.2).
    FlowLatency,
    /// Speed of the simulation.
    SimSpeed,
    /// All of them.
    All,
}

impl Name {
    const EACH: [Self; 14] = [
        Self::RpuForward,
        Self::RpuLatency,
        Self::RpuFirewall,
        Self::RpuMessages,
        Self::RpuGenerate,
        Self::RpuReload,
        Self::XdpRows,
        Self::XdpRate,
        Self::XdpSoft,
        Self::FlowSoft,
        Self::FlowRate,
        Self::FlowTable,
        Self::FlowLatency,
        Self::SimSpeed,
    ];

    fn word(self) -> &'static str {
        match self {
            Self::RpuForward => "rpu-forward",
            Self::RpuLatency => "rpu-latency",
            Self::RpuFirewall => "rpu-firewall",
            Self::RpuMessages => "rpu-messages",
            Self::RpuGenerate => "rpu-generate",
            Self::RpuReload => "rpu-reload",
            Self::XdpRows => "xdp-rows",
            Self::XdpRate => "xdp-rate",
            Self::XdpSoft => "xdp-soft",
            Self::FlowSoft => "flow-soft",
            Self::FlowRate => "flow-rate",
            Self::FlowTable => "flow-table",
            Self::FlowLatency => "flow-latency",
            Self::SimSpeed => "sim-speed",
            Self::All => "all",
        }
    }

    /// Units of the cards that it measures.
    fn units(self) -> &'static [u32] {
        match self {
            Self::RpuForward => &forward::UNITS,
            Self::RpuLatency => &latency::UNITS,
            Self::RpuFirewall => &firewall::UNITS,
            Self::RpuMessages => &messages::UNITS,
            Self::RpuGenerate => &generate::UNITS,
            Self::RpuReload => &reload::UNITS,
            Self::XdpRate => &xdp_rate::UNITS,
            Self::SimSpeed => &sim_speed::UNITS,
            Self::XdpRows
            | Self::XdpSoft
            | Self::FlowSoft
            | Self::FlowRate
            | Self::FlowTable
            | Self::FlowLatency
            | Self::All => &[],
        }
    }

    /// Whether one of its cases is selected.
    fn measures(self, selection: &Selection) -> bool {
        if !selection.cases.is_empty() && !matches!(self, Self::FlowRate | Self::XdpRate) {
            return false;
        }
        if self.units().is_empty() {
            return selection.units.is_empty() && selection.sizes.is_empty();
        }
        let sizes: &[usize] = match self {
            Self::RpuReload => &reload::SIZES,
            Self::XdpRate => &xdp_rate::SIZES,
            _ => &SIZES,
        };
        let shortest = if self == Self::RpuFirewall { firewall::MIN_SIZE } else { 0 };
        selection.units(self.units()).next().is_some() && selection.sizes(sizes).any(|size| size >= shortest)
    }
}

/// Runs the measurement. An error names the cases that fall behind a published figure or a goal, after everything is
/// printed and written.
pub fn run(args: &Args, root: &Root) -> Result<(), BenchError> {
    let selection = Selection { sizes: args.sizes.clone(), units: args.units.clone(), cases: args.cases.clone() };
    let named = |name: &Name| args.name == Name::All || args.name == *name;
    let names: Vec<Name> = Name::EACH.into_iter().filter(|name| named(name) && name.measures(&selection)).collect();
    let known = |units: &u32| names.iter().any(|name| name.units().contains(units));
    if names.is_empty() || !args.units.iter().all(known) || !args.sizes.iter().all(|size| SIZES.contains(size)) {
        return Err(BenchError::NoCase);
    }
    let mut all = Vec::new();
    for name in names {
        let mut rows = Vec::new();
        say!("{}", heading(name));
        let mut report = |new: &[Row]| {
            say::text(&line(new));
            rows.extend_from_slice(new);
        };
        match name {
            Name::RpuForward => forward::run(root, &selection, &mut report)?,
            Name::RpuLatency => latency::run(root, &selection, &mut report)?,
            Name::RpuFirewall => firewall::run(root, &selection, &mut report)?,
            Name::RpuMessages => messages::run(root, &selection, &mut report)?,
            Name::RpuGenerate => generate::run(root, &selection, &mut report)?,
            Name::RpuReload => reload::run(root, &selection, &mut report)?,
            Name::XdpRows => xdp_rows::run(root, &mut report)?,
            Name::XdpRate => xdp_rate::run(root, &selection, &mut report)?,
            Name::XdpSoft => xdp_soft::run(root, &mut report)?,
            Name::FlowSoft => flow_soft::run(root, &mut report)?,
            Name::FlowRate => flow_rate::run(root, &selection, &mut report)?,
            Name::FlowTable => flow_table::run(root, &mut report)?,
            Name::FlowLatency => flow_latency::run(root, &mut report)?,
            Name::SimSpeed => sim_speed::run(root, &selection, &mut report)?,
            Name::All => {}
        }
        if args.save && !rows.is_empty() {
            write(&root.join(format!("bench/results/{}.json", name.word())), &rows)?;
        }
        all.append(&mut rows);
    }
    if let Some(path) = &args.json {
        write(path, &all)?;
    }
    let worse = behind(&all);
    if worse.is_empty() { Ok(()) } else { Err(BenchError::Worse(worse)) }
}

fn write(path: &Path, rows: &[Row]) -> Result<(), BenchError> {
    Ok(files::write(path, row::to_json(rows)?)?)
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

fn heading(name: Name) -> String {
    let beside = if name == Name::SimSpeed { "measured" } else { "paper" };
    format!("\n{}\n{:<44}{:>12}{:>12}{:>12}", name.word(), "case", "ours", beside, "goal")
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
            "share" => format!("  {:5.1} % of line rate", row.value * 100.0),
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
    use crate::bench::row::Better::{self, Higher, Lower};
    use std::slice::from_ref;

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
        assert!(Name::FlowRate.measures(&selection) && !Name::RpuForward.measures(&selection));
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
}
