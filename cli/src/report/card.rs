// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The card, drawn from left to right along a frame's way, with the counters of each part.

use super::data::{RunData, UnitCounters};
use super::text::{escape, plural, short};
use crate::show::grouped;
use std::fmt::Write;

const WIDTH: f64 = 1160.0;
const UNITS_PER_CLUSTER: usize = 4;
const CLUSTER: (f64, f64, f64) = (476.0, 296.0, 62.0); // left, width, height
const CLUSTER_PITCH: f64 = 74.0;
const LANE_PITCH: f64 = 88.0;
const BOX_HEIGHT: f64 = 60.0;
const TOP: f64 = 44.0;

/// Left edge and width of each column of boxes.
const RX: (f64, f64) = (10.0, 100.0);
const INGRESS: (f64, f64) = (144.0, 112.0);
const DISPATCHER: (f64, f64) = (292.0, 100.0);
const SWITCH_IN: (f64, f64) = (428.0, 16.0);
const SWITCH_OUT: (f64, f64) = (804.0, 16.0);
const EGRESS: (f64, f64) = (892.0, 112.0);
const TX: (f64, f64) = (1050.0, 100.0);

/// The drawing, an `<svg>`.
pub(crate) fn svg(run: &RunData) -> String {
    let clusters = run.units.len().div_ceil(UNITS_PER_CLUSTER).max(1);
    let lanes = run.streams.len() + 1;
    let body = (clusters as f64 * CLUSTER_PITCH).max(lanes as f64 * LANE_PITCH);
    let mut card = Card { out: String::new(), run, body, clusters, lanes };
    let height = TOP + body + 62.0;
    let _ = write!(
        card.out,
        r#"<svg class=card viewBox="0 0 {WIDTH} {height}" role=img aria-label="The card and its counters">"#
    );
    card.columns();
    card.pipes();
    card.dispatcher();
    card.units();
    card.lanes();
    card.loopback();
    card.out.push_str("</svg>");
    card.out
}

struct Card<'a> {
    out: String,
    run: &'a RunData,
    /// Height of the part between the column names and the loopback.
    body: f64,
    clusters: usize,
    lanes: usize,
}

