// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The manifest of a card: a TOML file that says what it is made of.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use penstock_flow_compiler::limits::CONTEXTS as MAX_CONTEXTS;
use penstock_shell::{Accelerator, Accelerators};
use penstock_xdp_compiler::btf::Value;
use penstock_xdp_compiler::card::{BANKS, ROWS};
use penstock_xdp_compiler::rows::Lanes;
use serde::Deserialize;
use toml::Spanned;

use crate::xdp::Settings;

/// Clock of every card, MHz: the data path moves 512 bits a cycle, which carries 100 Gb/s a port at this clock.
pub const CLOCK_MHZ: u32 = 250;

/// Units that a card has at most.
const MAX_UNITS: i64 = 32;

/// Contexts of a table of which nobody says how many it holds: 97 % of 16,384 places, all that `rtl` uses of them. One more would take twice as many.
const CONTEXTS: u32 = 15_892;

/// How the dispatcher chooses a unit for a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// The units in turn.
    RoundRobin,
    /// The unit with the most free slots.
    LeastLoaded,
    /// The unit that the flow hash names; waits while it is full.
    FlowHash,
    /// The unit that the flow hash names; drops while it is full.
    FlowHashDrop,
}

impl Policy {
    /// Value of the register POLICY.
    pub fn code(self) -> u32 {
        match self {
            Self::RoundRobin => 0,
            Self::LeastLoaded => 1,
            Self::FlowHash => 2,
            Self::FlowHashDrop => 3,
        }
    }

    /// Parses the word a manifest uses.
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "round-robin" => Self::RoundRobin,
            "least-loaded" => Self::LeastLoaded,
            "flow-hash" => Self::FlowHash,
            "flow-hash-drop" => Self::FlowHashDrop,
            _ => return None,
        })
    }
}

/// What a unit is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Engine {
    /// A RISC-V packet unit.
    Rpu {
        /// Its accelerators.
        accelerators: Accelerators,
    },
    /// A core for XDP programs.
    Xdp {
        /// Lanes of the core: 1, 2, 3, 4 or 8.
        lanes: Lanes,
        /// Which program of the object; None: it has one.
        entry: Option<String>,
        /// Constants of the program and sizes of maps.
        settings: Settings,
        /// Name of a map to the file of entries that it begins with.
        maps: BTreeMap<String, PathBuf>,
    },
}

/// Units of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// What the command line and programs call them; empty when they are all that there are and have no name.
    pub name: String,
    /// Their numbers.
    pub units: Range<u32>,
    /// What each of them is.
    pub engine: Engine,
    /// Whether the dispatcher gives them frames of ports and host; others get frames over loopback alone.
    pub ports: bool,
    /// What they run: C source or what a compiler has made of it, an ELF file.
    pub program: PathBuf,
    /// Table name to the file it is loaded from.
    pub tables: BTreeMap<String, PathBuf>,
}

impl Group {
    /// Accelerators of each unit.
    pub fn accelerators(&self) -> Accelerators {
        match &self.engine {
            Engine::Rpu { accelerators } => *accelerators,
            Engine::Xdp { .. } => Accelerators::default(),
        }
    }

    /// Its units, a bit each.
    pub fn mask(&self) -> u32 {
        mask_of(&self.units)
    }
}

/// Units, a bit each.
pub(crate) fn mask_of(units: &Range<u32>) -> u32 {
    units.clone().fold(0, |mask, unit| mask | 1 << unit)
}

/// State machines of flows that all frames of Ethernet ports go through before the dispatcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inline {
    /// What the command line calls it; empty when it is the only one and has no name.
    pub name: String,
    /// What it runs: a file of the flow engine's language.
    pub program: PathBuf,
    /// Contexts of each table whose size the program does not say.
    pub contexts: u32,
}

/// What a card is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    /// The manifest.
    pub path: PathBuf,
    /// Name for people.
    pub name: String,
    /// Ethernet ports, 1..4.
    pub ports: u32,
    /// Clock in MHz; always [`CLOCK_MHZ`].
    pub clock_mhz: u32,
    /// Dispatch policy.
    pub policy: Policy,
    /// Its inline blocks, in the order in which frames go through them.
    pub inline: Vec<Inline>,
    /// Its units, 1..32, in groups of one kind each, by their numbers: at least one group.
    pub groups: Vec<Group>,
    /// File of the routes that XDP programs ask for.
    pub routes: Option<PathBuf>,
    /// MiB that the maps of XDP programs have: 4 are on the chip, of 8 or 16 the others are in the card's memory.
    pub map_mib: u32,
}

/// A value for the units of one group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForGroup<T> {
    /// The group's name; None means the only one.
    pub group: Option<String>,
    /// The value.
    pub value: T,
}

impl<T> ForGroup<T> {
    /// For the only group.
    pub fn only(value: T) -> Self {
        Self { group: None, value }
    }
}

impl<'a> ForGroup<&'a str> {
    /// Parses NAME=VALUE, or VALUE alone. What can be no name is part of the value.
    pub fn parse(text: &'a str) -> Self {
        match text.split_once('=').filter(|(name, _)| is_name(name)) {
            Some((name, value)) => Self { group: Some(name.to_string()), value },
            None => Self::only(text),
        }
    }
}

/// What the command line may change about a design.
#[derive(Debug, Clone, Default)]
pub struct Override {
    /// Other programs.
    pub programs: Vec<ForGroup<PathBuf>>,
    /// Other table files, by the table's name or, when several groups have that table, GROUP.TABLE.
    pub tables: BTreeMap<String, PathBuf>,
    /// Other numbers of units.
    pub units: Vec<ForGroup<u32>>,
    /// Another number of ports.
    pub ports: Option<u32>,
    /// Another policy.
    pub policy: Option<Policy>,
    /// Another file of routes.
    pub routes: Option<PathBuf>,
}

