// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Errors of ids blocks.

use std::path::PathBuf;

use penstock_engine::{CardError, EngineError, ErrorKind};
use penstock_ids::LogError;
use penstock_ids_compiler::Faults;
use serde_json::Value as Json;

use crate::ask::NAME;

/// Why an ids block did not carry out a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdsError {
    /// A part was given the image of another engine.
    #[error("the image is not one of the ids engine; compile rules for an inline block of this engine")]
    Image,
    /// The engine has only inline blocks.
    #[error("the ids engine has no units; name it in [[inline]] (docs/designs.md)")]
    NoUnits,
    /// No part of this index is an ids block.
    #[error("inline block {0} of the design is not an ids block")]
    NoBlock(usize),
    /// The block has no rules yet.
    #[error("inline block {0} has no rules yet; load the card first")]
    NotLoaded(usize),
    /// The request is not one of the service.
    #[error("the service `ids` does not understand {request}: {why}")]
    Request {
        /// The request.
        request: Json,
        /// Why it cannot be read.
        why: String,
    },
    /// Rules are wrong.
    #[error(transparent)]
    Rules(#[from] Faults),
    /// A file beside the rules has another form.
    #[error("{}: {why}", .path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// A sentence that says why.
        why: String,
    },
    /// Alerts cannot be written.
    #[error("{}: {}; give a file that can be written, with --eve FILE", .0.path.display(), .0.why)]
    Log(LogError),
    /// The card does not obey its contract.
    #[error(transparent)]
    Card(#[from] CardError),
}

impl From<LogError> for IdsError {
    fn from(error: LogError) -> Self {
        Self::Log(error)
    }
}

impl From<IdsError> for EngineError {
    fn from(error: IdsError) -> Self {
        let kind = match &error {
            IdsError::Image | IdsError::Rules(_) => ErrorKind::Program,
            IdsError::NoUnits | IdsError::NoBlock(_) | IdsError::NotLoaded(_) => ErrorKind::Unsupported,
            IdsError::Request { .. } => ErrorKind::Service(NAME),
            IdsError::Log(_) | IdsError::Config { .. } => ErrorKind::File,
            IdsError::Card(_) => ErrorKind::Card,
        };
        Self::new(kind, error)
    }
}
