// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Errors of rmt blocks.

use penstock_engine::{CardError, EngineError, ErrorKind};
use penstock_rmt_p4runtime::{Reason, Refusal};
use serde_json::Value as Json;

use crate::ask::NAME;
use crate::file::EntriesError;

/// Why an rmt block did not carry out a request.
#[derive(Debug, thiserror::Error)]
pub enum RmtError {
    /// A part was given the image of another engine.
    #[error("the image is not one of the rmt engine; compile the program for an inline block of this engine")]
    Image,
    /// A program has no native code.
    #[error(transparent)]
    Native(#[from] penstock_rmt::NativeError),
    /// The engine has only inline blocks.
    #[error("the rmt engine has no units; name it in [[inline]] (docs/designs.md)")]
    NoUnits,
    /// No part of this index is an rmt block.
    #[error("inline block {0} of the design is not an rmt block")]
    NoBlock(usize),
    /// The block has no program yet.
    #[error("inline block {0} has no program yet; load the card first")]
    NotLoaded(usize),
    /// The request is not one of the service.
    #[error("the service `rmt` does not understand {request}: {why}")]
    Request {
        /// The request.
        request: Json,
        /// Why it cannot be read.
        why: String,
    },
    /// No program is known by this name.
    #[error("there is no tenant `{name}` with a program; there are: {}", there.join(", "))]
    NoTenant {
        /// The name.
        name: String,
        /// All names.
        there: Vec<String>,
    },
    /// There are several programs.
    #[error("there are several programs, so say whose is meant (--tenant): {}", .0.join(", "))]
    Several(Vec<String>),
    /// Programs are given for a tenant that the design does not have.
    #[error("programs: the design has no tenant `{name}`; {}", if there.is_empty() {
        "it has none: write [[tenants]] with `name` and `vlan`".to_owned() } else { format!("it has: {}", there.join(", ")) })]
    Unknown {
        /// The name.
        name: String,
        /// All names.
        there: Vec<String>,
    },
    /// A program has faults.
    #[error("{0}")]
    Program(String),
    /// A program does not fit the card's pipeline.
    #[error("{0}")]
    Fit(String),
    /// A file of entries is wrong.
    #[error(transparent)]
    Entries(#[from] EntriesError),
    /// A change of tables, registers or counters was refused.
    #[error("{}", .0.message)]
    Refused(Refusal),
    /// Only soft or only hardware has it.
    #[error("{0}")]
    Unsupported(String),
    /// The card holds something else than was written.
    #[error("{what}: the card holds {found:08x?} and was given {given:08x?}; load the card again")]
    Differs {
        /// The value that was read back.
        what: String,
        /// The words on the card.
        found: Vec<u32>,
        /// The words that were written.
        given: Vec<u32>,
    },
    /// The card refused an access or broke.
    #[error(transparent)]
    Card(#[from] CardError),
}

impl From<Refusal> for RmtError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl RmtError {
    /// The status for a controller.
    #[must_use]
    pub fn refusal(self) -> Refusal {
        let reason = match &self {
            Self::Refused(_) => Reason::Argument,
            Self::NoTenant { .. } | Self::Several(_) => Reason::NotFound,
            Self::Program(_) | Self::Request { .. } | Self::Entries(_) => Reason::Argument,
            Self::Fit(_) => Reason::Full,
            Self::Unsupported(_) | Self::NoUnits | Self::Image | Self::Unknown { .. } => Reason::Unsupported,
            Self::NoBlock(_) | Self::NotLoaded(_) => Reason::Precondition,
            Self::Differs { .. } | Self::Card(_) | Self::Native(_) => Reason::Card,
        };
        match self {
            Self::Refused(refusal) => refusal,
            other => Refusal::new(reason, other.to_string()),
        }
    }
}

impl From<RmtError> for EngineError {
    fn from(error: RmtError) -> Self {
        let kind = match &error {
            RmtError::Card(_) | RmtError::Differs { .. } => ErrorKind::Card,
            RmtError::Image | RmtError::NoUnits | RmtError::Unsupported(_) => ErrorKind::Unsupported,
            RmtError::Program(_) | RmtError::Fit(_) | RmtError::Unknown { .. } => ErrorKind::Program,
            _ => ErrorKind::Service(NAME),
        };
        Self::new(kind, error)
    }
}
