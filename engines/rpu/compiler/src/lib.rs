// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Compiles firmware for the rpu engine and loads the result.
//!
//! ```no_run
//! # fn main() -> Result<(), penstock_rpu_compiler::CompileError> {
//! let options = penstock_rpu_compiler::Options::new("path/of/the/checkout".as_ref());
//! let firmware = penstock_rpu_compiler::compile(&["engines/rpu/programs/forward.c".into()], &options)?;
//! println!("{}", firmware.sizes);
//! # Ok(())
//! # }
//! ```

mod compiler;
mod firmware;
mod messages;
mod variables;

pub use compiler::{CompileError, Options, compile};
pub use firmware::{DMEM_BASE, DMEM_DATA_BYTES, Firmware, FirmwareError, IMEM_BYTES, Sizes, Symbol};
pub use variables::{Field, Kind, Type, TypeId, Variable, Variables};
