// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rmt blocks of a card in hardware, over their registers.

mod block;
mod digests;
mod exact;
mod groups;
mod lines;
mod packets;
mod prefixes;
mod room;
mod running;
mod stage;
#[cfg(test)]
mod tests;
mod window;

pub(crate) use block::CardBlock;
pub(crate) use running::OnCard;
