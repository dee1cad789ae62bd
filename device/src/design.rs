// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The manifest of a card: a TOML file that describes the card.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use penstock_engine::window::mask_of;
use penstock_engine::words::{did_you_mean, in_words};
use penstock_engine::{Engine, Fault, Kind, Part, Section, TableNames, Tenant, files};
use penstock_registry::{engine, engines};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::rate::Rate;
use crate::target::Target;

/// Clock of every card, MHz: the data path moves 512 bits a cycle, which carries 100 Gb/s a port at this clock.
pub const CLOCK_MHZ: u32 = 250;

/// Most units of a card.
const MAX_UNITS: i64 = 32;
/// Most inline blocks of a card.
const MAX_BLOCKS: usize = 8;
/// Most tenants of a card, the system not counted.
const MAX_TENANTS: usize = 63;

/// How the dispatcher chooses a unit for a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
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

/// Units of one kind.
#[derive(Debug, Clone)]
pub struct Group {
    /// Their name on the command line and in programs; empty if the card has no other group and this one has no name.
    pub name: String,
    /// Their numbers.
    pub units: Range<u32>,
    /// The engine of each unit.
    pub engine: &'static dyn Engine,
    /// Their settings in the engine's own table.
    pub part: Arc<dyn Part>,
    /// Whether the dispatcher gives them frames of ports and host; others get frames over loopback alone.
    pub ports: bool,
    /// The file of the program that they run.
    pub program: PathBuf,
}

impl Group {
    /// Its units, a bit each.
    pub fn mask(&self) -> u32 {
        mask_of(&self.units)
    }
}

/// An inline block: all frames of Ethernet ports go through it before the dispatcher.
#[derive(Debug, Clone)]
pub struct Inline {
    /// Its name on the command line; empty if it is the only block and has no name.
    pub name: String,
    /// What it is.
    pub engine: &'static dyn Engine,
    /// Its settings in the engine's own table.
    pub part: Arc<dyn Part>,
    /// The file of the program that it runs; empty if the design names none.
    pub program: PathBuf,
}

/// The parts of a card.
#[derive(Debug, Clone)]
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
    /// Its tenants, by their numbers. Inline blocks see whose a frame is.
    pub tenants: Vec<Tenant>,
    /// Its inline blocks, in the order in which frames go through them.
    pub inline: Vec<Inline>,
    /// Its units, 1..32, in groups of one kind each, by their numbers: at least one group.
    pub groups: Vec<Group>,
    /// The settings of each engine for the whole card, in the order of the registry.
    pub engines: Vec<Arc<dyn Part>>,
}

/// A part of a design that runs a program: its index among the groups of units, or among the inline blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PartId {
    /// A group of units.
    Units(usize),
    /// An inline block.
    Inline(usize),
}

impl PartId {
    /// Its index among the parts of its kind.
    pub fn index(self) -> usize {
        match self {
            Self::Units(index) | Self::Inline(index) => index,
        }
    }
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
    /// An option for the only group.
    pub fn only(value: T) -> Self {
        Self { group: None, value }
    }
}

impl<'a> ForGroup<&'a str> {
    /// Parses NAME=VALUE, or VALUE alone. Text before `=` that cannot be a name is part of the value.
    pub fn parse(text: &'a str) -> Self {
        match text.split_once('=').filter(|(name, _)| is_name(name)) {
            Some((name, value)) => Self { group: Some(name.to_string()), value },
            None => Self::only(text),
        }
    }
}

/// The command line's changes to a design.
#[derive(Debug, Clone, Default)]
pub struct Override {
    /// Other programs.
    pub programs: Vec<ForGroup<PathBuf>>,
    /// Other files of tables, by the table's name or, when several parts have that table, PART.TABLE. A table that
    /// takes several files may stand here several times.
    pub tables: Vec<(String, PathBuf)>,
    /// Other numbers of units.
    pub units: Vec<ForGroup<u32>>,
    /// Another number of ports.
    pub ports: Option<u32>,
    /// Another policy.
    pub policy: Option<Policy>,
}

