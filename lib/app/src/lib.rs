// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Application protocols in streams: HTTP/1, DNS, TLS, SSH, SMTP and FTP. A [`Side`] takes the bytes of one direction of a flow in
//! pieces of any size and hands on messages with their parts ([`Field`]). No length in a message is trusted, and all
//! memory is bounded by [`Limits`].
//!
//! ```
//! use penstock_app::{Exchange, Field, Limits, Side};
//!
//! let (mut side, mut exchange) = (Side::new(true, false), Exchange::default());
//! let mut uris = Vec::new();
//! for piece in [&b"GET /%61/..//b?x=%20 HT"[..], b"TP/1.1\r\nHost: example.com\r\n\r\n"] {
//!     side.push(piece, &Limits::default(), &mut exchange, &mut |event| {
//!         uris.extend(event.new_fields().filter(|(field, _)| *field == Field::Uri).map(|(_, bytes)| bytes.to_vec()));
//!     });
//! }
//! assert_eq!(uris, [b"/b?x=%20"]);
//! ```

pub mod base64;
mod der;
mod dns;
mod field;
mod ftp;
mod http;
mod inflate;
mod lines;
mod mime;
mod reader;
mod side;
mod smtp;
mod ssh;
mod tls;
mod uri;

pub use der::days;
pub use dns::{Answer, Dns, Question, type_name};
pub use field::{Field, Protocol};
pub use ftp::port_address;
pub use side::{Counters, Event, Exchange, Limits, Message, Request, Side, datagram};
pub use uri::normalized;
