// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The area of a card's blocks beside what a board has.
//!
//! `penstock synth` has counted the blocks (bench/results/synth.json). Files `areas.toml` say which of them a card, its
//! surroundings and each engine's parts consist of; shell/areas.toml explains them. shell/cards/boards.toml has what
//! boards have, and what shells use themselves.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::fs;
use std::path::PathBuf;

use penstock_engine::Root;
use serde::Deserialize;

use super::project::ProjectError;
use super::{Hardware, Shell};
use crate::design::Design;

/// Files with what every card consists of.
const CARD: [&str; 2] = ["shell/areas.toml", "shell/cards/areas.toml"];
const BOARDS: &str = "shell/cards/boards.toml";
const COUNTED: &str = "bench/results/synth.json";
/// Units of a cluster.
const CLUSTER: u32 = 4;
/// Channels of card memory (`CardChannels` of penstock_pkg.sv).
const CARD_CHANNELS: u32 = 9;

/// Resources of a device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Area {
    /// Look-up tables; of blocks, before a packer puts two into one place.
    pub lut: f64,
    /// Flip-flops.
    pub ff: f64,
    /// Block memories of 36 Kbit.
    pub bram: f64,
    /// Block memories of 288 Kbit.
    pub uram: f64,
    /// DSP slices.
    pub dsp: f64,
}

/// A resource: its name, its title in tables, and where it is.
pub(super) type Resource = (&'static str, &'static str, fn(&Area) -> f64);
pub(super) const RESOURCES: [Resource; 5] = [
    ("LUTs", "LUT", |area| area.lut),
    ("flip-flops", "FF", |area| area.ff),
    ("block memories of 36 Kbit", "BRAM", |area| area.bram),
    ("block memories of 288 Kbit", "URAM", |area| area.uram),
    ("DSP slices", "DSP", |area| area.dsp),
];

impl Area {
    fn zip(self, other: Self, of: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            lut: of(self.lut, other.lut),
            ff: of(self.ff, other.ff),
            bram: of(self.bram, other.bram),
            uram: of(self.uram, other.uram),
            dsp: of(self.dsp, other.dsp),
        }
    }

    fn times(self, count: u32) -> Self {
        self.zip(self, |one, _| one * f64::from(count))
    }
}

/// How the area of a card's blocks compares with the counted one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Counted {
    /// It is the same.
    Exactly,
    /// The card's are larger than those that were counted.
    Larger,
    /// The card's are smaller than those that were counted.
    Smaller,
}

/// A part of the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// Card and converters.
    Card,
    /// The units of a group of the design.
    Units(usize),
    /// An inline block of the design.
    Block(usize),
}

/// Blocks of one kind in a part of the card.
#[derive(Debug, Clone, PartialEq)]
struct Line {
    owner: Owner,
    block: String,
    count: u32,
    /// The card has them once, however many parts of the engine there are.
    shared: bool,
    /// The sum over all of them; None if `penstock synth` has not counted the block.
    area: Option<Area>,
    counted: Counted,
}

/// Equal parts of the card.
struct Parts {
    owner: Owner,
    count: u32,
    word: u64,
    /// No part of their engine came before.
    first: bool,
}

/// The area of a design's card on a board.
#[derive(Debug, Clone)]
pub struct Areas {
    lines: Vec<Line>,
    /// The parts, their names in messages, and how many units each has.
    parts: Vec<(Owner, String, u32)>,
    /// Parts without any counted block.
    unknown: Vec<String>,
    board: String,
    /// Device and resources of the board; None: not known.
    has: Option<(String, Area)>,
    shell: Shell,
    /// The resources that the shell itself uses, and the source of these figures.
    uses: Option<(Area, String)>,
}

/// How many blocks there are of a kind.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Each {
    /// One for each part.
    #[default]
    Part,
    /// One in the card.
    Card,
    /// One for each Ethernet port.
    Port,
    /// One for each Ethernet port, and one for the host.
    Stream,
    /// One for four units.
    FourUnits,
    /// One for each port of the board's memory that the card uses.
    Memory,
}

/// Bits of a part's word, the lowest and the highest.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Bits(u32, u32);

