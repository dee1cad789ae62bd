// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The card in native code between real interfaces of Linux: [`Live`] carries frames, [`Client`] talks to one that is
//! up over its control socket ([`protocol`]).

mod bpf;
pub mod bump;
mod claim;
pub mod control;
mod driver;
mod ethtool;
mod offload;
mod partial;
pub mod protocol;
pub mod socket;
mod wire;
mod xdp;

pub use bump::{Live, LiveError, Setup};
pub use control::{Client, ControlError};
pub use driver::Driver;
pub use wire::{Link, WireError};
pub use xdp::XdpError;
