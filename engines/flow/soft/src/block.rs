// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A chain of elements as an inline block of a card.

use penstock_unit::{Entering, Made, Verdict};

use crate::chain::Chain;
use crate::frame::{self, Arrival, Frame};

/// A chain and its clock.
pub struct Block {
    chain: Chain,
    /// The time, in µs.
    time: u64,
    /// Time of the last walk over whole tables, in µs.
    walked: u64,
}

impl Block {
    /// A block that runs this chain, at time 0.
    #[must_use]
    pub fn new(chain: Chain) -> Self {
        Self { chain, time: 0, walked: 0 }
    }

    /// The chain.
    #[must_use]
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// The chain, for changes between two frames.
    pub fn chain_mut(&mut self) -> &mut Chain {
        &mut self.chain
    }

    /// The time that frames see, in µs.
    #[must_use]
    pub fn time(&self) -> u64 {
        self.time
    }
}

impl penstock_unit::Block for Block {
    fn carry(&mut self, frame: &mut Vec<u8>, mark: &mut u32, entering: Entering, _made: &mut Vec<Made>) -> Verdict {
        let arrival = Arrival { port: entering.port, hash: entering.hash, time: self.time };
        let mut carried = Frame { bytes: std::mem::take(frame), arrival, verdict: frame::Verdict::Pass, mark: *mark };
        self.chain.run_all(std::slice::from_mut(&mut carried));
        (*frame, *mark) = (carried.bytes, carried.mark);
        match carried.verdict {
            frame::Verdict::Pass => Verdict::Onward,
            frame::Verdict::Port(port) => Verdict::Port(port),
            frame::Verdict::Host => Verdict::Host,
            frame::Verdict::Drop => Verdict::Drop,
        }
    }

    /// Contexts expire as the clock advances: the block visits one place of each table in a µs.
    fn set_time(&mut self, ns: u64) {
        let time = ns / 1000;
        if time > self.time {
            let passed = usize::try_from(time - self.time).unwrap_or(usize::MAX);
            self.time = time;
            self.chain.walk(time, passed);
        }
    }

    /// If a table is full, all contexts that have expired by then are removed at once.
    fn settle_time(&mut self, ns: u64) {
        penstock_unit::Block::set_time(self, ns);
        if self.walked < self.time && self.chain.is_full() {
            self.chain.walk_all(self.time);
            self.walked = self.time;
        }
    }
}
