// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! An inline block of the card in native code.

use std::any::Any;

/// What an inline block sees of a frame beside its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entering {
    /// Ethernet port at which the frame entered the card, from 0.
    pub port: u8,
    /// Flow hash with which the frame entered the card.
    pub hash: u32,
}

/// Where a block sends a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// To the next block, and behind the last one to the dispatcher, unless an earlier block has named an exit.
    Onward,
    /// Out of an Ethernet port, past the units. A port that the card does not have drops the frame as `refused`.
    Port(u32),
    /// To the host's queue, past the units.
    Host,
    /// Nowhere: no later block sees the frame.
    Drop,
}

/// An inline block. Each frame of an Ethernet port goes through the blocks of a card in their order, before the dispatcher.
pub trait Block: Any {
    /// Carries a frame through, which the block may change. So may it the frame's mark: 0 in front of the first block, and behind
    /// a block what that block has left there.
    fn carry(&mut self, frame: &mut Vec<u8>, mark: &mut u32, entering: Entering) -> Verdict;

    /// Sets the time that the block's program sees, in ns. The clock never goes back: an earlier time changes nothing.
    fn set_time(&mut self, ns: u64);

    /// As [`Block::set_time`] between frames that enter one at a time: everything that ends by then has ended when the next frame enters.
    fn settle_time(&mut self, ns: u64) {
        self.set_time(ns);
    }
}
