// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! XDP programs: what is loaded into xdp units, on `soft` the object, on a card its rows.

use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use penstock_xdp_compiler::back::Compiled;
use penstock_xdp_compiler::card::{CardMap, Placement, place};
use penstock_xdp_compiler::check::{CheckError, Facts, check, helper_name};
use penstock_xdp_compiler::ir::{Adjust, CONTEXTS};
use penstock_xdp_compiler::object::{LinkError, Object, ObjectError, Program};
use penstock_xdp_compiler::rows::{Asks, Do, Lanes};
use penstock_xdp_compiler::source::{self, SourceError};
use penstock_xdp_compiler::translate::{TranslateError, translate};
use penstock_xdp_soft::{Engine, LoadError, Loaded};

use crate::root::Root;

/// Processors of a card to programs: contexts of its units.
const PROCESSORS: u32 = 32 * CONTEXTS;

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
    #[error("{}: {what}, which cards in RTL cannot do yet; run it on soft", path.display())]
    NotInRtl { path: PathBuf, what: String },
}

/// A program of an object that units can be loaded with: the checker has accepted it.
#[derive(Debug)]
pub struct XdpProgram {
    /// Tells it from all others of this process.
    pub number: u64,
    path: PathBuf,
    object: Object,
    name: String,
    program: Program,
    facts: Facts,
    lanes: Lanes,
    /// Messages of the compiler.
    pub messages: String,
    /// The object file.
    pub bytes: Vec<u8>,
    image: OnceLock<Arc<RowImage>>,
}

/// What is written into a card in RTL.
#[derive(Debug)]
pub struct RowImage {
    /// Rows, each the words that the core reads: control word, then two for each lane.
    pub rows: Vec<Vec<u32>>,
    /// Each unit's own memory, from its beginning on.
    pub unit: Vec<u8>,
    /// Maps that units share.
    pub maps: Vec<CardMap>,
}

impl XdpProgram {
    /// Reads an object, or compiles C source, and checks the program; `entry` names it when there are several.
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
        let chosen = match (entry, object.entries.as_slice()) {
            (Some(name), entries) => entries
                .iter()
                .find(|entry| entry.name == name)
                .ok_or_else(|| XdpError::NoProgram { path: path.clone(), name: name.to_owned(), there: there() })?,
            (None, [only]) => only,
            (None, _) => return Err(XdpError::Several { path, there: there() }),
        };
        let name = chosen.name.clone();
        let linked = object.program(chosen);
        let program = linked.map_err(|source| XdpError::Link { path: path.clone(), source: Box::new(source) })?;
        let checked = check(&object, &program);
        let facts = checked.map_err(|source| XdpError::Refused { path: path.clone(), source })?.facts;
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let image = OnceLock::new();
        Ok(Self { number, path, object, name, program, facts, lanes, messages, bytes, image })
    }

    /// Native code, and maps at their beginning.
    pub fn native(&self) -> Result<Loaded, XdpError> {
        let load = || {
            let mut engine = Engine::new(&self.object, PROCESSORS)?;
            let program = engine.load(&self.object, &self.name)?;
            Ok(Loaded::new(self.number, engine, program))
        };
        load().map_err(|source: LoadError| XdpError::Load { path: self.path.clone(), source: Box::new(source) })
    }

    /// The compiler's rows, and where they expect the maps, whatever cards in RTL have so far.
    pub fn translate(&self) -> Result<(Compiled, Placement), XdpError> {
        let placement = place(&self.object);
        let compiled = translate(&self.object, &self.program, &self.facts, self.lanes, &placement.layout);
        let rows = |source| XdpError::Rows { path: self.path.clone(), source: Box::new(source) };
        Ok((compiled.map_err(rows)?, placement))
    }

    /// What a card in RTL is loaded with.
    pub fn rows(&self) -> Result<Arc<RowImage>, XdpError> {
        if let Some(image) = self.image.get() {
            return Ok(Arc::clone(image));
        }
        let (compiled, placement) = self.translate()?;
        let image = RowImage::of(&self.object, compiled, placement);
        let image = image.map_err(|what| XdpError::NotInRtl { path: self.path.clone(), what })?;
        Ok(Arc::clone(self.image.get_or_init(|| Arc::new(image))))
    }
}

impl RowImage {
    /// Rows that the compiler has made of a program of the object, for the maps where they were placed.
    ///
    /// # Errors
    /// What the program asks for that a card in RTL cannot do.
    pub fn of(object: &Object, compiled: Compiled, placement: Placement) -> Result<Self, String> {
        match Self::beyond(object, &compiled, &placement) {
            Some(what) => Err(what),
            None => Ok(Self { rows: compiled.words, unit: placement.unit, maps: placement.maps }),
        }
    }

    fn beyond(object: &Object, compiled: &Compiled, placement: &Placement) -> Option<String> {
        compiled.code.blocks.iter().flat_map(|block| &block.nodes).find_map(|node| match &node.op {
            Do::Request { asks, .. } => match asks {
                Asks::Helper { number } => Some(format!("it calls {}", helper_name((*number).into()))),
                Asks::TailCall { .. } => Some("it calls another program, bpf_tail_call()".into()),
                Asks::Update { map, .. } | Asks::Delete { map, .. } if placement.is_in_unit((*map).into()) => {
                    let name = &object.maps.get(usize::from(*map))?.name;
                    Some(format!("it updates the map {name}, of which each context has its own"))
                }
                Asks::Lookup { map, .. } | Asks::Update { map, .. } | Asks::Delete { map, .. } => {
                    let map = usize::from(*map);
                    let why = placement.missing.get(map)?.as_ref()?;
                    Some(format!("it uses the map {}: {why}", object.maps.get(map)?.name))
                }
                Asks::Atomic { .. } if !node.reach.is_empty() => {
                    Some("its stack has an atomic operation at a place that it computes".into())
                }
                _ => None,
            },
            Do::Adjust { what: Adjust::Tail, .. } => {
                Some("it moves the packet's end, bpf_xdp_adjust_tail(), and what that adds is not cleared".into())
            }
            _ => None,
        })
    }
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
    Ok(folder.join(format!("xdp-{}-{}.o", process::id(), COUNT.fetch_add(1, Ordering::Relaxed))))
}