/// A manifest that is not a valid description of a card.
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
        /// The fault, and a correct form.
        message: String,
    },
    /// An option asks for an impossible card.
    #[error("{0}")]
    Option(String),
}

impl DesignError {
    /// A fault in the text of the manifest at `path`.
    pub(crate) fn at(path: &Path, text: &str, Fault { span, message }: Fault) -> Self {
        let before = text.get(..span.unwrap_or(0..0).start).unwrap_or(text);
        let line = before.matches('\n').count();
        let text = text.lines().nth(line).unwrap_or("").trim().to_string();
        Self::Line { path: path.to_path_buf(), line: line + 1, text, message }
    }
}

/// The tables of a manifest.
const TABLES: [&str; 5] = ["card", "dispatch", "inline", "tenants", "units"];

/// The card as a whole.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "card")]
pub(crate) struct Card {
    /// Name for people.
    name: String,
    /// Ethernet ports of 100 Gb/s.
    ports: Within<1, 4>,
    /// Clock in MHz; always 250.
    #[schemars(with = "Option<i64>", extend("const" = CLOCK_MHZ))]
    clock_mhz: Option<Spanned<i64>>,
}

/// How the dispatcher chooses a unit for a frame.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "dispatch")]
pub(crate) struct Dispatch {
    /// The policy.
    policy: Policy,
}

/// An owner of frames.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "tenants")]
pub(crate) struct TenantOf {
    /// Its name: lower-case letters, digits and _, a letter first.
    #[schemars(with = "String")]
    name: Spanned<String>,
    /// VLAN id of its frames.
    #[schemars(with = "Within<1, 4094>")]
    vlan: Spanned<Within<1, 4094>>,
    /// Ethernet ports at which the id counts; all if left out.
    #[schemars(with = "Option<Vec<u32>>")]
    ports: Option<Spanned<Vec<Spanned<i64>>>>,
}

/// A block that all frames of Ethernet ports pass before the dispatcher.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "inline")]
pub(crate) struct InlineBlock {
    /// Its name: lower-case letters, digits and _, a letter first. Needed if there are several blocks.
    #[schemars(with = "Option<String>")]
    name: Option<Spanned<String>>,
    /// Its engine.
    #[schemars(with = "String")]
    engine: Spanned<String>,
    /// File of the program that it runs.
    #[schemars(with = "Option<PathBuf>")]
    program: Option<Spanned<PathBuf>>,
}

/// A group of equal units.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "units")]
pub(crate) struct Units {
    /// Its name: lower-case letters, digits and _, a letter first. Needed if there are several groups.
    #[schemars(with = "Option<String>")]
    name: Option<Spanned<String>>,
    /// The engine of its units.
    #[schemars(with = "String")]
    engine: Spanned<String>,
    /// Number of units.
    #[schemars(with = "Within<1, MAX_UNITS>")]
    count: Spanned<Within<1, MAX_UNITS>>,
    /// Whether the dispatcher gives the units frames of ports and host; by default the first group alone.
    #[schemars(with = "Option<bool>")]
    ports: Option<Spanned<bool>>,
    /// File of the program that they run.
    #[schemars(with = "PathBuf")]
    program: Spanned<PathBuf>,
}

/// A table of the manifest with the tables in it that engines read.
struct Split<'a> {
    /// The keys that belong to no engine.
    rest: Spanned<DeTable<'a>>,
    /// Tables of engines, by name.
    own: Vec<(&'static str, Range<usize>, Spanned<DeValue<'a>>)>,
}

impl<'a> Split<'a> {
    fn of(table: Spanned<DeTable<'a>>) -> Self {
        let span = table.span();
        let mut rest = table.into_inner();
        let mut own = Vec::new();
        for engine in engines() {
            let named = rest.keys().find(|key| key.get_ref() == engine.name()).map(|key| (key.span(), key.clone()));
            if let Some((key_span, key)) = named
                && let Some(value) = rest.remove(&key)
            {
                own.push((engine.name(), key_span, value));
            }
        }
        Self { rest: Spanned::new(span, rest), own }
    }

