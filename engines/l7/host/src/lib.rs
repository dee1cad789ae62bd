// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The host side of the l7 engine: reads the settings of l7 blocks in a design, compiles and loads their rules, swaps
//! the rules of an application, and answers requests about applications, rules and counters.

mod ask;
mod card;
mod clock;
mod command;
mod compile;
mod counters;
mod driver;
mod engine;
mod error;
mod image;
mod machine;
mod native;
mod service;
mod settings;
mod text;

pub use ask::{Ask, NAME};
pub use counters::{AppCounters, BlockCounters, RuleCounter};
pub use driver::L7Driver;
pub use engine::{L7, L7Engine};
pub use error::L7Error;
pub use image::{L7Image, PROGRAM};
pub use settings::Settings;

/// Register offsets of the engine, written by tools/regs.py.
#[path = "../../regs/regs.rs"]
#[allow(dead_code)]
mod regs;
