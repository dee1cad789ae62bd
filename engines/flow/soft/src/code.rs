// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rows as they are run: what each needs is found out beforehand.

use penstock_flow_compiler::limits::{EDITS, GLOBALS, REGISTERS};
use penstock_flow_compiler::program::{
    Check, Compare, Edit, Element, Function, Next, Operand, Place, Row, Tag, Value, Verdict,
};
use penstock_headers::{EditError, Field, Header};

use crate::frame::Frame;

/// Registers of the flow, then those of the element.
pub type Registers = [u32; REGISTERS + GLOBALS];

/// What a row looks at beside the frame.
pub struct Flow {
    pub registers: Registers,
    /// It has no context.
    pub new: bool,
    /// None can be added.
    pub full: bool,
}

/// Something to calculate with.
#[derive(Debug, Clone, Copy)]
enum Source {
    Constant(u32),
    Register(u8),
    Field(Field),
}

impl Source {
    fn new(operand: Operand) -> Source {
        match operand {
            Operand::Constant(value) => Source::Constant(value),
            Operand::Field(field) => Source::Field(field),
            Operand::Register(place) => Source::Register(register(place)),
        }
    }

    #[inline]
    fn get(self, frame: &Frame, registers: &Registers) -> Option<u32> {
        match self {
            Source::Constant(value) => Some(value),
            Source::Register(at) => Some(registers[usize::from(at)]),
            Source::Field(field) => frame.get(field).map(|value| value as u32),
        }
    }
}

fn register(place: Place) -> u8 {
    match place {
        Place::Flow(at) => at,
        Place::Global(at) => REGISTERS as u8 + at,
    }
}

/// A result. The frame has all fields that a row names when the row fits.
#[inline]
fn result(function: &Function, frame: &Frame, registers: &Registers) -> u32 {
    let value = |operand| Source::new(operand).get(frame, registers).unwrap_or_default();
    function.operation.apply(value(function.a), value(function.b))
}

/// One thing that must be so.
#[derive(Debug, Clone, Copy)]
enum Must {
    /// A field of up to 64 bits against a constant.
    Field {
        field: Field,
        compare: Compare,
        holds: bool,
        mask: u64,
        value: u64,
    },
    /// Equality of a longer one.
    Long {
        field: Field,
        holds: bool,
        mask: u128,
        value: u128,
    },
    Condition {
        a: Source,
        compare: Compare,
        b: Source,
        holds: bool,
    },
    Has {
        header: Header,
        holds: bool,
    },
    Packet {
        holds: bool,
    },
    There {
        field: Field,
    },
    Checksums,
    New {
        holds: bool,
    },
    Full {
        holds: bool,
    },
}

impl Must {
    fn new(check: Check, holds: bool) -> Must {
        match check {
            Check::Has(header) => Must::Has { header, holds },
            Check::Packet => Must::Packet { holds },
            Check::Checksums => Must::Checksums,
            Check::New => Must::New { holds },
            Check::Full => Must::Full { holds },
            Check::Field { field, mask, compare, value } => match (u64::try_from(mask), u64::try_from(value)) {
                (Ok(mask), Ok(value)) if field.bits() <= 64 => Must::Field { field, compare, holds, mask, value },
                _ => Must::Long { field, holds, mask, value },
            },
            Check::Condition { a, compare, b } => {
                Must::Condition { a: Source::new(a), compare, b: Source::new(b), holds }
            }
        }
    }

    /// Whether it is so. What a frame does not have is not so, either way.
    #[inline]
    fn is_so(&self, frame: &Frame, flow: &Flow) -> bool {
        match *self {
            Must::Field { field, compare, holds, mask, value } => frame.get(field).is_some_and(|found| {
                let found = found as u64 & mask;
                holds
                    == match compare {
                        Compare::Less => found < value,
                        Compare::LessEqual => found <= value,
                        _ => found == value,
                    }
            }),
            Must::Long { field, holds, mask, value } => {
                frame.get(field).is_some_and(|found| (found & mask == value) == holds)
            }
            Must::Condition { a, compare, b, holds } => {
                let values = a.get(frame, &flow.registers).zip(b.get(frame, &flow.registers));
                values.is_some_and(|(a, b)| compare.holds(a, b) == holds)
            }
            Must::Has { header, holds } => frame.headers.has(header) == holds,
            Must::Packet { holds } => (frame.headers.has(Header::Ip) || frame.headers.has(Header::Ip6)) == holds,
            Must::There { field } => frame.get(field).is_some(),
            // Asked of no bytes at all, an address that could be set is missing.
            Must::Checksums => frame.headers.set(&mut [], Field::Ip6Src, 0) != Err(EditError::Hidden(Field::Ip6Src)),
            Must::New { holds } => flow.new == holds,
            Must::Full { holds } => flow.full == holds,
        }
    }
}