    /// Takes the table of an engine.
    fn take(&mut self, engine: &dyn Engine) -> Option<Spanned<DeValue<'a>>> {
        let at = self.own.iter().position(|(name, ..)| *name == engine.name())?;
        Some(self.own.remove(at).2)
    }

    /// An engine's table that no part has used is a fault; `owner` names the table around it and its engine.
    fn end(&self, table: &str, owner: &dyn Engine) -> Result<(), Fault> {
        match self.own.first() {
            None => Ok(()),
            Some((name, span, _)) => {
                let (is, wanted) = (owner.name(), format!("[{table}.{}]", owner.name()));
                let message = format!(
                    "[{table}.{name}] is for the engine \"{name}\", and this is \"{is}\": write {wanted}, or drop it"
                );
                Err(Fault::at(span.clone(), message))
            }
        }
    }
}

/// Reads the keys that belong to no engine.
fn read<'a, T: Deserialize<'a>>(table: Spanned<DeTable<'a>>, what: &str) -> Result<T, Fault> {
    let span = table.span();
    T::deserialize(table.into_deserializer()).map_err(|error| {
        let mut message = in_words(error.message());
        if message.starts_with("unknown field") && !what.is_empty() {
            message += &format!("; keys of an engine stand in a table of its own, [{what}.ENGINE]");
        }
        Fault { span: error.span().or(Some(span)), message }
    })
}

/// The engine of this name, whose parts are of this kind.
fn engine_of(name: &Spanned<String>, kind: Kind) -> Result<&'static dyn Engine, Fault> {
    let of_kind = |engine: &&'static dyn Engine| engine.kind() == kind;
    if let Some(engine) = engine(name.get_ref()).filter(of_kind) {
        return Ok(engine);
    }
    let there: Vec<String> =
        engines().iter().filter(|engine| of_kind(engine)).map(|e| format!("`{}`", e.name())).collect();
    let message = match (engine(name.get_ref()), kind) {
        (Some(_), Kind::Units) => format!("`{}` is an inline engine: its blocks are [[inline]]", name.get_ref()),
        (Some(_), Kind::Inline) => format!("`{}` is an engine of units: they are [[units]]", name.get_ref()),
        (None, _) => format!("there is no engine `{}`", name.get_ref()),
    };
    let hint = did_you_mean(name.get_ref(), engines().iter().filter(|engine| of_kind(engine)).map(|e| e.name()));
    Err(Fault::at(name.span(), format!("{message}; here it is one of {}{hint}", there.join(", "))))
}

/// A program's file, relative to the manifest's folder, that this engine can run.
fn program_of(manifest: &Path, program: &Spanned<PathBuf>, engine: &dyn Engine) -> Result<PathBuf, Fault> {
    let path = manifest.parent().unwrap_or(Path::new("")).join(program.get_ref());
    if !path.exists() {
        return Err(Fault::at(program.span(), format!("program: {} does not exist", path.display())));
    }
    if let Some(other) = engines().iter().find(|other| other.claims(&path) && other.name() != engine.name()) {
        let table = match other.kind() {
            Kind::Units => "[[units]]",
            Kind::Inline => "[[inline]]",
        };
        let message = format!(
            "program: {} is for the engine \"{}\": it stands in {table} with that engine",
            path.display(),
            other.name()
        );
        return Err(Fault::at(program.span(), message));
    }
    Ok(path)
}

