// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Messages of which packets are missing.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use penstock_unit::Entering;

use crate::packet::Packet;
use crate::rules::Decision;

/// Bytes of the longest payload of a message.
pub const LONGEST_PAYLOAD: usize = 16_256;
/// Bytes of a page of message memory.
const PAGE: usize = 512;

/// The limits of an application's messages in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Messages of which packets are missing.
    pub messages: usize,
    /// Pages of 512 bytes, which their packets take.
    pub pages: usize,
    /// Time in ns after which a message expires of which no packet came; 0: never.
    pub timeout: u64,
}

impl Default for Limits {
    /// As a block in hardware after its reset.
    fn default() -> Self {
        Self { messages: 256, pages: 1024, timeout: 976_563 * 1024 }
    }
}

/// The sender and number of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    pub source: IpAddr,
    pub port: u16,
    pub id: u32,
}

/// The first packet of a message.
#[derive(Debug, Clone)]
pub struct First {
    pub frame: Vec<u8>,
    pub packet: Packet,
    pub decision: Decision,
    pub port: u8,
    pub hash: u32,
    pub tenant: u8,
}

impl First {
    /// Packet 0 of a message, in `frame`.
    #[must_use]
    pub fn new(frame: Vec<u8>, packet: Packet, decision: Decision, entering: Entering) -> Self {
        let Entering { port, hash, tenant } = entering;
        Self { frame, packet, decision, port, hash, tenant }
    }
}

/// A message of which packets are missing.
#[derive(Debug)]
struct Message {
    count: u8,
    /// Packets that are there, a bit each.
    received: u32,
    first: Option<First>,
    /// Payloads by the packet's number; that of packet 0 is in [`Message::first`].
    payloads: Vec<Vec<u8>>,
    bytes: usize,
    pages: usize,
    /// Time of the last packet, in ns, and a number that no other packet has.
    last: (u64, u64),
}

/// The effect of a packet.
#[derive(Debug)]
pub enum Accepted {
    /// The message waits for others.
    Waits,
    /// The message is whole: its first packet, and the payloads of the others.
    Whole(First, Vec<Vec<u8>>),
    /// Another packet of the message gave another number of packets.
    Malformed,
    /// It was there already.
    Duplicate,
    /// The message would become too long.
    Oversize,
    /// There is no room.
    Refused,
}

/// The messages of an application of which packets are missing.
#[derive(Debug, Default)]
pub struct InFlight {
    limits: Limits,
    messages: HashMap<Key, Message>,
    pages: usize,
    /// Messages by [`Message::last`]: they expire in this order.
    by_time: BTreeMap<(u64, u64), Key>,
    /// Packets that were accepted.
    accepted: u64,
}

impl InFlight {
    /// None yet.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Messages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether the table is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Pages that they take.
    #[must_use]
    pub fn pages(&self) -> usize {
        self.pages
    }

    /// The limits.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Why a packet of a message of several is not accepted; None: it is.
    #[must_use]
    pub fn accepts(&self, key: &Key, packet: &Packet) -> Option<Accepted> {
        let bit = 1u32 << packet.number;
        let known = self.messages.get(key);
        if known.is_some_and(|message| message.count != packet.count) {
            return Some(Accepted::Malformed);
        }
        if known.is_some_and(|message| message.received & bit != 0) {
            return Some(Accepted::Duplicate);
        }
        self.room(known, packet)
    }

    /// Why a message of one packet is not accepted; None: it is. It needs the room of others, but no place in the table.
    #[must_use]
    pub fn accepts_single(&self, packet: &Packet) -> Option<Accepted> {
        self.room(None, packet)
    }

    /// Why there is no room for a packet of a message that is known or new; None: there is.
    fn room(&self, known: Option<&Message>, packet: &Packet) -> Option<Accepted> {
        if known.map_or(0, |message| message.bytes) + packet.length() > LONGEST_PAYLOAD {
            return Some(Accepted::Oversize);
        }
        let pages = packet.length().div_ceil(PAGE);
        let is_full =
            self.pages + pages > self.limits.pages || (known.is_none() && self.messages.len() >= self.limits.messages);
        is_full.then_some(Accepted::Refused)
    }

    /// Adds a packet that [`InFlight::accepts`]; `first` is what is kept of packet 0.
    pub fn add(&mut self, key: Key, packet: &Packet, frame: &[u8], time: u64, first: Option<First>) -> Accepted {
        let bit = 1u32 << packet.number;
        let pages = packet.length().div_ceil(PAGE);
        let payloads = vec![Vec::new(); usize::from(packet.count)];
        self.accepted += 1;
        let last = (time, self.accepted);
        let new = Message { count: packet.count, received: 0, first: None, payloads, bytes: 0, pages: 0, last };
        let message = self.messages.entry(key).or_insert(new);
        self.by_time.remove(&message.last);
        message.received |= bit;
        message.bytes += packet.length();
        message.pages += pages;
        message.last = last;
        self.pages += pages;
        if packet.number == 0 {
            message.first = first;
        } else {
            message.payloads[usize::from(packet.number)] = frame[packet.payload..packet.end].to_vec();
        }
        if message.received.count_ones() == u32::from(message.count)
            && let Some(message) = self.messages.remove(&key)
            && let Some(first) = message.first
        {
            self.pages -= message.pages;
            return Accepted::Whole(first, message.payloads);
        }
        self.by_time.insert(last, key);
        Accepted::Waits
    }

    /// Removes the messages that have expired at a time; gives their number.
    pub fn expire(&mut self, time: u64) -> u64 {
        let Limits { timeout, .. } = self.limits;
        let mut expired = 0;
        while timeout > 0
            && let Some(first) = self.by_time.first_entry()
            && time.saturating_sub(first.key().0) >= timeout
        {
            let message = self.messages.remove(&first.remove());
            self.pages -= message.map_or(0, |message| message.pages);
            expired += 1;
        }
        expired
    }
}
