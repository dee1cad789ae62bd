// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What a design says of a part of an engine.

use std::any::Any;
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use penstock_unit::{Identity, Unit};

/// The settings of a group of units, of an inline block, or of an engine on the whole card.
pub trait Part: Any + Debug + Send + Sync {
    /// The word that chooses the part's hardware (engines/engines.toml); only the engine understands it.
    fn parameter(&self) -> u64 {
        0
    }

    /// A unit of such a group in native code. None of blocks, which [`crate::Driver::load_block`] puts into their places.
    fn unit(&self, _identity: Identity) -> Option<Box<dyn Unit>> {
        None
    }

    /// Names of the files that may be given in place of the design's, as `--table NAME=FILE`.
    fn files(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// The files that the design names for tables, by the table's name.
    fn given_files(&self) -> Vec<(String, PathBuf)> {
        Vec::new()
    }

    /// The same settings with another file of that name.
    ///
    /// # Errors
    /// The part has no such file; a sentence that says which files it has.
    fn with_file(&self, name: &str, _file: PathBuf) -> Result<Arc<dyn Part>, String> {
        Err(format!("there is no table `{name}`: the engine of these units has no tables in files"))
    }

    /// Parameters of card_top that the engine adds, by their names.
    fn card_parameters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}
