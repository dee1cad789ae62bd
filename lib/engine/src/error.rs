// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Errors of engines.

use std::error::Error;

use crate::bus::CardError;
use crate::files::FileError;

/// The kind of an error, by what the caller can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// A file cannot be read or written.
    File,
    /// A program does not compile or does not fit.
    Program,
    /// Something that a service was asked to do is not possible, or a file of its data is wrong; the name of the
    /// service.
    Service(&'static str),
    /// The engine, the target or this card cannot do that.
    Unsupported,
    /// The card refused an access or broke.
    Card,
}

/// Why an engine did not carry out a request.
#[derive(Debug, thiserror::Error)]
#[error("{source}")]
pub struct EngineError {
    /// What is wrong.
    pub kind: ErrorKind,
    source: Box<dyn Error + Send + Sync>,
}

impl EngineError {
    /// An error of this kind.
    pub fn new(kind: ErrorKind, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { kind, source: source.into() }
    }

    /// A program that does not compile or does not fit.
    pub fn program(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::new(ErrorKind::Program, source)
    }

    /// Something that the engine, the target or this card cannot do; a sentence.
    pub fn unsupported(text: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, text.into())
    }

    /// The error itself, when it is of this type.
    pub fn downcast_ref<T: Error + 'static>(&self) -> Option<&T> {
        self.source.downcast_ref()
    }
}

impl From<CardError> for EngineError {
    fn from(error: CardError) -> Self {
        Self::new(ErrorKind::Card, error)
    }
}

impl From<FileError> for EngineError {
    fn from(error: FileError) -> Self {
        Self::new(ErrorKind::File, error)
    }
}
