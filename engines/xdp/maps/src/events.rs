// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Events of a perf event array: a queue to the host for each processor.

use std::collections::VecDeque;

use crate::Errno;

/// Bytes that wait in a queue at most. Events that do not fit are lost and counted, as in a perf buffer.
const MAX_BYTES: usize = 1 << 20;
/// Bytes of an event's header and length in a perf buffer. They count, because empty events take memory as well.
const HEADER: usize = 12;

/// Bytes of a queue that an event takes.
fn cost(event: &[u8]) -> usize {
    (HEADER + event.len()).next_multiple_of(8)
}

/// A queue of events to the host.
#[derive(Debug, Clone, Default)]
pub struct Events {
    waiting: VecDeque<Vec<u8>>,
    bytes: usize,
    lost: u64,
}

impl Events {
    /// Puts an event into the queue.
    ///
    /// # Errors
    /// ENOSPC: the host does not take them fast enough, and this one is lost.
    pub fn put(&mut self, event: Vec<u8>) -> Result<(), Errno> {
        if self.bytes + cost(&event) > MAX_BYTES {
            self.lost += 1;
            return Err(Errno::NoSpace);
        }
        self.bytes += cost(&event);
        self.waiting.push_back(event);
        Ok(())
    }

    /// The oldest event.
    pub fn take(&mut self) -> Option<Vec<u8>> {
        let event = self.waiting.pop_front()?;
        self.bytes -= cost(&event);
        Some(event)
    }

    /// How many were lost.
    pub fn lost(&self) -> u64 {
        self.lost
    }
}
