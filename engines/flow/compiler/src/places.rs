// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Places of an element's parts in hardware. Each operand of hardware reaches only some words (generate_choices.py).
//! Only the first functions can shift, average and multiply; the others read half of the operands and of the global
//! registers on each side.

use crate::choices;
use crate::edits::EditSource;
use crate::image::{ElementImage, Source, Word, Work};
use crate::limits;
use crate::matching::matching;
use crate::program::Place;

/// Numbers in hardware, by the numbers of the image.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// Places of operands.
    pub operands: Vec<u8>,
    /// Places of functions.
    pub functions: Vec<u8>,
}

/// For each operand of hardware, the number with which it selects the word; 0 if it cannot.
pub(crate) fn choices_of(word: Word) -> &'static [u8; limits::OPERANDS] {
    &choices::OPERANDS[usize::from(word.field.word() + word.word)]
}

/// The part that finds no place, by its number in the image.
pub(crate) enum Stuck {
    /// The last of these operands, because the others block it.
    Operands(Vec<usize>),
    /// A function.
    Function(usize),
}

/// Finds places for operands and functions. Operands get places in the half where functions read them.
pub(crate) fn place(words: &[Word], functions: &[Work]) -> Result<Places, Stuck> {
    let bits = |row: &[u8]| row.iter().enumerate().fold(0, |all, (at, choice)| all | u32::from(*choice != 0) << at);
    let reach: Vec<u32> = words.iter().map(|word| bits(choices_of(*word))).collect();
    matching(&reach).map_err(Stuck::Operands)?;
    let found = |functions: &[Work]| {
        (0..1usize << words.len()).find_map(|upper| {
            let half = |at: usize| if upper >> at & 1 == 1 { 0xF0 } else { 0x0F };
            let split: Vec<u32> = reach.iter().enumerate().map(|(at, reach)| reach & half(at)).collect();
            let operands: Vec<u8> = matching(&split).ok()?.into_iter().map(|place| place as u8).collect();
            let reach: Vec<u32> = functions.iter().map(|work| functions_for(&work.with(&operands))).collect();
            let functions = matching(&reach).ok()?.into_iter().map(|place| place as u8).collect();
            Some(Places { operands, functions })
        })
    };
    found(functions).ok_or_else(|| {
        let fewest = (1..functions.len()).find(|count| found(&functions[..*count]).is_none());
        Stuck::Function(fewest.unwrap_or(functions.len()) - 1)
    })
}

/// The functions of hardware that can compute this function. Its operands already have numbers of hardware.
fn functions_for(work: &Work) -> u32 {
    let count = if work.is_full() { limits::FULL_FUNCTIONS } else { limits::FUNCTIONS };
    let fits = |at: &usize| reads(*at, work.a, work.b) || (work.turns() && reads(*at, work.b, work.a));
    (0..count).filter(fits).fold(0, |all, at| all | 1 << at)
}

/// Whether a function of hardware reads these sources. The first functions read all. The others read half of the
/// operands and global registers: numbers from 4 on the left side if the function's number is odd, and on the right
/// side if its second bit is 1, otherwise numbers below 4.
pub(crate) fn reads(function: usize, a: Source, b: Source) -> bool {
    let side = |source: Source, upper: usize| match source {
        Source::Operand(at) | Source::Register(Place::Global(at)) => usize::from(at) / 4 == upper,
        Source::Register(Place::Flow(_)) | Source::Constant(_) => true,
    };
    function < limits::FULL_FUNCTIONS || (side(a, function & 1) && side(b, function >> 1 & 1))
}

impl Work {
    /// The same source with the operands renumbered.
    fn with(self, operands: &[u8]) -> Work {
        let number = |source| match source {
            Source::Operand(at) => Source::Operand(operands[usize::from(at)]),
            other => other,
        };
        Work { a: number(self.a), b: number(self.b), ..self }
    }
}

impl ElementImage {
    /// The element with the numbers of hardware. The parts keep their order.
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
        image.functions.iter_mut().for_each(|work| *work = work.with(&self.places.operands));
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

    /// By Hall's theorem: no five or fewer operands are the only ones that a larger number of words reaches.
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
