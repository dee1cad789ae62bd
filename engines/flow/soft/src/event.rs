// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What the host is told.

use std::collections::VecDeque;

use penstock_flow_compiler::limits::REGISTERS;

/// Something that happened to a context, or because of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// What happened.
    pub kind: EventKind,
    /// Number of the element.
    pub element: usize,
    /// When, in µs.
    pub time: u64,
    /// The flow: the fields of its key; none for an element without one.
    pub key: Vec<u128>,
    /// Its state: before it expired or gave way, after the row of any other event.
    pub state: u8,
    /// Its registers, likewise.
    pub registers: [u32; REGISTERS],
}

/// What happened. Several of one frame come in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// A context's time was over.
    Expired,
    /// A context gave way to a new one.
    Evicted,
    /// A flow has got a context.
    New,
    /// A context took the last place.
    Full,
    /// A row said `notify`.
    Notified,
}

impl EventKind {
    /// All of them.
    pub const ALL: [EventKind; 5] = [Self::Expired, Self::Evicted, Self::New, Self::Full, Self::Notified];

    /// Its name for users.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::Evicted => "evicted",
            Self::New => "new",
            Self::Full => "full",
            Self::Notified => "notified",
        }
    }
}

/// An event whose key is still packed: short keys stand in the first two words.
#[derive(Debug, Clone, Copy)]
pub struct Raw {
    pub kind: EventKind,
    pub element: usize,
    pub time: u64,
    pub key: [u64; 5],
    pub state: u8,
    pub registers: [u32; REGISTERS],
}

/// Events that wait for the host.
#[derive(Debug)]
pub struct Events {
    waiting: VecDeque<Raw>,
    room: usize,
    /// Of each element the kinds that are kept, a bit each.
    told: Vec<u32>,
    /// Events that found the queue full.
    pub lost: u64,
}

impl Events {
    pub fn new(room: usize, elements: usize) -> Events {
        Events { waiting: VecDeque::with_capacity(room), room, told: vec![u32::MAX; elements], lost: 0 }
    }

    /// Of an element only these are kept from now on.
    pub fn tell(&mut self, element: usize, kinds: &[EventKind]) {
        self.told[element] = kinds.iter().fold(0, |bits: u32, kind| bits | 1 << *kind as u32);
    }

    pub fn push(&mut self, event: Raw) {
        if self.told[event.element] >> event.kind as u32 & 1 == 0 {
            return;
        }
        if self.waiting.len() < self.room {
            self.waiting.push_back(event);
        } else {
            self.lost += 1;
        }
    }

    pub fn pop(&mut self) -> Option<Raw> {
        self.waiting.pop_front()
    }
}
