// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A program as elements of hardware hold it: parts by number (engines/flow/element.md).

use penstock_headers::{Field, Part};

use crate::edits::{EditSource, Edits};
use crate::facts::within;
use crate::fault::{Fault, Span};
use crate::limits;
use crate::places::{self, Places, Stuck};
use crate::program::{Check, Compare, Element, Function, Next, Operand, Operation, Place, Program, Value, Verdict};
use crate::words;

/// Contents of the elements of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The elements, in their order.
    pub elements: Vec<ElementImage>,
}

/// Contents of an element. Key, first values of registers, and table are those of the program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ElementImage {
    /// Operands X.
    pub operands: Vec<Word>,
    /// Predicates P.
    pub predicates: Vec<Predicate>,
    /// Conditions C.
    pub conditions: Vec<Condition>,
    /// Functions F.
    pub functions: Vec<Work>,
    /// Rows: one for each state that a row of the program names, in the order of the program.
    pub rows: Vec<RowImage>,
    /// Rows write global registers. Frames then keep the distance that frames of one flow have.
    pub serial: bool,
    /// Places of operands and functions in hardware.
    pub places: Places,
}

/// 32 bits of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// The field.
    pub field: Field,
    /// Number of the word, counted from the lowest.
    pub word: u8,
}

/// A comparison of (X & mask) with a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Predicate {
    /// Number of the operand.
    pub operand: u8,
    /// The bits that count.
    pub mask: u32,
    /// `Equal`, `Less` or `LessEqual`.
    pub compare: Compare,
    /// The constant.
    pub value: u32,
}

/// A source of conditions and functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Operand X, by its number.
    Operand(u8),
    /// A register.
    Register(Place),
    /// A number.
    Constant(u32),
}

/// A comparison of two sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Condition {
    /// The left side.
    pub a: Source,
    /// `Equal`, `Less`, `SignedLess` or `Before`.
    pub compare: Compare,
    /// The right side.
    pub b: Source,
}

/// A function with its sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// The operation.
    pub operation: Operation,
    /// Its first source.
    pub a: Source,
    /// Its second source.
    pub b: Source,
}

impl Work {
    /// Whether the order of its sources does not matter.
    pub(crate) fn turns(&self) -> bool {
        matches!(
            self.operation,
            Operation::Add
                | Operation::And
                | Operation::Or
                | Operation::Xor
                | Operation::Min
                | Operation::Max
                | Operation::Multiply
        )
    }

    /// Whether it shifts, averages or multiplies, which only some functions of hardware can. The compiler computes the
    /// result of two constants.
    pub(crate) fn is_full(&self) -> bool {
        let known = matches!((self.a, self.b), (Source::Constant(_), Source::Constant(_)));
        let full = matches!(
            self.operation,
            Operation::ShiftLeft
                | Operation::ShiftRight
                | Operation::RotateRight
                | Operation::Multiply
                | Operation::Ewma(_)
        );
        full && !known
    }
}

/// A ternary match of bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bits {
    /// Bits that count.
    pub mask: u32,
    /// Values that they must have; 0 where the mask is 0.
    pub value: u32,
}

impl Bits {
    fn add(&mut self, bit: usize, holds: bool) {
        self.mask |= 1 << bit;
        self.value |= u32::from(holds) << bit;
    }

    /// Whether a bit must be both 0 and 1, which no frame matches.
    fn contradicts(self, bit: usize, holds: bool) -> bool {
        self.mask >> bit & 1 == 1 && (self.value >> bit & 1 == 1) != holds
    }
}

/// A row: a ternary match, and its effects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowImage {
    /// Number of the program's row.
    pub row: usize,
    /// State that it matches; None: every state.
    pub state: Option<u8>,
    /// Parts that the frame must have or must lack, by [`Part`]: those that the row tests, and those of all fields that
    /// it names.
    pub parts: Bits,
    /// Match of the table: bit 0 `new`, bit 1 `full`.
    pub flags: Bits,
    /// Match of predicates, by their numbers.
    pub predicates: Bits,
    /// Match of conditions, by their numbers.
    pub conditions: Bits,
    /// For each flow register, the function whose result it takes.
    pub flow: [Option<u8>; limits::REGISTERS],
    /// The same for global registers.
    pub globals: [Option<u8>; limits::GLOBALS],
    /// Effect on the context.
    pub next: Next,
    /// Effect on the frame.
    pub edits: Edits,
    /// The host gets an event.
    pub notify: bool,
    /// Destination of the frame; the port of [`Verdict::Port`] is in `port`.
    pub verdict: Verdict,
    /// The port.
    pub port: Source,
}

impl Image {
    /// Assigns parts to a program's elements.
    ///
    /// # Errors
    /// The program needs too many parts. The error names, for each kind, the row that needs the first part beyond the
    /// limit.
    pub(crate) fn new(program: &Program) -> Result<Image, Vec<Fault>> {
        let mut faults = Vec::new();
        let elements = program.elements.iter().map(|element| Allocation::new(element).rows(&mut faults)).collect();
        if faults.is_empty() { Ok(Image { elements }) } else { Err(faults) }
    }
}

