// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Numbers as written.

use num_bigint::{BigInt, Sign};
use num_traits::ToPrimitive;

use super::value::Value;
use crate::fault::{Check, Fault};
use crate::fold::mask;
use crate::ir::{Expr, MAX_BITS};
use crate::source::Span;
use crate::types::Type;

/// A literal: `12`, `0x1F`, `8w255`, `4s0b1010`.
pub(super) fn number(text: &str, span: Span) -> Check<Value> {
    let wrong = || Fault::new(span, format!("`{text}` is not a number")).help("write 12, 0x1F, 0b101, 8w255 or 8s1");
    let split = text.find(['w', 's']).filter(|at| text[..*at].bytes().all(|b| b.is_ascii_digit()));
    let Some(at) = split else {
        return Ok(Value::Integer(digits(text).ok_or_else(wrong)?, span));
    };
    let width: u32 = text[..at].parse().map_err(|_| wrong())?;
    let value = digits(&text[at + 1..]).ok_or_else(wrong)?;
    let ty = if &text[at..=at] == "s" { Type::Int(width) } else { Type::Bit(width) };
    if width == 0 || width > MAX_BITS {
        return Err(
            Fault::missing(span, &format!("values of {width} bits")).help(format!("1 to {MAX_BITS} bits are possible"))
        );
    }
    fit(&value, &ty, span)
}

/// A constant as a value of this type.
pub(super) fn fit(value: &BigInt, ty: &Type, span: Span) -> Check<Value> {
    let Some(width) = ty.bits() else {
        return Err(Fault::new(span, format!("mismatched types: `{ty}` is expected, this is a number")));
    };
    // -2^(w-1) to 2^w - 1: the values of bit<w> and int<w> together.
    let bits = if value.sign() == Sign::Minus { (value + 1u8).bits() + 1 } else { value.bits() };
    if bits > u64::from(width) {
        return Err(Fault::new(span, format!("{value} does not fit into `{ty}`"))
            .label(format!("needs {bits} bits"))
            .help(format!("the largest value is {}", mask(if ty.is_signed() { width - 1 } else { width }))));
    }
    let modulus = BigInt::from(1u8) << width;
    let wrapped = ((value % &modulus) + &modulus) % &modulus;
    Ok(Value::Scalar(Expr::constant(wrapped.to_u128().unwrap_or_default(), width, span), ty.clone()))
}

/// A number of an annotation.
pub(super) fn plain(text: &str) -> Option<u32> {
    digits(text)?.to_u32()
}

/// Digits of a number. Reading them takes the square of their count.
const DIGITS: usize = 4_096;

/// Digits with their base.
fn digits(text: &str) -> Option<BigInt> {
    let text = text.replace('_', "");
    let (base, digits) = match text.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => (16, &text[2..]),
        Some("0b") => (2, &text[2..]),
        Some("0o") => (8, &text[2..]),
        Some("0d") => (10, &text[2..]),
        _ => (10, &text[..]),
    };
    if digits.len() > DIGITS { None } else { BigInt::parse_bytes(digits.as_bytes(), base) }
}
