// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Facts about a number: its bits, and its range, signed and unsigned, as 64 bits and as the lower 32.

use super::bits::Bits;
use crate::insn::{Size, Width};

/// Bounds of a number, read as unsigned and as signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The smallest value, unsigned.
    pub umin: u64,
    /// The largest value, unsigned.
    pub umax: u64,
    /// The smallest value, signed.
    pub smin: i64,
    /// The largest value, signed.
    pub smax: i64,
}

impl Range {
    /// Every 64-bit number.
    pub const ANY64: Range = Range { umin: 0, umax: u64::MAX, smin: i64::MIN, smax: i64::MAX };
    /// Every 32-bit number.
    pub const ANY32: Range = Range { umin: 0, umax: u32::MAX as u64, smin: i32::MIN as i64, smax: i32::MAX as i64 };

    /// Every number of that width.
    pub fn any(width: Width) -> Range {
        if width == Width::W64 { Range::ANY64 } else { Range::ANY32 }
    }

    fn is_empty(&self) -> bool {
        self.umin > self.umax || self.smin > self.smax
    }

    fn includes(&self, other: &Range) -> bool {
        self.umin <= other.umin && self.umax >= other.umax && self.smin <= other.smin && self.smax >= other.smax
    }

    fn join(&self, other: &Range) -> Range {
        Range {
            umin: self.umin.min(other.umin),
            umax: self.umax.max(other.umax),
            smin: self.smin.min(other.smin),
            smax: self.smax.max(other.smax),
        }
    }

    pub(super) fn meet(&self, other: &Range) -> Range {
        Range {
            umin: self.umin.max(other.umin),
            umax: self.umax.min(other.umax),
            smin: self.smin.max(other.smin),
            smax: self.smax.min(other.smax),
        }
    }

    /// Derives bounds of one interpretation from the other, unless the range crosses the point where the other wraps.
    /// `sign` extends the sign of the width.
    fn deduce(&mut self, sign: impl Fn(u64) -> i64, mask: u64) {
        if sign(self.umin) <= sign(self.umax) {
            self.smin = self.smin.max(sign(self.umin));
            self.smax = self.smax.min(sign(self.umax));
        }
        let (low, high) = (self.smin.cast_unsigned() & mask, self.smax.cast_unsigned() & mask);
        if low <= high {
            self.umin = self.umin.max(low);
            self.umax = self.umax.min(high);
        }
    }
}

/// Bounds and known bits of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scalar {
    /// The known bits.
    pub bits: Bits,
    /// Bounds of all 64 bits.
    pub wide: Range,
    /// Bounds of the lower 32 bits.
    pub low: Range,
}

impl Scalar {
    /// Nothing is known.
    pub const ANY: Scalar = Scalar { bits: Bits::ANY, wide: Range::ANY64, low: Range::ANY32 };

    /// One number.
    pub fn of(value: u64) -> Scalar {
        Scalar { bits: Bits::of(value), ..Scalar::ANY }.settled()
    }

    /// A number from one to another.
    pub fn between(umin: u64, umax: u64) -> Scalar {
        Scalar { wide: Range { umin, umax, ..Range::ANY64 }, ..Scalar::ANY }.settled()
    }

    /// A number of at most that.
    pub fn up_to(umax: u64) -> Scalar {
        Scalar::between(0, umax)
    }

    /// A number of some bytes, the others 0.
    pub fn of_size(size: Size) -> Scalar {
        Scalar::ANY.cut(size)
    }

    /// A number of some bytes, extended with its sign.
    pub fn of_signed(size: Size) -> Scalar {
        let limit = 1i64.checked_shl(size.bits() - 1).unwrap_or(i64::MIN);
        let wide = Range { smin: limit.wrapping_neg(), smax: limit.wrapping_sub(1), ..Range::ANY64 };
        Scalar { wide, ..Scalar::ANY }.settled()
    }

    /// The number, if it is known.
    pub fn constant(&self) -> Option<u64> {
        self.bits.constant()
    }

    /// The range at a width.
    pub fn range(&self, width: Width) -> &Range {
        if width == Width::W64 { &self.wide } else { &self.low }
    }

    /// The bits at a width.
    pub fn bits(&self, width: Width) -> Bits {
        if width == Width::W64 { self.bits } else { self.bits.low() }
    }

