// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A program as words for elements of hardware: for each row its edits ([`RowImage::edit_words`]) and its choice, then
//! `program_t` of engines/flow/rtl/flow_pkg.sv. The order and widths of the choice and of `program_t` are those of that
//! file.
//!
//! A packed struct has its first member topmost, an array its last; words are sent lowest first. Unused parts are 0,
//! which has no effect.

use penstock_headers::{Field, PARTS};

use crate::edits::EDIT_WORDS;
use crate::fault::Fault;
use crate::image::{Bits, Condition, ElementImage, Image, Predicate, RowImage, Source, Work};
use crate::key::{HALVES, Layout, PAIRS};
use crate::limits;
use crate::places::{choices_of, reads};
use crate::program::{Compare, Element, Evict, Key, Next, Operation, Place, Program, Row, Timeout};

/// Pairs of fields that decide which side comes first.
const ORDER: usize = 3;

// Widths.
/// An address in a way of the largest table.
const PLACE: usize = 18;
/// One of the words that a half of the key, or an operand, reaches.
const CHOICE_NUMBER: usize = 6;
const STATE: usize = 8;
const OPERAND: usize = 3;
const PERIOD_NUMBER: usize = 3;
const FUNCTION_NUMBER: usize = 4;
const SOURCE: usize = 2 + 3;
const PERIOD: usize = 1 + STATE + 32;
const PREDICATE: usize = 2 + OPERAND + 32 + 32;
const CONDITION: usize = 2 + 2 * SOURCE + 32;
const FUNCTION: usize = 4 + 2 * SOURCE + 5 + 32;
const MATCH: usize = 2 + STATE + 2 * (limits::PREDICATES + PARTS + limits::CONDITIONS) + 4;
const CHOICE: usize =
    (limits::REGISTERS + limits::GLOBALS) * (1 + FUNCTION_NUMBER) + 2 + STATE + 2 * (1 + PERIOD_NUMBER) + 2;

/// The words of all elements, with tables of `contexts` contexts and these timeouts ([`timeouts`]).
pub(crate) fn words(
    program: &Program,
    image: &Image,
    contexts: u32,
    timeouts: &[Vec<Timeout>],
) -> Result<Vec<Vec<u32>>, Vec<Fault>> {
    let mut faults = Vec::new();
    for element in program.elements.iter().filter(|element| element.key.is_some()) {
        if let Some(capacity) = element.capacity.filter(|capacity| *capacity > contexts) {
            let message = format!(
                "the table of element `{}` has {capacity} contexts, and those of this hardware hold {contexts}; make \
                 it smaller, or run the \
                 program in native code",
                element.name
            );
            faults.push(Fault::new(element.span, message));
        }
    }
    let each = program.elements.iter().zip(&image.elements).zip(timeouts);
    let words = each.map(|((element, image), timeouts)| element_words(element, image, timeouts, &mut faults)).collect();
    if faults.is_empty() { Ok(words) } else { Err(faults) }
}

fn element_words(element: &Element, image: &ElementImage, timeouts: &[Timeout], faults: &mut Vec<Fault>) -> Vec<u32> {
    faults.extend(too_many(element, timeouts));
    let periods = &timeouts[..timeouts.len().min(limits::PERIODS)];
    let image = &image.in_places();
    let mut operands = [0; limits::OPERANDS];
    for (word, place) in image.operands.iter().zip(&image.places.operands) {
        operands[usize::from(*place)] = choices_of(*word)[usize::from(*place)];
    }
    let mut functions = [None; limits::FUNCTIONS];
    for (work, place) in image.functions.iter().zip(&image.places.functions) {
        let turned = !reads((*place).into(), work.a, work.b);
        functions[usize::from(*place)] = Some(if turned { Work { a: work.b, b: work.a, ..*work } } else { *work });
    }
    let mut to = Packed::default();
    to.flag(element.key.is_some());
    to.flag(image.serial);
    to.flag(element.evict.is_some());
    to.flag(element.evict == Some(Evict::Highest));
    to.put(places(element.capacity), PLACE);
    key(&mut to, element, faults);
    to.array(limits::OPERANDS, CHOICE_NUMBER, &operands, |to, choice| to.put((*choice).into(), CHOICE_NUMBER));
    // Without a number, the table has the element's maximum.
    to.put(element.capacity.unwrap_or(u32::MAX), 32);
    for (count, registers) in [(limits::REGISTERS, &element.registers), (limits::GLOBALS, &element.globals)] {
        to.array(count, 32, registers, |to, register| to.put(register.initial, 32));
    }
    to.array(limits::PERIODS, PERIOD, periods, |to, period| {
        to.option(period.then.map(u32::from), STATE);
        to.put(period.micros, 32);
    });
    to.array(limits::PREDICATES, PREDICATE, &image.predicates, predicate);
    to.array(limits::CONDITIONS, CONDITION, &image.conditions, condition);
    to.array(limits::FUNCTIONS, FUNCTION, &functions, function);
    to.array(limits::ROWS, MATCH, &image.rows, matched);
    let does = |row: &RowImage| row.edit_words().into_iter().chain(choice(row, periods).words());
    let mut words: Vec<u32> = image.rows.iter().flat_map(does).collect();
    words.resize(limits::ROWS * (EDIT_WORDS + CHOICE.div_ceil(32)), 0);
    words.extend(to.words());
    words
}

