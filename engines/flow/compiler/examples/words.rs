// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The words of a program for hardware: `words FILE [CONTEXTS]`. JSON for each element: its words, and for each row of
//! hardware the program's row.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "a program for developers, which prints what it finds")]

use std::process::ExitCode;

use penstock_flow_compiler::{Faults, compile, limits};
use serde_json::{Value, json};

fn words(file: &str, text: &str, contexts: u32) -> Result<Vec<Value>, Faults> {
    let compiled = compile(file, text)?;
    let each = compiled.words(contexts)?.into_iter().zip(&compiled.image.elements);
    Ok(each
        .map(|(words, image)| json!({"words": words, "rows": image.rows.iter().map(|row| row.row).collect::<Vec<_>>()}))
        .collect())
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(file), Ok(contexts)) =
        (arguments.next(), arguments.next().map_or(Ok(limits::CONTEXTS), |text| text.parse()))
    else {
        eprintln!("usage: words FILE [CONTEXTS]; how many contexts a table of the hardware holds");
        return ExitCode::FAILURE;
    };
    let read = std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"));
    match read.and_then(|text| words(&file, &text, contexts).map_err(|faults| faults.to_string())) {
        Ok(elements) => println!("{}", Value::Array(elements)),
        Err(fault) => {
            eprintln!("{fault}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