/// A manifest that does not say what a card is made of.
#[derive(Debug, thiserror::Error)]
pub enum DesignError {
    /// The file cannot be read.
    #[error("{}: {source}; give the path of a design, for example designs/forward.toml", path.display())]
    Read {
        /// The manifest.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A line of the file is wrong.
    #[error("{}:{line}: {message}\n    {text}", path.display())]
    Line {
        /// The manifest.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// The line itself.
        text: String,
        /// What is wrong, and what would be right.
        message: String,
    },
    /// An option asks for what no card can be.
    #[error("{0}")]
    Option(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    card: Card,
    #[serde(default)]
    dispatch: Dispatch,
    #[serde(default)]
    inline: Vec<Spanned<InlineBlock>>,
    units: Spanned<Vec<Spanned<Units>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Card {
    name: String,
    ports: Within<1, 4>,
    clock_mhz: Option<Spanned<i64>>,
    routes: Option<PathBuf>,
    map_mib: Option<MapMib>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Dispatch {
    policy: Policy,
}

impl Default for Dispatch {
    fn default() -> Self {
        Self { policy: Policy::FlowHash }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InlineBlock {
    name: Option<Spanned<String>>,
    #[serde(rename = "engine")]
    _engine: InlineEngine,
    program: Spanned<PathBuf>,
    contexts: Option<Within<1, { MAX_CONTEXTS as i64 }>>,
}

/// The engines that are inline: so far it says nothing, but that the block is for one of them.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum InlineEngine {
    Flow,
}

impl InlineBlock {
    /// It behind the blocks before; else where the manifest is wrong, unless it is all of it, and how.
    fn block(
        &self,
        manifest: &Path,
        groups: &[Group],
        before: &[Inline],
        only: bool,
    ) -> Result<Inline, (Option<Range<usize>>, String)> {
        // Programs are given to blocks and to groups of units alike, by NAME=FILE.
        let taken =
            |name: &str| before.iter().any(|block| block.name == name) || groups.iter().any(|group| group.name == name);
        let name =
            named(self.name.as_ref(), only, "inline blocks", "two inline blocks, or of one and of units", taken)?;
        let program = file_beside(manifest, &self.program)?;
        let contexts = self.contexts.as_ref().map_or(CONTEXTS, |contexts| contexts.0);
        Ok(Inline { name, program, contexts })
    }
}

/// The name of something of which there may be `several`: needed unless it is the only one.
fn named(
    name: Option<&Spanned<String>>,
    only: bool,
    several: &str,
    twice: &str,
    taken: impl Fn(&str) -> bool,
) -> Result<String, (Option<Range<usize>>, String)> {
    match name {
        Some(name) if !is_name(name.get_ref()) => {
            let message = "a name is lower-case letters, digits and _, a letter first: programs say PN_COUNT_NAME";
            Err((Some(name.span()), message.to_string()))
        }
        Some(name) if taken(name.get_ref()) => {
            Err((Some(name.span()), format!("`{}` is the name of {twice}", name.get_ref())))
        }
        Some(name) => Ok(name.get_ref().clone()),
        None if only => Ok(String::new()),
        None => Err((None, format!("of several {several} each needs a `name`"))),
    }
}

/// A program's file, named from the manifest's folder.
fn file_beside(manifest: &Path, program: &Spanned<PathBuf>) -> Result<PathBuf, (Option<Range<usize>>, String)> {
    let path = manifest.parent().unwrap_or(Path::new("")).join(program.get_ref());
    if !path.exists() {
        return Err((Some(program.span()), format!("program: {} does not exist", path.display())));
    }
    Ok(path)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Units {
    name: Option<Spanned<String>>,
    engine: EngineName,
    count: Spanned<Within<1, MAX_UNITS>>,
    ports: Option<Spanned<bool>>,
    program: Spanned<PathBuf>,
    accelerators: Option<Spanned<Vec<String>>>,
    lanes: Option<Spanned<usize>>,
    entry: Option<Spanned<String>>,
    #[serde(default)]
    tables: BTreeMap<Spanned<String>, PathBuf>,
    #[serde(default)]
    constants: BTreeMap<Spanned<String>, Spanned<toml::Value>>,
    #[serde(default)]
    entries: BTreeMap<Spanned<String>, u32>,
    #[serde(default)]
    maps: BTreeMap<Spanned<String>, PathBuf>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum EngineName {
    Rpu,
    Xdp,
}

impl Units {
    /// Them behind the groups before; else where the manifest is wrong, unless it is all of it, and how.
    fn group(&self, manifest: &Path, before: &[Group], only: bool) -> Result<Group, (Option<Range<usize>>, String)> {
        let at = |(span, message)| (Some(span), message);
        let taken = |name: &str| before.iter().any(|group| group.name == name);
        let name = named(self.name.as_ref(), only, "groups of units", "two groups of units", taken)?;
        let first = before.last().map_or(0, |group| group.units.end);
        let end = first + self.count.get_ref().0;
        if i64::from(end) > MAX_UNITS {
            return Err((Some(self.count.span()), format!("{end} units in all; a card has {MAX_UNITS} at most")));
        }
        let folder = manifest.parent().unwrap_or(Path::new(""));
        let program = file_beside(manifest, &self.program)?;
        if is_flow(&program) {
            let message = "program: a state machine (.efsm) is for a block of [[inline]], not for units".to_string();
            return Err((Some(self.program.span()), message));
        }
        Ok(Group {
            name,
            units: first..end,
            engine: self.engine(folder).map_err(at)?,
            ports: self.ports.as_ref().map_or(before.is_empty(), |ports| *ports.get_ref()),
            program,
            tables: self.tables.iter().map(|(name, file)| (name.get_ref().clone(), folder.join(file))).collect(),
        })
    }

    /// What each of them is, with files beside the manifest in `folder`; else where the manifest is wrong, and how.
    fn engine(&self, folder: &Path) -> Result<Engine, (Range<usize>, String)> {
        let foreign = |span: Range<usize>, key: &str, engine: &str| {
            Err((span, format!("`{key}` is for units of the engine \"{engine}\"; drop it")))
        };
        match self.engine {
            EngineName::Rpu => {
                if let Some(lanes) = &self.lanes {
                    return foreign(lanes.span(), "lanes", "xdp");
                }
                if let Some(entry) = &self.entry {
                    return foreign(entry.span(), "entry", "xdp");
                }
                if let Some(name) = self.constants.keys().next() {
                    return foreign(name.span(), "constants", "xdp");
                }
                if let Some(name) = self.entries.keys().next() {
                    return foreign(name.span(), "entries", "xdp");
                }
                if let Some(name) = self.maps.keys().next() {
                    return foreign(name.span(), "maps", "xdp");
                }
                let accelerators = match &self.accelerators {
                    Some(names) => kinds(names.get_ref()).map_err(|message| (names.span(), message))?,
                    None => Accelerators::default(),
                };
                for name in self.tables.keys() {
                    table_kind(accelerators, name.get_ref()).map_err(|message| (name.span(), message))?;
                }
                Ok(Engine::Rpu { accelerators })
            }
            EngineName::Xdp => {
                if let Some(accelerators) = &self.accelerators {
                    return foreign(accelerators.span(), "accelerators", "rpu");
                }
                if let Some(name) = self.tables.keys().next() {
                    return foreign(name.span(), "tables", "rpu");
                }
                let lanes = match &self.lanes {
                    Some(count) => Lanes::new(*count.get_ref()).ok_or_else(|| {
                        (count.span(), format!("a core has 1, 2, 3, 4 or 8 lanes, not {}", count.get_ref()))
                    })?,
                    None => Lanes::FOUR,
                };
                let named = |(name, value): (&Spanned<String>, &Spanned<toml::Value>)| {
                    let known = constant(value.get_ref()).ok_or_else(|| {
                        let message = "a constant is a whole number, text, a list or a table of them".to_string();
                        (value.span(), message)
                    })?;
                    Ok((name.get_ref().clone(), known))
                };
                Ok(Engine::Xdp {
                    lanes,
                    entry: self.entry.as_ref().map(|entry| entry.get_ref().clone()),
                    settings: Settings {
                        constants: self.constants.iter().map(named).collect::<Result<_, _>>()?,
                        entries: self.entries.iter().map(|(name, count)| (name.get_ref().clone(), *count)).collect(),
                    },
                    maps: self.maps.iter().map(|(name, file)| (name.get_ref().clone(), folder.join(file))).collect(),
                })
            }
        }
    }
}

/// A constant's value; None when it can be none.
fn constant(value: &toml::Value) -> Option<Value> {
    Some(match value {
        toml::Value::Integer(number) => Value::Int((*number).into()),
        toml::Value::String(text) => Value::Text(text.clone()),
        toml::Value::Array(values) => Value::List(values.iter().map(constant).collect::<Option<_>>()?),
        toml::Value::Table(fields) => {
            let field = |(name, value): (&String, &toml::Value)| Some((name.clone(), constant(value)?));
            Value::Record(fields.iter().map(field).collect::<Option<_>>()?)
        }
        toml::Value::Boolean(set) => Value::Int((*set).into()),
        toml::Value::Float(_) | toml::Value::Datetime(_) => return None,
    })
}

/// Whether a group of units may have this name: in programs, macros end in it.
fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_lowercase())
        && word.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_')
}

/// A number that the manifest must keep between two bounds.
#[derive(Deserialize)]
#[serde(try_from = "i64")]
struct Within<const LOW: i64, const HIGH: i64>(u32);

impl<const LOW: i64, const HIGH: i64> TryFrom<i64> for Within<LOW, HIGH> {
    type Error = String;

    fn try_from(value: i64) -> Result<Self, String> {
        within(value, LOW, HIGH).map(Self)
    }
}

/// MiB of maps that a card can have.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "i64")]
struct MapMib(u32);

impl MapMib {
    /// What is on the chip.
    const ON_CHIP: Self = Self(BANKS * ROWS / (1 << 16));
}

impl TryFrom<i64> for MapMib {
    type Error = String;

    fn try_from(mib: i64) -> Result<Self, String> {
        match mib {
            4 | 8 | 16 => Ok(Self(mib as u32)),
            _ => Err(format!("maps have 4 MiB, on the chip, or 8 or 16, in the card's memory, not {mib}")),
        }
    }
}

impl Design {
    /// Rows of 16 bytes of each of the banks in which XDP programs have their maps.
    pub(crate) fn map_rows(&self) -> u32 {
        self.map_mib * (1 << 16) / BANKS
    }

    /// Reads a manifest. Paths inside it are relative to its folder.
    pub fn read(path: &Path) -> Result<Self, DesignError> {
        let text =
            std::fs::read_to_string(path).map_err(|source| DesignError::Read { path: path.to_path_buf(), source })?;
        Self::parse(path, &text)
    }

    /// Parses the text of the manifest at `path`.
    pub fn parse(path: &Path, text: &str) -> Result<Self, DesignError> {
        let fail = |span: Range<usize>, message: String| {
            let before = text.get(..span.start).unwrap_or(text);
            let line = before.matches('\n').count();
            let text = text.lines().nth(line).unwrap_or("").trim().to_string();
            DesignError::Line { path: path.to_path_buf(), line: line + 1, text, message }
        };
        let manifest: Manifest = toml::from_str(text).map_err(|e| {
            let message = match e.message() {
                message if message.starts_with("unknown field `accelerator`,") => SINGLE.to_string(),
                message => message.replace('\n', " "),
            };
            fail(e.span().unwrap_or(0..0), message)
        })?;
        let card = &manifest.card;
        if let Some(clock) = &card.clock_mhz
            && *clock.get_ref() != i64::from(CLOCK_MHZ)
        {
            let message =
                format!("clock_mhz is {}, and the card runs at {CLOCK_MHZ} only; drop the line", clock.get_ref());
            return Err(fail(clock.span(), message));
        }
        let all = manifest.units.get_ref();
        if all.is_empty() {
            return Err(fail(manifest.units.span(), "no [[units]]; a card has at least one".to_string()));
        }
        let mut groups: Vec<Group> = Vec::new();
        for units in all {
            let group = units.get_ref().group(path, &groups, all.len() == 1);
            groups.push(group.map_err(|(span, message)| fail(span.unwrap_or(units.span()), message))?);
        }
        if let Some(first) = all.iter().find_map(|units| units.get_ref().ports.as_ref())
            && groups.iter().all(|group| !group.ports)
        {
            let message = "no group of units has `ports = true`, so no frame would get to one".to_string();
            return Err(fail(first.span(), message));
        }
        let mut inline: Vec<Inline> = Vec::new();
        for block in &manifest.inline {
            let made = block.get_ref().block(path, &groups, &inline, manifest.inline.len() == 1);
            inline.push(made.map_err(|(span, message)| fail(span.unwrap_or(block.span()), message))?);
        }
        Ok(Self {
            path: path.to_path_buf(),
            name: card.name.clone(),
            ports: card.ports.0,
            clock_mhz: CLOCK_MHZ,
            policy: manifest.dispatch.policy,
            inline,
            groups,
            routes: card.routes.as_ref().map(|file| path.parent().unwrap_or(Path::new("")).join(file)),
            map_mib: card.map_mib.unwrap_or(MapMib::ON_CHIP).0,
        })
    }

    /// The design with some of its parts replaced.
    pub fn with(mut self, change: Override) -> Result<Self, DesignError> {
        for ForGroup { group, value } in change.programs {
            match self.runner(group.as_deref(), &value)? {
                Runner::Inline(block) => self.inline[block].program = value,
                Runner::Units(group) => self.groups[group].program = value,
            }
        }
        for ForGroup { group, value } in change.units {
            let group = self.find("units", group.as_deref())?;
            self.resize(group, value)?;
        }
        if let Some(ports) = change.ports {
            self.ports = within(ports.into(), 1, 4).map_err(|m| DesignError::Option(format!("ports: {m}")))?;
        }
        self.policy = change.policy.unwrap_or(self.policy);
        self.routes = change.routes.or(self.routes);
        for (name, file) in change.tables {
            let (group, kind) = self.find_table(&name)?;
            self.groups[group].tables.insert(kind.name().to_string(), file);
        }
        Ok(self)
    }

    /// All units.
    pub fn units(&self) -> u32 {
        self.groups.last().map_or(0, |group| group.units.end)
    }

    /// Index of the group of a unit.
    pub fn group_of(&self, unit: u32) -> Option<usize> {
        self.groups.iter().position(|group| group.units.contains(&unit))
    }

    /// Index of the group of units with this name, or of the only one; `what` it is wanted for.
    pub fn find(&self, what: &str, name: Option<&str>) -> Result<usize, DesignError> {
        let there = || self.groups.iter().map(|group| group.name.as_str()).collect::<Vec<_>>().join(", ");
        let wrong = |message: String| Err(DesignError::Option(format!("{}: {what}: {message}", self.path.display())));
        match name {
            None if self.groups.len() == 1 => Ok(0),
            None => wrong(format!("there are several groups of units, so say whose it is: NAME=..., of {}", there())),
            Some(name) => match self.groups.iter().position(|group| group.name == name) {
                Some(group) => Ok(group),
                None if there().is_empty() => {
                    wrong(format!("there is no group of units `{name}`; the only one has no name"))
                }
                None => wrong(format!("there is no group of units `{name}`; there are: {}", there())),
            },
        }
    }

    /// Index of the group of units that a program is given for, by its name or as the only one.
    pub fn units_for(&self, name: Option<&str>, program: &Path) -> Result<usize, DesignError> {
        match self.runner(name, program)? {
            Runner::Units(group) => Ok(group),
            Runner::Inline(_) => {
                let message = "is given to an inline block by `ctl flow rows`, in Python by `Device.flow.change`";
                Err(self.option(format!("{} {message}", program.display())))
            }
        }
    }

    /// What a program is given for: by its name, or as the only one that can run it.
    fn runner(&self, name: Option<&str>, program: &Path) -> Result<Runner, DesignError> {
        if let Some(block) = self.inline.iter().position(|block| name == Some(&block.name)) {
            return Ok(Runner::Inline(block));
        }
        if !is_flow(program) {
            return self.find("program", name).map(Runner::Units);
        }
        let file = program.display();
        let there = || self.inline.iter().map(|block| block.name.as_str()).collect::<Vec<_>>().join(", ");
        Err(self.option(match (name, &self.inline[..]) {
            (None, [_]) => return Ok(Runner::Inline(0)),
            (_, []) => format!("{file} is for an inline block, and the design has no [[inline]] (docs/designs.md)"),
            (None, _) => {
                format!("{file}: there are several inline blocks, so say whose it is: NAME=..., of {}", there())
            }
            (Some(_), [block]) if block.name.is_empty() => {
                format!("{file} is for the inline block; it has no name, so leave the name out")
            }
            (Some(name), _) => {
                format!("{file} is for an inline block, and none is named `{name}`; there are: {}", there())
            }
        }))
    }

    /// What is wrong with the option for a program.
    fn option(&self, message: String) -> DesignError {
        DesignError::Option(format!("{}: program: {message}", self.path.display()))
    }

    /// Indices of groups, by their names.
    pub fn find_all(&self, what: &str, names: &[String]) -> Result<Vec<usize>, DesignError> {
        names.iter().map(|name| self.find(what, Some(name))).collect()
    }

    /// Index of the group that has this table, and its accelerator. `key` is the table's name, or GROUP.TABLE.
    pub fn find_table(&self, key: &str) -> Result<(usize, Accelerator), DesignError> {
        let wrong = |message: String| DesignError::Option(format!("{}: {message}", self.path.display()));
        let of_group = |group: usize, name: &str| {
            table_kind(self.groups[group].accelerators(), name).map(|kind| (group, kind)).map_err(wrong)
        };
        if let Some((group, name)) = key.split_once('.') {
            return of_group(self.find("table", Some(group))?, name);
        }
        let having: Vec<usize> = (0..self.groups.len()).filter(|group| of_group(*group, key).is_ok()).collect();
        match having[..] {
            [] => of_group(0, key),
            [group] => of_group(group, key),
            _ => {
                let names: Vec<String> =
                    having.iter().map(|group| format!("{}.{key}", self.groups[*group].name)).collect();
                Err(wrong(format!("several groups of units have a table {key}, so say whose: {}", names.join(", "))))
            }
        }
    }

    /// Gives a group another number of units; those behind it move.
    fn resize(&mut self, group: usize, count: u32) -> Result<(), DesignError> {
        let wrong = |message| DesignError::Option(format!("units: {message}"));
        within(count.into(), 1, MAX_UNITS).map_err(wrong)?;
        let mut next = 0;
        for (index, Group { units, .. }) in self.groups.iter_mut().enumerate() {
            let count = if index == group { count } else { units.len() as u32 };
            *units = next..next + count;
            next += count;
        }
        within(next.into(), 1, MAX_UNITS).map(|_| ()).map_err(wrong)
    }
}

/// What a program is given for, by its index.
enum Runner {
    Inline(usize),
    Units(usize),
}

/// Whether a file is for the flow engine, which no unit is.
fn is_flow(program: &Path) -> bool {
    program.extension().is_some_and(|extension| extension == "efsm")
}

/// What is said about the key that a list has replaced.
const SINGLE: &str = "`accelerator` is a list now: write `accelerators = [\"ip_prefix\"]`, or leave it out for none";

/// The accelerators of these names.
fn kinds(names: &[String]) -> Result<Accelerators, String> {
    let mut kinds = Vec::new();
    for name in names {
        let kind = Accelerator::named(name).ok_or_else(|| {
            let all = Accelerator::ALL.map(|kind| format!("`{}`", kind.name())).join(", ");
            format!("there is no accelerator `{name}`; there are: {all}")
        })?;
        if kinds.contains(&kind) {
            return Err(format!("`{name}` twice; a unit has one of each at most"));
        }
        kinds.push(kind);
    }
    Ok(kinds.into_iter().collect())
}

/// The accelerator whose table has this name.
fn table_kind(accelerators: Accelerators, name: &str) -> Result<Accelerator, String> {
    let Some(kind) = Accelerator::named(name).filter(|kind| kind.table_file().is_some()) else {
        let all: Vec<_> =
            Accelerator::ALL.iter().filter(|kind| kind.table_file().is_some()).map(|k| k.name()).collect();
        return Err(format!("there is no table `{name}`; there are: {}", all.join(", ")));
    };
    if !accelerators.has(kind) {
        return Err(format!(
            "a table {name} is for units of the engine \"rpu\" with \"{name}\" among their `accelerators`"
        ));
    }
    Ok(kind)
}

fn within(value: i64, low: i64, high: i64) -> Result<u32, String> {
    u32::try_from(value)
        .ok()
        .filter(|_| (low..=high).contains(&value))
        .ok_or_else(|| format!("{value} is out of range: {low}..{high}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
[card]
name = "test"
ports = 2
[dispatch]
policy = "round-robin"
[[units]]
engine = "rpu"
count = 16
program = "design.rs"
accelerators = ["ip_prefix", "crc32"]
[units.tables]
ip_prefix = "list.txt"
"#;

    fn parse(text: &str) -> Result<Design, DesignError> {
        Design::parse(Path::new("src/card.toml"), text).or_else(|e| match e {
            DesignError::Line { message, .. } if message.contains("src/design.rs does not exist") => {
                Design::parse(Path::new("device/src/card.toml"), text)
            }
            e => Err(e),
        })
    }

    fn error(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn reads_every_key() {
        let design = parse(GOOD).unwrap();
        assert_eq!((design.ports, design.units(), design.clock_mhz), (2, 16, 250));
        assert_eq!(design.policy, Policy::RoundRobin);
        let [group] = &design.groups[..] else { panic!("{design:?}") };
        assert_eq!((group.accelerators().mask(), group.mask(), group.ports), (0b01001, 0xFFFF, true));
        assert!(group.tables["ip_prefix"].ends_with("src/list.txt") && group.name.is_empty());
    }

    /// Another group behind [`GOOD`]'s.
    const MORE: &str = r#"
[[units]]
name = "more"
engine = "xdp"
count = 3
program = "design.rs"
"#;

    fn two_groups() -> String {
        GOOD.replace("count = 16", "count = 5\nname = \"first\"") + MORE
    }

    #[test]
    fn groups_are_numbered_through() {
        let text = two_groups() + &MORE.replace("more", "last_1").replace("count = 3", "count = 2\nports = true");
        let design = parse(&text).unwrap();
        let groups: Vec<_> =
            design.groups.iter().map(|group| (group.name.as_str(), group.units.clone(), group.ports)).collect();
        assert_eq!(groups, [("first", 0..5, true), ("more", 5..8, false), ("last_1", 8..10, true)]);
        assert_eq!((design.units(), design.groups[1].mask()), (10, 0xE0));
        assert_eq!([4, 5, 9, 10].map(|unit| design.group_of(unit)), [Some(0), Some(1), Some(2), None]);
    }

    #[test]
    fn groups_that_are_wrong_name_their_line() {
        let good = two_groups();
        for (old, new, line, words) in [
            ("name = \"more\"\n", "", 16, "each needs a `name`"),
            ("name = \"first\"\n", "", 7, "each needs a `name`"),
            ("\"more\"", "\"first\"", 17, "`first` is the name of two"),
            ("\"more\"", "\"More\"", 17, "lower-case letters"),
            ("\"more\"", "\"1st\"", 17, "a letter first"),
            ("count = 3", "count = 28", 19, "33 units in all; a card has 32 at most"),
            ("count = 5", "ports = false\ncount = 5", 9, "no group of units has `ports = true`"),
            ("count = 3", "count = 3\nports = 1", 20, "boolean"),
        ] {
            let text = error(&good.replace(old, new));
            assert!(text.starts_with(&format!("src/card.toml:{line}: ")) && text.contains(words), "{new}: {text}");
        }
    }

    /// Two inline blocks, in front of [`GOOD`]'s units.
    const INLINE: &str = r#"
[[inline]]
name = "mark"
engine = "flow"
program = "design.rs"
[[inline]]
name = "count"
engine = "flow"
program = "image.rs"
contexts = 1048576
"#;

    #[test]
    fn inline_blocks_have_their_order() {
        assert!(parse(GOOD).unwrap().inline.is_empty());
        let design = parse(&(GOOD.to_string() + INLINE)).unwrap();
        let blocks: Vec<_> = design
            .inline
            .iter()
            .map(|block| (block.name.as_str(), block.program.to_str().unwrap(), block.contexts))
            .collect();
        assert_eq!(blocks, [("mark", "src/design.rs", CONTEXTS), ("count", "src/image.rs", 1 << 20)]);
        let programs = vec![ForGroup { group: Some("count".to_string()), value: "other.efsm".into() }];
        let changed = design.with(Override { programs, ..Override::default() }).unwrap();
        assert_eq!(changed.inline[1].program, PathBuf::from("other.efsm"));
        let one = "[[inline]]\nengine = \"flow\"\nprogram = \"design.rs\"\n";
        assert_eq!(parse(&(GOOD.to_string() + one)).unwrap().inline[0].name, "");
    }

    /// A state machine finds the only block that can run it, and never gets to units.
    #[test]
    fn a_state_machine_is_for_an_inline_block() {
        let block = "[[inline]]\nengine = \"flow\"\nprogram = \"design.rs\"\n";
        let bare = parse(&(GOOD.to_string() + block)).unwrap();
        let named = parse(&(two_groups() + &block.replace("[[inline]]\n", "[[inline]]\nname = \"nat\"\n"))).unwrap();
        let with = |design: &Design, text: &str| {
            let ForGroup { group, value } = ForGroup::parse(text);
            let programs = vec![ForGroup { group, value: value.into() }];
            design.clone().with(Override { programs, ..Override::default() })
        };
        for (design, text) in [(&bare, "a.efsm"), (&named, "a.efsm"), (&named, "nat=a.efsm"), (&named, "nat=a.c")] {
            let changed = with(design, text).unwrap();
            assert!(changed.inline[0].program.starts_with(text.rsplit('=').next().unwrap()), "{text}");
            assert_eq!(changed.groups, design.groups);
        }
        assert_eq!(with(&bare, "a.c").unwrap().groups[0].program, PathBuf::from("a.c"));
        let several = parse(&(GOOD.to_string() + INLINE)).unwrap();
        for (design, text, words) in [
            (
                &parse(GOOD).unwrap(),
                "a.efsm",
                "program: a.efsm is for an inline block, and the design has no [[inline]]",
            ),
            (&several, "a.efsm", "several inline blocks, so say whose it is: NAME=..., of mark, count"),
            (&several, "more=a.efsm", "none is named `more`; there are: mark, count"),
            (&named, "more=a.efsm", "none is named `more`; there are: nat"),
            (&bare, "nat=a.efsm", "it has no name, so leave the name out"),
        ] {
            let text = with(design, text).unwrap_err().to_string();
            assert!(text.contains(words), "{text}");
        }
        assert_eq!(named.units_for(Some("more"), Path::new("a.c")).unwrap(), 1);
        let units = format!(
            "{}program = \"../engines/flow/programs/nat.efsm\"\n",
            MORE.replace("program = \"design.rs\"\n", "")
        );
        let text = Design::parse(
            Path::new("../designs/card.toml"),
            &("[card]\nname = \"x\"\nports = 1\n".to_string() + &units),
        );
        let text = text.unwrap_err().to_string();
        assert!(text.starts_with("../designs/card.toml:9: program: a state machine (.efsm) is for a block"), "{text}");
        for name in [None, Some("nat")] {
            let text = named.units_for(name, Path::new("a.efsm")).unwrap_err().to_string();
            assert!(text.contains("`ctl flow rows`"), "{text}");
        }
    }

    #[test]
    fn inline_blocks_that_are_wrong_name_their_line() {
        let good = two_groups() + INLINE;
        for (old, new, line, words) in [
            ("name = \"mark\"\n", "", 22, "of several inline blocks each needs a `name`"),
            ("\"mark\"", "\"Mark\"", 23, "lower-case letters"),
            ("\"count\"", "\"mark\"", 27, "`mark` is the name of two inline blocks"),
            ("\"count\"", "\"more\"", 27, "`more` is the name of two inline blocks, or of one and of units"),
            ("engine = \"flow\"", "engine = \"xdp\"", 24, "`flow`"),
            ("engine = \"flow\"\n", "", 22, "missing field `engine`"),
            ("program = \"image.rs\"\n", "", 26, "missing field `program`"),
            ("image.rs", "none.efsm", 29, "program: src/none.efsm does not exist"),
            ("contexts = 1048576", "contexts = 0", 30, "0 is out of range: 1..1048576"),
            ("contexts = 1048576", "contexts = 1048577", 30, "1048577 is out of range"),
            ("contexts = 1048576", "contexts = \"all\"", 30, "expected i64"),
            ("contexts", "context", 30, "`contexts`"),
        ] {
            assert!(good.contains(old));
            let text = error(&good.replace(old, new));
            assert!(text.starts_with(&format!("src/card.toml:{line}: ")) && text.contains(words), "{new}: {text}");
        }
    }

    #[test]
    fn options_are_for_one_group() {
        let rpu = "engine = \"rpu\"\naccelerators = [\"ip_prefix\", \"string_match\"]";
        let design = parse(&two_groups().replace("engine = \"xdp\"", rpu)).unwrap();
        let with = |programs: &[&str], units: &[&str], tables: &[&str]| {
            let programs = programs.iter().map(|text| ForGroup::parse(text));
            let units = units.iter().map(|text| ForGroup::parse(text));
            design.clone().with(Override {
                programs: programs.map(|ForGroup { group, value }| ForGroup { group, value: value.into() }).collect(),
                units: units
                    .map(|ForGroup { group, value }| ForGroup { group, value: value.parse().unwrap() })
                    .collect(),
                tables: tables.iter().map(|name| (name.to_string(), PathBuf::from("other"))).collect(),
                ..Override::default()
            })
        };
        let changed = with(&["more=a.c"], &["first=7", "more=1"], &["more.ip_prefix", "string_match"]).unwrap();
        assert_eq!((&changed.groups[0].units, &changed.groups[1].units), (&(0..7), &(7..8)));
        assert_eq!(changed.groups[0].program, design.groups[0].program);
        assert_eq!(changed.groups[1].program, PathBuf::from("a.c"));
        assert_eq!(changed.groups[0].tables, design.groups[0].tables);
        assert!(changed.groups[1].tables.keys().eq(["ip_prefix", "string_match"]));
        for (programs, units, tables, words) in [
            (
                vec!["a.c"],
                vec![],
                vec![],
                "program: there are several groups of units, so say whose it is: NAME=..., of first, more",
            ),
            (vec!["none=a.c"], vec![], vec![], "there is no group of units `none`; there are: first, more"),
            (vec![], vec!["3"], vec![], "units: there are several groups"),
            (vec![], vec!["more=28"], vec![], "units: 33 is out of range: 1..32"),
            (vec![], vec!["more=0"], vec![], "units: 0 is out of range: 1..32"),
            (
                vec![],
                vec![],
                vec!["ip_prefix"],
                "have a table ip_prefix, so say whose: first.ip_prefix, more.ip_prefix",
            ),
            (vec![], vec![], vec!["first.string_match"], "with \"string_match\" among"),
            (vec![], vec![], vec!["none.ip_prefix"], "there is no group of units `none`"),
        ] {
            let text = with(&programs, &units, &tables).unwrap_err().to_string();
            assert!(text.contains(words), "{text}");
        }
        let single = parse(GOOD).unwrap();
        let text = single.find("program", Some("more")).unwrap_err().to_string();
        assert!(text.contains("the only one has no name"), "{text}");
        assert_eq!(ForGroup::parse("./a=b.c"), ForGroup::only("./a=b.c"));
    }

    /// The reference shows every key, and names every word that a key may have.
    #[test]
    fn the_reference_is_right() {
        let text = include_str!("../../docs/designs.md");
        let example = text.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        let design = Design::parse(Path::new("../designs/reference.toml"), example).unwrap();
        let groups: Vec<_> =
            design.groups.iter().map(|group| (group.units.clone(), group.accelerators().mask(), group.ports)).collect();
        assert_eq!((design.ports, groups), (2, vec![(0..12, 0b00001, true), (12..16, 0b10000, false)]));
        for key in [
            "name",
            "ports",
            "clock_mhz",
            "policy",
            "name",
            "engine",
            "contexts",
            "count",
            "ports",
            "program",
            "accelerators",
            "ip_prefix",
            "string_match",
        ] {
            assert!(example.contains(&format!("\n{key} = ")) && text.contains(&format!("`{key}`")), "{key}");
        }
        let error = error(&GOOD.replace("round-robin", "random"));
        let policies: Vec<&str> = error.split('`').skip(3).step_by(2).collect();
        assert!(policies.len() == 4 && policies.iter().all(|word| text.contains(&format!("`{word}`"))), "{policies:?}");
        let ranges = [("ports = 2", "ports = 0"), ("count = 16", "count = 0")].map(|(old, new)| {
            let text = parse(&GOOD.replace(old, new)).unwrap_err().to_string();
            text.lines().next().and_then(|line| line.rsplit(' ').next()).unwrap().to_string()
        });
        assert!(ranges.iter().all(|range| text.contains(&format!("required, {range}"))), "{ranges:?}");
    }

    #[test]
    fn unknown_key_names_line_and_allowed_keys() {
        let text = error(&GOOD.replace("count = 16", "counts = 16"));
        assert!(text.starts_with("src/card.toml:9: "), "{text}");
        assert!(text.contains("`counts`") && text.contains("`count`") && text.contains("`accelerators`"), "{text}");
        let text = error(&GOOD.replace("ports = 2", "ports = 2\nspeed = 1"));
        assert!(text.starts_with("src/card.toml:5: ") && text.contains("`clock_mhz`"), "{text}");
    }

    #[test]
    fn values_out_of_range_name_their_line() {
        assert_eq!(
            error(&GOOD.replace("ports = 2", "ports = 5")),
            "src/card.toml:4: 5 is out of range: 1..4\n    ports = 5"
        );
        assert_eq!(
            error(&GOOD.replace("count = 16", "count = 33")),
            "src/card.toml:9: 33 is out of range: 1..32\n    count = 33"
        );
        assert!(
            error(&GOOD.replace("ports = 2", "ports = 2\nclock_mhz = 300")).starts_with("src/card.toml:5: clock_mhz")
        );
        let text = error(&GOOD.replace("round-robin", "random"));
        assert!(text.starts_with("src/card.toml:6: ") && text.contains("`flow-hash-drop`"), "{text}");
        let text = error(&GOOD.replace("design.rs", "none.c"));
        assert!(text.contains(":10: program: ") && text.contains("none.c does not exist"), "{text}");
    }

    #[test]
    fn a_table_needs_its_accelerator() {
        let text = error(&GOOD.replace("\"ip_prefix\", ", ""));
        assert!(
            text.starts_with(
                "src/card.toml:13: a table ip_prefix is for units of the engine \"rpu\" with \"ip_prefix\" among"
            ),
            "{text}"
        );
        for name in ["crc32", "nothing"] {
            let text = error(&GOOD.replace("ip_prefix = ", &format!("{name} = ")));
            assert!(
                text.contains(&format!("no table `{name}`; there are: ip_prefix, flow_hash, string_match")),
                "{text}"
            );
        }
    }

    #[test]
    fn a_program_gets_constants_and_maps() {
        let text = "[card]\nname = \"x\"\nports = 2\n[[units]]\nengine = \"xdp\"\ncount = 1\nprogram = \"design.rs\"\n\
            [units.constants]\nlimit = 3\nmac = [2, 0]\nto = { address = \"192.0.2.1\" }\n[units.maps]\nvips = \"vips.json\"\n[units.entries]\nvips = 8\n";
        let design = parse(text).unwrap();
        let Engine::Xdp { settings: Settings { constants, entries }, maps, .. } = &design.groups[0].engine else {
            panic!("{design:?}")
        };
        let (int, text_of) = (Value::Int, |text: &str| Value::Text(text.into()));
        let to = Value::Record(vec![("address".into(), text_of("192.0.2.1"))]);
        let wanted = [("limit", int(3)), ("mac", Value::List(vec![int(2), int(0)])), ("to", to)];
        assert_eq!(constants.iter().map(|(name, value)| (name.as_str(), value.clone())).collect::<Vec<_>>(), wanted);
        assert_eq!(entries.iter().map(|(name, count)| (name.as_str(), *count)).collect::<Vec<_>>(), [("vips", 8)]);
        assert_eq!(maps["vips"], PathBuf::from("src/vips.json"));
        assert_eq!(design.routes, None);
        assert_eq!(
            error(&text.replace("limit = 3", "limit = 0.5")),
            "src/card.toml:9: a constant is a whole number, text, a list or a table of them\n    limit = 0.5"
        );
        let text = error(&text.replace("engine = \"xdp\"", "engine = \"rpu\""));
        assert!(text.starts_with("src/card.toml:9: `constants` is for units of the engine \"xdp\""), "{text}");
    }

    #[test]
    fn accelerators_are_a_list_of_names() {
        let with = |list: &str| error(&GOOD.replace("accelerators = [\"ip_prefix\", \"crc32\"]", list));
        let text = with("accelerators = [\"ip_prefix\", \"crc33\"]");
        assert!(
            text.starts_with("src/card.toml:11: there is no accelerator `crc33`; there are: `ip_prefix`, "),
            "{text}"
        );
        let text = with("accelerators = [\"ip_prefix\", \"ip_prefix\"]");
        assert!(text.starts_with("src/card.toml:11: `ip_prefix` twice"), "{text}");
        let text = with("accelerator = \"ip_prefix\"");
        assert!(
            text.starts_with("src/card.toml:11: ") && text.contains("write `accelerators = [\"ip_prefix\"]`"),
            "{text}"
        );
    }

    #[test]
    fn broken_toml_names_its_line() {
        assert!(error(&GOOD.replace("count = 16", "count = ")).starts_with("src/card.toml:9: "));
    }

    #[test]
    fn options_override() {
        let tables = BTreeMap::from([("ip_prefix".to_string(), PathBuf::from("other"))]);
        let units = vec![ForGroup::only(4)];
        let change = Override { units, policy: Some(Policy::FlowHash), tables, ..Override::default() };
        let design = parse(GOOD).unwrap().with(change).unwrap();
        assert_eq!((design.units(), design.policy), (4, Policy::FlowHash));
        assert_eq!(design.groups[0].tables["ip_prefix"], PathBuf::from("other"));
        let wrong = Override { units: vec![ForGroup::only(40)], ..Override::default() };
        assert_eq!(parse(GOOD).unwrap().with(wrong).unwrap_err().to_string(), "units: 40 is out of range: 1..32");
    }
}
