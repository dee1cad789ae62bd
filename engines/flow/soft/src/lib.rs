// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Runs programs of the flow engine as native code: the soft side of engines/flow/element.md.
//!
//! It runs the checked programs and not the images for hardware, so that tests can compare the two.
//!
//! ```
//! use penstock_flow::{Arrival, Chain, Options, Verdict};
//!
//! let text = "element once { key eth.src states NEW, SEEN in NEW { else => goto SEEN } in SEEN { else => drop } }";
//! let program = penstock_flow_compiler::compile("once.efsm", text)?.program;
//! let mut chain = Chain::new(&program, &Options::default());
//! let arrival = Arrival { port: 0, hash: 0, time: 0 };
//! assert_eq!(chain.run(&mut vec![0; 60], &arrival), Verdict::Pass);
//! assert_eq!(chain.run(&mut vec![0; 60], &arrival), Verdict::Drop);
//! # Ok::<(), penstock_flow_compiler::Faults>(())
//! ```

mod block;
mod chain;
mod code;
mod element;
mod event;
mod frame;
mod key;
mod table;

pub use block::Block;
pub use chain::{Chain, Context, Deadline, HostError, Options, Slice};
pub use element::Counters;
pub use event::{Event, EventKind};
pub use frame::{Arrival, Frame, Verdict};
