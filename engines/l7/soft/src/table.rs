// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Messages of which packets are missing.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use penstock_unit::Entering;

use crate::packet::Packet;
use crate::rules::Decision;

/// Bytes of the longest payload of a message.
pub const LONGEST_PAYLOAD: usize = 16_256;
/// Bytes of a page of message memory on the chip, and in card memory.
const PAGE: usize = 512;
const CARD_PAGE: usize = 2048;
/// Bytes that the headers of packet 0 take in card memory.
const HEADERS: usize = 128;

/// The limits of an application's messages in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Messages of which packets are missing.
    pub messages: usize,
    /// Pages, which their packets take.
    pub pages: usize,
    /// Time in ns after which a message expires of which no packet came; 0: never.
    pub timeout: u64,
    /// Messages of several packets are in card memory: they are decided when they are whole, and those of one packet
    /// need no room.
    pub in_card: bool,
}

impl Limits {
    /// Messages in flight of a block's two applications that are on the chip.
    pub const ON_CHIP: usize = 512;

    /// Each application has half of so many messages in flight: [`Self::ON_CHIP`], or more in card memory.
    #[must_use]
    pub fn of(messages: usize, timeout: u64) -> Self {
        let in_card = messages > Self::ON_CHIP;
        Self { messages: messages / 2, pages: if in_card { messages } else { 1024 }, timeout, in_card }
    }

    /// Pages that a packet takes.
    fn pages_of(&self, packet: &Packet) -> usize {
        match (self.in_card, packet.number) {
            (false, _) => packet.length().div_ceil(PAGE),
            (true, 0) => (HEADERS + packet.length()).div_ceil(CARD_PAGE),
            (true, _) => packet.length().div_ceil(CARD_PAGE),
        }
    }
}

impl Default for Limits {
    /// As a block in hardware after its reset.
    fn default() -> Self {
        Self::of(Self::ON_CHIP, 976_563 * 1024)
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
    pub of_type: u8,
    /// None: the message is decided when it is whole.
    pub decision: Option<Decision>,
    pub port: u8,
    pub hash: u32,
    pub tenant: u8,
}

impl First {
    /// Packet 0 of a message, in `frame`.
    #[must_use]
    pub fn new(frame: Vec<u8>, packet: Packet, of_type: u8, decision: Option<Decision>, entering: Entering) -> Self {
        let Entering { port, hash, tenant } = entering;
        Self { frame, packet, of_type, decision, port, hash, tenant }
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

    /// Why a message of one packet is not accepted; None: it is. On the chip it needs the room of others, but no place in
    /// the table.
    #[must_use]
    pub fn accepts_single(&self, packet: &Packet) -> Option<Accepted> {
        if self.limits.in_card {
            return (packet.length() > LONGEST_PAYLOAD).then_some(Accepted::Oversize);
        }
        self.room(None, packet)
    }

    /// Why there is no room for a packet of a message that is known or new; None: there is.
    fn room(&self, known: Option<&Message>, packet: &Packet) -> Option<Accepted> {
        if known.map_or(0, |message| message.bytes) + packet.length() > LONGEST_PAYLOAD {
            return Some(Accepted::Oversize);
        }
        let pages = self.limits.pages_of(packet);
        let is_full =
            self.pages + pages > self.limits.pages || (known.is_none() && self.messages.len() >= self.limits.messages);
        is_full.then_some(Accepted::Refused)
    }

    /// Adds a packet that [`InFlight::accepts`]; `first` is what is kept of packet 0.
    pub fn add(&mut self, key: Key, packet: &Packet, frame: &[u8], time: u64, first: Option<First>) -> Accepted {
        let bit = 1u32 << packet.number;
        let pages = self.limits.pages_of(packet);
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
