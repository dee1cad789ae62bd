// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The known bits of a number.

/// A set of numbers: all that have the bits of `value` at each position that `unknown` leaves clear. `value & unknown`
/// is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bits {
    /// The bits that are known to be 1.
    pub value: u64,
    /// The bits that are not known.
    pub unknown: u64,
}

impl Bits {
    /// Every number.
    pub const ANY: Bits = Bits { value: 0, unknown: u64::MAX };

    /// One number.
    pub fn of(value: u64) -> Bits {
        Bits { value, unknown: 0 }
    }

    /// The smallest such set with all numbers of a range.
    pub fn range(min: u64, max: u64) -> Bits {
        let differs = 64 - (min ^ max).leading_zeros();
        if min > max || differs == 64 {
            return Bits::ANY;
        }
        let unknown = (1u64 << differs) - 1;
        Bits { value: min & !unknown, unknown }
    }

    /// The number, if there is only one.
    pub fn constant(self) -> Option<u64> {
        (self.unknown == 0).then_some(self.value)
    }

    /// Smallest and largest.
    pub fn min(self) -> u64 {
        self.value
    }

    /// The largest.
    pub fn max(self) -> u64 {
        self.value | self.unknown
    }

    /// Whether all of `other` are in it.
    pub fn includes(self, other: Bits) -> bool {
        other.unknown & !self.unknown == 0 && (self.value ^ other.value) & !self.unknown == 0
    }

    /// Those in both; None when the known bits differ.
    pub fn meet(self, other: Bits) -> Option<Bits> {
        let unknown = self.unknown & other.unknown;
        let known_in_both = !self.unknown & !other.unknown;
        let value = (self.value | other.value) & !unknown;
        ((self.value ^ other.value) & known_in_both == 0).then_some(Bits { value, unknown })
    }

    /// The smallest such set with both.
    pub fn join(self, other: Bits) -> Bits {
        let unknown = self.unknown | other.unknown | (self.value ^ other.value);
        Bits { value: self.value & !unknown, unknown }
    }

    /// All sums of a number of `self` and one of `other`, modulo 2^64.
    pub fn plus(self, other: Bits) -> Bits {
        let low = self.value.wrapping_add(other.value);
        let high = low.wrapping_add(self.unknown).wrapping_add(other.unknown);
        // A bit is known if no carry into it depends on unknown bits.
        let unknown = (low ^ high) | self.unknown | other.unknown;
        Bits { value: low & !unknown, unknown }
    }

    /// All differences, modulo 2^64.
    pub fn minus(self, other: Bits) -> Bits {
        let difference = self.value.wrapping_sub(other.value);
        let high = difference.wrapping_add(self.unknown);
        let low = difference.wrapping_sub(other.unknown);
        let unknown = (high ^ low) | self.unknown | other.unknown;
        Bits { value: difference & !unknown, unknown }
    }

    /// All bitwise ands.
    pub fn and(self, other: Bits) -> Bits {
        let value = self.value & other.value;
        Bits { value, unknown: self.max() & other.max() & !value }
    }

    /// All bitwise ors.
    pub fn or(self, other: Bits) -> Bits {
        let value = self.value | other.value;
        Bits { value, unknown: (self.unknown | other.unknown) & !value }
    }

    /// All bitwise exclusive ors.
    pub fn xor(self, other: Bits) -> Bits {
        let unknown = self.unknown | other.unknown;
        Bits { value: (self.value ^ other.value) & !unknown, unknown }
    }

    /// Long multiplication: the summand of each bit of `self`.
    pub fn times(self, other: Bits) -> Bits {
        let mut sum = Bits::of(self.value.wrapping_mul(other.value));
        let mut rest = self;
        let mut added = other;
        while rest.value != 0 || rest.unknown != 0 {
            if rest.value & 1 != 0 {
                sum = sum.plus(Bits { value: 0, unknown: added.unknown });
            } else if rest.unknown & 1 != 0 {
                sum = sum.plus(Bits { value: 0, unknown: added.max() });
            }
            rest = rest.right(1);
            added = added.left(1);
        }
        sum
    }

    /// All numbers shifted left by `by`, at most 63.
    pub fn left(self, by: u32) -> Bits {
        Bits { value: self.value << by, unknown: self.unknown << by }
    }

    /// All numbers shifted right by `by`, at most 63; zeros follow from the left.
    pub fn right(self, by: u32) -> Bits {
        Bits { value: self.value >> by, unknown: self.unknown >> by }
    }

    /// Arithmetic shift of the lower `width` bits.
    pub fn sar(self, by: u32, width: u32) -> Bits {
        let shift = |x: u64| if width == 32 { (x as i32 >> by) as u32 as u64 } else { (x as i64 >> by) as u64 };
        let unknown = shift(self.unknown);
        Bits { value: shift(self.value) & !unknown, unknown }
    }

    /// The lower 32 bits, the others 0.
    pub fn low(self) -> Bits {
        Bits { value: self.value & 0xffff_ffff, unknown: self.unknown & 0xffff_ffff }
    }

    /// The same with other lower 32 bits.
    pub fn with_low(self, low: Bits) -> Bits {
        let high = !0xffff_ffff;
        Bits { value: self.value & high | low.value, unknown: self.unknown & high | low.unknown }
    }
}
