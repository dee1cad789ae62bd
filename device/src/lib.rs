// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The Device API: a [`Design`] says what a card is made of, an [`Image`] what it runs, a [`Device`] is one at work,
//! on a [`Target`]: native code (`soft`) or the card's own RTL through Verilator (`rtl`).
//!
//! ```no_run
//! use penstock_device::{Design, Image, Rate, Root, Target, Traffic, capture, open};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let root = Root::find()?;
//! let design = Design::read(&root.join("designs/forward.toml"))?;
//! let image = Image::of(&root, &design)?;
//! let traffic = Traffic::from_capture(&capture::read("in.pcap".as_ref())?, penstock_device::Port::Ethernet(0));
//! let mut device = open(&root, &design, Target::Rtl, &mut |_| {})?;
//! device.load(&image)?;
//! device.send(&traffic, Rate::Lossless)?;
//! let run = device.run(&mut |_| {})?;
//! println!("{} frames left in {} cycles", run.departures.len(), run.cycles.unwrap_or(0));
//! # Ok(()) }
//! ```

pub mod bare;
pub mod capture;
mod chain;
mod design;
mod device;
mod diagnosis;
mod errors;
pub mod executed;
pub mod file_list;
pub mod files;
pub mod flow;
mod hop;
mod host;
mod image;
mod live;
pub mod maps;
mod outcome;
mod root;
pub mod routes;
pub mod rtl;
mod soft;
mod swap;
mod traffic;
pub mod window;
pub mod xdp;

#[path = "../../engines/flow/regs/regs.rs"]
mod flow_regs;

/// Register offsets, written by tools/regs.py: the card's, every unit's, and those of the engines.
pub mod regs {
    pub use crate::flow_regs::*;
    pub use penstock_shell::regs::*;
    pub use penstock_xdp_soft::regs::*;
}

pub use design::{CLOCK_MHZ, Design, DesignError, Engine, ForGroup, Group, Inline, Override, Policy};
pub use device::{Device, DeviceError, GENERATE_QUIET, Progress, Rate, Run, Target, Work, open};
pub use hop::{Hop, Place};
pub use image::{GroupImage, Image, ImageError, Program, macros, table_from, table_of};
pub use live::{UnitState, Vitals};
pub use outcome::{
    Counters, Drops, ElementCounters, HostMemoryCounters, InlineCounters, Latency, Outcome, PortCounters, RowCounter,
    Timing, UnitCounters, WIRE_OVERHEAD,
};
pub use penstock_xdp_compiler::btf::Value;
pub use penstock_xdp_compiler::rows::Lanes;
pub use root::{Root, RootError};
pub use soft::SoftDevice;
pub use traffic::{Departure, Frame, Port, Traffic};
pub use xdp::{RowImage, Settings, XdpError, XdpProgram};
