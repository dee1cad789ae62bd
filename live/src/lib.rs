// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The card in native code between real interfaces of Linux: [`Live`] carries frames, [`Client`] talks to one that is
//! up over its control socket ([`protocol`]).

mod bpf;
pub mod bump;
mod claim;
pub mod control;
mod driver;
mod ethtool;
pub mod exporter;
mod filter;
pub mod http;
mod lines;
mod metrics;
pub mod offload;
pub mod partial;
pub mod protocol;
pub mod socket;
mod tap;
mod wire;
mod xdp;

pub use bump::{Live, LiveError, Setup};
pub use control::{Client, ControlError};
pub use driver::Driver;
pub use filter::{Filter, FilterError};
pub use tap::Copy;
pub use wire::{Link, WireError};
pub use xdp::XdpError;
