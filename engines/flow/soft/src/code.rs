// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rows in executable form. All conditions that do not depend on the context are bits, computed before the context is
//! known: the parts that the frame has, and the fields that compare with constants. A row selects some of these bits,
//! so two comparisons decide most rows.

use penstock_flow_compiler::limits::{EDITS, GLOBALS, REGISTERS};
use penstock_flow_compiler::program::{
    Check, Compare, Edit, Element, Function, Next, Operand, Operation, Place, Row, Tag, Timeout, Value, Verdict,
};
use penstock_headers::{PARTS, Part};

use crate::frame::{Frame, Known, Word};
use crate::table::{GONE, NEVER};

/// The inputs of rows beside the frame.
#[derive(Clone, Copy)]
pub(crate) struct Registers<'a> {
    pub flow: &'a [u32; REGISTERS],
    pub globals: &'a [u32; GLOBALS],
}

/// The results of a row's functions: those of registers, then those of edits.
pub(crate) type Results = [u32; REGISTERS + GLOBALS + EDITS];

/// Bits above those of the parts: the flow has no context, and none can be added.
pub(crate) const NEW: usize = PARTS;
pub(crate) const FULL: usize = PARTS + 1;

/// Conditions that a frame meets, or must meet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Bits {
    /// By number of the part, then [`NEW`] and [`FULL`].
    pub parts: u32,
    /// By number of the predicate.
    pub predicates: u64,
}

/// Some bits of a word: whether they are in a range; all comparisons with a number have this form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Predicate {
    word: Word,
    mask: u64,
    low: u64,
    /// How far above that the range ends.
    span: u64,
}

impl Predicate {
    fn new(word: Word, mask: u64, compare: Compare, value: u64) -> Predicate {
        let (mask, low, span) = match compare {
            Compare::LessEqual => (mask, 0, value),
            // Nothing is below 0: no bits, which are 0, and that is not 1.
            Compare::Less => value.checked_sub(1).map_or((0, 1, 0), |most| (mask, 0, most)),
            _ => (mask, value, 0),
        };
        Predicate { word, mask, low, span }
    }

    #[inline]
    fn holds(&self, found: u64) -> bool {
        (found & self.mask).wrapping_sub(self.low) <= self.span
    }
}

/// A predicate in evaluation order: predicates of one word are adjacent, so that the word is read once.
#[derive(Debug, Clone, Copy)]
struct Asked {
    predicate: Predicate,
    /// It is of the same word as the one before.
    again: bool,
    bit: u8,
}

/// Sorts predicates, whose numbers are their places, into the order of their evaluation.
fn by_words(predicates: &[Predicate]) -> Box<[Asked]> {
    let mut order: Vec<Asked> = Vec::new();
    for (predicate, bit) in predicates.iter().copied().zip(0..) {
        let last = order.iter().rposition(|other| other.predicate.word == predicate.word);
        order.insert(last.map_or(order.len(), |last| last + 1), Asked { predicate, again: last.is_some(), bit });
    }
    order.into()
}

/// The conditions of a row, with its number.
#[derive(Debug, Clone, Copy)]
struct Match {
    /// The bits that count.
    mask: Bits,
    /// How they must be.
    value: Bits,
    row: u16,
}

impl Match {
    #[inline]
    fn fits(&self, bits: Bits) -> bool {
        bits.parts & self.mask.parts == self.value.parts
            && bits.predicates & self.mask.predicates == self.value.predicates
    }
}

/// A row's [`Match`] under construction.
#[derive(Default)]
struct Wanted {
    mask: Bits,
    value: Bits,
    /// Something must be so and must not: no frame fits.
    never: bool,
}

impl Wanted {
    fn part(&mut self, bit: usize, holds: bool) {
        let (bit, so) = (1 << bit, u32::from(holds) << bit);
        self.never |= self.mask.parts & bit != 0 && self.value.parts & bit != so;
        self.mask.parts |= bit;
        self.value.parts |= so;
    }

