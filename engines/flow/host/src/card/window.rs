// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The window of an element in the host address space (engines/flow/regs/flow.rdl).

use crate::regs as own;
use penstock_engine::window::read_count;
use penstock_engine::{Bus, CardError};
use penstock_flow::{Context, Deadline};
use penstock_flow_compiler::hardware::{Contexts, KEY_WORDS};

use crate::error::FlowError;

/// Host address of the first block's window, and the distance to the next block's.
const BLOCKS: u32 = 0x4500_0000;
const BLOCK: u32 = 0x0100_0000;
/// Offsets in a block's window: the window that all elements share, the first element's window, and the distance to the
/// next element's.
pub(super) const ALL: u32 = 0x08_0000;
pub(super) const ELEMENTS: u32 = 0x10_0000;
pub(super) const ELEMENT: u32 = 0x10_0000;
/// Cycles between two reads of a status.
const LOOK: u64 = 100;
/// Cycles after which an element must have finished an operation. A walk over all places takes a cycle for each.
const PATIENCE: u64 = 2_000_000;
/// Bits of STATUS.
pub(super) const COMPLETE: u32 = 1;
pub(super) const CHANGES: u32 = 1 << 1;
const WAITS: u32 = 1 << 2;
pub(super) const FOUND: u32 = 1 << 3;
/// Bits of CHANGE.
pub(super) const COMMIT: u32 = 1;
pub(super) const CLEAR: u32 = 2;
pub(super) const BEGIN_GLOBALS: u32 = 4;
pub(super) const SWEEP: u32 = 8;
/// Values of COMMAND.
pub(super) const READ: u32 = 0;
pub(super) const FIND: u32 = 1;
pub(super) const PUT: u32 = 2;
pub(super) const DELETE: u32 = 3;
/// Bit of PLACE for a slot of the stash, and the first bit of the way.
pub(super) const IN_STASH: u32 = 1 << 31;
pub(super) const WAY_AT: u32 = 20;
/// A time up to this many µs ago has passed; all other times are ahead.
pub(super) const PAST: u32 = 1 << 28;

/// Host address of a block's window.
pub(super) fn base(block: usize) -> u32 {
    BLOCKS + BLOCK * block as u32
}

/// Sizes of an element of hardware.
pub(super) struct Shape {
    /// Places of its table, without the slots of the stash.
    pub places: u32,
    /// Contexts for which the table has room.
    pub room: u32,
    /// Ways of the table.
    pub ways: u32,
    /// Slots of the stash.
    pub stash: u32,
    /// Bits of the table's secret.
    pub secret: u32,
    /// Words of a program.
    pub words: usize,
    /// Its place in the chain.
    pub number: usize,
}

/// The window of an element.
pub(super) struct Window<'a> {
    pub bus: &'a mut dyn Bus,
    pub block: usize,
    pub element: usize,
}

impl Window<'_> {
    fn address(&self, register: u32) -> u32 {
        base(self.block) + ELEMENTS + ELEMENT * self.element as u32 + register
    }

    pub(super) fn read(&mut self, register: u32) -> Result<u32, CardError> {
        let address = self.address(register);
        self.bus.read(address)
    }

    /// Reads a counter of 64 bits, by the register of its low word.
    pub(super) fn count(&mut self, low: u32) -> Result<u64, CardError> {
        let (low, high) = (self.address(low), self.address(own::FLOW_HOST_COUNT_H));
        read_count(self.bus, low, high)
    }

    pub(super) fn write(&mut self, register: u32, value: u32) -> Result<(), CardError> {
        let address = self.address(register);
        self.bus.write(address, value)
    }

    pub(super) fn read_all<const N: usize>(&mut self, first: u32) -> Result<[u32; N], CardError> {
        let mut all = [0; N];
        for (register, word) in (first..).step_by(4).zip(&mut all) {
            *word = self.read(register)?;
        }
        Ok(all)
    }

    pub(super) fn write_all(&mut self, first: u32, all: &[u32]) -> Result<(), CardError> {
        (first..).step_by(4).zip(all).try_for_each(|(register, word)| self.write(register, *word))
    }

    pub(super) fn shape(&mut self) -> Result<Shape, CardError> {
        let shape = self.read(own::FLOW_HOST_SHAPE)?;
        let table = self.read(own::FLOW_HOST_TABLE)?;
        Ok(Shape {
            places: 1 << (shape & 0x1F),
            room: self.read(own::FLOW_HOST_ROOM)?,
            ways: (table & 0xFF).max(1),
            stash: table >> 8 & 0xFF,
            secret: table >> 16,
            words: (shape >> 16) as usize,
            number: (shape >> 8 & 0xFF) as usize,
        })
    }

    /// Makes a change between two frames, and waits until it is done.
    pub(super) fn change(&mut self, what: u32) -> Result<(), FlowError> {
        self.write(own::FLOW_HOST_CHANGE, what)?;
        self.until_not(CHANGES).map(|_| ())
    }

    /// Carries out an operation on contexts; whether there is a context afterwards.
    pub(super) fn command(&mut self, command: u32) -> Result<bool, FlowError> {
        self.write(own::FLOW_HOST_COMMAND, command)?;
        Ok(self.until_not(WAITS)? & FOUND != 0)
    }

    /// Waits until a bit of STATUS is 0; gives STATUS.
    pub(super) fn until_not(&mut self, bit: u32) -> Result<u32, FlowError> {
        let mut waited = 0;
        loop {
            let status = self.read(own::FLOW_HOST_STATUS)?;
            if status & bit == 0 {
                return Ok(status);
            }
            if waited > PATIENCE {
                return Err(FlowError::Silent { block: self.block, element: self.element });
            }
            self.bus.pass(LOOK)?;
            waited += LOOK;
        }
    }

    /// The context that the last operation found.
    pub(super) fn context(&mut self, known: &Contexts, now: u64) -> Result<Context, FlowError> {
        let key: [u32; KEY_WORDS] = self.read_all(own::FLOW_HOST_KEY)?;
        let timeouts: [u32; 2] = self.read_all(own::FLOW_HOST_TIMEOUT)?;
        let deadlines: [u32; 2] = self.read_all(own::FLOW_HOST_DEADLINE)?;
        let mut times = timeouts.iter().zip(deadlines).map(|(timeout, at)| {
            let timeout = known.timeout((timeout >> 1) as usize).filter(|_| timeout & 1 == 1)?;
            Some((Deadline { at: unwrapped(at, now), then: timeout.then }, timeout.micros))
        });
        let hard = times.next().flatten().map(|(deadline, _)| deadline);
        let idle = times.next().flatten();
        Ok(Context {
            key: known.unpack(&key),
            state: self.read(own::FLOW_HOST_STATE)? as u8,
            registers: self.read_all(own::FLOW_HOST_REGISTERS)?,
            hard,
            idle,
        })
    }
}

/// The 64-bit time near `now` of a time of 32 bits.
fn unwrapped(at: u32, now: u64) -> u64 {
    let late = (now as u32).wrapping_sub(at);
    if late < PAST { now.saturating_sub(late.into()) } else { now + u64::from(at.wrapping_sub(now as u32)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_near_now() {
        let now = (5 << 32) + 10;
        for at in [now, now - 5, now - 20, now + 4_000_000_000] {
            assert_eq!(unwrapped(at as u32, now), at);
        }
    }
}
