// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What a controller is told when its request is not carried out.

use prost::Message;
use serde::{Deserialize, Serialize};
use tonic::{Code, Status};

use crate::proto::google::rpc;
use crate::proto::p4::v1::Error;

/// Kinds of refusals: the codes of gRPC that P4Runtime uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The request is malformed or names what the program does not have.
    Argument,
    /// A value has too many bits, or an index is behind the end.
    Range,
    /// The entry does not exist.
    NotFound,
    /// The entry exists.
    Exists,
    /// The table is full.
    Full,
    /// The sender is not the primary controller, or the program does not let it.
    Denied,
    /// There is no program, or the order of requests is wrong.
    Precondition,
    /// An earlier change of the same batch was refused.
    Aborted,
    /// Penstock does not have it.
    Unsupported,
    /// The card failed.
    Card,
}

impl Reason {
    /// The code of gRPC.
    pub(crate) fn code(self) -> Code {
        match self {
            Self::Argument => Code::InvalidArgument,
            Self::Range => Code::OutOfRange,
            Self::NotFound => Code::NotFound,
            Self::Exists => Code::AlreadyExists,
            Self::Full => Code::ResourceExhausted,
            Self::Denied => Code::PermissionDenied,
            Self::Precondition => Code::FailedPrecondition,
            Self::Aborted => Code::Aborted,
            Self::Unsupported => Code::Unimplemented,
            Self::Card => Code::Internal,
        }
    }
}

/// A refused request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// Its kind.
    pub reason: Reason,
    /// A sentence.
    pub message: String,
}

impl Refusal {
    /// A refusal of this kind.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into() }
    }

    /// [`Reason::Argument`].
    pub fn argument(message: impl Into<String>) -> Self {
        Self::new(Reason::Argument, message)
    }

    /// [`Reason::Range`].
    pub fn range(message: impl Into<String>) -> Self {
        Self::new(Reason::Range, message)
    }

    /// [`Reason::Unsupported`].
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(Reason::Unsupported, message)
    }

    /// [`Reason::NotFound`].
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(Reason::NotFound, message)
    }
}

impl From<Refusal> for Status {
    fn from(refusal: Refusal) -> Self {
        Self::new(refusal.reason.code(), refusal.message)
    }
}

/// Bytes of details that clients take. The details stand in a header of HTTP/2 in base64, and gRPC refuses headers of
/// more than 8 KiB.
const DETAILS: usize = 5 << 10;

/// The status of a refused batch: the result of each update, in their order. Details that are too long for clients
/// lose their sentences. If the codes alone are too long as well, the message says which update was refused first.
pub(crate) fn batch(results: &[Result<(), Refusal>]) -> Status {
    let full = status(results, true);
    if full.details().len() <= DETAILS {
        return full;
    }
    let codes = status(results, false);
    if codes.details().len() <= DETAILS {
        return codes;
    }
    let first = results.iter().enumerate().find_map(|(at, result)| Some((at, result.as_ref().err()?)));
    let first = first.map_or(String::new(), |(at, refusal)| format!("; the first is update {at}: {}", refusal.message));
    let text = format!("{}{first}; send smaller batches to see all", codes.message());
    Status::new(Code::Unknown, text)
}

fn status(results: &[Result<(), Refusal>], with_messages: bool) -> Status {
    let error = |result: &Result<(), Refusal>| match result {
        Ok(()) => Error::default(),
        Err(refusal) => {
            let message = if with_messages { refusal.message.clone() } else { String::new() };
            Error { canonical_code: refusal.reason.code() as i32, message, ..Error::default() }
        }
    };
    let detail = |result| prost_types::Any {
        type_url: "type.googleapis.com/p4.v1.Error".to_owned(),
        value: error(result).encode_to_vec(),
    };
    let refused: Vec<_> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    let message = match refused.as_slice() {
        [only] => only.message.clone(),
        all => format!("{} of {} updates were refused", all.len(), results.len()),
    };
    let details = results.iter().map(detail).collect();
    let status = rpc::Status { code: Code::Unknown as i32, message: message.clone(), details };
    Status::with_details(Code::Unknown, message, status.encode_to_vec().into())
}
