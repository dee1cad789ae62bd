// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Requests to the service `rmt`.

use penstock_engine::Request;
use penstock_rmt_p4runtime::{Act, Atomic};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::error::RmtError;
use crate::item::NamedItem;

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
        /// The new program begins with the entries and other items of the one before. If an item does not fit the new
        /// program, the one before goes on.
        #[serde(default)]
        keep: bool,
    },
    /// Gives a tenant of the design that has no program one.
    Add {
        /// Whose, BLOCK.TENANT if the design has several rmt blocks.
        tenant: String,
        /// Name of the file, for messages.
        file: String,
        /// P4 source.
        source: String,
    },
    /// Takes a tenant's program away: its frames pass unchanged.
    Remove {
        /// Whose.
        tenant: String,
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
    /// Adds an entry or another item, or sets a default action.
    Insert {
        /// Whose.
        #[serde(default)]
        tenant: Option<String>,
        /// The entry or other item.
        entry: NamedItem,
    },
    /// Gives an entry another action, or sets another item.
    Modify {
        /// Whose.
        #[serde(default)]
        tenant: Option<String>,
        /// The entry or other item.
        entry: NamedItem,
    },
    /// Removes an entry or another item, or resets a default action.
    Delete {
        /// Whose.
        #[serde(default)]
        tenant: Option<String>,
        /// The entry or other item.
        entry: NamedItem,
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
        /// Whether all are carried out or none.
        #[serde(default)]
        atomic: Atomic,
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
    /// Rates of indirect meters: a list of [`crate::MeterAbout`].
    Meters {
        /// Whose.
        #[serde(default)]
        tenant: Option<String>,
        /// One meter; all of them, without cells, if it is left out.
        #[serde(default)]
        meter: Option<String>,
    },
    /// Multicast groups and clone sessions: a [`crate::CopiesAbout`].
    Copies {
        /// Whose.
        #[serde(default)]
        tenant: Option<String>,
    },
    /// Action profiles with their members and groups: a list of [`crate::ProfileAbout`].
    Profiles {
        /// Whose.
        #[serde(default)]
        tenant: Option<String>,
    },
    /// Value sets with their members: a list of [`crate::ValueSetAbout`].
    ValueSets {
        /// Whose.
        #[serde(default)]
        tenant: Option<String>,
    },
    /// Kinds of messages that are sent to P4Runtime controllers: a list of [`crate::NamedDigest`].
    Digests {
        /// Whose.
        #[serde(default)]
        tenant: Option<String>,
    },
    /// Takes what a program has for P4Runtime controllers: a [`crate::StreamAbout`].
    Stream {
        /// Whose.
        #[serde(default)]
        tenant: Option<String>,
    },
    /// Lets a frame of a controller enter a program, with 510 as `ingress_port`.
    Send {
        /// Whose.
        #[serde(default)]
        tenant: Option<String>,
        /// Its bytes as hexadecimal digits, header `packet_out` included.
        frame: String,
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
    /// Adds an entry or another item, or sets a default action.
    Insert(NamedItem),
    /// Gives an entry another action, or sets another item.
    Modify(NamedItem),
    /// Removes an entry or another item, or resets a default action.
    Delete(NamedItem),
    /// Changes that are carried out together or not at all.
    All(Vec<NamedChange>),
}

impl NamedChange {
    /// Something done with an item.
    #[must_use]
    pub fn of(act: Act, item: NamedItem) -> Self {
        match act {
            Act::Insert => Self::Insert(item),
            Act::Modify => Self::Modify(item),
            Act::Delete => Self::Delete(item),
        }
    }
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
        let Ok(Ask::Insert { tenant: None, entry: NamedItem::Entry(entry) }) =
            Ask::read(&json!({"insert": {"entry": entry}}))
        else {
            panic!()
        };
        assert_eq!((entry.table.as_str(), entry.priority, entry.action.as_deref()), ("routes", 0, Some("drop")));
        for wrong in [json!("lost"), json!({"entries": {"table": "a", "tenent": "b"}}), json!(null)] {
            let error = Ask::read(&wrong).unwrap_err().to_string();
            assert!(error.starts_with(&format!("the service `rmt` does not understand {wrong}: ")), "{error}");
        }
    }
}
