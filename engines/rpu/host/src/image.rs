// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Images for packet units: firmware, and tables of their accelerators.

use std::ops::Range;
use std::path::PathBuf;
use std::slice;
use std::sync::Arc;

use penstock_engine::{EngineError, Image, Job, PartJob, files};
use penstock_rpu_compiler::{CompileError, Firmware, Options, compile};

use crate::settings::Settings;
use crate::table::words_of;

/// The way out in messages about an input that should be a program.
pub const PROGRAM: &str = "give a C source or a linked .elf, for example engines/rpu/programs/forward.c";

/// The image of a group.
#[derive(Debug, Clone)]
pub struct RpuImage {
    /// The program.
    pub firmware: Arc<Firmware>,
    /// The host's writes that fill the tables: offsets from the base of all tables, and words.
    pub table: Vec<(u32, u32)>,
}

/// A program that does not compile.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
struct Refused {
    path: PathBuf,
    source: CompileError,
}

impl RpuImage {
    /// Compiles the program of a group and its tables.
    pub fn of(job: &Job<'_>, part: &PartJob<'_>) -> Result<Self, EngineError> {
        files::readable(part.program, PROGRAM)?;
        let settings = Settings::behind(part.part).cloned().unwrap_or_default();
        let mut table = Vec::new();
        for kind in settings.accelerators.iter() {
            table.extend(words_of(kind, settings.tables.get(kind.name()).map(PathBuf::as_path))?);
        }
        let path = part.program.to_owned();
        let options = Options { flags: macros(job.groups), ..Options::new(job.root.path()) };
        let firmware = compile(slice::from_ref(&path), &options)
            .map_err(|source| EngineError::program(Refused { path: path.clone(), source }))?;
        Ok(Self { firmware: Arc::new(firmware), table })
    }
}

impl Image for RpuImage {
    fn messages(&self) -> &str {
        &self.firmware.messages
    }

    fn elf(&self) -> &[u8] {
        &self.firmware.elf
    }

    fn locate(&self, pc: u32) -> Option<String> {
        self.firmware.locate(pc)
    }
}

/// Compiler flags by which programs find the groups of units that have names: macros for the number of the first unit
/// of a group, and for the number of its units.
pub fn macros(groups: &[(String, Range<u32>)]) -> Vec<String> {
    let of_group = |(name, units): &(String, Range<u32>)| {
        let name = name.to_uppercase();
        [format!("-DPN_FIRST_{name}={}u", units.start), format!("-DPN_COUNT_{name}={}u", units.len())]
    };
    groups.iter().flat_map(of_group).collect()
}