impl Card<'_> {
    fn columns(&mut self) {
        let middle = |(left, width): (f64, f64)| left + width / 2.0;
        let names = [
            ("receive", middle(RX)),
            ("ingress", middle(INGRESS)),
            ("dispatcher", middle(DISPATCHER)),
            ("switch_in", middle(SWITCH_IN)),
            ("units", CLUSTER.0 + CLUSTER.1 / 2.0),
            ("switch_out", middle(SWITCH_OUT)),
            ("egress", middle(EGRESS)),
            ("send", middle(TX)),
        ];
        for (name, x) in names {
            self.text("stage", x, 20.0, name);
        }
    }

    fn lane_y(&self, lane: usize) -> f64 {
        let used = self.lanes as f64 * LANE_PITCH;
        TOP + (self.body - used) / 2.0 + lane as f64 * LANE_PITCH + LANE_PITCH / 2.0
    }

    fn cluster_y(&self, cluster: usize) -> f64 {
        let used = self.clusters as f64 * CLUSTER_PITCH;
        TOP + (self.body - used) / 2.0 + cluster as f64 * CLUSTER_PITCH + CLUSTER_PITCH / 2.0
    }

    /// Pipes below the boxes; their width is their share of the frames.
    fn pipes(&mut self) {
        let run = self.run;
        let total = (run.frames_in + run.generated).max(1) as f64;
        let middle = TOP + self.body / 2.0;
        for lane in 0..self.lanes {
            let counters = if lane < run.streams.len() { run.streams[lane] } else { run.host };
            let y = self.lane_y(lane);
            let taken = counters.rx_frames as f64 / total;
            let sent = counters.tx_frames as f64 / total;
            self.pipe(RX.0 + RX.1, y, INGRESS.0, y, taken);
            let spread = (lane as f64 - (self.lanes as f64 - 1.0) / 2.0) * 26.0;
            self.pipe(INGRESS.0 + INGRESS.1, y, DISPATCHER.0, middle + spread, taken);
            self.pipe(SWITCH_OUT.0 + SWITCH_OUT.1, y, EGRESS.0, y, sent);
            self.pipe(EGRESS.0 + EGRESS.1, y, TX.0, y, sent);
        }
        let all: u64 = run.units.iter().map(|u| u.rx_frames).sum();
        self.pipe(DISPATCHER.0 + DISPATCHER.1, middle, SWITCH_IN.0, middle, all as f64 / total);
        for cluster in 0..self.clusters {
            let y = self.cluster_y(cluster);
            let of = |count: fn(&UnitCounters) -> u64| {
                let members = run.units.iter().skip(cluster * UNITS_PER_CLUSTER).take(UNITS_PER_CLUSTER);
                members.map(count).sum::<u64>() as f64 / total
            };
            self.pipe(SWITCH_IN.0 + SWITCH_IN.1, y, CLUSTER.0, y, of(|u| u.rx_frames));
            self.pipe(CLUSTER.0 + CLUSTER.1, y, SWITCH_OUT.0, y, of(|u| u.tx_frames));
        }
        for (left, width) in [SWITCH_IN, SWITCH_OUT] {
            let (y, height) = (TOP + 4.0, self.body - 8.0);
            let _ =
                write!(self.out, r#"<rect class=switch x="{left}" y="{y}" width="{width}" height="{height}" rx="5"/>"#);
        }
    }

    fn pipe(&mut self, x0: f64, y0: f64, x1: f64, y1: f64, share: f64) {
        let (class, width) = if share > 0.0 { ("pipe", 2.0 + 11.0 * share.min(1.0)) } else { ("pipe idle", 1.5) };
        let bend = (x1 - x0) / 2.0;
        let _ = write!(
            self.out,
            r#"<path class="{class}" stroke-width="{width:.1}" d="M{x0:.1} {y0:.1}C{:.1} {y0:.1} {:.1} {y1:.1} {x1:.1} {y1:.1}"/>"#,
            x0 + bend,
            x1 - bend
        );
    }

    fn dispatcher(&mut self) {
        let (left, width) = DISPATCHER;
        let (middle, half) = (TOP + self.body / 2.0, 64.0);
        self.part(left, middle - half, width, 2.0 * half, "Gives each frame a unit and a slot");
        let x = left + width / 2.0;
        let given: u64 = self.run.units.iter().map(|u| u.rx_frames).sum();
        let stalls: u64 = self.run.streams.iter().map(|s| s.rx_stalls).sum();
        self.text("value", x, middle - 14.0, &grouped(given));
        self.text("label", x, middle + 2.0, "frames given");
        self.text("value small", x, middle + 28.0, &grouped(stalls));
        self.text("label", x, middle + 43.0, "cycles waited");
    }

    fn units(&mut self) {
        let run = self.run;
        let busiest = run.units.iter().map(|u| u.rx_frames).max().unwrap_or(0).max(1) as f64;
        let (left, width, height) = CLUSTER;
        for cluster in 0..self.clusters {
            let y = self.cluster_y(cluster) - height / 2.0;
            let _ = write!(
                self.out,
                r#"<rect class=cluster x="{left}" y="{y}" width="{width}" height="{height}" rx="8"/>"#
            );
        }
        let (cell, gap) = (66.0, 6.4);
        for (number, unit) in run.units.iter().enumerate() {
            let x = left + gap + (number % UNITS_PER_CLUSTER) as f64 * (cell + gap);
            let y = self.cluster_y(number / UNITS_PER_CLUSTER) - height / 2.0 + 7.0;
            let tip = format!(
                "{}: {} in ({}), {} sent, {} dropped by the program",
                escape(&run.unit_name(number)),
                plural(unit.rx_frames, "frame"),
                volume(unit.rx_bytes),
                grouped(unit.tx_frames),
                grouped(unit.blocked)
            );
            let _ = write!(
                self.out,
                r#"<g data-tip="{tip}"><rect class=unit x="{x:.1}" y="{y}" width="{cell}" height="48" rx="5"/>"#
            );
            let load = unit.rx_frames as f64 / busiest;
            let _ = write!(
                self.out,
                r#"<rect class=heat style="fill-opacity:{:.2}" x="{x:.1}" y="{y}" width="{cell}" height="48" rx="5"/>"#,
                0.32 * load
            );
            let inner = cell - 12.0;
            let sent = inner * unit.tx_frames as f64 / unit.handled().max(1) as f64;
            let dropped = inner * unit.blocked as f64 / unit.handled().max(1) as f64;
            let (bar, x0) = (y + 38.0, x + 6.0);
            let _ = write!(self.out, r#"<rect class=track x="{x0:.1}" y="{bar}" width="{inner}" height="4" rx="2"/>"#);
            let _ = write!(
                self.out,
                r#"<rect class=sent x="{x0:.1}" y="{bar}" width="{:.1}" height="4" rx="2"/>"#,
                sent.min(inner)
            );
            let _ = write!(
                self.out,
                r#"<rect class=dropped x="{:.1}" y="{bar}" width="{:.1}" height="4" rx="2"/>"#,
                x0 + inner - dropped.min(inner),
                dropped.min(inner)
            );
            self.text("name", x + 6.0, y + 15.0, &number.to_string());
            self.text("count", x + cell - 6.0, y + 30.0, &grouped(unit.rx_frames));
            self.out.push_str("</g>");
        }
    }

    /// Ports and the host, on both sides.
    fn lanes(&mut self) {
        let run = self.run;
        for lane in 0..self.lanes {
            let is_host = lane == run.streams.len();
            let c = if is_host { run.host } else { run.streams[lane] };
            let name = if is_host { "Host".to_owned() } else { format!("Ethernet {lane}") };
            let y = self.lane_y(lane);
            let top = y - BOX_HEIGHT / 2.0;
            let idle = if is_host && c.rx_frames + c.tx_frames == 0 { " quiet" } else { "" };
            let _ = write!(self.out, r#"<g class="lane{idle}">"#);
            self.part(RX.0, top, RX.1, BOX_HEIGHT, &format!("{name}, receiving side"));
            self.text("name", RX.0 + RX.1 / 2.0, y - 4.0, &name);
            self.text("label", RX.0 + RX.1 / 2.0, y + 13.0, &volume(c.rx_bytes));
            let drops = format!("{name}: {} dropped before a unit had them", plural(c.rx_drops, "frame"));
            self.part(INGRESS.0, top, INGRESS.1, BOX_HEIGHT, &drops);
            let x = INGRESS.0 + INGRESS.1 / 2.0;
            self.text("value", x, y - 7.0, &grouped(c.rx_frames));
            self.text("label", x, y + 8.0, "frames in");
            let warn = if c.rx_drops > 0 { "label bad" } else { "label" };
            self.text(warn, x, y + 22.0, &format!("{} dropped", grouped(c.rx_drops)));
            self.part(
                EGRESS.0,
                top,
                EGRESS.1,
                BOX_HEIGHT,
                &format!("{name}: {} with a full receiver", plural(c.tx_stalls, "cycle")),
            );
            let x = EGRESS.0 + EGRESS.1 / 2.0;
            self.text("value", x, y - 7.0, &grouped(c.tx_frames));
            self.text("label", x, y + 8.0, "frames out");
            self.text("label", x, y + 22.0, &format!("{} stalls", grouped(c.tx_stalls)));
            self.part(TX.0, top, TX.1, BOX_HEIGHT, &format!("{name}, sending side"));
            self.text("name", TX.0 + TX.1 / 2.0, y - 4.0, &name);
            self.text("label", TX.0 + TX.1 / 2.0, y + 13.0, &volume(c.tx_bytes));
            self.out.push_str("</g>");
        }
    }

    /// From the switch back to the dispatcher.
    fn loopback(&mut self) {
        let share = self.run.loopback.rx_frames as f64 / self.run.frames_in.max(1) as f64;
        let class = if share > 0.0 { "pipe" } else { "pipe idle" };
        let (x0, x1) = (SWITCH_OUT.0 + SWITCH_OUT.1 / 2.0, DISPATCHER.0 + DISPATCHER.1 / 2.0);
        let (from, to, low) = (TOP + self.body - 4.0, TOP + self.body / 2.0 + 64.0, TOP + self.body + 22.0);
        let _ = write!(
            self.out,
            r#"<path class="{class}" stroke-width="{:.1}" d="M{x0} {from}V{:.1}Q{x0} {low} {:.1} {low}H{:.1}Q{x1} {low} {x1} {:.1}V{to}"/>"#,
            1.5 + 8.0 * share.min(1.0),
            low - 10.0,
            x0 - 10.0,
            x1 + 10.0,
            low - 10.0
        );
        let words = format!("loopback: {}", plural(self.run.loopback.rx_frames, "frame"));
        self.text("label", (x0 + x1) / 2.0, low + 18.0, &words);
    }

    fn part(&mut self, x: f64, y: f64, width: f64, height: f64, tip: &str) {
        let _ = write!(
            self.out,
            r#"<rect class=part x="{x}" y="{y:.1}" width="{width}" height="{height}" rx="8" data-tip="{tip}"/>"#
        );
    }

    fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        let _ = write!(self.out, r#"<text class="{class}" x="{x:.1}" y="{y:.1}">{text}</text>"#);
    }
}

/// Bytes in the unit that suits them.
fn volume(bytes: u64) -> String {
    match bytes as f64 {
        b if b < 1e4 => format!("{} B", grouped(bytes)),
        b if b < 1e6 => format!("{} kB", short(b / 1e3)),
        b if b < 1e9 => format!("{} MB", short(b / 1e6)),
        b => format!("{} GB", short(b / 1e9)),
    }
}
