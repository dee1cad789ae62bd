// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Meters: the two-rate three-color marker of RFC 2698, color-blind.

use penstock_rmt_compiler::ir::Rates;

/// Nanoseconds of a second: tokens are counted in parts of so many.
const SECOND: u128 = 1_000_000_000;

/// A cell of a meter.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bucket {
    rates: Option<Rates>,
    /// Tokens of both buckets, times [`SECOND`].
    committed: u128,
    peak: u128,
    /// Time of the last frame, in ns.
    last: u64,
}

impl Bucket {
    /// A cell whose buckets are full.
    pub fn new(rates: Option<Rates>, time: u64) -> Self {
        let full = |of: fn(&Rates) -> u64| rates.as_ref().map_or(0, |rates| u128::from(of(rates)) * SECOND);
        Self { rates, committed: full(|rates| rates.cbs), peak: full(|rates| rates.pbs), last: time }
    }

    /// Its rates; None: every frame is green.
    pub fn rates(&self) -> Option<Rates> {
        self.rates
    }

    /// The color of a frame that takes so many tokens: 0 green, 1 yellow, 2 red.
    pub fn color(&mut self, tokens: u64, time: u64) -> u64 {
        let Some(rates) = self.rates else { return 0 };
        let since = u128::from(time.saturating_sub(self.last));
        self.last = self.last.max(time);
        let fill = |has: u128, rate: u64, burst: u64| (has + since * u128::from(rate)).min(u128::from(burst) * SECOND);
        self.committed = fill(self.committed, rates.cir, rates.cbs);
        self.peak = fill(self.peak, rates.pir, rates.pbs);
        let needs = u128::from(tokens) * SECOND;
        if self.peak < needs {
            return 2;
        }
        self.peak -= needs;
        if self.committed < needs {
            return 1;
        }
        self.committed -= needs;
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_follow_both_buckets() {
        let mut bucket = Bucket::new(Some(Rates { cir: 10, cbs: 2, pir: 20, pbs: 3 }), 0);
        let at_once: Vec<u64> = (0..4).map(|_| bucket.color(1, 0)).collect();
        assert_eq!(at_once, [0, 0, 1, 2]);
        // After 50 ms the peak bucket has a token, and the committed one half of one.
        assert_eq!(bucket.color(1, 50_000_000), 1);
        assert_eq!(bucket.color(1, 100_000_000), 0);
        assert_eq!(Bucket::default().color(1 << 40, 0), 0);
    }
}
