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

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// A flow has got a context.
    New,
    /// A context's time was over.
    Expired,
    /// A context gave way to a new one.
    Evicted,
    /// A context took the last place.
    Full,
    /// A row said `notify`.
    Notified,
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
    /// Events that found the queue full.
    pub lost: u64,
}

impl Events {
    pub fn new(room: usize) -> Events {
        Events { waiting: VecDeque::with_capacity(room), room, lost: 0 }
    }

    pub fn push(&mut self, event: Raw) {
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
