// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Where a program goes in the machine, as text for people.

use std::fmt::Write;

use super::head::Head;
use super::pipeline::Feature;
use super::schedule::Stage;
use super::steps::Literal;
use super::vector::Vector;
use super::words::{DEPTHS, ParserRow, ROWS, RegisterOp, UNITS, WORDS};
use super::{Assemble, DigestCode, GROUP_COPIES, LAST_GROUP, Lowered};
use crate::ir::Program;

impl Lowered {
    /// Where the program goes: steps of the parser, words of the vector, stages with their tables and units.
    #[must_use]
    pub fn show(&self) -> &str {
        &self.shown
    }
}

pub(super) fn show(
    program: &Program,
    vector: &Vector,
    (head, parser): (&Head, &[Vec<ParserRow>]),
    (group, session, digests): (Option<u32>, Option<u32>, &[DigestCode]),
    stages: &[Stage],
    made: &Assemble,
) -> String {
    let mut text = String::new();
    let steps = parser.iter().filter(|rows| !rows.is_empty()).count();
    let most = parser.iter().map(Vec::len).max().unwrap_or(0);
    let _ = writeln!(text, "parser    {steps} of {DEPTHS} steps, at most {most} of {ROWS} states in one");
    let _ = writeln!(text, "vector    {} of {WORDS} words", vector.used());
    let mut headers: Vec<_> =
        vector.headers.iter().filter(|(_, place)| place.count > 0 || place.varbit.is_some()).collect();
    headers.sort_by_key(|(_, place)| place.word);
    for (instance, place) in headers {
        let last = place.varbit.map_or(place.word + place.count, |(first, most)| first + most);
        let _ = writeln!(text, "          v{}-v{}  {}", place.word, last - 1, program.instances[*instance].name);
    }
    if !head.instances.is_empty() {
        let names: Vec<_> = head.instances.iter().map(|instance| program.instances[*instance].name.as_str()).collect();
        let _ = writeln!(text, "new head  {}", names.join(", "));
    }
    if let Some(half) = group {
        let _ = writeln!(text, "copies    groups of {GROUP_COPIES} copies, 1 to {LAST_GROUP}, by v{}", half / 2);
    }
    if let Some(half) = session {
        let _ = writeln!(text, "clones    sessions of {GROUP_COPIES} copies, 1 to {LAST_GROUP}, by v{}", half / 2);
    }
    if program.controller_headers.iter().any(|header| header.name == "packet_in") {
        let _ = writeln!(text, "host      frames to port 510 go to the controller");
    }
    for code in digests {
        let _ = writeln!(text, "digest    {}, a record of the host's", program.digests[code.digest].name);
    }
    for feature in [Feature::Ternary, Feature::Prefixes, Feature::Meters] {
        if !(0..stages.len()).all(|stage| made.pipeline.has(feature, stage)) {
            let _ = writeln!(text, "pipeline  {} {feature}", made.pipeline.those_with(feature));
        }
    }
    for (index, stage) in stages.iter().enumerate() {
        let Some(step) = &stage.step else {
            let what = if stage.shared.is_empty() {
                "free".to_owned()
            } else {
                format!("{} of {UNITS} units", stage.shared.len())
            };
            let _ = writeln!(text, "stage {index}   {what}");
            continue;
        };
        let table = step.table.map_or("no table".to_owned(), |table| {
            let about = &program.tables[table];
            let kind =
                made.tables[table].as_ref().map_or(String::new(), |code| format!(", {:?}", code.kind).to_lowercase());
            format!("table {}{kind}, size {}", about.name, about.size)
        });
        let gate = step.gate.iter().map(|literal| match literal {
            Literal::Mask { word, mask, value } => format!("v{word} & {mask:#x} == {value:#x}"),
            Literal::Hit(table, true) => format!("{} has hit", program.tables[*table].name),
            Literal::Hit(table, false) => format!("{} has missed", program.tables[*table].name),
        });
        let gate: Vec<_> = gate.collect();
        let gate = if gate.is_empty() { String::new() } else { format!(", if {}", gate.join(" and ")) };
        let _ = writeln!(text, "stage {index}   {table}{gate}");
        for (action, row) in &step.open {
            let name = action.map_or("then", |action| &program.actions[action].name);
            let register = match row.register.map(|draft| draft.op) {
                Some(RegisterOp::Meter) => ", meter",
                Some(_) => ", register",
                None => "",
            };
            let count = if row.count.is_some() { ", counter" } else { "" };
            let units = row.units.len() + stage.shared.len();
            let _ = writeln!(text, "          {name}: {units} of {UNITS} units{register}{count}");
        }
        if !step.closed.units.is_empty() || step.closed.register.is_some() {
            let _ = writeln!(text, "          else: {} of {UNITS} units", step.closed.units.len() + stage.shared.len());
        }
    }
    text
}
