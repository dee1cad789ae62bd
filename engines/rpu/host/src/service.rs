// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The service `var`: variables of C programs by their names.

use std::sync::Arc;

use clap::{ArgMatches, Command, FromArgMatches, Subcommand};
use penstock_engine::window::{UNIT_WINDOW, word_of};
use penstock_engine::{Bus, EngineError, ErrorKind, Service, regs};
use penstock_rpu_compiler::{DMEM_BASE, Firmware};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::driver::{RpuDriver, UNIT_DMEM, read_data};
use crate::value::{self, Part};

/// Name of the service.
pub(crate) const NAME: &str = "var";
/// The services of the engine.
pub(crate) const SERVICES: &[Service] = &[Service { name: NAME, command, ask, show, dump: Some(dump), views: &[] }];

/// A request. Without `unit`, it is for all units that have the variable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Ask {
    /// Lists the variables of a unit's program; without a unit, of the first one with a program.
    List {
        /// The unit.
        unit: Option<u32>,
    },
    /// Reads variables.
    Get {
        /// The unit.
        unit: Option<u32>,
        /// The variable or a part of it, such as `table[3].count`; without a name, all variables.
        name: Option<String>,
    },
    /// Sets a variable between two frames.
    Set {
        /// The unit.
        unit: Option<u32>,
        /// The variable or a part of it.
        name: String,
        /// Its value. Members of a struct that are left out stay as they are.
        value: Json,
    },
}

/// Reads and sets variables of C programs by their names.
#[derive(Debug, Subcommand)]
enum Var {
    /// Lists the variables that have a place in data memory, with their types.
    List {
        /// The unit; without it, the first one with a program.
        unit: Option<u32>,
    },
    /// Prints a variable, or a part of it such as `table[3].count`.
    Get {
        /// The variable; without it, all.
        name: Option<String>,
        /// The unit; without it, each unit that has the variable.
        #[arg(long, value_name = "UNIT")]
        unit: Option<u32>,
    },
    /// Sets a variable, or a part of it, between two frames.
    Set {
        /// The variable.
        name: String,
        /// A number, a text, or JSON such as [1, 2] or {"count": 0}. Members that are left out stay as they are.
        #[arg(allow_hyphen_values = true)]
        value: String,
        /// The unit; without it, each unit that has the variable.
        #[arg(long, value_name = "UNIT")]
        unit: Option<u32>,
    },
}

fn command() -> Command {
    let about = "Reads and sets variables of C programs by their names";
    Var::augment_subcommands(Command::new(NAME).about(about).subcommand_required(true).arg_required_else_help(true))
}

fn ask(arguments: &ArgMatches) -> Result<Vec<Json>, String> {
    let ask = match Var::from_arg_matches(arguments).map_err(|error| error.to_string())? {
        Var::List { unit } => Ask::List { unit },
        Var::Get { name, unit } => Ask::Get { unit, name },
        // Text that is not JSON is text.
        Var::Set { name, value, unit } => {
            let value = serde_json::from_str(&value).unwrap_or(Json::String(value));
            Ask::Set { unit, name, value }
        }
    };
    Ok(vec![serde_json::to_value(ask).map_err(|error| error.to_string())?])
}

fn show(_: &Json, answer: &Json) -> String {
    let text = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut shown = String::new();
    for variable in answer["variables"].as_array().into_iter().flatten() {
        let (name, of, bytes) = (text(&variable["name"]), text(&variable["type"]), &variable["bytes"]);
        shown += &format!("{name:<24} {of:<24} {bytes} B at 0x{:x}\n", variable["address"].as_u64().unwrap_or(0));
    }
    for value in answer["values"].as_array().into_iter().flatten() {
        match value["value"].as_object().filter(|_| value["all"] == true) {
            Some(all) => {
                all.iter().for_each(|(name, one)| shown += &format!("unit {}: {name} = {one}\n", value["unit"]))
            }
            None => shown += &format!("unit {}: {}\n", value["unit"], value["value"]),
        }
    }
    shown
}

fn dump(ask: &mut penstock_engine::Ask<'_>) -> Result<Vec<(String, String)>, EngineError> {
    let answer = ask(json!({"do": "get"}))?;
    let units = answer["values"].as_array().into_iter().flatten();
    Ok(units.map(|unit| (format!("unit{}.json", unit["unit"]), format!("{:#}\n", unit["value"]))).collect())
}

