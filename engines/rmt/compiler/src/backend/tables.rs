// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Tables as the machine has them: words of keys, rows of actions, places of parameters.

use super::effects::Cells;
use super::pipeline::{Feature, Pipeline};
use super::steps::Step;
use super::units::{Drafts, Source};
use super::vector::too_much;
use super::words::{KeyRow, Piece, low_bits};
use crate::fault::Check;
use crate::ir::{ActionCall, ActionId, Entry, Match, MatchKind, PORT_ONWARD, Program, Table, TableId};

/// The kind of table that a stage searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// All keys are equal.
    Exact,
    /// The longest prefix.
    Prefix,
    /// Values under masks; of several entries that match the one with the highest priority.
    Ternary,
}

/// Bits of the cell of an entry's own counter and meter: one more than cells have, so that no cell is behind the end.
const CELL_BITS: u32 = 11;

/// A row of a ternary table: key words and their masks.
pub type Line = ([u32; 4], [u32; 4]);

/// Bits of a parameter in the words of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParamPlace {
    /// The parameter.
    pub param: usize,
    /// Lowest bit of the parameter.
    pub low: u32,
    /// Word of the entry's parameters, lowest bit there, bits.
    pub piece: Piece,
}

/// An action in a stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionCode {
    /// The action.
    pub action: ActionId,
    /// Its row in the stage.
    pub row: u32,
    /// Where its parameters are.
    pub params: Vec<ParamPlace>,
    /// Where the cell of the entry's own counter and meter is, in a table with a direct one.
    pub cell: Option<Piece>,
    /// Parameters that name a port: [`PORT_ONWARD`] is none that the machine knows there.
    pub ports: Vec<usize>,
    /// Its name, for messages.
    pub name: String,
}

/// Why the machine does not take an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// The ranges of an entry of a ternary table need too many rows; the rows that a stage has.
    #[error("the ranges of the entry take more than the {0} rows of a stage")]
    Rows(u32),
    /// The action is none of the table's.
    #[error("the table does not have this action")]
    Action,
    /// An argument sends frames onward; the action's name.
    #[error(
        "{0}: an entry cannot send frames onward ({PORT_ONWARD}) on a card in hardware: use an action that sets egress_spec to this constant"
    )]
    Onward(String),
}

/// A table in a stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableCode {
    /// The table.
    pub table: TableId,
    /// Its stage.
    pub stage: usize,
    /// How it is searched.
    pub kind: Kind,
    /// For each key its pieces: index of the word of the key, lowest bit there, bits; the upper bits first.
    pub keys: Vec<Vec<Piece>>,
    /// Its actions, in the order of the program's table.
    pub actions: Vec<ActionCode>,
    /// Its entries have priorities; else the longest prefix wins.
    pub priorities: bool,
    /// Rows that an entry of a ternary table may take.
    pub most_lines: u32,
}

impl TableCode {
    /// The words of an exact entry's key.
    #[must_use]
    pub fn key(&self, entry: &Entry) -> [u32; 4] {
        let mut words = [0; 4];
        for (pieces, key) in self.keys.iter().zip(&entry.keys) {
            let (Match::Exact(value) | Match::Lpm(value, _) | Match::Ternary(value, _) | Match::Range(value, _)) = *key;
            place(value, pieces, &mut words);
        }
        words
    }

    /// The prefix of an entry: its first value and its bits.
    #[must_use]
    pub fn prefix(&self, entry: &Entry) -> (u32, u32) {
        let ([Match::Lpm(value, length)], [pieces]) = (&entry.keys[..], &self.keys[..]) else { return (0, 0) };
        let mut words = [0; 4];
        place(*value, pieces, &mut words);
        // Bits of the word above the key are 0 in every frame.
        let above = pieces.first().map_or(0, |piece| 32 - piece.low - piece.width);
        (words[0], length + above)
    }

    /// The rows of an entry of a ternary table. A range takes as many as it has blocks of a power of two that begin at
    /// a multiple of their size.
    ///
    /// # Errors
    /// It takes more rows than a stage has.
    pub fn lines(&self, entry: &Entry) -> Result<Vec<Line>, EntryError> {
        let mut lines = vec![([0; 4], [0; 4])];
        for (pieces, key) in self.keys.iter().zip(&entry.keys) {
            let width = pieces.iter().map(|piece| piece.width).sum();
            let parts = match *key {
                Match::Exact(value) => vec![(value, mask(width))],
                Match::Lpm(value, length) => vec![(value, mask(width) & !mask(width.saturating_sub(length)))],
                Match::Ternary(value, mask) => vec![(value & mask, mask)],
                Match::Range(low, high) => blocks(low, high, width),
            };
            if lines.len() * parts.len() > self.most_lines as usize {
                return Err(EntryError::Rows(self.most_lines));
            }
            let with = |(values, masks): &Line, (value, mask): &(u128, u128)| {
                let mut line = (*values, *masks);
                place(*value, pieces, &mut line.0);
                place(*mask, pieces, &mut line.1);
                line
            };
            lines =
                lines.iter().flat_map(|line| parts.iter().map(|part| with(line, part)).collect::<Vec<_>>()).collect();
        }
        Ok(lines)
    }