    fn predicate(&mut self, bit: usize, holds: bool) {
        let (bit, so) = (1 << bit, u64::from(holds) << bit);
        self.never |= self.mask.predicates & bit != 0 && self.value.predicates & bit != so;
        self.mask.predicates |= bit;
        self.value.predicates |= so;
    }
}

/// Something to calculate with.
#[derive(Debug, Clone, Copy)]
enum Source {
    Constant(u32),
    Register(Place),
    Word(Word),
}

impl Source {
    fn new(operand: Operand) -> Source {
        match operand {
            Operand::Constant(value) => Source::Constant(value),
            // Operands have one word.
            Operand::Field(field) => Word::of(field).pop().map_or(Source::Constant(0), Source::Word),
            Operand::Register(place) => Source::Register(place),
        }
    }

    /// Its value for a frame that has it.
    #[inline]
    fn get(&self, frame: &Frame, known: &Known, registers: Registers) -> u32 {
        match self {
            Source::Constant(value) => *value,
            Source::Register(place) => registers.get(*place),
            Source::Word(word) => word.read(frame, known) as u32,
        }
    }
}

impl Registers<'_> {
    #[inline]
    fn get(self, place: Place) -> u32 {
        match place {
            Place::Flow(at) => self.flow[usize::from(at)],
            Place::Global(at) => self.globals[usize::from(at)],
        }
    }
}

/// A comparison that may depend on the context.
#[derive(Debug, Clone, Copy)]
struct Condition {
    a: Source,
    compare: Compare,
    b: Source,
    holds: bool,
}

/// An operation and its operands.
#[derive(Debug, Clone, Copy)]
struct Work {
    operation: Operation,
    a: Source,
    b: Source,
}

impl Work {
    fn new(function: &Function) -> Work {
        Work { operation: function.operation, a: Source::new(function.a), b: Source::new(function.b) }
    }

    #[inline]
    fn result(&self, frame: &Frame, known: &Known, registers: Registers) -> u32 {
        self.operation.apply(self.a.get(frame, known, registers), self.b.get(frame, known, registers))
    }
}

/// The new state of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// State and timeouts stay.
    Same,
    /// State and timeouts are set.
    Set(Stay),
    /// It is removed.
    Forget,
}

/// A state, if it is another one, and timeouts as contexts have them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stay {
    pub state: Option<u8>,
    /// From now on, or [`NEVER`].
    pub hard: u64,
    pub period: u32,
    pub hard_then: u16,
    pub idle_then: u16,
}

impl After {
    fn new(next: Next) -> After {
        let then = |timeout: Option<Timeout>| timeout.and_then(|one| one.then).map_or(GONE, u16::from);
        match next {
            Next::Same => After::Same,
            Next::Forget => After::Forget,
            Next::State { state, hard, idle } => After::Set(Stay {
                state,
                hard: hard.map_or(NEVER, |one| one.micros.into()),
                period: idle.map_or(0, |one| one.micros),
                hard_then: then(hard),
                idle_then: then(idle),
            }),
        }
    }
}

/// A row in executable form.
#[derive(Debug, Clone)]
pub(crate) struct Code {
    conditions: Box<[Condition]>,
    /// Functions of registers, then those of edits.
    functions: Box<[Work]>,
    /// The registers that the first functions are for.
    updates: Box<[Place]>,
    edits: Box<[Edit]>,
    pub after: After,
    pub notify: bool,
    pub makes_context: bool,
    verdict: Verdict,
    port: Source,
}

/// The decision of a row.
pub(crate) enum Decision {
    Next(usize),
    Port(u32),
    Host,
    Drop,
}

