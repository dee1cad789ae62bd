// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Faults after which a device cannot go on.

use penstock_engine::{CardError, EngineError};

use crate::fpga::error::FpgaError;
use crate::rtl::error::BuildError;
use crate::traffic::{NoPort, Port};

/// A fault after which a device cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// The model could not be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The card refused an access, did not start, or broke its own contract.
    #[error(transparent)]
    Card(#[from] CardError),
    /// An engine could not do its part.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Host memory ends at 1 GiB.
    #[error("host memory ends at 0x40000000: it has no {bytes} bytes from 0x{address:x} on")]
    HostMemory {
        /// First byte.
        address: u64,
        /// How many.
        bytes: usize,
    },
    /// Frames are for a port that the card does not have.
    #[error(transparent)]
    NoPort(#[from] NoPort),
    /// The target cannot do this.
    #[error("{0}")]
    Unsupported(String),
    /// The card cannot be reached, or is another one than the driver's.
    #[error(transparent)]
    Fpga(#[from] FpgaError),
    /// At [`Rate::Captured`](crate::Rate::Captured), a frame comes so late that the simulation would not end.
    #[error(
        "the next frame of {port} comes {seconds} s after the frames before it, and at the rate `captured` a card runs \
         through at most 60 s without a frame: shift the times of the capture, or use the rate `turns`"
    )]
    Silence {
        /// The port.
        port: Port,
        /// Seconds without a frame.
        seconds: u64,
    },
    /// A card behind a BAR does not have this.
    #[error("a card on fpga has no {what}: {way_out}")]
    NotOnFpga {
        /// What is missing.
        what: &'static str,
        /// The way out: another call, or another target.
        way_out: &'static str,
    },
}

impl DeviceError {
    /// A card that broke a contract; a sentence.
    pub(crate) fn broken(text: impl Into<String>) -> Self {
        CardError::Broken(text.into()).into()
    }
}
