// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The effects of rows on frames, as words of hardware, for tests. Each line of standard input is a program, as a JSON
//! string. For each it prints a line of JSON: `fault`, or for each element `operands` (field, word), `functions`
//! (operation, a, b) and, by the rows of the program, `edits` (words, lowest first).

use std::io::{Write, stdin, stdout};

use penstock_flow_compiler::compile;
use penstock_flow_compiler::image::{ElementImage, Source};
use penstock_flow_compiler::program::Place;
use serde_json::{Value, json};

fn source(source: Source) -> Value {
    match source {
        Source::Operand(at) => json!(["operand", at]),
        Source::Register(Place::Flow(at)) => json!(["flow", at]),
        Source::Register(Place::Global(at)) => json!(["global", at]),
        Source::Constant(value) => json!(["constant", value]),
    }
}

fn element(image: &ElementImage) -> Value {
    let operands: Vec<_> = image.operands.iter().map(|one| json!([one.field.name(), one.word])).collect();
    let function = |one: &penstock_flow_compiler::image::Work| {
        json!([format!("{:?}", one.operation), source(one.a), source(one.b)])
    };
    let functions: Vec<_> = image.functions.iter().map(function).collect();
    // A row that names several states is the same for each.
    let edits: std::collections::BTreeMap<_, _> =
        image.rows.iter().map(|row| (row.row.to_string(), row.edit_words())).collect();
    json!({"operands": operands, "functions": functions, "edits": edits})
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for line in stdin().lines() {
        let text: String = serde_json::from_str(&line?)?;
        let answer = match compile("program", &text) {
            Ok(compiled) => json!(compiled.image.elements.iter().map(element).collect::<Vec<_>>()),
            Err(faults) => json!({"fault": faults.to_string()}),
        };
        writeln!(stdout(), "{answer}")?;
    }
    Ok(())
}
