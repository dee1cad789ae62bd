// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What the units of a card run: programs, and accelerator tables.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use penstock_flow_compiler::Faults;
use penstock_rpu_sdk::{CompileError, Firmware, Options, compile};
use penstock_shell::{Accelerator, TableError};
use penstock_xdp_compiler::card::{CardMap, Room};

use crate::design::{Design, Engine, Group, mask_of};
use crate::device::DeviceError;
use crate::files::{self, FileError};
use crate::flow::FlowImage;
use crate::maps::json::{self, EntriesError};
use crate::maps::{self, Entry, Map, MapError};
use crate::root::Root;
use crate::routes::{self, Routes, RoutesFileError};
use crate::xdp::{RowImage, XdpError, XdpProgram};

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
    /// The program of an inline block: all that is wrong with it, each with its line and column.
    #[error(transparent)]
    Flow(#[from] Faults),
    /// All inline blocks have more elements than a chain; a sentence.
    #[error("{0}")]
    Elements(String),
    /// The list.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The file of one of them.
    #[error(transparent)]
    File(#[from] FileError),
    /// A map that is to begin with something.
    #[error(transparent)]
    Map(#[from] MapError),
    /// What it is to begin with.
    #[error(transparent)]
    Entries(#[from] EntriesError),
    /// The routes.
    #[error(transparent)]
    Routes(#[from] RoutesFileError),
}

/// A program, as its engine takes it.
#[derive(Debug, Clone)]
pub enum Program {
    /// Linked firmware of packet units.
    Rpu(Firmware),
    /// An XDP object.
    Xdp(Arc<XdpProgram>),
    /// Rows of xdp units that were put together by hand: for `rtl` only.
    Rows(Arc<RowImage>),
}

/// What a card is loaded with: its inline blocks, and its units, group by group.
#[derive(Debug, Clone, Default)]
pub struct Image {
    /// As the inline blocks of the design.
    pub inline: Vec<FlowImage>,
    /// As the groups of the design.
    pub groups: Vec<GroupImage>,
    /// What XDP programs find when they ask for routes.
    pub routes: Routes,
}

/// What each unit of a group is loaded with.
#[derive(Debug, Clone)]
pub struct GroupImage {
    /// Numbers of the units.
    pub units: Range<u32>,
    /// The program.
    pub program: Program,
    /// Host writes that fill the accelerators' tables: offset from the table base, word.
    pub table: Vec<(u32, u32)>,
    /// What maps of an XDP program begin with.
    pub maps: Vec<(Map, Vec<Entry>)>,
}

impl Image {
    /// Compiles the programs of a design and its tables.
    pub fn of(root: &Root, design: &Design) -> Result<Self, ImageError> {
        let mut room = Room::new(design.map_rows());
        let groups = design.groups.iter().map(|group| GroupImage::of(root, design, group, &mut room));
        let groups = groups.collect::<Result<_, _>>()?;
        let routes = design.routes.as_deref().map(routes::of_file).transpose()?;
        let inline = FlowImage::all_of(design)?;
        Ok(Self { inline, groups, routes: routes.unwrap_or_default() })
    }

    /// What maps begin with.
    pub(crate) fn maps(&self) -> impl Iterator<Item = &(Map, Vec<Entry>)> {
        self.groups.iter().flat_map(|group| &group.maps)
    }

    /// What a unit is loaded with.
    pub fn of_unit(&self, unit: u32) -> Option<&GroupImage> {
        self.groups.iter().find(|group| group.units.contains(&unit))
    }

    /// Whether a card in RTL can be loaded with it.
    pub fn fits_rtl(&self) -> Result<(), DeviceError> {
        let mut taken = Vec::new();
        for group in &self.groups {
            let rows = match &group.program {
                Program::Rpu(_) => continue,
                Program::Xdp(program) => program.rows()?,
                Program::Rows(image) => Arc::clone(image),
            };
            taken.extend(rows.maps.iter().map(CardMap::rows));
        }
        taken.sort_by_key(|rows| rows.start);
        if taken.windows(2).any(|pair| pair[0].end > pair[1].start) {
            let message = "maps of two groups of units lie in the same place; make the groups with one Image::of()";
            return Err(DeviceError::Unsupported(message.into()));
        }
        Ok(())
    }

    /// What the compilers said.
    pub fn messages(&self) -> String {
        self.groups.iter().map(GroupImage::messages).collect()
    }
}

impl GroupImage {
    /// Compiles the program of a group and its tables.
    fn of(root: &Root, design: &Design, group: &Group, room: &mut Room) -> Result<Self, ImageError> {
        files::readable(&group.program, files::PROGRAM)?;
        let table = Self::table_of(group)?;
        let program = match &group.engine {
            Engine::Rpu { .. } => {
                let options = Options { flags: macros(design), ..Options::new(root.path()) };
                let firmware = compile(std::slice::from_ref(&group.program), &options);
                Program::Rpu(firmware.map_err(|source| ImageError::Program { path: group.program.clone(), source })?)
            }
            Engine::Xdp { lanes, entry, settings, .. } => {
                let (entry, units) = (entry.as_deref(), group.units.end);
                Program::Xdp(Arc::new(XdpProgram::of(root, &group.program, entry, settings, *lanes, room, units)?))
            }
        };
        let mut maps = Vec::new();
        if let (Program::Xdp(program), Engine::Xdp { maps: files, .. }) = (&program, &group.engine) {
            for (name, path) in files {
                let map = maps::of_group(group, program, name)?;
                let entries = json::entries_of(&map, path)?;
                maps.push((map, entries));
            }
        }
        Ok(Self { units: group.units.clone(), program, table, maps })
    }

    /// The units, a bit each.
    pub fn mask(&self) -> u32 {
        mask_of(&self.units)
    }

    /// What the compiler said.
    pub fn messages(&self) -> &str {
        match &self.program {
            Program::Rpu(firmware) => &firmware.messages,
            Program::Xdp(program) => &program.messages,
            Program::Rows(_) => "",
        }
    }

    /// The program as an ELF file; empty when there is none.
    pub fn elf(&self) -> &[u8] {
        match &self.program {
            Program::Rpu(firmware) => &firmware.elf,
            Program::Xdp(program) => &program.bytes,
            Program::Rows(_) => &[],
        }
    }

    /// The program, if it is firmware.
    pub fn firmware(&self) -> Option<&Firmware> {
        match &self.program {
            Program::Rpu(firmware) => Some(firmware),
            Program::Xdp(_) | Program::Rows(_) => None,
        }
    }

    /// Compiles the tables of a group alone.
    pub fn table_of(group: &Group) -> Result<Vec<(u32, u32)>, ImageError> {
        let mut words = Vec::new();
        for kind in group.accelerators().iter() {
            words.extend(match group.tables.get(kind.name()) {
                Some(path) => table_from(kind, path)?,
                // The memories of a card come up with anything in them.
                None => table_of(kind, "no list", "")?,
            });
        }
        Ok(words)
    }
}

/// What the compiler is told so that programs of packet units find the groups that have names: macros for the number of the first unit, and
/// how many there are.
pub fn macros(design: &Design) -> Vec<String> {
    let named = design.groups.iter().filter(|group| !group.name.is_empty());
    let of_group = |group: &Group| {
        let name = group.name.to_uppercase();
        [format!("-DPN_FIRST_{name}={}u", group.units.start), format!("-DPN_COUNT_{name}={}u", group.units.len())]
    };
    named.flat_map(of_group).collect()
}

/// The host writes that fill the table of an accelerator, as in [`GroupImage::table`], from the file of a list.
pub fn table_from(kind: Accelerator, path: &Path) -> Result<Vec<(u32, u32)>, ImageError> {
    let way_out = kind.table_file().unwrap_or_default();
    files::readable(path, way_out)?;
    let bytes = std::fs::read(path).map_err(|source| FileError::input(path, source, way_out))?;
    table_of(kind, &path.display().to_string(), &String::from_utf8_lossy(&bytes))
}

/// The host writes that fill the table of an accelerator, as in [`GroupImage::table`], from the text of a list; `name` is for messages.
pub fn table_of(kind: Accelerator, name: &str, text: &str) -> Result<Vec<(u32, u32)>, ImageError> {
    Ok(kind.table(name, text)?)
}
