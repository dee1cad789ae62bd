// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Meters: the two-rate three-color marker of RFC 2698, color-blind, in the arithmetic of the machine
//! (engines/rmt/machine.md): native code and a card in hardware give a frame the same color at the same time.
//!
//! A bucket is kept as the moment at which it is full. A token takes a time, so a frame of n tokens moves the moment on
//! by n such times, from now on if it has passed. The frame fits if the moment is then at most as far away as the time
//! in which an empty bucket fills. Times are in ns / 2^16.

use penstock_rmt_compiler::ir::Rates;

/// Bits of a fraction of a ns.
const FRACTION: u32 = 16;
/// Bits of a pace's mantissa.
const MANTISSA: u32 = 26;
/// Words of a row of METER.
pub const METER_ROW: usize = 6;

/// The time of a token, and that in which an empty bucket fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pace {
    mantissa: u32,
    exponent: u32,
    /// Time does not fill the bucket: its rate is 0. A token then takes one unit of depth.
    still: bool,
    depth: u64,
}

impl Pace {
    /// The pace of a rate, rounded to 26 bits. A bucket deeper than 2^48 ns is taken as that deep.
    fn new(rate: u64, burst: u64) -> Self {
        let second = 1_000_000_000_u128 << FRACTION;
        let rate = u128::from(rate);
        let token = (second + rate / 2).checked_div(rate).map_or(1, |token| token.max(1));
        let mut exponent = (u128::BITS - token.leading_zeros()).saturating_sub(MANTISSA);
        let mut mantissa = (token + ((1 << exponent) >> 1)) >> exponent;
        if mantissa >> MANTISSA != 0 {
            (mantissa, exponent) = (mantissa >> 1, exponent + 1);
        }
        let depth = u64::try_from(u128::from(burst) * (mantissa << exponent)).unwrap_or(u64::MAX);
        Self { mantissa: mantissa as u32, exponent, still: rate == 0, depth }
    }

    fn cost(&self, tokens: u64) -> u128 {
        (u128::from(tokens) * u128::from(self.mantissa)) << self.exponent
    }

    fn now(&self, time: u64) -> u128 {
        if self.still { 0 } else { u128::from(time) << FRACTION }
    }
}

/// The committed and the peak bucket.
fn paces(rates: &Rates) -> [Pace; 2] {
    [Pace::new(rates.cir, rates.cbs), Pace::new(rates.pir, rates.pbs)]
}

/// A cell's row in the memory METER of a card in hardware.
#[must_use]
pub fn meter_row(rates: Option<&Rates>) -> [u32; METER_ROW] {
    let Some(rates) = rates else { return [0; METER_ROW] };
    let paces = paces(rates);
    let [committed, peak] = paces.map(|of| of.mantissa | of.exponent << MANTISSA | u32::from(of.still) << 31);
    let [[c0, c1], [p0, p1]] = paces.map(|of| [of.depth as u32, (of.depth >> 32) as u32]);
    [committed, peak, c0, c1, p0, p1]
}

/// A cell of a meter.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Bucket {
    /// Rates as they were given, and what they are here; None: every frame is green.
    rates: Option<(Rates, [Pace; 2])>,
    /// Moments at which both buckets are full.
    full: [u128; 2],
}

impl Bucket {
    /// A cell whose buckets are full.
    pub(crate) fn new(rates: Option<Rates>, time: u64) -> Self {
        let Some(rates) = rates else { return Self::default() };
        let paces = paces(&rates);
        Self { rates: Some((rates, paces)), full: paces.map(|pace| pace.now(time)) }
    }

    /// Its rates; None: every frame is green.
    pub(crate) fn rates(&self) -> Option<Rates> {
        self.rates.map(|(rates, _)| rates)
    }

    /// The color of a frame that takes so many tokens: 0 green, 1 yellow, 2 red.
    pub(crate) fn color(&mut self, tokens: u64, time: u64) -> u64 {
        let Some((_, paces)) = &self.rates else { return 0 };
        let taken = |bucket: usize| {
            let pace = &paces[bucket];
            let now = pace.now(time);
            let full = self.full[bucket].max(now) + pace.cost(tokens);
            (full <= now + u128::from(pace.depth)).then_some(full)
        };
        let (committed, peak) = (taken(0), taken(1));
        let Some(peak) = peak else { return 2 };
        self.full[1] = peak;
        let Some(committed) = committed else { return 1 };
        self.full[0] = committed;
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

    #[test]
    fn a_rate_of_0_gives_nothing_back() {
        let mut bucket = Bucket::new(Some(Rates { cir: 0, cbs: 2, pir: 1, pbs: 1 << 40 }), 7);
        let later: Vec<u64> = (0..4).map(|second| bucket.color(1, second * 1_000_000_000)).collect();
        assert_eq!(later, [0, 0, 1, 1]);
    }

    /// Against tokens of a second's billionths: frames come at random times, of all lengths, over rates of all sizes.
    #[test]
    fn colors_are_those_of_tokens() {
        let mut seed = 1_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        let mut met = [0; 3];
        // The token's time is exact for these.
        for (rate, length) in [(1, 1), (1000, 1), (1_000_000, 60), (125_000_000, 1500), (12_500_000, 9000), (512, 64)] {
            for _ in 0..40 {
                let (cir, pir) = (rate, rate * 2);
                let rates = Rates { cir, cbs: length * (1 + random(5)), pir, pbs: length * (1 + random(5)) };
                let (mut bucket, mut time) = (Bucket::new(Some(rates), 5), 5);
                let second = 1_000_000_000_u128;
                let mut tokens = [u128::from(rates.cbs) * second, u128::from(rates.pbs) * second];
                for _ in 0..100 {
                    let passed = random(1 + 2_000_000_000 * length / rate);
                    time += passed;
                    let fill = |has: u128, rate: u64, burst: u64| {
                        (has + u128::from(passed) * u128::from(rate)).min(u128::from(burst) * second)
                    };
                    tokens = [fill(tokens[0], rates.cir, rates.cbs), fill(tokens[1], rates.pir, rates.pbs)];
                    let takes = 1 + random(2 * length);
                    let cost = u128::from(takes) * second;
                    let color = if tokens[1] < cost {
                        2
                    } else if tokens[0] < cost {
                        1
                    } else {
                        0
                    };
                    (0..2).filter(|of| color <= *of).for_each(|of| tokens[of] -= cost);
                    assert_eq!(bucket.color(takes, time), color as u64, "{rates:?}");
                    met[color] += 1;
                }
            }
        }
        assert!(met.iter().all(|count| *count > 1000), "{met:?}");
    }

    /// The time of a token is rounded to 26 bits, and to 2^-16 ns: rates above 10^9 / 2^10 to less than 26 bits.
    #[test]
    fn the_time_of_a_token_is_rounded() {
        for rate in [1, 3, 7, 999, 1_000_003, 12_345_678, 99_999_989, 12_500_000_001] {
            let pace = Pace::new(rate, 1);
            let exact = 1e9 * 65536.0 / rate as f64;
            let token = f64::from(pace.mantissa) * f64::from(1 << pace.exponent);
            assert!((token - exact).abs() <= (exact / 2_f64.powi(26)).max(0.5), "{rate}");
            assert!(pace.mantissa >> MANTISSA == 0);
        }
        assert_eq!(
            meter_row(Some(&Rates { cir: 1_000_000_000, cbs: 2, pir: 0, pbs: 9 })),
            [65536, 1 << 31 | 1, 131_072, 0, 9, 0]
        );
        assert_eq!(meter_row(None), [0; METER_ROW]);
    }
}
