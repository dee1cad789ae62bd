// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Requests to the service `flow`.

use penstock_engine::Request;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::error::FlowError;

/// Name of the service.
pub const NAME: &str = "flow";

/// A request about the contexts, registers and events of a card's flow blocks. Elements are named as programs name
/// them, BLOCK.ELEMENT if the design has several flow blocks. A key is an object by the names of its fields, a list in
/// their order, or the value of a single field.
///
/// The JSON of a request is `"list"` or `{"get": {"element": "knock", "key": "192.0.2.1"}}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Ask {
    /// All elements: a list of [`crate::ElementAbout`].
    List,
    /// A slice of the contexts of an element: [`crate::SliceAbout`]. Frames pass between two slices.
    Dump {
        /// The element.
        element: String,
        /// 0, or `next` of the slice before.
        #[serde(default, skip_serializing_if = "is_first")]
        from: usize,
    },
    /// The context of a flow: a list of one [`crate::ContextAbout`], or an empty one.
    Get {
        /// The element.
        element: String,
        /// The flow.
        key: Json,
        /// The request fails if the flow has no context.
        #[serde(default)]
        exist: bool,
    },
    /// Adds a context, or replaces the one of the same flow.
    Insert {
        /// The element.
        element: String,
        /// The flow.
        key: Json,
        /// Name of a state, or an object as [`crate::ContextAbout`] with any of state, registers, for and idle. Parts
        /// that are not given are those of a flow without a context; a deadline that is not given does not exist.
        #[serde(default)]
        context: Json,
    },
    /// Removes the context of a flow: whether it had one.
    Delete {
        /// The element.
        element: String,
        /// The flow.
        key: Json,
        /// The request fails if the flow has no context.
        #[serde(default)]
        exist: bool,
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
        /// Numbers by the registers' names.
        registers: Json,
    },
    /// Takes the events that wait, oldest first: a list of [`crate::EventAbout`].
    Events,
    /// Keeps only events of some kinds of an element from now on. A load keeps all kinds again.
    Tell {
        /// The element.
        element: String,
        /// Names of the kinds.
        kinds: Vec<String>,
    },
    /// The time that frames see, in µs.
    Time {
        /// Sets it before. The clock never goes back: an earlier time changes nothing. Contexts whose deadline has
        /// passed expire.
        #[serde(default)]
        us: Option<u64>,
    },
    /// Places and stash of an element's table in hardware: a [`crate::TableUse`].
    Table {
        /// The element.
        element: String,
        /// [`crate::TableUse::most`] starts again afterwards.
        #[serde(default)]
        forget: bool,
    },
}

fn is_first(from: &usize) -> bool {
    *from == 0
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
    pub fn read(json: &Json) -> Result<Self, FlowError> {
        serde_json::from_value(json.clone())
            .map_err(|error| FlowError::Request { request: json.clone(), why: error.to_string() })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn requests_are_json() {
        let get = Ask::Get { element: "one".into(), key: json!({"ip.src": 1}), exist: false };
        for (ask, text) in [
            (Ask::List, json!("list")),
            (get.clone(), json!({"get": {"element": "one", "key": {"ip.src": 1}, "exist": false}})),
            (Ask::Dump { element: "one".into(), from: 0 }, json!({"dump": {"element": "one"}})),
            (Ask::Dump { element: "one".into(), from: 7 }, json!({"dump": {"element": "one", "from": 7}})),
            (Ask::Time { us: Some(5) }, json!({"time": {"us": 5}})),
        ] {
            assert_eq!((ask.json(), Ask::read(&text)), (text, Ok(ask)));
        }
        assert_eq!(Ask::read(&json!({"get": {"element": "one", "key": {"ip.src": 1}}})), Ok(get));
        for wrong in [json!("lost"), json!({"get": {"element": "one", "kye": 1}}), json!(null)] {
            let error = Ask::read(&wrong).unwrap_err().to_string();
            assert!(error.starts_with(&format!("the service `flow` does not understand {wrong}: ")), "{error}");
        }
    }
}
