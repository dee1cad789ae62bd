// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Plots as inline SVG. Colours come from the page's style, so a plot follows light and dark mode.

use super::text::{escape, short};
use std::fmt::Write;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 42.0;

/// How values map to lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    Linear,
    /// Both ends of the range are positive.
    Log,
}

/// A range of values along one side of a plot.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    pub label: String,
    pub low: f64,
    pub high: f64,
    pub scale: Scale,
}

impl Axis {
    /// From 0 to a little above `high`.
    pub(super) fn from_zero(label: &str, high: f64) -> Self {
        let high = if high > 0.0 { high * 1.08 } else { 1.0 };
        Self { label: label.to_owned(), low: 0.0, high, scale: Scale::Linear }
    }

    /// Exactly from 0 to `high`.
    pub(super) fn exact(label: &str, high: f64) -> Self {
        Self { label: label.to_owned(), low: 0.0, high: if high > 0.0 { high } else { 1.0 }, scale: Scale::Linear }
    }

    pub(super) fn log(label: &str, low: f64, high: f64) -> Self {
        let low = low.max(1e-3);
        Self { label: label.to_owned(), low, high: high.max(low * 1.1), scale: Scale::Log }
    }

    /// Position of a value between the two ends, 0..=1.
    pub(super) fn place(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => (value.max(self.low) / self.low).ln() / (self.high / self.low).ln(),
        };
        share.clamp(0.0, 1.0)
    }

    /// Round values inside the range, about five of them.
    pub(super) fn ticks(&self) -> Vec<f64> {
        let inside = |steps: &[f64]| -> Vec<f64> {
            let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
            let all = decades.flat_map(|d| steps.iter().map(move |m| m * 10f64.powi(d)));
            all.filter(|v| (self.low..=self.high).contains(v)).collect()
        };
        let sparse: &[&[f64]] = match self.scale {
            Scale::Linear => &[],
            Scale::Log => &[&[1.0], &[1.0, 2.0, 5.0]],
        };
        sparse.iter().map(|s| inside(s)).find(|t| t.len() >= 3).unwrap_or_else(|| self.even_ticks())
    }

    /// Round values at equal distances.
    fn even_ticks(&self) -> Vec<f64> {
        let rough = (self.high - self.low) / 5.0;
        let power = 10f64.powf(rough.log10().floor());
        let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|m| m * power);
        let step = steps.into_iter().find(|s| *s >= rough).unwrap_or(rough);
        let (first, last) = ((self.low / step).ceil() as i64, (self.high / step + 1e-9).floor() as i64);
        (first..=last).map(|i| i as f64 * step).collect()
    }
}

/// A line through points, with the class that colours it.
pub(super) struct Line {
    pub name: String,
    pub class: &'static str,
    pub points: Vec<(f64, f64)>,
    /// Also tints the area below.
    pub area: bool,
}

/// A column of a histogram.
pub(super) struct Column {
    pub low: f64,
    pub high: f64,
    pub height: f64,
}

/// A strip that shows a text while the pointer is over it.
pub(super) struct Tip {
    pub low: f64,
    pub high: f64,
    pub text: String,
}

/// One plot.
pub(super) struct Plot {
    pub x: Axis,
    pub y: Axis,
    pub columns: Vec<Column>,
    pub lines: Vec<Line>,
    pub tips: Vec<Tip>,
    /// A level to compare with, and its name.
    pub level: Option<(f64, String)>,
}

