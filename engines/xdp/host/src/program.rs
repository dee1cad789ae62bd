// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! XDP programs for units: native code on `soft`, rows on a card in hardware.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use penstock_engine::{EngineError, ErrorKind, Root, files};
use penstock_xdp_compiler::back::{BackError, Compiled, link};
use penstock_xdp_compiler::btf::{Shape, Value, ValueError};
use penstock_xdp_compiler::card::{Before, NoProgram, Placement, Room, place_in};
use penstock_xdp_compiler::check::{CheckError, Facts, check};
use penstock_xdp_compiler::ir::CONTEXTS;
use penstock_xdp_compiler::maps::Contents;
use penstock_xdp_compiler::object::{EntriesError, Entry, LinkError, Object, ObjectError, Program};
use penstock_xdp_compiler::rows::Lanes;
use penstock_xdp_compiler::source::{self, SourceError};
use penstock_xdp_compiler::translate::{TranslateError, Translated, translate};
use penstock_xdp_soft::{Engine, LoadError, Loaded};

use crate::rows::{RowImage, beyond};

/// Number of `bpf_tail_call`.
const TAIL_CALL: u32 = 12;
/// Processors of a card, as programs see them: contexts of its units.
pub const PROCESSORS: u32 = 32 * CONTEXTS;

/// An XDP program that cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum XdpError {
    /// The C source does not compile.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A file cannot be read, or a folder cannot be made.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not an object of this kind.
    #[error("{}: {source}", path.display())]
    Object {
        /// The object.
        path: PathBuf,
        /// Why.
        source: ObjectError,
    },
    /// `entry` names a program that the object does not have.
    #[error("{}: there is no program {name}; it has {there}", path.display())]
    NoProgram {
        /// The object.
        path: PathBuf,
        /// The key `entry`.
        name: String,
        /// Names of the programs, separated by commas.
        there: String,
    },
    /// The object has several programs and nothing names one.
    #[error("{}: it has several programs ({there}); name one in [units.xdp]: `entry = \"…\"`", path.display())]
    Several {
        /// The object.
        path: PathBuf,
        /// Their names, separated by commas.
        there: String,
    },
    /// The design names something that the object does not have.
    #[error("[{}] names the {what} {name}, which {} does not have; {there}", table.name(), path.display())]
    Unknown {
        /// The object.
        path: PathBuf,
        /// Table of the design.
        table: Table,
        /// "map" or "constant".
        what: &'static str,
        /// Its name.
        name: String,
        /// Names that it has, in words.
        there: String,
    },
    /// A constant does not take its value.
    #[error("{}: constant {source}", path.display())]
    Constant {
        /// The object.
        path: PathBuf,
        /// Why.
        source: Box<ValueError>,
    },
    /// A map does not take its number of entries.
    #[error("{}: {source}", path.display())]
    Entries {
        /// The object.
        path: PathBuf,
        /// Why.
        source: EntriesError,
    },
    /// A program cannot be linked.
    #[error("{}: {source}", path.display())]
    Link {
        /// The object.
        path: PathBuf,
        /// Why.
        source: Box<LinkError>,
    },
    /// The checker refuses a program.
    #[error("{}: {source}", path.display())]
    Refused {
        /// The object.
        path: PathBuf,
        /// Why.
        source: Box<CheckError>,
    },
    /// Native code cannot be made.
    #[error("{}: {source}", path.display())]
    Load {
        /// The object.
        path: PathBuf,
        /// Why.
        source: Box<LoadError>,
    },
    /// Rows cannot be made.
    #[error("{}: {source}", path.display())]
    Rows {
        /// The object.
        path: PathBuf,
        /// Why.
        source: Box<TranslateError>,
    },
    /// A program array names a program that the object does not have.
    #[error("{}: {source}", path.display())]
    NoTarget {
        /// The object.
        path: PathBuf,
        /// Which.
        source: NoProgram,
    },
    /// Only native code has a feature that the program needs.
    #[error("{}: {what}; as it is, only `soft` runs it", path.display())]
    NotInRtl {
        /// The object.
        path: PathBuf,
        /// The feature that it needs, as a clause.
        what: String,
    },
}

