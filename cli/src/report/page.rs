// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The page itself.

use super::card;
use super::data::{Exit, ReportData, RunData, Slow, UnitCounters, percentile};
use super::plot::{Axis, Column, Line, Plot, Tip};
use super::text::{duration, escape, plural, short};
use crate::show::grouped;
use penstock_bench::wire::{self, LINE_GBPS};
use std::fmt::Write;

/// Intervals that the plots over time are made of.
const BINS: usize = 60;
/// Columns of the latency histogram.
const COLUMNS: usize = 44;

/// The report, complete: nothing in it is loaded from elsewhere.
pub(super) fn html(data: &ReportData) -> String {
    let mut out = String::new();
    let name = escape(&data.design);
    let _ = write!(
        out,
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
         <title>{name} – Penstock report</title><style>{}</style><main><h1>{name}</h1><p class=facts>",
        include_str!("page.css")
    );
    for fact in &data.facts {
        let _ = write!(out, "<span>{}</span>", escape(fact));
    }
    out.push_str("</p>");
    verdict(&mut out, data);
    let detailed = data.runs.iter().find(|r| r.cycles.is_some()).or(data.runs.first());
    if let Some(run) = detailed {
        tiles(&mut out, data, run);
        let _ = write!(
            out,
            "<section><h2>The card</h2><p class=note>Target {}. A pipe is as wide as its share of the frames; a unit is as dark as its \
             share of the load, its bar shows what it <span class=flow>sent</span> and what its program <span class=drop>dropped</span>.</p>\
             <div class=scroll>{}</div></section>",
            escape(&run.target),
            card::svg(run)
        );
        if !run.exits.is_empty() {
            out.push_str("<div class=pair>");
            throughput(&mut out, data, run);
            latency_over_time(&mut out, run);
            latency_histogram(&mut out, run);
            latency_shares(&mut out, run);
            out.push_str("</div>");
        }
        out.push_str("<div class=pair>");
        drops(&mut out, run);
        load(&mut out, run);
        out.push_str("</div>");
        if !run.exits.is_empty() {
            slowest(&mut out, run);
        }
    }
    if data.runs.len() > 1 {
        side_by_side(&mut out, data);
    }
    let _ = writeln!(
        out,
        "<footer>Gb/s count a frame with its {} bytes of FCS, preamble and gap. Latency runs from the first beat in to the last beat out.\
         </footer></main><div id=tip></div><script>{}</script></html>",
        wire::bytes(0),
        include_str!("page.js")
    );
    out
}

/// The conclusion, and the faults.
fn verdict(out: &mut String, data: &ReportData) {
    if let Some(verdict) = &data.verdict {
        banner(out, verdict.good, &verdict.headline, &verdict.reasons);
    }
    for run in data.runs.iter().filter(|run| !run.faults.is_empty()) {
        banner(out, false, &format!("{}: not all went well", run.target), &run.faults);
    }
}

fn banner(out: &mut String, good: bool, headline: &str, sentences: &[String]) {
    let class = if good { "verdict" } else { "verdict bad" };
    let _ = write!(out, "<div class=\"{class}\"><b>{}</b><ul>", escape(headline));
    for sentence in sentences {
        let _ = write!(out, "<li>{}</li>", escape(sentence));
    }
    out.push_str("</ul></div>");
}

