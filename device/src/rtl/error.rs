// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Why a model cannot be built.

use std::path::PathBuf;

use crate::file_list;

/// The model cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A source or the cache cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Somebody else has put the model into the cache, or could have.
    #[error("{} belongs to user {owner}; a model is code that runs with your rights: delete it, or use a checkout of your own", path.display())]
    Foreign {
        /// The model, or its folder.
        path: PathBuf,
        /// Number of the user that owns it.
        owner: u32,
    },
    /// A tool is not there.
    #[error("cannot start {tool}: {source}; {help}")]
    Tool {
        /// The tool.
        tool: String,
        /// Why.
        source: std::io::Error,
        /// How to get it.
        help: &'static str,
    },
    /// A tool refused the sources.
    #[error("{tool} refused the card's sources:\n{output}")]
    Refused {
        /// The tool.
        tool: &'static str,
        /// Its first lines.
        output: String,
    },
    /// The registry of engines cannot be used.
    #[error("{}: {problem}", path.display())]
    Registry {
        /// The registry.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// The built library does not load.
    #[error("{}: {source}; delete it and run again", path.display())]
    Load {
        /// The library.
        path: PathBuf,
        /// Why.
        source: libloading::Error,
    },
}

impl From<file_list::Unreadable> for BuildError {
    fn from(file_list::Unreadable { path, source }: file_list::Unreadable) -> Self {
        Self::File { path, source }
    }
}
