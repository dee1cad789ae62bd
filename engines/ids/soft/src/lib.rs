// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Detects intrusions in native code. The filter is that of the card bit for bit (engines/ids/machine.md); the matcher
//! serves both targets.
//!
//! ```
//! use std::sync::Arc;
//!
//! use penstock_ids::{Bounds, Inspector};
//! use penstock_ids_compiler::{Options, Program, RuleFile, Ruleset};
//!
//! let text = r#"alert udp any any -> any 53 (msg:"name"; content:"example"; sid:1;)"#;
//! let files = [RuleFile { name: "my.rules".into(), text: text.into() }];
//! let program = Program::new(Ruleset::read(&files, &Options::default())?);
//! let mut inspector = Inspector::new(Arc::new(program), Bounds::default(), false);
//! assert!(inspector.carry(&[0; 60], 0, 0).alerts.is_empty());
//! # Ok::<(), penstock_ids_compiler::Faults>(())
//! ```

mod always;
mod block;
mod events;
mod inspector;
mod log;
mod look;
mod matching;
mod memory;
mod messages;
mod plan;
mod records;
mod report;
mod scan;
mod search;
mod seen;
mod stats;
mod thresholds;
mod tier;

pub use block::Block;
pub use inspector::{Bounds, Checksums, Inspector, Outcome, Reports, Told};
pub use log::{Log, LogError};
pub use matching::{Bytes, Limited};
pub use report::{Alert, AlertFields, Ends, Signature, stats_line, timestamp};
pub use scan::{Scanner, Window};
pub use stats::{AppStats, DefragStats, DetectStats, FlowStats, FrameStats, Stats, StreamStats};
