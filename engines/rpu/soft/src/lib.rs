// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The rpu engine in native code: a RISC-V core with its memories, slots, interrupts and accelerators.
//!
//! A [`Unit`] behaves as engines/rpu/rtl does towards the firmware, the host and the card, but has no clock: its cycles
//! are instructions, and a wait takes none. Nothing is shared with the RTL but the register maps.

pub mod accelerator;
mod broadcast;
mod core;
mod decode;
mod system;
mod unit;

#[path = "../../regs/regs.rs"]
mod own_regs;

/// Offsets of registers: of every unit, and of this engine. Written by tools/regs.py.
pub mod regs {
    pub use crate::own_regs::*;
    pub use penstock_unit::regs::*;
}

#[path = "../../accelerators/ip_prefix/model.rs"]
pub mod ip_prefix;

#[path = "../../accelerators/ip_prefix/table.rs"]
pub mod prefix_table;

#[path = "../../accelerators/flow_hash/model.rs"]
pub mod flow_hash;

#[path = "../../accelerators/flow_hash/key.rs"]
pub mod hash_key;

#[path = "../../accelerators/checksum/model.rs"]
pub mod checksum;

#[path = "../../accelerators/crc32/model.rs"]
pub mod crc32;

#[path = "../../accelerators/string_match/model.rs"]
pub mod string_match;

#[path = "../../accelerators/string_match/table.rs"]
pub mod pattern_table;

pub use crate::unit::Unit;