fn tiles(out: &mut String, data: &ReportData, run: &RunData) {
    out.push_str("<div class=tiles>");
    let mut tile = |what: &str, big: String, unit: &str, more: String| {
        let _ = write!(
            out,
            "<div class=tile><div class=what>{what}</div><div class=big>{big} <small>{unit}</small></div><div class=more>{more}</div></div>"
        );
    };
    let line = data.ports as f64 * LINE_GBPS;
    let mut first = String::new();
    if run.cycles.is_some() && line > 0.0 {
        first = format!("{} % of {} Gb/s line rate", short(100.0 * run.gbps / line), short(line));
    }
    tile("Traffic taken", short(run.gbps), "Gb/s", first);
    let pace = match (run.cycles, run.clock_mhz, run.seconds) {
        (Some(cycles), Some(clock), _) => format!("{} cycles at {} MHz", grouped(cycles), short(clock)),
        (_, _, Some(seconds)) => format!("in {}", duration(seconds * 1e9)),
        _ => String::new(),
    };
    tile("Frame rate", short(run.mpps), "Mpps", pace);
    let latencies = run.latencies();
    if !latencies.is_empty() {
        let [p50, p99, max] = [0.5, 0.99, 1.0].map(|p| duration(percentile(&latencies, p)));
        tile("Latency, median", p50, "", format!("p99 {p99}, longest {max}"));
    }
    tile("Frames in", grouped(run.frames_in), "", format!("{} bytes", grouped(run.bytes_in)));
    if run.generated > 0 {
        tile("Frames made", grouped(run.generated), "", "by programs".to_owned());
    }
    let used = run.frames_out.iter().filter(|(_, n)| *n > 0);
    let to: Vec<String> = used.map(|(d, n)| format!("{} {}", escape(d), grouped(*n))).collect();
    tile("Frames out", grouped(run.total_out()), "", to.join(", "));
    let share = 100.0 * run.total_drops() as f64 / (run.frames_in + run.generated).max(1) as f64;
    tile("Frames dropped", grouped(run.total_drops()), "", format!("{} % of those that came in", short(share)));
    out.push_str("</div>");
}

/// The time of a run, cut into [`BINS`] equal intervals.
struct Timeline {
    /// Length of an interval, ns.
    step: f64,
}

impl Timeline {
    fn of(run: &RunData) -> Self {
        let end = run.exits.iter().map(|e| e.left_ns).fold(1.0, f64::max);
        Self { step: end / BINS as f64 }
    }

    /// The interval in which a frame left.
    fn index(&self, exit: &Exit) -> usize {
        ((exit.left_ns / self.step) as usize).min(BINS - 1)
    }

    /// Edge `i` in the unit of the axis.
    fn edge(&self, i: usize) -> f64 {
        i as f64 * self.step / 1e3
    }

    fn middle(&self, i: usize) -> f64 {
        (i as f64 + 0.5) * self.step / 1e3
    }

    fn axis(&self) -> Axis {
        Axis::exact("µs since the first frame", self.edge(BINS))
    }

    fn tip(&self, i: usize, text: String) -> Tip {
        Tip { low: self.edge(i), high: self.edge(i + 1), text }
    }
}

fn throughput(out: &mut String, data: &ReportData, run: &RunData) {
    let time = Timeline::of(run);
    let mut gbps = [0.0; BINS];
    let mut mpps = [0.0; BINS];
    for exit in &run.exits {
        gbps[time.index(exit)] += exit.wire_bytes() * 8.0 / time.step;
        mpps[time.index(exit)] += 1e3 / time.step;
    }
    let line = data.ports as f64 * LINE_GBPS;
    let points = gbps.iter().enumerate().map(|(i, g)| (time.middle(i), *g)).collect();
    let plot = Plot {
        x: time.axis(),
        y: Axis::from_zero("Gb/s", gbps.iter().copied().fold(line, f64::max)),
        columns: Vec::new(),
        lines: vec![Line { name: "left".to_owned(), class: "flow", points, area: true }],
        tips: (0..BINS).map(|i| time.tip(i, format!("{} Gb/s\n{} Mpps", short(gbps[i]), short(mpps[i])))).collect(),
        level: Some((line, format!("line rate of {}", plural(data.ports as u64, "port")))),
    };
    section(out, "Throughput over time", "What left the card; frames that it dropped are not in it.", &plot.svg());
}

fn latency_over_time(out: &mut String, run: &RunData) {
    let time = Timeline::of(run);
    let mut within: Vec<Vec<f64>> = vec![Vec::new(); BINS];
    for exit in &run.exits {
        within[time.index(exit)].push(exit.latency_ns());
    }
    within.iter_mut().for_each(|l| l.sort_by(f64::total_cmp));
    let full = || within.iter().enumerate().filter(|(_, l)| !l.is_empty());
    let highest = within.iter().filter_map(|l| l.last()).copied().fold(0.0, f64::max);
    let (unit, name) = unit_of(highest);
    let line = |name: &str, class, p| Line {
        name: name.to_owned(),
        class,
        points: full().map(|(i, l)| (time.middle(i), percentile(l, p) / unit)).collect(),
        area: false,
    };
    let words = |l: &[f64]| {
        let [p50, p99, max] = [0.5, 0.99, 1.0].map(|p| duration(percentile(l, p)));
        format!("{}\nmedian {p50}\np99 {p99}\nlongest {max}", plural(l.len() as u64, "frame"))
    };
    let plot = Plot {
        x: time.axis(),
        y: Axis::from_zero(name, highest / unit),
        columns: Vec::new(),
        lines: vec![line("longest", "quiet", 1.0), line("p99", "drop", 0.99), line("median", "flow", 0.5)],
        tips: full().map(|(i, l)| time.tip(i, words(l))).collect(),
        level: None,
    };
    section(out, "Latency over time", "Of the frames that left in each interval.", &plot.svg());
}

