// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Runs a test in STF.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use penstock_engine::{Tool, ToolError, Workbench, files};

use super::parse::parse;
use super::statement::{Call, Line, Pattern, Statement};
use super::switch::{Native, OnCard, Switch};
use crate::entry::NamedEntry;
use crate::image::{PROGRAM, Source};

/// `penstock exec rmt`.
pub const EXEC: Tool = Tool { command, run };

/// Way out when a test cannot be read.
const TEST: &str = "give a test in STF, for example engines/rmt/tests/calculator.stf";
/// In STF the smallest priority wins, in entries of this engine the largest: one is this number minus the other.
const PRIORITIES: i32 = 1 << 24;

/// Runs a test in STF. The exit status is 0 if every expectation holds and no other frame leaves.
#[derive(Debug, Args)]
struct Arguments {
    /// The P4 program.
    program: PathBuf,
    /// The test.
    test: PathBuf,
    /// What runs the program.
    #[arg(long, value_enum, default_value = "soft")]
    target: Target,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Target {
    /// Native code.
    Soft,
    /// A card's RTL through Verilator, with two ports.
    Rtl,
}

fn command() -> Command {
    Arguments::augment_args(Command::new("rmt"))
}

fn run(matches: &ArgMatches, bench: &dyn Workbench) -> Result<(), ToolError> {
    let Arguments { program, test, target } = Arguments::from_arg_matches(matches)?;
    let source = Source::compile(&program.display().to_string(), files::read(&program, PROGRAM)?)?;
    let name = test.display().to_string();
    let lines = parse(&name, &files::read(&test, TEST)?)?;
    let mut switch: Box<dyn Switch> = match target {
        Target::Soft => Box::new(Native::new(source)),
        Target::Rtl => Box::new(OnCard::open(&program, bench)?),
    };
    let faults = carry_out(&lines, &mut *switch).map_err(|(line, error)| format!("{name}:{line}: {error}"))?;
    if !faults.is_empty() {
        let faults: Vec<String> = faults.iter().map(|(line, fault)| format!("{name}:{line}: {fault}")).collect();
        return Err(faults.join("\n").into());
    }
    let count = |wanted: fn(&Statement) -> bool| lines.iter().filter(|line| wanted(&line.statement)).count();
    println!(
        "{name}: {} packets, {} expectations hold",
        count(|statement| matches!(statement, Statement::Packet { .. })),
        count(|statement| matches!(statement, Statement::Expect { .. } | Statement::CheckCounter { .. })),
    );
    Ok(())
}

/// A fault and its line.
type Fault = (usize, String);

/// Carries out all statements; gives the expectations that do not hold.
fn carry_out(lines: &[Line], switch: &mut dyn Switch) -> Result<Vec<Fault>, (usize, ToolError)> {
    let mut faults = Vec::new();
    // Frames that left, with the line of the packet before, and expectations, by port.
    let mut left: BTreeMap<u32, VecDeque<(usize, Vec<u8>)>> = BTreeMap::new();
    let mut expected: BTreeMap<u32, VecDeque<(usize, Option<&Pattern>)>> = BTreeMap::new();
    let mut added = 0;
    for Line { number, statement } in lines {
        let refused = |error: ToolError| (*number, error);
        match statement {
            Statement::Packet { port, bytes } => {
                for (port, bytes) in switch.carry(*port, bytes).map_err(refused)? {
                    left.entry(port).or_default().push_back((*number, bytes));
                }
            }
            Statement::Expect { port, pattern } => {
                expected.entry(*port).or_default().push_back((*number, pattern.as_ref()));
            }
            Statement::NoPacket | Statement::Wait => {}
            Statement::Add { table, priority, keys, action } => {
                added += 1;
                let priority =
                    priority.map_or(PRIORITIES / 2 - added, |priority| PRIORITIES.saturating_sub_unsigned(priority));
                let entry = entry(table, keys, action);
                // Only tables whose keys may overlap have priorities.
                let with = NamedEntry { priority, ..entry.clone() };
                switch
                    .insert(&with)
                    .or_else(|first| match switch.insert(&entry) {
                        Ok(()) => Ok(()),
                        Err(second) => Err(if first.to_string().contains("no `priority`") { second } else { first }),
                    })
                    .map_err(refused)?;
            }
            Statement::SetDefault { table, action } => {
                let entry = NamedEntry { default: true, ..entry(table, &[], action) };
                switch.insert(&entry).map_err(refused)?;
            }
            Statement::CheckCounter { name, index, bytes, value } => {
                let (packets, counted) = switch.counter(name, *index).map_err(refused)?;
                let (is, unit) = if *bytes { (counted, "bytes") } else { (packets, "packets") };
                if is != *value {
                    faults.push((*number, format!("{name}({index}) counted {is} {unit}, expected {value}")));
                }
            }
            Statement::RegisterWrite { name, index, value } => {
                switch.write_register(name, *index, value).map_err(refused)?;
            }
            Statement::RemoveAll | Statement::Unsupported(_) => {
                let word = if let Statement::Unsupported(word) = statement { word } else { "remove all" };
                return Err(refused(format!("`{word}` is not supported yet").into()));
            }
        }
    }
    let ports: Vec<u32> = left.keys().chain(expected.keys()).copied().collect();
    for port in ports {
        let (mut left, mut expected) =
            (left.remove(&port).unwrap_or_default(), expected.remove(&port).unwrap_or_default());
        loop {
            match (left.pop_front(), expected.pop_front()) {
                (None, None) => break,
                (Some((line, frame)), None) => {
                    faults.push((line, format!("a frame left port {port} unexpected: {}", hex(&frame))));
                }
                (None, Some((line, _))) => faults.push((line, format!("no further frame left port {port}"))),
                (Some((_, frame)), Some((line, pattern))) => {
                    if let Some(pattern) = pattern.filter(|pattern| !pattern.matches(&frame)) {
                        let frame = hex(&frame);
                        faults.push((line, format!("port {port}: expected {pattern}\n    but the frame is {frame}")));
                    }
                }
            }
        }
    }
    faults.sort();
    Ok(faults)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn entry(table: &str, keys: &[(String, String)], action: &Call) -> NamedEntry {
    let values = |pairs: &[(String, String)]| {
        pairs.iter().map(|(name, value)| (name.replace("$valid$", "isValid()"), value.clone().into())).collect()
    };
    NamedEntry {
        table: table.to_owned(),
        keys: values(keys),
        action: Some(action.name.clone()),
        params: values(&action.arguments),
        ..NamedEntry::default()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Sends each frame out of the port that its first byte names; 9: two copies; 8: none.
    struct Echo;

    impl Switch for Echo {
        fn carry(&mut self, _: u32, frame: &[u8]) -> Result<Vec<(u32, Vec<u8>)>, ToolError> {
            Ok(match frame[0] {
                8 => Vec::new(),
                9 => vec![(9, frame.to_vec()); 2],
                port => vec![(port.into(), frame.to_vec())],
            })
        }
        fn insert(&mut self, entry: &NamedEntry) -> Result<(), ToolError> {
            if entry.table == "none" { Err("there is no table".into()) } else { Ok(()) }
        }
        fn counter(&mut self, _: &str, index: u32) -> Result<(u64, u64), ToolError> {
            Ok((index.into(), 60))
        }
        fn write_register(&mut self, _: &str, _: u32, _: &str) -> Result<(), ToolError> {
            Ok(())
        }
    }

    fn faults(text: &str) -> Vec<Fault> {
        carry_out(&parse("a.stf", text).unwrap(), &mut Echo).unwrap()
    }

    #[test]
    fn expectations_hold() {
        let text = "packet 0 0102\npacket 0 02\nexpect 1 01*2\nexpect 2\npacket 0 08\npacket 0 09\nexpect 9\nexpect 9 09$\nno_packet\ncheck_counter c(3) == 3\ncheck_counter c(0) bytes == 60";
        assert_eq!(faults(text), []);
    }

    #[test]
    fn each_fault_has_its_line() {
        for (text, line, words) in [
            ("packet 0 01", 1, "left port 1 unexpected: 01"),
            ("expect 1", 1, "no further frame left port 1"),
            ("packet 0 0102\nexpect 1 0103", 2, "expected 0103\n    but the frame is 0102"),
            ("packet 0 0102\nexpect 1 01$", 2, "expected 01$"),
            ("packet 0 0101\npacket 0 0102\nexpect 1 0102\nexpect 1 0101", 3, "expected 0102"),
            ("packet 0 09\nexpect 9", 1, "left port 9 unexpected"),
            ("check_counter c(3) == 4", 1, "c(3) counted 3 packets, expected 4"),
        ] {
            let found = faults(text);
            assert!(found[0].0 == line && found[0].1.contains(words), "{text}: {found:?}");
        }
        let refused = |text| carry_out(&parse("a.stf", text).unwrap(), &mut Echo).unwrap_err();
        assert_eq!(refused("wait\nadd none k:1 a()").0, 2);
        assert!(refused("mc_mgrp_create 1").1.to_string().contains("not supported yet"));
    }
}
