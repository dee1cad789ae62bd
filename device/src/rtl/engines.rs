// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The part of the registry of engines, engines/engines.toml, that a model needs. tools/registry.py checks the
//! registry.

use std::fs;
use std::path::PathBuf;

use serde::Deserialize;

use penstock_engine::Root;

use super::error::BuildError;

const REGISTRY: &str = "engines/engines.toml";

/// The engines of a checkout.
#[derive(Debug, Deserialize)]
pub(super) struct Engines {
    engine: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    name: String,
    number: u32,
    rtl: PathBuf,
    card_maps: Option<PathBuf>,
    trace: Option<PathBuf>,
}

impl Engines {
    /// Reads the registry.
    pub(super) fn of(root: &Root) -> Result<Self, BuildError> {
        let path = root.join(REGISTRY);
        let text = fs::read_to_string(&path).map_err(|source| BuildError::File { path: path.clone(), source })?;
        toml::from_str(&text).map_err(|error| BuildError::Registry { path, problem: error.to_string() })
    }

    fn entry(&self, name: &str) -> Result<&Entry, BuildError> {
        self.engine.iter().find(|entry| entry.name == name).ok_or_else(|| BuildError::Registry {
            path: PathBuf::from(REGISTRY),
            problem: format!("there is no engine `{name}`; add an [[engine]] of that name"),
        })
    }

    /// The number by which RTL knows an engine.
    pub(super) fn number(&self, name: &str) -> Result<u32, BuildError> {
        Ok(self.entry(name)?.number)
    }

    /// File list of an engine, from the root of the checkout on.
    pub(super) fn rtl(&self, name: &str) -> Result<PathBuf, BuildError> {
        let Entry { name, rtl, .. } = self.entry(name)?;
        Ok(PathBuf::from("engines").join(name).join(rtl))
    }

    /// SystemVerilog that reports frames at the steps of the engine's blocks, if the engine has some.
    pub(super) fn trace(&self, number: u8) -> Option<PathBuf> {
        let entry = self.engine.iter().find(|entry| entry.number == u32::from(number))?;
        Some(PathBuf::from("engines").join(&entry.name).join(entry.trace.as_ref()?))
    }

    /// File list of the maps that the engine's units share, if they do.
    pub(super) fn card_maps(&self, name: &str) -> Result<Option<PathBuf>, BuildError> {
        let Entry { name, card_maps, .. } = self.entry(name)?;
        Ok(card_maps.as_ref().map(|list| PathBuf::from("engines").join(name).join(list)))
    }
}
