// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Flow blocks of a card in hardware, over their registers.

mod block;
mod clock;
mod list;
mod load;
mod window;

pub(crate) use block::{CardBlock, OnCard};
pub(crate) use clock::Clock;
