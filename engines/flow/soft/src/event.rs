// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Events for the host.

use std::collections::VecDeque;

use penstock_flow_compiler::limits::REGISTERS;

/// An event of a context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its kind.
    pub kind: EventKind,
    /// Number of the element.
    pub element: usize,
    /// Time in µs.
    pub time: u64,
    /// Key of the flow; empty for an element without a key.
    pub key: Vec<u128>,
    /// Its state: before it expired or was evicted, otherwise after the row.
    pub state: u8,
    /// Its registers, at the same time.
    pub registers: [u32; REGISTERS],
}

/// Kinds of events. Events of one frame have this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// A context expired.
    Expired,
    /// A context was evicted in favour of a new one.
    Evicted,
    /// A flow got a context.
    New,
    /// A context took the last place.
    Full,
    /// A row has the action `notify`.
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

/// An event whose key is still packed. Short keys take the first two words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Raw {
    pub kind: EventKind,
    pub element: usize,
    pub time: u64,
    pub key: [u64; 5],
    pub state: u8,
    pub registers: [u32; REGISTERS],
}

/// Events that wait for the host.
#[derive(Debug)]
pub(crate) struct Events {
    waiting: VecDeque<Raw>,
    room: usize,
    /// For each element the kinds that are kept, a bit each.
    told: Vec<u32>,
    /// Events that found the queue full.
    pub lost: u64,
}

impl Events {
    pub(crate) fn new(room: usize, elements: usize) -> Events {
        Events { waiting: VecDeque::with_capacity(room), room, told: vec![u32::MAX; elements], lost: 0 }
    }

    /// Keeps only events of these kinds of an element from now on.
    pub(crate) fn tell(&mut self, element: usize, kinds: &[EventKind]) {
        self.told[element] = kinds.iter().fold(0, |bits: u32, kind| bits | 1 << *kind as u32);
    }

    pub(crate) fn push(&mut self, event: Raw) {
        if self.told[event.element] >> event.kind as u32 & 1 == 0 {
            return;
        }
        if self.waiting.len() < self.room {
            self.waiting.push_back(event);
        } else {
            self.lost += 1;
        }
    }

    pub(crate) fn pop(&mut self) -> Option<Raw> {
        self.waiting.pop_front()
    }
}
