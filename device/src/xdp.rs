// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! XDP programs: what is loaded into xdp units, on `soft` the object, on a card its rows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use penstock_xdp_compiler::back::{BackError, Compiled, link};
use penstock_xdp_compiler::btf::{Shape, Value, ValueError};
use penstock_xdp_compiler::card::{Before, CardMap, NoProgram, Placement, Room, place_in};
use penstock_xdp_compiler::check::{CheckError, Facts, MapRef, check, helper_name};
use penstock_xdp_compiler::ir::{CONTEXTS, Layout};
use penstock_xdp_compiler::maps::Contents;
use penstock_xdp_compiler::object::{Entry, LinkError, Object, ObjectError, Program};
use penstock_xdp_compiler::rows::{Asks, Do, Lanes};
use penstock_xdp_compiler::source::{self, SourceError};
use penstock_xdp_compiler::translate::{TranslateError, Translated, translate};
use penstock_xdp_soft::{Engine, LoadError, Loaded};

use crate::root::Root;

/// Number of `bpf_tail_call`.
const TAIL_CALL: u32 = 12;
/// Processors of a card to programs: contexts of its units.
pub(crate) const PROCESSORS: u32 = 32 * CONTEXTS;

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
    #[error("[{table}] names the {what} {name}, which {} has not; {there}", path.display())]
    Unknown { path: PathBuf, table: &'static str, what: &'static str, name: String, there: String },
    #[error("{}: constant {source}", path.display())]
    Constant { path: PathBuf, source: Box<ValueError> },
    #[error("{}: {what}", path.display())]
    Entries { path: PathBuf, what: String },
    #[error("{}: {source}", path.display())]
    Link { path: PathBuf, source: Box<LinkError> },
    #[error("{}: {source}", path.display())]
    Refused { path: PathBuf, source: Box<CheckError> },
    #[error("{}: {source}", path.display())]
    Load { path: PathBuf, source: Box<LoadError> },
    #[error("{}: {source}", path.display())]
    Rows { path: PathBuf, source: Box<TranslateError> },
    #[error("{}: {source}", path.display())]
    NoTarget { path: PathBuf, source: NoProgram },
    #[error("{}: {what}; as it is, only `soft` runs it", path.display())]
    NotInRtl { path: PathBuf, what: String },
}

/// Tables of a design that name what is in a program.
const CONSTANTS: &str = "units.constants";
const ENTRIES: &str = "units.entries";
pub(crate) const MAPS: &str = "units.maps";

/// What is set in an object before Linux would see it, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// Constants (`const volatile` in the source) that get another value.
    pub constants: BTreeMap<String, Value>,
    /// Entries of maps, in place of their `max_entries`.
    pub entries: BTreeMap<String, u32>,
}

impl Settings {
    /// Leaves out what is set by a name of a table of the design.
    pub(crate) fn forget(&mut self, table: &str, name: &str) {
        match table {
            CONSTANTS => self.constants.remove(name).is_some(),
            _ => self.entries.remove(name).is_some(),
        };
    }
}

