// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Tables of accelerators.

use std::path::Path;

use penstock_engine::EngineError;
use penstock_engine::ErrorKind;
use penstock_engine::files::{self, FileError};
use penstock_rpu::accelerator::Kind;

/// The subject of errors about lists.
const TABLE: &str = "table";

/// The text of a list.
fn text_of(file: &Path, way_out: &'static str) -> Result<String, FileError> {
    files::readable(file, way_out)?;
    let bytes = files::bytes(file).map_err(|source| FileError::input(file, source, way_out))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The host's writes that fill the table of an accelerator from a file: offsets from the base of all tables, and words.
/// Without a file, the writes of an empty table, because the memories of a card are undefined at first.
pub fn words_of(kind: Kind, file: Option<&Path>) -> Result<Vec<(u32, u32)>, EngineError> {
    let Some(file) = file else { return words(kind, "no list", "") };
    let text = text_of(file, kind.table_file().unwrap_or_default())?;
    words(kind, &file.display().to_string(), &text)
}

/// The same from the text of a list; `from` is for messages.
pub(crate) fn words(kind: Kind, from: &str, text: &str) -> Result<Vec<(u32, u32)>, EngineError> {
    kind.table(from, text).map_err(|error| EngineError::new(ErrorKind::Service(TABLE), error))
}
