// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rmt blocks of a card in hardware, over their registers.

mod exact;
mod prefixes;
mod room;
mod window;
mod block;
pub use block::{CardBlock, OnCard};
