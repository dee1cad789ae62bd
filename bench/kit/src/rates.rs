// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Line rate, and windows of whole frames.

use crate::wire::{self, LINE_GBPS};

/// Line rate of `ports` ports, Mpps.
#[must_use]
pub fn line(ports: u32, size: usize) -> f64 {
    f64::from(ports) * LINE_GBPS * 1000.0 / wire::bits(size)
}

/// Cycles of a port at line rate in which a whole number of frames passes, at least `cycles`.
#[must_use]
pub fn whole_frames(size: usize, cycles: u64) -> u64 {
    // LINE_BYTES_A_CYCLE frames take as many cycles as one has bytes on the wire.
    let period = wire::bytes(size);
    cycles.div_ceil(period) * period
}

/// Cycles until a card is in its steady state: long enough for 40 frames of a port at line rate.
#[must_use]
pub fn warmup(size: usize) -> u64 {
    10_000 + 40 * wire::bytes(size) / wire::LINE_BYTES_A_CYCLE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_rate_of_the_known_sizes() {
        // docs and papers give 148.8 Mpps for 60 bytes, 142.0 for 64, 8.2 for 1500, at 100 Gb/s.
        for (size, mpps) in [(60, 148.8), (64, 142.0), (1500, 8.2)] {
            assert!((line(1, size) - mpps).abs() < 0.05, "{size}");
        }
    }

    #[test]
    fn window_holds_whole_frames() {
        assert_eq!(whole_frames(9000, 40_000), 45_120);
        assert_eq!(whole_frames(60, 84), 84);
    }
}
