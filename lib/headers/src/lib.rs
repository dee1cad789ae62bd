// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The headers of a frame, which inline engines read and change by the names of their fields.
//!
//! ```
//! use penstock_headers::{Field, Header, Headers};
//!
//! let mut frame = vec![0; 42];
//! frame[12..14].copy_from_slice(&[8, 0]);
//! frame[14..34].copy_from_slice(&[0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0x66, 0xcf, 10, 0, 0, 1, 10, 0, 0, 2]);
//! frame[34..42].copy_from_slice(&[0, 67, 0, 68, 0, 8, 0, 0]);
//!
//! let mut headers = Headers::parse(&frame);
//! assert!(headers.has(Header::Udp) && !headers.has(Header::Vlan));
//! assert_eq!(headers.get(&frame, Field::UdpDport), Some(68));
//!
//! headers.set(&mut frame, Field::IpTtl, 63)?;
//! headers.repair(&mut frame);
//! assert_eq!(frame[24..26], [0x67, 0xcf]);
//! headers.push_vlan(&mut frame, 100)?;
//! assert_eq!(headers.get(&frame, Field::VlanId), Some(100));
//! assert_eq!(headers.get(&frame, Field::UdpDport), Some(68));
//! # Ok::<(), penstock_headers::EditError>(())
//! ```
//!
//! # What is there
//! `fields.toml` defines the names, widths and places of the fields; a page and the outputs of lib/rtl/header_parser.sv
//! come from it. A header is present if it is complete: its lengths make sense, its version is right, and neither the
//! header nor, for IP, the packet extends beyond the end of the frame; a TCP header with its options, and a UDP
//! datagram, are within the packet. A damaged header is not present, and neither is anything after it. Checksums are
//! not checked.
//!
//! - Ethernet, then up to two VLAN tags (0x8100, 0x88A8), then one MPLS label (0x8847). A third tag is a type like any
//!   other; after a label that is not the last, nothing is present.
//! - IPv4 with options; IPv6 with hop-by-hop options, routing, destination options and fragment headers, in any order.
//! - A *fragment* has an offset or says that more follow. Behind the IP header only the first has anything; the length
//!   of its UDP is the whole datagram's.
//! - TCP with options, UDP, ICMP over IPv4, ICMPv6 over IPv6, and the first eight whole words of the payload of TCP and
//!   UDP.
//!
//! # Limits
//! The limits are those of hardware, which sees two beats of a frame.
//! - Headers are within the first [`WINDOW`] bytes; for IPv4, TCP and extension headers this means their fixed part
//!   (20, 20 and 8 bytes). A header that ends later is not present, and neither are words of payload.
//! - At most [`EXTENSIONS`] extension headers of IPv6.
//! - The addresses of an IPv6 packet of which these limits hide something cannot be set: a checksum that covers them
//!   may be there.
//! - Fragments other than the first are not parsed, nor is a first one that ends within the TCP header or its options
//!   (RFC 1858 calls for dropping it): a checksum there is not repaired.
//! - The source route of IPv4 and the home address of Mobile IPv6, with which checksums cover another address than the
//!   header's, are not looked for.
//!
//! # Edits
//! A frame is parsed once. Edits change the frame and keep [`Headers`] true: apart from what an edit names, nothing
//! comes to be there or ceases to be, also if tags have moved it over the limit of the window. Edits that a frame does
//! not allow change nothing. Checksums are repaired once, when all edits are done.

mod checksum;
mod chunk;
mod edit;
mod field;
mod headers;
mod parse;
#[rustfmt::skip]
mod table;

pub use chunk::Chunk;
pub use edit::EditError;
pub use headers::Headers;
pub use parse::{EXTENSIONS, WINDOW};
pub use table::{Field, Header, PARTS, Part, WORDS};
