// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Keys of flows.
//!
//! A key is the number that the bits of its fields make, one field behind the other, in words of which the first is the lowest.

use penstock_flow_compiler::program::Key;
use penstock_headers::Field;

use crate::frame::{Frame, Known, Word};
use crate::table::Words;

/// What to read of a frame, and how it becomes a key.
#[derive(Debug, Clone)]
pub struct Packing {
    pub key: Key,
    /// Lowest bits of the fields in the key.
    places: Box<[u32]>,
    /// The parts that a frame must have.
    parts: u32,
    /// What is read of a frame whose source comes first, and of one whose destination does: the same without pairs.
    steps: [Box<[Step]>; 2],
    /// Words of sources and destinations, the uppermost first.
    sides: Box<[(Word, Word)]>,
}

/// A word of the frame, and where in the key it comes: moved down, then up, into a word of that.
#[derive(Debug, Clone, Copy)]
struct Step {
    from: Word,
    word: u8,
    down: u8,
    up: u8,
    /// So many bits at its lower end change places with as many above them.
    half: u8,
    ones: u64,
}

impl Step {
    #[inline]
    fn read(&self, frame: &Frame, known: &Known) -> u64 {
        let read = self.from.read(frame, known);
        (read >> self.half | read << self.half) & self.ones
    }
}

impl Packing {
    pub fn new(key: &Key, words: u32) -> Packing {
        let of = |place: usize| Word::of(key.fields[place]);
        let sides = key.pairs.iter().flat_map(|&(source, destination)| of(source).into_iter().zip(of(destination)));
        let places = places(&key.fields, words);
        let pieces = pieces(key, &places);
        Packing {
            parts: key.fields.iter().filter_map(|field| field.part()).fold(0, |parts, part| parts | 1 << part as u32),
            // Both orders have as many steps, so that which it is can be chosen without a jump.
            steps: [false, true].map(|turned| steps(&pieces, turned)),
            sides: sides.collect(),
            key: key.clone(),
            places,
        }
    }

    /// The key of a frame; none when it lacks a field.
    #[inline]
    pub fn of_frame<const K: usize>(&self, frame: &Frame, known: &Known) -> Option<Words<K>> {
        if known.headers.parts() & self.parts != self.parts {
            return None;
        }
        let mut key = [0; K];
        for step in &self.steps[usize::from(self.is_turned(frame, known))] {
            key[usize::from(step.word)] |= step.read(frame, known) >> step.down << step.up;
        }
        Some(key)
    }

    /// Whether the destination comes first.
    #[inline]
    fn is_turned(&self, frame: &Frame, known: &Known) -> bool {
        for (source, destination) in &self.sides {
            let (source, destination) = (source.read(frame, known), destination.read(frame, known));
            if source != destination {
                return source > destination;
            }
        }
        false
    }

    /// Puts the sides of values into the order in which both directions have them.
    pub fn order(&self, values: &mut [u128]) {
        let first = self.key.pairs.iter().find(|(source, destination)| values[*source] != values[*destination]);
        if first.is_some_and(|(source, destination)| values[*source] > values[*destination]) {
            self.key.pairs.iter().for_each(|&(source, destination)| values.swap(source, destination));
        }
    }

    /// The key of these values.
    pub fn pack<const K: usize>(&self, values: &[u128]) -> Words<K> {
        let mut key = [0; K];
        for (at, value) in self.places.iter().zip(values) {
            for (word, from) in key.iter_mut().zip(0i64..) {
                *word |= shifted(*value, 64 * from - i64::from(*at)) as u64;
            }
        }
        key
    }

    /// The fields' values back from a key.
    pub fn unpack(&self, key: &[u64]) -> Vec<u128> {
        let value = |(at, field): (&u32, &Field)| {
            let words = key.iter().zip(0i64..);
            let value =
                words.fold(0, |value, (word, from)| value | shifted((*word).into(), i64::from(*at) - 64 * from));
            value & u128::MAX >> (128 - field.bits())
        };
        self.places.iter().zip(&self.key.fields).map(value).collect()
    }
}

/// The lowest bit of each field in a key of so many words: the last field comes first. Where there is room for that, none lies across two words of the key
/// that has less than two.
fn places(fields: &[Field], words: u32) -> Box<[u32]> {
    let place = |apart: bool| {
        let mut end = 0u32;
        let places = fields.iter().rev().map(|field| {
            let bits = field.bits();
            if apart && end % 64 + bits.min(64) > 64 {
                end = end.next_multiple_of(64);
            }
            end += bits;
            end - bits
        });
        let mut places: Vec<u32> = places.collect();
        places.reverse();
        (end <= 64 * words).then_some(places.into())
    };
    place(true).or_else(|| place(false)).unwrap_or_default()
}

/// The number moved down by so many bits, or up.
fn shifted(value: u128, down: i64) -> u128 {
    let by = down.unsigned_abs() as u32;
    if down < 0 { value.checked_shl(by) } else { value.checked_shr(by) }.unwrap_or(0)
}

/// Bits of a key that are read as one.
#[derive(Clone, Copy)]
struct Piece {
    from: Word,
    /// What is read instead when sides have changed places.
    opposite: Word,
    /// Of both sides in one the bits of each, which change places then.
    half: u32,
    /// Where it comes in the key.
    at: u32,
    bits: u32,
}

impl Piece {
    /// Both as one, when they follow each other in the frame, too, and no side or both sides are in them.
    fn join(&self, next: &Piece) -> Option<Piece> {
        let is_alone = |piece: &Piece| piece.from == piece.opposite;
        let half = match next.half + self.half {
            0 if is_alone(self) && is_alone(next) => 0,
            0 if self.from == next.opposite && next.from == self.opposite => next.bits,
            _ => return None,
        };
        let from = self.from.join(next.from).filter(|_| self.at == next.at + next.bits)?;
        Some(Piece { from, opposite: from, half, at: next.at, bits: self.bits + next.bits })
    }
}

/// What a key is read in.
fn pieces(key: &Key, places: &[u32]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for (field, place) in places.iter().enumerate() {
        let other = key.pairs.iter().find_map(|&(source, destination)| match field {
            _ if field == source => Some(destination),
            _ if field == destination => Some(source),
            _ => None,
        });
        let words = Word::of(key.fields[field]);
        let bits = key.fields[field].bits() / words.len() as u32;
        let mut at = place + key.fields[field].bits();
        for (from, opposite) in words.into_iter().zip(Word::of(key.fields[other.unwrap_or(field)])) {
            at -= bits;
            let piece = Piece { from, opposite, half: 0, at, bits };
            let joined = pieces.last().and_then(|last| last.join(&piece));
            pieces.truncate(pieces.len() - usize::from(joined.is_some()));
            pieces.push(joined.unwrap_or(piece));
        }
    }
    pieces
}

/// How they are read, in one order or the other: what lies across two words of the key twice.
fn steps(pieces: &[Piece], turned: bool) -> Box<[Step]> {
    let mut steps = Vec::new();
    for Piece { from, opposite, half, at, bits } in pieces.iter().copied() {
        let (word, up) = ((at / 64) as u8, (at % 64) as u8);
        let (from, half) = if turned { (opposite, half as u8) } else { (from, 0) };
        // What does not fit into this word is shifted out of it.
        let first = Step { from, word, down: 0, up, half, ones: u64::MAX >> (64 - bits) };
        steps.push(first);
        if u32::from(up) + bits > 64 {
            steps.push(Step { word: word + 1, down: 64 - up, up: 0, ..first });
        }
    }
    steps.into()
}