/// The name of something of which there may be `several`: needed unless it is the only one.
fn named(
    name: Option<&Spanned<String>>,
    only: bool,
    several: &str,
    twice: &str,
    taken: impl Fn(&str) -> bool,
) -> Result<String, Fault> {
    match name {
        Some(name) if !is_name(name.get_ref()) => {
            let message = "a name is lower-case letters, digits and _, a letter first: programs say PN_COUNT_NAME";
            Err(Fault::at(name.span(), message))
        }
        Some(name) if taken(name.get_ref()) => {
            Err(Fault::at(name.span(), format!("`{}` is the name of {twice}", name.get_ref())))
        }
        Some(name) => Ok(name.get_ref().clone()),
        None if only => Ok(String::new()),
        None => Err(Fault { span: None, message: format!("of several {several} each needs a `name`") }),
    }
}

/// A further group.
fn group(
    manifest: &Path,
    mut split: Split<'_>,
    before: &[Group],
    only: bool,
) -> Result<(Group, Option<Range<usize>>), Fault> {
    let units: Units = read(split.rest.clone(), "units")?;
    let engine = engine_of(&units.engine, Kind::Units)?;
    let taken = |name: &str| before.iter().any(|group| group.name == name);
    let name = named(units.name.as_ref(), only, "groups of units", "two groups of units", taken)?;
    let first = before.last().map_or(0, |group| group.units.end);
    let end = first + units.count.get_ref().0;
    if i64::from(end) > MAX_UNITS {
        return Err(Fault::at(units.count.span(), format!("{end} units in all; a card has {MAX_UNITS} at most")));
    }
    let part = part(manifest, &mut split, engine, "units")?;
    let program = program_of(manifest, &units.program, engine)?;
    let ports = units.ports.as_ref().map_or(before.is_empty(), |ports| *ports.get_ref());
    Ok((Group { name, units: first..end, engine, part, ports, program }, units.ports.map(|ports| ports.span())))
}

/// An engine's reading of its own table.
fn part(manifest: &Path, split: &mut Split<'_>, engine: &dyn Engine, table: &str) -> Result<Arc<dyn Part>, Fault> {
    let folder = manifest.parent().unwrap_or(Path::new(""));
    let section = split.take(engine).map(|table| Section { folder, table });
    split.end(table, engine)?;
    engine.part(section)
}

/// A further inline block.
fn block(
    manifest: &Path,
    mut split: Split<'_>,
    groups: &[Group],
    before: &[Inline],
    only: bool,
) -> Result<Inline, Fault> {
    let block: InlineBlock = read(split.rest.clone(), "inline")?;
    let engine = engine_of(&block.engine, Kind::Inline)?;
    // Programs are given to blocks and to groups of units alike, by NAME=FILE.
    let taken =
        |name: &str| before.iter().any(|block| block.name == name) || groups.iter().any(|group| group.name == name);
    let name = named(block.name.as_ref(), only, "inline blocks", "two inline blocks, or of one and of units", taken)?;
    let part = part(manifest, &mut split, engine, "inline")?;
    let program = block.program.as_ref().map(|program| program_of(manifest, program, engine)).transpose()?;
    let program = match program {
        Some(program) => program,
        None if part.needs_program() => {
            return Err(Fault { span: None, message: "missing field `program`".to_owned() });
        }
        None => PathBuf::new(),
    };
    Ok(Inline { name, engine, part, program })
}

/// A further tenant, on a card of this many ports.
fn tenant(table: Spanned<DeTable<'_>>, ports: u32, before: &[Tenant]) -> Result<Tenant, Fault> {
    let of: TenantOf = read(table, "")?;
    let taken = |name: &str| before.iter().any(|tenant| tenant.name == name);
    let name = named(Some(&of.name), false, "tenants", "two tenants", taken)?;
    let vlan = of.vlan.get_ref().0 as u16;
    // Includes the tables that the command line may add.
    let mut mask = 0xF;
    if let Some(given) = &of.ports {
        if given.get_ref().is_empty() {
            return Err(Fault::at(
                given.span(),
                "name the ports of the tenant's frames, or drop the line: then it is all",
            ));
        }
        mask = 0;
        for port in given.get_ref() {
            let number = u32::try_from(*port.get_ref()).ok().filter(|number| *number < ports);
            let message = || format!("there is no port {}: the card has ports 0 to {}", port.get_ref(), ports - 1);
            mask |= 1 << number.ok_or_else(|| Fault::at(port.span(), message()))?;
        }
    }
    if let Some(other) = before.iter().find(|other| other.vlan == vlan && other.ports & mask != 0) {
        let message = format!(
            "VLAN {vlan} is that of tenant `{}` at the same port: give another one, or other `ports`",
            other.name
        );
        return Err(Fault::at(of.vlan.span(), message));
    }
    Ok(Tenant { name, number: before.len() as u8 + 1, vlan, ports: mask })
}

