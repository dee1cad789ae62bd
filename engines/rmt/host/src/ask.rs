// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Requests to the service `rmt`.

use penstock_engine::Request;
use penstock_rmt_p4runtime::Count;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::entry::NamedEntry;
use crate::error::RmtError;

/// Name of the service.
pub const NAME: &str = "rmt";

/// A request about the programs of a card's rmt blocks. `tenant` names whose program is meant, BLOCK.TENANT if the design has several rmt blocks; it can
/// be left out if there is only one program.
///
/// The JSON of a request is `"tenants"` or `{"entries": {"tenant": "bob", "table": "ipv4_lpm"}}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Ask {
    /// All programs: a list of [`crate::TenantAbout`].
    Tenants,
    /// A program with its source: a [`crate::ProgramAbout`].
    Program {
        /// Whose.
        #[serde(default)]
        tenant: Option<String>,
        /// The answer leaves the source out if the program is still the one of this number.
        #[serde(default)]
        known: Option<u64>,
    },
    /// Gives a tenant another program between two frames. Entries, registers and counters begin anew.
    Swap {
        /// Whose.
        #[serde(default)]
        tenant: Option<String>,
        /// Name of the file, for messages.
        file: String,
        /// P4 source.
        source: String,
        /// A number that P4Runtime gives the program.
        #[serde(default)]
        cookie: u64,
        /// Only check that the program compiles and fits.
        #[serde(default)]
        check: bool,
    },
    /// The tables of a program: a list of [`crate::TableAbout`].
    Tables {
        /// Whose.
        #[serde(default)]
        tenant: Option<String>,
    },
    /// Entries of a table, then its default action: a list of [`NamedEntry`].
    Entries {
        /// Whose.
        #[serde(default)]
        tenant: Option<String>,
        /// The table.
        table: String,
    },
    /// Adds an entry, or sets a default action.
    Insert {
        /// Whose.
        #[serde(default)]
        tenant: Option<String>,
        /// The entry.
        entry: NamedEntry,
    },
    /// Gives an entry another action.
    Modify {
        /// Whose.
        #[serde(default)]
        tenant: Option<String>,
        /// The entry.
        entry: NamedEntry,
    },
    /// Removes an entry, or resets a default action.
    Delete {
        /// Whose.
        #[serde(default)]
        tenant: Option<String>,
        /// The entry.
        entry: NamedEntry,
    },
    /// Carries out changes: a list with null or what was refused ([`penstock_rmt_p4runtime::Refusal`]) for each.
    Write {
        /// Whose.
        #[serde(default)]
        tenant: Option<String>,
        /// The program for which the changes are meant, [`crate::ProgramAbout::number`]. If another one runs, all are refused.
        #[serde(default)]
        program: Option<u64>,
        /// The changes, in their order.
        changes: Vec<NamedChange>,
        /// Either all are carried out or none.
        #[serde(default)]
        atomic: bool,
    },
    /// Registers: a list of [`crate::RegisterAbout`].
    Registers {
        /// Whose.
        #[serde(default)]
        tenant: Option<String>,
        /// One register; all of them, without cells, if it is left out.
        #[serde(default)]
        register: Option<String>,
    },
    /// Indirect counters: a list of [`crate::CounterAbout`].
    Counters {
        /// Whose.
        #[serde(default)]
        tenant: Option<String>,
        /// One counter; all of them, without cells, if it is left out.
        #[serde(default)]
        counter: Option<String>,
    },
    /// Messages that the program sent by `digest`, the oldest first, which are taken away; and what it counted: an [`crate::EventsAbout`].
    Events {
        /// Whose.
        #[serde(default)]
        tenant: Option<String>,
    },
}

/// A change by names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum NamedChange {
    /// Adds an entry, or sets a default action.
    Insert(NamedEntry),
    /// Gives an entry another action, or sets a default action.
    Modify(NamedEntry),
    /// Removes an entry, or resets a default action.
    Delete(NamedEntry),
    /// Writes cells of a register.
    Register {
        /// The register.
        name: String,
        /// The cell; all of them if it is left out.
        #[serde(default)]
        index: Option<u32>,
        /// New value.
        value: Json,
    },
    /// Sets cells of an indirect counter.
    Counter {
        /// The counter.
        name: String,
        /// The cell; all of them if it is left out.
        #[serde(default)]
        index: Option<u32>,
        /// New value.
        value: Count,
    },
}

impl Ask {
    /// The request as JSON.
    #[must_use]
    pub fn json(&self) -> Json {
        // All that it consists of is JSON.
        serde_json::to_value(self).unwrap_or_default()
    }

    /// The request as devices forward it.
    #[must_use]
    pub fn request(&self) -> Request {
        Request { service: NAME.to_owned(), ask: self.json() }
    }

    /// Reads a request.
    ///
    /// # Errors
    /// It is not one of this service.
    pub fn read(json: &Json) -> Result<Self, RmtError> {
        serde_json::from_value(json.clone())
            .map_err(|error| RmtError::Request { request: json.clone(), why: error.to_string() })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn requests_are_json() {
        let entries = Ask::Entries { tenant: Some("bob".into()), table: "routes".into() };
        for (ask, text) in
            [(Ask::Tenants, json!("tenants")), (entries, json!({"entries": {"tenant": "bob", "table": "routes"}}))]
        {
            assert_eq!((ask.json(), Ask::read(&text).ok()), (text, Some(ask)));
        }
        let entry = json!({"table": "routes", "match": {"dst": "10.0.0.0/8"}, "action": "drop"});
        let Ok(Ask::Insert { tenant: None, entry }) = Ask::read(&json!({"insert": {"entry": entry}})) else { panic!() };
        assert_eq!((entry.table.as_str(), entry.priority, entry.action.as_deref()), ("routes", 0, Some("drop")));
        for wrong in [json!("lost"), json!({"entries": {"table": "a", "tenent": "b"}}), json!(null)] {
            let error = Ask::read(&wrong).unwrap_err().to_string();
            assert!(error.starts_with(&format!("the service `rmt` does not understand {wrong}: ")), "{error}");
        }
    }
}
