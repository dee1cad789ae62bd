// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Parameters of the module `card_top`, which a simulation and a real card share.

use crate::design::Design;

/// Rows of 128 bytes of the ingress buffer of a port: 512 KiB.
pub(crate) const INGRESS_DEPTH: u32 = 4096;
/// Units for which `card_top` has parameters.
pub(crate) const MAX_UNITS: usize = 32;
/// Inline blocks for which `card_top` has parameters.
pub(crate) const MAX_BLOCKS: usize = 8;
/// Rows of a bank of maps of a design that does not set them.
const MAP_ROWS: u32 = 16_384;

/// Rows of a bank of maps of a design.
pub(crate) fn map_rows(design: &Design) -> u32 {
    let mut parameters = design.engines.iter().flat_map(|part| part.card_parameters());
    parameters.find(|(name, _)| *name == "MapRows").map_or(MAP_ROWS, |(_, rows)| rows as u32)
}

/// A literal in SystemVerilog of `places` values of `bits` bits (a multiple of 4), the first value in the lowest place.
pub(crate) fn packed(bits: usize, places: usize, values: impl DoubleEndedIterator<Item = u64>) -> String {
    let digits: Vec<String> = values.rev().map(|value| format!("{value:0width$x}", width = bits / 4)).collect();
    // The leading zero makes a literal of no values.
    format!("{}'h0{}", bits * places, digits.concat())
}

#[cfg(test)]
mod tests {
    use super::packed;

    #[test]
    fn the_first_value_is_lowest() {
        assert_eq!(packed(8, 4, [1, 0xAB].into_iter()), "32'h0ab01");
        assert_eq!(packed(64, 2, [].into_iter()), "128'h0");
    }
}