impl Bits {
    fn of(self, word: u64) -> u64 {
        let Self(low, high) = self;
        let width = high.saturating_sub(low).min(63) + 1;
        word.checked_shr(low).unwrap_or(0) & (u64::MAX >> (64 - width))
    }
}

/// A value of the part's word.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Param {
    bits: Bits,
    is: u64,
}

/// The card for which a block was counted.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct CountedFor {
    units: Option<u64>,
    ports: Option<u64>,
    map_rows: Option<u64>,
    /// Channels of card memory that share a port of the board's memory
    channels: Option<u64>,
    param: Option<Param>,
}

/// A row of a file `areas.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    block: String,
    #[serde(default)]
    each: Each,
    times: Option<u32>,
    value: Option<Bits>,
    ones: Option<Bits>,
    less: Option<Bits>,
    #[serde(default)]
    counted_for: CountedFor,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    #[serde(rename = "area")]
    areas: Vec<Rule>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Boards {
    board: Vec<Board>,
    shell: Vec<Used>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Board {
    names: Vec<String>,
    device: String,
    has: Area,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Used {
    name: String,
    uses: Area,
    source: String,
}

/// Reads a file of the checkout as TOML.
fn read<T: for<'a> Deserialize<'a>>(root: &Root, name: &str) -> Result<T, ProjectError> {
    let path = root.join(name);
    let text = fs::read_to_string(&path).map_err(|source| ProjectError::File { path: path.clone(), source })?;
    toml::from_str(&text).map_err(|error| ProjectError::Source { path, problem: error.to_string() })
}

/// The counted blocks, by their names.
fn counted(root: &Root) -> Result<BTreeMap<String, Area>, ProjectError> {
    #[derive(Deserialize)]
    struct Row {
        case: BTreeMap<String, serde_json::Value>,
        metric: String,
        value: f64,
    }
    let path: PathBuf = root.join(COUNTED);
    let text = fs::read_to_string(&path).map_err(|source| ProjectError::File { path: path.clone(), source })?;
    let rows: Vec<Row> =
        serde_json::from_str(&text).map_err(|error| ProjectError::Source { path, problem: error.to_string() })?;
    let mut blocks: BTreeMap<String, Area> = BTreeMap::new();
    for row in rows {
        let Some(name) = row.case.get("block").and_then(|name| name.as_str()) else { continue };
        let of = |area: &mut Area| match row.metric.as_str() {
            "lut" => area.lut = row.value,
            "ff" => area.ff = row.value,
            "bram" => area.bram = row.value,
            "uram" => area.uram = row.value,
            "dsp" => area.dsp = row.value,
            _ => {}
        };
        of(blocks.entry(name.to_owned()).or_default());
    }
    Ok(blocks)
}

impl Rule {
    /// Blocks of this kind in a part with this word, or in the card.
    fn count(&self, hardware: &Hardware, memories: u32, parts: u32, word: u64) -> u32 {
        let units = hardware.units.len() as u32;
        let each = match self.each {
            Each::Part => parts,
            Each::Card => 1,
            Each::Port => hardware.ports,
            Each::Stream => hardware.ports + 1,
            Each::FourUnits => units.div_ceil(CLUSTER),
            Each::Memory => memories,
        };
        let value = |bits: Option<Bits>| bits.map(|bits| bits.of(word));
        let ones = |bits: Option<Bits>| value(bits).map(|value| u64::from(value.count_ones()));
        let by_word = value(self.value).or_else(|| ones(self.ones)).unwrap_or(1);
        let left = by_word.saturating_sub(ones(self.less).unwrap_or(0)).min(1 << 16) as u32;
        each.saturating_mul(left).saturating_mul(self.times.unwrap_or(1))
    }

    /// How the card's blocks compare with the counted one.
    fn compared(&self, hardware: &Hardware, memories: u32, word: u64) -> Counted {
        let CountedFor { units, ports, map_rows, channels, param } = self.counted_for;
        let pairs = [
            (units, hardware.units.len() as u64),
            (ports, hardware.ports.into()),
            (map_rows, hardware.map_rows.into()),
            // The port with the fewest: if the ports differ, the sum may be smaller.
            (channels, (CARD_CHANNELS / memories.max(1)).into()),
            (param.map(|param| param.is), param.map_or(0, |param| param.bits.of(word))),
        ];
        let differences = pairs.iter().filter_map(|(counted, here)| Some((*counted)?.cmp(here)));
        // Where it is larger in one respect and smaller in another, it may be smaller.
        differences.fold(Counted::Exactly, |all, order| {
            all.max(match order {
                std::cmp::Ordering::Less => Counted::Larger,
                std::cmp::Ordering::Equal => Counted::Exactly,
                std::cmp::Ordering::Greater => Counted::Smaller,
            })
        })
    }
}

impl Areas {
    /// The area of the card that a design asks for, and the resources of a board, of whose memory the card uses so many
    /// ports.
    ///
    /// # Errors
    /// A file of the checkout cannot be read.
    pub fn of(
        root: &Root,
        design: &Design,
        hardware: &Hardware,
        shell: Shell,
        board: &str,
        memories: u32,
    ) -> Result<Self, ProjectError> {
        let counted = counted(root)?;
        let boards: Boards = read(root, BOARDS)?;
        let mut areas = Self {
            lines: Vec::new(),
            parts: vec![(Owner::Card, "the card around units and blocks".into(), 1)],
            unknown: Vec::new(),
            board: board.to_owned(),
            has: (boards.board.into_iter())
                .find(|row| row.names.iter().any(|name| name == board))
                .map(|row| (row.device, row.has)),
            shell,
            uses: boards.shell.into_iter().find(|row| row.name == shell.name()).map(|row| (row.uses, row.source)),
        };
        for file in CARD {
            let card = Parts { owner: Owner::Card, count: 1, word: 0, first: true };
            areas.add(&read::<Rules>(root, file)?.areas, &counted, hardware, memories, &card);
        }
        // Only the first part of an engine has the blocks that the card has once for this engine.
        let mut seen: Vec<&str> = Vec::new();
        let groups = design.groups.iter().enumerate().map(|(index, group)| {
            let (engine, count) = (group.engine.name(), group.units.len() as u32);
            (Owner::Units(index), engine, count, group.part.parameter(), format!("{count} units of {engine}"))
        });
        let blocks = design.inline.iter().zip(&hardware.blocks).enumerate().map(|(index, (inline, (_, word)))| {
            let engine = inline.engine.name();
            (Owner::Block(index), engine, 1, *word, format!("the inline block of {engine}"))
        });
        for (owner, engine, count, word, name) in groups.chain(blocks) {
            let file = format!("engines/{engine}/areas.toml");
            if root.join(&file).exists() {
                let first = !seen.contains(&engine);
                let parts = Parts { owner, count, word, first };
                areas.add(&read::<Rules>(root, &file)?.areas, &counted, hardware, memories, &parts);
                seen.push(engine);
            } else {
                areas.unknown.push(name.clone());
            }
            areas.parts.push((owner, name, count));
        }
        Ok(areas)
    }

    /// Adds the blocks of equal parts.
    fn add(
        &mut self,
        rules: &[Rule],
        counted: &BTreeMap<String, Area>,
        hardware: &Hardware,
        memories: u32,
        parts: &Parts,
    ) {
        for rule in rules {
            let shared = matches!(rule.each, Each::Card | Each::FourUnits | Each::Memory);
            let count = rule.count(hardware, memories, parts.count, parts.word);
            if count == 0 || shared && !parts.first {
                continue;
            }
            self.lines.push(Line {
                owner: parts.owner,
                block: rule.block.clone(),
                count,
                shared,
                area: counted.get(&rule.block).map(|area| area.times(count)),
                counted: rule.compared(hardware, memories, parts.word),
            });
        }
    }

    /// The sum of the lines that `is` chooses.
    fn sum(&self, is: impl Fn(&Line) -> bool) -> Area {
        let areas = self.lines.iter().filter(|line| is(line)).filter_map(|line| line.area);
        areas.fold(Area::default(), |all, area| all.zip(area, |a, b| a + b))
    }

    /// The resources of the board that the shell leaves, as far as they are known.
    fn left(&self) -> Option<Area> {
        let (_, has) = self.has.as_ref()?;
        let uses = self.uses.as_ref().map_or(Area::default(), |(uses, _)| *uses);
        Some(has.zip(uses, |has, uses| has - uses))
    }

    /// Why the card has no room on the board: what takes most, and what to leave out. Blocks that may be smaller on this
    /// card than the counted ones do not speak against it.
    #[must_use]
    pub fn excess(&self) -> Option<String> {
        let left = self.left()?;
        let at_least = |line: &Line| line.counted != Counted::Smaller;
        let sum = self.sum(at_least);
        let share = |(.., of): &Resource| of(&sum) / of(&left).max(1.0);
        let (name, _, of) = RESOURCES.into_iter().max_by(|a, b| share(a).total_cmp(&share(b)))?;
        if of(&sum) <= of(&left) {
            return None;
        }
        let takes = |owner, of: fn(&Area) -> f64| of(&self.sum(|line| line.owner == owner && at_least(line)));
        let (owner, part, units) =
            self.parts.iter().max_by(|(a, ..), (b, ..)| takes(*a, of).total_cmp(&takes(*b, of)))?;
        let most = takes(*owner, of);
        let short = || RESOURCES.iter().filter(|(.., of)| of(&sum) > of(&left));
        // Blocks that the card has once stay when units go.
        let of_units = self.sum(|line| line.owner == *owner && at_least(line) && !line.shared);
        let less = short().map(|(.., of)| {
            let each_unit = of(&of_units) / f64::from(*units);
            ((of(&sum) - of(&left)) / each_unit.max(f64::MIN_POSITIVE)).ceil()
        });
        let less = less.fold(0.0, f64::max);
        let advice = match owner {
            Owner::Units(_) if less < f64::from(*units) => {
                format!("with `count = {}` it has room, by this count", units - less as u32)
            }
            Owner::Block(_) if short().all(|(.., of)| takes(*owner, *of) >= of(&sum) - of(&left)) => {
                "the rest has room without it".to_owned()
            }
            _ => "leaving them out is not enough".to_owned(),
        };
        let beside = self.uses.as_ref().map_or(String::new(), |_| format!(" beside {}", self.shell));
        Some(format!(
            "it needs at least {} {name}, and {} has {}{beside}; {part} take most, {}: {advice}, or take a larger board",
            number(of(&sum)),
            self.board,
            number(of(&left)),
            number(most),
        ))
    }
}

/// A number with commas between thousands; half a block memory shows.
pub(super) fn number(value: f64) -> String {
    let whole = format!("{:.0}", value.trunc());
    let mut text = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if value.fract() == 0.0 { text } else { text + ".5" }
}

impl fmt::Display for Areas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |f: &mut fmt::Formatter<'_>, name: &str, cells: [String; 5], rest: &str| {
            let [lut, ff, bram, uram, dsp] = cells;
            let text = format!("{name:<28}{lut:>10}{ff:>11}{bram:>8}{uram:>7}{dsp:>8}  {rest}");
            writeln!(f, "{}", text.trim_end())
        };
        let cells = |area: &Area| RESOURCES.map(|(.., of)| number(of(area)));
        row(f, "area, counted before packing", RESOURCES.map(|(_, title, _)| title.to_owned()), "")?;
        let mut marks = String::new();
        for line in &self.lines {
            let name = format!("{} x {}", line.count, line.block);
            let mark = match line.counted {
                Counted::Exactly => "",
                Counted::Larger => "counted for a smaller card",
                Counted::Smaller => "counted for a larger card",
            };
            match &line.area {
                Some(area) => row(f, &name, cells(area), mark)?,
                None => row(f, &name, std::array::from_fn(|_| "-".to_owned()), "not counted")?,
            }
        }
        for name in &self.unknown {
            writeln!(marks, "not counted: {name}")?;
        }
        let sum = self.sum(|_| true);
        row(f, "sum", cells(&sum), "")?;
        match &self.has {
            Some((device, has)) => row(f, &self.board, cells(has), device)?,
            None => writeln!(marks, "{}: nobody has entered its resources in {BOARDS}", self.board)?,
        }
        if let (Some(left), Some((_, source))) = (self.left(), &self.uses) {
            row(f, &format!("  without {}", self.shell), cells(&left), source)?;
        }
        if self.has.is_some() && self.uses.is_none() {
            writeln!(marks, "{} needs room too; nobody has published how much", self.shell)?;
        }
        if let Some(left) = self.left() {
            let shares = RESOURCES.map(|(.., of)| format!("{:.0} %", 100.0 * of(&sum) / of(&left)));
            row(f, "  of it", shares, "")?;
        }
        f.write_str(&marks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hardware(units: u32, blocks: Vec<(u8, u64)>) -> Hardware {
        Hardware { ports: 2, units: (0..units).map(|_| (0, 0)).collect(), blocks, map_rows: 16_384 }
    }

    fn rule(text: &str) -> Rule {
        toml::from_str(&format!("block = \"b\"\n{text}")).unwrap()
    }

    #[test]
    fn blocks_are_counted_by_their_rule() {
        let card = hardware(9, Vec::new());
        let count = |text: &str| rule(text).count(&card, 2, 9, 0x0000_0503_0000_0A02);
        assert_eq!(count(""), 9);
        assert_eq!((count("each = \"card\""), count("each = \"port\""), count("each = \"stream\"")), (1, 2, 3));
        assert_eq!(count("each = \"memory\""), 2);
        assert_eq!((count("each = \"four_units\""), count("each = \"card\"\ntimes = 16")), (3, 16));
        assert_eq!(count("value = [0, 7]"), 18);
        assert_eq!(count("value = [8, 15]"), 90);
        assert_eq!((count("value = [4, 4]"), count("value = [9, 9]"), count("value = [40, 63]")), (0, 9, 9 * 5));
        assert_eq!((count("ones = [8, 15]"), count("ones = [0, 63]"), count("ones = [64, 70]")), (18, 63, 0));
        assert_eq!(count("each = \"card\"\nvalue = [8, 15]\nless = [32, 33]\ntimes = 2"), 16);
    }

    #[test]
    fn blocks_counted_for_other_cards_are_known() {
        let card = hardware(9, Vec::new());
        let compared = |text: &str| rule(&format!("counted_for = {{ {text} }}")).compared(&card, 4, 0x0A02);
        assert_eq!(compared("units = 9, ports = 2, map_rows = 16384"), Counted::Exactly);
        assert_eq!(compared("units = 8, ports = 2"), Counted::Larger);
        assert_eq!(compared("units = 16"), Counted::Smaller);
        assert_eq!(compared("units = 8, ports = 3"), Counted::Smaller);
        assert_eq!(compared("map_rows = 8192"), Counted::Larger);
        // A board with four ports has nine channels, two or three at each.
        assert_eq!(compared("channels = 1"), Counted::Larger);
        assert_eq!(compared("channels = 2"), Counted::Exactly);
        assert_eq!(compared("channels = 3"), Counted::Smaller);
        assert_eq!(compared("param = { bits = [8, 15], is = 10 }"), Counted::Exactly);
        assert_eq!(compared("param = { bits = [8, 15], is = 9 }"), Counted::Larger);
    }

    fn areas(lines: Vec<(Owner, u32, Option<f64>, Counted)>, parts: Vec<(Owner, &str, u32)>, uram: f64) -> Areas {
        let line = |(owner, count, each, counted): (Owner, u32, Option<f64>, Counted)| Line {
            owner,
            block: "b".into(),
            count,
            shared: count == 1,
            area: each.map(|uram| Area { uram, lut: 1.0, ..Area::default() }.times(count)),
            counted,
        };
        Areas {
            lines: lines.into_iter().map(line).collect(),
            parts: parts.into_iter().map(|(owner, name, count)| (owner, name.to_owned(), count)).collect(),
            unknown: vec!["two units of a kind".into()],
            board: "board".into(),
            has: Some(("device".into(), Area { lut: 1e6, ff: 1e6, bram: 1e6, uram, dsp: 1e6 })),
            shell: Shell::Corundum,
            uses: Some((Area { uram: 10.0, ..Area::default() }, "published".into())),
        }
    }

    /// A bound of 100: less than it, exactly it, and one more.
    #[test]
    fn a_card_that_is_too_large_is_told_what_to_leave_out() {
        use Counted::{Exactly, Larger, Smaller};
        use Owner::{Block, Card, Units};
        let of = |lines| {
            areas(lines, vec![(Card, "the card", 1), (Units(0), "8 units", 8), (Block(0), "a block", 1)], 110.0)
        };
        assert_eq!(of(vec![(Units(0), 8, Some(12.0), Exactly), (Card, 1, Some(4.0), Larger)]).excess(), None);
        let text = of(vec![(Units(0), 8, Some(12.0), Exactly), (Card, 1, Some(5.0), Larger)]).excess().unwrap();
        assert!(text.contains("at least 101 block memories of 288 Kbit, and board has 100 beside corundum"), "{text}");
        assert!(text.contains("8 units take most, 96: with `count = 7` it has room"), "{text}");
        // Blocks that may be smaller than counted do not count, nor do blocks without a count.
        let not =
            vec![(Units(0), 8, Some(12.0), Exactly), (Card, 1, Some(50.0), Smaller), (Block(0), 1, None, Exactly)];
        assert_eq!(of(not).excess(), None);
        // 3 of the units' blocks are there once and stay.
        let text = of(vec![(Units(0), 8, Some(12.0), Exactly), (Units(0), 1, Some(29.0), Exactly)]).excess().unwrap();
        assert!(text.contains("`count = 5`"), "{text}");
        let text = of(vec![(Block(0), 1, Some(70.0), Exactly), (Card, 1, Some(31.5), Exactly)]).excess().unwrap();
        assert!(
            text.contains("at least 101.5") && text.contains("a block take most, 70: the rest has room without it"),
            "{text}"
        );
        let text = of(vec![(Block(0), 1, Some(110.0), Exactly), (Card, 1, Some(111.0), Exactly)]).excess().unwrap();
        assert!(text.contains("the card take most, 111: leaving them out is not enough"), "{text}");
    }

    /// The advice holds for all resources, not only for the one that is named.
    #[test]
    fn room_is_room_for_all_resources() {
        let parts =
            vec![(Owner::Card, "the card", 1), (Owner::Units(0), "8 units", 8), (Owner::Block(0), "a block", 1)];
        let of = |lut: f64| {
            let lines = vec![
                (Owner::Units(0), 8, Some(12.0), Counted::Exactly),
                (Owner::Card, 1, Some(25.0), Counted::Exactly),
            ];
            let mut areas = areas(lines, parts.clone(), 110.0);
            // UltraRAM is short by a fifth: two units are enough. Look-up tables are short by less, but units have few.
            areas.has = areas.has.map(|(device, has)| (device, Area { lut, ..has }));
            areas.excess().unwrap()
        };
        assert!(of(9.0).contains("288 Kbit") && of(9.0).contains("`count = 6`"), "{}", of(9.0));
        assert!(of(8.0).contains("288 Kbit") && of(8.0).contains("`count = 6`"), "{}", of(8.0));
        let mut few = areas(
            vec![(Owner::Units(0), 8, Some(12.0), Counted::Exactly), (Owner::Card, 1, Some(25.0), Counted::Exactly)],
            parts.clone(),
            110.0,
        );
        few.lines[1].area = few.lines[1].area.map(|area| Area { lut: 102.0, ..area });
        // 110 look-up tables of 106: each unit has one, so four must go.
        few.has = few.has.map(|(device, has)| (device, Area { lut: 106.0, ..has }));
        assert!(few.excess().unwrap().contains("`count = 4`"), "{few:?}");
        // 110 of 101: all eight units are not enough.
        few.has = few.has.map(|(device, has)| (device, Area { lut: 101.0, ..has }));
        assert!(few.excess().unwrap().contains("leaving them out is not enough"), "{few:?}");
        // A block that is enough for one resource, and not for the other
        let mut block = areas(
            vec![(Owner::Block(0), 1, Some(70.0), Counted::Exactly), (Owner::Card, 1, Some(60.0), Counted::Exactly)],
            parts,
            110.0,
        );
        assert!(block.excess().unwrap().contains("the rest has room without it"), "{block:?}");
        block.lines[1].area = block.lines[1].area.map(|area| Area { lut: 102.0, ..area });
        block.has = block.has.map(|(device, has)| (device, Area { lut: 100.0, ..has }));
        assert!(block.excess().unwrap().contains("leaving them out is not enough"), "{block:?}");
    }

    #[test]
    fn numbers_have_commas() {
        assert_eq!([0.0, 999.0, 1000.5, 1_234_567.0].map(number), ["0", "999", "1,000.5", "1,234,567"]);
    }
}