/// Whether a group of units may have this name: in programs, macros end in it.
fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_lowercase())
        && word.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_')
}

/// A number that the manifest must keep between two bounds.
#[derive(Deserialize)]
#[serde(try_from = "i64")]
pub(crate) struct Within<const LOW: i64, const HIGH: i64>(u32);

impl<const LOW: i64, const HIGH: i64> JsonSchema for Within<LOW, HIGH> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("{LOW}..{HIGH}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": LOW, "maximum": HIGH})
    }
}

impl<const LOW: i64, const HIGH: i64> TryFrom<i64> for Within<LOW, HIGH> {
    type Error = String;

    fn try_from(value: i64) -> Result<Self, String> {
        within(value, LOW, HIGH).map(Self)
    }
}

/// Takes a table out of another one.
fn take_table<'a>(root: &mut DeTable<'a>, name: &'static str) -> Result<Option<Spanned<DeTable<'a>>>, Fault> {
    let Some(value) = take(root, name) else { return Ok(None) };
    let span = value.span();
    match value.into_inner() {
        DeValue::Table(table) => Ok(Some(Spanned::new(span, table))),
        _ => Err(Fault::at(span, format!("`{name}` is a table: write [{name}]"))),
    }
}

/// Takes an array of tables out of a table: where it is, and the tables.
#[allow(clippy::type_complexity)]
fn take_tables<'a>(
    root: &mut DeTable<'a>,
    name: &'static str,
) -> Result<Option<(Range<usize>, Vec<Spanned<DeTable<'a>>>)>, Fault> {
    let Some(value) = take(root, name) else { return Ok(None) };
    let span = value.span();
    let wrong = |span| Fault::at(span, format!("`{name}` is a list of tables: write [[{name}]]"));
    let DeValue::Array(all) = value.into_inner() else { return Err(wrong(span)) };
    let tables = all.into_iter().map(|value| {
        let span = value.span();
        match value.into_inner() {
            DeValue::Table(table) => Ok(Spanned::new(span, table)),
            _ => Err(wrong(span)),
        }
    });
    Ok(Some((span, tables.collect::<Result<_, _>>()?)))
}

fn take<'a>(table: &mut DeTable<'a>, name: &str) -> Option<Spanned<DeValue<'a>>> {
    let key = table.keys().find(|key| key.get_ref() == name)?.clone();
    table.remove(&key)
}

impl Design {
    /// Reads a manifest. Paths inside it are relative to its folder.
    pub fn read(path: &Path) -> Result<Self, DesignError> {
        let text = files::text(path).map_err(|source| DesignError::Read { path: path.to_path_buf(), source })?;
        Self::parse(path, &text)
    }

    /// Parses the text of the manifest at `path`.
    pub fn parse(path: &Path, text: &str) -> Result<Self, DesignError> {
        Self::of(path, text).map_err(|fault| DesignError::at(path, text, fault))
    }

    fn of(path: &Path, text: &str) -> Result<Self, Fault> {
        let root = DeTable::parse(text);
        let root = root.map_err(|error| Fault { span: error.span(), message: error.message().replace('\n', " ") })?;
        Self::of_table(path, root)
    }

