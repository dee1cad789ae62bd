// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! An engine, with the calls that need no card at work.

use std::fmt::Debug;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use schemars::{Schema, SchemaGenerator};
use serde_json::Value as Json;

use crate::debug::Core;
use crate::driver::Driver;
use crate::error::EngineError;
use crate::image::Image;
use crate::part::Part;
use crate::root::Root;
use crate::section::{Fault, Section};
use crate::server::Server;
use crate::service::Service;
use crate::tenant::Tenant;
use crate::tool::Tool;

/// The kind of an engine's parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Units behind the dispatcher: `[[units]]`.
    Units,
    /// Inline blocks in front of the dispatcher: `[[inline]]`.
    Inline,
}

/// An option of `penstock run` and `penstock up`: `--NAME FILE` is `--table NAME=FILE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableOption {
    /// Name of the option and of the table.
    pub name: &'static str,
    /// The help text.
    pub help: &'static str,
}

/// A memory of a unit, in the unit's window of the host address space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnitMemory {
    /// Its short name, which Python gives to the unit's attribute: `imem`.
    pub name: &'static str,
    /// Its name in messages: "instruction memory".
    pub about: &'static str,
    /// Its first byte in the window.
    pub address: u32,
    /// Bytes.
    pub size: u32,
}

/// The properties of a card that a driver sees.
#[derive(Debug, Clone, PartialEq)]
pub struct CardShape {
    /// Ethernet ports.
    pub ports: u32,
    /// Units.
    pub units: u32,
    /// Parts of the engine, by their index in the design: name and units. Blocks have no units.
    pub parts: Vec<(usize, String, Range<u32>)>,
    /// Tenants, by their numbers.
    pub tenants: Vec<Tenant>,
}

/// Programs to compile.
pub struct Job<'a> {
    /// The checkout, where kits and caches are.
    pub root: &'a Root,
    /// The manifest of the design, for messages.
    pub design: &'a Path,
    /// Ethernet ports of the card.
    pub ports: u32,
    /// All named groups of units of the design: name and units. Programs may refer to them.
    pub groups: &'a [(String, Range<u32>)],
    /// Tenants of the design, by their numbers.
    pub tenants: &'a [Tenant],
    /// The engine's own table of the card ([`Engine::card`]).
    pub card: &'a dyn Part,
    /// The parts of the engine.
    pub parts: Vec<PartJob<'a>>,
}

/// The program of one part.
#[derive(Clone)]
pub struct PartJob<'a> {
    /// Name of the group or block; empty if it is the only one and has no name.
    pub name: &'a str,
    /// Index of the group or block in the design.
    pub index: usize,
    /// Its units; empty for a block.
    pub units: Range<u32>,
    /// The program's file; empty if the design names none.
    pub program: &'a Path,
    /// The settings of the part in the design.
    pub part: &'a dyn Part,
    /// The program replaces the one that the design names. Settings of the design that refer to things which this
    /// program lacks are left out with a message; otherwise they are an error.
    pub given: bool,
}

/// JSON Schemas of the tables of a design that an engine reads itself.
#[derive(Debug, Clone, Default)]
pub struct Schemas {
    /// `[card.NAME]`.
    pub card: Schema,
    /// `[units.NAME]` or `[inline.NAME]`.
    pub part: Schema,
}

/// An engine. There is one value of it, which the crate `registry` lists.
pub trait Engine: Debug + Sync {
    /// Its name: of its folder, and in designs.
    fn name(&self) -> &'static str;

    /// Its number in RTL (engines/engines.toml).
    fn number(&self) -> u32;

    /// The kind of its parts.
    fn kind(&self) -> Kind;

    /// Reads `[card.NAME]`, the engine's settings for the whole card; None if the design has no such table.
    ///
    /// # Errors
    /// A key is unknown or has a wrong value.
    fn card(&self, section: Option<Section<'_>>) -> Result<Arc<dyn Part>, Fault>;

    /// Reads `[units.NAME]` or `[inline.NAME]`, the settings of one part; None if the design has no such table.
    ///
    /// # Errors
    /// A key is unknown or has a wrong value.
    fn part(&self, section: Option<Section<'_>>) -> Result<Arc<dyn Part>, Fault>;

    /// JSON Schemas of its tables; by default any table is valid.
    fn schemas(&self, _generator: &mut SchemaGenerator) -> Schemas {
        Schemas::default()
    }

    /// The way out if a program's file cannot be read, as the end of an error: "give a C source, for example ...".
    fn way_out(&self) -> &'static str;

    /// Options of `penstock run` and `penstock up` for tables of the engine's parts.
    fn options(&self) -> &'static [TableOption] {
        &[]
    }

    /// Whether a program with this file name can only be meant for this engine.
    fn claims(&self, _program: &Path) -> bool {
        false
    }

    /// The memories of its units that users read and write.
    fn memories(&self) -> &'static [UnitMemory] {
        &[]
    }

    /// The cores of its units; None if a debugger cannot halt them.
    fn core(&self) -> Option<&'static Core> {
        None
    }

    /// Compiles the programs of parts; gives their images in the same order.
    ///
    /// # Errors
    /// A program does not compile, does not fit, or a file cannot be read.
    fn compile(&self, job: &Job<'_>) -> Result<Vec<Arc<dyn Image>>, EngineError>;

    /// Whether frames enter a card in hardware one at a time by default: the driver serves each frame through
    /// registers, which is slower than line rate.
    fn in_turns(&self) -> bool {
        false
    }

    /// A driver for a card.
    fn driver(&self, shape: &CardShape, card: &dyn Part) -> Box<dyn Driver>;

    /// Its services.
    fn services(&self) -> &'static [Service];

    /// Its servers.
    fn servers(&self) -> &'static [Server] {
        &[]
    }

    /// `penstock compile NAME`: compiles a program, and prints its cost.
    fn compile_tool(&self) -> Option<Tool> {
        None
    }

    /// `penstock exec NAME`: runs a test in the form that programs of this kind are tested in elsewhere.
    fn exec_tool(&self) -> Option<Tool> {
        None
    }

    /// The counts of an inline block between two reads of [`Driver::count_block`].
    fn counted(&self, now: &Json, _then: &Json) -> Json {
        now.clone()
    }
}
