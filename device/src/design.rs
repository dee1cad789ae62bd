// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The manifest of a card: a TOML file that says what it is made of.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use penstock_shell::{Accelerator, Accelerators};
use penstock_xdp_compiler::rows::Lanes;
use serde::Deserialize;
use toml::Spanned;

/// Clock of every card, MHz: the data path moves 512 bits a cycle, which carries 100 Gb/s a port at this clock.
pub const CLOCK_MHZ: u32 = 250;

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
        /// Lanes of the core: 1, 2, 4 or 8.
        lanes: Lanes,
        /// Which program of the object; None: it has one.
        entry: Option<String>,
    },
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
    /// Units, 1..32.
    pub units: u32,
    /// What each unit is.
    pub engine: Engine,
    /// What the units run: C source or what a compiler has made of it, an ELF file.
    pub program: PathBuf,
    /// Table name to the file it is loaded from.
    pub tables: BTreeMap<String, PathBuf>,
}

/// What the command line may change about a design.
#[derive(Debug, Clone, Default)]
pub struct Override {
    /// Another program.
    pub program: Option<PathBuf>,
    /// Other table files.
    pub tables: BTreeMap<String, PathBuf>,
    /// Another number of units.
    pub units: Option<u32>,
    /// Another number of ports.
    pub ports: Option<u32>,
    /// Another policy.
    pub policy: Option<Policy>,
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
    units: Spanned<Vec<Units>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Card {
    name: String,
    ports: Within<1, 4>,
    clock_mhz: Option<Spanned<i64>>,
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
struct Units {
    engine: EngineName,
    count: Within<1, 32>,
    program: Spanned<PathBuf>,
    accelerators: Option<Spanned<Vec<String>>>,
    lanes: Option<Spanned<usize>>,
    entry: Option<Spanned<String>>,
    #[serde(default)]
    tables: BTreeMap<Spanned<String>, PathBuf>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum EngineName {
    Rpu,
    Xdp,
}

impl Units {
    /// What each of them is; else where the manifest is wrong, and how.
    fn engine(&self) -> Result<Engine, (Range<usize>, String)> {
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
                        (count.span(), format!("a core has 1, 2, 4 or 8 lanes, not {}", count.get_ref()))
                    })?,
                    None => Lanes::FOUR,
                };
                Ok(Engine::Xdp { lanes, entry: self.entry.as_ref().map(|entry| entry.get_ref().clone()) })
            }
        }
    }
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

impl Design {
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
        let groups = manifest.units.get_ref();
        let [units] = groups.as_slice() else {
            let message = format!("{} [[units]] groups; a card has exactly one", groups.len());
            return Err(fail(manifest.units.span(), message));
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        let program = folder.join(units.program.get_ref());
        if !program.exists() {
            return Err(fail(units.program.span(), format!("program: {} does not exist", program.display())));
        }
        let engine = units.engine().map_err(|(span, message)| fail(span, message))?;
        let tables = units.tables.iter().map(|(name, file)| (name.get_ref().clone(), folder.join(file))).collect();
        Ok(Self {
            path: path.to_path_buf(),
            name: card.name.clone(),
            ports: card.ports.0,
            clock_mhz: CLOCK_MHZ,
            policy: manifest.dispatch.policy,
            units: units.count.0,
            engine,
            program,
            tables,
        })
    }

    /// The design with some of its parts replaced.
    pub fn with(mut self, change: Override) -> Result<Self, DesignError> {
        if let Some(program) = change.program {
            self.program = program;
        }
        if let Some(units) = change.units {
            self.units = within(units.into(), 1, 32).map_err(|m| DesignError::Option(format!("units: {m}")))?;
        }
        if let Some(ports) = change.ports {
            self.ports = within(ports.into(), 1, 4).map_err(|m| DesignError::Option(format!("ports: {m}")))?;
        }
        self.policy = change.policy.unwrap_or(self.policy);
        for (name, file) in change.tables {
            self.check_table(&name)?;
            self.tables.insert(name, file);
        }
        Ok(self)
    }

    /// Accelerators of each unit.
    pub fn accelerators(&self) -> Accelerators {
        match &self.engine {
            Engine::Rpu { accelerators } => *accelerators,
            Engine::Xdp { .. } => Accelerators::default(),
        }
    }

    /// The accelerator whose table has this name, if the units have it.
    pub fn check_table(&self, name: &str) -> Result<Accelerator, DesignError> {
        table_kind(self.accelerators(), name)
            .map_err(|message| DesignError::Option(format!("{}: {message}", self.path.display())))
    }
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
        assert_eq!((design.ports, design.units, design.clock_mhz), (2, 16, 250));
        assert_eq!(design.policy, Policy::RoundRobin);
        assert_eq!(design.accelerators().mask(), 0b01001);
        assert!(design.tables["ip_prefix"].ends_with("src/list.txt"));
    }

    /// The reference shows every key, and names every word that a key may have.
    #[test]
    fn the_reference_is_right() {
        let text = include_str!("../../docs/designs.md");
        let example = text.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        let design = Design::parse(Path::new("../designs/reference.toml"), example).unwrap();
        assert_eq!((design.ports, design.units, design.accelerators().mask()), (2, 16, 0b10001));
        for key in [
            "name",
            "ports",
            "clock_mhz",
            "policy",
            "engine",
            "count",
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
        assert!(text.starts_with("src/card.toml:13: a table ip_prefix needs \"ip_prefix\" among"), "{text}");
        for name in ["crc32", "nothing"] {
            let text = error(&GOOD.replace("ip_prefix = ", &format!("{name} = ")));
            assert!(
                text.contains(&format!("no table `{name}`; there are: ip_prefix, flow_hash, string_match")),
                "{text}"
            );
        }
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
        let change = Override { units: Some(4), policy: Some(Policy::FlowHash), tables, ..Override::default() };
        let design = parse(GOOD).unwrap().with(change).unwrap();
        assert_eq!((design.units, design.policy), (4, Policy::FlowHash));
        assert_eq!(design.tables["ip_prefix"], PathBuf::from("other"));
        let wrong = Override { units: Some(40), ..Override::default() };
        assert_eq!(parse(GOOD).unwrap().with(wrong).unwrap_err().to_string(), "units: 40 is out of range: 1..32");
    }
}
