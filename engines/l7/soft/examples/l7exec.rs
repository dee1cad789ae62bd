// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Runs programs for tests: answers each line, a JSON object, with a line.
//!
//! Asked: `text`; `timeout` in ns, `messages` and `pages`, the limits; and `steps`, each `["frame", TIME, PORT,
//! TENANT, HASH, HEX]` or `["load", APPLICATION, TEXT]`, which gives an application the rules that another source has for
//! it.
//!
//! Answer: `faults` as `[LINE, MESSAGE]`, and the `source` that has them (0 is `text`, then those of `load`); or
//!
//! - `steps`: for each frame its verdict and the frames made, each `[PORT, TENANT, HASH, MARK, VERDICT, NUMBER, HEX]`;
//! - `applications`: the counters of each, `hits` as `[MESSAGE, RULE, NUMBER]`, and `in_flight`;
//! - `images`: the words of a card for each application, and then for each `load`, one behind the other; null if
//!   they do not fit one block.
#![allow(clippy::unwrap_used)]

use std::io::{BufRead, Write};

use penstock_l7::{Block, Limits};
use penstock_l7_compiler::limits::{DECISIONS, ROWS};
use penstock_l7_compiler::{Compiled, Faults, compile};
use penstock_unit::{Block as _, Entering, Made, Verdict};
use serde_json::{Value as Json, json};

fn number(json: &Json) -> u64 {
    json.as_u64().unwrap()
}

fn bytes(hex: &Json) -> Vec<u8> {
    let digits = hex.as_str().unwrap().as_bytes();
    let digit = |digit: u8| (digit as char).to_digit(16).unwrap() as u8;
    digits.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn made(frame: &Made) -> Json {
    let (verdict, number) = match frame.verdict {
        Verdict::Host => ("host", 0),
        Verdict::Unit(unit) => ("unit", unit),
        Verdict::Dispatch(key) => ("dispatch", key),
        Verdict::Port(port) => ("port", port),
        _ => ("other", 0),
    };
    json!([frame.port, frame.tenant, frame.hash, frame.mark, verdict, number, hex(&frame.frame)])
}

/// The messages and rules of an application's decisions, in their order.
fn names(compiled: &Compiled, app: usize) -> Vec<[String; 2]> {
    let application = &compiled.program.applications[app];
    let name = |decided: &penstock_l7_compiler::image::Decided| {
        let Some(at) = decided.of_type else { return [String::new(), "default".to_owned()] };
        let rules = &application.types[at];
        let rule = decided.rule.map_or("default", |rule| rules.rules[rule].name.as_str());
        [compiled.program.message(rules).name.clone(), rule.to_owned()]
    };
    compiled.images[app].decided().iter().map(name).collect()
}

/// The first row and decision of the first image: numbers of all lengths are in use behind them.
const BEGIN: (usize, usize) = (2000, 4090);

/// The words for a card, each image behind the others.
fn images(parts: &[(&Compiled, usize)]) -> Json {
    let (mut base, mut decisions) = BEGIN;
    let mut all = Vec::new();
    for (compiled, app) in parts {
        let image = &compiled.images[*app];
        let words = image.decisions();
        let end = (base + image.row_count(), decisions + words.len());
        if end.0 > ROWS || end.1 > DECISIONS {
            return Json::Null;
        }
        let rows: Vec<Vec<u32>> = image.rows(base, decisions).iter().map(|row| row.to_vec()).collect();
        all.push(json!({"base": base, "rows": rows, "first": decisions, "decisions": words,
            "starts": image.starts(base, decisions), "classes": image.class_words(), "names": names(compiled, *app)}));
        (base, decisions) = end;
    }
    Json::Array(all)
}

/// The sources of a request: its program and those that it loads.
fn sources(asked: &Json) -> Result<Vec<(Compiled, usize)>, (usize, Faults)> {
    let mut all = vec![(compile("program.l7", asked["text"].as_str().unwrap()).map_err(|faults| (0, faults))?, 0)];
    for step in asked["steps"].as_array().unwrap().iter().filter(|step| step[0] == "load") {
        let compiled = compile("other.l7", step[2].as_str().unwrap()).map_err(|faults| (all.len(), faults))?;
        all.push((compiled, number(&step[1]) as usize));
    }
    Ok(all)
}

fn run(asked: &Json) -> Json {
    let sources = match sources(asked) {
        Ok(sources) => sources,
        Err((source, faults)) => {
            let faults: Vec<Json> = faults.iter().map(|fault| json!([fault.span.line, fault.message])).collect();
            return json!({"source": source, "faults": faults});
        }
    };
    let (first, loads) = sources.split_first().unwrap();
    let limit = |name: &str| number(&asked[name]);
    let limits = Limits {
        messages: limit("messages") as usize,
        pages: limit("pages") as usize,
        timeout: limit("timeout"),
        in_card: false,
    };
    let mut block = Block::new(&first.0.program, limits);
    let count = first.0.program.applications.len();
    let mut of_app: Vec<&Compiled> = vec![&first.0; count];
    let mut loads_left = loads.iter();
    let mut steps = Vec::new();
    for step in asked["steps"].as_array().unwrap() {
        if step[0] == "load" {
            let (compiled, app) = loads_left.next().unwrap();
            block.set_rules(*app, &compiled.program.applications[*app], &compiled.program);
            of_app[*app] = compiled;
            continue;
        }
        block.set_time(number(&step[1]));
        let entering =
            Entering { port: number(&step[2]) as u8, tenant: number(&step[3]) as u8, hash: number(&step[4]) as u32 };
        let mut frame = bytes(&step[5]);
        let mut out = Vec::new();
        let verdict = match block.carry(&mut frame, &mut 0, entering, &mut out) {
            Verdict::Onward => "onward",
            Verdict::Absorb => "absorb",
            Verdict::Drop => "drop",
            _ => "other",
        };
        steps.push(json!([verdict, out.iter().map(made).collect::<Vec<_>>()]));
    }
    let application = |app: usize| {
        let counters = block.counters(app);
        let hits = names(of_app[app], app).into_iter().zip(block.hits(app));
        let hits: Vec<Json> = hits.map(|([message, rule], hits)| json!([message, rule, hits])).collect();
        json!({"packets": counters.packets, "malformed": counters.malformed, "duplicates": counters.duplicates,
            "oversize": counters.oversize, "refused": counters.refused, "delivered": counters.delivered,
            "denied": counters.denied, "expired": counters.expired, "hits": hits, "in_flight": block.in_flight(app).0})
    };
    let applications: Vec<Json> = (0..count).map(application).collect();
    let parts = (0..count).map(|app| (&first.0, app));
    let parts: Vec<_> = parts.chain(loads.iter().map(|(compiled, app)| (compiled, *app))).collect();
    let images = if asked["images"] == true { images(&parts) } else { Json::Null };
    json!({"steps": steps, "applications": applications, "images": images})
}

fn main() {
    for line in std::io::stdin().lock().lines() {
        let answer = run(&serde_json::from_str(&line.unwrap()).unwrap());
        let mut out = std::io::stdout().lock();
        writeln!(out, "{answer}").unwrap();
        out.flush().unwrap();
    }
}
