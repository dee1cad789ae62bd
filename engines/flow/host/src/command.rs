// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The command line of the service `flow`.

use clap::Subcommand;
use serde_json::{Map, Value as Json};

use crate::ask::Ask;

/// A request. ELEMENT is a name in a program; with several flow blocks it is BLOCK.ELEMENT.
#[derive(Debug, Subcommand)]
pub(crate) enum Flow {
    /// Lists the elements: keys, contexts, registers.
    List,
    /// Lists all contexts of an element.
    Dump {
        /// The element.
        element: String,
    },
    /// Shows the context of a flow.
    Get {
        /// The element.
        element: String,
        /// The value of the key's only field, or JSON: '{"ip.src": "192.0.2.1", "l4.sport": 80}', or a list of values
        /// in the order of the fields.
        #[arg(value_parser = typed)]
        key: Json,
    },
    /// Adds a context, or replaces the one of the same flow.
    Insert {
        /// The element.
        element: String,
        /// Written as for `get`.
        #[arg(value_parser = typed)]
        key: Json,
        /// A state, or JSON: '{"state": "OPEN", "registers": {"count": 3}, "for": {"us": 60000000}}'. The default is
        /// the context with which a flow begins.
        #[arg(value_parser = typed)]
        context: Option<Json>,
    },
    /// Removes the context of a flow.
    Delete {
        /// The element.
        element: String,
        /// Written as for `get`.
        #[arg(value_parser = typed)]
        key: Json,
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
        /// Registers and their new values.
        #[arg(required = true, value_name = "REGISTER=NUMBER", value_parser = register)]
        registers: Vec<(String, u32)>,
    },
    /// Takes the events that wait, oldest first.
    Events,
    /// Keeps only events of these kinds of an element until the next load; without kinds, no events.
    Tell {
        /// The element.
        element: String,
        /// new, expired, evicted, full, notified.
        kinds: Vec<String>,
    },
    /// Shows the time that programs see, in µs.
    Time {
        /// Sets the time before. The clock never goes back.
        us: Option<u64>,
    },
    /// Shows the places and the stash of an element's table in hardware.
    Table {
        /// The element.
        element: String,
        /// Counts the most contexts in the stash again from here.
        #[arg(long)]
        forget: bool,
    },
}

impl Flow {
    /// The request.
    pub(crate) fn ask(self) -> Ask {
        match self {
            Self::List => Ask::List,
            Self::Dump { element } => Ask::Dump { element, from: 0 },
            Self::Get { element, key } => Ask::Get { element, key, exist: true },
            Self::Insert { element, key, context } => {
                Ask::Insert { element, key, context: context.unwrap_or_default() }
            }
            Self::Delete { element, key } => Ask::Delete { element, key, exist: true },
            Self::Clear { element } => Ask::Clear { element },
            Self::Set { element, registers } => {
                let registers: Map<_, _> = registers.into_iter().map(|(name, value)| (name, value.into())).collect();
                Ask::Set { element, registers: registers.into() }
            }
            Self::Events => Ask::Events,
            Self::Tell { element, kinds } => Ask::Tell { element, kinds },
            Self::Time { us } => Ask::Time { us },
            Self::Table { element, forget } => Ask::Table { element, forget },
        }
    }
}

/// A value on the command line: JSON if it begins as a list or an object does, otherwise text.
fn typed(text: &str) -> Result<Json, String> {
    if text.trim_start().starts_with(['{', '[']) {
        return serde_json::from_str(text).map_err(|error| format!("`{text}` is no JSON: {error}"));
    }
    Ok(Json::String(text.to_owned()))
}

/// Parses REGISTER=NUMBER.
fn register(text: &str) -> Result<(String, u32), String> {
    let number = |value: &str| match value.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => value.parse(),
    };
    let parsed = text.split_once('=').and_then(|(name, value)| Some((name.to_owned(), number(value).ok()?)));
    parsed.ok_or_else(|| format!("`{text}` sets no register: write REGISTER=NUMBER, with 32 bits, decimal or 0x…"))
}

#[cfg(test)]
mod tests {
    use penstock_engine::Engine;
    use serde_json::json;

    use crate::engine::FLOW;

    /// The requests of a command line, or its fault.
    fn asked(line: &[&str]) -> Result<Vec<serde_json::Value>, String> {
        let service = FLOW.services()[0];
        let words = [service.name].into_iter().chain(line.iter().copied());
        let matches = (service.command)().try_get_matches_from(words).map_err(|error| error.to_string())?;
        (service.ask)(&matches)
    }

    #[test]
    fn command_lines_are_requests() {
        for (line, ask) in [
            (&["list"][..], json!("list")),
            (&["dump", "a.b"], json!({"dump": {"element": "a.b"}})),
            (&["get", "one", "17"], json!({"get": {"element": "one", "key": "17", "exist": true}})),
            (
                &["insert", "one", "[1, \"1.2.3.4\"]", "OPEN"],
                json!({"insert": {"element": "one", "key": [1, "1.2.3.4"], "context": "OPEN"}}),
            ),
            (&["insert", "one", "7"], json!({"insert": {"element": "one", "key": "7", "context": null}})),
            (&["delete", "one", " {\"a\": 1}"], json!({"delete": {"element": "one", "key": {"a": 1}, "exist": true}})),
            (&["clear", "one"], json!({"clear": {"element": "one"}})),
            (&["set", "one", "a=1", "b=0x10"], json!({"set": {"element": "one", "registers": {"a": 1, "b": 16}}})),
            (&["events"], json!("events")),
            (&["tell", "one", "new"], json!({"tell": {"element": "one", "kinds": ["new"]}})),
            (&["time"], json!({"time": {"us": null}})),
            (&["time", "5"], json!({"time": {"us": 5}})),
            (&["table", "one", "--forget"], json!({"table": {"element": "one", "forget": true}})),
        ] {
            assert_eq!(asked(line), Ok(vec![ask]), "{line:?}");
        }
        for (line, words) in [
            (&["dump"][..], "<ELEMENT>"),
            (&["get", "one", "[1, 2"], "`[1, 2` is no JSON"),
            (&["set", "one", "a=4294967296"], "`a=4294967296` sets no register"),
            (&["set", "one"], "REGISTER=NUMBER"),
        ] {
            let text = asked(line).unwrap_err();
            assert!(text.contains(words), "{text}");
        }
    }
}
