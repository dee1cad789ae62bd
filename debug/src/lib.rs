// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Debugging of firmware on any unit, on any target: halts, steps, registers, memories, breakpoints ([`Unit`]), and a
//! server for gdb on top of them ([`gdb`]). The hardware for it is small (docs/architecture.md, "Debugging"); what it
//! lacks is done here, by instructions that a unit carries out for its debugger.

pub mod gdb;
mod unit;
mod window;

pub use unit::{DebugError, Halted, Registers, Unit};
pub use window::{DeviceWindow, Window};
