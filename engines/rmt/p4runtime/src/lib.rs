// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! P4Runtime for the rmt engine: [`info`] makes P4Info of a program, [`serve`] serves the programs of a card, which a [`Switch`] reaches, to
//! controllers. Each program is a device of its own.

mod arbiter;
mod bits;
mod digest;
mod entry;
pub mod info;
mod object;
mod packet;
mod pipeline;
pub mod proto;
mod read;
mod refusal;
mod server;
mod stream;
mod switch;
pub mod text;
mod write;

pub use read::read;
pub use refusal::{Reason, Refusal};
pub use server::{Handle, serve};
pub use switch::{
    Act, Atomic, Change, Count, DigestConfig, EntryState, Load, Loaded, Object, ObjectKind, Streamed, Switch,
};
pub use write::write;
