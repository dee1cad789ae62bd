// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Resolves names and checks that the program has a meaning.

use penstock_headers::{Field, Header};

use crate::fault::{Fault, Span, nearest};
use crate::key::Layout;
use crate::lex::{Form, Number};
use crate::limits;
use crate::needs::Needs;
use crate::program::{
    Check, Compare, Edit, Element, Function, Key, Next, Operand, Operation, Pair, Place, Program, Register, Row, Test,
    Timeout, Value, Verdict,
};
use crate::syntax::{self, Name, Tag, What};

/// Checks a source.
pub(crate) fn check(file: &syntax::File) -> Result<Program, Vec<Fault>> {
    let mut faults = Vec::new();
    twice(file.constants.iter(), "a constant", &mut faults);
    twice(file.elements.iter().map(|element| &element.name), "an element", &mut faults);
    if file.elements.is_empty() {
        faults.push(Fault::new(
            Span { line: 1, column: 1, length: 1 },
            "there is no element; write `element NAME { … }`",
        ));
    }
    limits::few("elements", limits::ELEMENTS, &file.elements, |element| element.name.span, &mut faults);
    let mut elements = Vec::new();
    for (at, element) in file.elements.iter().enumerate() {
        elements.push(Checker { file, at, element, faults: &mut faults }.element());
    }
    if faults.is_empty() { Ok(Program { elements }) } else { Err(faults) }
}

/// Reports names that occur twice.
fn twice<'a>(names: impl Iterator<Item = &'a Name>, what: &str, faults: &mut Vec<Fault>) {
    let mut seen: Vec<&Name> = Vec::new();
    for name in names {
        match seen.iter().find(|other| other.text == name.text) {
            Some(first) => faults.push(Fault::new(
                name.span,
                format!("there is {what} `{}` already, in line {}; choose another name", name.text, first.span.line),
            )),
            None => seen.push(name),
        }
    }
}

struct Checker<'a> {
    file: &'a syntax::File,
    at: usize,
    element: &'a syntax::Element,
    faults: &'a mut Vec<Fault>,
}

/// An operand and its width.
struct Read {
    operand: Operand,
    bits: u32,
}