    /// The rank among matching entries of a ternary table: the larger number wins.
    #[must_use]
    pub fn rank(&self, entry: &Entry) -> i32 {
        let length = |key: &Match| if let Match::Lpm(_, length) = key { *length } else { 0 };
        if self.priorities { entry.priority } else { entry.keys.iter().map(length).max().unwrap_or(0).cast_signed() }
    }

    /// Row and parameters of an action with its arguments. `cell` is that of the entry's own counter and meter, if it has some.
    ///
    /// # Errors
    /// The table does not have the action, or the machine cannot do it.
    pub fn call(&self, call: &ActionCall, cell: Option<u32>) -> Result<(u32, [u32; 4]), EntryError> {
        let Some(code) = self.actions.iter().find(|code| code.action == call.action) else {
            return Err(EntryError::Action);
        };
        if code.ports.iter().any(|port| call.args.get(*port) == Some(&PORT_ONWARD)) {
            return Err(EntryError::Onward(code.name.clone()));
        }
        let mut words = [0; 4];
        for place in &code.params {
            let value = call.args.get(place.param).copied().unwrap_or_default() >> place.low;
            words[place.piece.word as usize] |= (value as u32 & low_bits(place.piece.width)) << place.piece.low;
        }
        if let Some(place) = code.cell {
            words[place.word as usize] |= cell.unwrap_or(low_bits(CELL_BITS)) << place.low;
        }
        Ok((code.row, words))
    }
}

/// Puts a value into words, its pieces with the upper bits first.
fn place(value: u128, pieces: &[Piece], words: &mut [u32; 4]) {
    let mut low = 0;
    for piece in pieces.iter().rev() {
        words[piece.word as usize] |= ((value >> low) as u32 & low_bits(piece.width)) << piece.low;
        low += piece.width;
    }
}

/// The key of a table: the words of the row, and where each key is in them.
pub(super) fn keys(table: &Table, step: &Step, pipeline: &Pipeline) -> Check<(Kind, KeyRow, Vec<Vec<Piece>>)> {
    let mut row = KeyRow::default();
    let mut places = Vec::new();
    let mut pieces = step.keys.iter();
    for key in &table.keys {
        let (mut bits, mut own) = (0, Vec::new());
        while bits < key.width {
            let Some(piece) = pieces.next() else { break };
            bits += piece.width;
            let at = row.keys.iter().position(|(word, _)| *word == piece.word).unwrap_or_else(|| {
                row.keys.push((piece.word, 0));
                row.keys.len() - 1
            });
            // An entry may ask for other bits there in each key, which no row can say.
            if row.keys[at].1 & piece.mask() != 0 {
                let what = format!("`{}` has bits that another key of `{}` has, too", key.name, table.name);
                return Err(too_much(key.span, &what).help("copy one of the keys to a metadata field first"));
            }
            row.keys[at].1 |= piece.mask();
            own.push(Piece { word: at as u32, ..*piece });
        }
        if bits < key.width {
            return Err(too_much(key.span, &format!("`{}` has fewer bits on the card", key.name))
                .help("copy it to a metadata field first"));
        }
        places.push(own);
    }
    if row.keys.len() > 4 {
        return Err(too_much(
            table.span,
            &format!("the keys of `{}` lie in {} vector words, 4 are possible", table.name, row.keys.len()),
        ));
    }
    let kind = kind_of(table, &step.keys);
    row.table = match kind {
        Kind::Exact => 1,
        Kind::Prefix => 2,
        Kind::Ternary => 3,
    };
    let rows = if table.const_entries { table.entries.len() as u32 } else { table.size };
    let most = pipeline.rows();
    if kind == Kind::Ternary && rows > most {
        let what = format!("the ternary table `{}` has {rows} entries, a stage has {most} rows", table.name);
        return Err(too_much(table.span, &what).help(format!(
            "give it a `size` of at most {most}; a table of several keys, one of them lpm, is a ternary one, too"
        )));
    }
    Ok((kind, row, places))
}

