// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Files that stand beside rules of Suricata: its configuration, its classes, its thresholds.

use std::path::{Path, PathBuf};

use penstock_engine::{EngineError, files};
use penstock_ids_compiler::{Classes, ConfigFault, Tuning, Variables, config};

use crate::error::IdsError;
use crate::image::RULES;

/// Such files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfigFiles {
    /// Has the variables of rule headers, as suricata.yaml.
    pub config: Option<PathBuf>,
    /// Has descriptions and priorities of classes, as classification.config.
    pub classification: Option<PathBuf>,
    /// Says when rules report, as threshold.config.
    pub thresholds: Option<PathBuf>,
}

/// Adds the name of a file to what is wrong with it.
fn named<T>(path: &Path, result: Result<T, ConfigFault>) -> Result<T, EngineError> {
    Ok(result.map_err(|fault| IdsError::Config { path: path.to_owned(), why: fault.to_string() })?)
}

impl ConfigFiles {
    /// The variables of rule headers, all others with their defaults.
    ///
    /// # Errors
    /// The file cannot be read or has another form.
    pub fn variables(&self) -> Result<Variables, EngineError> {
        let mut variables = Variables::default();
        if let Some(path) = &self.config {
            variables.0.extend(named(path, config::variables(&files::read(path, RULES)?))?);
        }
        Ok(variables)
    }

    /// The classes of the file.
    ///
    /// # Errors
    /// The file cannot be read or has another form.
    pub fn classes(&self) -> Result<Classes, EngineError> {
        match &self.classification {
            Some(path) => named(path, Classes::read(&files::read(path, RULES)?)),
            None => Ok(Classes::default()),
        }
    }

    /// The file's settings about when rules report.
    ///
    /// # Errors
    /// The file cannot be read or has another form.
    pub fn tuning(&self, variables: &Variables) -> Result<Tuning, EngineError> {
        match &self.thresholds {
            Some(path) => named(path, Tuning::read(&files::read(path, RULES)?, variables)),
            None => Ok(Tuning::default()),
        }
    }
}
