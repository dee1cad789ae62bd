// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The parts of each element that a program uses, as text and as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::image::{ElementImage, Image, Predicate, Source, Word};
use crate::key::{HALVES, halves};
use crate::limits;
use crate::program::{Compare, Element, Function, Next, Operand, Program, Timeout};
use crate::show;
use crate::words::timeouts;

/// The parts of an element: name, number used, number available.
fn parts(element: &Element, image: &ElementImage) -> [(&'static str, usize, usize); 9] {
    let halves = element.key.iter().flat_map(|key| &key.fields).map(|field| halves(*field)).sum();
    [
        ("rows", image.rows.len(), limits::ROWS),
        ("operands", image.operands.len(), limits::OPERANDS),
        ("predicates", image.predicates.len(), limits::PREDICATES),
        ("conditions", image.conditions.len(), limits::CONDITIONS),
        ("functions", image.functions.len(), limits::FUNCTIONS),
        ("flow registers", element.registers.len(), limits::REGISTERS),
        ("global registers", element.globals.len(), limits::GLOBALS),
        ("key halves", halves, HALVES),
        ("timeouts", timeouts(element, &[]).len(), limits::PERIODS),
    ]
}

/// The parts as text.
pub(crate) fn text(program: &Program, image: &Image) -> String {
    let mut text = String::new();
    for (element, image) in program.elements.iter().zip(&image.elements) {
        let _ = write!(text, "element {}: {}", element.name, key(element));
        if element.key.is_some() {
            let _ = write!(text, ", {} states", element.states.len());
        }
        let mut pace = match (image.serial, element.key.is_some()) {
            (true, _) => format!("a frame every {} cycles, as rows write global registers", limits::LOOP),
            (false, true) => format!("frames of one flow {} cycles apart, others every cycle", limits::LOOP),
            (false, false) => "a frame every cycle".to_owned(),
        };
        if element.evict.is_some() {
            let _ = write!(
                pace,
                "; frames of a flow without a context {} cycles apart, as it evicts",
                limits::EVICTING_LOOP
            );
        }
        let _ = writeln!(text, "; {pace}");
        for ((name, used, of), detail) in parts(element, image).into_iter().zip(details(element, image)) {
            let line = format!("  {name:16} {used:3} of {of:3}   {}", detail.join(", "));
            let _ = writeln!(text, "{}", line.trim_end());
        }
        for row in &element.rows {
            let states: Vec<&str> = row.states.iter().map(|state| show::state(element, *state)).collect();
            let states = if states.is_empty() { String::new() } else { format!("in {}: ", states.join(", ")) };
            let mut next = match row.next {
                Next::State { state, hard, idle } => {
                    let timeout = |word: &str, timeout: Option<Timeout>| {
                        timeout.map_or(String::new(), |one| format!(" {word} {}", show::timeout(element, &one)))
                    };
                    let state =
                        state.map_or("keep".to_owned(), |state| format!("goto {}", show::state(element, state)));
                    format!("{state}{}{}", timeout("for", hard), timeout("idle", idle))
                }
                Next::Same | Next::Forget => String::new(),
            };
            if !next.is_empty() {
                next.push_str(", ");
            }
            let (tests, actions) = (show::tests(element, row), show::actions(program, element, row));
            let _ = writeln!(text, "  line {:4}  {states}{tests} => {next}{actions}", row.span.line);
        }
    }
    text
}

fn key(element: &Element) -> String {
    match &element.key {
        None => "no key".to_owned(),
        Some(key) => {
            let names: Vec<&str> = key.fields.iter().map(|field| field.name()).collect();
            let biflow = if key.pairs.is_empty() { "" } else { ", both directions one flow" };
            format!("key {} ({} bits{biflow})", names.join(", "), 8 * key.bytes())
        }
    }
}

/// The contents of each part, in the order of [`parts`].
fn details(element: &Element, image: &ElementImage) -> [Vec<String>; 9] {
    let word = |Word { field, word }: &Word| match field.bits() {
        0..=32 => field.name().to_owned(),
        _ => format!("{}[{word}]", field.name()),
    };
    let source = |source: &Source| match *source {
        Source::Operand(at) => image.operands.get(usize::from(at)).map_or(String::new(), word),
        Source::Register(place) => show::register(element, place).to_owned(),
        Source::Constant(number) => number.to_string(),
    };
    let predicate = |Predicate { operand, mask, compare, value }: &Predicate| {
        let sign = match compare {
            Compare::Less => "<",
            Compare::LessEqual => "<=",
            _ => "==",
        };
        let name = image.operands.get(usize::from(*operand)).map_or(String::new(), word);
        let all =
            image.operands.get(usize::from(*operand)).map_or(0, |word| u32::MAX >> (32 - word.field.bits().min(32)));
        if *mask == all { format!("{name} {sign} {value}") } else { format!("{name} & {mask:#x} {sign} {value:#x}") }
    };
    let names = |registers: &[crate::program::Register]| registers.iter().map(|one| one.name.clone()).collect();
    let conditions = image.conditions.iter().map(|one| {
        let sign = match one.compare {
            Compare::Less => "<",
            Compare::SignedLess => "<s",
            Compare::Before => "before",
            Compare::Equal | Compare::LessEqual => "==",
        };
        format!("{} {sign} {}", source(&one.a), source(&one.b))
    });
    let functions = image.functions.iter().map(|one| {
        // These have the form of the program's own functions.
        let operand = |from: Source| match from {
            Source::Operand(at) => image.operands.get(usize::from(at)).map(|word| Operand::Field(word.field)),
            Source::Register(place) => Some(Operand::Register(place)),
            Source::Constant(number) => Some(Operand::Constant(number)),
        };
        let (a, b) = (operand(one.a).unwrap_or(Operand::Constant(0)), operand(one.b).unwrap_or(Operand::Constant(0)));
        show::function(element, Function { operation: one.operation, a, b })
    });
    [
        vec![],
        image.operands.iter().map(word).collect(),
        image.predicates.iter().map(predicate).collect(),
        conditions.collect(),
        functions.collect(),
        names(&element.registers),
        names(&element.globals),
        element.key.iter().flat_map(|key| &key.fields).map(|field| field.name().to_owned()).collect(),
        timeouts(element, &[]).iter().map(|one| show::timeout(element, one)).collect(),
    ]
}

/// The parts as JSON.
pub(crate) fn json(program: &Program, image: &Image) -> Value {
    let element = |(element, image): (&Element, &ElementImage)| {
        let details = details(element, image);
        let parts = parts(element, image)
            .into_iter()
            .zip(details)
            .map(|((name, used, of), list)| (name.replace(' ', "_"), json!({"used": used, "of": of, "list": list})));
        let key = element.key.as_ref().map(|key| {
            let fields: Vec<&str> = key.fields.iter().map(|field| field.name()).collect();
            json!({"fields": fields, "bits": 8 * key.bytes(), "biflow": !key.pairs.is_empty()})
        });
        json!({
            "name": element.name,
            "key": key,
            "states": element.states,
            "contexts": element.capacity,
            "cycles": limits::LOOP,
            "serial": image.serial,
            "parts": parts.collect::<serde_json::Map<_, _>>(),
        })
    };
    json!({"engine": "flow", "elements": program.elements.iter().zip(&image.elements).map(element).collect::<Vec<_>>()})
}
