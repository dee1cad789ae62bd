// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The host side of the ids engine: reads the settings of ids blocks in a design, loads their rules, writes their
//! alerts and answers requests.
//!
//! ```
//! use penstock_ids_host::Ask;
//!
//! assert_eq!(Ask::Rules { hits: true }.json().to_string(), r#"{"rules":{"hits":true}}"#);
//! ```

mod ask;
mod card;
mod compile;
mod config;
mod driver;
mod engine;
mod error;
mod image;
mod record;
mod service;
mod settings;

pub use ask::{Ask, NAME, RuleAbout, RuleText};
pub use driver::IdsDriver;
pub use engine::{IDS, Ids};
pub use error::IdsError;
pub use image::{IdsImage, RULES};
pub use settings::{Late, Mode, Settings};

/// Register offsets of the engine, written by tools/regs.py.
#[path = "../../regs/regs.rs"]
#[allow(dead_code)]
mod regs;
