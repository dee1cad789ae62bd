// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The contract between the card in native code (shell/soft) and the parts of an engine in it: units behind the
//! dispatcher and inline blocks in front of it. It is the soft side of the contracts that engines/unit.sv and
//! engines/inline_block.sv state in RTL.

mod access;
mod block;
mod clock;
mod counters;
mod frame;
mod identity;
mod log;
mod outside;
mod port;
mod record;
mod unit;
mod word;

/// Offsets of registers of the card and of every unit, written by tools/regs.py.
#[path = "../../regs/regs.rs"]
pub mod regs;

pub use crate::{
    access::{Access, AccessError},
    block::{Block, Entering, Made, Verdict},
    clock::Clock,
    counters::Counters,
    frame::{Answer, Arrival, Departure},
    identity::Identity,
    log::Log,
    outside::Outside,
    port::{Destination, Source},
    record::{OWN_BYTES, RECORD_BYTES, Record},
    unit::{HELD_LIMIT, Pause, Unit},
    word::Word,
};
