// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The dispatcher: which unit gets a frame, and which slots are free.

/// Entries of the table that flow hash policies send by.
pub(crate) const RETA: usize = 128;

/// How a unit is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// The units in turn.
    #[default]
    RoundRobin,
    /// The unit with the most free slots.
    LeastLoaded,
    /// The unit that the flow hash names; the frame waits while that unit is full.
    FlowHash,
    /// The unit that the flow hash names; the frame is dropped while that unit is full.
    FlowHashDrop,
}

impl Policy {
    pub(crate) fn from_code(code: u32) -> Self {
        match code & 3 {
            0 => Self::RoundRobin,
            1 => Self::LeastLoaded,
            2 => Self::FlowHash,
            _ => Self::FlowHashDrop,
        }
    }
}

/// What the dispatcher knows of a unit's slots.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slots {
    /// Free ones: bit n - 1 is slot n. The lowest is given next.
    pub free: u32,
    pub total: u8,
    /// Bytes of frame that one holds.
    pub bytes: u16,
}

impl Slots {
    /// Frames in the unit.
    pub fn held(&self) -> u64 {
        u64::from(self.total) - u64::from(self.free.count_ones())
    }
}

/// Slots of all units, and who comes next.
pub(crate) struct Dispatcher {
    pub policy: Policy,
    pub reta: [u8; RETA],
    /// Units that may get frames.
    pub enabled: u32,
    pub slots: Vec<Slots>,
    /// Units that have a free slot.
    with_free: u32,
    /// Unit after the one that got the last frame.
    next: u32,
}

impl Dispatcher {
    pub fn new(units: usize) -> Self {
        Self {
            policy: Policy::default(),
            reta: [0; RETA],
            enabled: 0,
            slots: vec![Slots::default(); units],
            with_free: 0,
            next: 0,
        }
    }

    /// The unit that the flow hash names, when it decides.
    pub fn named(&self, hash: u32) -> Option<u8> {
        let by_hash = matches!(self.policy, Policy::FlowHash | Policy::FlowHashDrop);
        by_hash.then(|| self.reta[hash as usize % RETA])
    }

    /// A unit with a free slot. `named`: this one or none.
    pub fn choose(&mut self, named: Option<u8>) -> Option<u8> {
        let available = self.with_free & self.enabled;
        if let Some(unit) = named {
            return (available >> (unit & 31) & 1 != 0).then_some(unit);
        }
        if available == 0 {
            return None;
        }
        let unit = match self.policy {
            Policy::LeastLoaded => {
                // Of equals the first after whoever came last.
                let key =
                    |unit: &u32| (self.slots[*unit as usize].free.count_ones(), *unit >= self.next, std::cmp::Reverse(*unit));
                (0..self.slots.len() as u32).filter(|unit| available >> unit & 1 != 0).max_by_key(key)?
            }
            _ => {
                let later = available & u32::MAX.checked_shl(self.next).unwrap_or(0);
                (if later != 0 { later } else { available }).trailing_zeros()
            }
        };
        self.next = unit + 1;
        Some(unit as u8)
    }

    /// The unit may get frames and has declared slots, free or not.
    pub fn is_open(&self, unit: u8) -> bool {
        self.enabled >> (unit & 31) & 1 != 0 && self.slots.get(usize::from(unit)).is_some_and(|slots| slots.total != 0)
    }

    /// Gives a unit no more frames, though it has free slots.
    pub fn close(&mut self, unit: u8) {
        self.with_free &= !(1 << unit);
    }

    /// Takes a free slot of a unit that has one.
    pub fn take(&mut self, unit: u8) -> Option<u8> {
        let slots = &mut self.slots[usize::from(unit)];
        let lowest = slots.free.trailing_zeros();
        slots.free &= slots.free.wrapping_sub(1);
        if slots.free == 0 {
            self.with_free &= !(1 << unit);
        }
        (lowest < 32).then_some(lowest as u8 + 1)
    }

    /// A unit gives a slot back. One that is free, or was never declared, changes nothing.
    pub fn free(&mut self, unit: u8, slot: u8) {
        let slots = &mut self.slots[usize::from(unit)];
        if (1..=slots.total).contains(&slot) {
            slots.free |= 1 << (slot - 1);
            self.with_free |= 1 << unit;
        }
    }

    /// A unit has declared its slots, 1..=32.
    pub fn declare(&mut self, unit: u8, count: u8, bytes: u16) {
        self.slots[usize::from(unit)] = Slots { free: u32::MAX >> (32 - count), total: count, bytes };
        self.with_free |= 1 << unit;
    }

    /// Forgets a unit's slots; gives the number of frames that were in them.
    pub fn forget(&mut self, unit: u8) -> u64 {
        self.with_free &= !(1 << unit);
        std::mem::take(&mut self.slots[usize::from(unit)]).held()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_declared_slot_that_is_taken_can_be_freed() {
        let mut dispatcher = Dispatcher::new(1);
        dispatcher.enabled = 1;
        dispatcher.free(0, 1);
        assert_eq!((dispatcher.choose(None), dispatcher.take(0)), (None, None));
        dispatcher.declare(0, 3, 2048);
        assert_eq!([1, 2, 3].map(Some), [(); 3].map(|()| dispatcher.take(0)));
        for slot in [0, 4, 32, 33, 255] {
            dispatcher.free(0, slot);
            assert_eq!((dispatcher.choose(None), dispatcher.slots[0].held()), (None, 3), "slot {slot}");
        }
        dispatcher.free(0, 2);
        dispatcher.free(0, 2);
        assert_eq!(dispatcher.slots[0].held(), 2);
        assert_eq!((dispatcher.take(0), dispatcher.take(0)), (Some(2), None));
        dispatcher.declare(0, 32, 2048);
        for slot in 1..=32 {
            assert_eq!(dispatcher.take(0), Some(slot));
        }
        assert_eq!((dispatcher.take(0), dispatcher.forget(0)), (None, 32));
        dispatcher.free(0, 1);
        assert_eq!(dispatcher.choose(None), None);
    }
}
