// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What `penstock ctl map` asks about maps of xdp units, and how it prints them.

use std::fmt::Write;

use clap::{Subcommand, ValueEnum};
use penstock_device::maps::json;
use penstock_live::protocol::{MapAbout, Records, Request, Store};
use serde_json::Value;

/// What to do with maps. NAME is a map of a program, or the section of its global variables: `.data`, `.bss`, `.rodata`. When several groups of
/// units have it, GROUP.NAME.
#[derive(Debug, Subcommand)]
pub enum Map {
    /// Names, types and sizes.
    List,
    /// All entries.
    Dump {
        /// The map.
        name: String,
    },
    /// One entry.
    Get {
        /// The map.
        name: String,
        /// A number, an address (192.0.2.1), bytes ("0a 0b", 02:00:00:00:00:01), or JSON: '{"port": 80}'.
        #[arg(value_parser = json::typed, allow_negative_numbers = true)]
        key: Value,
    },
    /// Sets an entry between two frames.
    Set {
        /// The map.
        name: String,
        /// Written as for `get`.
        #[arg(value_parser = json::typed, allow_negative_numbers = true)]
        key: Value,
        /// Written so, too. Fields that are not named become 0; of per-CPU kinds, one value for all processors or a list for each.
        #[arg(value_parser = json::typed, allow_negative_numbers = true)]
        value: Value,
        /// Whether the entry may be new, or must.
        #[arg(value_enum, default_value_t = When::Any)]
        when: When,
    },
    /// Takes an entry out.
    Delete {
        /// The map.
        name: String,
        /// Written as for `get`.
        #[arg(value_parser = json::typed, allow_negative_numbers = true)]
        key: Value,
    },
}

/// Whether an entry that is set may be new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "lower")]
pub enum When {
    /// It may.
    Any,
    /// It must.
    NoExist,
    /// It must be there.
    Exist,
}

impl Map {
    /// What the card is asked.
    pub fn request(&self) -> Request {
        match self {
            Self::List => Request::Maps,
            Self::Dump { name } => Request::MapDump { name: name.clone() },
            Self::Get { name, key } => Request::MapGet { name: name.clone(), key: key.clone() },
            Self::Set { name, key, value, when } => Request::MapSet {
                name: name.clone(),
                key: key.clone(),
                value: value.clone(),
                store: match when {
                    When::Any => Store::Any,
                    When::NoExist => Store::NoExist,
                    When::Exist => Store::Exist,
                },
            },
            Self::Delete { name, key } => Request::MapDelete { name: name.clone(), key: key.clone() },
        }
    }
}

/// Maps, a line each.
pub fn list(maps: &[MapAbout]) -> String {
    let row = |map: &MapAbout| {
        let end = if map.read_only { ", constants" } else { "" };
        [
            map.name.clone(),
            map.kind.clone(),
            format!("{} ({} B)", map.key, map.key_bytes),
            format!("{} ({} B)", map.value, map.value_bytes),
            format!("{} entries{end}", map.max_entries),
        ]
    };
    let rows: Vec<_> = maps.iter().map(row).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..4).map(width).collect();
    let mut text = String::new();
    for [name, kind, key, value, end] in &rows {
        let [a, b, c, d] = widths[..] else { continue };
        // Writing into a String does not fail.
        let _ = writeln!(text, "{name:a$}  {kind:b$}  {key:c$}  {value:d$}  {end}");
    }
    text
}

/// Entries, a line each: `KEY: VALUE`. Of per-CPU kinds only processors whose value is not 0 are named.
pub fn entries(map: &MapAbout, entries: &Value) -> String {
    let mut text = String::new();
    for entry in entries.as_array().into_iter().flatten() {
        let value = match (map.processors, entry["value"].as_array()) {
            (Some((first, _)), Some(values)) => {
                let each = (first..).zip(values).filter(|(_, value)| !is_zero(value));
                let mut words: Vec<String> = each.map(|(number, value)| format!("cpu {number}: {value}")).collect();
                if words.len() < values.len() {
                    words.push(if words.is_empty() { "all 0".into() } else { "others 0".into() });
                }
                words.join(", ")
            }
            _ => entry["value"].to_string(),
        };
        let _ = writeln!(text, "{}: {value}", entry["key"]);
    }
    text
}

/// Records, a line each, and how many were lost.
pub fn records(Records { records, lost }: &Records) -> String {
    let mut text = String::new();
    for record in records.as_array().into_iter().flatten() {
        let _ = match record["cpu"].as_u64() {
            Some(processor) => writeln!(text, "cpu {processor}: {}", record["data"].as_str().unwrap_or_default()),
            None => writeln!(text, "{}", record.as_str().unwrap_or_default()),
        };
    }
    if *lost > 0 {
        let _ = writeln!(text, "lost since the load: {lost}");
    }
    text
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_u64() == Some(0),
        Value::String(text) => text.strip_prefix("0x").is_some_and(|digits| digits.bytes().all(|digit| digit == b'0')),
        Value::Array(values) => values.iter().all(is_zero),
        Value::Object(fields) => fields.values().all(is_zero),
        Value::Null | Value::Bool(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn about(processors: Option<(u32, u32)>) -> MapAbout {
        MapAbout {
            name: "flows".into(),
            kind: "hash".into(),
            key: "__u32".into(),
            key_bytes: 4,
            value: "struct seen".into(),
            value_bytes: 16,
            max_entries: 64,
            read_only: false,
            processors,
        }
    }

    #[test]
    fn maps_are_columns() {
        let constants = MapAbout { name: ".rodata".into(), read_only: true, max_entries: 1, ..about(None) };
        assert_eq!(
            list(&[about(None), constants]),
            "flows    hash  __u32 (4 B)  struct seen (16 B)  64 entries\n\
             .rodata  hash  __u32 (4 B)  struct seen (16 B)  1 entries, constants\n"
        );
    }

    #[test]
    fn values_of_processors_that_are_zero_are_left_out() {
        let both =
            json!([{"key": 7, "value": [0, {"n": 3}, {"n": [0, 0], "m": "0x0000"}]}, {"key": 8, "value": [0, 0]}]);
        let text = "7: cpu 17: {\"n\":3}, others 0\n8: all 0\n";
        assert_eq!(entries(&about(Some((16, 19))), &both), text);
        assert_eq!(entries(&about(None), &json!([{"key": "0x0a", "value": [0, 1]}])), "\"0x0a\": [0,1]\n");
    }
}
