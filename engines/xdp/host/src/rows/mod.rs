// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Programs, maps, routes and printed lines of cards in hardware, in RTL or on an FPGA: everything goes through
//! registers (engines/xdp/core.md, engines/xdp/maps.md).

mod banks;
mod error;
mod image;
mod lines;
mod make;
mod map;
mod ring;
mod routes;
mod swap;

use penstock_engine::window::{UNIT_WINDOW, word_of};
use penstock_engine::{Bus, Log};

use crate::window::{ROW_BANK_BYTES, ROW_BYTES, UNIT_MAPS, UNIT_ROWS};

pub use error::RowsError;
pub use image::{Beyond, RowImage, beyond};
pub(crate) use make::seed;
pub(crate) use map::CardAccess;
pub(crate) use routes::{CardRoutes, counts};
pub(crate) use swap::{await_end, bring, change};

/// Gives the xdp units of UNIT_WRITE_MASK rows, and makes the maps that units share, unless they `join` units that run
/// the program already.
pub(crate) fn load(bus: &mut dyn Bus, image: &RowImage, join: bool) -> Result<(), RowsError> {
    write_rows(bus, image, 0)?;
    write_unit_maps(bus, image)?;
    bus.write(UNIT_WINDOW + penstock_xdp_soft::regs::XDP_HOST_BANK, 0)?;
    if join { Ok(()) } else { make::make(bus, image) }
}

/// Takes the lines that a program of these units has printed; `lost` counts from the load on.
pub(crate) fn take_log(bus: &mut dyn Bus, units: u32, image: &RowImage) -> Result<Log, RowsError> {
    let Some(ring) = image.layout.log else { return Ok(Log::default()) };
    let (records, lost) = ring::CardRing { banks: banks::CardBanks { bus }, ring, units }.take()?;
    Ok(Log { lines: records.iter().filter_map(|record| lines::line(record)).collect(), lost })
}

/// Writes rows into a bank of the units of UNIT_WRITE_MASK.
fn write_rows(bus: &mut dyn Bus, image: &RowImage, bank: u32) -> Result<(), RowsError> {
    for (row, words) in (0..).zip(&image.rows) {
        let base = UNIT_WINDOW + UNIT_ROWS + bank * ROW_BANK_BYTES + row * ROW_BYTES;
        // Place 1, after the control word, is empty.
        for (place, word) in [0].into_iter().chain(2..).zip(words) {
            bus.write(base + 4 * place, *word)?;
        }
    }
    Ok(())
}

/// Writes the units' own maps into the units of UNIT_WRITE_MASK.
fn write_unit_maps(bus: &mut dyn Bus, image: &RowImage) -> Result<(), RowsError> {
    for (first, bytes) in &image.unit {
        for (offset, bytes) in (*first..).step_by(4).zip(bytes.chunks(4)) {
            bus.write(UNIT_WINDOW + UNIT_MAPS + offset, word_of(bytes))?;
        }
    }
    Ok(())
}