impl Kind {
    /// The feature that a stage needs to search such a table.
    pub fn feature(self) -> Option<Feature> {
        match self {
            Self::Exact => None,
            Self::Prefix => Some(Feature::Prefixes),
            Self::Ternary => Some(Feature::Ternary),
        }
    }
}

/// How a table, whose key has these pieces, is searched.
pub(super) fn kind_of(table: &Table, key: &[Piece]) -> Kind {
    let lpm = table.keys.iter().any(|key| key.kind == MatchKind::Lpm);
    match (table.has_priorities(), lpm) {
        (false, false) => Kind::Exact,
        (false, true) if is_prefix(table, key) => Kind::Prefix,
        _ => Kind::Ternary,
    }
}

/// Whether a table, whose key has these pieces, is a tree of longest prefixes, which compares one word.
fn is_prefix(table: &Table, key: &[Piece]) -> bool {
    let one_word = key.iter().all(|piece| piece.word == key[0].word);
    !table.has_priorities() && matches!(&table.keys[..], [key] if key.kind == MatchKind::Lpm) && one_word
}

/// The lowest bits set.
fn mask(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

/// The fewest values under masks that are the numbers of a range.
fn blocks(low: u128, high: u128, width: u32) -> Vec<(u128, u128)> {
    let (mut at, mut made) = (low, Vec::new());
    while at <= high {
        // The largest block that begins here and ends in the range.
        let mut bits = at.trailing_zeros().min(width);
        while bits > 0 && at | mask(bits) > high {
            bits -= 1;
        }
        made.push((at, mask(width) & !mask(bits)));
        match (at | mask(bits)).checked_add(1) {
            Some(next) => at = next,
            None => break,
        }
    }
    made
}

/// Places of an action's parameters in the four words of an entry, and of the cell of the entry's own counter and meter.
pub(super) fn params(program: &Program, action: ActionId, drafts: &Drafts) -> Check<(Vec<ParamPlace>, Option<Piece>)> {
    let mut used: Vec<(usize, u32, u32)> = Vec::new();
    let mut note = |source: Source| {
        if let Source::Param(param, low, width) = source {
            used.push((param, low, width));
        }
    };
    for unit in &drafts.units {
        note(unit.a);
        note(unit.b);
    }
    if let Some(register) = &drafts.register {
        note(register.index);
        note(register.operand);
    }
    if let Some(index) = drafts.count.and_then(|count| count.index) {
        note(index);
    }
    let mut pieces: Vec<(usize, u32, u32)> = Vec::new();
    for (param, about) in program.actions[action].params.iter().enumerate() {
        let own: Vec<_> = used.iter().filter(|(of, ..)| *of == param).collect();
        if own.is_empty() {
            continue;
        }
        if about.width <= 32 && own.iter().all(|(_, low, _)| low.is_multiple_of(8)) {
            pieces.push((param, 0, about.width));
            continue;
        }
        let mut parts: Vec<(usize, u32, u32)> = own.into_iter().copied().collect();
        parts.sort_unstable();
        parts.dedup();
        pieces.extend(parts);
    }
    // The largest pieces first, each from a whole byte on, as operand B takes them, in the first word with room.
    pieces.sort_by_key(|(.., width)| std::cmp::Reverse(*width));
    let (mut taken, mut places) = ([0u32; 4], Vec::new());
    let mut place = |width: u32| -> Check<Piece> {
        let bits = width.next_multiple_of(8);
        let word = taken.iter().position(|taken| taken + bits <= 32).ok_or_else(|| {
            let about = &program.actions[action];
            too_much(about.span, &format!("the parameters of `{}` do not fit into four words of 32 bits", about.name))
        })?;
        taken[word] += bits;
        Ok(Piece { word: word as u32, low: taken[word] - bits, width })
    };
    for (param, low, width) in pieces {
        places.push(ParamPlace { param, low, piece: place(width)? });
    }
    let metered = drafts.register.is_some_and(|draft| matches!(draft.cells, Cells::EntryMeter(_)));
    let own = metered || drafts.count.is_some_and(|count| count.index.is_none());
    let cell = if own { Some(place(CELL_BITS)?) } else { None };
    Ok((places, cell))
}

/// Where bits of a parameter are in the four words.
pub(super) fn param_piece(places: &[ParamPlace], param: usize, low: u32, width: u32) -> Option<Piece> {
    let inside = |place: &&ParamPlace| {
        let above = low.checked_sub(place.low).filter(|above| above.is_multiple_of(8));
        place.param == param && above.is_some_and(|above| above + width <= place.piece.width)
    };
    let place = places.iter().find(inside)?;
    Some(Piece { word: place.piece.word, low: place.piece.low + low - place.low, width })
}
