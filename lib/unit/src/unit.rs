// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A unit of the card in native code.

use std::any::Any;

use crate::counters::Counters;
use crate::frame::Arrival;
use crate::outside::Outside;
use crate::word::Word;

/// Steps after which the card gives up a unit that holds a frame and disposes of none.
pub const HELD_LIMIT: u64 = 10_000;

/// Why a unit stopped working. It resumes at the same place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    /// It waits for a frame.
    Waiting,
    /// It polled for a frame, and none was there.
    Polling,
    /// It polled for words of other units, and there was nothing new.
    Listening,
    /// It has done the allowed number of steps.
    Limit,
    /// A debugger has halted it.
    Halted,
}

/// A unit. It starts in reset, as on hardware; the host starts it through its registers.
///
/// An engine without a core to debug, a timer or broadcast words keeps the defaults.
pub trait Unit: Any {
    /// Takes a frame into a free slot of its declared ones.
    fn receive(&mut self, slot: u8, arrival: Arrival, bytes: &[u8]);

    /// Works until it would wait for a frame, for at most about `limit` steps.
    fn run(&mut self, outside: &mut dyn Outside, limit: u64) -> Pause;

    /// The unit's counters.
    fn counters(&self) -> Counters;

    /// Slots with a frame: bit n - 1 is slot n.
    fn active_slots(&self) -> u32;

    /// The counter whose low word is at `offset` of the unit's window, if a counter is there. An engine that has more
    /// than those of every unit adds its own.
    fn count_at(&self, offset: u32) -> Option<u64> {
        self.counters().at(offset)
    }

    /// Reads the word at `offset` of the unit's window, as the host does; None where nothing is. The card itself
    /// answers for counters ([`Unit::count_at`]) and their high words.
    fn host_read(&self, offset: u32) -> Option<u32>;

    /// Writes the word at `offset` of the unit's window, as the host does; false where nothing is.
    fn host_write(&mut self, offset: u32, value: u32) -> bool;

    /// Steps since its reset: instructions of a core, frames where the engine does not count instructions.
    fn steps(&self) -> u64;

    /// Active slots whose frames the program still has to dispose of: the others wait to go over loopback.
    fn held_slots(&self) -> u32 {
        self.active_slots()
    }

    /// Steps since the program disposed of a frame while it held one; 0 when it holds none.
    fn held(&self) -> u64 {
        0
    }

    /// Cycles since its reset, as the program reads them.
    fn clock(&self) -> u64 {
        0
    }

    /// Tells the program that this many cycles have passed since the last call.
    fn pass(&mut self, _cycles: u64) {}

    /// Cycles until its timer rings; `u64::MAX` when no timer is set.
    fn until_timer(&self) -> u64 {
        u64::MAX
    }

    /// The program wants to hear the words of other units.
    fn listens(&self) -> bool {
        false
    }

    /// Takes a word that another unit has broadcast.
    fn hear(&mut self, _word: Word) {}

    /// The program has sent a frame that it made within the last [`HELD_LIMIT`] steps.
    fn generates(&self) -> bool {
        false
    }

    /// A debugger has halted it: it keeps its frames until it goes on.
    fn is_halted(&self) -> bool {
        false
    }

    /// A debugger is at work: time does not count against the unit.
    fn is_debugged(&self) -> bool {
        false
    }

    /// A debugger lets it carry out one instruction.
    fn is_in_step(&self) -> bool {
        false
    }

    /// Address of the next instruction.
    fn pc(&self) -> u32 {
        0
    }

    /// Offers the frames that wait to go over loopback again, oldest first; false when none could move.
    fn resume(&mut self, _outside: &mut dyn Outside) -> bool {
        false
    }

    /// Drops the frames that wait to go over loopback.
    fn forget_waiting(&mut self) {}
}
