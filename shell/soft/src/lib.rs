// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The card in native code: the same frames out for the same frames in as shell/rtl, per flow in the same order, with the same
//! registers and counters. It has no clock: a frame that can go on does, so ingress buffers never overflow and nothing stalls.
//!
//! ```no_run
//! use penstock_shell::{Card, Source};
//! # fn units() -> Vec<Box<dyn penstock_unit::Unit>> { unimplemented!() }
//!
//! // Two ports, and units that their engines have made.
//! let mut card = Card::new(2, units());
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
