// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! XDP programs: what is loaded into xdp units, on `soft` the object, on a card its rows.

use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use penstock_xdp_compiler::check::{CheckError, check};
use penstock_xdp_compiler::ir::{CONTEXTS, Layout};
use penstock_xdp_compiler::object::{LinkError, Object, ObjectError};
use penstock_xdp_compiler::rows::{Asks, Do, EncodeError, Lanes, Row, encode};
use penstock_xdp_compiler::source::{self, SourceError};
use penstock_xdp_compiler::translate::{TranslateError, Translated, translate};
use penstock_xdp_soft::{Engine, LoadError, Loaded};

use crate::root::Root;

/// Processors of a card to programs: contexts of its units.
const PROCESSORS: u32 = 32 * CONTEXTS;
/// Where a unit's own maps lie for programs.
const UNIT_MAPS: u32 = 0x4000_0000;

/// An XDP program that cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum XdpError {
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error("{}: {source}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{}: {source}", path.display())]
    Object { path: PathBuf, source: ObjectError },
    #[error("{}: there is no program {name}; it has {there}", path.display())]
    NoProgram { path: PathBuf, name: String, there: String },
    #[error("{}: it has several programs ({there}); name one in [[units]]: `entry = \"…\"`", path.display())]
    Several { path: PathBuf, there: String },
    #[error("{}: {source}", path.display())]
    Link { path: PathBuf, source: Box<LinkError> },
    #[error("{}: {source}", path.display())]
    Refused { path: PathBuf, source: Box<CheckError> },
    #[error("{}: {source}", path.display())]
    Load { path: PathBuf, source: Box<LoadError> },
    #[error("{}: {source}", path.display())]
    Rows { path: PathBuf, source: Box<TranslateError> },
    #[error("{}: row {row} has no encoding: {source}", path.display())]
    Encoding { path: PathBuf, row: usize, source: EncodeError },
    #[error("{}: {what}, which units in RTL do not have yet; run it on soft", path.display())]
    NotInRtl { path: PathBuf, what: String },
}

/// A program of an object that units can be loaded with.
#[derive(Debug)]
pub struct XdpProgram {
    /// Tells it from all others of this process.
    pub number: u64,
    path: PathBuf,
    object: Object,
    name: String,
    lanes: Lanes,
    /// Messages of the compiler.
    pub messages: String,
    /// The object file.
    pub bytes: Vec<u8>,
}

/// What is written into a unit in RTL.
pub struct RowImage {
    /// Rows, each the words of [`encode`]: control word, then two for each lane.
    pub rows: Vec<Vec<u32>>,
    /// Bytes of the unit's maps that the program uses: they begin as 0.
    pub map_bytes: u32,
}

impl XdpProgram {
    /// Reads an object, or compiles C source; `entry` names one of its programs when there are several.
    pub fn of(root: &Root, path: &Path, entry: Option<&str>, lanes: Lanes) -> Result<Self, XdpError> {
        let (bytes, messages) = if path.extension().is_some_and(|extension| extension == "c") {
            object_of(root, path)?
        } else {
            let bytes = std::fs::read(path).map_err(|source| XdpError::Read { path: path.to_owned(), source })?;
            (bytes, String::new())
        };
        let path = path.to_owned();
        let object = Object::read(&bytes).map_err(|source| XdpError::Object { path: path.clone(), source })?;
        let there = || object.entries.iter().map(|entry| entry.name.clone()).collect::<Vec<_>>().join(", ");
        let name = match (entry, object.entries.as_slice()) {
            (Some(name), entries) if entries.iter().any(|entry| entry.name == name) => name.to_owned(),
            (Some(name), _) => return Err(XdpError::NoProgram { path, name: name.to_owned(), there: there() }),
            (None, [only]) => only.name.clone(),
            (None, _) => return Err(XdpError::Several { path, there: there() }),
        };
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        Ok(Self { number, path, object, name, lanes, messages, bytes })
    }

    /// Native code, and maps at their beginning.
    pub fn native(&self) -> Result<Loaded, XdpError> {
        let load = || {
            let mut engine = Engine::new(&self.object, PROCESSORS)?;
            let program = engine.load(&self.object, &self.name)?;
            Ok(Loaded::new(self.number, engine, program))
        };
        load().map_err(|source: LoadError| match source {
            LoadError::Check(source) => XdpError::Refused { path: self.path.clone(), source },
            source => XdpError::Load { path: self.path.clone(), source: Box::new(source) },
        })
    }