/// A row as it is run.
#[derive(Debug, Clone)]
pub struct Code {
    must: Box<[Must]>,
    updates: Box<[(u8, Function)]>,
    edits: Box<[Edit]>,
    pub next: Next,
    pub notify: bool,
    pub makes_context: bool,
    verdict: Verdict,
    port: Source,
}

/// What a row has decided.
pub enum Decision {
    Next(usize),
    Port(u8),
    Host,
    Drop,
}

impl Code {
    fn new(row: &Row, keyed: &[Field]) -> Code {
        let mut must: Vec<Must> = row.tests.iter().map(|test| Must::new(test.check, test.holds)).collect();
        let tested = |field: Field, must: &[Must]| {
            must.iter().any(|must| match must {
                Must::Field { field: other, .. } | Must::Long { field: other, .. } => *other == field,
                _ => false,
            })
        };
        for &field in &row.needs {
            // All frames have the fields of the key, and what is of the same header.
            let of_key =
                |other: &Field| *other == field || field.header().is_some() && other.header() == field.header();
            if !tested(field, &must) && !keyed.iter().any(of_key) {
                must.push(Must::There { field });
            }
        }
        Code {
            must: must.into(),
            updates: row.updates.iter().map(|(place, function)| (register(*place), *function)).collect(),
            edits: row.edits.as_slice().into(),
            next: row.next,
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
    pub fn fits(&self, frame: &Frame, flow: &Flow) -> bool {
        self.must.iter().all(|must| must.is_so(frame, flow))
    }

    /// The registers behind the row.
    #[inline]
    pub fn update(&self, frame: &Frame, before: &Registers) -> Registers {
        let mut after = *before;
        for (to, function) in &self.updates {
            after[usize::from(*to)] = result(function, frame, before);
        }
        after
    }

    /// Where the frame goes.
    #[inline]
    pub fn decide(&self, frame: &Frame, registers: &Registers) -> Decision {
        match self.verdict {
            Verdict::Next(element) => Decision::Next(element),
            Verdict::Port(_) => Decision::Port(self.port.get(frame, registers).unwrap_or_default() as u8),
            Verdict::Opposite => Decision::Port(frame.arrival.port ^ 1),
            Verdict::Host => Decision::Host,
            Verdict::Drop => Decision::Drop,
        }
    }

    /// Changes the frame.
    #[inline]
    pub fn edit(&self, frame: &mut Frame, before: &Registers, after: &Registers) {
        if !self.edits.is_empty() {
            self.carry_out(frame, before, after);
        }
    }

    fn carry_out(&self, frame: &mut Frame, before: &Registers, after: &Registers) {
        // All values are of the frame as it came.
        let mut values = [0; EDITS];
        for (value, edit) in values.iter_mut().zip(&self.edits) {
            if let Edit::Set(_, from) | Edit::Push(_, from) = edit {
                *value = match from {
                    Value::Constant(number) => *number,
                    Value::Field(field) => frame.get(*field).unwrap_or_default(),
                    Value::Register(place) => after[usize::from(register(*place))].into(),
                    Value::Result(function) => result(function, frame, before).into(),
                };
            }
        }
        for (value, edit) in values.into_iter().zip(&self.edits) {
            let headers = &mut frame.headers;
            let done = match edit {
                Edit::Set(field, _) => frame.set(*field, value),
                Edit::Push(Tag::Vlan, _) => headers.push_vlan(frame.bytes, value as u16),
                Edit::Push(Tag::Mpls, _) => headers.push_mpls(frame.bytes, value as u32),
                Edit::Pop(Tag::Vlan) => headers.pop_vlan(frame.bytes),
                Edit::Pop(Tag::Mpls) => headers.pop_mpls(frame.bytes),
                Edit::Swap(pair) => {
                    let (source, destination) = pair.fields();
                    headers.swap(frame.bytes, source, destination)
                }
            };
            // A row whose edits cannot be carried out does not fit.
            debug_assert_eq!(done, Ok(()));
        }
    }
}

/// The rows of an element.
#[derive(Debug)]
pub struct Rows {
    pub rows: Vec<Code>,
    /// By state, those that are for it.
    of_state: Vec<Box<[u16]>>,
}

impl Rows {
    pub fn new(element: &Element) -> Rows {
        let keyed = element.key.as_ref().map_or(&[][..], |key| &key.fields);
        let rows = element.rows.iter().map(|row| Code::new(row, keyed)).collect();
        let of = |state| (0u16..).zip(&element.rows).filter(|(_, row)| row.is_for(state)).map(|(at, _)| at).collect();
        Rows { rows, of_state: (0..=255).take(element.states.len()).map(of).collect() }
    }

    /// The first that fits.
    #[inline]
    pub fn find(&self, state: u8, frame: &Frame, flow: &Flow) -> Option<usize> {
        let rows = self.of_state.get(usize::from(state))?;
        rows.iter().copied().map(usize::from).find(|at| self.rows[*at].fits(frame, flow))
    }
}
