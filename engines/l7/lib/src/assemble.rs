// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Puts messages together from their packets. Behind a card each message is one packet already.

use std::collections::{HashMap, HashSet, VecDeque};
use std::net::SocketAddr;

use crate::header::Header;

/// The limits of an [`Assembler`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Messages of which packets are missing. If there are more, the oldest one is given up.
    pub messages: usize,
    /// Complete messages that are recognized if they arrive again.
    pub known: usize,
    /// Bytes of payload of the longest message.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { messages: 1024, known: 65_536, bytes: 16_256 }
    }
}

/// Sender, application and number of a message.
type Key = (SocketAddr, u8, u32);

/// Packets of messages that are not whole.
#[derive(Debug, Default)]
pub struct Assembler {
    limits: Limits,
    parts: HashMap<Key, Vec<Option<Vec<u8>>>>,
    /// Keys of `parts`, oldest first; some may be gone.
    order: VecDeque<Key>,
    /// Whole messages, oldest first.
    whole: HashSet<Key>,
    whole_order: VecDeque<Key>,
}

/// The effect of a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Added {
    /// Packets are missing.
    Waits,
    /// The payload of the message.
    Whole(Vec<u8>),
    /// The message was whole before.
    Again,
    /// The packet contradicts those before it, or its message is too long.
    Refused,
}

impl Assembler {
    /// An assembler with these limits.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Adds a packet of a message.
    pub fn add(&mut self, from: SocketAddr, header: &Header, payload: &[u8]) -> Added {
        let key = (from, header.application, header.id);
        if self.whole.contains(&key) {
            return Added::Again;
        }
        let count = usize::from(header.count);
        if !self.parts.contains_key(&key) {
            self.make_room();
            self.order.push_back(key);
        }
        let parts = self.parts.entry(key).or_insert_with(|| vec![None; count]);
        let bytes: usize = parts.iter().flatten().map(Vec::len).sum();
        // The first packet to arrive has the number of packets.
        let same = parts.len() == count;
        match parts.get_mut(usize::from(header.number)).filter(|_| same) {
            Some(Some(_)) => return Added::Waits,
            Some(part) if bytes + payload.len() <= self.limits.bytes => *part = Some(payload.to_vec()),
            _ => return Added::Refused,
        }
        if parts.iter().any(Option::is_none) {
            return Added::Waits;
        }
        let parts = self.parts.remove(&key).unwrap_or_default();
        self.remember(key);
        Added::Whole(parts.into_iter().flatten().flatten().collect())
    }

    fn make_room(&mut self) {
        while self.parts.len() >= self.limits.messages
            && let Some(oldest) = self.order.pop_front()
        {
            self.parts.remove(&oldest);
        }
        if self.order.len() > 2 * self.limits.messages {
            self.order.retain(|key| self.parts.contains_key(key));
        }
    }

    fn remember(&mut self, key: Key) {
        if self.whole_order.len() >= self.limits.known
            && let Some(oldest) = self.whole_order.pop_front()
        {
            self.whole.remove(&oldest);
        }
        self.whole.insert(key);
        self.whole_order.push_back(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(id: u32, count: u8, number: u8) -> Header {
        Header { id, count, number, ..Header::default() }
    }

    #[test]
    fn packets_come_in_any_order() {
        let (a, b) = (SocketAddr::from(([10, 0, 0, 1], 1)), SocketAddr::from(([10, 0, 0, 2], 1)));
        let mut all = Assembler::new(Limits::default());
        assert_eq!(all.add(a, &header(1, 2, 1), b"a1"), Added::Waits);
        assert_eq!(all.add(b, &header(1, 2, 0), b"b0"), Added::Waits);
        assert_eq!(all.add(a, &header(1, 2, 1), b"xx"), Added::Waits);
        assert_eq!(all.add(a, &header(1, 3, 2), b"xx"), Added::Refused);
        assert_eq!(all.add(a, &header(1, 3, 0), b"xx"), Added::Refused);
        assert_eq!(all.add(a, &header(1, 2, 0), b"a0"), Added::Whole(b"a0a1".to_vec()));
        assert_eq!(all.add(b, &header(1, 2, 1), b"b1"), Added::Whole(b"b0b1".to_vec()));
        assert_eq!(all.add(a, &header(1, 2, 0), b"a0"), Added::Again);
        assert_eq!(all.add(a, &header(2, 2, 0), &[0; 16_000]), Added::Waits);
        assert_eq!(all.add(a, &header(2, 2, 1), &[0; 257]), Added::Refused);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let from = SocketAddr::from(([10, 0, 0, 1], 1));
        let mut all = Assembler::new(Limits { messages: 4, known: 2, bytes: 10 });
        for id in 0..100 {
            assert_eq!(all.add(from, &header(id, 2, 0), b"x"), Added::Waits);
            assert!(all.parts.len() <= 4 && all.order.len() <= 9);
        }
        // The oldest were given up.
        assert_eq!(all.add(from, &header(99, 2, 1), b"y"), Added::Whole(b"xy".to_vec()));
        assert_eq!(all.add(from, &header(0, 2, 1), b"y"), Added::Waits);
        for id in 200..300 {
            assert_eq!(all.add(from, &header(id, 1, 0), b"x"), Added::Whole(b"x".to_vec()));
        }
        assert_eq!((all.whole.len(), all.add(from, &header(299, 1, 0), b"x")), (2, Added::Again));
    }
}
