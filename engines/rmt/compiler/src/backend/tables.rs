// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Tables as the machine has them: words of keys, rows of actions, places of parameters.

use super::steps::Step;
use super::units::{Drafts, Source};
use super::vector::too_much;
use super::words::{KeyRow, PARAMS, Piece, low_bits};
use crate::fault::Check;
use crate::ir::{ActionCall, ActionId, Entry, Match, MatchKind, PORT_ONWARD, Program, Table, TableId};

/// What kind of table a stage searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// All keys are equal.
    Exact,
    /// The longest prefix.
    Prefix,
}

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
    /// Parameters that name a port: [`PORT_ONWARD`] is none that the machine knows there.
    pub ports: Vec<usize>,
    /// Its name, for messages.
    pub name: String,
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

    /// Row and parameters of an action with its arguments.
    ///
    /// # Errors
    /// The machine cannot do it; a sentence.
    pub fn call(&self, call: &ActionCall) -> Result<(u32, [u32; 4]), String> {
        let Some(code) = self.actions.iter().find(|code| code.action == call.action) else {
            return Err("the table does not have this action".to_owned());
        };
        if code.ports.iter().any(|port| call.args.get(*port) == Some(&PORT_ONWARD)) {
            return Err(format!(
                "{}: an entry cannot send frames onward ({PORT_ONWARD}) on a card in hardware: use an action that sets egress_spec to this constant",
                code.name
            ));
        }
        let mut words = [0; 4];
        for place in &code.params {
            let value = call.args.get(place.param).copied().unwrap_or_default() >> place.low;
            words[place.piece.word as usize] |= (value as u32 & low_bits(place.piece.width)) << place.piece.low;
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
pub fn keys(table: &Table, step: &Step) -> Check<(Kind, KeyRow, Vec<Vec<Piece>>)> {
    let mut row = KeyRow::default();
    let mut places = Vec::new();
    let mut pieces = step.keys.iter();
    let mut kind = Kind::Exact;
    for key in &table.keys {
        match key.kind {
            MatchKind::Exact => {}
            MatchKind::Lpm => kind = Kind::Prefix,
            MatchKind::Ternary | MatchKind::Range | MatchKind::Optional => {
                let name = format!("{:?}", key.kind).to_lowercase();
                return Err(too_much(key.span, &format!("keys of kind `{name}`"))
                    .help("the card has exact and lpm tables so far"));
            }
        }
        let (mut bits, mut own) = (0, Vec::new());
        while bits < key.width {
            let Some(piece) = pieces.next() else { break };
            bits += piece.width;
            let at = row.keys.iter().position(|(word, _)| *word == piece.word).unwrap_or_else(|| {
                row.keys.push((piece.word, 0));
                row.keys.len() - 1
            });
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
    if kind == Kind::Prefix && (table.keys.len() > 1 || row.keys.len() > 1) {
        return Err(too_much(table.span, "an lpm table has one key of at most 32 bits, in one vector word"));
    }
    row.table = if kind == Kind::Exact { 1 } else { 2 };
    Ok((kind, row, places))
}

/// Places of an action's parameters in the four words of an entry.
pub fn params(program: &Program, action: ActionId, drafts: &Drafts) -> Check<Vec<ParamPlace>> {
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
    let mut pieces: Vec<(usize, u32, u32)> = Vec::new();
    for (param, about) in program.actions[action].params.iter().enumerate() {
        let own: Vec<_> = used.iter().filter(|(of, ..)| *of == param).collect();
        if own.is_empty() {
            continue;
        }
        if about.width <= 32 {
            pieces.push((param, 0, about.width));
            continue;
        }
        let mut edges: Vec<u32> = own.iter().flat_map(|(_, low, width)| [*low, low + width]).collect();
        edges.sort_unstable();
        edges.dedup();
        pieces.extend(edges.windows(2).map(|edge| (param, edge[0], edge[1] - edge[0])));
    }
    // The largest pieces first, each into the first word with room.
    pieces.sort_by_key(|(.., width)| std::cmp::Reverse(*width));
    let (mut taken, mut places) = ([0u32; 4], Vec::new());
    for (param, low, width) in pieces {
        let word = taken.iter().position(|taken| taken + width <= 32).ok_or_else(|| {
            let about = &program.actions[action];
            too_much(about.span, &format!("the parameters of `{}` do not fit into four words of 32 bits", about.name))
        })?;
        places.push(ParamPlace { param, low, piece: Piece { word: word as u32, low: taken[word], width } });
        taken[word] += width;
    }
    Ok(places)
}

/// Where bits of a parameter are, as a source of the machine.
pub fn param_piece(places: &[ParamPlace], param: usize, low: u32, width: u32) -> Option<Piece> {
    let inside =
        |place: &&ParamPlace| place.param == param && place.low <= low && low + width <= place.low + place.piece.width;
    let place = places.iter().find(inside)?;
    Some(Piece { word: PARAMS + place.piece.word, low: place.piece.low + low - place.low, width })
}