impl Code {
    fn new(row: &Row) -> Code {
        let condition = |check| match check {
            Check::Condition { a, compare, b } => Some((Source::new(a), compare, Source::new(b))),
            _ => None,
        };
        let conditions = row.tests.iter().filter_map(|test| {
            condition(test.check).map(|(a, compare, b)| Condition { a, compare, b, holds: test.holds })
        });
        let of_edits = row.edits.iter().filter_map(|edit| match edit {
            Edit::Set(_, Value::Result(function)) | Edit::Push(_, Value::Result(function)) => Some(function),
            _ => None,
        });
        Code {
            conditions: conditions.collect(),
            functions: row.updates.iter().map(|(_, function)| function).chain(of_edits).map(Work::new).collect(),
            updates: row.updates.iter().map(|(place, _)| *place).collect(),
            edits: row.edits.as_slice().into(),
            after: After::new(row.next),
            notify: row.notify,
            makes_context: row.makes_context(),
            verdict: row.verdict,
            port: match row.verdict {
                Verdict::Port(operand) => Source::new(operand),
                _ => Source::Constant(0),
            },
        }
    }

    #[inline]
    fn conditions_hold(&self, frame: &Frame, known: &Known, registers: Registers) -> bool {
        self.conditions.iter().all(|one| {
            one.compare.holds(one.a.get(frame, known, registers), one.b.get(frame, known, registers)) == one.holds
        })
    }

    /// Calculates its functions: all of them read what the row has found.
    #[inline]
    pub(crate) fn calculate(&self, frame: &Frame, known: &Known, before: Registers, results: &mut Results) {
        for (result, work) in results.iter_mut().zip(&self.functions) {
            *result = work.result(frame, known, before);
        }
    }

    /// Sets the registers.
    #[inline]
    pub(crate) fn update(&self, results: &Results, flow: &mut [u32; REGISTERS], globals: &mut [u32; GLOBALS]) {
        for (place, result) in self.updates.iter().zip(results) {
            match place {
                Place::Flow(at) => flow[usize::from(*at)] = *result,
                Place::Global(at) => globals[usize::from(*at)] = *result,
            }
        }
    }

    /// The frame's destination.
    #[inline]
    pub(crate) fn decide(&self, frame: &Frame, known: &Known, registers: Registers) -> Decision {
        match self.verdict {
            Verdict::Next(element) => Decision::Next(element),
            Verdict::Port(_) => Decision::Port(self.port.get(frame, known, registers)),
            Verdict::Opposite => Decision::Port(u32::from(frame.arrival.port) ^ 1),
            Verdict::Host => Decision::Host,
            Verdict::Drop => Decision::Drop,
        }
    }

    /// Changes the frame.
    #[inline]
    pub(crate) fn edit(&self, frame: &mut Frame, known: &mut Known, results: &Results, after: Registers) {
        if !self.edits.is_empty() {
            self.carry_out(frame, known, results, after);
        }
    }

    fn carry_out(&self, frame: &mut Frame, known: &mut Known, results: &Results, after: Registers) {
        // All values are those of the frame on entry.
        let mut values = [0; EDITS];
        let mut results = results[self.updates.len()..].iter();
        for (value, edit) in values.iter_mut().zip(&self.edits) {
            if let Edit::Set(_, from) | Edit::Push(_, from) = edit {
                *value = match from {
                    Value::Constant(number) => *number,
                    Value::Field(field) => known.get(frame, *field),
                    Value::Register(place) => after.get(*place).into(),
                    Value::Result(_) => results.next().copied().unwrap_or_default().into(),
                };
            }
        }
        for (value, edit) in values.into_iter().zip(&self.edits) {
            let (headers, bytes) = (&mut known.headers, &mut frame.bytes);
            let done = match edit {
                Edit::Set(field, _) => known.set(frame, *field, value),
                Edit::Push(Tag::Vlan, _) => headers.push_vlan(bytes, value as u16),
                Edit::Push(Tag::Mpls, _) => headers.push_mpls(bytes, value as u32),
                Edit::Pop(Tag::Vlan) => headers.pop_vlan(bytes),
                Edit::Pop(Tag::Mpls) => headers.pop_mpls(bytes),
                Edit::Swap(pair) => {
                    let (source, destination) = pair.fields();
                    headers.swap(bytes, source, destination)
                }
            };
            // A row whose edits cannot be carried out does not fit.
            debug_assert_eq!(done, Ok(()));
        }
    }
}

