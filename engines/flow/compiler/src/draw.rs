// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The state machines as drawings: for Graphviz, and as plain SVG.

use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::fmt::Write;

use crate::program::{Element, Next, Program};
use crate::show;

/// A transition from a state to another, and its conditions: the tests of rows, or a time.
type Ways = BTreeMap<(usize, usize), Vec<String>>;

/// The transitions between an element's states. A row without states is one for all states.
fn ways(program: &Program, element: &Element) -> Ways {
    let mut ways = Ways::new();
    for row in &element.rows {
        let from = (0..element.states.len()).filter(|state| row.is_for(*state as u8));
        for from in from {
            let tests = show::tests(element, row);
            match row.next {
                Next::Same => continue,
                // A flow without a context is in the first state.
                Next::Forget if from == 0 => continue,
                Next::Forget => ways.entry((from, 0)).or_default().push(format!("{tests}: forget")),
                Next::State { state, hard, idle } => {
                    let to = state.map_or(from, usize::from);
                    if to != from || hard.is_some() || idle.is_some() {
                        let actions = show::actions(program, element, row);
                        ways.entry((from, to)).or_default().push(format!("{tests}: {actions}"));
                    }
                    for (word, timeout) in [("after", hard), ("idle", idle)] {
                        let Some(timeout) = timeout else { continue };
                        let then = usize::from(timeout.then.unwrap_or_default());
                        if to != then {
                            ways.entry((to, then)).or_default().push(format!("{word} {}", show::time(&timeout)));
                        }
                    }
                }
            }
        }
    }
    ways.values_mut().for_each(|labels| {
        labels.sort();
        labels.dedup();
    });
    ways
}

/// The name of a state. An element without states has one state without a name.
fn name(element: &Element, state: usize) -> &str {
    match element.states[state].as_str() {
        "" => &element.name,
        name => name,
    }
}

/// A graph in the language of Graphviz, a cluster for each element.
pub(crate) fn dot(program: &Program) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let mut text = String::from("digraph flow {\n    node [shape=box, style=rounded]\n");
    for (at, element) in program.elements.iter().enumerate() {
        let _ = writeln!(text, "    subgraph cluster_{at} {{\n        label={}", quoted(&element.name));
        for state in 0..element.states.len() {
            let _ = writeln!(text, "        s{at}_{state} [label={}]", quoted(name(element, state)));
        }
        for ((from, to), labels) in ways(program, element) {
            // Graphviz breaks lines at \l and aligns them to the left.
            let label = quoted(&labels.join("\n")).replace('\n', "\\l");
            let _ = writeln!(text, "        s{at}_{from} -> s{at}_{to} [label={label}]");
        }
        text.push_str("    }\n");
    }
    text.push_str("}\n");
    text
}

/// Half the size of a state's box.
const BOX: (f64, f64) = (62.0, 16.0);
/// Width of a letter and height of a line in labels.
const LETTER: (f64, f64) = (5.6, 12.0);

