// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Commands of engines: `penstock compile NAME ...` and `penstock exec NAME ...`.

use std::error::Error;
use std::ops::Range;
use std::path::Path;

use clap::{ArgMatches, Command};
use serde_json::Value as Json;

use crate::root::Root;
use crate::service::Request;

/// Why a command of an engine failed: a sentence with the way out.
pub type ToolError = Box<dyn Error + Send + Sync>;

/// A command of an engine. The command line calls it by the engine's name.
#[derive(Clone, Copy)]
pub struct Tool {
    /// Its arguments. The command line sets the name.
    pub command: fn() -> Command,
    /// Carries it out, prints its results and writes the files that were asked for.
    pub run: fn(&ArgMatches, &dyn Workbench) -> Result<(), ToolError>,
}

/// Functions that the command line offers to a command of an engine.
pub trait Workbench {
    /// The checkout.
    fn root(&self) -> &Root;

    /// The named groups of units of a design: name and units.
    ///
    /// # Errors
    /// The design cannot be read or is wrong.
    fn groups(&self, design: &Path) -> Result<Vec<(String, Range<u32>)>, ToolError>;

    /// The frames of a capture. If the capture is damaged, those in front of the damage; a warning goes to standard
    /// error.
    ///
    /// # Errors
    /// The file cannot be read or is no capture.
    fn frames(&self, capture: &Path) -> Result<Vec<Vec<u8>>, ToolError>;

    /// Opens and loads a card from the text of a manifest, in which paths are relative to `folder`. With `rtl`, the
    /// card is its SystemVerilog under Verilator, otherwise native code.
    ///
    /// # Errors
    /// The design is wrong, or one of its programs does not compile or does not fit.
    fn card(&self, folder: &Path, manifest: &str, rtl: bool) -> Result<Box<dyn TestCard>, ToolError>;
}

/// A frame that left a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// Ethernet port at which it left; None: the host's queue.
    pub port: Option<u8>,
    /// Its bytes, without FCS.
    pub bytes: Vec<u8>,
}

/// A card that a command sends frames through.
pub trait TestCard {
    /// Carries frames, each with its Ethernet port, one after the other; gives the frames that leave the card, in order
    /// for each port.
    ///
    /// # Errors
    /// The card breaks, or loses a frame without a count.
    fn carry(&mut self, frames: &[(u8, Vec<u8>)]) -> Result<Vec<Left>, ToolError>;

    /// Asks a service of an engine.
    ///
    /// # Errors
    /// The service refuses.
    fn ask(&mut self, request: Request) -> Result<Json, ToolError>;
}
