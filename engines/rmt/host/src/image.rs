// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Compiled programs of rmt blocks.

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use penstock_engine::{EngineError, Image, PartJob, files};
use penstock_rmt_compiler::backend::{Lowered, Pipeline};
use penstock_rmt_compiler::ir::Program;
use penstock_rmt_compiler::{Compiled, Faults, Sources};
use penstock_rmt_p4runtime::{Act, Change};

use crate::error::RmtError;
use crate::file::{self, EntriesError};
use crate::settings::Settings;

/// Name of tenant 0, whose frames no rule of the design gives to another one.
pub(crate) const SYSTEM: &str = "system";
/// Way out when a program cannot be read.
pub(crate) const PROGRAM: &str = "give a P4 program, for example engines/rmt/programs/router.p4";

/// A program with its source.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// Its file, for messages.
    pub file: String,
    /// P4 source.
    pub text: String,
    /// The program.
    pub program: Arc<Program>,
    /// Its files, for messages.
    sources: Sources,
}

impl Source {
    /// Compiles a program that somebody sent as text: it includes no files of this computer.
    ///
    /// # Errors
    /// It has faults.
    pub fn compile_sent(file: &str, text: String) -> Result<Self, RmtError> {
        Self::of(file, penstock_rmt_compiler::compile_sent(file, &text), text)
    }

    /// Compiles a program of a file of this computer.
    ///
    /// # Errors
    /// It has faults.
    pub fn compile(file: &str, text: String) -> Result<Self, RmtError> {
        Self::of(file, penstock_rmt_compiler::compile(file, &text), text)
    }

    fn of(file: &str, compiled: Result<Compiled, Faults>, text: String) -> Result<Self, RmtError> {
        let Compiled { program, sources } = compiled.map_err(|faults| RmtError::Program(faults.to_string()))?;
        Ok(Self { file: file.to_owned(), text, program: Arc::new(program), sources })
    }

    /// The program as rows of the machine with this pipeline.
    ///
    /// # Errors
    /// The machine cannot run it.
    pub fn lower(&self, pipeline: &Pipeline) -> Result<Lowered, RmtError> {
        let compiled = Compiled { program: (*self.program).clone(), sources: self.sources.clone() };
        compiled.lower(pipeline).map_err(|faults| RmtError::Fit(faults.to_string()))
    }

    fn read(path: &Path) -> Result<Self, EngineError> {
        let text = files::read(path, PROGRAM)?;
        Ok(Self::compile(&path.display().to_string(), text)?)
    }
}

/// The initial state of a tenant.
#[derive(Debug, Clone, PartialEq)]
pub struct Begin {
    /// Name of the tenant.
    pub tenant: String,
    /// Its program.
    pub source: Source,
    /// Entries and default actions of the file of entries.
    pub changes: Vec<Change>,
}

/// The programs that an rmt block is loaded with.
#[derive(Debug, Clone, PartialEq)]
pub struct RmtImage {
    /// The programs, by the name of the tenant.
    pub tenants: Vec<Begin>,
    /// The pipeline in hardware.
    pub pipeline: Pipeline,
}

impl RmtImage {
    /// Compiles the programs of a block, and reads its file of entries.
    ///
    /// # Errors
    /// A program has faults, an entry does not fit, or a file cannot be read.
    pub fn compile(job: &PartJob<'_>) -> Result<Self, EngineError> {
        let settings = Settings::of(job.part);
        let own = (!job.program.as_os_str().is_empty()).then(|| (SYSTEM.to_owned(), job.program.to_owned()));
        let begin =
            |(tenant, path): (String, PathBuf)| Ok(Begin { tenant, source: Source::read(&path)?, changes: Vec::new() });
        let programs = own.into_iter().chain(settings.programs.clone());
        let mut tenants = programs.map(begin).collect::<Result<Vec<_>, EngineError>>()?;
        if let Some(path) = &settings.entries {
            fill(&mut tenants, path)?;
        }
        Ok(Self { tenants, pipeline: settings.pipeline })
    }

    /// The image of an rmt block behind an image.
    pub(crate) fn of(image: &dyn Image) -> Result<&Self, RmtError> {
        (image as &dyn Any).downcast_ref().ok_or(RmtError::Image)
    }
}

/// Reads the entries that the tenants begin with.
fn fill(tenants: &mut [Begin], path: &Path) -> Result<(), RmtError> {
    let only = tenants.len() == 1;
    let names: Vec<_> = tenants.iter().map(|one| one.tenant.clone()).collect();
    for (name, entries) in file::read(path).map_err(RmtError::Entries)? {
        let wrong = |line, message| RmtError::Entries(EntriesError::Line { path: path.to_path_buf(), line, message });
        let found = tenants.iter_mut().find(|one| one.tenant == name || (only && name.is_empty()));
        let Some(begin) = found else {
            let text = match name.as_str() {
                "" => "there are several programs: write {\"TENANT\": [...]}, ".to_owned(),
                name => format!("there is no tenant `{name}` with a program; "),
            };
            return Err(wrong(1, format!("{text}there are: {}", names.join(", "))));
        };
        for (line, entry) in entries {
            // Items that are always there are set as they are inserted.
            let change = entry.read(&begin.source.program, Act::Insert);
            begin.changes.push(change.map_err(|refusal| wrong(line, refusal.message))?);
        }
    }
    Ok(())
}

impl Image for RmtImage {
    /// The tables of all programs, with the tenant's name.
    fn tables(&self) -> Vec<String> {
        let of = |one: &Begin| {
            let tables = one.source.program.tables.iter().map(|table| format!("{}.{}", one.tenant, table.name));
            tables.collect::<Vec<_>>()
        };
        self.tenants.iter().flat_map(of).collect()
    }

    /// The pipeline, as `Param` of the block (engines/rmt/machine.md).
    fn parameter(&self) -> Option<u64> {
        let Pipeline { stages, ternary, prefixes, meters, rows_log2 } = self.pipeline;
        let masks = [ternary, prefixes, meters].into_iter().rev().fold(0, |all, mask| all << 12 | u64::from(mask));
        Some(stages as u64 | masks << 8 | u64::from(rows_log2) << 44)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_told_which_stages_have_which_tables() {
        let pipeline = Pipeline { stages: 12, ternary: 0x001, prefixes: 0x802, meters: 0x404, rows_log2: 9 };
        let image = RmtImage { tenants: Vec::new(), pipeline };
        assert_eq!(image.parameter(), Some(0x9404_8020_010C));
    }
}
