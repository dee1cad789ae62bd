// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The Device API: a [`Design`] describes a card, an [`Image`] holds its programs, and a [`Device`] is a card at work
//! on a [`Target`]: native code (`soft`), the card's own RTL through Verilator (`rtl`), or a card behind a BAR
//! (`fpga`).
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

mod arrivals;
pub mod capture;
mod card;
mod card_top;
mod check;
mod counters;
mod design;
mod device;
mod error;
pub mod file_list;
pub mod fpga;
mod hop;
mod host;
mod image;
mod inline;
mod live;
mod open;
mod outcome;
mod part;
mod progress;
mod rate;
mod replay;
pub mod rtl;
mod run;
mod schema;
mod soft;
mod target;
#[cfg(test)]
mod testing;
mod traffic;
pub mod window;

pub use arrivals::{Arrival, Arrivals};
pub use check::{Checked, Mistake, check};
pub use counters::{BlockCounters, Counters, Drops, HostMemoryCounters, InlineCounters, PortCounters, WIRE_OVERHEAD};
pub use design::{CLOCK_MHZ, Design, DesignError, ForGroup, Group, Inline, Override, PartId, Policy};
pub use device::{Device, Work};
pub use error::DeviceError;
pub use hop::{Hop, Place};
pub use image::{Image, PartImage};
pub use live::{LiveDevice, UnitState, Vitals};
pub use open::open;
pub use outcome::{Latency, Outcome, Timing};
pub use part::{ParsePartError, Part};
pub use penstock_engine::{
    CardError, EngineError, ErrorKind, Kept, Log, Request, Root, RootError, UnitCounters, files, note, regs,
};
pub use progress::Progress;
pub use rate::{ParseRateError, Rate};
pub use run::{GENERATE_QUIET, Left, Run};
pub use schema::schema;
pub use soft::SoftDevice;
pub use target::Target;
pub use traffic::{Departure, Frame, Maker, NoPort, Port, Traffic};
