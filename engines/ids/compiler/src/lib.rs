// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Reads rules of intrusion detection, chooses what the filter looks for, and makes the filter's tables.
//!
//! ```
//! use penstock_ids_compiler::{Options, RuleFile, Ruleset};
//!
//! let text = r#"alert tcp any any -> any 80 (msg:"shell"; content:"/bin/sh"; sid:1;)"#;
//! let file = RuleFile { name: "my.rules".into(), text: text.into() };
//! let set = Ruleset::read(&[file], &Options::default())?;
//! assert_eq!((set.rules[0].sid, set.rules[0].message.as_str()), (1, "shell"));
//! # Ok::<(), penstock_ids_compiler::Faults>(())
//! ```

pub mod buffers;
mod byte_ops;
mod choose;
mod classes;
mod conditions;
pub mod config;
mod datasets;
mod dates;
mod ends;
mod events;
mod explain;
mod faults;
pub mod filter;
mod numbers;
mod packets;
mod parse;
mod program;
mod ranges;
pub mod rule;
mod set;
mod text;
mod transforms;
mod tuning;
pub mod wire;

pub use choose::Class;
pub use classes::Classes;
pub use datasets::{Dataset, DatasetUse};
pub use ends::{Addresses, Variables};
pub use explain::{Cost, class_name, key_text};
pub use faults::{ConfigFault, Fault, Faults};
pub use filter::Filter;
pub use program::{Found, Program, tell};
pub use ranges::Ranges;
pub use set::{Options, RuleFile, Ruleset};
pub use tuning::Tuning;
