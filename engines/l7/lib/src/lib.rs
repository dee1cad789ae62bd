// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Sends and receives messages of QNP (engines/l7/machine.md, "Messages on the wire") over UDP or any other carrier of
//! datagrams.
//!
//! ```
//! use std::net::UdpSocket;
//! use penstock_qnp::{Endpoint, Message};
//!
//! let server = Endpoint::new(UdpSocket::bind("127.0.0.1:0")?);
//! let client = Endpoint::new(UdpSocket::bind("127.0.0.1:0")?);
//! let address = server.carrier().local_addr()?;
//! let review = Message::new(1, 1).dispatch(1, "/CA/20240919").dispatch(2, "/CS/Math").field(3, vec![b'x'; 4000]);
//!
//! std::thread::scope(|threads| {
//!     threads.spawn(|| {
//!         let received = server.recv_msg()?;
//!         assert_eq!(received.message.get(2), Some(&b"/CS/Math"[..]));
//!         server.answer(&received, &Message::new(1, 2).field(1, "thanks"))
//!     });
//!     let answer = client.call(address, &review)?;
//!     assert_eq!(answer.message.get(1), Some(&b"thanks"[..]));
//!     Ok::<(), penstock_qnp::Error>(())
//! })?;
//! # Ok::<(), penstock_qnp::Error>(())
//! ```
//!
//! **Delivery.** An endpoint sends a message again until its destination acknowledges it, or its time is over. Packets
//! that a receiver has reported are not sent again; a card reports none, so behind a card the whole message is sent
//! again. An acknowledgement counts if it comes from the address to which the message was sent.
//!
//! **Exactly once.** A receiver remembers the last 1,024 numbers of each of 16,384 senders ([`Limits`]). A sender
//! begins a message only if fewer than 512 messages to this destination were begun behind the oldest one without an
//! acknowledgement. A receiver therefore recognizes each message that its sender sends again, whatever the network
//! loses, duplicates and reorders. These are the exceptions:
//! - Replies ([`Endpoint::reply`]) use numbers, too, and have no window. If an endpoint sends more than 400 replies to a
//!   destination while a message of its own to it is on its way, the message can arrive twice. (It is 400 with the
//!   default window, and fewer with a larger one: with a window of 512 messages a single reply is too many.)
//! - The network holds a copy back until 1,024 other messages of the sender have arrived: it can arrive twice.
//! - 16,384 other senders come between two copies of a message: it can arrive twice. Forged sources count.
//! - Servers behind one address are one sender to their client: they share its 1,024 numbers, and each begins its own
//!   at random. If two of them use the same numbers, the client takes the second message for a repetition of the first.
//!   The message is lost, although the client acknowledges it, and a call that it answers ends when its time is over.
//!
//! If the call that sends a message ends with an error, the message may have arrived all the same. [`Endpoint::wait`]
//! tells the end of a posted message, or that it is not known any more ([`Error::Unknown`]).
//!
//! **Late answers.** [`Endpoint::recv_msg`] does not return answers to the last 1,024 calls that ended without one. It
//! returns answers to older ones.
//!
//! **Order.** Messages may overtake each other. A sender that waits for each acknowledgement has them in order.
//!
//! **Memory.** A sender takes at most 1 MiB and 4 KiB for its numbers, all senders together 64 MiB and 64 MiB for their
//! numbers, and messages without an acknowledgement 64 MiB ([`Settings`]). Those that failed are remembered, at most
//! 262,145 numbers.

mod carrier;
mod endpoint;
mod error;
mod header;
mod impaired;
mod inbox;
mod message;
mod outbox;
mod until;

pub use carrier::Carrier;
pub use endpoint::{Counts, Endpoint, Received};
pub use error::Error;
pub use header::{Flag, Header};
pub use impaired::{Faults, Impaired};
pub use inbox::Limits;
pub use message::Message;
pub use outbox::Settings;
pub use until::{Cancel, Until};