impl From<XdpError> for EngineError {
    fn from(error: XdpError) -> Self {
        match error {
            XdpError::Read { .. } => Self::new(ErrorKind::File, error),
            error => Self::program(error),
        }
    }
}

/// Tables of a design that name parts of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// Values of constants.
    Constants,
    /// Sizes of maps.
    Entries,
    /// Initial entries of maps.
    Maps,
}

impl Table {
    fn name(self) -> &'static str {
        match self {
            Self::Constants => "units.xdp.constants",
            Self::Entries => "units.xdp.entries",
            Self::Maps => "units.xdp.maps",
        }
    }
}

/// The changes that a loader makes to an object before it loads it, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// New values of constants (`const volatile` in the source).
    pub constants: BTreeMap<String, Value>,
    /// Sizes of maps, which replace their `max_entries`.
    pub entries: BTreeMap<String, u32>,
}

impl Settings {
    /// Leaves out the setting of that name in a table of the design.
    pub(crate) fn forget(&mut self, table: Table, name: &str) {
        match table {
            Table::Constants => self.constants.remove(name).is_some(),
            Table::Entries | Table::Maps => self.entries.remove(name).is_some(),
        };
    }
}

/// A program of an object that the checker has accepted, so that units can be loaded with it.
#[derive(Debug)]
pub struct XdpProgram {
    /// Number that no other program of this process has.
    pub number: u64,
    path: PathBuf,
    object: Arc<Object>,
    /// The program that frames begin with, followed by the programs that it may reach by tail calls.
    programs: Arc<[Checked]>,
    /// Lanes of the cores that its rows are for.
    pub lanes: Lanes,
    /// Places of its maps on a card in hardware.
    placement: Placement,
    /// Messages of the compiler.
    pub messages: String,
    /// The object file.
    pub bytes: Vec<u8>,
    image: OnceLock<Arc<RowImage>>,
}

/// A program that the checker has accepted.
#[derive(Debug)]
struct Checked {
    program: Program,
    facts: Facts,
}

impl XdpProgram {
    /// Reads an object, or compiles C source, applies settings, and checks the program; `entry` names it if there are
    /// several. Its maps take their places on a card in hardware from `room`. `units` is the number of the last unit
    /// that may run it, plus one.
    ///
    /// # Errors
    /// If the program does not compile, is refused, or lacks something that the settings name.
    pub fn of(
        root: &Root,
        path: &Path,
        entry: Option<&str>,
        settings: &Settings,
        lanes: Lanes,
        room: &mut Room,
        units: u32,
    ) -> Result<Self, XdpError> {
        let (bytes, messages) = if path.extension().is_some_and(|extension| extension == "c") {
            object_of(root, path)?
        } else {
            let bytes = files::bytes(path).map_err(|source| XdpError::Read { path: path.to_owned(), source })?;
            (bytes, String::new())
        };
        let path = path.to_owned();
        let mut object = Object::read(&bytes).map_err(|source| XdpError::Object { path: path.clone(), source })?;
        for (name, value) in &settings.constants {
            set_constant(&path, &mut object, name, value)?;
        }
        for (name, entries) in &settings.entries {
            if !object.maps.iter().any(|map| map.name == *name) {
                return Err(unknown_map(&path, &object, Table::Entries, name));
            }
            let set = object.set_entries(name, *entries);
            set.map_err(|source| XdpError::Entries { path: path.clone(), source })?;
        }
        let there = || object.entries.iter().map(|entry| entry.name.clone()).collect::<Vec<_>>().join(", ");
        let chosen = match (entry, object.entries.as_slice()) {
            (Some(name), entries) => entries
                .iter()
                .find(|entry| entry.name == name)
                .ok_or_else(|| XdpError::NoProgram { path: path.clone(), name: name.to_owned(), there: there() })?,
            (None, [only]) => only,
            (None, _) => return Err(XdpError::Several { path, there: there() }),
        };
        let accepted = |entry: &Entry| {
            let linked = object.program(entry);
            let program = linked.map_err(|source| XdpError::Link { path: path.clone(), source: Box::new(source) })?;
            let checked = check(&object, &program);
            let facts = checked.map_err(|source| XdpError::Refused { path: path.clone(), source })?.facts;
            Ok::<_, XdpError>(Checked { program, facts })
        };
        let mut programs = vec![accepted(chosen)?];
        if programs[0].facts.helpers.contains(&TAIL_CALL) {
            let others =
                object.entries.iter().filter(|entry| entry.name != chosen.name && entry.attach == chosen.attach);
            programs.extend(others.map(accepted).collect::<Result<Vec<_>, _>>()?);
        }
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let image = OnceLock::new();
        let placement = place_in(room, &object, &helpers(&programs), units * CONTEXTS, None);
        let (object, programs) = (Arc::new(object), programs.into());
        Ok(Self { number, path, object, programs, lanes, placement, messages, bytes, image })
    }

