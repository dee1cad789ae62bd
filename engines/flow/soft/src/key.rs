// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Keys of flows.
//!
//! A key is the number made of its fields, with the last field lowest, as words, lowest first. Bits between fields are
//! 0.

use penstock_flow_compiler::program::Key;
use penstock_headers::Field;

use crate::frame::{Frame, Known, Word};
use crate::table::Words;

/// The words to read of a frame, and their places in the key.
#[derive(Debug, Clone)]
pub(crate) struct Packing {
    pub key: Key,
    /// Lowest bits of the fields in the key.
    places: Box<[u32]>,
    /// The parts that a frame must have.
    parts: u32,
    /// Words for a frame whose source comes first, and for a frame whose destination does; without pairs they are
    /// equal.
    steps: [Box<[Step]>; 2],
    /// Words of sources and destinations, uppermost first.
    sides: Box<[(Word, Word)]>,
}

/// A word of the frame, and its place in the key: shifted right, then left, into a word of the key.
#[derive(Debug, Clone, Copy)]
struct Step {
    from: Word,
    word: u8,
    down: u8,
    up: u8,
    /// Number of its lowest bits that are swapped with as many bits above them.
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
    pub(crate) fn new(key: &Key, words: u32) -> Packing {
        let of = |place: usize| Word::of(key.fields[place]);
        let sides = key.pairs.iter().flat_map(|&(source, destination)| of(source).into_iter().zip(of(destination)));
        let places = places(&key.fields, words);
        let pieces = pieces(key, &places);
        Packing {
            parts: key.fields.iter().filter_map(|field| field.part()).fold(0, |parts, part| parts | 1 << part as u32),
            // Both orders have the same number of steps, so that the code selects one without a branch.
            steps: [false, true].map(|turned| steps(&pieces, turned)),
            sides: sides.collect(),
            key: key.clone(),
            places,
        }
    }

