// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Addresses of xdp units in the unit window, and of the card's maps (docs/architecture.md, "RPU address map").

/// Offset of a unit's own maps in its window.
pub const UNIT_MAPS: u32 = 0x100_0000;
/// Offset of a unit's row memory in its window.
pub const UNIT_ROWS: u32 = 0x200_0000;
/// Bytes that a row takes there.
pub const ROW_BYTES: u32 = 128;
/// Bytes from one bank of row memory to the other.
pub const ROW_BANK_BYTES: u32 = 0x4_0000;
/// Host address of the registers of the card's maps.
pub const MAPS_WINDOW: u32 = 0x4400_0000;
