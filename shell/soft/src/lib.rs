// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The card in native code: the same frames out for the same frames in as shell/rtl, per flow in the same order, with
//! the same registers and counters. It has no clock: a frame that can go on does, so ingress buffers never overflow and
//! nothing stalls.
//!
//! ```
//! use penstock_shell::{Card, PushError, Source};
//! use penstock_unit::Unit;
//!
//! /// Sends a frame through a card of two ports, whose units their engine has made.
//! fn send(units: Vec<Box<dyn Unit>>, frame: &[u8]) -> Result<(), PushError> {
//!     let mut card = Card::new(2, units);
//!     // The host loads programs and starts units through `card.write`, as on hardware; then:
//!     card.push(Source::Ethernet(0), frame)?;
//!     for frame in card.poll() {
//!         println!("{:?}: {} bytes", frame.destination, frame.bytes.len());
//!     }
//!     Ok(())
//! }
//! ```

mod card;
mod dispatch;
mod flow_hash;
mod host_memory;
mod inline;
mod output;
mod registers;
mod tenants;

pub use crate::{
    card::{Card, Cause, Exit, Fault, HostMemoryCounters, PushError, StreamCounters},
    dispatch::Policy,
    flow_hash::{flow_hash, toeplitz},
    host_memory::HostMemory,
    inline::BlockCounters,
    output::{Frame, Frames, Iter},
};
pub use penstock_unit::{Access, AccessError, HELD_LIMIT, Source};

/// Register offsets, written by tools/regs.py.
#[path = "../../../lib/regs/regs.rs"]
#[allow(dead_code)]
pub mod regs;