    /// The key of a frame; None if it lacks a field.
    #[inline]
    pub(crate) fn of_frame<const K: usize>(&self, frame: &Frame, known: &Known) -> Option<Words<K>> {
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

    /// Swaps the sides of values if needed, so that both directions have the same order.
    pub(crate) fn order(&self, values: &mut [u128]) {
        let first = self.key.pairs.iter().find(|(source, destination)| values[*source] != values[*destination]);
        if first.is_some_and(|(source, destination)| values[*source] > values[*destination]) {
            self.key.pairs.iter().for_each(|&(source, destination)| values.swap(source, destination));
        }
    }

    /// The key of these values.
    pub(crate) fn pack<const K: usize>(&self, values: &[u128]) -> Words<K> {
        let mut key = [0; K];
        for (at, value) in self.places.iter().zip(values) {
            for (word, from) in key.iter_mut().zip(0i64..) {
                *word |= shifted(*value, 64 * from - i64::from(*at)) as u64;
            }
        }
        key
    }

    /// The fields' values back from a key.
    pub(crate) fn unpack(&self, key: &[u64]) -> Vec<u128> {
        let value = |(at, field): (&u32, &Field)| {
            let words = key.iter().zip(0i64..);
            let value =
                words.fold(0, |value, (word, from)| value | shifted((*word).into(), i64::from(*at) - 64 * from));
            value & u128::MAX >> (128 - field.bits())
        };
        self.places.iter().zip(&self.key.fields).map(value).collect()
    }
}

/// The lowest bit of each field in a key of this number of words, from the last field on. Gaps keep each word of a
/// field within a word of the key. If there is no room for gaps, the fields are adjacent.
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

/// The number shifted right by a number of bits, or left by a negative one.
fn shifted(value: u128, down: i64) -> u128 {
    let by = down.unsigned_abs() as u32;
    if down < 0 { value.checked_shl(by) } else { value.checked_shr(by) }.unwrap_or(0)
}

/// Bits of a key that are read together.
#[derive(Clone, Copy)]
struct Piece {
    from: Word,
    /// The word to read if the sides are swapped.
    opposite: Word,
    /// If the word has both sides, the bits of each, which are swapped then.
    half: u32,
    /// Its place in the key.
    at: u32,
    bits: u32,
}

impl Piece {
    /// Both as one, if they also follow each other in the frame and have either no side or both sides.
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

/// The pieces in which a key is read.
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

/// The steps that read them, in one order or the other. A piece that crosses two words of the key is read twice.
fn steps(pieces: &[Piece], turned: bool) -> Box<[Step]> {
    let mut steps = Vec::new();
    for Piece { from, opposite, half, at, bits } in pieces.iter().copied() {
        let (word, up) = ((at / 64) as u8, (at % 64) as u8);
        let (from, half) = if turned { (opposite, half as u8) } else { (from, 0) };
        // Bits that do not fit into this word are shifted out of it.
        let first = Step { from, word, down: 0, up, half, ones: u64::MAX >> (64 - bits) };
        steps.push(first);
        if u32::from(up) + bits > 64 {
            steps.push(Step { word: word + 1, down: 64 - up, up: 0, ..first });
        }
    }
    steps.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame with two tags, IPv4 or IPv6, UDP and payload; all other bytes are random.
    fn frame(version: u8, random: &mut impl FnMut() -> u8) -> Frame {
        let mut bytes: Vec<u8> = (0..120).map(|_| random()).collect();
        bytes[12..14].copy_from_slice(&[0x88, 0xA8]);
        bytes[16..18].copy_from_slice(&[0x81, 0x00]);
        let l4 = if version == 4 {
            bytes[20..26].copy_from_slice(&[0x08, 0x00, 0x45, 0, 0, 98]);
            bytes[28..30].fill(0);
            bytes[31] = 17;
            42
        } else {
            bytes[20..23].copy_from_slice(&[0x86, 0xDD, 0x60]);
            bytes[26..29].copy_from_slice(&[0, 58, 17]);
            62
        };
        bytes[l4 + 4..l4 + 6].copy_from_slice(&[0, 58]);
        Frame { bytes, ..Frame::default() }
    }

    fn holds<const K: usize>(fields: &str, pairs: &[(usize, usize)], version: u8) {
        let fields: Vec<Field> = fields.split(' ').map(|name| Field::parse(name).unwrap()).collect();
        let packing = Packing::new(&Key { fields, pairs: pairs.to_vec() }, K as u32);
        let mut state = 1u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        let mut turned = 0;
        for _ in 0..100 {
            let frame = frame(version, &mut random);
            let mut known = Known::default();
            known.enter(&frame);
            known.meta[0] = u32::from_be_bytes([(); 4].map(|()| random()));
            let mut values: Vec<u128> = packing.key.fields.iter().map(|field| known.get(&frame, *field)).collect();
            let before = values.clone();
            packing.order(&mut values);
            turned += usize::from(values != before);
            let words: Words<K> = packing.of_frame(&frame, &known).unwrap();
            assert_eq!(words, packing.pack(&values), "{values:x?}");
            assert_eq!(packing.unpack(&words), values);
        }
        assert_eq!(turned > 20, !pairs.is_empty(), "{turned}");
    }

    #[test]
    fn a_frame_has_the_key_of_its_fields() {
        holds::<2>("ip.src", &[], 4);
        holds::<2>("ip.src ip.dst ip.proto l4.sport l4.dport", &[], 4);
        holds::<2>("ip.src ip.dst ip.proto l4.sport l4.dport", &[(0, 1), (3, 4)], 4);
        holds::<2>("ip.dst ip.src l4.dport ip.ttl l4.sport", &[(1, 0), (4, 2)], 4);
        holds::<2>("l4.sport ip.ttl l4.dport udp.len", &[(0, 2)], 4);
        holds::<2>("ip.src ip.dst ip.tos", &[], 4);
        holds::<2>("meta0 port ip.tos", &[], 4);
        holds::<2>("ip.src ip.dst ip.id eth.type", &[], 4);
        holds::<5>("ip6.src ip6.dst ip6.proto l4.sport l4.dport", &[(0, 1), (3, 4)], 6);
        holds::<5>("l4.sport ip6.dst l4.dport ip6.src", &[(0, 2), (3, 1)], 6);
    }

    #[test]
    fn what_has_no_room_lies_across_words() {
        holds::<2>("eth.src eth.dst ip.src", &[], 4);
        holds::<2>("eth.src eth.dst ip.tos ip.id", &[(0, 1)], 4);
        holds::<5>("eth.src ip6.src ip6.dst l4.sport", &[], 6);
        holds::<5>("vlan.id ip6.src vlan2.id ip6.dst", &[(1, 3)], 6);
    }
}
