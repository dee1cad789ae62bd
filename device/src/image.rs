// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What the units of a card run: a program, and accelerator tables.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use penstock_rpu_sdk::{CompileError, Firmware, Options, compile};
use penstock_shell::{Accelerator, TableError};

use crate::design::{Design, Engine};
use crate::files::{self, FileError};
use crate::root::Root;
use crate::xdp::{XdpError, XdpProgram};

/// A program or a table that cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// The program.
    #[error("{}: {source}", path.display())]
    Program {
        /// The source or ELF.
        path: PathBuf,
        /// Why.
        source: CompileError,
    },
    /// The program of xdp units.
    #[error(transparent)]
    Xdp(#[from] XdpError),
    /// The list.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The file of one of them.
    #[error(transparent)]
    File(#[from] FileError),
}

/// A program, as its engine takes it.
#[derive(Debug, Clone)]
pub enum Program {
    /// Linked firmware of packet units.
    Rpu(Firmware),
    /// An XDP object.
    Xdp(Arc<XdpProgram>),
}

/// What a unit is loaded with; the same for all units of a card.
#[derive(Debug, Clone)]
pub struct Image {
    /// The program.
    pub program: Program,
    /// Host writes that fill the accelerators' tables: offset from the table base, word.
    pub table: Vec<(u32, u32)>,
}

impl Image {
    /// Compiles the program of a design and its tables.
    pub fn of(root: &Root, design: &Design) -> Result<Self, ImageError> {
        files::readable(&design.program, files::PROGRAM)?;
        let table = Self::table_of(design)?;
        let program = match &design.engine {
            Engine::Rpu { .. } => {
                let firmware = compile(std::slice::from_ref(&design.program), &Options::new(root.path()));
                Program::Rpu(firmware.map_err(|source| ImageError::Program { path: design.program.clone(), source })?)
            }
            Engine::Xdp { lanes, entry } => {
                Program::Xdp(Arc::new(XdpProgram::of(root, &design.program, entry.as_deref(), *lanes)?))
            }
        };
        Ok(Self { program, table })
    }

    /// What the compiler said.
    pub fn messages(&self) -> &str {
        match &self.program {
            Program::Rpu(firmware) => &firmware.messages,
            Program::Xdp(program) => &program.messages,
        }
    }

    /// The program as an ELF file.
    pub fn elf(&self) -> &[u8] {
        match &self.program {
            Program::Rpu(firmware) => &firmware.elf,
            Program::Xdp(program) => &program.bytes,
        }
    }

    /// The program, if it is firmware.
    pub fn firmware(&self) -> Option<&Firmware> {
        match &self.program {
            Program::Rpu(firmware) => Some(firmware),
            Program::Xdp(_) => None,
        }
    }

    /// Compiles the tables of a design alone.
    pub fn table_of(design: &Design) -> Result<Vec<(u32, u32)>, ImageError> {
        let mut words = Vec::new();
        for kind in design.accelerators().iter() {
            words.extend(match design.tables.get(kind.name()) {
                Some(path) => table_from(kind, path)?,
                // The memories of a card come up with anything in them.
                None => table_of(kind, "no list", "")?,
            });
        }
        Ok(words)
    }
}

/// The host writes that fill the table of an accelerator, as in [`Image::table`], from the file of a list.
pub fn table_from(kind: Accelerator, path: &Path) -> Result<Vec<(u32, u32)>, ImageError> {
    let way_out = kind.table_file().unwrap_or_default();
    files::readable(path, way_out)?;
    let bytes = std::fs::read(path).map_err(|source| FileError::input(path, source, way_out))?;
    table_of(kind, &path.display().to_string(), &String::from_utf8_lossy(&bytes))
}

/// The host writes that fill the table of an accelerator, as in [`Image::table`], from the text of a list; `name` is for messages.
pub fn table_of(kind: Accelerator, name: &str, text: &str) -> Result<Vec<(u32, u32)>, ImageError> {
    Ok(kind.table(name, text)?)
}
