// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Checksums as halfwords of the vector.

use super::vector::{Vector, too_much};
use super::words::{BITS, ChecksumRow, FLAGS, Piece, Predicate};
use crate::fault::Check;
use crate::ir::{Checksum, ChecksumData, Expr, ExprKind, FieldKind, HashAlgorithm, Program};

/// The row of at most one checksum.
pub(super) fn lower(program: &Program, vector: &mut Vector, sums: &[Checksum]) -> Check<Option<ChecksumRow>> {
    let [sum] = sums else {
        return match sums.get(1) {
            Some(second) => {
                Err(too_much(second.span, "a second checksum").help("the card verifies one and computes one"))
            }
            None => Ok(None),
        };
    };
    if sum.payload {
        return Err(too_much(sum.span, "a checksum over the payload"));
    }
    if sum.algorithm != HashAlgorithm::Csum16 {
        return Err(too_much(sum.span, "a checksum other than csum16"));
    }
    let predicate = predicate(vector, &sum.condition)?;
    let at = match vector.pieces(sum.field, sum.span)?[..] {
        [Piece { word, low, width: 16 }] if low % 16 == 0 => 2 * word + u32::from(low == 0),
        _ => return Err(too_much(sum.span, "a checksum in a field that is not half a vector word")),
    };
    let mut words = [0u32; 32];
    // Bits of the last 16-bit word of the data that are taken.
    let mut bits = 0;
    for part in &sum.data {
        match part {
            ChecksumData::Varbit(field) => {
                let place = match program.fields[*field].kind {
                    FieldKind::Header { instance, .. } => vector.headers.get(&instance).and_then(|place| place.varbit),
                    _ => None,
                };
                let (first, most) = place.ok_or_else(|| too_much(sum.span, "a varbit that is not parsed"))?;
                if bits != 0 {
                    return Err(too_much(sum.span, "a varbit in the middle of a 16-bit word of the checksum"));
                }
                (first..first + most).for_each(|word| words[word as usize] = u32::MAX);
            }
            ChecksumData::Value(value) => {
                for piece in value_pieces(program, vector, value)? {
                    // A piece counts as it should if its last bit has the same place in 16 bits in the vector and in
                    // the data.
                    bits = (bits + piece.width) % 16;
                    if (16 - bits) % 16 != piece.low % 16 {
                        return Err(too_much(
                            value.span,
                            "a value whose place in the checksum is not its place in the header",
                        ));
                    }
                    if words[piece.word as usize] & piece.mask() != 0 {
                        return Err(too_much(value.span, "a value that the checksum has twice"));
                    }
                    words[piece.word as usize] |= piece.mask();
                }
            }
        }
    }
    let mut halves = 0u64;
    for (index, word) in words.iter().enumerate() {
        for (half, mask) in [(0, 0xFFFF_0000), (1, 0x0000_FFFF)] {
            match word & mask {
                0 => {}
                some if some == mask => halves |= 1 << (2 * index + half),
                _ => {
                    return Err(too_much(sum.span, "a checksum over a part of a 16-bit word")
                        .help("name all fields of a header but the checksum, as it has them"));
                }
            }
        }
    }
    if halves >> at & 1 == 1 {
        return Err(too_much(sum.span, "a checksum over itself"));
    }
    Ok(Some(ChecksumRow { halves, predicate, at }))
}

/// The pieces of a field of a header.
fn value_pieces(program: &Program, vector: &mut Vector, value: &Expr) -> Check<Vec<Piece>> {
    if let ExprKind::Field(field) = value.kind
        && matches!(program.fields[field].kind, FieldKind::Header { .. })
    {
        return vector.pieces(field, value.span);
    }
    Err(too_much(value.span, "a checksum over a value that is not a field of a header"))
}

fn predicate(vector: &mut Vector, condition: &Expr) -> Check<Option<Predicate>> {
    if condition.value() == Some(1) {
        return Ok(None);
    }
    if let ExprKind::Field(field) = condition.kind
        && let [bit] = vector.pieces(field, condition.span)?[..]
        && matches!(bit.word, BITS | FLAGS)
    {
        return Ok(Some(Predicate { bit, value: true }));
    }
    Err(too_much(condition.span, "this condition of a checksum").help("ask whether one header is valid"))
}
