// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Requests to the service `ids`, and its answers.

use penstock_engine::Request;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::error::IdsError;

/// Name of the service.
pub const NAME: &str = "ids";

/// Rules as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleText {
    /// Name of the file, for messages.
    pub name: String,
    /// What it holds.
    pub text: String,
}

/// A request to the first ids block of a card. As JSON: `"stats"`, or `{"reload": {"files": [...]}}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Ask {
    /// The counters: [`penstock_ids::Stats`].
    Stats,
    /// The rules: a list of [`RuleAbout`].
    Rules {
        /// Only rules that have reported.
        #[serde(default)]
        hits: bool,
    },
    /// Exchanges the rules between two frames: a list of sentences about rules that were left out.
    Reload {
        /// The new rules.
        files: Vec<RuleText>,
    },
    /// Takes the alerts that wait, oldest first: a list of EVE records.
    Alerts,
}

/// A rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleAbout {
    /// Group.
    pub gid: u32,
    /// Number.
    pub sid: u32,
    /// Revision.
    pub rev: u32,
    /// Action.
    pub action: String,
    /// Message.
    pub msg: String,
    /// File and line.
    pub place: String,
    /// Alerts since the load.
    pub hits: u64,
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
    pub fn read(json: &Json) -> Result<Self, IdsError> {
        serde_json::from_value(json.clone())
            .map_err(|error| IdsError::Request { request: json.clone(), why: error.to_string() })
    }
}
