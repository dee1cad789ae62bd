// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What operations compute.

use crate::insn::{Cond, Width};
use crate::rows::op::{Alu, Bytes};

/// The lower half of a 32-bit operation's operand or result.
pub(super) fn narrowed(width: Width, value: u64) -> u64 {
    if width == Width::W32 { value & 0xFFFF_FFFF } else { value }
}

/// The lower `bits` with their sign.
pub(super) fn extended(value: u64, bits: u8) -> u64 {
    let unused = 64 - u32::from(bits);
    ((value << unused).cast_signed() >> unused).cast_unsigned()
}

/// `a op b`.
pub fn alu(op: Alu, width: Width, a: u64, b: u64) -> u64 {
    let bits = if width == Width::W32 { 32 } else { 64 };
    let by = (b % bits) as u32;
    let (a, b) = (narrowed(width, a), narrowed(width, b));
    let result = match op {
        Alu::Add => a.wrapping_add(b),
        Alu::Sub => a.wrapping_sub(b),
        Alu::And => a & b,
        Alu::Or => a | b,
        Alu::Xor => a ^ b,
        Alu::Lsh => a << by,
        Alu::Rsh => a >> by,
        Alu::Arsh => (extended(a, bits as u8).cast_signed() >> by).cast_unsigned(),
        Alu::Mul => a.wrapping_mul(b),
    };
    narrowed(width, result)
}

/// Whether `a cond b` holds.
pub fn compare(cond: Cond, width: Width, a: u64, b: u64) -> bool {
    let bits = if width == Width::W32 { 32 } else { 64 };
    let (a, b) = (narrowed(width, a), narrowed(width, b));
    let (x, y) = (extended(a, bits).cast_signed(), extended(b, bits).cast_signed());
    match cond {
        Cond::Eq => a == b,
        Cond::Ne => a != b,
        Cond::Set => a & b != 0,
        Cond::Gt => a > b,
        Cond::Ge => a >= b,
        Cond::Lt => a < b,
        Cond::Le => a <= b,
        Cond::Sgt => x > y,
        Cond::Sge => x >= y,
        Cond::Slt => x < y,
        Cond::Sle => x <= y,
    }
}

/// Division as RFC 9669 has it: by zero it gives 0, and the remainder is the left operand.
pub fn divide(signed: bool, remainder: bool, width: Width, a: u64, b: u64) -> u64 {
    let bits = if width == Width::W32 { 32 } else { 64 };
    let (a, b) = (narrowed(width, a), narrowed(width, b));
    let (x, y) = (extended(a, bits).cast_signed(), extended(b, bits).cast_signed());
    let result = match (remainder, signed) {
        (false, _) if b == 0 => 0,
        (true, _) if b == 0 => a,
        (false, false) => a / b,
        (true, false) => a % b,
        (false, true) => x.wrapping_div(y).cast_unsigned(),
        (true, true) => x.wrapping_rem(y).cast_unsigned(),
    };
    narrowed(width, result)
}

/// The value that a load makes of its bytes.
pub(super) fn loaded(bits: u64, bytes: Bytes, signed: bool) -> u64 {
    let count = bytes.count * 8;
    let bits = if bytes.swap { bits.swap_bytes() >> (64 - u32::from(count)) } else { bits };
    if signed { extended(bits, count) } else { bits }
}

/// The bytes that a store puts down, in the lower bits.
pub(super) fn stored(value: u64, bytes: Bytes) -> u64 {
    let unused = 64 - 8 * u32::from(bytes.count);
    let cut = value << unused;
    if bytes.swap { cut.swap_bytes() } else { cut >> unused }
}
