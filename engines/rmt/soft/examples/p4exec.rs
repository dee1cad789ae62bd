// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Runs a program for tests: reads one JSON object and answers with one.
//!
//! Asked: `file`, `text`, `stages`, `entries` as `[table, [key, …], priority, action, [argument, …]]` with keys `["exact", V]`, `["lpm", V, LENGTH]`,
//! `["ternary", V, MASK]` or `["range", LOW, HIGH]`, and `frames` as `[port, hex]`. All numbers of entries are text.
//!
//! Answer: `faults`; or `soft`, for each frame `[verdict, hex]`, `registers`, and either `card`, the rows of the
//! machine, or `refused`, the reason why it cannot run there.
#![allow(clippy::print_stdout, reason = "a program for developers, which prints what it finds")]
#![allow(clippy::unwrap_used)]

use penstock_rmt::Block;
use penstock_rmt_compiler::backend::{Kind, Lowered, Pipeline};
use penstock_rmt_compiler::ir::{ActionCall, Entry, Match, Program};
use penstock_unit::{Block as _, Entering, Verdict};
use serde_json::{Value as Json, json};

const TENANT: u8 = 1;

fn number(json: &Json) -> u128 {
    json.as_str().unwrap().parse().unwrap()
}

fn entry(program: &Program, json: &Json) -> (usize, Entry) {
    let ends = |name: &str, end: &Json| name.rsplit('.').next() == end.as_str();
    let table = program.tables.iter().position(|of| ends(&of.name, &json[0])).unwrap();
    let action = program.actions.iter().position(|of| ends(&of.name, &json[3])).unwrap();
    let key = |key: &Json| match key[0].as_str().unwrap() {
        "exact" => Match::Exact(number(&key[1])),
        "lpm" => Match::Lpm(number(&key[1]), u32::try_from(number(&key[2])).unwrap()),
        "ternary" => Match::Ternary(number(&key[1]), number(&key[2])),
        _ => Match::Range(number(&key[1]), number(&key[2])),
    };
    let keys = json[1].as_array().unwrap().iter().map(key).collect();
    let args = json[4].as_array().unwrap().iter().map(number).collect();
    (table, Entry::new(keys, json[2].as_i64().unwrap() as i32, ActionCall { action, args }))
}

/// All rows. Tables are in the partitions at 0 with the sizes that the answer names.
fn card(program: &Program, lowered: &Lowered, entries: &[(usize, Entry)]) -> Json {
    let tables = program.tables.iter().zip(&lowered.tables).enumerate().filter_map(|(index, (table, code))| {
        let code = code.as_ref()?;
        let own = entries.iter().filter(|(of, _)| *of == index).map(|(_, entry)| entry);
        let entries = own.chain(&table.entries).map(|entry| {
            let (row, params) = code.call(&entry.call, None).unwrap();
            match code.kind {
                Kind::Exact => json!({"key": code.key(entry), "row": row, "params": params}),
                Kind::Prefix => {
                    let (value, length) = code.prefix(entry);
                    json!({"prefix": [value, length], "row": row, "params": params})
                }
                // `main` leaves such programs out.
                Kind::Ternary => Json::Null,
            }
        });
        let exact = code.kind == Kind::Exact;
        Some(json!({"stage": code.stage, "exact": exact, "entries": entries.collect::<Vec<_>>()}))
    });
    let tables: Vec<Json> = tables.collect();
    let key = |stage: usize| {
        let code = lowered.tables.iter().flatten().find(|code| code.stage == stage);
        let size = if code.is_some_and(|code| code.kind == Kind::Exact) { 10 } else { 12 };
        let miss = code.map_or((0, [0; 4]), |code| code.call(&program.tables[code.table].default, None).unwrap());
        lowered.stages[stage].key(0, size, miss)
    };
    let stages: Vec<Json> = (0..lowered.stages.len())
        .map(|stage| {
            let code = &lowered.stages[stage];
            let actions: Vec<Vec<u32>> = code.actions.iter().map(|row| row.to_vec()).collect();
            json!({"key": key(stage), "actions": actions, "registers": code.cells.registers})
        })
        .collect();
    json!({"parser": lowered.parser, "check": lowered.check, "exit": lowered.exit(0), "stages": stages, "tables": tables,
        "stateful": lowered.stateful()})
}

fn main() {
    let asked: Json = serde_json::from_reader(std::io::stdin()).unwrap();
    let compiled =
        match penstock_rmt_compiler::compile(asked["file"].as_str().unwrap(), asked["text"].as_str().unwrap()) {
            Ok(compiled) => compiled,
            Err(faults) => {
                println!("{}", json!({"faults": faults.to_string()}));
                return;
            }
        };
    let program = &compiled.program;
    let entries: Vec<_> = asked["entries"].as_array().unwrap().iter().map(|json| entry(program, json)).collect();
    let mut block = Block::default();
    block.load(TENANT, program.clone().into()).unwrap();
    let tenant = block.tenant_mut(TENANT).unwrap();
    for (table, entry) in &entries {
        tenant.insert(*table, entry).unwrap();
    }
    let frames = asked["frames"].as_array().unwrap().iter().map(|json| {
        let hex = json[1].as_str().unwrap();
        let mut frame: Vec<u8> =
            (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect();
        let entering = Entering { port: json[0].as_u64().unwrap() as u8, hash: 0, tenant: TENANT };
        let verdict = block.carry(&mut frame, &mut 0, entering, &mut Vec::new());
        let verdict = match verdict {
            Verdict::Onward => "onward".to_owned(),
            Verdict::Port(port) => format!("port {port}"),
            Verdict::Host => "host".to_owned(),
            _ => "drop".to_owned(),
        };
        json!([verdict, frame.iter().map(|byte| format!("{byte:02x}")).collect::<String>()])
    });
    let frames: Vec<Json> = frames.collect();
    let tenant = block.tenant(TENANT).unwrap();
    let registers: Vec<Vec<String>> = (0..program.registers.len())
        .map(|register| tenant.register(register).iter().map(ToString::to_string).collect())
        .collect();
    let mut answer = json!({"soft": frames, "registers": registers});
    match compiled.lower(&Pipeline::new(asked["stages"].as_u64().unwrap() as usize)) {
        Ok(lowered) if lowered.tables.iter().flatten().any(|code| code.kind == Kind::Ternary) => {
            answer["refused"] = json!("ternary tables are not compared here");
        }
        Ok(lowered) => answer["card"] = card(program, &lowered, &entries),
        Err(faults) => answer["refused"] = json!(faults.to_string()),
    }
    println!("{answer}");
}
