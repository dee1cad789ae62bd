// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The service `table`: fills tables of accelerators while the programs stay as they are.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{ArgMatches, Args, Command, FromArgMatches};
use penstock_engine::files::{self, FileError};
use penstock_engine::{EngineError, ErrorKind, Service};
use penstock_rpu::accelerator::Kind;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// The service.
pub const TABLE: Service = Service { name: "table", command, ask, show };

/// What the service is asked: fill a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// The accelerator whose table it is.
    pub name: String,
    /// Name of the group of units; not needed when only one has such a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Text of the list that fills the table.
    pub text: String,
    /// Where the text comes from, for messages.
    #[serde(default)]
    pub from: String,
}

/// Loads a table of an accelerator between two frames, for example `table ip_prefix list.txt`.
#[derive(Debug, Args)]
struct Arguments {
    /// Its name; when several groups of units have it, GROUP.TABLE.
    name: String,
    /// The list that fills it.
    file: PathBuf,
}

fn command() -> Command {
    Arguments::augment_args(Command::new(TABLE.name))
}

fn ask(matches: &ArgMatches) -> Result<Json, String> {
    let Arguments { name, file } = Arguments::from_arg_matches(matches).map_err(|error| error.to_string())?;
    let (group, name) = match name.split_once('.') {
        Some((group, name)) => (Some(group.to_owned()), name.to_owned()),
        None => (None, name),
    };
    let way_out = Kind::named(&name).and_then(Kind::table_file).unwrap_or("give the file of a list");
    let text = text_of(&file, way_out).map_err(|error| error.to_string())?;
    let ask = Ask { name, group, text, from: file.display().to_string() };
    serde_json::to_value(ask).map_err(|error| error.to_string())
}

fn show(_ask: &Json, _answer: &Json) -> String {
    String::new()
}

/// The text of a list.
fn text_of(file: &Path, way_out: &'static str) -> Result<String, FileError> {
    files::readable(file, way_out)?;
    let bytes = fs::read(file).map_err(|source| FileError::input(file, source, way_out))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The host's writes that fill the table of an accelerator from a file: offsets from the base of all tables, and words. Without a file, those of an empty
/// table, as the memories of a card come up with anything in them.
pub fn words_of(kind: Kind, file: Option<&Path>) -> Result<Vec<(u32, u32)>, EngineError> {
    let Some(file) = file else { return words(kind, "no list", "") };
    let text = text_of(file, kind.table_file().unwrap_or_default())?;
    words(kind, &file.display().to_string(), &text)
}

/// The same from the text of a list; `from` is for messages.
pub fn words(kind: Kind, from: &str, text: &str) -> Result<Vec<(u32, u32)>, EngineError> {
    kind.table(from, text).map_err(|error| EngineError::new(ErrorKind::Service(TABLE.name), error))
}