    /// The same program for a card in hardware that runs the `running` ones, in place of one of them. It takes over the
    /// maps of that program which have the same name, types and sizes. `units` as for [`XdpProgram::of`].
    ///
    /// # Errors
    /// A program has no rows.
    pub fn in_place_of(
        &self,
        before: &Self,
        running: impl IntoIterator<Item = Arc<Self>>,
        units: u32,
    ) -> Result<Self, XdpError> {
        let images = running.into_iter().map(|program| program.rows()).collect::<Result<Vec<_>, _>>()?;
        let programs = images.iter().map(|image| (&image.layout, &image.maps[..]));
        let mut room = Room::beside(before.placement.rows, programs);
        let old = before.rows()?;
        let before = Before { object: &before.object, layout: &old.layout, maps: &old.maps };
        let placement = place_in(&mut room, &self.object, &helpers(&self.programs), units * CONTEXTS, Some(&before));
        Ok(Self {
            number: self.number,
            path: self.path.clone(),
            object: Arc::clone(&self.object),
            programs: Arc::clone(&self.programs),
            lanes: self.lanes,
            placement,
            messages: String::new(),
            bytes: self.bytes.clone(),
            image: OnceLock::new(),
        })
    }

    /// Its name in the object.
    pub fn name(&self) -> &str {
        &self.programs[0].program.name
    }

    /// Its object.
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// Makes native code, with maps as the object declares them.
    ///
    /// # Errors
    /// The program or a map cannot be made.
    pub fn native(&self) -> Result<Loaded, XdpError> {
        let load = || {
            let mut engine = Engine::new(&self.object, PROCESSORS)?;
            let program = engine.load(&self.object, &self.programs[0].program.name)?;
            engine.open_events(&self.object)?;
            Ok(Loaded::new(self.number, engine, program))
        };
        load().map_err(|source: LoadError| XdpError::Load { path: self.path.clone(), source: Box::new(source) })
    }

    /// Makes rows, and gives the places where they expect the maps, even if cards in hardware cannot run the program.
    ///
    /// # Errors
    /// Rows cannot be made.
    pub fn translate(&self) -> Result<(Compiled, Placement), XdpError> {
        Ok((self.one(&self.programs[0], &self.placement)?.compiled, self.placement.clone()))
    }

    fn one(&self, Checked { program, facts }: &Checked, placement: &Placement) -> Result<Translated, XdpError> {
        let translated = translate(&self.object, program, facts, self.lanes, &placement.layout);
        translated.map_err(|source| XdpError::Rows { path: self.path.clone(), source: Box::new(source) })
    }

