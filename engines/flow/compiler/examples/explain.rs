// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Shows the parts of elements that a program uses: `explain FILE [text|json|dot|svg]`.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "a program for developers, which prints what it finds")]

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(file) = arguments.next() else {
        eprintln!("usage: explain FILE [text|json|dot|svg]");
        return ExitCode::FAILURE;
    };
    let read = std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"));
    let compiled =
        read.and_then(|text| penstock_flow_compiler::compile(&file, &text).map_err(|faults| faults.to_string()));
    match (compiled, arguments.next().as_deref().unwrap_or("text")) {
        (Ok(compiled), "json") => println!("{:#}", compiled.json()),
        (Ok(compiled), "dot") => print!("{}", compiled.dot()),
        (Ok(compiled), "svg") => print!("{}", compiled.svg()),
        (Ok(compiled), _) => print!("{}", compiled.explain()),
        (Err(fault), _) => {
            eprintln!("{fault}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
