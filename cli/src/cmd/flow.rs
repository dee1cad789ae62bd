// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What `penstock ctl flow` asks about the inline chain, and how it prints that.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Subcommand;
use penstock_device::ForGroup;
use penstock_device::maps::json;
use penstock_live::protocol::FlowAction;
use serde_json::{Map, Value};

use crate::cmd::run;
use crate::files::FileError;

/// What to do with the chain. ELEMENT is a name in a program; of several inline blocks BLOCK.ELEMENT.
#[derive(Debug, Subcommand)]
pub enum Flow {
    /// Elements: keys, contexts, registers.
    List,
    /// All contexts of an element.
    Dump {
        /// The element.
        element: String,
    },
    /// The context of a flow.
    Get {
        /// The element.
        element: String,
        /// The value of the key's field, or, of several, JSON: '{"ip.src": "192.0.2.1", "l4.sport": 80}', or a list in their order.
        #[arg(value_parser = json::typed)]
        key: Value,
    },
    /// Adds a context, or replaces that of the same flow.
    Insert {
        /// The element.
        element: String,
        /// Written as for `get`.
        #[arg(value_parser = json::typed)]
        key: Value,
        /// A state, or JSON: '{"state": "OPEN", "registers": {"count": 3}, "for": {"us": 60000000}}'; without it as a flow begins.
        #[arg(value_parser = json::typed)]
        context: Option<Value>,
    },
    /// Removes the context of a flow.
    Delete {
        /// The element.
        element: String,
        /// Written as for `get`.
        #[arg(value_parser = json::typed)]
        key: Value,
    },
    /// Removes all contexts of an element.
    Clear {
        /// The element.
        element: String,
    },
    /// Sets registers of an element.
    Set {
        /// The element.
        element: String,
        /// What each becomes.
        #[arg(required = true, value_name = "REGISTER=NUMBER", value_parser = register)]
        registers: Vec<(String, u32)>,
    },
    /// Takes the events that wait, the oldest first.
    Events,
    /// Has only events of these kinds kept from now on, until a load; without any, none.
    Tell {
        /// The element.
        element: String,
        /// new, expired, evicted, full, notified.
        kinds: Vec<String>,
    },
    /// Goes on with other rows; contexts and registers stay.
    Rows {
        /// A program with the same elements, keys, states and registers, of several inline blocks for this one; the one that runs, compiled anew, when
        /// left out.
        #[arg(value_name = "[BLOCK=]PROGRAM", value_parser = run::program)]
        program: Option<ForGroup<PathBuf>>,
    },
}

impl Flow {
    /// What the card is asked; `whole` makes a path absolute.
    pub fn request(&self, whole: impl Fn(&PathBuf) -> Result<PathBuf, FileError>) -> Result<FlowAction, FileError> {
        Ok(match self {
            Self::List => FlowAction::List,
            Self::Dump { element } => FlowAction::Dump { element: element.clone() },
            Self::Get { element, key } => FlowAction::Get { element: element.clone(), key: key.clone() },
            Self::Insert { element, key, context } => FlowAction::Insert {
                element: element.clone(),
                key: key.clone(),
                context: context.clone().unwrap_or_default(),
            },
            Self::Delete { element, key } => FlowAction::Delete { element: element.clone(), key: key.clone() },
            Self::Clear { element } => FlowAction::Clear { element: element.clone() },
            Self::Set { element, registers } => {
                let registers: Map<_, _> =
                    registers.iter().map(|(name, value)| (name.clone(), (*value).into())).collect();
                FlowAction::Set { element: element.clone(), registers: registers.into() }
            }
            Self::Events => FlowAction::Events,
            Self::Tell { element, kinds } => FlowAction::Tell { element: element.clone(), kinds: kinds.clone() },
            Self::Rows { program } => FlowAction::Rows {
                block: program.as_ref().and_then(|program| program.group.clone()),
                program: program.as_ref().map(|program| whole(&program.value)).transpose()?,
            },
        })
    }
}

/// Parses REGISTER=NUMBER.
fn register(text: &str) -> Result<(String, u32), String> {
    let number = |value: &str| match value.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => value.parse(),
    };
    let parsed = text.split_once('=').and_then(|(name, value)| Some((name.to_owned(), number(value).ok()?)));
    parsed
        .ok_or_else(|| format!("`{text}` sets no register: write REGISTER=NUMBER, a number of 32 bits, decimal or 0x…"))
}

