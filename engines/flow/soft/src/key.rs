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
}

impl Packing {
    pub fn new(key: &Key) -> Packing {
        let mut turned = key.fields.clone();
        for &(source, destination) in &key.pairs {
            turned.swap(source, destination);
        }
        let words = |place: usize| Word::of(key.fields[place]);
        let sides =
            key.pairs.iter().flat_map(|&(source, destination)| words(source).into_iter().zip(words(destination)));
        Packing {
            key: key.clone(),
            parts: key.fields.iter().filter_map(|field| field.part()).fold(0, |parts, part| parts | 1 << part as u32),
            // Both orders have as many steps, so that which it is can be chosen without a jump; joined, they would differ.
            steps: [&key.fields, &turned].map(|fields| steps(fields, key.pairs.is_empty())),
            sides: sides.collect(),
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
            key[usize::from(step.word)] |= step.from.read(frame, known) >> step.down << step.up;
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
        for ((at, _), value) in places(&self.key.fields).zip(values.iter().rev()) {
            for (word, from) in key.iter_mut().zip(0i64..) {
                *word |= shifted(*value, 64 * from - i64::from(at)) as u64;
            }
        }
        key
    }

    /// The fields' values back from a key.
    pub fn unpack(&self, key: &[u64]) -> Vec<u128> {
        let value = |(at, bits): (u32, u32)| {
            let words = key.iter().zip(0i64..);
            let value = words.fold(0, |value, (word, from)| value | shifted((*word).into(), i64::from(at) - 64 * from));
            value & u128::MAX >> (128 - bits)
        };
        let mut values: Vec<u128> = places(&self.key.fields).map(value).collect();
        values.reverse();
        values
    }
}

/// From the last field to the first: its lowest bit in the key, and how many it has.
fn places(fields: &[Field]) -> impl Iterator<Item = (u32, u32)> {
    fields.iter().rev().scan(0, |end, field| {
        let at = *end;
        *end += field.bits();
        Some((at, field.bits()))
    })
}

/// The number moved down by so many bits, or up.
fn shifted(value: u128, down: i64) -> u128 {
    let by = down.unsigned_abs() as u32;
    if down < 0 { value.checked_shl(by) } else { value.checked_shr(by) }.unwrap_or(0)
}

/// How a key is read: fields that follow each other in the frame, too, as one if `join`, and what lies across two words of the key twice.
fn steps(fields: &[Field], join: bool) -> Box<[Step]> {
    let mut words: Vec<(Word, u32)> = Vec::new();
    for field in fields {
        for word in Word::of(*field) {
            match (words.last().copied(), word) {
                (Some((Word::Chunk(last), _)), Word::Chunk(next)) if join && last.join(next).is_some() => {
                    words.pop();
                    words.extend(last.join(next).map(|both| (Word::Chunk(both), both.bits())));
                }
                (_, Word::Chunk(chunk)) => words.push((word, chunk.bits())),
                _ => words.push((word, field.bits())),
            }
        }
    }
    let mut steps = Vec::new();
    let mut at = 0;
    for (from, bits) in words.into_iter().rev() {
        // What does not fit into this word is shifted out of it.
        let (word, up) = ((at / 64) as u8, (at % 64) as u8);
        steps.push(Step { from, word, down: 0, up });
        if u32::from(up) + bits > 64 {
            steps.push(Step { from, word: word + 1, down: 64 - up, up: 0 });
        }
        at += bits;
    }
    steps.into()
}
