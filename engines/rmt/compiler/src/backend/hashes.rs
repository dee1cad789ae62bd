// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Hashes of v1model. The key of a stage without a table is the data, and the key's CRC is a source of the stage's
//! units. The machine's CRC begins with 0 and ends without an exclusive or, so it is linear: the true one differs from
//! it by a constant, which the unit adds, and zeros in front of the data change nothing. Data of more than one key take
//! a stage for each key: the CRC so far goes into the first bytes of the next one.

use super::steps::{Item, Step};
use super::units::{Draft, Drafts, Source, Units};
use super::vector::too_much;
use super::words::{Op, Piece};
use crate::fault::Check;
use crate::ir::{BinaryOp, Expr, FieldId, HashAlgorithm};
use crate::source::Span;

/// Words of a stage's key.
const KEY_WORDS: usize = 4;

/// A CRC of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Crc {
    Crc32,
    Crc16,
}

impl Crc {
    /// Its bits.
    pub(super) fn width(self) -> u32 {
        if self == Self::Crc32 { 32 } else { 16 }
    }

    /// The true CRC of so many bytes is the machine's with this exclusive or.
    fn constant(self, bytes: usize) -> u32 {
        // The CRC of that many zeros.
        let step = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
        if self == Self::Crc32 { !(0..8 * bytes).fold(u32::MAX, step) } else { 0 }
    }
}

/// A CRC of data, whose value statements read as [`Self::field`].
#[derive(Debug, Clone)]
pub(super) struct HashUse {
    pub field: FieldId,
    pub crc: Crc,
    /// Values one after the other.
    pub data: Vec<Expr>,
    pub span: Span,
}

/// A value of a hash: an expression, or a CRC that is to be computed.
pub(super) enum Hashed {
    Value(Expr),
    Crc(Crc),
}

/// The hash of data by an algorithm.
pub(super) fn hashed(algorithm: HashAlgorithm, data: &[Expr], span: Span) -> Check<Hashed> {
    Ok(match algorithm {
        HashAlgorithm::Crc32 | HashAlgorithm::Crc32Custom => Hashed::Crc(Crc::Crc32),
        HashAlgorithm::Crc16 | HashAlgorithm::Crc16Custom => Hashed::Crc(Crc::Crc16),
        HashAlgorithm::Xor16 => {
            // An odd byte at the end is the upper one of its word.
            let mut data = bytes(data, span);
            if !bits(&data).is_multiple_of(16) {
                data.push(Expr::constant(0, 8, span));
            }
            let halves = chunks(&data, 16, span);
            let xor = |a: Expr, b: Expr| Expr::binary(BinaryOp::Xor, a, b, span);
            Hashed::Value(halves.into_iter().reduce(xor).unwrap_or_else(|| Expr::constant(0, 16, span)))
        }
        HashAlgorithm::Identity | HashAlgorithm::Csum16 | HashAlgorithm::Random => {
            return Err(too_much(span, "a hash by another algorithm than CRC-32, CRC-16 and xor16")
                .help("write HashAlgorithm.crc32, or run the program on `soft`"));
        }
    })
}

fn bits(data: &[Expr]) -> u32 {
    data.iter().map(|value| value.width).sum()
}

/// Data with zeros up to a whole byte.
fn bytes(data: &[Expr], span: Span) -> Vec<Expr> {
    let mut data = data.to_vec();
    let missing = bits(&data).next_multiple_of(8) - bits(&data);
    if missing > 0 {
        data.push(Expr::constant(0, missing, span));
    }
    data
}

/// Data as numbers of a width, the last of which ends with the data; zeros fill up the first one.
fn chunks(data: &[Expr], width: u32, span: Span) -> Vec<Expr> {
    let (mut made, mut chunk): (Vec<Expr>, Option<Expr>) = (Vec::new(), None);
    for value in data.iter().rev() {
        let mut low = 0;
        while low < value.width {
            let room = width - chunk.as_ref().map_or(0, |chunk| chunk.width);
            let taken = room.min(value.width - low);
            let part = value.clone().slice(low + taken - 1, low, span);
            let all = match chunk.take() {
                Some(below) => part.concat(below, span),
                None => part,
            };
            if taken == room {
                made.push(all)
            } else {
                chunk = Some(all)
            }
            low += taken;
        }
    }
    made.extend(chunk.map(|chunk| chunk.resize(width, false, span)));
    made.reverse();
    made
}

/// A CRC in the order in which the next bytes meet it.
fn in_front(state: &Expr, span: Span) -> Expr {
    let byte = |n: u32| {
        if 8 * n < state.width { state.clone().slice(8 * n + 7, 8 * n, span) } else { Expr::constant(0, 8, span) }
    };
    (1..4).fold(byte(0), |all, n| all.concat(byte(n), span))
}

impl Units<'_, '_> {
    /// Computes a CRC in stages in front, into a temporary.
    pub(super) fn hash(&mut self, of: &HashUse) -> Check<()> {
        let (span, width) = (of.span, of.crc.width());
        let data = bytes(&of.data, span);
        let words = chunks(&data, 32, span);
        let to = self.vector.lend(width, true, span)?;
        self.vector.name(of.field, to);
        let (lent, known) = (self.vector.lent(), self.known.len());
        let (first, rest) = words.split_at(words.len() - words.len().saturating_sub(1) / KEY_WORDS * KEY_WORDS);
        let keys: Vec<&[Expr]> = [first].into_iter().chain(rest.chunks(KEY_WORDS)).collect();
        for (index, key) in keys.iter().enumerate() {
            let mut key = key.to_vec();
            if index > 0 {
                let state = in_front(&Expr::field(of.field, width, span), span);
                key[0] = Expr::binary(BinaryOp::Xor, key[0].clone(), state, span);
            }
            let mut pieces = vec![Piece { word: 0, low: 0, width: 0 }; KEY_WORDS - key.len()];
            for word in &key {
                pieces.push(self.word(word)?);
            }
            let last = index + 1 == keys.len();
            let constant = Source::Const(if last { of.crc.constant(bits(&data) as usize / 8) } else { 0 });
            let unit = Draft { op: Op::Xor, to, predicate: None, a: Source::Hash(of.crc), b: constant, span };
            let open = vec![(None, Drafts { units: vec![unit], ..Drafts::default() })];
            let closed = Drafts::default();
            self.before.push(Item::Step(Box::new(Step {
                gate: Vec::new(),
                table: None,
                open,
                closed,
                keys: pieces,
                span,
            })));
            // The next step may overwrite what this one has read, and it overwrites the CRC. A single step leaves its words
            // to other hashes of the same data.
            if keys.len() > 1 {
                self.vector.release_since(lent);
                self.known.truncate(known);
            }
        }
        Ok(())
    }

    /// A word of a key: where it lies, if nothing is below it in its vector word, or else a temporary.
    fn word(&mut self, word: &Expr) -> Check<Piece> {
        match self.operand(word)? {
            Source::Piece(piece) if piece.low == 0 => Ok(piece),
            Source::Const(0) => Ok(Piece { word: 0, low: 0, width: 0 }),
            _ => self.materialise(word),
        }
    }
}