/// A drawing: states in a circle, each element below the one before.
pub(crate) fn svg(program: &Program) -> String {
    let mut body = String::new();
    let (mut width, mut top) = (0.0f64, 0.0);
    for element in &program.elements {
        let ways = ways(program, element);
        let longest = ways.values().flatten().map(|label| label.chars().count()).max().unwrap_or_default() as f64;
        let states = element.states.len();
        let radius = if states == 1 { 0.0 } else { (states as f64 * 62.0).max(120.0) };
        // There are labels on both sides of the circle.
        let side = (longest * LETTER.0 / 2.0).max(BOX.0) + 60.0;
        let (centre_x, centre_y) = (radius + side, top + radius + 110.0);
        let place = |state: usize| {
            let turn = TAU * (state as f64 / states as f64 - 0.25);
            (centre_x + radius * turn.cos(), centre_y + radius * turn.sin())
        };
        let _ =
            writeln!(body, "<text class=\"name\" x=\"10\" y=\"{:.0}\">{}</text>", top + 24.0, escaped(&element.name));
        let mut labels = String::new();
        for ((from, to), lines) in &ways {
            let (x, y) = curve(&mut body, place(*from), place(*to), (centre_x, centre_y));
            for (line, text) in lines.iter().enumerate() {
                let y = y + (line as f64 - (lines.len() - 1) as f64 / 2.0) * LETTER.1;
                let _ = writeln!(labels, "<text class=\"label\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(text));
            }
        }
        for state in 0..states {
            let (x, y) = place(state);
            let (left, above) = (x - BOX.0, y - BOX.1);
            let _ = writeln!(
                body,
                "<rect x=\"{left:.1}\" y=\"{above:.1}\" width=\"{:.0}\" height=\"{:.0}\" rx=\"8\"/><text \
                 class=\"state\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
                2.0 * BOX.0,
                2.0 * BOX.1,
                y + 4.0,
                escaped(name(element, state))
            );
        }
        body.push_str(&labels);
        width = width.max(2.0 * (radius + side));
        top = centre_y + radius + 80.0;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{top:.0}\" \
         viewBox=\"0 0 {width:.0} {top:.0}\" font-family=\"sans-serif\">\n\
         <style>rect {{ fill: #fff; stroke: #234; }} path {{ fill: none; stroke: #678; }} \
         .state, .label {{ text-anchor: middle; }} .state {{ font-size: 12px; }} \
         .label {{ font-size: 10px; fill: #135; stroke: #fff; stroke-width: 3px; paint-order: stroke; }} \
         .name {{ font-size: 15px; font-weight: bold; }} #head {{ fill: #678; stroke: none; }}</style>\n\
         <defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
         orient=\"auto\">\
         <path id=\"head\" d=\"M0,0 L8,4 L0,8 z\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" style=\"stroke: none\"/>\n{body}</svg>\n"
    )
}

/// Draws the transition between two boxes, bent to leave room for the opposite one; gives the place of its label.
fn curve(body: &mut String, from: (f64, f64), to: (f64, f64), centre: (f64, f64)) -> (f64, f64) {
    if from == to {
        // A transition to the same state leaves the circle and returns.
        let up = if from.1 > centre.1 + 1.0 { 1.0 } else { -1.0 };
        let (x, y) = (from.0, from.1 + up * BOX.1);
        let (left, right, far) = (x - 30.0, x + 30.0, y + up * 55.0);
        let _ = writeln!(
            body,
            "<path marker-end=\"url(#arrow)\" d=\"M{:.1},{y:.1} C{left:.1},{far:.1} {right:.1},{far:.1} \
             {:.1},{y:.1}\"/>",
            x - 14.0,
            x + 14.0
        );
        return (x, y + up * 46.0);
    }
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy);
    let middle = ((from.0 + to.0) / 2.0 - dy / length * 36.0, (from.1 + to.1) / 2.0 + dx / length * 36.0);
    let (start, end) = (edge(from, middle), edge(to, middle));
    let _ = writeln!(
        body,
        "<path marker-end=\"url(#arrow)\" d=\"M{:.1},{:.1} Q{:.1},{:.1} {:.1},{:.1}\"/>",
        start.0, start.1, middle.0, middle.1, end.0, end.1
    );
    ((start.0 + 2.0 * middle.0 + end.0) / 4.0, (start.1 + 2.0 * middle.1 + end.1) / 4.0)
}

/// The point where the line from a box's centre to a point leaves the box.
fn edge(centre: (f64, f64), towards: (f64, f64)) -> (f64, f64) {
    let (dx, dy) = (towards.0 - centre.0, towards.1 - centre.1);
    let part = (BOX.0 / dx.abs().max(1e-9)).min(BOX.1 / dy.abs().max(1e-9)).min(1.0);
    (centre.0 + dx * part, centre.1 + dy * part)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
