// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Runs a test in STF.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use penstock_engine::{Tool, ToolError, Workbench, files, say};

use penstock_rmt_compiler::ir::Program;

use super::names;
use super::parse::parse;
use super::statement::{Cell, Change, Line, Pattern, Statement};
use super::switch::{Native, OnCard, Switch};
use crate::entry::NamedEntry;
use crate::image::{PROGRAM, Source};

/// `penstock exec rmt`.
pub(crate) const EXEC: Tool = Tool { command, run };

/// Way out when a test cannot be read.
const TEST: &str = "give a test in STF, for example engines/rmt/tests/stf/calculator.stf";

/// Runs a test in STF. The exit status is 0 if every expectation holds and no other frame leaves.
#[derive(Debug, Args)]
struct Arguments {
    /// The P4 program.
    program: PathBuf,
    /// The test.
    test: PathBuf,
    /// The target that runs the program.
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
    let of = source.program.clone();
    let mut switch: Box<dyn Switch> = match target {
        Target::Soft => Box::new(Native::new(source)?),
        Target::Rtl => Box::new(OnCard::open(&program, bench)?),
    };
    let faults = carry_out(&lines, &of, &mut *switch).map_err(|(line, error)| format!("{name}:{line}: {error}"))?;
    if !faults.is_empty() {
        let faults: Vec<String> = faults.iter().map(|(line, fault)| format!("{name}:{line}: {fault}")).collect();
        return Err(faults.join("\n").into());
    }
    let count = |wanted: fn(&Statement) -> bool| lines.iter().filter(|line| wanted(&line.statement)).count();
    say!(
        "{name}: {} packets, {} expectations hold",
        count(|statement| matches!(statement, Statement::Packet { .. })),
        count(|statement| matches!(statement, Statement::Expect { .. } | Statement::CheckCounter { .. })),
    );
    Ok(())
}

/// A fault and its line.
type Fault = (usize, String);

/// Carries out all statements; gives the expectations that do not hold.
fn carry_out(lines: &[Line], program: &Program, switch: &mut dyn Switch) -> Result<Vec<Fault>, (usize, ToolError)> {
    let mut faults = Vec::new();
    // Frames that left, with the line of the packet before, and expectations, by port.
    let (mut left, mut expected) = (Left::new(), Expected::new());
    let mut added = 0;
    let mut named: HashMap<&str, NamedEntry> = HashMap::new();
    let mut groups = Groups::default();
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
            Statement::NoPacket | Statement::Wait | Statement::Look => {}
            Statement::Add { table, priority, keys, action, id } => {
                added += 1;
                let entry = names::entry(program, table, *priority, keys, action, added);
                let entry = entry.map_err(|text| refused(text.into()))?;
                switch.insert(&entry).map_err(refused)?;
                if let Some(id) = id {
                    named.insert(id, entry);
                }
            }
            Statement::SetDefault { table, action } => {
                let entry = names::default(program, table, action).map_err(|text| refused(text.into()))?;
                switch.insert(&entry).map_err(refused)?;
            }
            Statement::CheckCounter { name, cell, bytes, value } => {
                let ((packets, counted), cell) = match cell {
                    Cell::Index(index) => (switch.counter(name, *index).map_err(refused)?, index.to_string()),
                    Cell::Entry(id) => {
                        let none = || refused(format!("no `add` before has the name `{id}`: write = {id}").into());
                        let entry = named.get(id.as_str()).ok_or_else(none)?;
                        (switch.entry_counter(name, entry).map_err(refused)?, format!("${id}"))
                    }
                };
                let (is, unit) = if *bytes { (counted, "bytes") } else { (packets, "packets") };
                if let Some((comparison, value)) = value.filter(|(comparison, value)| !comparison.holds(is, *value)) {
                    let text = format!("{name}({cell}) counted {is} {unit}, expected {comparison} {value}");
                    faults.push((*number, text));
                }
            }
            Statement::RegisterWrite { name, index, value } => {
                switch.write_register(name, *index, value).map_err(refused)?;
            }
            Statement::RegisterRead { name, index, value } => {
                let (is, width) = switch.register(name, *index).map_err(refused)?;
                if let Some(value) = value {
                    let wanted = crate::value::read_text(value, width).map_err(|text| refused(text.into()))?;
                    if is != wanted {
                        faults.push((*number, format!("{name}[{index}] holds {is}, expected {wanted}")));
                    }
                }
            }
            Statement::RemoveAll => switch.remove_all().map_err(refused)?,
            Statement::Change(change) => groups.change(change, switch).map_err(refused)?,
        }
    }
    compare(left, expected, &mut faults);
    faults.sort();
    Ok(faults)
}

