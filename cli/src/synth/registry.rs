// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The blocks that `synth` knows: those of `bench/synth.toml`, and of `bench/synth.toml` in the folder of each engine.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use penstock_device::file_list;
use penstock_registry::engines;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::SynthError;
use crate::files::{self, FileError};

/// Where the blocks are, below the repository and below the folder of an engine.
const FILE: &str = "bench/synth.toml";

/// The way out when one of its files is missing.
const SOURCES: &str = "synth.toml and the file lists say what is read: put the name or the file right";

/// All blocks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Registry {
    /// The reference core that Fmax is divided by.
    pub reference: Reference,
    #[serde(rename = "block", default)]
    pub blocks: Vec<Block>,
    /// Parts of the card that are made of several blocks.
    #[serde(rename = "sum", default)]
    pub sums: Vec<Sum>,
}

/// A part of the card made of blocks: its area is theirs, its speed that of the slowest.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sum {
    pub name: String,
    pub about: String,
    /// How many there are of each block.
    pub of: BTreeMap<String, f64>,
    #[serde(default)]
    pub paper: Figures,
    #[serde(default)]
    pub goal: Figures,
}

/// The core whose Fmax counts as 250 MHz, from a Python package.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reference {
    pub name: String,
    pub top: String,
    /// Source file below `site-packages`.
    pub file: PathBuf,
}

/// One block of the card.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Block {
    pub name: String,
    /// A short description.
    pub about: String,
    pub top: String,
    /// Source files or file lists (`.f`), relative to the repository.
    pub files: Vec<PathBuf>,
    #[serde(default)]
    pub params: BTreeMap<String, i64>,
    /// Modules inside it that do not count: their pins become ports of the block.
    #[serde(default)]
    pub without: Vec<String>,
    /// It has several clocks, so it is not placed.
    #[serde(default)]
    pub area_only: bool,
    /// Changes for placing the block on the ECP5.
    #[serde(default)]
    pub timing: TimingView,
    /// Published figures of the corresponding part.
    #[serde(default)]
    pub paper: Figures,
    #[serde(default)]
    pub goal: Figures,
}

/// Changes for place and route: memories that do not fit the ECP5 are made smaller, a core gets its memories.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TimingView {
    pub top: Option<String>,
    #[serde(default)]
    pub files: Vec<PathBuf>,
    #[serde(default)]
    pub params: BTreeMap<String, i64>,
    /// Macros of the preprocessor, for values in packages.
    #[serde(default)]
    pub defines: BTreeMap<String, i64>,
    #[serde(default)]
    pub router: Router,
    /// Odd; the median counts. Three, unless one takes half an hour.
    #[serde(default = "three")]
    pub placements: u32,
    /// The change and its reason; printed with the result.
    pub note: Option<String>,
}

fn three() -> u32 {
    3
}

impl Default for TimingView {
    fn default() -> Self {
        Self {
            top: None,
            files: Vec::new(),
            params: BTreeMap::new(),
            defines: BTreeMap::new(),
            router: Router::default(),
            placements: three(),
            note: None,
        }
    }
}

/// Which of nextpnr's routers connects a placement. A block is compared with the reference core as the same router
/// connects it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Router {
    /// The usual one.
    #[default]
    Router1,
    /// Ends where the usual one does not, with links of 512 bits and little else. Its paths are a fifth slower.
    Router2,
}

impl Router {
    /// Its name in nextpnr.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Router1 => "router1",
            Self::Router2 => "router2",
        }
    }
}

/// Figures per metric; unpublished figures are absent.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Figures {
    pub lut: Option<f64>,
    pub ff: Option<f64>,
    pub bram: Option<f64>,
    pub uram: Option<f64>,
    pub dsp: Option<f64>,
    pub fmax_ratio: Option<f64>,
}

/// A design that the tools can read: top module, sources (relative to the repository), parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sources {
    pub top: String,
    pub files: Vec<PathBuf>,
    pub params: BTreeMap<String, i64>,
    pub defines: BTreeMap<String, i64>,
    /// Modules that are left out.
    pub without: Vec<String>,
    pub form: Form,
    pub router: Router,
    pub placements: u32,
}