    /// Rows of the program, whatever units in RTL have so far.
    pub fn translate(&self) -> Result<Translated, XdpError> {
        let path = || self.path.clone();
        let no_program = || XdpError::NoProgram { path: path(), name: self.name.clone(), there: String::new() };
        let entry = self.object.entries.iter().find(|entry| entry.name == self.name).ok_or_else(no_program)?;
        let linked = self.object.program(entry);
        let program = linked.map_err(|source| XdpError::Link { path: path(), source: Box::new(source) })?;
        let checked = check(&self.object, &program);
        let facts = checked.map_err(|source| XdpError::Refused { path: path(), source })?.facts;
        translate(&self.object, &program, &facts, self.lanes)
            .map_err(|source| XdpError::Rows { path: path(), source: Box::new(source) })
    }

    /// Rows for units in RTL.
    pub fn rows(&self) -> Result<RowImage, XdpError> {
        let path = || self.path.clone();
        let Translated { compiled, layout } = self.translate()?;
        if let Some(what) = self.beyond(&compiled.rows, &layout) {
            return Err(XdpError::NotInRtl { path: path(), what });
        }
        let encoded = |(row, rows): (usize, &Row)| {
            encode(rows, self.lanes).map_err(|source| XdpError::Encoding { path: path(), row, source })
        };
        let rows = compiled.rows.iter().enumerate().map(encoded).collect::<Result<_, _>>()?;
        let end = |array: &penstock_xdp_compiler::ir::Array| {
            let each = array.per_context.max(array.stride * array.entries);
            array.address - UNIT_MAPS + each * if array.per_context > 0 { CONTEXTS } else { 1 }
        };
        let in_unit = layout.0.iter().flatten().filter(|array| is_in_unit(array.address));
        Ok(RowImage { rows, map_bytes: in_unit.map(end).max().unwrap_or(0) })
    }

    /// What the program asks for that a unit in RTL cannot answer.
    fn beyond(&self, rows: &[Row], layout: &Layout) -> Option<String> {
        let name = |map: u16| self.object.maps.get(usize::from(map)).map_or("", |map| map.name.as_str());
        let asked =
            rows.iter().flat_map(|row| row.lanes.iter().flatten()).find_map(|lane| match lane.op {
                Do::Request { asks: Asks::Helper { number }, .. } => Some(format!("it calls helper {number}")),
                Do::Request {
                    asks:
                        Asks::Lookup { map, .. }
                        | Asks::Update { map, .. }
                        | Asks::Delete { map, .. }
                        | Asks::TailCall { map },
                    ..
                } => Some(format!("it searches the map {}", name(map))),
                _ => None,
            });
        asked.or_else(|| {
            let reaches = |row: &Row| {
                row.lanes.iter().flatten().any(|lane| {
                    matches!(
                        lane.op,
                        Do::Request { asks: Asks::Load { .. } | Asks::Store { .. } | Asks::Atomic { .. }, .. }
                    )
                })
            };
            let outside = (0..).zip(&layout.0).find(|(_, array)| array.is_some_and(|array| !is_in_unit(array.address)));
            outside
                .filter(|_| rows.iter().any(reaches))
                .map(|(map, _)| format!("it uses {}, a map of all units", name(map)))
        })
    }
}

/// Whether an address is in a unit's own memory.
fn is_in_unit(address: u32) -> bool {
    address >> 30 == UNIT_MAPS >> 30
}

/// An object from C source, and the compiler's warnings.
pub fn object_of(root: &Root, path: &Path) -> Result<(Vec<u8>, String), XdpError> {
    let compiled = source::compile(path, root.path(), &scratch(root)?)?;
    Ok((compiled.object, compiled.messages))
}

/// A name for an object that nobody else has.
fn scratch(root: &Root) -> Result<PathBuf, XdpError> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let folder = root.join("build/firmware");
    std::fs::create_dir_all(&folder).map_err(|source| XdpError::Read { path: folder.clone(), source })?;
    Ok(folder.join(format!("{}-{}.o", process::id(), COUNT.fetch_add(1, Ordering::Relaxed))))
}
