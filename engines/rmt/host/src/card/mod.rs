// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rmt blocks of a card in hardware, over their registers.

mod block;
mod exact;
mod prefixes;
mod room;
mod running;
mod stage;
mod window;

pub use block::CardBlock;
pub use running::OnCard;
