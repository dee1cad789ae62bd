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
    /// Free ones; the last is given next, because its memory is warm.
    pub free: Vec<u8>,
    pub total: u8,
    /// Bytes of frame that one holds.
    pub bytes: u16,
}

impl Slots {
    /// Frames in the unit.
    pub fn held(&self) -> u64 {
        u64::from(self.total) - self.free.len() as u64
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
                    |unit: &u32| (self.slots[*unit as usize].free.len(), *unit >= self.next, std::cmp::Reverse(*unit));
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
        let slot = slots.free.pop();
        if slots.free.is_empty() {
            self.with_free &= !(1 << unit);
        }
        slot
    }

    /// A unit gives a slot back.
    pub fn free(&mut self, unit: u8, slot: u8) {
        self.slots[usize::from(unit)].free.push(slot);
        self.with_free |= 1 << unit;
    }

    /// A unit has declared its slots.
    pub fn declare(&mut self, unit: u8, count: u8, bytes: u16) {
        self.slots[usize::from(unit)] = Slots { free: (1..=count).rev().collect(), total: count, bytes };
        self.with_free |= 1 << unit;
    }

    /// Forgets a unit's slots; gives the number of frames that were in them.
    pub fn forget(&mut self, unit: u8) -> u64 {
        self.with_free &= !(1 << unit);
        std::mem::take(&mut self.slots[usize::from(unit)]).held()
    }
}