/// The rows of an element.
#[derive(Debug)]
pub(crate) struct Rows {
    pub rows: Vec<Code>,
    asked: Box<[Asked]>,
    /// By state, the rows for it.
    of_state: Vec<Box<[Match]>>,
}

impl Rows {
    pub(crate) fn new(element: &Element) -> Rows {
        let mut predicates = Vec::new();
        let matches: Vec<Wanted> = element.rows.iter().map(|row| wanted(row, &mut predicates)).collect();
        // The compiler allows half as many; it counts fields that are parts of others once.
        assert!(predicates.len() <= u64::BITS as usize, "an element of more predicates than the compiler allows");
        let of = |state| {
            let rows = (0..).zip(&element.rows).zip(&matches);
            let rows = rows.filter(|((_, row), wanted)| row.is_for(state) && !wanted.never);
            rows.map(|((row, _), wanted)| Match { mask: wanted.mask, value: wanted.value, row }).collect()
        };
        Rows {
            rows: element.rows.iter().map(Code::new).collect(),
            of_state: (0..=255).take(element.states.len()).map(of).collect(),
            asked: by_words(&predicates),
        }
    }

    /// The conditions that a frame meets whatever its context is.
    #[inline]
    pub(crate) fn bits(&self, frame: &Frame, known: &Known) -> Bits {
        let (mut predicates, mut found) = (0, 0);
        for Asked { predicate, again, bit } in &self.asked {
            if !again {
                found = predicate.word.read(frame, known);
            }
            predicates |= u64::from(predicate.holds(found)) << bit;
        }
        Bits { parts: known.headers.parts(), predicates }
    }

    /// The first that fits.
    #[inline]
    pub(crate) fn find(
        &self,
        state: u8,
        bits: Bits,
        frame: &Frame,
        known: &Known,
        registers: Registers,
    ) -> Option<usize> {
        let rows = self.of_state.get(usize::from(state))?.iter().filter(|row| row.fits(bits));
        rows.map(|row| usize::from(row.row)).find(|at| self.rows[*at].conditions_hold(frame, known, registers))
    }
}

/// The conditions of a row on a frame. Appends the predicates that it needs and that are not yet in the list.
fn wanted(row: &Row, predicates: &mut Vec<Predicate>) -> Wanted {
    let mut wanted = Wanted::default();
    for part in row.needs.iter().filter_map(|field| field.part()) {
        wanted.part(part as usize, true);
    }
    for test in &row.tests {
        let holds = test.holds;
        match test.check {
            Check::Has(header) => wanted.part(header.part() as usize, holds),
            Check::Packet => wanted.part(Part::Net as usize, holds),
            Check::Checksums => wanted.part(Part::Sums as usize, holds),
            Check::New => wanted.part(NEW, holds),
            Check::Full => wanted.part(FULL, holds),
            Check::Condition { .. } => (),
            Check::Field { field, mask, compare, value } => {
                // Fields of two words are only compared for being equal, which both must be then.
                let shifts = if field.bits() > 64 { &[64, 0][..] } else { &[0] };
                for (word, shift) in Word::of(field).into_iter().zip(shifts) {
                    let (mask, value) = ((mask >> shift) as u64, (value >> shift) as u64);
                    if mask == 0 {
                        wanted.never |= (value == 0) != holds;
                        continue;
                    }
                    let predicate = Predicate::new(word, mask, compare, value);
                    let bit = predicates.iter().position(|other| *other == predicate).unwrap_or(predicates.len());
                    if bit == predicates.len() {
                        predicates.push(predicate);
                    }
                    wanted.predicate(bit, holds);
                }
            }
        }
    }
    wanted
}
