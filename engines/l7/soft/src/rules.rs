// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The rules of an application, as native code.

use penstock_l7_compiler::hash::crc16;
use penstock_l7_compiler::limits::SEEN;
use penstock_l7_compiler::program::{Action, Application, Program, TypeRules, Variant};

use crate::condition::{Field, FieldRules};

/// Numbers of fields and types that rules know.
const NUMBERS: usize = 16;

/// The action for a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// Which of the application's decisions it is: 0 for messages of other types, then those of the rules
    /// ([`TypeRules::decisions`]) and the default of each type.
    pub index: usize,
    /// The action for the message.
    pub action: Action,
    /// The queue, the unit, or the key for the dispatcher; 0 if the message is dropped.
    pub number: u16,
}

/// The rules of an application.
#[derive(Debug)]
pub struct Rules {
    others: Action,
    /// The rules of each type, by its number.
    types: [Option<OfType>; NUMBERS],
    decisions: usize,
}

/// The rules of a message type.
#[derive(Debug)]
struct OfType {
    /// The decision and action of each variant of a rule, and of the default behind them.
    outcomes: Vec<(usize, Action)>,
    /// Fields that rules look at.
    fields: Vec<(usize, FieldRules)>,
}

impl Rules {
    /// The rules of an application of a program.
    #[must_use]
    pub fn new(application: &Application, program: &Program) -> Self {
        let mut types = [const { None }; NUMBERS];
        let mut decisions = 1;
        for rules in &application.types {
            let of_type = OfType::new(rules, decisions);
            decisions = of_type.default().0 + 1;
            types[usize::from(program.message(rules).number) % NUMBERS] = Some(of_type);
        }
        Self { others: application.others, types, decisions }
    }

    /// Number of decisions.
    #[must_use]
    pub fn decisions(&self) -> usize {
        self.decisions
    }

    /// Decides a message by its type and the payload of its first packet, as far as that may hold dispatch fields.
    pub fn decide(&mut self, of_type: u8, payload: &[u8]) -> Decision {
        let of_type = self.types.get_mut(usize::from(of_type)).and_then(Option::as_mut);
        let Some(of_type) = of_type else {
            return Decision { index: 0, action: self.others, number: number(self.others, &[]) };
        };
        let payload = &payload[..payload.len().min(SEEN)];
        let (index, action) = of_type.outcome(payload);
        Decision { index, action, number: number(action, payload) }
    }
}

impl OfType {
    fn new(rules: &TypeRules, first: usize) -> Self {
        let numbered = rules.rules.iter().enumerate();
        let variants: Vec<(usize, &Variant)> =
            numbered.flat_map(|(at, rule)| rule.variants.iter().map(move |variant| (at, variant))).collect();
        let field = |number: usize| {
            let of = |variant: &Variant| variant.iter().position(|(field, _)| usize::from(*field) == number);
            let conditions: Vec<_> = variants.iter().map(|(_, variant)| of(variant).map(|at| &variant[at].1)).collect();
            conditions.iter().any(Option::is_some).then(|| (number, FieldRules::new(&conditions)))
        };
        let decisions = rules.decisions();
        let default = (decisions.iter().max().map_or(first, |last| first + last + 1), rules.default);
        let outcome = |(rule, _): &(usize, _)| (first + decisions[*rule], rules.rules[*rule].action);
        Self {
            fields: (1..NUMBERS).filter_map(field).collect(),
            outcomes: variants.iter().map(outcome).chain([default]).collect(),
        }
    }

    fn default(&self) -> (usize, Action) {
        self.outcomes[self.outcomes.len() - 1]
    }

    /// The outcome of the first variant whose conditions the fields fulfil.
    fn outcome(&mut self, payload: &[u8]) -> (usize, Action) {
        let count = self.outcomes.len() - 1;
        // With one field, the first variant that it fulfils wins.
        if let [(number, rules)] = &mut self.fields[..] {
            return self.outcomes[rules.first(field(payload, *number)).min(count)];
        }
        let fields = fields(payload);
        let looked_at = self.fields.len();
        let mut fulfilled: [&[u64]; NUMBERS] = [&[]; NUMBERS];
        // No rule in front of the first one that a field leaves can win.
        let mut first = 0;
        for (place, (number, rules)) in fulfilled.iter_mut().zip(&mut self.fields) {
            let of_field = rules.fulfilled(fields[*number]);
            *place = of_field.variants;
            first = first.max(of_field.first);
        }
        let fulfilled = &fulfilled[..looked_at];
        for word in first / 64..count.div_ceil(64) {
            let left = fulfilled.iter().fold(u64::MAX, |left, of_field| left & of_field[word]);
            let variant = 64 * word + left.trailing_zeros() as usize;
            if left != 0 && variant < count {
                return self.outcomes[variant];
            }
        }
        self.default()
    }
}

/// Fields of a message by their number.
type Fields<'a> = [Option<Field<'a>>; NUMBERS];

/// The fields of a message: each is a number, a length and so many bytes. A field that does not end in the payload ends
/// the list; if a number comes twice, the first one counts.
fn fields(payload: &[u8]) -> Fields<'_> {
    let mut fields = [None; NUMBERS];
    let mut rest = payload;
    while let [number, length, behind @ ..] = rest {
        let length = usize::from(*length);
        let Some(after) = behind.get(length..) else { break };
        if let Some(field @ None) = fields.get_mut(usize::from(*number)) {
            *field = Some(Field { bytes: behind, length });
        }
        rest = after;
    }
    // There is no field 0.
    fields[0] = None;
    fields
}

/// One field of a message, from 1 to 15, as [`fields`] finds it.
fn field(payload: &[u8], wanted: usize) -> Option<Field<'_>> {
    let mut rest = payload;
    while let [number, length, behind @ ..] = rest {
        let length = usize::from(*length);
        let after = behind.get(length..)?;
        if usize::from(*number) == wanted {
            return Some(Field { bytes: behind, length });
        }
        rest = after;
    }
    None
}

fn number(action: Action, payload: &[u8]) -> u16 {
    let hash =
        |of: u8, bits: u8| field(payload, usize::from(of)).map_or(0, |field| crc16(field.value())) & ((1 << bits) - 1);
    match action {
        Action::Drop => 0,
        Action::Queue(number) | Action::Unit(number) | Action::Port(number) => number,
        // How many messages had the decision before, which the block adds.
        Action::QueuesInTurn { first, .. } => first,
        Action::QueuesBy { first, bits, field } => first.wrapping_add(hash(field, bits)),
        Action::UnitsBy(field) => hash(field, 15),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn fields_end_at_the_first_that_is_not_whole() {
        let found = fields(b"\x01\x02ab\x03\x00\x01\x01z\xFF\x01q\x02\x05abc").map(|field| field.map(Field::value));
        assert_eq!((found[1], found[3], found[2]), (Some(&b"ab"[..]), Some(&b""[..]), None));
        assert!(fields(b"\x00\x01a\x04").iter().all(Option::is_none));
    }

    /// One field is found where the list of all has it, for all payloads of up to eight of four bytes.
    #[test]
    fn one_field_is_that_of_the_list() {
        for length in 0..=8u32 {
            for number in 0..4usize.pow(length) {
                let payload: Vec<u8> = (0..length).map(|at| [0, 1, 2, 200][number >> (2 * at) & 3]).collect();
                let all = fields(&payload);
                for (wanted, found) in all.iter().enumerate().skip(1) {
                    assert_eq!(field(&payload, wanted), *found, "{wanted} {payload:?}");
                }
            }
        }
    }
}
