// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Requests to the service `l7`.

use penstock_engine::Request;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::error::L7Error;

/// Name of the service.
pub const NAME: &str = "l7";

/// A request about the applications of a card's l7 blocks. Applications are named as programs name them,
/// BLOCK.APPLICATION if the design has several l7 blocks.
///
/// The JSON of a request is `"apps"` or `{"load": {"application": "reviews", "file": "new.l7", "text": "..."}}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Ask {
    /// All applications: name, number, UDP port, tenant, rows of the machine.
    Apps,
    /// Messages by the rule that decided them: a list of objects with application, message, rule, action and messages.
    Rules,
    /// Gives an application the rules that a source has for it, between two messages.
    Load {
        /// The application.
        application: String,
        /// Name of the source, for faults.
        file: String,
        /// The source.
        text: String,
    },
    /// Messages by the host queue to which rules send them: a list of objects with application, queue and messages. A
    /// group of queues counts for its first queue.
    Queues,
    /// Messages in flight by application, with the pages that they take.
    Messages,
    /// Counters of all applications.
    Counters,
    /// For each block on `rtl`, the cycles from the first beat that it took while it was idle to the first decision
    /// behind it, the last time that there was one: a list of numbers. On `soft` the list is empty.
    Cycles,
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
    pub fn read(json: &Json) -> Result<Self, L7Error> {
        serde_json::from_value(json.clone())
            .map_err(|error| L7Error::Request { request: json.clone(), why: error.to_string() })
    }
}
