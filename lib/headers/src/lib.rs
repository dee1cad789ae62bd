// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What inline engines see and change of a frame: its headers, by the names of their fields.
//!
//! Names, widths and places stand in `fields.toml`, for the parser in hardware too.

mod field;
#[rustfmt::skip]
mod table;

pub use table::{Field, Header};
