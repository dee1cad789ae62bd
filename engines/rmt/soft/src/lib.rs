// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! P4 programs of the rmt engine as native code: each program is compiled to a compact code over numbered slots, which an interpreter carries out frame by
//! frame. Headers are read and written back only where the program uses them.
//!
//! ```
//! use penstock_rmt::Block;
//! let source = include_str!("../../programs/calculator.p4");
//! let compiled = penstock_rmt_compiler::compile("calculator.p4", source).expect("the program has no faults");
//! let mut block = Block::default();
//! block.load(5, compiled.program.into());
//! assert_eq!(block.tenant(5).map(|tenant| tenant.entries(0).len()), Some(5));
//! ```

mod bits;
mod block;
mod checksum;
mod code;
mod color;
mod compile;
mod frame;
mod hash;
mod operation;
mod parser;
mod profile;
mod replicate;
mod run;
mod table;
mod tenant;

pub use block::Block;
pub use operation::Message;
pub use profile::Members;
pub use table::TableError;
pub use tenant::{Count, Tenant};
