// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Tables of a design that belong to an engine.

use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::IntoDeserializer;
use toml::Spanned;
use toml::de::DeValue;

use crate::words::in_words;

/// A fault in a manifest, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Bytes of the manifest; None: the whole table.
    pub span: Option<Range<usize>>,
    /// The fault, and a correct form.
    pub message: String,
}

impl Fault {
    /// A fault at some place of the manifest.
    pub fn at(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span: Some(span), message: message.into() }
    }
}

/// A table of a manifest.
#[derive(Debug, Clone)]
pub struct Section<'a> {
    /// Folder of the manifest: paths in the table are relative to it.
    pub folder: &'a Path,
    /// The table.
    pub table: Spanned<DeValue<'a>>,
}

impl<'a> Section<'a> {
    /// Reads the table as a type. Places of its values, in `Spanned`, are those in the manifest.
    ///
    /// # Errors
    /// A key is unknown, is missing or has a value of another type.
    pub fn read<T: Deserialize<'a>>(self) -> Result<T, Fault> {
        let read = T::deserialize(self.table.into_deserializer());
        read.map_err(|error| Fault { span: error.span(), message: in_words(error.message()) })
    }

    /// A file that the table names.
    pub fn file(&self, file: &Path) -> PathBuf {
        self.folder.join(file)
    }
}
