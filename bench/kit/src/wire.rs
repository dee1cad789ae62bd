// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The time of a frame on the wire, and the speeds of wire and card.

use penstock_device::WIRE_OVERHEAD;
pub use penstock_device::rtl::LINE_GBPS;

/// Clock of the card, MHz.
pub const CLOCK_MHZ: f64 = penstock_device::CLOCK_MHZ as f64;

/// Bytes that a port at line rate moves in a cycle.
pub const LINE_BYTES_A_CYCLE: u64 = (LINE_GBPS * 1000.0 / 8.0 / CLOCK_MHZ) as u64;

/// Bytes that a frame of `size` bytes without FCS takes on the wire.
pub const fn bytes(size: usize) -> u64 {
    size as u64 + WIRE_OVERHEAD
}

/// The same in bits.
pub fn bits(size: usize) -> f64 {
    bytes(size) as f64 * 8.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_at_line_rate() {
        assert_eq!(LINE_BYTES_A_CYCLE, 50);
        assert_eq!(LINE_BYTES_A_CYCLE as f64 * 8.0 * CLOCK_MHZ, LINE_GBPS * 1000.0);
        assert_eq!(bits(60), 672.0);
    }
}
