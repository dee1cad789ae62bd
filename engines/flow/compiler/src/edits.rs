// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A row's edits as hardware executes them: all at once.
//!
//! Edits happen in their order, but they read the frame as it arrived. Their effect, apart from the values, is
//! therefore known in advance. The normal form has three steps, and each works on the result of the step before:
//!
//! 1. tags: VLAN tags of the frame are removed and new ones added in front, the MPLS label is removed, a new one is
//!    added;
//! 2. sources and destinations are swapped;
//! 3. words of fields are written at their new places: fields that were set, and the fields of pushed tags.
//!
//! Edits that a later edit undoes are left out.

use penstock_headers::Field;

use crate::facts::within;
use crate::image::{RowImage, Source, Word};
use crate::limits;
use crate::program::{Edit, Pair, Place, Tag, Value, Verdict};

/// The normal form of a row's edits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edits {
    /// VLAN tags of the frame that are removed, outermost first: 0 to 2.
    pub popped: u8,
    /// VLAN tags that are then added in front: 0 to 2. Their control information is written.
    pub pushed: u8,
    /// The frame's MPLS label is removed.
    pub label_out: bool,
    /// A label is added: traffic class 0, time to live of the packet as it arrived. The label itself is written.
    pub label_in: bool,
    /// Pairs that are swapped, each at most once.
    pub swaps: Vec<Pair>,
    /// Writes; each word is written once. `vlan.id` and `vlan.pcp` overlap a `vlan.tci`, as do those of `vlan2`; no
    /// other writes overlap.
    pub writes: Vec<Write>,
}

/// A write of a value's low bits to a word of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Write {
    /// Word of a field that may be set.
    pub to: Word,
    /// The value.
    pub from: EditSource,
}

/// The source of a write's 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditSource {
    /// A number.
    Constant(u32),
    /// Operand X, by its number.
    Operand(u8),
    /// A register as the row leaves it.
    Register(Place),
    /// The result of a function.
    Function(u8),
}

impl From<Source> for EditSource {
    fn from(source: Source) -> EditSource {
        match source {
            Source::Operand(at) => EditSource::Operand(at),
            Source::Register(place) => EditSource::Register(place),
            Source::Constant(value) => EditSource::Constant(value),
        }
    }
}

impl Edits {
    /// The normal form of edits that passed the checks. `source` gives the part of the element that holds a word of a
    /// value; word 0 is the lowest.
    pub(crate) fn new(edits: &[Edit], source: impl FnMut(Value, u8) -> EditSource) -> Edits {
        let mut after = After::default();
        for edit in edits {
            after.edit(edit);
        }
        after.edits(source)
    }
}

/// Fields and their new values. No field covers an earlier one.
type Sets = Vec<(Field, Value)>;

/// The frame after the edits so far.
struct After {
    /// VLAN tags, outermost last, each as the fields that are set in it, under the names of the outermost tag's fields.
    /// It starts with as many tags as a frame may have.
    tags: Vec<Sets>,
    /// Number of them that are the frame's own.
    own: usize,
    /// The fields that are set in the MPLS label.
    label: Sets,
    label_out: bool,
    label_in: bool,
    swaps: Vec<Pair>,
    /// All other fields.
    fields: Sets,
}

impl Default for After {
    fn default() -> After {
        After {
            tags: vec![Sets::new(); TAG_FIELDS.len()],
            own: TAG_FIELDS.len(),
            label: Sets::new(),
            label_out: false,
            label_in: false,
            swaps: vec![],
            fields: Sets::new(),
        }
    }
}

/// Fields of the VLAN tags, outermost first.
const TAG_FIELDS: [[Field; 3]; 2] =
    [[Field::VlanTci, Field::VlanId, Field::VlanPcp], [Field::Vlan2Tci, Field::Vlan2Id, Field::Vlan2Pcp]];

impl After {
    fn edit(&mut self, edit: &Edit) {
        match *edit {
            Edit::Set(field, value) => self.set(field, value),
            Edit::Push(Tag::Vlan, value) => self.tags.push(vec![(Field::VlanTci, value)]),
            Edit::Pop(Tag::Vlan) => {
                self.tags.pop();
                self.own = self.own.min(self.tags.len());
            }
            Edit::Push(Tag::Mpls, value) => {
                self.label_in = true;
                self.label = vec![(Field::MplsLabel, value)];
                // If the row sets the packet's time to live, the label gets the new one.
                let ttl = self.fields.iter().find(|(field, _)| matches!(field, Field::IpTtl | Field::Ip6Hops));
                self.label.extend(ttl.map(|(_, value)| (Field::MplsTtl, *value)));
            }
            Edit::Pop(Tag::Mpls) => {
                self.label.clear();
                self.label_out |= !self.label_in;
                self.label_in = false;
            }
            Edit::Swap(pair) => self.swaps.push(pair),
        }
    }

    fn set(&mut self, field: Field, value: Value) {
        let of_tag = TAG_FIELDS.iter().enumerate().find_map(|(behind, fields)| {
            let tag = self.tags.len().checked_sub(behind + 1)?;
            let at = fields.iter().position(|one| *one == field)?;
            Some((tag, TAG_FIELDS[0][at]))
        });
        let (sets, field) = match (of_tag, field) {
            (Some((tag, field)), _) => (&mut self.tags[tag], field),
            (None, Field::MplsLabel | Field::MplsTc | Field::MplsTtl) => (&mut self.label, field),
            (None, _) => (&mut self.fields, field),
        };
        sets.retain(|(other, _)| *other != field && within(*other).is_none_or(|(whole, _)| whole != field));
        sets.push((field, value));
    }

