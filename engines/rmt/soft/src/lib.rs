// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! P4 programs of the rmt engine as native code: each program is compiled to functions that work on numbered slots, one
//! for each part that frames go through. Headers are read and written back only where the program uses them. Tables,
//! and functions of v1model that have state of their own, are Rust code that native code calls.
//!
//! ```
//! use penstock_rmt::Block;
//! let source = include_str!("../../programs/calculator.p4");
//! let compiled = penstock_rmt_compiler::compile("calculator.p4", source).expect("the program has no faults");
//! let mut block = Block::default();
//! block.load(5, compiled.program.into()).expect("there is native code for it");
//! assert_eq!(block.tenant(5).map(|tenant| tenant.entries(0).len()), Some(5));
//! ```

mod bits;
mod block;
mod calls;
mod checksum;
mod color;
mod frame;
mod hash;
mod header;
mod machine;
mod native;
mod operation;
mod profile;
mod replicate;
mod slots;
mod table;
mod tenant;
mod uses;
mod work;

pub use block::Block;
pub use color::{METER_ROW, meter_row};
pub use native::NativeError;
pub use operation::{MESSAGES, Message};
pub use profile::Members;
pub use table::TableError;
pub use tenant::{Count, Tenant};