fn refused(text: String) -> EngineError {
    EngineError::new(ErrorKind::Service(NAME), text)
}

/// The programs of a unit, or of all units that have one.
fn programs(driver: &RpuDriver, unit: Option<u32>) -> Result<Vec<(u32, Arc<Firmware>)>, EngineError> {
    let of = |unit| driver.firmware(unit).map(|firmware| (unit, Arc::clone(firmware)));
    match unit {
        Some(unit) => {
            let there = driver.shape.parts.iter().map(|(_, _, units)| format!("{}..{}", units.start, units.end - 1));
            let wrong = || {
                let there = there.collect::<Vec<_>>().join(", ");
                refused(format!("unit {unit} has no C program; these units have: {there}"))
            };
            Ok(vec![of(unit).ok_or_else(wrong)?])
        }
        None => Ok((0..driver.shape.units).filter_map(of).collect()),
    }
}

/// Carries out a request.
pub(crate) fn answer(driver: &RpuDriver, bus: &mut dyn Bus, ask: &Json) -> Result<Json, EngineError> {
    let ask = Ask::deserialize(ask)
        .map_err(|error| refused(format!("not a request to the service `var`: {error}; it takes list, get and set")))?;
    match ask {
        Ask::List { unit } => {
            let first = programs(driver, unit)?.into_iter().next();
            Ok(json!({"variables": first.map_or(json!([]), |(_, firmware)| value::listed(&firmware.variables))}))
        }
        Ask::Get { unit, name: None } => {
            let mut values = Vec::new();
            for (unit, firmware) in programs(driver, unit)? {
                values.push(json!({"unit": unit, "all": true, "value": all_of(bus, unit, &firmware)?}));
            }
            Ok(json!({"values": values}))
        }
        Ask::Get { unit, name: Some(name) } => {
            let mut values = Vec::new();
            for (unit, firmware, part) in found(driver, unit, &name)? {
                values.push(json!({"unit": unit, "value": get(bus, unit, &firmware, part)?}));
            }
            Ok(json!({"values": values}))
        }
        Ask::Set { unit, name, value } => {
            // All units are checked before the first one changes.
            let mut writes = Vec::new();
            for (unit, firmware, part) in found(driver, unit, &name)? {
                let size = part.bytes(&firmware.variables);
                let (first, offset) = (part.address & !3, part.address % 4);
                let mut bytes = read_data(bus, unit, first - DMEM_BASE, (offset + size).next_multiple_of(4))?;
                let own = &mut bytes[offset as usize..(offset + size) as usize];
                part.write(&firmware.variables, &value, own).map_err(|text| refused(format!("`{name}`: {text}")))?;
                writes.push((unit, first - DMEM_BASE, bytes));
            }
            for (unit, offset, bytes) in writes {
                bus.write(regs::CARD_UNIT_WRITE_MASK, 1 << unit)?;
                for (offset, word) in (offset..).step_by(4).zip(bytes.chunks(4)) {
                    bus.write(UNIT_WINDOW + UNIT_DMEM + offset, word_of(word))?;
                }
            }
            Ok(json!({}))
        }
    }
}

/// The units that have a variable, with their programs and the variable's place.
fn found(driver: &RpuDriver, unit: Option<u32>, name: &str) -> Result<Vec<(u32, Arc<Firmware>, Part)>, EngineError> {
    let mut found = Vec::new();
    let mut missing = None;
    for (unit, firmware) in programs(driver, unit)? {
        match value::find(&firmware.variables, name) {
            Ok(part) => found.push((unit, firmware, part)),
            Err(text) => missing = missing.or(Some(text)),
        }
    }
    match missing {
        Some(text) if found.is_empty() => Err(refused(text)),
        _ => Ok(found),
    }
}

fn get(bus: &mut dyn Bus, unit: u32, firmware: &Firmware, part: Part) -> Result<Json, EngineError> {
    let size = part.bytes(&firmware.variables);
    let bytes = read_data(bus, unit, part.address - DMEM_BASE, size)?;
    Ok(part.read(&firmware.variables, &bytes))
}

fn all_of(bus: &mut dyn Bus, unit: u32, firmware: &Firmware) -> Result<Json, EngineError> {
    let mut values = serde_json::Map::new();
    for variable in &firmware.variables.all {
        let part = Part { address: variable.address, of: variable.of, bits: None };
        values.insert(variable.name.clone(), get(bus, unit, firmware, part)?);
    }
    Ok(values.into())
}
