// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The HTML report of a run: one file that opens without a network.
//!
//! [`ReportData`] holds the contents of the page without their origin; `from.rs` fills it from the results of a device,
//! and [`write`] makes the page.

mod card;
mod data;
mod flow;
mod from;
mod page;
mod plot;
mod text;

pub(crate) use card::svg as card_drawing;
pub(crate) use data::{ReportData, RunData, Verdict};
pub(crate) use flow::Flow;
pub(crate) use from::{Exits, design};

use crate::files::{self, FileError};

/// Writes the page to `path`, whose folder is made when it is not there.
pub(crate) fn write(path: &std::path::Path, data: &ReportData) -> Result<(), FileError> {
    if let Some(folder) = path.parent() {
        files::make_folder(folder)?;
    }
    files::write(path, page::html(data))
}