    fn edits(self, mut source: impl FnMut(Value, u8) -> EditSource) -> Edits {
        let of_tags = self.tags.iter().rev().zip(TAG_FIELDS).flat_map(|(sets, fields)| {
            sets.iter().filter_map(move |(field, value)| {
                let at = TAG_FIELDS[0].iter().position(|one| one == field)?;
                Some((fields[at], *value))
            })
        });
        let all = self.fields.iter().chain(&self.label).copied().chain(of_tags);
        let writes =
            all.flat_map(|(field, value)| (0..field.bits().div_ceil(32) as u8).map(move |word| (field, word, value)));
        Edits {
            popped: (TAG_FIELDS.len() - self.own) as u8,
            pushed: (self.tags.len() - self.own) as u8,
            label_out: self.label_out,
            label_in: self.label_in,
            writes: writes
                .map(|(field, word, value)| Write { to: Word { field, word }, from: source(value, word) })
                .collect(),
            swaps: self.swaps,
        }
    }
}

/// Words of 32 bits that a row's edits and verdict take in hardware.
pub const EDIT_WORDS: usize = 12;

/// Numbers of edit_pkg.sv.
mod code {
    pub(super) const RESULT: u32 = 0x00;
    pub(super) const OPERAND: u32 = 0x10;
    pub(super) const GLOBAL: u32 = 0x18;
    pub(super) const FLOW: u32 = 0x20;
    pub(super) const CONSTANT: u32 = 0x30;
    pub(super) const NO_SINK: u32 = 63;
    /// No element has this number: the frame leaves the block.
    pub(super) const NO_ELEMENT: u32 = 15;
    pub(super) const ONWARD: u32 = 0;
    pub(super) const PORT: u32 = 1;
    pub(super) const HOST: u32 = 2;
    pub(super) const DROP: u32 = 3;
}

impl RowImage {
    /// The row's effect on frames, as `edit_t` of edit_pkg.sv, lowest 32 bits first. From the lowest bit on:
    ///
    /// | bits | |
    /// |---|---|
    /// | 8 × 44 | writes: constant (32), source (6), sink (6; 63: none) |
    /// | 2, 2 | VLAN tags that are removed, and added |
    /// | 1, 1 | the label is removed, and added |
    /// | 4 × 1 | swaps: `eth`, `ip`, `ip6`, `l4` |
    /// | 8, 6 | the port: constant, source |
    /// | 1 | the port is the one beside the frame's own |
    /// | 2 | verdict: onward 0, port 1, host 2, drop 3 |
    /// | 4 | the next element; 15: none |
    pub fn edit_words(&self) -> [u32; EDIT_WORDS] {
        let mut bits = Bits::default();
        for at in 0..limits::WRITES {
            let write = self.edits.writes.get(at);
            let (from, constant) = write.map_or((0, 0), |write| number(write.from));
            bits.add(constant, 32);
            bits.add(from, 6);
            let sink = write.and_then(|Write { to, .. }| to.field.sink(to.word));
            bits.add(sink.map_or(code::NO_SINK, u32::from), 6);
        }
        bits.add(self.edits.popped.into(), 2);
        bits.add(self.edits.pushed.into(), 2);
        bits.add(self.edits.label_out.into(), 1);
        bits.add(self.edits.label_in.into(), 1);
        for pair in [Pair::Eth, Pair::Ip, Pair::Ip6, Pair::L4] {
            bits.add(self.edits.swaps.contains(&pair).into(), 1);
        }
        let (from, constant) = number(self.port.into());
        // Hardware has eight bits for a port; 255, which no card has, represents all larger numbers.
        bits.add(constant.min(0xFF), 8);
        bits.add(from, 6);
        let (opposite, kind, next) = match self.verdict {
            Verdict::Next(element) => (false, code::ONWARD, element as u32),
            Verdict::Port(_) => (false, code::PORT, code::NO_ELEMENT),
            Verdict::Opposite => (true, code::PORT, code::NO_ELEMENT),
            Verdict::Host => (false, code::HOST, code::NO_ELEMENT),
            Verdict::Drop => (false, code::DROP, code::NO_ELEMENT),
        };
        bits.add(opposite.into(), 1);
        bits.add(kind, 2);
        bits.add(next, 4);
        bits.words
    }
}

/// A source's number, and its constant if it is a constant.
fn number(source: EditSource) -> (u32, u32) {
    match source {
        EditSource::Constant(value) => (code::CONSTANT, value),
        EditSource::Operand(at) => (code::OPERAND + u32::from(at), 0),
        EditSource::Register(Place::Flow(at)) => (code::FLOW + u32::from(at), 0),
        EditSource::Register(Place::Global(at)) => (code::GLOBAL + u32::from(at), 0),
        EditSource::Function(at) => (code::RESULT + u32::from(at), 0),
    }
}

/// Words that are filled from their lowest bit.
#[derive(Default)]
struct Bits {
    words: [u32; EDIT_WORDS],
    filled: usize,
}

impl Bits {
    fn add(&mut self, value: u32, bits: usize) {
        let (word, shift) = (self.filled / 32, self.filled % 32);
        let value = u64::from(value) << shift;
        self.words[word] |= value as u32;
        if let Some(next) = self.words.get_mut(word + 1) {
            *next |= (value >> 32) as u32;
        }
        self.filled += bits;
    }
}
