// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! From frames to streams: decodes frames ([`Packet`]), puts fragments together ([`Defrag`]), keeps the flows that
//! packets belong to ([`Flows`]), and puts the bytes of each direction of a TCP connection in order ([`Direction`]).
//! All memory is bounded, and no length in a frame is trusted.
//!
//! ```
//! use penstock_streams::{Direction, Held, Limits};
//!
//! let limits = Limits::default();
//! let (mut held, mut stream, mut text) = (Held::default(), Direction::default(), Vec::new());
//! stream.open(1001);
//! for (sequence, bytes) in [(1004, b"lo"), (1002, b"el"), (1001, b"he")] {
//!     stream.push(sequence, bytes, &limits, &mut held, &mut |chunk| text.extend_from_slice(chunk.bytes));
//! }
//! assert_eq!(text, b"hello");
//! ```

mod checksum;
mod decode;
mod defrag;
mod faults;
mod flows;
mod overlap;
mod stream;
mod systems;
mod tunnel;

pub use decode::{Fragment, Packet, Tcp, Transport, Undecoded, decode};
pub use defrag::{Assembled, Defrag, DefragCounters, DefragLimits};
pub use faults::{Fault, fault, oddities};
pub use flows::{Ending, Flow, FlowCounters, FlowKey, Flows, Way};
pub use overlap::Policy;
pub use stream::{Chunk, Direction, Held, Limits, StreamCounters};
pub use systems::Systems;
pub use tunnel::{TEREDO, Tunnels};