    /// Whether all of `other` are in it.
    pub fn includes(&self, other: &Scalar) -> bool {
        self.bits.includes(other.bits) && self.wide.includes(&other.wide) && self.low.includes(&other.low)
    }

    /// The union of both.
    pub fn join(&self, other: &Scalar) -> Scalar {
        Scalar { bits: self.bits.join(other.bits), wide: self.wide.join(&other.wide), low: self.low.join(&other.low) }
    }

    /// The lower bytes, the others 0.
    pub fn cut(&self, size: Size) -> Scalar {
        if size == Size::B8 {
            return *self;
        }
        let mask = (1u64 << size.bits()) - 1;
        let bits = Bits { value: self.bits.value & mask, unknown: self.bits.unknown & mask };
        let mut cut = Scalar { bits, ..Scalar::ANY };
        if self.wide.umax <= mask {
            cut.wide = self.wide;
        }
        if size == Size::B4 {
            cut.low = self.low;
        }
        cut.settled()
    }

    /// Without a contradiction, or None.
    pub(super) fn consistent(self) -> Option<Scalar> {
        let settled = self.settled();
        (!settled.wide.is_empty() && !settled.low.is_empty()).then_some(settled)
    }

    /// Transfers the facts of each part to the others.
    pub(super) fn settled(mut self) -> Scalar {
        self.learn_from_bits();
        // Two rounds: bounds that the first one finds may tighten others.
        for _ in 0..2 {
            self.deduce();
        }
        self.tell_bits();
        self.learn_from_bits();
        self
    }

    fn learn_from_bits(&mut self) {
        let sign = |bits: u64| bits.cast_signed();
        self.wide = self.wide.meet(&Range {
            umin: self.bits.min(),
            umax: self.bits.max(),
            smin: sign(self.bits.value | self.bits.unknown & 1 << 63),
            smax: sign(self.bits.value | self.bits.unknown & !(1 << 63)),
        });
        let low = self.bits.low();
        let sign = |bits: u64| i64::from((bits as u32).cast_signed());
        self.low = self.low.meet(&Range {
            umin: low.min(),
            umax: low.max(),
            smin: sign(low.value | low.unknown & 1 << 31),
            smax: sign(low.value | low.unknown & !(1 << 31)),
        });
    }

    fn deduce(&mut self) {
        self.wide.deduce(u64::cast_signed, u64::MAX);
        self.low.deduce(|x| i64::from((x as u32).cast_signed()), u64::from(u32::MAX));
        // If the upper halves of both ends are the same, the lower halves bound the lower bits.
        let (high, mask) = (!u64::from(u32::MAX), u64::from(u32::MAX));
        if self.wide.umin & high == self.wide.umax & high {
            self.low.umin = self.low.umin.max(self.wide.umin & mask);
            self.low.umax = self.low.umax.min(self.wide.umax & mask);
        }
        if self.wide.smin >= i64::from(i32::MIN) && self.wide.smax <= i64::from(i32::MAX) {
            self.low.smin = self.low.smin.max(self.wide.smin);
            self.low.smax = self.low.smax.min(self.wide.smax);
        }
        // And the lower bits bound the ends.
        self.wide.umin = self.wide.umin.max(self.wide.umin & high | self.low.umin);
        self.wide.umax = self.wide.umax.min(self.wide.umax & high | self.low.umax);
        let signed = |end: i64, low: u64| (end.cast_unsigned() & high | low).cast_signed();
        self.wide.smin = self.wide.smin.max(signed(self.wide.smin, self.low.umin));
        self.wide.smax = self.wide.smax.min(signed(self.wide.smax, self.low.umax));
        if self.wide.smin >= i64::from(i32::MIN) && self.wide.smax <= i64::from(i32::MAX) {
            self.wide.smin = self.wide.smin.max(self.low.smin);
            self.wide.smax = self.wide.smax.min(self.low.smax);
        }
    }

    fn tell_bits(&mut self) {
        if let Some(bits) = self.bits.meet(Bits::range(self.wide.umin, self.wide.umax)) {
            self.bits = bits;
        }
        if let Some(low) = self.bits.low().meet(Bits::range(self.low.umin, self.low.umax)) {
            self.bits = self.bits.with_low(low);
        }
    }
}