/// The bits of an address that are used in each of the four ways. In a table that is entirely full, the rule of `evict`
/// decides which context is evicted, so a table of up to four contexts has one place in each way. A larger table is at
/// most 97 % full.
fn places(capacity: Option<u32>) -> u32 {
    let places = match capacity {
        Some(..=4) => 1,
        Some(capacity) => (u64::from(capacity) * 100).div_ceil(4 * 97).next_power_of_two() as u32,
        None => 1 << PLACE,
    };
    (places - 1) & ((1 << PLACE) - 1)
}

/// The different timeouts of an element: first those of the old program, because contexts name them by number, then
/// those of its own rows.
pub(crate) fn timeouts(element: &Element, before: &[Timeout]) -> Vec<Timeout> {
    let mut timeouts = before.to_vec();
    for timeout in element.rows.iter().flat_map(timeouts_of) {
        if !timeouts.contains(&timeout) {
            timeouts.push(timeout);
        }
    }
    timeouts
}

fn timeouts_of(row: &Row) -> impl Iterator<Item = Timeout> + use<> {
    let (hard, idle) = match row.next {
        Next::State { hard, idle, .. } => (hard, idle),
        Next::Same | Next::Forget => (None, None),
    };
    hard.into_iter().chain(idle)
}

/// Reports the first row whose timeout is beyond the limit.
pub(crate) fn too_many(element: &Element, timeouts: &[Timeout]) -> Option<Fault> {
    let without_place = timeouts.get(limits::PERIODS..).filter(|rest| !rest.is_empty())?;
    let row = element.rows.iter().find(|row| timeouts_of(row).any(|timeout| without_place.contains(&timeout)));
    let way_out = if self::timeouts(element, &[]).len() > limits::PERIODS {
        "make some of them the same"
    } else {
        "they include timeouts of the program before, because contexts may still have them; load the program anew, or \
         make some of them the same"
    };
    let message = format!(
        "element `{}` has {} different timeouts, with the states that they lead to, {} at most in hardware; this is \
         the first row with a timeout beyond that; {way_out}",
        element.name,
        timeouts.len(),
        limits::PERIODS
    );
    Some(Fault::new(row.map_or(element.span, |row| row.span), message))
}

fn key(to: &mut Packed, element: &Element, faults: &mut Vec<Fault>) {
    let none = Key { fields: vec![], pairs: vec![] };
    let key = element.key.as_ref().unwrap_or(&none);
    let layout = match Layout::new(key) {
        Ok(layout) => layout,
        Err(message) => return faults.push(Fault::new(element.span, message)),
    };
    let parts = key.fields.iter().filter_map(|field| field.part());
    to.put(parts.fold(0, |parts, part| parts | 1 << part as u32), PARTS);
    to.put(layout.swap, PAIRS);
    // Comparing a pair twice decides nothing, so the first pair fills the list.
    let mut order: Vec<u32> = Vec::new();
    for pair in key.pairs.iter().map(|(source, _)| pair_number(key.fields[*source])) {
        if !order.contains(&pair) {
            order.push(pair);
        }
    }
    order.resize(ORDER, order.first().copied().unwrap_or_default());
    to.array(ORDER, 2, &order, |to, pair| to.put(*pair, 2));
    to.array(HALVES, CHOICE_NUMBER, &layout.choices, |to, choice| to.put((*choice).into(), CHOICE_NUMBER));
}

/// `pair_e`, by the source.
fn pair_number(source: Field) -> u32 {
    match source {
        Field::EthSrc => 0,
        Field::IpSrc => 1,
        Field::Ip6Src => 2,
        _ => 3,
    }
}

fn predicate(to: &mut Packed, part: &Predicate) {
    let Predicate { operand, mask, compare, value } = *part;
    to.put(
        match compare {
            Compare::Less => 1,
            Compare::LessEqual => 2,
            _ => 0,
        },
        2,
    );
    to.put(operand.into(), OPERAND);
    to.put(mask, 32);
    to.put(value, 32);
}

/// Both sources, each by kind and number, and their common constant.
fn sources(to: &mut Packed, a: Source, b: Source, between: impl Fn(&mut Packed)) {
    let mut constant = 0;
    for source in [a, b] {
        let (kind, number) = match source {
            Source::Register(Place::Flow(number)) => (0, number),
            Source::Register(Place::Global(number)) => (1, number),
            Source::Operand(number) => (2, number),
            Source::Constant(value) => {
                constant = value;
                (3, 0)
            }
        };
        to.put(kind, 2);
        to.put(number.into(), 3);
    }
    between(to);
    to.put(constant, 32);
}

