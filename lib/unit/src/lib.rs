// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What a unit in native code and the card around it say to each other: the soft side of the contract that engines/unit.sv is in RTL.
//! Each engine has a unit of its own; the card (shell/soft) knows them all.

mod counters;
mod frame;
mod identity;
mod outside;
mod port;
mod word;

/// Offsets of registers of the card and of every unit, written by tools/regs.py.
#[path = "../../regs/regs.rs"]
pub mod regs;

pub use crate::{
    counters::Counters,
    frame::{Answer, Arrival, Departure},
    identity::Identity,
    outside::Outside,
    port::{Destination, Source},
    word::Word,
};