    /// The image for a card in hardware.
    ///
    /// # Errors
    /// Rows cannot be made, or the program asks for something that a card in hardware cannot do.
    pub fn rows(&self) -> Result<Arc<RowImage>, XdpError> {
        if let Some(image) = self.image.get() {
            return Ok(Arc::clone(image));
        }
        let mut placement = self.placement.clone();
        let mut translated = Vec::new();
        for program in self.programs.iter() {
            let one = self.one(program, &placement)?;
            if let Some(what) = beyond(&self.object, &program.facts, &one, &placement).pop_first() {
                return Err(XdpError::NotInRtl { path: self.path.clone(), what });
            }
            translated.push(one.compiled);
        }
        let rows = |source: BackError| XdpError::Rows { path: self.path.clone(), source: Box::new(source.into()) };
        let linked = link(&translated, self.lanes).map_err(rows)?;
        let names = self.programs.iter().map(|one| one.program.name.clone());
        let programs: Vec<_> = names.zip(linked.first).collect();
        let row_of = |name: &str| programs.iter().find(|(known, _)| known == name).map(|(_, row)| *row);
        let filled = placement.programs(&self.object, row_of);
        filled.map_err(|source| XdpError::NoTarget { path: self.path.clone(), source })?;
        let image = Arc::new(RowImage::at(placement, linked.words, programs));
        Ok(Arc::clone(self.image.get_or_init(|| image)))
    }
}

/// Numbers of the helpers that programs call.
fn helpers(programs: &[Checked]) -> BTreeSet<u32> {
    programs.iter().flat_map(|one| one.facts.helpers.iter().copied()).collect()
}

/// Gives a constant of an object (`const volatile` in the source) another value, as loaders do before Linux sees it.
/// The object must have types (BTF).
fn set_constant(path: &Path, object: &mut Object, name: &str, value: &Value) -> Result<(), XdpError> {
    let mut there = Vec::new();
    for map in &mut object.maps {
        let (Contents::Data { bytes, read_only: true }, Some(shape @ Shape::Record { members, .. })) =
            (&mut map.contents, &map.value_type)
        else {
            continue;
        };
        if members.iter().any(|member| member.name == name) {
            let value = Value::Record(vec![(name.to_owned(), value.clone())]);
            let wrong = |source| XdpError::Constant { path: path.to_owned(), source: Box::new(source) };
            return shape.write(&value, bytes).map_err(wrong);
        }
        there.extend(members.iter().map(|member| member.name.clone()));
    }
    let there = match there.is_empty() {
        true => "none is `const volatile`, or it was compiled without -g".to_owned(),
        false => format!("it has {}", there.join(", ")),
    };
    let (path, name) = (path.to_owned(), name.to_owned());
    Err(XdpError::Unknown { path, table: Table::Constants, what: "constant", name, there })
}

/// The error for a map that a table of the design names and the object does not have.
pub(crate) fn unknown_map(path: &Path, object: &Object, table: Table, name: &str) -> XdpError {
    let there = match object.maps.is_empty() {
        true => "it has none".to_owned(),
        false => format!("it has {}", object.maps.iter().map(|map| map.name.as_str()).collect::<Vec<_>>().join(", ")),
    };
    XdpError::Unknown { path: path.to_owned(), table, what: "map", name: name.to_owned(), there }
}

/// Compiles C source to an object; also returns the compiler's warnings.
///
/// # Errors
/// The source does not compile.
pub fn object_of(root: &Root, path: &Path) -> Result<(Vec<u8>, String), XdpError> {
    let compiled = source::compile(path, root.path(), &[], &scratch(root)?)?;
    Ok((compiled.object, compiled.messages))
}

/// A file name for an object that no other thread or process uses.
fn scratch(root: &Root) -> Result<PathBuf, XdpError> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let folder = root.join("build/firmware");
    std::fs::create_dir_all(&folder).map_err(|source| XdpError::Read { path: folder.clone(), source })?;
    Ok(folder.join(format!("xdp-{}-{}.o", process::id(), COUNT.fetch_add(1, Ordering::Relaxed))))
}
