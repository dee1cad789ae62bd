// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! An inline block of the card in native code.

use std::any::Any;

use crate::record::Record;

/// The data that an inline block sees beside a frame's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Entering {
    /// Ethernet port whose stream the frame is on, from 0: the port at which it entered the card, or [`Made::port`].
    pub port: u8,
    /// Flow hash with which the frame entered the card.
    pub hash: u32,
    /// Whose the frame is, 0 to 63. 0 is the system.
    pub tenant: u8,
}

/// A block's destination for a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verdict {
    /// To the next block, and after the last one to the dispatcher, unless an earlier block has named an exit.
    #[default]
    Onward,
    /// Out of an Ethernet port, past the units. A port that the card does not have drops the frame as `refused`.
    Port(u32),
    /// To the host's queue, past the units.
    Host,
    /// To this unit, whatever the dispatch policy is. A unit that the card does not have drops the frame as `refused`.
    Unit(u32),
    /// To the unit that the table RETA names for this key, whatever the dispatch policy is. RETA has 128 entries and
    /// takes the key modulo 128.
    Dispatch(u32),
    /// Nowhere: no later block sees the frame.
    Drop,
    /// None: the frame ends in the block, as intended. The block counts it as absorbed, not as dropped.
    Absorb,
}

/// A frame that a block makes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Made {
    /// Ethernet port on whose stream it leaves the block.
    pub port: u8,
    /// Its bytes, without FCS.
    pub frame: Vec<u8>,
    /// Flow hash of the frame that caused it.
    pub hash: u32,
    /// Tenant of the frame that caused it.
    pub tenant: u8,
    /// Its mark.
    pub mark: u32,
    /// Its destination, unless a later block changes it.
    pub verdict: Verdict,
}

/// An inline block. Each frame of an Ethernet port goes through the blocks of a card in their order, before the
/// dispatcher.
pub trait Block: Any {
    /// Carries a frame through the block, which may change the frame and its mark. The mark is 0 before the first
    /// block, and otherwise the value that the previous block left. The block appends the frames that it makes to
    /// `made`: they leave the block in this order, before the carried frame does.
    fn carry(&mut self, frame: &mut Vec<u8>, mark: &mut u32, entering: Entering, made: &mut Vec<Made>) -> Verdict;

    /// Takes the oldest record that the block has for its driver.
    fn take_record(&mut self) -> Option<Record> {
        None
    }

    /// Takes a record of its driver. Frames that the block sends because of it are made: it has counted those that it
    /// held as absorbed.
    fn give_record(&mut self, _record: &Record, _made: &mut Vec<Made>) {}

    /// Sets the time that the block's program sees, in ns. The clock never goes back: an earlier time changes nothing.
    fn set_time(&mut self, ns: u64);

    /// As [`Block::set_time`] between frames that enter one at a time: everything that ends by then has ended when the
    /// next frame enters.
    fn settle_time(&mut self, ns: u64) {
        self.set_time(ns);
    }
}
