// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Written by tools/regs.py from the .rdl files; change those.

#![allow(unreachable_pub, reason = "some crates export these registers, others do not")]

// shell/cards/regs/bar.rdl
/// 0x504E4650, "PNFP".
pub const BAR_MAGIC: u32 = 0x0;
/// Version of these registers: major [31:16], minor [15:0].
pub const BAR_VERSION: u32 = 0x4;
/// A word of the hash of the card's hardware: word 0 has its first four bytes, big-endian.
pub const BAR_DESIGN: u32 = 0x8;
/// How many there are, 4 bytes apart.
pub const BAR_DESIGN_COUNT: u32 = 0x4;
/// The card's shell, four letters: 0x4F4E4943 is OpenNIC, 0x434F5255 is Corundum.
pub const BAR_SHELL: u32 = 0x18;
/// Ethernet ports [7:0], units [15:8], inline blocks [23:16].
pub const BAR_SHAPE: u32 = 0x1C;
/// Bits 31:16 of the addresses that the window reaches.
pub const BAR_PAGE: u32 = 0x20;
/// Accesses through the window that the card refused or did not answer, and accesses to registers that are not there.
pub const BAR_ERRORS: u32 = 0x24;
/// Accesses among these that the card did not answer: it was in reset, or 8,192 cycles of the shell went by.
pub const BAR_TIMEOUTS: u32 = 0x28;
/// 1 in bit 0: the card's clock runs and it is out of reset; in bit 8 + p: the two sides of port p are out of reset;
/// behind the ports, the host's stream.
pub const BAR_STATUS: u32 = 0x2C;
/// 1 written to bit 0: the card is reset, for 256 cycles of the shell.
pub const BAR_RESET: u32 = 0x30;
/// First of these.
pub const BAR_PORT_BASE: u32 = 0x40;
/// Bytes from one to the next.
pub const BAR_PORT_STRIDE: u32 = 0x8;
/// How many there are.
pub const BAR_PORT_COUNT: u32 = 0x5;
/// Frames from the MAC or the host that were lost as a whole: they found no room, or came in part during a reset.
pub const BAR_PORT_RX_LOST: u32 = 0x0;
/// Frames to the MAC or the host of which a reset of the port cut the beginning off.
pub const BAR_PORT_TX_LOST: u32 = 0x4;
