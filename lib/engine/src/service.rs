// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Services: requests to the programs on a card while it is at work.

use clap::{ArgMatches, Command};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::error::EngineError;

/// A service of an engine. Tools forward its requests and answers without knowing them.
#[derive(Clone, Copy)]
pub struct Service {
    /// Its name: `ctl NAME` on the command line, `Device.call(NAME, ...)` in Python.
    pub name: &'static str,
    /// Its subcommands and arguments on the command line.
    pub command: fn() -> Command,
    /// Makes the requests of the arguments; it reads the files that they name. Most have one; a long one comes in
    /// pieces, so that frames pass in between, and the answer to the last is that to all. An error is a sentence.
    pub ask: fn(&ArgMatches) -> Result<Vec<Json>, String>,
    /// An answer as text for people, from the request and the answer.
    pub show: fn(&Json, &Json) -> String,
    /// The service's contents, as files for `run --dump NAME=FOLDER`; None if it has nothing to keep.
    pub dump: Option<Dump>,
    /// Requests without effect that tell what goes on; the web page of a card shows their answers.
    pub views: &'static [View],
}

/// A request without effect, as on the command line.
#[derive(Debug, Clone, Copy)]
pub struct View {
    /// What it shows.
    pub title: &'static str,
    /// The words behind `ctl NAME`.
    pub words: &'static [&'static str],
}

/// Reads a service's contents; returns names and contents of files, which end in `.json`.
pub type Dump = fn(&mut Ask<'_>) -> Result<Vec<(String, String)>, EngineError>;

/// The request for the next slice of an answer. Long answers come in slices, so that frames pass in between: an answer
/// with a field `next` is a slice, and the same request with its value as `from` brings the next one. `from` stands
/// among the other fields of the request, which may be under its name. None if this is the whole answer or its last
/// slice.
///
/// ```
/// use penstock_engine::next_slice;
/// use serde_json::json;
///
/// let (asked, answer) = (json!({"do": "dump", "name": "flows"}), json!({"entries": [], "next": 512}));
/// assert_eq!(next_slice(&asked, &answer), Some(json!({"do": "dump", "name": "flows", "from": 512})));
/// let (asked, answer) = (json!({"dump": {"element": "knock"}}), json!({"contexts": [], "next": 512}));
/// assert_eq!(next_slice(&asked, &answer), Some(json!({"dump": {"element": "knock", "from": 512}})));
/// assert_eq!(next_slice(&asked, &json!({"contexts": []})), None);
/// ```
#[must_use]
pub fn next_slice(ask: &Json, answer: &Json) -> Option<Json> {
    let (next, mut ask) = (answer.get("next")?, ask.clone());
    let mut fields = ask.as_object_mut()?;
    if fields.len() == 1 && fields.values().all(Json::is_object) {
        fields = fields.values_mut().next()?.as_object_mut()?;
    }
    fields.insert("from".to_owned(), next.clone());
    Some(ask)
}

/// How a [`Dump`] asks its service.
pub type Ask<'a> = dyn FnMut(Json) -> Result<Json, EngineError> + 'a;

/// A request to a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The service.
    pub service: String,
    /// The request, in the service's own form.
    pub ask: Json,
}
