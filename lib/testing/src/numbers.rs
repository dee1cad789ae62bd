// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Random numbers that are the same in each run.

/// The xorshift generator of Marsaglia ("Xorshift RNGs", 2003) with 64 bits and shifts of 13, 7 and 17. The field is
/// its state, which must not be 0.
///
/// ```
/// let mut numbers = penstock_testing::Numbers(1);
/// assert_eq!(numbers.next(), 0x4082_2041);
/// ```
#[derive(Debug, Clone)]
pub struct Numbers(pub u64);

impl Numbers {
    /// The generator of a numbered case. Neighbouring cases have unlike numbers.
    #[must_use]
    pub fn of_case(case: u64) -> Self {
        // The finalizer of SplitMix64 (Steele, Lea, Flood 2014).
        let mut state = case.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        state = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        state = (state ^ state >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        Self((state ^ state >> 31) | 1)
    }

    /// The next number: any but 0.
    #[allow(clippy::should_implement_trait, reason = "an iterator would return options, and these numbers never end")]
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `limit`, which must not be 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// One of the choices, of which there must be one.
    pub fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// Random bytes.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }
}
