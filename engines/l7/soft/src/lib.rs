// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The l7 engine in native code: finds messages in frames, and dispatches each of them, whole, by the rules of its
//! application.
//!
//! It runs the checked rules and not the rows for hardware, and tests compare the two. engines/l7/machine.md defines
//! the fate of frames.
//!
//! ```
//! let text = r#"
//!     message Review { option (type) = 1; string student = 1 [(dispatch) = true]; }
//!     application reviews = 7 { udp port 7000; on Review { rule a { student = "/CA/" ..; } => queue 3; default => drop; } }"#;
//! let program = penstock_l7_compiler::compile("reviews.l7", text)?.program;
//! let mut rules = penstock_l7::Rules::new(&program.applications[0], &program);
//! let decision = rules.decide(1, b"\x01\x08/CA/2024");
//! assert_eq!((decision.index, decision.number), (1, 3));
//! # Ok::<(), penstock_l7_compiler::Faults>(())
//! ```

mod block;
mod condition;
mod counters;
mod message;
mod packet;
mod protocol;
mod rules;
mod table;

pub use block::Block;
pub use counters::Counters;
pub use message::deliver;
pub use packet::{Datagram, Packet, Parsed, datagram};
pub use protocol::Window;
pub use rules::{Decision, Rules};
pub use table::{InFlight, LONGEST_PAYLOAD, Limits};
