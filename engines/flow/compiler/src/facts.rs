// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Facts about a frame and its flow that follow from tests, and whether they contradict each other.

use penstock_headers::{Field, Header};

use crate::program::{Check, Compare, Operand, Place, Row, Test};

/// A statement that holds or does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fact {
    /// The frame has a field.
    There(Field),
    /// A test, without the fields that it needs.
    Check(Check),
}

/// Facts that are assumed together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts(Vec<(Fact, bool)>);

/// The facts for which a row matches, apart from its state.
pub(crate) fn of(row: &Row) -> Vec<(Fact, bool)> {
    let there = row.needs.iter().map(|field| (Fact::There(*field), true));
    let tests = row.tests.iter().map(|Test { check, holds }| match check {
        Check::Condition { a: number @ Operand::Constant(_), compare: Compare::Equal, b } => {
            (Fact::Check(Check::Condition { a: *b, compare: Compare::Equal, b: *number }), *holds)
        }
        check => (Fact::Check(*check), *holds),
    });
    there.chain(tests).collect()
}

/// A subject of comparisons with numbers.
#[derive(Clone, Copy, PartialEq)]
enum Subject {
    Field(Field),
    Register(Place),
}

/// A comparison with a number, as the interval of numbers or the bits for which it holds.
#[derive(Clone, Copy)]
enum Range {
    Interval(u128, u128),
    Bits(u128, u128),
}

impl Facts {
    /// Assumes that a fact holds or does not hold; false if that contradicts the facts before.
    ///
    /// It finds all contradictions between headers, between comparisons of one subject with numbers, and between
    /// comparisons of the same two subjects. It reports only real contradictions, but not all of them.
    pub(crate) fn add(&mut self, fact: Fact, holds: bool) -> bool {
        if let Some((_, known)) = self.0.iter().find(|(known, _)| *known == fact) {
            return *known == holds;
        }
        self.0.push((fact, holds));
        // The facts before agree with each other.
        match fact {
            Fact::There(_) | Fact::Check(Check::Has(_)) => self.headers_agree(),
            Fact::Check(_) => self.numbers_agree() && self.conditions_agree(),
        }
    }

    fn headers_agree(&self) -> bool {
        let mut has = [None; Header::ALL.len()];
        let mut set = |header: Header, there: bool| {
            let old = has[header as usize].replace(there);
            old.is_none_or(|old| old == there)
        };
        for (fact, holds) in &self.0 {
            let agrees = match fact {
                Fact::Check(Check::Has(header)) => set(*header, *holds),
                Fact::There(field) => match field.header() {
                    Some(header) if *holds || one_with(*field) => set(header, *holds),
                    _ => true,
                },
                Fact::Check(_) => true,
            };
            if !agrees {
                return false;
            }
        }
        let l4 = |fact: &&(Fact, bool)| matches!(fact, (Fact::There(field), true) if of_l4(*field));
        let l4 = self.0.iter().any(|fact| l4(&fact));
        let is = |header: Header| has[header as usize] == Some(true);
        let not = |header: Header| has[header as usize] == Some(false);
        let tops = [Header::Tcp, Header::Udp, Header::Icmp];
        let packet = tops.into_iter().any(is) || l4 || is(Header::Fragment);
        !(is(Header::Ip) && is(Header::Ip6)
            || tops.into_iter().filter(|header| is(*header)).count() > 1
            || l4 && (is(Header::Icmp) || not(Header::Tcp) && not(Header::Udp))
            || is(Header::Vlan2) && not(Header::Vlan)
            || packet && not(Header::Ip) && not(Header::Ip6))
            && self.fields_agree(l4)
    }

    /// Fields whose header has no separate bit.
    fn fields_agree(&self, l4: bool) -> bool {
        let there = |field: Field| self.0.contains(&(Fact::There(field), true));
        let gone = |field: Field| self.0.contains(&(Fact::There(field), false));
        let tcp_or_udp =
            [Header::Tcp, Header::Udp].into_iter().any(|one| self.0.contains(&(Fact::Check(Check::Has(one)), true)));
        let data = |field: &Field| field.name().starts_with("data.");
        let last = Field::ALL.into_iter().filter(data).rfind(|field| there(*field));
        let first_gone = Field::ALL.into_iter().filter(data).find(|field| gone(*field));
        let ports_gone = Field::ALL.into_iter().any(|field| of_l4(field) && !data(&field) && gone(field));
        let both = Field::ALL.into_iter().any(|field| there(field) && gone(field));
        !(both || ports_gone && (l4 || tcp_or_udp) || last.zip(first_gone).is_some_and(|(last, gone)| gone <= last))
    }

    fn numbers_agree(&self) -> bool {
        let known: Vec<_> = self.0.iter().filter_map(|(fact, holds)| number(fact).map(|one| (one, *holds))).collect();
        known.iter().enumerate().all(|(at, ((subject, ..), _))| {
            // Each subject is checked once, at its first occurrence.
            if known[..at].iter().any(|((other, ..), _)| other == subject) {
                return true;
            }
            let ranges = known.iter().filter(|((other, ..), _)| other == subject);
            let ranges: Vec<_> = ranges.map(|((_, _, range), holds)| (*range, *holds)).collect();
            possible(known[at].0.1, &ranges)
        })
    }

