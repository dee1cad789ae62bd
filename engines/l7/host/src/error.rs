// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Errors on the host side of the l7 engine.

use penstock_engine::{CardError, EngineError, ErrorKind};
use penstock_l7_compiler::Faults;
use serde_json::Value as Json;

use crate::ask::NAME;

/// Why a driver did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum L7Error {
    /// The card refused an access.
    #[error(transparent)]
    Card(#[from] CardError),
    /// The image is another engine's.
    #[error("this is no program of the l7 engine")]
    Image,
    /// The engine has no units.
    #[error("the l7 engine has no units; use it as [[inline]]")]
    NoUnits,
    /// The design has no such block.
    #[error("inline block {0} is no block of the l7 engine")]
    NoBlock(usize),
    /// The block has no program yet.
    #[error("inline block {0} has no program yet: load one first")]
    NotLoaded(usize),
    /// The request is none of the service.
    #[error("the service `l7` does not understand {request}: {why}")]
    Request {
        /// The request.
        request: Json,
        /// The fault in it.
        why: String,
    },
    /// There is no such application.
    #[error("there is no application `{name}`; there are: {}", there.join(", "))]
    NoApplication {
        /// The name.
        name: String,
        /// Applications that there are.
        there: Vec<String>,
    },
    /// The file does not have the rules that are wanted.
    #[error("{file} has no application `{name}`; write its rules as `application {name} = NUMBER {{ ... }}`")]
    OtherApplications {
        /// The file.
        file: String,
        /// The application.
        name: String,
    },
    /// An application cannot change its place on the wire between two messages.
    #[error(
        "application `{0}` has another number, port, protocol or tenant than the one that runs: a swap changes rules only; \
         load the design again"
    )]
    OtherPlace(String),
    /// The new program has other applications.
    #[error("the program has other applications than the one that runs, which has: {}; load the design again", .0.join(", "))]
    OtherProgram(Vec<String>),
    /// A swap failed, and so did putting back the rules that it had swapped before.
    #[error("{error}; and application `{name}` could not get its old rules again: {again}; load the design again")]
    HalfSwapped {
        /// The application.
        name: String,
        /// Why the swap failed.
        error: Box<L7Error>,
        /// Why the old rules could not be put back.
        again: Box<L7Error>,
    },
    /// The rules have faults.
    #[error(transparent)]
    Rules(#[from] Faults),
    /// The new rules do not fit beside those that run.
    #[error(
        "the rules of `{application}` take {needed} {what}, and {free} in a row are free while those before still run: load fewer rules, or load the design again"
    )]
    Room {
        /// The application.
        application: String,
        /// Rows or decisions.
        what: &'static str,
        /// How many the rules take.
        needed: usize,
        /// The largest gap.
        free: usize,
    },
    /// Messages of the rules before the present ones are still in flight.
    #[error(
        "{messages} messages of `{application}` still run by the rules before the present ones: try again when they are whole or have expired"
    )]
    Running {
        /// The application.
        application: String,
        /// Messages.
        messages: u32,
    },
    /// The card's block is not the one that the driver and the design need.
    #[error(
        "inline block {block} has {found} {what}, and needs {known}: build the card again from this tree and design"
    )]
    Foreign {
        /// The block.
        block: usize,
        /// What differs.
        what: &'static str,
        /// How many the card's block has.
        found: u32,
        /// How many it needs.
        known: u32,
    },
}

impl From<L7Error> for EngineError {
    fn from(error: L7Error) -> Self {
        let kind = match &error {
            L7Error::Card(_) => ErrorKind::Card,
            L7Error::Image | L7Error::NoUnits | L7Error::Foreign { .. } | L7Error::OtherProgram(_) => {
                ErrorKind::Unsupported
            }
            L7Error::Rules(_) => ErrorKind::Program,
            _ => ErrorKind::Service(NAME),
        };
        Self::new(kind, error)
    }
}
