// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Where an element's parts stand in hardware, in which each operand reaches some words only (tools/flow_choices.py), and only the first functions
//! shift, average and multiply.

use crate::choices;
use crate::edits::EditSource;
use crate::image::{ElementImage, Source, Word, Work};
use crate::limits;
use crate::matching::matching;

/// Numbers of hardware, by those of the image.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// Of operands.
    pub operands: Vec<u8>,
    /// Of functions.
    pub functions: Vec<u8>,
}

/// The number with which each operand of hardware chooses the word; 0 where it does not reach it.
pub(crate) fn choices_of(word: Word) -> &'static [u8; limits::OPERANDS] {
    &choices::OPERANDS[usize::from(word.field.word() + word.word)]
}

/// For each operand its number in hardware. An error has the first that finds no place behind those that stand in its way.
pub(crate) fn operands(words: &[Word]) -> Result<Vec<u8>, Vec<usize>> {
    let bits = |row: &[u8]| row.iter().enumerate().fold(0, |all, (at, choice)| all | u32::from(*choice != 0) << at);
    let reach: Vec<u32> = words.iter().map(|word| bits(choices_of(*word))).collect();
    Ok(matching(&reach)?.into_iter().map(|place| place as u8).collect())
}

/// For each function its number in hardware. An error has those that are too many, the first of them last.
pub(crate) fn functions(functions: &[Work]) -> Result<Vec<u8>, Vec<usize>> {
    let below = |count: usize| (1 << count) - 1;
    let most = |work: &Work| if work.is_full() { limits::FULL_FUNCTIONS } else { limits::FUNCTIONS };
    let reach: Vec<u32> = functions.iter().map(|work| below(most(work))).collect();
    Ok(matching(&reach)?.into_iter().map(|place| place as u8).collect())
}

impl ElementImage {
    /// The same with the numbers of hardware; the parts themselves stand in their order.
    pub(crate) fn in_places(&self) -> ElementImage {
        let mut image = self.clone();
        let operand = |at: &mut u8| *at = self.places.operands[usize::from(*at)];
        let source = |source: &mut Source| {
            if let Source::Operand(at) = source {
                operand(at);
            }
        };
        image.predicates.iter_mut().for_each(|one| operand(&mut one.operand));
        image.conditions.iter_mut().flat_map(|one| [&mut one.a, &mut one.b]).for_each(source);
        image.functions.iter_mut().flat_map(|one| [&mut one.a, &mut one.b]).for_each(source);
        let function = |at: &mut u8| *at = self.places.functions[usize::from(*at)];
        for row in &mut image.rows {
            source(&mut row.port);
            row.flow.iter_mut().chain(&mut row.globals).flatten().for_each(function);
            for write in &mut row.edits.writes {
                match &mut write.from {
                    EditSource::Operand(at) => operand(at),
                    EditSource::Function(at) => function(at),
                    EditSource::Constant(_) | EditSource::Register(_) => (),
                }
            }
        }
        image
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use penstock_headers::Field;

    use super::*;

    /// By Hall's theorem: no five operands, or fewer, are all that more words reach than they are.
    #[test]
    fn any_six_words_find_places() {
        let words = Field::ALL.iter().flat_map(|field| {
            (0..field.bits().div_ceil(32) as u8).map(|word| *choices_of(Word { field: *field, word }))
        });
        let rows: BTreeSet<_> = words.collect();
        let confined = |set: u32| rows.iter().filter(|row| (0..8).all(|at| row[at] == 0 || set >> at & 1 == 1)).count();
        for set in (0..255u32).filter(|set| set.count_ones() < 6) {
            assert!(confined(set) <= set.count_ones() as usize, "{set:#b}");
        }
    }
}