    /// The design in the whole table of the manifest at `path`.
    pub(crate) fn of_table(path: &Path, root: Spanned<DeTable<'_>>) -> Result<Self, Fault> {
        let whole = root.span();
        let mut root = root.into_inner();
        let missing = |name: &str| Fault::at(whole.clone(), format!("missing field `{name}`"));
        let mut split = Split::of(take_table(&mut root, "card")?.ok_or_else(|| missing("card"))?);
        let card: Card = read(split.rest.clone(), "card")?;
        if let Some(clock) = &card.clock_mhz
            && *clock.get_ref() != i64::from(CLOCK_MHZ)
        {
            let message =
                format!("clock_mhz is {}, and the card runs at {CLOCK_MHZ} only; drop the line", clock.get_ref());
            return Err(Fault::at(clock.span(), message));
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        let of_engine =
            |engine: &&'static dyn Engine| engine.card(split.take(*engine).map(|table| Section { folder, table }));
        let engines = engines().iter().map(of_engine).collect::<Result<Vec<_>, _>>()?;
        let dispatch = take_table(&mut root, "dispatch")?.map(|table| read::<Dispatch>(table, "")).transpose()?;
        let (all, units) = take_tables(&mut root, "units")?.ok_or_else(|| missing("units"))?;
        let inline_tables = take_tables(&mut root, "inline")?.map_or(Vec::new(), |(_, tables)| tables);
        let tenant_tables = take_tables(&mut root, "tenants")?.map_or(Vec::new(), |(_, tables)| tables);
        if let Some(key) = root.keys().next() {
            let expected = TABLES.map(|name| format!("`{name}`")).join(", ");
            let message = format!("unknown field `{}`, expected one of {expected}", key.get_ref());
            return Err(Fault::at(key.span(), in_words(&message)));
        }
        if units.is_empty() {
            return Err(Fault::at(all, "no [[units]]; a card has at least one"));
        }
        let mut groups: Vec<Group> = Vec::new();
        let mut says_ports = None;
        let only = units.len() == 1;
        for table in units {
            let span = table.span();
            let made = group(path, Split::of(table), &groups, only);
            let (made, ports) = made.map_err(|fault| Fault { span: fault.span.or(Some(span)), ..fault })?;
            says_ports = says_ports.or(ports);
            groups.push(made);
        }
        if let Some(span) = says_ports
            && groups.iter().all(|group| !group.ports)
        {
            return Err(Fault::at(span, "no group of units has `ports = true`, so no frame would get to one"));
        }
        let mut inline: Vec<Inline> = Vec::new();
        let only = inline_tables.len() == 1;
        for table in inline_tables {
            let span = table.span();
            if inline.len() == MAX_BLOCKS {
                return Err(Fault::at(span, format!("a card has at most {MAX_BLOCKS} inline blocks")));
            }
            let made = block(path, Split::of(table), &groups, &inline, only);
            inline.push(made.map_err(|fault| Fault { span: fault.span.or(Some(span)), ..fault })?);
        }
        let mut tenants: Vec<Tenant> = Vec::new();
        for table in tenant_tables {
            let span = table.span();
            if inline.is_empty() {
                return Err(Fault::at(
                    span,
                    "[[tenants]] is for inline blocks, and the card has none: add [[inline]], or drop it",
                ));
            }
            if tenants.len() == MAX_TENANTS {
                return Err(Fault::at(span, format!("a card has at most {MAX_TENANTS} tenants")));
            }
            let made = tenant(table, card.ports.0, &tenants);
            tenants.push(made.map_err(|fault| Fault { span: fault.span.or(Some(span)), ..fault })?);
        }
        Ok(Self {
            path: path.to_path_buf(),
            name: card.name,
            ports: card.ports.0,
            clock_mhz: CLOCK_MHZ,
            policy: dispatch.map_or(Policy::FlowHash, |dispatch| dispatch.policy),
            tenants,
            inline,
            groups,
            engines,
        })
    }

    /// The design with some of its parts replaced.
    pub fn with(mut self, change: Override) -> Result<Self, DesignError> {
        for ForGroup { group, value } in change.programs {
            match self.part_for(group.as_deref(), &value)? {
                PartId::Inline(block) => self.inline[block].program = value,
                PartId::Units(group) => self.groups[group].program = value,
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
        let mut tables: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        for (name, file) in change.tables {
            tables.entry(name).or_default().push(file);
        }
        for (name, files) in tables {
            self.set_files(&name, files)?;
        }
        Ok(self)
    }

    /// Gives a table other files. `key` is the table's name, or PART.TABLE.
    fn set_files(&mut self, key: &str, files: Vec<PathBuf>) -> Result<(), DesignError> {
        let of_card = self.engines.iter().position(|part| part.table_names().allow(key));
        let (part, name) = match of_card {
            Some(engine) => (&mut self.engines[engine], key.to_owned()),
            None => match self.find_table(key)? {
                (PartId::Units(group), name) => (&mut self.groups[group].part, name),
                (PartId::Inline(block), name) => (&mut self.inline[block].part, name),
            },
        };
        let changed = part.with_files(&name, files);
        *part = changed.map_err(|error| DesignError::Option(format!("{}: {error}", self.path.display())))?;
        Ok(())
    }

    /// The settings of a part in its engine's own table.
    pub fn part(&self, part: PartId) -> &dyn Part {
        match part {
            PartId::Units(group) => &*self.groups[group].part,
            PartId::Inline(block) => &*self.inline[block].part,
        }
    }

    /// Name of a part; empty if it has no name.
    pub fn part_name(&self, part: PartId) -> &str {
        match part {
            PartId::Units(group) => &self.groups[group].name,
            PartId::Inline(block) => &self.inline[block].name,
        }
    }

    /// All units.
    pub fn units(&self) -> u32 {
        self.groups.last().map_or(0, |group| group.units.end)
    }

    /// Index of the group of a unit.
    pub fn group_of(&self, unit: u32) -> Option<usize> {
        self.groups.iter().position(|group| group.units.contains(&unit))
    }

    /// The groups of units that have names: name and units.
    pub fn named_groups(&self) -> Vec<(String, Range<u32>)> {
        let named = self.groups.iter().filter(|group| !group.name.is_empty());
        named.map(|group| (group.name.clone(), group.units.clone())).collect()
    }

    /// All parts that run a program.
    pub fn parts(&self) -> impl Iterator<Item = PartId> + use<> {
        let groups = (0..self.groups.len()).map(PartId::Units);
        groups.chain((0..self.inline.len()).map(PartId::Inline))
    }

    /// Whether the dispatcher sends all frames of a flow to the same unit.
    pub fn by_flow(&self) -> bool {
        matches!(self.policy, Policy::FlowHash | Policy::FlowHashDrop)
    }

    /// The default rate at which frames enter.
    pub fn default_rate(&self, target: Target) -> Rate {
        let in_turns = target != Target::Soft && self.parts().any(|part| self.engine(part).in_turns());
        if in_turns { Rate::Turns } else { Rate::Lossless }
    }

    /// The settings of an engine for the whole card.
    pub fn card_of(&self, engine: &dyn Engine) -> Option<&Arc<dyn Part>> {
        let place = engines().iter().position(|other| other.name() == engine.name())?;
        self.engines.get(place)
    }

    /// The engine of a part.
    pub fn engine(&self, part: PartId) -> &'static dyn Engine {
        match part {
            PartId::Units(group) => self.groups[group].engine,
            PartId::Inline(block) => self.inline[block].engine,
        }
    }

    /// The file of a part's program.
    pub fn program(&self, part: PartId) -> &Path {
        match part {
            PartId::Units(group) => &self.groups[group].program,
            PartId::Inline(block) => &self.inline[block].program,
        }
    }

    /// Notes that a part runs another program.
    pub fn set_program(&mut self, part: PartId, program: PathBuf) {
        match part {
            PartId::Units(group) => self.groups[group].program = program,
            PartId::Inline(block) => self.inline[block].program = program,
        }
    }

    /// Index of the group of units with this name, or of the only group; `what` names the purpose in errors.
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

    /// The part for a program: the part of that name, or the only part that can run it.
    pub fn part_for(&self, name: Option<&str>, program: &Path) -> Result<PartId, DesignError> {
        if let Some(block) = self.inline.iter().position(|block| name == Some(&block.name)) {
            return Ok(PartId::Inline(block));
        }
        let claims = engines().iter().find(|engine| engine.kind() == Kind::Inline && engine.claims(program));
        let Some(engine) = claims else { return self.find("program", name).map(PartId::Units) };
        let file = program.display();
        let may = || self.inline.iter().enumerate().filter(|(_, block)| block.engine.name() == engine.name());
        let there = || may().map(|(_, block)| block.name.as_str()).collect::<Vec<_>>().join(", ");
        Err(self.option(match (name, may().collect::<Vec<_>>().as_slice()) {
            (None, [(block, _)]) => return Ok(PartId::Inline(*block)),
            (_, []) => format!(
                "{file} is for an inline block of the engine {}, and the design has none (docs/designs.md)",
                engine.name()
            ),
            (None, _) => {
                format!("{file}: there are several inline blocks, so say whose it is: NAME=..., of {}", there())
            }
            (Some(_), [(_, block)]) if block.name.is_empty() => {
                format!("{file} is for the inline block; it has no name, so leave the name out")
            }
            (Some(name), _) => {
                format!("{file} is for an inline block, and none is named `{name}`; there are: {}", there())
            }
        }))
    }

    /// An error about the option for a program.
    fn option(&self, message: String) -> DesignError {
        DesignError::Option(format!("{}: program: {message}", self.path.display()))
    }

    /// Indices of groups, by their names.
    pub fn find_all(&self, what: &str, names: &[String]) -> Result<Vec<usize>, DesignError> {
        names.iter().map(|name| self.find(what, Some(name))).collect()
    }

    /// The part that has this table, and the table's name. `key` is the name, or PART.TABLE.
    ///
    /// # Errors
    /// No part has such a table, or several have.
    pub fn find_table(&self, key: &str) -> Result<(PartId, String), DesignError> {
        let prefix = key.split_once('.').filter(|(part, _)| !part.is_empty());
        if let Some((name, table)) = prefix
            && let Some(part) = self.parts().find(|part| self.part_name(*part) == name)
        {
            return Ok((part, table.to_owned()));
        }
        // A part whose engine has fixed tables comes before a part whose program may declare any name.
        let names = |part: PartId| self.part(part).table_names();
        let mut having: Vec<PartId> = self.parts().filter(|part| names(*part).allow(key)).collect();
        if having.iter().any(|part| names(*part) != TableNames::OfProgram) {
            having.retain(|part| names(*part) != TableNames::OfProgram);
        }
        match having[..] {
            [] => Err(match prefix.map(|(name, _)| self.find("table", Some(name))) {
                Some(Err(error)) => error,
                _ => {
                    let refusal = self.groups[0].part.with_files(key, vec![PathBuf::new()]).err();
                    let text = refusal.map_or_else(|| format!("there is no table `{key}`"), |error| error.to_string());
                    DesignError::Option(format!("{}: {text}", self.path.display()))
                }
            }),
            [part] => Ok((part, key.to_owned())),
            _ => {
                let names: Vec<String> = having.iter().map(|part| format!("{}.{key}", self.part_name(*part))).collect();
                let text = format!("several parts have a table {key}, so say whose: {}", names.join(", "));
                Err(DesignError::Option(format!("{}: {text}", self.path.display())))
            }
        }
    }

    /// Gives a group another number of units; later groups move.
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

fn within(value: i64, low: i64, high: i64) -> Result<u32, String> {
    u32::try_from(value)
        .ok()
        .filter(|_| (low..=high).contains(&value))
        .ok_or_else(|| format!("{value} is out of range: {low}..{high}"))
}
