// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The settings of a group of packet units in a design: `[units.rpu]`.

use std::any::Any;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use penstock_engine::words::did_you_mean;
use penstock_engine::{Fault, FilesError, Identity, Part, Section, TableNames, only_file};
use penstock_rpu::accelerator::{Kind, Kinds};
use penstock_unit::Unit;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

/// The settings of a group.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    /// Accelerators of each unit.
    pub accelerators: Kinds,
    /// Files that fill their tables, by the accelerator's name.
    pub tables: BTreeMap<String, PathBuf>,
}

/// `[units.rpu]`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "units.rpu")]
pub(crate) struct Table {
    /// Accelerators of each unit.
    #[schemars(with = "Option<Vec<String>>")]
    accelerators: Option<Spanned<Vec<String>>>,
    /// Files that fill the tables of the accelerators, by accelerator.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, PathBuf>")]
    tables: BTreeMap<Spanned<String>, PathBuf>,
}

/// `[card.rpu]`, which has no keys.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "card.rpu")]
pub(crate) struct Nothing {}

/// Reads `[card.rpu]`, which has no keys.
pub(crate) fn card(section: Option<Section<'_>>) -> Result<Arc<dyn Part>, Fault> {
    section.map(Section::read::<Nothing>).transpose()?;
    Ok(Arc::new(Settings::default()))
}

impl Settings {
    /// Reads `[units.rpu]`.
    pub fn of(section: Option<Section<'_>>) -> Result<Self, Fault> {
        let Some(section) = section else { return Ok(Self::default()) };
        let folder = section.folder;
        let table: Table = section.read()?;
        let accelerators = match table.accelerators {
            Some(names) => kinds(names.get_ref()).map_err(|message| Fault::at(names.span(), message))?,
            None => Kinds::default(),
        };
        let mut tables = BTreeMap::new();
        for (name, file) in table.tables {
            has_table(accelerators, name.get_ref()).map_err(|message| Fault::at(name.span(), message))?;
            tables.insert(name.into_inner(), folder.join(file));
        }
        Ok(Self { accelerators, tables })
    }

    /// The settings of a part of this engine.
    pub fn behind(part: &dyn Part) -> Option<&Self> {
        (part as &dyn Any).downcast_ref()
    }
}

impl Part for Settings {
    fn parameter(&self) -> u64 {
        self.accelerators.mask().into()
    }

    fn unit(&self, identity: Identity) -> Option<Box<dyn Unit>> {
        Some(Box::new(penstock_rpu::Unit::new(identity, self.accelerators)))
    }

    fn table_names(&self) -> TableNames {
        TableNames::Fixed(self.accelerators.iter().filter(|kind| kind.table_file().is_some()).map(Kind::name).collect())
    }

    fn given_files(&self) -> Vec<(String, PathBuf)> {
        self.tables.iter().map(|(name, file)| (name.clone(), file.clone())).collect()
    }

    fn with_files(&self, name: &str, files: Vec<PathBuf>) -> Result<Arc<dyn Part>, FilesError> {
        has_table(self.accelerators, name).map_err(FilesError::NoTable)?;
        let mut changed = self.clone();
        changed.tables.insert(name.to_owned(), only_file(name, files)?);
        Ok(Arc::new(changed))
    }
}

/// The accelerators of these names.
fn kinds(names: &[String]) -> Result<Kinds, String> {
    let mut kinds = Vec::new();
    for name in names {
        let kind = Kind::named(name).ok_or_else(|| {
            let all = Kind::ALL.map(|kind| format!("`{}`", kind.name())).join(", ");
            let hint = did_you_mean(name, Kind::ALL.map(Kind::name));
            format!("there is no accelerator `{name}`; there are: {all}{hint}")
        })?;
        if kinds.contains(&kind) {
            return Err(format!("`{name}` twice; a unit has one of each at most"));
        }
        kinds.push(kind);
    }
    Ok(kinds.into_iter().collect())
}

/// The accelerator whose table has this name, if units with these accelerators have it.
pub(crate) fn has_table(accelerators: Kinds, name: &str) -> Result<Kind, String> {
    let with_tables = || Kind::ALL.into_iter().filter(|kind| kind.table_file().is_some());
    let Some(kind) = with_tables().find(|kind| kind.name() == name) else {
        let all: Vec<_> = with_tables().map(Kind::name).collect();
        return Err(format!("there is no table `{name}`; there are: {}", all.join(", ")));
    };
    if !accelerators.has(kind) {
        return Err(format!("a table {name} needs units with \"{name}\" among their `accelerators`"));
    }
    Ok(kind)
}