impl Checker<'_> {
    fn fault<T>(&mut self, span: Span, message: impl Into<String>) -> Option<T> {
        self.faults.push(Fault::new(span, message));
        None
    }

    fn element(&mut self) -> Element {
        let source = self.element;
        twice(source.states.iter(), "a state", self.faults);
        twice(source.flow.iter().chain(&source.global).map(|register| &register.name), "a register", self.faults);
        for name in source.states.iter().chain(source.flow.iter().chain(&source.global).map(|one| &one.name)) {
            if Field::parse(&name.text).is_some() || Header::parse(&name.text).is_some() {
                let message = format!("`{}` is a field or header of frames; choose another name", name.text);
                self.faults.push(Fault::new(name.span, message));
            }
        }
        limits::few("states", limits::STATES, &source.states, |state| state.span, self.faults);
        limits::few("flow registers", limits::REGISTERS, &source.flow, |one| one.name.span, self.faults);
        limits::few("global registers", limits::GLOBALS, &source.global, |one| one.name.span, self.faults);
        let key = source.key.as_ref().and_then(|key| self.key(key));
        if source.key.is_none() {
            let without = "an element without a `key` has no contexts, so";
            if let Some(state) = source.states.first() {
                self.fault::<()>(state.span, format!("{without} no states; add a key"));
            }
            if let Some(register) = source.flow.first() {
                let message = format!("{without} no flow registers; add a key, or make them `global`");
                self.fault::<()>(register.name.span, message);
            }
            if let Some(table) = &source.table {
                self.fault::<()>(table.places.1, format!("{without} no table; add a key"));
            }
        }
        let states = if source.states.is_empty() {
            vec![String::new()]
        } else {
            source.states.iter().map(|state| state.text.clone()).collect()
        };
        let registers = self.registers(&source.flow);
        let globals = self.registers(&source.global);
        let capacity = source.table.as_ref().and_then(|table| {
            let (number, span) = table.places;
            let places = u32::try_from(number.value).ok().filter(|places| (1..=limits::CONTEXTS).contains(places));
            places.or_else(|| {
                let message = format!("a table holds from 1 to {} contexts, not {}", limits::CONTEXTS, number.value);
                self.fault(span, message)
            })
        });
        let evict = source.table.as_ref().and_then(|table| table.evict);
        if let (Some((_, span)), true) = (evict, source.flow.is_empty()) {
            let message =
                "the first flow register decides which context is evicted, and there is none; add `flow NAME`";
            self.fault::<()>(span, message);
        }
        let mut rows = Vec::new();
        for row in &source.rows {
            rows.push(self.row(row));
        }
        let evict = evict.map(|(evict, _)| evict);
        let (name, span) = (source.name.text.clone(), source.name.span);
        Element { name, span, key, states, registers, globals, capacity, evict, rows }
    }

    fn key(&mut self, source: &syntax::Key) -> Option<Key> {
        let mut fields = Vec::new();
        for name in &source.fields {
            let of = match name.text.as_str() {
                "5tuple" => vec![Field::IpSrc, Field::IpDst, Field::L4Proto, Field::L4Sport, Field::L4Dport],
                "5tuple6" => vec![Field::Ip6Src, Field::Ip6Dst, Field::L4Proto, Field::L4Sport, Field::L4Dport],
                _ => vec![self.field(name)?],
            };
            for field in of {
                if let Some(other) = fields.iter().find(|other| exclusive(**other, field)) {
                    let message =
                        format!("no frame has both `{}` and `{}`; take one out of the key", other.name(), field.name());
                    return self.fault(name.span, message);
                }
                if fields.contains(&field) {
                    let message = format!("`{}` is in the key already; take one out", field.name());
                    return self.fault(name.span, message);
                }
                if field == Field::Time {
                    return self.fault(name.span, "each frame would be a flow of its own; take `time` out of the key");
                }
                fields.push(field);
            }
        }
        let bits: u32 = fields.iter().map(|field| field.bits().next_multiple_of(8)).sum();
        if bits > limits::KEY_BITS {
            let message = format!("the key has {bits} bits, {} at most; take fields out", limits::KEY_BITS);
            return self.fault(source.span, message);
        }
        let mut pairs = Vec::new();
        if source.biflow {
            for (at, one) in fields.iter().enumerate() {
                let Some(other) = other_end(one.name()).and_then(|name| Field::parse(&name)) else { continue };
                match fields.iter().position(|field| *field == other) {
                    Some(_) if !is_source(one.name()) => (),
                    Some(destination) => pairs.push((at, destination)),
                    None => {
                        let message = format!(
                            "`biflow` needs both ends, and `{}` is in the key without `{}`; add it",
                            one.name(),
                            other.name()
                        );
                        return self.fault(source.span, message);
                    }
                }
            }
            if pairs.is_empty() {
                let message = "`biflow` is for sources and destinations, and this key has neither; leave it out";
                return self.fault(source.span, message);
            }
        }
        let key = Key { fields, pairs };
        match Layout::new(&key) {
            Ok(_) => Some(key),
            Err(message) => self.fault(source.span, message),
        }
    }

    fn registers(&mut self, sources: &[syntax::Register]) -> Vec<Register> {
        let mut registers = Vec::new();
        for source in sources {
            let initial = match source.initial {
                None => 0,
                Some((number, span)) => self.fits(number, span, 32).unwrap_or_default() as u32,
            };
            registers.push(Register { name: source.name.text.clone(), initial });
        }
        registers
    }

    /// Checks that a number fits a place of `bits` bits.
    fn fits(&mut self, number: Number, span: Span, bits: u32) -> Option<u128> {
        match number.form.bits() {
            Some(width) if width != bits => {
                let form = match number.form {
                    Form::Ipv4 => "an IPv4 address",
                    Form::Mac => "an Ethernet address",
                    Form::Ipv6 | Form::Plain | Form::Hex => "an IPv6 address",
                };
                self.fault(span, format!("{form} has {width} bits; here are {bits}"))
            }
            _ if bits < 128 && number.value >> bits != 0 => {
                let value =
                    if number.form == Form::Hex { format!("{:#x}", number.value) } else { number.value.to_string() };
                self.fault(span, format!("{value} does not fit into {bits} bits"))
            }
            _ => Some(number.value),
        }
    }

    fn field(&mut self, name: &Name) -> Option<Field> {
        let found = Field::parse(&name.text);
        found.or_else(|| {
            let known = Field::ALL.iter().map(|field| field.name());
            self.unknown(name, "field", known.collect(), "the table in engines/flow/language.md has them")
        })
    }

    fn unknown<T>(&mut self, name: &Name, what: &str, known: Vec<&str>, otherwise: &str) -> Option<T> {
        let way = nearest(&name.text, known).map_or(otherwise.to_owned(), |near| format!("the nearest is `{near}`"));
        self.fault(name.span, format!("there is no {what} `{}`; {way}", name.text))
    }

    fn register(&self, name: &str) -> Option<Place> {
        let at = |registers: &[syntax::Register]| registers.iter().position(|one| one.name.text == name);
        let flow = at(&self.element.flow).map(|at| Place::Flow(at as u8));
        flow.or_else(|| at(&self.element.global).map(|at| Place::Global(at as u8)))
    }

    fn state(&mut self, name: &Name) -> Option<u8> {
        let states = &self.element.states;
        let found = states.iter().position(|state| state.text == name.text);
        found.map(|at| at as u8).or_else(|| {
            let known = states.iter().map(|state| state.text.as_str()).collect();
            self.unknown(name, "state", known, "add it to `states`")
        })
    }

    /// A register, or a field of any width.
    fn named(&mut self, name: &Name) -> Option<Read> {
        if let Some(place) = self.register(&name.text) {
            return Some(Read { operand: Operand::Register(place), bits: 32 });
        }
        if let Some(field) = Field::parse(&name.text) {
            return Some(Read { operand: Operand::Field(field), bits: field.bits() });
        }
        let registers = self.element.flow.iter().chain(&self.element.global).map(|one| one.name.text.as_str());
        let known = registers.chain(Field::ALL.iter().map(|field| field.name())).collect();
        self.unknown(name, "register or field", known, "registers are declared with `flow` or `global`")
    }

    /// An operand of conditions and functions.
    fn operand(&mut self, operand: &syntax::Operand) -> Option<Operand> {
        match operand {
            syntax::Operand::Name(name) => {
                let read = self.named(name)?;
                if read.bits > 32 {
                    let message = format!("`{}` has {} bits; registers and conditions take 32", name.text, read.bits);
                    return self.fault(name.span, message);
                }
                Some(read.operand)
            }
            syntax::Operand::Masked(_, _, span) => self.fault(
                *span,
                "a mask is possible only between a field and a number; use a register that an earlier frame set, or \
                 `meta0`, \
                 which an earlier element sets to `FIELD & MASK`",
            ),
            syntax::Operand::Number(number, span) => {
                self.fits(*number, *span, 32).map(|value| Operand::Constant(value as u32))
            }
        }
    }

    fn row(&mut self, source: &syntax::Row) -> Row {
        let mut states: Vec<u8> = source.states.iter().filter_map(|name| self.state(name)).collect();
        states.sort_unstable();
        states.dedup();
        let mut row = Row {
            span: source.span,
            states,
            needs: vec![],
            tests: vec![],
            updates: vec![],
            next: Next::Same,
            edits: vec![],
            notify: false,
            verdict: Verdict::Next(self.at + 1),
        };
        for test in &source.tests {
            if let Some(test) = self.test(test) {
                row.tests.push(test);
            }
        }
        let mut chosen = Chosen::default();
        for action in &source.actions {
            self.action(action, &mut row, &mut chosen);
        }
        self.needs(&mut row, source.span);
        limits::few("edits in a row", limits::EDITS, &row.edits, |_| source.span, self.faults);
        row
    }

    fn test(&mut self, test: &syntax::Test) -> Option<Test> {
        match test {
            syntax::Test::Word { name, negated } => {
                let check = match name.text.as_str() {
                    "new" | "full" if self.element.key.is_none() => {
                        return self.fault(
                            name.span,
                            format!("`{}` is about contexts, and an element without a `key` has none", name.text),
                        );
                    }
                    "full" if !negated && self.element.table.as_ref().is_some_and(|table| table.evict.is_some()) => {
                        return self.fault(name.span, "a table with `evict` is never full; take one of the two out");
                    }
                    "new" => Check::New,
                    "full" => Check::Full,
                    _ => match Header::parse(&name.text) {
                        Some(header) => Check::Has(header),
                        None if Field::parse(&name.text).is_some() || self.register(&name.text).is_some() => {
                            return self
                                .fault(name.span, format!("`{}` is no test; compare it with something", name.text));
                        }
                        None => {
                            let headers = Header::ALL.iter().map(|header| header.name());
                            let known = headers.chain(Field::ALL.iter().map(|field| field.name())).collect();
                            let otherwise = "tests are comparisons, headers, `new` and `full`";
                            return self.unknown(name, "header, field or register", known, otherwise);
                        }
                    },
                };
                Some(Test { check, holds: !negated })
            }
            syntax::Test::Prefix { field: name, value, length, negated } => {
                let field = self.field(name)?;
                let bits = field.bits();
                let (number, span) = *value;
                let value = self.fits(number, span, bits)?;
                let all = all(bits);
                let (length, length_span) = (length.0.value, length.1);
                if length == 0 || length > bits.into() {
                    return self.fault(length_span, format!("a prefix of `{}` has 1 to {bits} bits", name.text));
                }
                let mask = all & !(all >> length);
                if value & !mask != 0 {
                    let message = format!("the address has bits below its prefix of {length}; make them 0");
                    return self.fault(span, message);
                }
                self.wide(field, mask, !negated, name.span)?;
                Some(Test { check: Check::Field { field, mask, compare: Compare::Equal, value }, holds: !negated })
            }
            syntax::Test::Compare { left, compare, right, span } => self.compare(left, *compare, right, *span),
        }
    }

    /// Checks a comparison of several words: each word is a predicate, and a row can only ask that all of them hold.
    fn wide(&mut self, field: Field, mask: u128, holds: bool, span: Span) -> Option<()> {
        let words = (0..4).filter(|word| mask >> (word * 32) & 0xFFFF_FFFF != 0).count();
        if holds || words < 2 {
            return Some(());
        }
        let message = format!(
            "`{}` has {} bits; fields of this size are tested for equality, not for inequality; put a row for the \
             equal \
             ones before this row",
            field.name(),
            field.bits()
        );
        self.fault(span, message)
    }

    fn compare(
        &mut self,
        left: &syntax::Operand,
        compare: syntax::Compare,
        right: &syntax::Operand,
        span: Span,
    ) -> Option<Test> {
        use syntax::Compare as Written;
        // A comparison with a number on the left is turned around.
        let is_number = |operand: &syntax::Operand| matches!(operand, syntax::Operand::Number(..));
        if is_number(left) && is_number(right) {
            return self.fault(span, "both sides are numbers, so this holds always or never; take it out");
        }
        let (left, right, swapped) = if is_number(left) { (right, left, true) } else { (left, right, false) };
        // a > b is the negation of a ≤ b; turned around it is b < a.
        let (compare, holds, swapped) = match (compare, swapped) {
            (Written::Equal, _) => (Compare::Equal, true, false),
            (Written::NotEqual, _) => (Compare::Equal, false, false),
            (Written::Less, false) | (Written::Greater, true) => (Compare::Less, true, false),
            (Written::GreaterEqual, false) | (Written::LessEqual, true) => (Compare::Less, false, false),
            (Written::LessEqual, false) | (Written::GreaterEqual, true) => (Compare::LessEqual, true, false),
            (Written::Greater, false) | (Written::Less, true) => (Compare::LessEqual, false, false),
            (Written::SignedLess, swapped) => (Compare::SignedLess, true, swapped),
            (Written::SignedGreaterEqual, swapped) => (Compare::SignedLess, false, swapped),
            (Written::Before, swapped) => (Compare::Before, true, swapped),
            (Written::NotBefore, swapped) => (Compare::Before, false, swapped),
        };
        let with_constant = matches!(compare, Compare::Equal | Compare::Less | Compare::LessEqual);
        let field = match left {
            syntax::Operand::Name(name) => Field::parse(&name.text)
                .filter(|_| self.register(&name.text).is_none())
                .map(|field| (field, name, None)),
            syntax::Operand::Masked(name, mask, mask_span) => {
                Some((self.field(name)?, name, Some((*mask, *mask_span))))
            }
            syntax::Operand::Number(..) => None,
        };
        if let (Some((field, name, mask)), syntax::Operand::Number(number, number_span), true) =
            (field, right, with_constant)
        {
            let value = self.fits(*number, *number_span, field.bits())?;
            let all = all(field.bits());
            let mask = match mask {
                None => all,
                Some(_) if compare != Compare::Equal => {
                    return self.fault(span, "bits under a mask are compared with `==` or `!=`");
                }
                Some((mask, mask_span)) => {
                    let mask = self.fits(mask, mask_span, field.bits())?;
                    if value & !mask != 0 {
                        return self
                            .fault(*number_span, "the number has bits that the mask takes out, so it is never equal");
                    }
                    mask
                }
            };
            if compare != Compare::Equal && field.bits() > 32 {
                let message =
                    format!("`{}` has {} bits; these are compared with `==` and `in`", name.text, field.bits());
                return self.fault(span, message);
            }
            self.wide(field, mask, holds, name.span)?;
            return Some(Test { check: Check::Field { field, mask, compare, value }, holds });
        }
        let (a, b) = (self.operand(left)?, self.operand(right)?);
        if a == b {
            return self.fault(span, "both sides are the same, so this holds always or never; take it out");
        }
        let (a, b) = if swapped { (b, a) } else { (a, b) };
        Some(Test { check: Check::Condition { a, compare, b }, holds })
    }

    fn action(&mut self, action: &syntax::Action, row: &mut Row, chosen: &mut Chosen) -> Option<()> {
        let span = action.span;
        match &action.what {
            What::Set(name, expression) => match self.register(&name.text) {
                Some(place) => {
                    let function = self.function(expression)?;
                    if row.updates.iter().any(|(other, _)| *other == place) {
                        let message = format!(
                            "the row sets `{}` twice, and all its settings happen at once; take one out",
                            name.text
                        );
                        return self.fault(span, message);
                    }
                    if matches!(place, Place::Flow(_)) {
                        chosen.context(Wants::Registers, span, self.faults);
                    }
                    row.updates.push((place, function));
                }
                None => {
                    let field = self.edited(name)?;
                    let value = match expression {
                        syntax::Expression::Operand(operand) => self.value(operand, field)?,
                        syntax::Expression::Operation { span, .. } if field.bits() > 32 => {
                            let message = format!("`{}` has {} bits; results have 32", name.text, field.bits());
                            return self.fault(*span, message);
                        }
                        syntax::Expression::Operation { .. } => Value::Result(self.function(expression)?),
                    };
                    row.edits.push(Edit::Set(field, value));
                }
            },
            What::Goto(name, timeouts) => {
                self.contexts(span, "goto")?;
                let state = Some(self.state(name)?);
                let (hard, idle) = self.timeouts(timeouts);
                row.next = Next::State { state, hard, idle };
                chosen.context(Wants::State, span, self.faults);
            }
            What::Keep(timeouts) => {
                self.contexts(span, "keep")?;
                let (hard, idle) = self.timeouts(timeouts);
                row.next = Next::State { state: None, hard, idle };
                chosen.context(Wants::State, span, self.faults);
            }
            What::Forget => {
                self.contexts(span, "forget")?;
                row.next = Next::Forget;
                chosen.context(Wants::Forget, span, self.faults);
            }
            What::Notify => row.notify = true,
            What::Push(tag, operand) => {
                let field = match tag {
                    Tag::Vlan => Field::VlanTci,
                    Tag::Mpls => Field::MplsLabel,
                };
                let value = self.value(operand, field)?;
                row.edits.push(Edit::Push(*tag, value));
            }
            What::Pop(tag) => row.edits.push(Edit::Pop(*tag)),
            What::Swap(name) => {
                let pairs = [("eth", Pair::Eth), ("ip", Pair::Ip), ("ip6", Pair::Ip6), ("l4", Pair::L4)];
                match pairs.into_iter().find(|(pair, _)| *pair == name.text) {
                    Some((_, pair)) => row.edits.push(Edit::Swap(pair)),
                    None => return self.unknown(name, "pair", vec![], "there are `eth`, `ip`, `ip6` and `l4`"),
                }
            }
            What::Pass => chosen.verdict(span, self.faults),
            What::Next(name) => {
                chosen.verdict(span, self.faults);
                let elements = &self.file.elements;
                match elements.iter().position(|element| element.name.text == name.text) {
                    Some(at) if at > self.at => row.verdict = Verdict::Next(at),
                    Some(_) => {
                        let message = format!(
                            "`{}` does not come after this element, and frames only move down; move it down in the \
                             file",
                            name.text
                        );
                        return self.fault(name.span, message);
                    }
                    None => {
                        let known = elements.iter().map(|element| element.name.text.as_str()).collect();
                        return self.unknown(name, "element", known, "`next` names an element further down");
                    }
                }
            }
            What::Port(operand) => {
                chosen.verdict(span, self.faults);
                let operand_span = operand.span();
                let operand = self.operand(operand)?;
                if matches!(operand, Operand::Constant(port) if port >= limits::PORTS) {
                    return self.fault(operand_span, format!("ports are numbers from 0 to {}", limits::PORTS - 1));
                }
                row.verdict = Verdict::Port(operand);
            }
            What::Opposite | What::Host | What::Drop => {
                chosen.verdict(span, self.faults);
                row.verdict = match action.what {
                    What::Opposite => Verdict::Opposite,
                    What::Host => Verdict::Host,
                    _ => Verdict::Drop,
                };
            }
        }
        Some(())
    }

    fn contexts(&mut self, span: Span, what: &str) -> Option<()> {
        if self.element.key.is_some() {
            return Some(());
        }
        self.fault(span, format!("`{what}` is about a context, and an element without a `key` has none; add a key"))
    }

    fn function(&mut self, expression: &syntax::Expression) -> Option<Function> {
        let zero = Operand::Constant(0);
        match expression {
            syntax::Expression::Operand(operand) => {
                Some(Function { operation: Operation::Copy, a: self.operand(operand)?, b: zero })
            }
            syntax::Expression::Operation { name, a, b, shift, .. } => {
                let operation = match name.as_str() {
                    "+" => Operation::Add,
                    "-" => Operation::Sub,
                    "&" => Operation::And,
                    "|" => Operation::Or,
                    "^" => Operation::Xor,
                    "<<" => Operation::ShiftLeft,
                    ">>" => Operation::ShiftRight,
                    "ror" => Operation::RotateRight,
                    "*" => Operation::Multiply,
                    "not" => Operation::Not,
                    "min" => Operation::Min,
                    "max" => Operation::Max,
                    _ => Operation::Ewma(0),
                };
                let operation = match shift {
                    Some((number, span)) if number.value > 31 => {
                        return self.fault(*span, "the difference is shifted by 0 to 31 bits");
                    }
                    Some((number, _)) => Operation::Ewma(number.value as u8),
                    None => operation,
                };
                let a = self.operand(a)?;
                let b = b.as_ref().map_or(Some(zero), |b| self.operand(b))?;
                Some(Function { operation, a, b })
            }
        }
    }

    /// A field that an action sets.
    fn edited(&mut self, name: &Name) -> Option<Field> {
        let Some(field) = Field::parse(&name.text) else {
            let registers = self.element.flow.iter().chain(&self.element.global).map(|one| one.name.text.as_str());
            let fields = Field::ALL.iter().filter(|field| field.can_be_set()).map(|field| field.name());
            let known = registers.chain(fields).collect();
            return self.unknown(name, "register or field", known, "registers are declared with `flow` or `global`");
        };
        if !field.can_be_set() {
            let message = format!("`{}` cannot be set; lib/headers/fields.md says which fields can", name.text);
            return self.fault(name.span, message);
        }
        Some(field)
    }

    /// The value that a field is set to.
    fn value(&mut self, operand: &syntax::Operand, field: Field) -> Option<Value> {
        match operand {
            syntax::Operand::Number(number, span) => {
                let fits = self.fits(*number, *span, field.bits());
                fits.map(Value::Constant)
            }
            syntax::Operand::Masked(_, _, span) => self.fault(*span, "a mask goes with tests here"),
            syntax::Operand::Name(name) => {
                let read = self.named(name)?;
                if field.bits().max(read.bits) > 32 && field.bits() != read.bits {
                    let message = format!(
                        "`{}` has {} bits, `{}` has {}; fields over 32 bits are set from numbers and from fields of \
                         the same width",
                        field.name(),
                        field.bits(),
                        name.text,
                        read.bits
                    );
                    return self.fault(name.span, message);
                }
                Some(match read.operand {
                    Operand::Register(place) => Value::Register(place),
                    Operand::Field(field) => Value::Field(field),
                    Operand::Constant(number) => Value::Constant(number.into()),
                })
            }
        }
    }

    fn timeouts(&mut self, timeouts: &syntax::Timeouts) -> (Option<Timeout>, Option<Timeout>) {
        let hard = timeouts.hard.as_ref().and_then(|timeout| self.timeout(timeout));
        let idle = timeouts.idle.as_ref().and_then(|timeout| self.timeout(timeout));
        (hard, idle)
    }

    fn timeout(&mut self, timeout: &syntax::Timeout) -> Option<Timeout> {
        let then = match &timeout.then {
            Some(name) => Some(self.state(name)?),
            None => None,
        };
        let micros = u32::try_from(timeout.micros).ok().filter(|micros| (1..=Timeout::LONGEST).contains(micros));
        match micros {
            Some(micros) => Some(Timeout { micros, then }),
            None => self.fault(timeout.span, "a timeout lasts from 1 us to 4000 s"),
        }
    }

    /// Adds the implicit tests of a row: the frame must have the fields that the row names, and its edits must be
    /// possible.
    fn needs(&mut self, row: &mut Row, span: Span) {
        let mut needs = Needs::default();
        for test in &row.tests {
            match test.check {
                Check::Field { field, .. } => needs.fields.extend([field]),
                Check::Condition { a, b, .. } => needs.operands([a, b]),
                Check::Has(_) | Check::Packet | Check::Checksums | Check::New | Check::Full => (),
            }
        }
        for (_, function) in &row.updates {
            needs.operands([function.a, function.b]);
        }
        if let Verdict::Port(port) = row.verdict {
            needs.operands([port]);
        }
        for edit in &row.edits {
            if let Edit::Set(_, Value::Result(function)) = edit {
                needs.operands([function.a, function.b]);
            }
            if let Err(message) = needs.edit(edit) {
                self.faults.push(Fault::new(span, message));
            }
        }
        needs.fields.retain(|field| !field.is_metadata());
        row.needs = needs.fields.into_iter().collect();
        for (check, holds) in needs.checks {
            let test = Test { check, holds };
            if !row.tests.contains(&test) {
                row.tests.push(test);
            }
        }
    }
}

