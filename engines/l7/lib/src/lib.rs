// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Sends and receives messages of QNP (engines/l7/machine.md, "Messages on the wire") over UDP or any other carrier of
//! datagrams.
//!
//! ```
//! use std::net::UdpSocket;
//! use penstock_qnp::{Endpoint, Message};
//!
//! let mut server = Endpoint::new(UdpSocket::bind("127.0.0.1:0")?);
//! let mut client = Endpoint::new(UdpSocket::bind("127.0.0.1:0")?);
//! let review = Message::new(1, 1).dispatch(1, "/CA/20240919").dispatch(2, "/CS/Math").field(3, vec![b'x'; 4000]);
//! let number = client.send_msg(server.carrier().local_addr()?, &review)?;
//!
//! let received = server.recv_msg()?;
//! assert_eq!(received.message.get(2), Some(&b"/CS/Math"[..]));
//! server.answer(&received, &Message::new(1, 2).field(1, "thanks"))?;
//! let answer = client.recv_msg()?;
//! assert_eq!((answer.acknowledges, client.unacknowledged()), (number, 0));
//! # Ok::<(), penstock_qnp::Error>(())
//! ```

mod assemble;
mod carrier;
mod endpoint;
mod error;
mod header;
mod message;

pub use assemble::{Assembler, Limits};
pub use carrier::Carrier;
pub use endpoint::{Endpoint, Received};
pub use error::Error;
pub use header::{Flag, Header};
pub use message::Message;
