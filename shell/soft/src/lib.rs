// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The card in native code: the same frames out for the same frames in as shell/rtl, per flow in the same order, with the same
//! registers and counters. It has no clock: a frame that can go on does, so ingress buffers never overflow and nothing stalls.
//!
//! ```
//! use penstock_shell::{Card, Config, Engine, Source};
//!
//! let mut card = Card::new(Config { ports: 2, units: vec![Engine::default(); 16] });
//! // Load programs and bring the card up through `write`, as on hardware; then:
//! card.push(Source::Ethernet(0), &[0; 60])?;
//! for frame in card.poll() {
//!     println!("{:?}: {} bytes", frame.destination, frame.bytes.len());
//! }
//! # Ok::<(), penstock_shell::PushError>(())
//! ```

mod card;
mod dispatch;
mod flow_hash;
mod host_memory;
mod inline;
mod output;
mod registers;
mod unit;

pub use crate::{
    card::{Card, Cause, Config, Exit, Fault, HostMemoryCounters, PushError, StreamCounters},
    dispatch::Policy,
    flow_hash::{flow_hash, toeplitz},
    host_memory::HostMemory,
    inline::{Inline, InlineCounters},
    output::{Frame, Frames, Iter},
    registers::{Access, AccessError},
    unit::Engine,
};
pub use penstock_flow as flow;
pub use penstock_rpu::{
    HELD_LIMIT,
    accelerator::{Kind as Accelerator, Kinds as Accelerators, TableError},
    prefix_table, regs,
};
pub use penstock_unit::Source;
