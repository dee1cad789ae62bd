// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The settings of a part of an engine in a design.

use std::any::Any;
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use penstock_unit::{Identity, Unit};

use crate::Fault;

/// Names under which a part accepts files in place of those of the design: `--table NAME=FILE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableNames {
    /// These.
    Fixed(Vec<&'static str>),
    /// Those of the tables that the part's program declares, which the compiler knows.
    OfProgram,
}

impl TableNames {
    /// Whether a file may be given under this name.
    #[must_use]
    pub fn allow(&self, name: &str) -> bool {
        match self {
            Self::Fixed(names) => names.contains(&name),
            Self::OfProgram => true,
        }
    }
}

/// Why a part does not take files.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilesError {
    /// The part has no such table: a sentence that names those that it has.
    #[error("{0}")]
    NoTable(String),
    /// The table takes one file.
    #[error("`{table}` takes one file, not {given}: give the last one only")]
    Several {
        /// The table.
        table: String,
        /// The number of files that were given.
        given: usize,
    },
}

/// The settings of a group of units, of an inline block, or of an engine on the whole card.
pub trait Part: Any + Debug + Send + Sync {
    /// The word that chooses the part's hardware (engines/engines.toml); only the engine understands it.
    fn parameter(&self) -> u64 {
        0
    }

    /// A unit of such a group in native code. None of blocks, which [`crate::Driver::load_block`] puts into their
    /// places.
    fn unit(&self, _identity: Identity) -> Option<Box<dyn Unit>> {
        None
    }

    /// Names under which the part takes files.
    fn table_names(&self) -> TableNames {
        TableNames::Fixed(Vec::new())
    }

    /// The files that the design names for tables, by the table's name.
    fn given_files(&self) -> Vec<(String, PathBuf)> {
        Vec::new()
    }

    /// The same settings with these files for a table: one, unless the part takes several.
    ///
    /// # Errors
    /// If the part has no such table, or takes one file only.
    fn with_files(&self, name: &str, _files: Vec<PathBuf>) -> Result<Arc<dyn Part>, FilesError> {
        Err(FilesError::NoTable(format!("there is no table `{name}`: this engine has no tables in files")))
    }

    /// Whether the design must name a program for an inline block. An engine whose own table names the programs needs
    /// none.
    fn needs_program(&self) -> bool {
        true
    }

    /// Why the part cannot be on a card whose blocks have no channels of card memory, with the key that asks for them.
    fn without_memory(&self) -> Option<Fault> {
        None
    }

    /// Parameters of card_top that the engine adds, by their names.
    fn card_parameters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}

/// The only file that is given for a table.
///
/// # Errors
/// If there are several.
pub fn only_file(table: &str, files: Vec<PathBuf>) -> Result<PathBuf, FilesError> {
    match <[PathBuf; 1]>::try_from(files) {
        Ok([file]) => Ok(file),
        Err(files) => Err(FilesError::Several { table: table.to_owned(), given: files.len() }),
    }
}