impl Plot {
    /// The plot as an `<svg>`, with a legend above when it has several lines.
    pub(super) fn svg(&self) -> String {
        let mut out = String::new();
        if self.lines.len() > 1 {
            out.push_str("<div class=legend>");
            for line in &self.lines {
                let _ = write!(out, "<span class={}>{}</span>", line.class, escape(&line.name));
            }
            out.push_str("</div>");
        }
        let _ = write!(out, r#"<svg class=plot viewBox="0 0 {WIDTH} {HEIGHT}" role=img>"#);
        self.grid(&mut out);
        for c in &self.columns {
            let (x0, x1, y) = (self.x(c.low), self.x(c.high), self.y(c.height));
            let width = (x1 - x0 - 1.0).max(0.8);
            let _ = write!(
                out,
                r#"<rect class=column x="{x0:.1}" y="{y:.1}" width="{width:.1}" height="{:.1}"/>"#,
                self.y(0.0) - y
            );
        }
        for line in &self.lines {
            self.line(&mut out, line);
        }
        if let Some((value, name)) = &self.level {
            let y = self.y(*value);
            let _ = write!(out, r#"<path class=level d="M{LEFT} {y:.1}H{:.1}"/>"#, WIDTH - RIGHT);
            let _ = write!(
                out,
                r#"<text class=level x="{:.1}" y="{:.1}">{}</text>"#,
                WIDTH - RIGHT - 4.0,
                y - 5.0,
                escape(name)
            );
        }
        for tip in &self.tips {
            let (x0, x1) = (self.x(tip.low), self.x(tip.high));
            let _ = write!(
                out,
                r#"<rect class=strip x="{x0:.1}" y="{TOP}" width="{:.1}" height="{:.1}" data-tip="{}"/>"#,
                x1 - x0,
                HEIGHT - TOP - BOTTOM,
                escape(&tip.text)
            );
        }
        out.push_str("</svg>");
        out
    }

    fn grid(&self, out: &mut String) {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for value in self.y.ticks() {
            let y = self.y(value);
            let _ = write!(out, r#"<path class=grid d="M{LEFT} {y:.1}H{right}"/>"#);
            let _ =
                write!(out, r#"<text class=ytick x="{:.1}" y="{:.1}">{}</text>"#, LEFT - 7.0, y + 3.5, short(value));
        }
        for value in self.x.ticks() {
            let x = self.x(value);
            let _ = write!(out, r#"<path class=tick d="M{x:.1} {bottom}v4"/>"#);
            let _ = write!(out, r#"<text class=xtick x="{x:.1}" y="{:.1}">{}</text>"#, bottom + 17.0, short(value));
        }
        let _ = write!(out, r#"<path class=axis d="M{LEFT} {bottom}H{right}"/>"#);
        let _ =
            write!(out, r#"<text class=xname x="{right}" y="{:.1}">{}</text>"#, HEIGHT - 6.0, escape(&self.x.label));
        let _ = write!(
            out,
            r#"<text class=yname transform="translate(11 {:.1}) rotate(-90)">{}</text>"#,
            (TOP + bottom) / 2.0,
            escape(&self.y.label)
        );
    }

    fn line(&self, out: &mut String, line: &Line) {
        let points: Vec<(f64, f64)> = line.points.iter().map(|(x, y)| (self.x(*x), self.y(*y))).collect();
        let (Some(first), Some(last)) = (points.first(), points.last()) else { return };
        let mut path = String::new();
        for (i, (x, y)) in points.iter().enumerate() {
            let _ = write!(path, "{}{x:.1} {y:.1}", if i == 0 { 'M' } else { 'L' });
        }
        if line.area {
            let floor = self.y(self.y.low);
            let _ = write!(
                out,
                r#"<path class="area {}" d="{path}L{:.1} {floor:.1}L{:.1} {floor:.1}Z"/>"#,
                line.class, last.0, first.0
            );
        }
        let _ = write!(out, r#"<path class="line {}" d="{path}"/>"#, line.class);
    }

    fn x(&self, value: f64) -> f64 {
        LEFT + self.x.place(value) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - self.y.place(value) * (HEIGHT - TOP - BOTTOM)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(Axis::exact("", 100.0).ticks(), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(Axis::exact("", 7.0).ticks(), [0.0, 2.0, 4.0, 6.0]);
        assert_eq!(Axis::log("", 150.0, 3000.0).ticks(), [200.0, 500.0, 1000.0, 2000.0]);
        assert_eq!(Axis::log("", 350.0, 800.0).ticks(), [400.0, 500.0, 600.0, 700.0, 800.0]);
        assert_eq!(Axis::log("", 1.0, 1000.0).ticks(), [1.0, 10.0, 100.0, 1000.0]);
    }

    #[test]
    fn places_lie_between_the_ends() {
        let log = Axis::log("", 100.0, 10_000.0);
        assert!((log.place(1000.0) - 0.5).abs() < 1e-12);
        assert_eq!(log.place(1.0), 0.0);
        assert_eq!(Axis::exact("", 0.0).place(0.5), 0.5);
    }
}
