// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Runs a program for tests: `exec FILE [CONTEXTS]`. It reads commands on standard input and answers each with a line.
//!
//! | command | answer |
//! |---|---|
//! | `frame TIME PORT HASH HEX` | `pass`, `port N`, `host` or `drop`, then the frame in hex; frames read at once run as a batch |
//! | `walk TIME` | `done`: all contexts whose deadline has passed have expired |
//! | `contexts E`, `counters E`, `globals E`, `events` | JSON |
//! | `insert E STATE REGISTER,… KEY,…`, `remove E KEY,…`, `change FILE` | `done`, or an error |
#![allow(clippy::print_stderr, reason = "a program for developers, which prints what it finds")]
#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader, BufWriter, Write, stdin, stdout};

use penstock_flow::{Arrival, Chain, Context, Frame, Options, Verdict};
use penstock_flow_compiler::program::Program;
use serde_json::{Value, json};

fn read(file: &str) -> Result<Program, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    penstock_flow_compiler::compile(file, &text).map(|one| one.program).map_err(|faults| faults.to_string())
}

fn numbers(list: &str) -> Vec<u128> {
    list.split(',').map(|number| number.parse().unwrap()).collect()
}

fn key(key: &[u128]) -> Vec<String> {
    key.iter().map(u128::to_string).collect()
}

fn context(context: &Context) -> Value {
    let hard = context.hard.map(|one| json!([one.at, one.then]));
    let idle = context.idle.map(|(one, period)| json!([one.at, one.then, period]));
    let (state, registers) = (context.state, context.registers);
    json!({"key": key(&context.key), "state": state, "registers": registers, "hard": hard, "idle": idle})
}

/// The frame of a command, if it is one.
fn frame(line: &str) -> Option<Frame> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let ["frame", time, port, hash, ref hex @ ..] = words[..] else { return None };
    let arrival = Arrival { port: port.parse().unwrap(), hash: hash.parse().unwrap(), time: time.parse().unwrap() };
    let hex = hex.first().copied().unwrap_or_default();
    let bytes = (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap());
    Some(Frame { bytes: bytes.collect(), arrival, verdict: Verdict::Pass, mark: 0 })
}

/// A frame's verdict and its bytes.
fn said(frame: &Frame) -> String {
    let verdict = match frame.verdict {
        Verdict::Pass => "pass".to_owned(),
        Verdict::Port(port) => format!("port {port}"),
        Verdict::Host => "host".to_owned(),
        Verdict::Drop => "drop".to_owned(),
    };
    let hex: String = frame.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{verdict} {hex}")
}

fn answer(chain: &mut Chain, line: &str) -> Result<String, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let element = |word: &str| word.parse::<usize>().map_err(|_| format!("`{word}` is no element's number"));
    let refused = |error: penstock_flow::HostError| error.to_string();
    Ok(match words[..] {
        ["walk", time] => {
            chain.walk_all(time.parse().unwrap());
            "done".to_owned()
        }
        ["contexts", at] => {
            let (mut all, mut from) = (vec![], Some(0));
            while let Some(begin) = from {
                let slice = chain.slice(element(at)?, begin).map_err(refused)?;
                all.extend(slice.contexts.iter().map(context));
                from = slice.next;
            }
            Value::Array(all).to_string()
        }
        ["counters", at] => {
            let at = element(at)?;
            let count = chain.count(at).map_err(refused)?;
            let counters = chain.counters(at).map_err(refused)?;
            json!({
                "frames": counters.frames, "keyless": counters.keyless, "unmatched": counters.unmatched,
                "unkept": counters.unkept, "expired": counters.expired, "evicted": counters.evicted,
                "rows": counters.rows, "contexts": count, "events_lost": chain.events_lost(),
            })
            .to_string()
        }
        ["globals", at] => json!(chain.globals(element(at)?).map_err(refused)?).to_string(),
        ["events"] => {
            let mut events = vec![];
            while let Some(event) = chain.event() {
                events.push(json!({
                    "kind": format!("{:?}", event.kind), "element": event.element, "time": event.time,
                    "key": key(&event.key),
                    "state": event.state, "registers": event.registers,
                }));
            }
            Value::Array(events).to_string()
        }
        ["insert", at, state, registers, key] => {
            let mut context =
                Context { key: numbers(key), state: state.parse().unwrap(), registers: [0; 4], hard: None, idle: None };
            context.registers.iter_mut().zip(numbers(registers)).for_each(|(to, from)| *to = from as u32);
            chain.insert(element(at)?, &context).map_err(refused)?;
            "done".to_owned()
        }
        ["remove", at, key] => {
            chain.remove(element(at)?, &numbers(key)).map_err(refused)?;
            "done".to_owned()
        }
        ["change", file] => {
            chain.change(&read(file)?).map_err(refused)?;
            "done".to_owned()
        }
        _ => return Err(format!("there is no command `{line}`")),
    })
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let program = read(&arguments[1]).unwrap_or_else(|faults| {
        eprintln!("{faults}");
        std::process::exit(1);
    });
    let contexts = arguments.get(2).map_or(Options::default().contexts, |count| count.parse().unwrap());
    let mut chain = Chain::new(&program, &Options { contexts, ..Options::default() });
    let (mut commands, mut answers) = (BufReader::new(stdin()), BufWriter::new(stdout()));
    let (mut line, mut frames) = (String::new(), Vec::new());
    while commands.read_line(&mut line).unwrap() > 0 {
        let one = frame(&line);
        let waits = one.is_some();
        frames.extend(one);
        // No more commands have arrived, so the other side waits for the answers.
        let last = commands.buffer().is_empty();
        if last || !waits {
            chain.run_all(&mut frames);
            frames.drain(..).for_each(|frame| writeln!(answers, "{}", said(&frame)).unwrap());
        }
        if !waits {
            let answer = answer(&mut chain, line.trim_end()).unwrap_or_else(|fault| fault.replace('\n', " "));
            writeln!(answers, "{answer}").unwrap();
        }
        if last {
            answers.flush().unwrap();
        }
        line.clear();
    }
}