/// What was asked for, a line for each element, context or event.
pub fn text(action: &FlowAction, answer: &Value) -> String {
    let line: fn(&Value) -> String = match action {
        FlowAction::List => element,
        FlowAction::Events => event,
        _ => context,
    };
    answer.as_array().into_iter().flatten().map(|one| line(one) + "\n").collect()
}

/// Text as it is, all else as JSON.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// `NAME VALUE` of each field of an object.
fn fields(object: &Value) -> Vec<String> {
    object.as_object().into_iter().flatten().map(|(name, value)| format!("{name} {}", plain(value))).collect()
}

fn element(element: &Value) -> String {
    let mut text = plain(&element["name"]);
    match element["key"].as_array() {
        Some(key) => {
            let names: Vec<String> = key.iter().map(plain).collect();
            let both = if element["biflow"] == true { " of both directions" } else { "" };
            // Writing into a String does not fail.
            let _ =
                write!(text, ": key {}{both}; {} of {} contexts", names.join(", "), element["contexts"], element["of"]);
        }
        None => text.push_str(": no contexts"),
    }
    let registers = fields(&element["registers"]);
    if !registers.is_empty() {
        let _ = write!(text, "; {}", registers.join(", "));
    }
    text
}

fn context(context: &Value) -> String {
    let mut text = fields(&context["key"]).join(", ");
    text.push(':');
    let mut parts = Vec::new();
    if let Some(state) = context["state"].as_str().filter(|state| !state.is_empty()) {
        parts.push(state.to_owned());
    }
    parts.extend(fields(&context["registers"]));
    for (name, left) in [("for", "us"), ("idle", "left")] {
        if let Some(micros) = context[name][left].as_u64() {
            let then = context[name]["then"].as_str().map_or(String::new(), |state| format!(" then {state}"));
            parts.push(format!("{name} {:.3} s{then}", micros as f64 / 1e6));
        }
    }
    if parts.is_empty() { text } else { format!("{text} {}", parts.join(", ")) }
}

fn event(event: &Value) -> String {
    let seconds = event["time"].as_u64().unwrap_or_default() as f64 / 1e6;
    format!("{seconds:.6} s {} {}: {}", plain(&event["element"]), plain(&event["kind"]), context(event))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn elements_contexts_and_events_are_lines() {
        let elements = json!([
            {"name": "knock", "key": ["ip.src"], "biflow": false, "contexts": 2, "of": 16384, "registers": {}},
            {"name": "both", "key": ["l4.sport", "l4.dport"], "biflow": true, "contexts": 0, "of": 8, "registers": {"next": 7}},
            {"name": "mark", "key": null, "biflow": false, "contexts": 0, "of": null, "registers": {}},
        ]);
        assert_eq!(
            text(&FlowAction::List, &elements),
            "knock: key ip.src; 2 of 16384 contexts\n\
             both: key l4.sport, l4.dport of both directions; 0 of 8 contexts; next 7\nmark: no contexts\n"
        );
        let open = json!({
            "key": {"ip.src": "192.0.2.1", "l4.sport": 80}, "state": "OPEN", "registers": {"count": 3},
            "for": {"us": 59_000_000}, "idle": {"us": 2_000_000, "left": 1_500_000, "then": "ONE"},
        });
        let bare = json!({"key": {"ip.src": "192.0.2.1"}, "state": "", "registers": {}});
        assert_eq!(
            text(&FlowAction::Dump { element: "knock".into() }, &json!([open, bare])),
            "ip.src 192.0.2.1, l4.sport 80: OPEN, count 3, for 59.000 s, idle 1.500 s then ONE\nip.src 192.0.2.1:\n"
        );
        let gone = json!({"kind": "expired", "element": "knock", "time": 1_000_001, "key": {"ip.src": "1.2.3.4"},
            "state": "ONE", "registers": {}});
        assert_eq!(text(&FlowAction::Events, &json!([gone])), "1.000001 s knock expired: ip.src 1.2.3.4: ONE\n");
    }
}