/// The latencies of a run on a logarithmic axis, and the edges of [`COLUMNS`] columns of equal ratio.
struct Spread {
    /// Ascending, in the unit of the axis.
    values: Vec<f64>,
    axis: Axis,
    /// The unit, ns.
    unit: f64,
}

impl Spread {
    fn of(run: &RunData) -> Self {
        let mut values = run.latencies();
        let low = values.first().copied().unwrap_or(1.0);
        let high = values.last().copied().unwrap_or(10.0);
        let (unit, name) = unit_of(high);
        values.iter_mut().for_each(|v| *v /= unit);
        Self { values, axis: Axis::log(name, low * 0.95 / unit, high * 1.05 / unit), unit }
    }

    fn edge(&self, i: usize) -> f64 {
        self.axis.low * (self.axis.high / self.axis.low).powf(i as f64 / COLUMNS as f64)
    }

    /// An edge in words.
    fn words(&self, i: usize) -> String {
        duration(self.edge(i) * self.unit)
    }

    fn tip(&self, i: usize, text: String) -> Tip {
        Tip { low: self.edge(i), high: self.edge(i + 1), text }
    }
}

fn latency_histogram(out: &mut String, run: &RunData) {
    let spread = Spread::of(run);
    let mut counts = [0u64; COLUMNS];
    for value in &spread.values {
        counts[((spread.axis.place(*value) * COLUMNS as f64) as usize).min(COLUMNS - 1)] += 1;
    }
    let words = |i: usize, n: u64| format!("{} to {}\n{}", spread.words(i), spread.words(i + 1), plural(n, "frame"));
    let columns = counts.iter().enumerate();
    let plot = Plot {
        x: spread.axis.clone(),
        y: Axis::from_zero("frames", counts.iter().copied().max().unwrap_or(0) as f64),
        tips: columns.clone().map(|(i, n)| spread.tip(i, words(i, *n))).collect(),
        columns: columns
            .map(|(i, n)| Column { low: spread.edge(i), high: spread.edge(i + 1), height: *n as f64 })
            .collect(),
        lines: Vec::new(),
        level: None,
    };
    section(out, "Latency, how many frames", "Columns of equal ratio.", &plot.svg());
}

fn latency_shares(out: &mut String, run: &RunData) {
    let spread = Spread::of(run);
    let values = &spread.values;
    let share = |n: usize| 100.0 * n as f64 / values.len().max(1) as f64;
    let ranks = (0..values.len()).step_by((values.len() / 240).max(1));
    let mut points: Vec<(f64, f64)> = ranks.map(|i| (values[i], share(i + 1))).collect();
    points.extend(values.last().map(|last| (*last, 100.0)));
    let within = |i: usize| share(values.partition_point(|v| *v <= spread.edge(i + 1)));
    let words = |i: usize| format!("{} % within {}", short(within(i)), spread.words(i + 1));
    let plot = Plot {
        x: spread.axis.clone(),
        y: Axis::exact("% of frames", 100.0),
        tips: (0..COLUMNS).map(|i| spread.tip(i, words(i))).collect(),
        columns: Vec::new(),
        lines: vec![Line { name: "within".to_owned(), class: "flow", points, area: true }],
        level: None,
    };
    section(out, "Latency, share of frames", "How many frames were through within a time.", &plot.svg());
}

/// The unit in which times up to `highest` ns read well: in ns, and its name.
fn unit_of(highest: f64) -> (f64, &'static str) {
    if highest < 10_000.0 { (1.0, "ns") } else { (1e3, "µs") }
}

fn section(out: &mut String, title: &str, note: &str, body: &str) {
    let _ = write!(out, "<section><h2>{title}</h2><p class=note>{note}</p>{body}</section>");
}