/// How the tools take a design.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Form {
    /// SystemVerilog with ports of any number and kind; placed inside a harness.
    Block,
    /// Plain Verilog that fits the pins of the package; placed unchanged.
    Bare,
}

impl Reference {
    /// The core as its package brings it.
    pub(crate) fn sources(&self, site_packages: &Path, router: Router) -> Sources {
        let files = vec![site_packages.join(&self.file)];
        Sources {
            top: self.top.clone(),
            files,
            params: BTreeMap::new(),
            defines: BTreeMap::new(),
            without: Vec::new(),
            form: Form::Bare,
            router,
            placements: three(),
        }
    }
}

impl Block {
    /// The form of the block on the card.
    pub(crate) fn area_sources(&self, root: &Path) -> Result<Sources, SynthError> {
        let files = expand(root, &self.files)?;
        Ok(self.sources(self.top.clone(), files, self.params.clone()))
    }

    /// The form of the block for placement on the ECP5.
    pub(crate) fn timing_sources(&self, root: &Path) -> Result<Sources, SynthError> {
        let mut files = expand(root, &self.files)?;
        files.extend(expand(root, &self.timing.files)?);
        let mut params = if self.timing.top.is_some() { BTreeMap::new() } else { self.params.clone() };
        params.extend(self.timing.params.clone());
        let top = self.timing.top.clone().unwrap_or_else(|| self.top.clone());
        Ok(Sources { defines: self.timing.defines.clone(), ..self.sources(top, files, params) })
    }

    fn sources(&self, top: String, files: Vec<PathBuf>, params: BTreeMap<String, i64>) -> Sources {
        let TimingView { router, placements, .. } = self.timing;
        let (defines, without) = (BTreeMap::new(), self.without.clone());
        Sources { top, files, params, defines, without, form: Form::Block, router, placements }
    }
}

/// The blocks of an engine.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OfEngine {
    #[serde(rename = "block", default)]
    blocks: Vec<Block>,
    #[serde(rename = "sum", default)]
    sums: Vec<Sum>,
}

/// Reads the blocks of the card, and of the engines that have any.
pub(crate) fn load(root: &Path) -> Result<Registry, SynthError> {
    let mut registry: Registry = read(root.join(FILE))?;
    for engine in engines() {
        let path = root.join("engines").join(engine.name()).join(FILE);
        if path.exists() {
            let of_engine: OfEngine = read(path)?;
            registry.blocks.extend(of_engine.blocks);
            registry.sums.extend(of_engine.sums);
        }
    }
    Ok(registry)
}

fn read<T: DeserializeOwned>(path: PathBuf) -> Result<T, SynthError> {
    let text = files::read(&path, SOURCES)?;
    toml::from_str(&text).map_err(|error| SynthError::Registry { path, message: error.to_string() })
}

/// The blocks with these names, or all; an unknown name is an error that lists the known ones.
pub(crate) fn select(registry: &Registry, names: &[String]) -> Result<Vec<Block>, SynthError> {
    if names.is_empty() {
        return Ok(registry.blocks.clone());
    }
    names
        .iter()
        .map(|name| {
            registry.blocks.iter().find(|block| block.name == *name).cloned().ok_or_else(|| SynthError::UnknownBlock {
                name: name.clone(),
                known: registry.blocks.iter().map(|block| block.name.as_str()).collect::<Vec<_>>().join(", "),
            })
        })
        .collect()
}

/// Replaces file lists by the files they name, in order and each once.
fn expand(root: &Path, entries: &[PathBuf]) -> Result<Vec<PathBuf>, SynthError> {
    let root = fs::canonicalize(root).map_err(|source| FileError::input(root, source, SOURCES))?;
    let mut sources = file_list::Sources::default();
    for entry in entries {
        sources.add(&root.join(entry)).map_err(|error| FileError::input(&error.path, error.source, SOURCES))?;
    }
    Ok(sources.files.iter().map(|file| file.strip_prefix(&root).unwrap_or(file).to_path_buf()).collect())
}
