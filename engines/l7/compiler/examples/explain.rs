// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Explains a file of rules: `cargo run -p penstock-l7-compiler --example explain FILE`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("give a file of rules, for example engines/l7/programs/reviews.l7");
        return ExitCode::FAILURE;
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{path}: {error}");
            return ExitCode::FAILURE;
        }
    };
    match penstock_l7_compiler::compile(&path, &text) {
        Ok(compiled) => {
            print!("{}", compiled.explain());
            ExitCode::SUCCESS
        }
        Err(faults) => {
            eprintln!("{faults}");
            ExitCode::FAILURE
        }
    }
}
