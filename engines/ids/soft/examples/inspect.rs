// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Runs an inspector for tests: `inspect RULES MODE HISTORY [OPTION…]` with the options `checksums=check`,
//! `checksums=ignore`, `SYSTEM=ADDRESS/LENGTH`, `datasets=FOLDER` and `records=all`. Commands come line by line, and each
//! has an answer of one line.
//!
//!     frame NS HEX     a frame: {"drop": false, "alerts": [...], "records": [...]}
//!     reload RULES     other rules: {}
//!     finish           ends the run: {"alerts": [...], "records": [...], "stats": {...}}

use std::error::Error;
use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::Arc;

use penstock_ids::{Bounds, Checksums, Inspector, Reports};
use penstock_ids_compiler::{Options, Program, RuleFile, Ruleset};
use penstock_streams::Policy;
use serde_json::json;

fn program(path: &str, datasets: Option<&Path>) -> Result<Arc<Program>, Box<dyn Error>> {
    let file = RuleFile { name: path.to_owned(), text: std::fs::read_to_string(Path::new(path))? };
    let options = Options { datasets: datasets.map(Path::to_owned), ..Options::default() };
    Ok(Arc::new(Program::new(Ruleset::read(&[file], &options)?)))
}

fn bytes(hex: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let digits = hex.as_bytes().chunks(2);
    digits.map(|pair| Ok(u8::from_str_radix(str::from_utf8(pair)?, 16)?)).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rules, mode, history, options @ ..] = arguments.as_slice() else {
        return Err("inspect RULES MODE HISTORY [OPTION…]".into());
    };
    let mut bounds = Bounds { history: history.parse()?, ..Bounds::default() };
    let (mut reports, mut datasets) = (Reports::default(), None);
    for option in options {
        let (name, value) = option.split_once('=').ok_or("an option is NAME=VALUE")?;
        match (name, value) {
            ("checksums", "check") => bounds.checksums = Checksums::Check,
            ("checksums", "ignore") => bounds.checksums = Checksums::Ignore,
            ("datasets", folder) => datasets = Some(Path::new(folder)),
            ("records", _) => {
                reports = Reports { flows: true, files: true, drops: true, anomalies: true, ..reports };
            }
            (name, range) => {
                let policy = Policy::named(name).ok_or("there is no such option")?;
                bounds.systems.add(range, policy).then_some(()).ok_or("this is no address")?;
            }
        }
    }
    let mut inspector = Inspector::reporting(program(rules, datasets)?, bounds, mode == "ips", reports);
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        let answer = match words.as_slice() {
            ["frame", time, frame] => {
                let outcome = inspector.carry(&bytes(frame)?, 0, time.parse()?);
                json!({"drop": outcome.drop, "alerts": outcome.alerts, "records": outcome.records})
            }
            ["reload", path] => {
                inspector.reload(program(path, datasets)?);
                json!({})
            }
            ["finish"] => {
                let (alerts, records) = inspector.finish();
                json!({"alerts": alerts, "records": records, "stats": inspector.stats()})
            }
            _ => return Err(format!("`{line}` is no command").into()),
        };
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}
