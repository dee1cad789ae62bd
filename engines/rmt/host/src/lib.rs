// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The host side of the rmt engine.
//!
//! A block of this engine holds a program for each tenant of the design. [`RmtDriver`] loads them and gives tenants other ones between two frames,
//! reads and writes their tables, registers and counters, on native blocks and on cards in hardware. The service `rmt` ([`Ask`]) makes that available to
//! tools, and the server `p4runtime` makes the service available to P4Runtime controllers.

mod answers;
mod ask;
mod card;
mod clock;
mod command;
mod compile;
mod counters;
mod driver;
mod engine;
mod entry;
mod error;
mod file;
mod image;
mod item;
mod messages;
mod native;
mod objects;
mod requests;
mod running;
mod server;
mod service;
mod settings;
mod shadow;
mod stf;
mod text;
mod value;

pub use answers::{
    ActionAbout, CopiesAbout, CounterAbout, EventsAbout, KeyAbout, MeterAbout, ProfileAbout, ProgramAbout,
    RegisterAbout, StreamAbout, TableAbout, TenantAbout, ValueSetAbout,
};
pub use ask::{Ask, NAME, NamedChange};
pub use counters::{BlockCounters, TenantCounters};
pub use driver::RmtDriver;
pub use engine::{RMT, Rmt};
pub use entry::{NamedEntry, NamedWeighted};
pub use error::RmtError;
pub use image::RmtImage;
pub use item::{
    NamedCounter, NamedDigest, NamedGroup, NamedItem, NamedMember, NamedMemberGroup, NamedMeter, NamedRegister,
    NamedSession, NamedValueSet,
};
pub use settings::Settings;

/// Register offsets of the engine, written by tools/regs.py.
#[path = "../../regs/regs.rs"]
#[allow(dead_code)]
#[expect(unreachable_pub, reason = "generated for crates that export it, too")]
mod regs;