    fn conditions_agree(&self) -> bool {
        // Which of less, equal and greater are still possible between these two operands.
        let allowed = |a: Operand, b: Operand| {
            let mut allowed = [true; 3];
            for (fact, holds) in &self.0 {
                let Fact::Check(Check::Condition { a: x, compare, b: y }) = fact else { continue };
                let mut orders = match compare {
                    Compare::Equal => [false, true, false],
                    Compare::Less => [true, false, false],
                    Compare::LessEqual => [true, true, false],
                    Compare::SignedLess | Compare::Before => continue,
                };
                if (a, b) == (*y, *x) {
                    orders.reverse();
                } else if (a, b) != (*x, *y) {
                    continue;
                }
                allowed.iter_mut().zip(orders).for_each(|(one, order)| *one &= order == *holds);
            }
            allowed
        };
        self.0.iter().enumerate().all(|(at, (fact, holds))| match fact {
            Fact::Check(Check::Condition { a, compare, b }) if *compare <= Compare::LessEqual => {
                allowed(*a, *b).contains(&true)
            }
            Fact::Check(Check::Condition { .. } | Check::New | Check::Full) => !self.0[..at].contains(&(*fact, !holds)),
            _ => true,
        })
    }
}

/// Whether a frame has a field exactly if it has the header; other fields depend on more.
fn one_with(field: Field) -> bool {
    field.header().is_some() && field != Field::Ip6Proto
}

/// Whether both TCP and UDP have the field.
fn of_l4(field: Field) -> bool {
    field.name().starts_with("l4.") || field.name().starts_with("data.")
}

/// A comparison with a number: its subject, the subject's bits, and the numbers for which it holds.
fn number(fact: &Fact) -> Option<(Subject, u32, Range)> {
    match *fact {
        Fact::Check(Check::Field { field, mask, compare, value }) => {
            let (field, mask, value) = match within(field) {
                // A part of a longer field has some of its bits.
                Some((whole, shift)) if compare == Compare::Equal => (whole, mask << shift, value << shift),
                _ => (field, mask, value),
            };
            let all = u128::MAX >> (128 - field.bits());
            let range = match compare {
                Compare::Equal if mask == all => Range::Interval(value, value),
                Compare::Equal => Range::Bits(mask, value),
                Compare::LessEqual => Range::Interval(0, value),
                // No number is less than 0.
                _ => value.checked_sub(1).map_or(Range::Interval(1, 0), |most| Range::Interval(0, most)),
            };
            Some((Subject::Field(field), field.bits(), range))
        }
        Fact::Check(Check::Condition { a: Operand::Register(place), compare, b: Operand::Constant(value) }) => {
            let value = u128::from(value);
            let range = match compare {
                Compare::Equal => Range::Interval(value, value),
                Compare::LessEqual => Range::Interval(0, value),
                Compare::Less => value.checked_sub(1).map_or(Range::Interval(1, 0), |most| Range::Interval(0, most)),
                Compare::SignedLess | Compare::Before => return None,
            };
            Some((Subject::Register(place), 32, range))
        }
        _ => None,
    }
}

/// The field that another field is a part of, and the distance of their lowest bits.
pub(crate) fn within(field: Field) -> Option<(Field, u32)> {
    Some(match field {
        Field::VlanId => (Field::VlanTci, 0),
        Field::VlanPcp => (Field::VlanTci, 13),
        Field::Vlan2Id => (Field::Vlan2Tci, 0),
        Field::Vlan2Pcp => (Field::Vlan2Tci, 13),
        Field::TcpFin => (Field::TcpFlags, 0),
        Field::TcpSyn => (Field::TcpFlags, 1),
        Field::TcpRst => (Field::TcpFlags, 2),
        Field::TcpAckFlag => (Field::TcpFlags, 4),
        _ => return None,
    })
}

impl Range {
    fn has(self, number: u128) -> bool {
        match self {
            Range::Interval(low, high) => (low..=high).contains(&number),
            Range::Bits(mask, value) => number & mask == value,
        }
    }
}

/// Numbers that are tried before the check assumes that some number fits: all numbers of 16 bits.
const NUMBERS: u32 = 1 << 16;

/// Whether some number of `bits` bits is in all ranges that hold and in no range that does not.
fn possible(bits: u32, ranges: &[(Range, bool)]) -> bool {
    if bits <= 8 {
        return (0..1u128 << bits).any(|number| ranges.iter().all(|(range, holds)| range.has(number) == *holds));
    }
    let all = u128::MAX >> (128 - bits);
    let (mut low, mut high) = (0, all);
    // Bits that are known, and their values.
    let (mut mask, mut value) = (0, 0);
    for (range, holds) in ranges {
        match *range {
            Range::Interval(from, to) if *holds => {
                low = low.max(from);
                high = high.min(to);
            }
            Range::Bits(more, bits) if *holds => {
                if (value ^ bits) & mask & more != 0 {
                    return false;
                }
                mask |= more;
                value |= bits;
            }
            _ => (),
        }
    }
    if low == high && mask & (low ^ value) != 0 {
        return false;
    }
    // The numbers with these bits lie between these two.
    low = low.max(value);
    high = high.min(value | all & !mask);
    let excluded: Vec<Range> = ranges.iter().filter(|(_, holds)| !holds).map(|(range, _)| *range).collect();
    if excluded
        .iter()
        .any(|range| matches!(range, Range::Bits(more, bits) if more & !mask == 0 && value & more == *bits))
    {
        return false;
    }
    // The search starts at the lowest number and skips each excluded range.
    for _ in 0..NUMBERS {
        if low > high {
            return false;
        }
        let end = excluded.iter().filter(|range| range.has(low)).map(|range| match *range {
            Range::Interval(_, to) => to,
            // Numbers that differ only below the lowest bit that counts are excluded as well.
            Range::Bits(mask, _) => low | (mask & mask.wrapping_neg()).wrapping_sub(1),
        });
        match end.max() {
            None => return true,
            Some(end) if end >= high => return false,
            Some(end) => low = end + 1,
        }
    }
    true
}