fn drops(out: &mut String, run: &RunData) {
    let (some, none): (Vec<_>, Vec<_>) = run.drops.iter().partition(|(_, n)| *n > 0);
    let most = some.iter().map(|(_, n)| *n).max().unwrap_or(1) as f64;
    let mut body = String::from("<div class=bars>");
    for (reason, n) in some {
        let width = 100.0 * *n as f64 / most;
        let _ = write!(
            body,
            "<span>{}</span><i style=\"width:{width:.1}%\"></i><span>{}</span>",
            escape(reason),
            grouped(*n)
        );
    }
    body.push_str("</div>");
    let none: Vec<String> = none.into_iter().map(|(reason, _)| escape(reason)).collect();
    if !none.is_empty() {
        let _ = write!(body, "<p class=\"note rest\">None for these reasons: {}.</p>", none.join(", "));
    }
    section(out, "Drops by reason", "A frame that does not come out has a counter that says why.", &body);
}

fn load(out: &mut String, run: &RunData) {
    let most = run.units.iter().map(UnitCounters::handled).max().unwrap_or(0).max(1) as f64;
    let mut body = String::from(
        "<div class=key><span>sent</span><span class=d>dropped by the program</span></div><div class=load>",
    );
    let mut names = String::from("<div class=names>");
    for (number, unit) in run.units.iter().enumerate() {
        let _ = write!(
            body,
            "<div data-tip=\"{}: {}\n{} sent, {} dropped\"><i class=d style=\"height:{:.2}%\"></i><i style=\"height:{:.2}%\"></i></div>",
            escape(&run.unit_name(number)),
            plural(unit.rx_frames, "frame"),
            grouped(unit.tx_frames),
            grouped(unit.blocked),
            100.0 * unit.blocked as f64 / most,
            100.0 * unit.tx_frames as f64 / most
        );
        let _ = write!(names, "<span>{number}</span>");
    }
    let frames: Vec<u64> = run.units.iter().map(|u| u.rx_frames).collect();
    let mean = frames.iter().sum::<u64>() as f64 / frames.len().max(1) as f64;
    let note = format!("Frames by unit; the busiest had {} times the mean.", short(most / mean.max(1e-9)));
    let _ = write!(body, "</div>{names}</div>");
    section(out, "Load of the units", &note, &body);
}

fn slowest(out: &mut String, run: &RunData) {
    let mut body = String::from(
        "<div class=scroll><table><tr><th class=n>entered<th class=n>latency<th class=n>above the fastest of its size<th class=n>size<th>from<th>to<th>flow",
    );
    for Slow { exit, source, destination, flow } in &run.slowest {
        let beats = exit.bytes.div_ceil(64);
        let peers = run.exits.iter().filter(|e| e.bytes.div_ceil(64) == beats);
        let fastest = peers.map(Exit::latency_ns).fold(f64::INFINITY, f64::min);
        let _ = write!(
            body,
            "<tr><td class=n>{}<td class=n>{}<td class=n>{}<td class=n>{} B<td>{}<td>{}<td>{}",
            duration(exit.entered_ns),
            duration(exit.latency_ns()),
            duration(exit.latency_ns() - fastest),
            grouped(u64::from(exit.bytes)),
            escape(source),
            escape(destination),
            escape(flow)
        );
    }
    body.push_str("</table></div>");
    let note = "What a frame took above the fastest of its size is time it waited for others.";
    section(out, "The slowest frames", note, &body);
}

