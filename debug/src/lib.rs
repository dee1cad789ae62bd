// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Debugging of firmware on any unit, on any target: halts, steps, registers, memories, breakpoints ([`Unit`]), and a
//! server for gdb on top of them ([`gdb`]). The hardware has little support (docs/architecture.md, "Debugging"); this
//! crate does the rest with instructions that a unit executes for its debugger.

pub mod gdb;
mod unit;
mod window;

pub use unit::{DebugError, Halted, Registers, Unit};
pub use window::{DeviceWindow, Window};