fn all(bits: u32) -> u128 {
    u128::MAX >> (128 - bits)
}

fn is_source(name: &str) -> bool {
    name.ends_with(".src") || name.ends_with(".sport")
}

/// The destination field of a source field, and the reverse.
fn other_end(name: &str) -> Option<String> {
    let ends = [("src", "dst"), ("dst", "src"), ("sport", "dport"), ("dport", "sport")];
    let (protocol, end) = name.split_once('.')?;
    let (_, other) = ends.into_iter().find(|(from, _)| *from == end)?;
    Some(format!("{protocol}.{other}"))
}

/// Whether no frame has both fields.
pub(crate) fn exclusive(a: Field, b: Field) -> bool {
    let group = |field: Field| match field.header() {
        Some(Header::Ip) => Some((0, 0)),
        Some(Header::Ip6) => Some((0, 1)),
        Some(Header::Tcp) => Some((1, 0)),
        Some(Header::Udp) => Some((1, 1)),
        Some(Header::Icmp) => Some((1, 2)),
        _ if field.name().starts_with("l4.") || field.name().starts_with("data.") => Some((2, 0)),
        _ => None,
    };
    match (group(a), group(b)) {
        (Some((2, _)), Some((1, 2))) | (Some((1, 2)), Some((2, _))) => true,
        (Some((layer, one)), Some((other_layer, other))) => layer == other_layer && one != other,
        _ => false,
    }
}

/// A row's effect on a context.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wants {
    Registers,
    State,
    Forget,
}

/// Statements that a row has at most once.
#[derive(Default)]
struct Chosen {
    verdict: bool,
    wants: Vec<Wants>,
}

impl Chosen {
    fn verdict(&mut self, span: Span, faults: &mut Vec<Fault>) {
        if self.verdict {
            faults.push(Fault::new(span, "the row already says where the frame goes; take one out"));
        }
        self.verdict = true;
    }

    fn context(&mut self, want: Wants, span: Span, faults: &mut Vec<Fault>) {
        let has = |other| self.wants.contains(&other);
        let message = match want {
            Wants::State if has(Wants::State) => Some("the row already names a state; take one out"),
            Wants::Forget if has(Wants::State) || has(Wants::Registers) => {
                Some("a context that is removed keeps nothing")
            }
            Wants::State | Wants::Registers if has(Wants::Forget) => Some("a context that is removed keeps nothing"),
            _ => None,
        };
        if let Some(message) = message {
            let way = if has(Wants::State) && want == Wants::State { "" } else { "; take `forget` out, or this" };
            faults.push(Fault::new(span, format!("{message}{way}")));
        }
        self.wants.push(want);
    }
}
