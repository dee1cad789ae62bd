// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The host side of the flow engine: reads the settings of flow blocks in a design, compiles and loads their programs,
//! and answers requests about their contexts, registers and events.
//!
//! ```
//! use penstock_flow_host::Ask;
//!
//! let ask = Ask::Dump { element: "knock".to_owned(), from: 0 };
//! assert_eq!(ask.json().to_string(), r#"{"dump":{"element":"knock"}}"#);
//! ```

mod answers;
mod ask;
mod card;
mod command;
mod compile;
pub mod contexts;
mod counters;
mod driver;
mod elements;
mod engine;
mod error;
mod image;
mod native;
mod service;
mod settings;
mod text;

pub use answers::{ContextAbout, ElementAbout, EventAbout, Hard, Idle, SliceAbout, TableUse};
pub use ask::{Ask, NAME};
pub use counters::{BlockCounters, ElementCounters, RowCounter};
pub use driver::FlowDriver;
pub use elements::Elements;
pub use engine::{FLOW, Flow};
pub use error::{FlowError, ProgramFaults};
pub use image::{FlowImage, PROGRAM, places};
pub use settings::{CONTEXTS, Settings};

/// Register offsets of the engine, written by tools/regs.py.
#[path = "../../regs/regs.rs"]
#[allow(dead_code)]
#[expect(unreachable_pub, reason = "generated for crates that export it, too")]
mod regs;