fn side_by_side(out: &mut String, data: &ReportData) {
    let mut body = String::from("<div class=scroll><table><tr><th>");
    for run in &data.runs {
        let _ = write!(body, "<th class=n>{}", escape(&run.target));
    }
    let mut row = |name: &str, compared: bool, value: &dyn Fn(&RunData) -> String| {
        let values: Vec<String> = data.runs.iter().map(value).collect();
        let differs = compared && values.iter().any(|v| *v != values[0]);
        let _ = write!(body, "<tr><td>{}", escape(name));
        for value in values {
            let _ = write!(body, "<td class=\"n{}\">{}", if differs { " differs" } else { "" }, escape(&value));
        }
    };
    row("frames in", true, &|r| grouped(r.frames_in));
    row("frames made by programs", true, &|r| grouped(r.generated));
    row("bytes out", true, &|r| grouped(r.bytes_out));
    for destination in union(data, |r| &r.frames_out) {
        row(&format!("frames to {destination}"), true, &|r| grouped(count(&r.frames_out, &destination)));
    }
    for reason in union(data, |r| &r.drops) {
        row(&format!("dropped: {reason}"), true, &|r| grouped(count(&r.drops, &reason)));
    }
    row("frame rate", false, &|r| format!("{} Mpps", short(r.mpps)));
    row("throughput", false, &|r| format!("{} Gb/s", short(r.gbps)));
    row("card time", false, &|r| match (r.cycles, r.clock_mhz) {
        (Some(cycles), Some(clock)) => duration(cycles as f64 * 1e3 / clock),
        _ => "–".to_owned(),
    });
    row("wall clock", false, &|r| r.seconds.map_or("–".to_owned(), |s| duration(s * 1e9)));
    body.push_str("</table></div>");
    let note = "Rows up to the drops must be equal; soft speed is that of this machine, rtl speed that of the card.";
    section(out, "Both targets", note, &body);
}

/// Names that count anything in any run, in order of appearance.
fn union(data: &ReportData, list: fn(&RunData) -> &Vec<(String, u64)>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (name, n) in data.runs.iter().flat_map(list) {
        if *n > 0 && !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

fn count(list: &[(String, u64)], name: &str) -> u64 {
    list.iter().find(|(n, _)| n == name).map_or(0, |(_, n)| *n)
}

#[cfg(test)]
mod tests {
    use super::super::data::{StreamCounters, UnitCounters, Verdict};
    use super::*;

    fn sample() -> ReportData {
        let exits = (0..500u32).map(|i| Exit {
            entered_ns: f64::from(i) * 7.0,
            left_ns: f64::from(i) * 7.0 + 400.0 + f64::from(i * 37 % 211),
            bytes: 60 + i % 1400,
        });
        let slow = Slow {
            exit: Exit { entered_ns: 5.0, left_ns: 700.0, bytes: 60 },
            source: "port0".to_owned(),
            destination: "port1".to_owned(),
            flow: "UDP <a> → b".to_owned(),
        };
        let rtl = RunData {
            target: "rtl".to_owned(),
            frames_in: 777_123,
            frames_out: vec![("port1".to_owned(), 500)],
            drops: vec![("blocked".to_owned(), 776_623)],
            gbps: 150.0,
            clock_mhz: Some(250.0),
            cycles: Some(9_001),
            streams: vec![StreamCounters { rx_frames: 777_123, ..StreamCounters::default() }; 2],
            units: vec![UnitCounters { rx_frames: 31_337, ..UnitCounters::default() }; 5],
            exits: exits.collect(),
            slowest: vec![slow],
            ..RunData::default()
        };
        let soft = RunData { target: "soft".to_owned(), cycles: None, exits: Vec::new(), bytes_out: 1, ..rtl.clone() };
        let verdict = Verdict { good: true, headline: "Agreed".to_owned(), reasons: vec!["as <planned>".to_owned()] };
        ReportData {
            design: "a&b".to_owned(),
            facts: Vec::new(),
            ports: 2,
            verdict: Some(verdict),
            runs: vec![rtl, soft],
        }
    }

    #[test]
    fn shows_what_it_was_given() {
        let page = html(&sample());
        for words in ["a&amp;b", "Agreed", "as &lt;planned&gt;", "777,123", "31,337", "9,001 cycles", "UDP &lt;a&gt;"] {
            assert!(page.contains(words), "{words}");
        }
        assert!(!page.contains("<a>"));
        assert!(!page.contains("NaN") && !page.contains("inf"), "every coordinate is a number");
    }

    #[test]
    fn marks_where_targets_differ() {
        assert_eq!(html(&sample()).matches("n differs").count(), 2, "bytes out, once for each target");
    }

    #[test]
    fn loads_nothing() {
        let page = html(&sample());
        for loader in ["http:", "https:", "src=", "href=", "@import", "url("] {
            assert!(!page.contains(loader), "{loader}");
        }
    }

    #[test]
    fn a_run_without_frames_is_a_page_too() {
        let mut data = sample();
        data.runs = vec![RunData { cycles: Some(0), faults: vec!["nothing came".to_owned()], ..RunData::default() }];
        let page = html(&data);
        assert!(page.contains("nothing came") && !page.contains("NaN"));
    }
}