fn condition(to: &mut Packed, part: &Condition) {
    let Condition { a, compare, b } = *part;
    to.put(
        match compare {
            // a ≤ b is the negation of b < a, so hardware does not need it.
            Compare::Equal | Compare::LessEqual => 0,
            Compare::Less => 1,
            Compare::SignedLess => 2,
            Compare::Before => 3,
        },
        2,
    );
    sources(to, a, b, |_| ());
}

fn function(to: &mut Packed, part: &Option<Work>) {
    let Some(Work { mut operation, mut a, mut b }) = *part else {
        return to.bits.resize(to.bits.len() + FUNCTION, false);
    };
    // There is one constant; the compiler computes the result of two.
    if let (Source::Constant(x), Source::Constant(y)) = (a, b) {
        (a, b) = (Source::Constant(operation.apply(x, y)), Source::Register(Place::Flow(0)));
        operation = Operation::Copy;
    }
    let (number, shift) = match operation {
        Operation::Copy => (0, 0),
        Operation::Add => (1, 0),
        Operation::Sub => (2, 0),
        Operation::And => (3, 0),
        Operation::Or => (4, 0),
        Operation::Xor => (5, 0),
        Operation::Not => (6, 0),
        Operation::ShiftLeft => (7, 0),
        Operation::ShiftRight => (8, 0),
        Operation::RotateRight => (9, 0),
        Operation::Min => (10, 0),
        Operation::Max => (11, 0),
        Operation::Ewma(shift) => (12, shift),
        Operation::Multiply => (13, 0),
    };
    to.put(number, 4);
    sources(to, a, b, |to| to.put(shift.into(), 5));
}

/// The match of a row.
fn matched(to: &mut Packed, row: &RowImage) {
    to.flag(true);
    to.flag(row.state.is_none());
    to.put(row.state.unwrap_or_default().into(), STATE);
    let both = |to: &mut Packed, Bits { mask, value }: Bits, width: usize| {
        to.put(value, width);
        to.put(mask & !value, width);
    };
    both(to, row.predicates, limits::PREDICATES);
    both(to, row.parts, PARTS);
    both(to, row.conditions, limits::CONDITIONS);
    for flag in [0, 1] {
        both(to, Bits { mask: row.flags.mask >> flag & 1, value: row.flags.value >> flag & 1 }, 1);
    }
}

/// The effect of a row on registers and context.
fn choice(row: &RowImage, periods: &[Timeout]) -> Packed {
    let mut to = Packed::default();
    for registers in [&row.flow[..], &row.globals] {
        to.array(registers.len(), 1 + FUNCTION_NUMBER, registers, |to, function| {
            to.option(function.map(u32::from), FUNCTION_NUMBER);
        });
    }
    let (named, state, hard, idle) = match row.next {
        Next::State { state, hard, idle } => (true, state, hard, idle),
        Next::Same | Next::Forget => (false, None, None, None),
    };
    to.flag(named);
    to.option(state.map(u32::from), STATE);
    for timeout in [hard, idle] {
        // A part without a place is refused.
        let number = timeout.and_then(|timeout| periods.iter().position(|period| *period == timeout));
        to.option(number.map(|number| number as u32), PERIOD_NUMBER);
    }
    to.flag(row.next == Next::Forget);
    to.flag(row.notify);
    to
}

/// A packed struct, from its topmost bit.
#[derive(Default)]
struct Packed {
    bits: Vec<bool>,
}

impl Packed {
    /// The low bits of a value.
    fn put(&mut self, value: u32, width: usize) {
        self.bits.extend((0..width).rev().map(|bit| value >> bit & 1 == 1));
    }

    fn flag(&mut self, flag: bool) {
        self.put(flag.into(), 1);
    }

    /// A bit for whether there is a value, and the value.
    fn option(&mut self, value: Option<u32>, width: usize) {
        self.flag(value.is_some());
        self.put(value.unwrap_or_default(), width);
    }

    /// An array of `count` elements of a width: the last one topmost, 0 after the last of `parts`.
    fn array<T>(&mut self, count: usize, width: usize, parts: &[T], put: impl Fn(&mut Packed, &T)) {
        self.bits.resize(self.bits.len() + (count - parts.len()) * width, false);
        for part in parts.iter().rev() {
            let before = self.bits.len();
            put(self, part);
            debug_assert_eq!(self.bits.len() - before, width);
        }
    }

    fn words(mut self) -> Vec<u32> {
        self.bits.reverse();
        let word = |bits: &[bool]| bits.iter().rev().fold(0, |word, bit| word << 1 | u32::from(*bit));
        self.bits.chunks(32).map(word).collect()
    }
}