/// Multicast groups and their nodes so far.
#[derive(Default)]
struct Groups {
    nodes: Vec<(u16, Vec<u16>)>,
    groups: HashMap<u16, Vec<usize>>,
}

impl Groups {
    fn change(&mut self, change: &Change, switch: &mut dyn Switch) -> Result<(), ToolError> {
        let group = match change {
            Change::Group(group) => {
                self.groups.insert(*group, Vec::new());
                *group
            }
            Change::Node(instance, ports) => {
                self.nodes.push((*instance, ports.clone()));
                return Ok(());
            }
            Change::Associate(group, node) => {
                if *node >= self.nodes.len() {
                    return Err(format!("there is no node {node}: mc_node_create makes nodes 0, 1 and so on").into());
                }
                let members = self.groups.get_mut(group);
                members.ok_or_else(|| format!("there is no group {group}: write mc_mgrp_create {group}"))?.push(*node);
                *group
            }
            other => return switch.change(other),
        };
        let members = self.groups.get(&group).into_iter().flatten();
        let copies = members.flat_map(|node| {
            let (instance, ports) = &self.nodes[*node];
            ports.iter().map(|port| (*port, *instance))
        });
        switch.set_group(group, &copies.collect::<Vec<_>>())
    }
}

/// Frames that left a port, with the line of the packet before.
type Left = BTreeMap<u32, VecDeque<(usize, Vec<u8>)>>;
/// Expectations of a port, with their lines; None: any frame.
type Expected<'l> = BTreeMap<u32, VecDeque<(usize, Option<&'l Pattern>)>>;

/// Compares frames and expectations of each port in their order. An `expect` without data takes any number of frames,
/// but at least one.
fn compare(mut left: Left, mut expected: Expected, faults: &mut Vec<Fault>) {
    let ports: Vec<u32> = left.keys().chain(expected.keys()).copied().collect();
    for port in ports {
        let (mut left, mut expected) =
            (left.remove(&port).unwrap_or_default(), expected.remove(&port).unwrap_or_default());
        let any = expected.iter().any(|(_, pattern)| pattern.is_none());
        loop {
            match (left.pop_front(), expected.pop_front()) {
                (None, None) => break,
                (Some(_), None) if any => {}
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
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
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
        fn insert(&mut self, _: &NamedEntry) -> Result<(), ToolError> {
            Ok(())
        }
        fn counter(&mut self, _: &str, index: u32) -> Result<(u64, u64), ToolError> {
            Ok((index.into(), 60))
        }
        fn write_register(&mut self, _: &str, _: u32, _: &str) -> Result<(), ToolError> {
            Ok(())
        }
    }

    fn program() -> Program {
        penstock_rmt_compiler::compile("router.p4", include_str!("../../../programs/router.p4")).unwrap().program
    }

    fn faults(text: &str) -> Vec<Fault> {
        carry_out(&parse("a.stf", text).unwrap(), &program(), &mut Echo).unwrap()
    }

    #[test]
    fn expectations_hold() {
        let text = "packet 0 0102\npacket 0 02\nexpect 1 01*2\nexpect 2\npacket 0 08\npacket 0 09\nexpect 9\nno_packet\ncheck_counter c(3) == 3\ncheck_counter c(0) bytes == 60";
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
            ("packet 0 09\nexpect 9 09", 1, "left port 9 unexpected"),
            ("check_counter c(3) == 4", 1, "c(3) counted 3 packets, expected == 4"),
            ("check_counter c(3) < 3", 1, "expected < 3"),
        ] {
            let found = faults(text);
            assert!(found[0].0 == line && found[0].1.contains(words), "{text}: {found:?}");
        }
        let refused = |text| carry_out(&parse("a.stf", text).unwrap(), &program(), &mut Echo).unwrap_err();
        assert_eq!(refused("wait\nadd none k:1 a()").0, 2);
        assert!(refused("mc_mgrp_create 1").1.to_string().contains("--target soft"));
        assert!(refused("mc_node_create 1 2\nmc_node_associate 1 0").1.to_string().contains("no group 1"));
        assert!(refused("check_counter c($A)").1.to_string().contains("has the name `A`"));
    }
}
