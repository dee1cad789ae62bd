// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The contract between a device and the host side of an engine.
//!
//! An [`Engine`] reads its own tables of a design ([`Section`]) and makes a [`Part`] of each: a group of units or an
//! inline block. It compiles the programs of its parts to [`Image`]s, and for each card at work it has one [`Driver`],
//! which loads images over the card's [`Bus`], says what its programs did, and answers the requests of its services.
//! The device, the command line and Python know engines by this contract only; the crate `registry` lists the engines
//! that there are.

mod bus;
mod counters;
mod debug;
mod driver;
mod engine;
mod error;
pub mod files;
mod image;
mod part;
pub mod records;
mod root;
pub mod say;
mod section;
mod server;
mod service;
mod tenant;
mod tool;
pub mod window;
pub mod words;

/// Register offsets, written by tools/regs.py.
#[path = "../../regs/regs.rs"]
pub mod regs;

pub use bus::{Bus, CardError, Native};
pub use counters::UnitCounters;
pub use debug::{Core, Place};
pub use driver::{Driver, Kept, LoadUnits};
pub use engine::{CardShape, Engine, Job, Kind, PartJob, Schemas, TableOption, UnitMemory};
pub use error::{EngineError, ErrorKind};
pub use image::Image;
pub use part::{FilesError, Part, TableNames, only_file};
pub use penstock_unit::{Access, AccessError, HELD_LIMIT, Identity, Log, Record};
pub use root::{Root, RootError};
pub use section::{Fault, Section};
pub use server::{Call, Server};
pub use service::{Ask, Dump, Request, Service, View, next_slice};
pub use tenant::Tenant;
pub use tool::{Left, TestCard, Tool, ToolError, Workbench};
