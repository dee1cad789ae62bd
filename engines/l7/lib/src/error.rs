// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Errors of messages.

use std::io;

/// Why a message was not sent or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The datagram is too short for the header.
    #[error("a packet of a message has at least 23 bytes behind its UDP header, and this one has {0}")]
    Short(usize),
    /// A number in the header cannot be.
    #[error("packet {number} of a message of {count}: a message has 1 to 32 packets, numbered from 0")]
    Count {
        /// Packets of the message.
        count: u8,
        /// The packet's number.
        number: u8,
    },
    /// The flag is unknown.
    #[error("the flag is {0}; there are 0 for data and 1 for acknowledgements")]
    Flag(u8),
    /// A field ends after the message.
    #[error("field {0} ends behind the message")]
    Field(u8),
    /// The message is of another type.
    #[error("the message is of type {0}, not {1}")]
    Type(u8, u8),
    /// The value of a field is none of its kind: text that is not UTF-8, or an integer of another length.
    #[error("the value of field {0} is none of its kind: strings are UTF-8, uint32 has 4 bytes, uint64 has 8")]
    Value(u8),
    /// A dispatch field is too long.
    #[error(
        "dispatch field {number} has {bytes} bytes; a card sees fields of up to 254 bytes, and 256 bytes of all together"
    )]
    Dispatch {
        /// Number of the field.
        number: u8,
        /// Its bytes.
        bytes: usize,
    },
    /// The message is too long.
    #[error("the fields take {0} bytes; a message has at most 16,256")]
    Long(usize),
    /// The time is over. A message that was sent may have arrived all the same.
    #[error(
        "no acknowledgement, answer or message came in time; a message that was sent may have arrived all the same"
    )]
    Timeout,
    /// Another thread cancelled the call or the message. It may have arrived all the same.
    #[error("the call was cancelled; a message that was sent may have arrived all the same")]
    Cancelled,
    /// The failures of messages up to this one are forgotten.
    #[error(
        "message {0} is not known any more: it was acknowledged, or it failed; wait for messages sooner, or raise \
         `Settings::unsent`"
    )]
    Unknown(u32),
    /// The endpoint is closed.
    #[error("the endpoint is closed")]
    Closed,
    /// Too many messages wait to be sent.
    #[error("too many messages wait for acknowledgements: wait for some of them, or raise `Settings::unsent`")]
    Full,
    /// The carrier failed.
    #[error(transparent)]
    Carrier(#[from] io::Error),
}
