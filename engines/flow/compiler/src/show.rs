// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Parts of a program as text, almost as they were written.

use penstock_headers::Field;

use crate::program::{
    Check, Compare, Edit, Element, Function, Next, Operand, Operation, Pair, Place, Program, Row, Tag, Test, Timeout,
    Value, Verdict,
};

/// A register's name.
pub(crate) fn register(element: &Element, place: Place) -> &str {
    match place {
        Place::Flow(at) => &element.registers[usize::from(at)].name,
        Place::Global(at) => &element.globals[usize::from(at)].name,
    }
}

/// A state's name.
pub(crate) fn state(element: &Element, state: u8) -> &str {
    &element.states[usize::from(state)]
}

/// An operand.
pub(crate) fn operand(element: &Element, operand: Operand) -> String {
    match operand {
        Operand::Field(field) => field.name().to_owned(),
        Operand::Register(place) => register(element, place).to_owned(),
        Operand::Constant(number) => number.to_string(),
    }
}

/// A test.
pub(crate) fn test(element: &Element, test: &Test) -> String {
    let not = if test.holds { "" } else { "!" };
    match test.check {
        Check::Has(header) => format!("{not}{}", header.name()),
        Check::Packet => format!("{not}(ip or ip6)"),
        Check::Checksums => format!("{not}(checksums seen)"),
        Check::New => format!("{not}new"),
        Check::Full => format!("{not}full"),
        Check::Field { field, mask, compare, value } => {
            let name = field.name();
            let all = u128::MAX >> (128 - field.bits());
            let sign = sign(compare, test.holds);
            if mask == all {
                format!("{name} {sign} {}", number(field, value))
            } else if is_prefix(mask, all) && (field.name().ends_with("src") || field.name().ends_with("dst")) {
                format!("{not}{name} in {}/{}", number(field, value), mask.count_ones())
            } else {
                format!("{name} & {mask:#x} {sign} {value:#x}")
            }
        }
        Check::Condition { a, compare: Compare::Before, b } => {
            format!("{not}{} before {}", operand(element, a), operand(element, b))
        }
        Check::Condition { a, compare, b } => {
            format!("{} {} {}", operand(element, a), sign(compare, test.holds), operand(element, b))
        }
    }
}

fn sign(compare: Compare, holds: bool) -> &'static str {
    match (compare, holds) {
        (Compare::Equal, true) => "==",
        (Compare::Equal, false) => "!=",
        (Compare::Less, true) => "<",
        (Compare::Less, false) => ">=",
        (Compare::LessEqual, true) => "<=",
        (Compare::LessEqual, false) => ">",
        (Compare::SignedLess, true) => "<s",
        (Compare::SignedLess, false) => ">=s",
        (Compare::Before, _) => "before",
    }
}

/// Whether a mask selects the upper bits of a field with these bits.
fn is_prefix(mask: u128, all: u128) -> bool {
    let rest = all & !mask;
    rest & rest.wrapping_add(1) == 0
}

/// A number in the form of a field.
fn number(field: Field, value: u128) -> String {
    match field {
        Field::IpSrc | Field::IpDst => std::net::Ipv4Addr::from_bits(value as u32).to_string(),
        Field::Ip6Src | Field::Ip6Dst => std::net::Ipv6Addr::from_bits(value).to_string(),
        Field::EthSrc | Field::EthDst => {
            value.to_be_bytes()[10..].iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":")
        }
        _ => value.to_string(),
    }
}

/// A function.
pub(crate) fn function(element: &Element, function: Function) -> String {
    let (a, b) = (operand(element, function.a), operand(element, function.b));
    let sign = match function.operation {
        Operation::Copy => return a,
        Operation::Not => return format!("not {a}"),
        Operation::Min => return format!("min({a}, {b})"),
        Operation::Max => return format!("max({a}, {b})"),
        Operation::Ewma(shift) => return format!("ewma({a}, {b}, {shift})"),
        Operation::Add => "+",
        Operation::Sub => "-",
        Operation::And => "&",
        Operation::Or => "|",
        Operation::Xor => "^",
        Operation::ShiftLeft => "<<",
        Operation::ShiftRight => ">>",
        Operation::RotateRight => "ror",
        Operation::Multiply => "*",
    };
    format!("{a} {sign} {b}")
}

/// The tests of a row.
pub(crate) fn tests(element: &Element, row: &Row) -> String {
    if row.tests.is_empty() {
        return "else".to_owned();
    }
    row.tests.iter().map(|one| test(element, one)).collect::<Vec<_>>().join(" && ")
}

/// The actions of a row, without its next state and timeouts.
pub(crate) fn actions(program: &Program, element: &Element, row: &Row) -> String {
    let mut actions = Vec::new();
    for (place, one) in &row.updates {
        actions.push(format!("{} = {}", register(element, *place), function(element, *one)));
    }
    for edit in &row.edits {
        actions.push(match edit {
            Edit::Set(field, from) => format!("{} = {}", field.name(), value(element, *field, *from)),
            Edit::Push(Tag::Vlan, from) => format!("push vlan {}", value(element, Field::VlanTci, *from)),
            Edit::Push(Tag::Mpls, from) => format!("push mpls {}", value(element, Field::MplsLabel, *from)),
            Edit::Pop(Tag::Vlan) => "pop vlan".to_owned(),
            Edit::Pop(Tag::Mpls) => "pop mpls".to_owned(),
            Edit::Swap(Pair::Eth) => "swap eth".to_owned(),
            Edit::Swap(Pair::Ip) => "swap ip".to_owned(),
            Edit::Swap(Pair::Ip6) => "swap ip6".to_owned(),
            Edit::Swap(Pair::L4) => "swap l4".to_owned(),
        });
    }
    if row.next == Next::Forget {
        actions.push("forget".to_owned());
    }
    if row.notify {
        actions.push("notify".to_owned());
    }
    let here = program.elements.iter().position(|other| other.name == element.name).unwrap_or_default();
    actions.push(match row.verdict {
        Verdict::Next(at) if at == here + 1 => "pass".to_owned(),
        Verdict::Next(at) => program.elements.get(at).map_or("pass".to_owned(), |next| format!("next {}", next.name)),
        Verdict::Port(port) => format!("port {}", operand(element, port)),
        Verdict::Opposite => "opposite".to_owned(),
        Verdict::Host => "host".to_owned(),
        Verdict::Drop => "drop".to_owned(),
    });
    actions.join(", ")
}

fn value(element: &Element, field: Field, value: Value) -> String {
    match value {
        Value::Constant(constant) => number(field, constant),
        Value::Field(field) => field.name().to_owned(),
        Value::Register(place) => register(element, place).to_owned(),
        Value::Result(one) => function(element, one),
    }
}

/// A timeout, with the state that it leads to.
pub(crate) fn timeout(element: &Element, timeout: &Timeout) -> String {
    let then = timeout.then.map(|next| format!(" then {}", state(element, next)));
    format!("{}{}", time(timeout), then.unwrap_or_default())
}

/// The length of a timeout.
pub(crate) fn time(timeout: &Timeout) -> String {
    match timeout.micros {
        micros if micros % 1_000_000 == 0 => format!("{} s", micros / 1_000_000),
        micros if micros % 1_000 == 0 => format!("{} ms", micros / 1_000),
        micros => format!("{micros} us"),
    }
}