/// Parts of an element, as they are assigned.
struct Allocation<'a> {
    element: &'a Element,
    image: ElementImage,
    /// The row that first needed each part: operands, predicates, conditions, functions.
    first: [Vec<Span>; 4],
    span: Span,
}

/// The number of a part, which is added if it is missing.
fn number<T: PartialEq>(parts: &mut Vec<T>, part: T, first: &mut Vec<Span>, span: Span) -> usize {
    parts.iter().position(|other| *other == part).unwrap_or_else(|| {
        parts.push(part);
        first.push(span);
        parts.len() - 1
    })
}

impl Allocation<'_> {
    fn new(element: &Element) -> Allocation<'_> {
        Allocation { element, image: ElementImage::default(), first: Default::default(), span: Span::default() }
    }

    fn rows(mut self, faults: &mut Vec<Fault>) -> ElementImage {
        let element = self.element;
        let (mut rows, mut too_many) = (0, None);
        for (at, row) in element.rows.iter().enumerate() {
            self.span = row.span;
            if let Some(image) = self.row(at) {
                let writes = image.edits.writes.len();
                if writes > limits::WRITES {
                    let message = format!(
                        "the row writes {writes} words of fields, {} at most: an Ethernet address has two, an IPv6 \
                         address four, a pushed tag one; take edits out, or move some to a second element",
                        limits::WRITES
                    );
                    faults.push(Fault::new(row.span, message));
                }
                let states =
                    if row.states.is_empty() { vec![None] } else { row.states.iter().copied().map(Some).collect() };
                rows += states.len();
                if rows <= limits::ROWS {
                    self.image.rows.extend(states.into_iter().map(|state| RowImage { state, ..image.clone() }));
                } else {
                    too_many.get_or_insert(row.span);
                }
            }
        }
        let counts = [
            ("operands X (words of fields that rows read)", limits::OPERANDS),
            ("predicates (fields against numbers)", limits::PREDICATES),
            ("conditions (registers, and fields against fields)", limits::CONDITIONS),
            ("functions (results for registers and fields)", limits::FUNCTIONS),
        ];
        for ((what, most), first) in counts.into_iter().zip(&self.first) {
            if let Some(span) = first.get(most) {
                let message = format!(
                    "element `{}` needs {} {what}, {most} at most, and this row needs the first beyond that; parts \
                     that rows share count once, and a second element has as many again",
                    self.element.name,
                    first.len()
                );
                faults.push(Fault::new(*span, message));
            }
        }
        if let Some(span) = too_many {
            let message = format!(
                "element `{}` has {rows} rows, {} at most, counted once for each state that they name; this is the \
                 first row beyond that",
                self.element.name,
                limits::ROWS
            );
            faults.push(Fault::new(span, message));
        }
        faults.extend(words::too_many(element, &words::timeouts(element, &[])));
        let mut full = self.image.functions.iter().zip(&self.first[3]).filter(|(work, _)| work.is_full());
        let count = full.clone().count();
        if let Some((_, span)) = full.nth(limits::FULL_FUNCTIONS) {
            let message = format!(
                "element `{}` needs {count} functions that shift, average or multiply, {} at most, and this row needs \
                 the first beyond that; functions that rows share count once, and a second element has as many again",
                element.name,
                limits::FULL_FUNCTIONS
            );
            faults.push(Fault::new(*span, message));
        }
        if faults.is_empty() {
            faults.extend(self.place());
        }
        self.image
    }

    /// Assigns numbers in hardware to operands and functions.
    fn place(&mut self) -> Option<Fault> {
        let ElementImage { operands, functions, .. } = &self.image;
        let (name, first) = (&self.element.name, &self.first);
        Some(match places::place(operands, functions) {
            Ok(places) => {
                self.image.places = places;
                return None;
            }
            Err(Stuck::Operands(stuck)) => {
                let names: Vec<String> = stuck.iter().map(|at| format!("`{}`", operands[*at].field.name())).collect();
                let message = format!(
                    "element `{name}` reads {} words of fields of which operands X of hardware reach {} only: {}; \
                     this row is the first to read one beyond that; take one of them out, or move rows to a second \
                     element",
                    stuck.len(),
                    stuck.len() - 1,
                    names.join(", ")
                );
                Fault::new(first[0][*stuck.last()?], message)
            }
            Err(Stuck::Function(at)) => {
                let message = format!(
                    "element `{name}` has no place in hardware for the functions up to this row's: four functions of \
                     hardware read everything; each of the others reads half of the operands X and of the global \
                     registers on the left and on the right (the first four declared, or the others), and there are \
                     three for each combination; swap the sides of some functions, declare global registers in \
                     another order, or move rows to a second element"
                );
                Fault::new(first[3][at], message)
            }
        })
    }

    fn operand(&mut self, word: Word) -> u8 {
        number(&mut self.image.operands, word, &mut self.first[0], self.span) as u8
    }

    fn source(&mut self, operand: Operand) -> Source {
        match operand {
            Operand::Field(field) => Source::Operand(self.operand(Word { field, word: 0 })),
            Operand::Register(place) => Source::Register(place),
            Operand::Constant(value) => Source::Constant(value),
        }
    }

    fn function(&mut self, function: &Function) -> u8 {
        let Function { operation, a, b } = *function;
        let (mut a, mut b) = (self.source(a), self.source(b));
        if (Work { operation, a, b }).turns() && a > b {
            (a, b) = (b, a);
        }
        number(&mut self.image.functions, Work { operation, a, b }, &mut self.first[3], self.span) as u8
    }

    /// The number of an equivalent condition, and whether it must hold.
    fn condition(&mut self, a: Operand, compare: Compare, b: Operand, holds: bool) -> (usize, bool) {
        let (a, b) = (self.source(a), self.source(b));
        let (a, compare, b, holds) = match compare {
            Compare::Equal => (a.min(b), compare, a.max(b), holds),
            // a ≤ b is the negation of b < a.
            Compare::LessEqual => (b, Compare::Less, a, !holds),
            _ => (a, compare, b, holds),
        };
        (number(&mut self.image.conditions, Condition { a, compare, b }, &mut self.first[2], self.span), holds)
    }

    /// The numbers of equivalent predicates, one for each word.
    fn predicates(&mut self, field: Field, mask: u128, compare: Compare, value: u128) -> Vec<usize> {
        // A flag is a bit of the flags, which another test may read anyway.
        let (field, mask, value) =
            within(field).map_or((field, mask, value), |(whole, shift)| (whole, mask << shift, value << shift));
        let words = (0..field.bits().div_ceil(32)).filter(|word| (mask >> (32 * word)) as u32 != 0);
        let words: Vec<u32> = words.collect();
        let of = |word: u32| {
            let operand = self.operand(Word { field, word: word as u8 });
            let (mask, value) = ((mask >> (32 * word)) as u32, (value >> (32 * word)) as u32);
            let predicate = Predicate { operand, mask, compare, value };
            number(&mut self.image.predicates, predicate, &mut self.first[1], self.span)
        };
        words.into_iter().map(of).collect()
    }

    /// A word of a value. Only fields and numbers have more than one.
    fn edit_source(&mut self, value: Value, word: u8) -> EditSource {
        match value {
            Value::Constant(number) => EditSource::Constant((number >> (32 * u32::from(word))) as u32),
            Value::Field(field) => EditSource::Operand(self.operand(Word { field, word })),
            Value::Register(place) => EditSource::Register(place),
            Value::Result(function) => EditSource::Function(self.function(&function)),
        }
    }

    /// A row, for any state; None if it asks that a part both is and is not there, in two different ways of writing it.
    fn row(&mut self, at: usize) -> Option<RowImage> {
        let row = &self.element.rows[at];
        let mut image = RowImage {
            row: at,
            state: None,
            parts: Bits::default(),
            flags: Bits::default(),
            predicates: Bits::default(),
            conditions: Bits::default(),
            flow: [None; limits::REGISTERS],
            globals: [None; limits::GLOBALS],
            next: row.next,
            edits: Edits::new(&row.edits, |value, word| self.edit_source(value, word)),
            notify: row.notify,
            verdict: row.verdict,
            port: Source::Constant(0),
        };
        for part in row.needs.iter().filter_map(|field| field.part()) {
            image.parts.add(part as usize, true);
        }
        let mut possible = true;
        for test in &row.tests {
            let holds = test.holds;
            let (bits, asked) = match test.check {
                Check::Has(header) => (&mut image.parts, vec![(header.part() as usize, holds)]),
                Check::Packet => (&mut image.parts, vec![(Part::Net as usize, holds)]),
                Check::Checksums => (&mut image.parts, vec![(Part::Sums as usize, holds)]),
                Check::New => (&mut image.flags, vec![(0, holds)]),
                Check::Full => (&mut image.flags, vec![(1, holds)]),
                Check::Field { field, mask, compare, value } => {
                    let numbers = self.predicates(field, mask, compare, value);
                    (&mut image.predicates, numbers.into_iter().map(|number| (number, holds)).collect())
                }
                Check::Condition { a, compare, b } => {
                    (&mut image.conditions, vec![self.condition(a, compare, b, holds)])
                }
            };
            // Parts beyond the limit are reported as too many.
            for (bit, holds) in asked.into_iter().filter(|(bit, _)| *bit < 32) {
                possible &= !bits.contradicts(bit, holds);
                bits.add(bit, holds);
            }
        }
        for (place, function) in &row.updates {
            let function = Some(self.function(function));
            match place {
                Place::Flow(register) => image.flow[usize::from(*register)] = function,
                Place::Global(register) => {
                    image.globals[usize::from(*register)] = function;
                    self.image.serial = true;
                }
            }
        }
        if let Verdict::Port(port) = row.verdict {
            image.port = self.source(port);
        }
        possible.then_some(image)
    }
}
