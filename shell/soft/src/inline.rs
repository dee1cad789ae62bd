// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The inline chain: what frames of Ethernet ports go through before the dispatcher, in their order (engines/flow).

use penstock_flow::{Chain, Verdict};
use penstock_unit::Arrival;

use crate::card::Exit;

/// What the chain has done with frames; its elements have counters of their own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InlineCounters {
    /// Frames that it took.
    pub frames: u64,
    /// Those that its program dropped.
    pub blocked: u64,
    /// Those that its program sent to ports that the card has not.
    pub refused: u64,
}

/// Where a frame goes from the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Onward {
    Dispatcher,
    Exit(Exit),
    /// Nowhere, and counted.
    Dropped,
}

/// A chain in a card, and its clock.
pub struct Inline {
    chain: Chain,
    /// Now, in µs.
    time: u64,
    /// Until when all contexts that had ended were looked for, in µs.
    walked: u64,
    counters: InlineCounters,
    /// The frame that has come out of it.
    frame: Vec<u8>,
    /// Frames for which the dispatcher had no place, with their tags: they will be offered again and must not go through the chain twice.
    kept: Vec<(u64, Vec<u8>)>,
}

impl Inline {
    /// Puts a chain into a card.
    #[must_use]
    pub fn new(chain: Chain) -> Self {
        Self { chain, time: 0, walked: 0, counters: InlineCounters::default(), frame: Vec::new(), kept: Vec::new() }
    }

    /// The elements, to look into and to change between two frames.
    #[must_use]
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// The same, to change them.
    pub fn chain_mut(&mut self) -> &mut Chain {
        &mut self.chain
    }

    /// What it has counted.
    #[must_use]
    pub fn counters(&self) -> InlineCounters {
        self.counters
    }

    /// The time that frames find, in µs.
    #[must_use]
    pub fn time(&self) -> u64 {
        self.time
    }

    /// It is so late, in µs: the clock never goes back. Contexts whose time is over end as it goes on, a place of each table in a µs.
    pub fn set_time(&mut self, time: u64) {
        if time > self.time {
            let passed = usize::try_from(time - self.time).unwrap_or(usize::MAX);
            self.time = time;
            self.chain.walk(time, passed);
        }
    }

    /// The same, and what is over takes no room from now on: when a table is full, all contexts whose time is over end.
    pub fn pass_time(&mut self, time: u64) {
        self.set_time(time);
        if self.walked < self.time && self.chain.is_full() {
            self.chain.walk_all(self.time);
            self.walked = self.time;
        }
    }

    /// Takes a frame of an Ethernet port through, for a card of so many; what it is then is [`Inline::frame`].
    pub(crate) fn carry(&mut self, arrival: Arrival, port: u8, bytes: &[u8], ports: u8) -> Onward {
        if let Some(at) = self.kept.iter().position(|(tag, _)| *tag == arrival.tag) {
            self.frame = self.kept.swap_remove(at).1;
            return Onward::Dispatcher;
        }
        self.frame.clear();
        self.frame.extend_from_slice(bytes);
        self.counters.frames += 1;
        let arrival = penstock_flow::Arrival { port, hash: arrival.hash, time: self.time };
        let exit = match self.chain.run(&mut self.frame, &arrival) {
            Verdict::Pass => return Onward::Dispatcher,
            Verdict::Port(port) => match u8::try_from(port) {
                Ok(port) if port < ports => Exit::Ethernet(port),
                _ => {
                    self.counters.refused += 1;
                    return Onward::Dropped;
                }
            },
            Verdict::Host => Exit::Host,
            Verdict::Drop => {
                self.counters.blocked += 1;
                return Onward::Dropped;
            }
        };
        Onward::Exit(exit)
    }

    /// The frame that was carried last.
    pub(crate) fn frame(&self) -> &[u8] {
        &self.frame
    }

    /// The frame that was carried last will be offered again.
    pub(crate) fn keep(&mut self, tag: u64) {
        self.kept.push((tag, std::mem::take(&mut self.frame)));
    }

    /// A frame that was to be offered again will not be.
    pub(crate) fn forget(&mut self, tag: u64) {
        self.kept.retain(|(other, _)| *other != tag);
    }
}