/// A program of an object that units can be loaded with: the checker has accepted it.
#[derive(Debug)]
pub struct XdpProgram {
    /// Tells it from all others of this process.
    pub number: u64,
    path: PathBuf,
    object: Arc<Object>,
    /// The one that frames begin with; behind it those that it may hand over to.
    programs: Arc<[Checked]>,
    /// Of the cores that its rows are for.
    pub lanes: Lanes,
    /// Where its maps lie on a card in RTL.
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

/// What is written into a card in RTL.
#[derive(Debug, Default)]
pub struct RowImage {
    /// Rows, each the words that the core reads: control word, then two for each lane.
    pub rows: Vec<Vec<u32>>,
    /// Programs in them, by name, and the row with which each begins: what stands in an entry of a program array, beside
    /// [`penstock_xdp_compiler::helpers::PROGRAM`].
    pub programs: Vec<(String, u32)>,
    /// What is written into each unit's own memory: how far from its beginning on, and bytes.
    pub unit: Vec<(u32, Vec<u8>)>,
    /// Maps that units share.
    pub maps: Vec<CardMap>,
    /// Numbers of those that are there already, and hold what a program before has left.
    pub kept: BTreeSet<u32>,
    /// Where values lie that need no search, by index of the map.
    pub layout: Layout,
    /// By index of the map, why it is nowhere.
    pub missing: Vec<Option<String>>,
}

impl XdpProgram {
    /// Reads an object, or compiles C source, changes what is set, and checks the program; `entry` names it when there are several. On a
    /// card in RTL its maps take what they need of the `room` that programs of other units have left. `units` of the card may run it: those up
    /// to the last one that does.
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
            let bytes = std::fs::read(path).map_err(|source| XdpError::Read { path: path.to_owned(), source })?;
            (bytes, String::new())
        };
        let path = path.to_owned();
        let mut object = Object::read(&bytes).map_err(|source| XdpError::Object { path: path.clone(), source })?;
        for (name, value) in &settings.constants {
            set_constant(&path, &mut object, name, value)?;
        }
        for (name, entries) in &settings.entries {
            if !object.maps.iter().any(|map| map.name == *name) {
                return Err(unknown_map(&path, &object, ENTRIES, name));
            }
            let set = object.set_entries(name, *entries);
            set.map_err(|what| XdpError::Entries { path: path.clone(), what })?;
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

    /// The same program for a card in RTL on which `running` ones are at work, in place of one of them, whose maps it takes over as far as they are
    /// alike. `units` as for [`XdpProgram::of`].
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

    /// The object that it is of.
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// Native code, and maps at their beginning.
    pub fn native(&self) -> Result<Loaded, XdpError> {
        let load = || {
            let mut engine = Engine::new(&self.object, PROCESSORS)?;
            let program = engine.load(&self.object, &self.programs[0].program.name)?;
            engine.open_events(&self.object)?;
            Ok(Loaded::new(self.number, engine, program))
        };
        load().map_err(|source: LoadError| XdpError::Load { path: self.path.clone(), source: Box::new(source) })
    }

    /// The compiler's rows, and where they expect the maps, whatever cards in RTL have so far.
    pub fn translate(&self) -> Result<(Compiled, Placement), XdpError> {
        Ok((self.one(&self.programs[0], &self.placement)?.compiled, self.placement.clone()))
    }

    fn one(&self, Checked { program, facts }: &Checked, placement: &Placement) -> Result<Translated, XdpError> {
        let translated = translate(&self.object, program, facts, self.lanes, &placement.layout);
        translated.map_err(|source| XdpError::Rows { path: self.path.clone(), source: Box::new(source) })
    }

    /// What a card in RTL is loaded with.
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

impl RowImage {
    /// Rows that the compiler has made of a program of the object that hands over to no other, for the maps where they were placed.
    ///
    /// # Errors
    /// What the program asks for that a card in RTL cannot do.
    pub fn of(object: &Object, facts: &Facts, translated: Translated, placement: Placement) -> Result<Self, String> {
        match beyond(object, facts, &translated, &placement).pop_first() {
            Some(what) => Err(what),
            None => Ok(Self::at(placement, translated.compiled.words, vec![])),
        }
    }

    fn at(placement: Placement, rows: Vec<Vec<u32>>, programs: Vec<(String, u32)>) -> Self {
        let Placement { layout, maps, kept, unit, missing, without: _, rows: _ } = placement;
        Self { rows, programs, unit, maps, kept, layout, missing }
    }
}

/// What a program asks for that a card in RTL cannot do: "it calls …".
pub fn beyond(
    object: &Object,
    facts: &Facts,
    Translated { compiled, beyond }: &Translated,
    placement: &Placement,
) -> BTreeSet<String> {
    let missing = |map: usize| {
        let why = placement.missing.get(map)?.as_ref()?;
        Some(format!("it uses the map {}: {why}", object.maps.get(map)?.name))
    };
    let asks = compiled.code.blocks.iter().flat_map(|block| &block.nodes).filter_map(|node| match &node.op {
        Do::Request { asks, .. } => match asks {
            Asks::Helper { number } => {
                let why = placement.without.get(&(*number).into()).map_or(String::new(), |why| format!(": {why}"));
                Some(format!("it calls {}{why}", helper_name((*number).into())))
            }
            Asks::Lookup { map, .. } | Asks::Update { map, .. } | Asks::Delete { map, .. } => match map {
                Some(map) => missing(placement.layout.index((*map).into())?),
                // Those in a map of maps are on the card when that is.
                None => facts.insns.get(node.slot)?.maps.iter().find_map(|map| match map {
                    MapRef::Of(map) => missing(*map as usize),
                    MapRef::In(_) => None,
                }),
            },
            _ => None,
        },
        _ => None,
    });
    // What is said of a call in particular is enough.
    let asks = asks.filter(|what| !beyond.iter().any(|known| known.starts_with(what)));
    beyond.iter().cloned().chain(asks).collect()
}

/// Gives a constant of an object (`const volatile` in the source) another value, as loaders do before Linux sees it. Whoever asks must have
/// the object's types.
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
    Err(XdpError::Unknown { path, table: CONSTANTS, what: "constant", name, there })
}

/// A map that a table of the design names, and the object has not.
pub(crate) fn unknown_map(path: &Path, object: &Object, table: &'static str, name: &str) -> XdpError {
    let there = match object.maps.is_empty() {
        true => "it has none".to_owned(),
        false => format!("it has {}", object.maps.iter().map(|map| map.name.as_str()).collect::<Vec<_>>().join(", ")),
    };
    XdpError::Unknown { path: path.to_owned(), table, what: "map", name: name.to_owned(), there }
}

/// An object from C source, and the compiler's warnings.
pub fn object_of(root: &Root, path: &Path) -> Result<(Vec<u8>, String), XdpError> {
    let compiled = source::compile(path, root.path(), &[], &scratch(root)?)?;
    Ok((compiled.object, compiled.messages))
}

/// A name for an object that nobody else has.
fn scratch(root: &Root) -> Result<PathBuf, XdpError> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let folder = root.join("build/firmware");
    std::fs::create_dir_all(&folder).map_err(|source| XdpError::Read { path: folder.clone(), source })?;
    Ok(folder.join(format!("xdp-{}-{}.o", process::id(), COUNT.fetch_add(1, Ordering::Relaxed))))
}
