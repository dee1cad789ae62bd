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

/// The dispatcher's state of a unit's slots.
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
    pub(crate) fn held(&self) -> u64 {
        u64::from(self.total) - u64::from(self.free.count_ones())
    }
}

/// Which unit a frame is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// The unit of the policy.
    Policy,
    /// This one, which its sender over loopback names.
    Named(u8),
    /// This one, which an inline block names.
    Told(u8),
    /// The unit of RETA for this key, which an inline block names.
    Key(u32),
}

impl Target {
    /// The unit of an inline block's verdict, whatever the policy is.
    pub(crate) fn is_told(self) -> bool {
        matches!(self, Self::Told(_) | Self::Key(_))
    }
}

/// A frame that needs a slot.
#[derive(Clone, Copy)]
pub(crate) struct Request {
    pub to: Target,
    pub hash: u32,
    pub len: usize,
    /// The frame comes over loopback: it may have a unit's last free slot.
    pub loopback: bool,
}

/// The dispatcher's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// It has a slot of this unit.
    Place { unit: u8, slot: u8 },
    /// It is longer than the slot.
    Oversize,
    /// Its unit is not enabled or has no slots; over loopback, no unit is and has.
    Closed,
    /// Its unit, or all when none is named, has no slot for it now.
    Full(Option<u8>),
}

/// The slots of all units, and whose turn it is.
pub(crate) struct Dispatcher {
    pub policy: Policy,
    pub reta: [u8; RETA],
    /// Units that may get frames.
    pub enabled: u32,
    /// The units to choose among; others only get loopback frames that name them.
    pub ingress: u32,
    pub slots: Vec<Slots>,
    /// Units that have a free slot: for loopback.
    with_free: u32,
    /// Units with two slots, or with their only one, for ports and host, which leave the last slot to loopback. Units
    /// that send to each other therefore make progress however many frames arrive.
    with_spare: u32,
    /// Units that get no more frames, whatever slots they give back, until they declare slots again.
    closed: u32,
    /// Unit after the one that got the last frame.
    next: u32,
}

impl Dispatcher {
    pub(crate) fn new(units: usize) -> Self {
        Self {
            policy: Policy::default(),
            reta: [0; RETA],
            enabled: 0,
            ingress: u32::MAX,
            slots: vec![Slots::default(); units],
            with_free: 0,
            with_spare: 0,
            closed: 0,
            next: 0,
        }
    }

    /// Finds a frame its unit and takes a slot there.
    #[inline(always)]
    pub(crate) fn decide(&mut self, request: Request) -> Decision {
        let named = match request.to {
            Target::Policy => self.named(request.hash),
            Target::Named(unit) | Target::Told(unit) => Some(unit),
            Target::Key(key) => Some(self.reta[key as usize % RETA]),
        };
        // Senders and blocks may name units that the dispatcher does not choose.
        let any = request.loopback || matches!(request.to, Target::Told(_));
        let Some(unit) = self.choose(named, request.loopback, any) else {
            return match named {
                Some(unit) if !self.is_open(unit) || !(any || self.may_choose(unit)) => Decision::Closed,
                None if request.loopback && self.open() == 0 => Decision::Closed,
                _ => Decision::Full(named),
            };
        };
        if request.len > usize::from(self.slots[usize::from(unit)].bytes) {
            return Decision::Oversize;
        }
        self.take(unit).map_or(Decision::Full(named), |slot| Decision::Place { unit, slot })
    }

    /// The unit that the flow hash names, when it decides.
    fn named(&self, hash: u32) -> Option<u8> {
        let by_hash = matches!(self.policy, Policy::FlowHash | Policy::FlowHashDrop);
        by_hash.then(|| self.reta[hash as usize % RETA])
    }

    /// A unit with a free slot. `named`: only this unit; with `any`, even one outside of the units to choose from.
    fn choose(&mut self, named: Option<u8>, loopback: bool, any: bool) -> Option<u8> {
        let available = if loopback { self.with_free } else { self.with_spare } & self.enabled;
        if let Some(unit) = named {
            let available = if any { available } else { available & self.ingress };
            return (available >> (unit & 31) & 1 != 0).then_some(unit);
        }
        let available = available & self.ingress;
        if available == 0 {
            return None;
        }
        let unit = match self.policy {
            Policy::LeastLoaded => {
                // Among equals, the first after the last one chosen.
                let key = |unit: &u32| {
                    (self.slots[*unit as usize].free.count_ones(), *unit >= self.next, std::cmp::Reverse(*unit))
                };
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

    /// Units to choose among that may get frames and have declared slots.
    pub(crate) fn open(&self) -> u32 {
        self.all_open() & self.ingress
    }

    /// Units that may get frames and have declared slots.
    fn all_open(&self) -> u32 {
        (0..self.slots.len() as u8).filter(|&unit| self.is_open(unit)).fold(0, |mask, unit| mask | 1 << unit)
    }

    /// The unit is among those to choose from.
    fn may_choose(&self, unit: u8) -> bool {
        self.ingress >> (unit & 31) & 1 != 0
    }

    /// The unit may get frames and has declared slots, free or not.
    fn is_open(&self, unit: u8) -> bool {
        self.enabled >> (unit & 31) & 1 != 0 && self.slots.get(usize::from(unit)).is_some_and(|slots| slots.total != 0)
    }

    /// Units that may get frames and have declared slots, but have no free slot for a port or the host; for units
    /// without ingress, no free slot at all.
    pub(crate) fn full(&self) -> u32 {
        let takes = self.with_spare & self.ingress | self.with_free & !self.ingress;
        if self.enabled & !takes == 0 { 0 } else { self.all_open() & !takes }
    }

    /// Gives a unit no more frames, though it has free slots.
    pub(crate) fn close(&mut self, unit: u8) {
        self.closed |= 1 << unit;
        self.note(unit);
    }

    /// Takes a free slot of a unit that has one.
    fn take(&mut self, unit: u8) -> Option<u8> {
        let slots = &mut self.slots[usize::from(unit)];
        let lowest = slots.free.trailing_zeros();
        slots.free &= slots.free.wrapping_sub(1);
        if !several(slots.free) {
            self.note(unit);
        }
        (lowest < 32).then_some(lowest as u8 + 1)
    }

    /// Records which frames may have a slot of a unit, if that has changed.
    fn note(&mut self, unit: u8) {
        let Slots { free, total, .. } = self.slots[usize::from(unit)];
        let spare = several(free) || (total == 1 && free != 0);
        let bit = 1 << unit;
        self.with_free = (self.with_free & !bit | u32::from(free != 0) << unit) & !self.closed;
        self.with_spare = (self.with_spare & !bit | u32::from(spare) << unit) & !self.closed;
    }

    /// A unit gives a slot back. One that is free, or was never declared, changes nothing.
    pub(crate) fn free(&mut self, unit: u8, slot: u8) {
        let slots = &mut self.slots[usize::from(unit)];
        if (1..=slots.total).contains(&slot) {
            let before = slots.free;
            slots.free |= 1 << (slot - 1);
            if !several(before) {
                self.note(unit);
            }
        }
    }

    /// A unit has declared its slots, 1..=32.
    pub(crate) fn declare(&mut self, unit: u8, count: u8, bytes: u16) {
        self.slots[usize::from(unit)] = Slots { free: u32::MAX >> (32 - count), total: count, bytes };
        self.closed &= !(1 << unit);
        self.note(unit);
    }

    /// Forgets a unit's slots; gives the number of frames that were in them.
    pub(crate) fn forget(&mut self, unit: u8) -> u64 {
        self.close(unit);
        std::mem::take(&mut self.slots[usize::from(unit)]).held()
    }
}

/// At least two bits are set.
fn several(mask: u32) -> bool {
    mask & mask.wrapping_sub(1) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_declared_slot_that_is_taken_can_be_freed() {
        let mut dispatcher = Dispatcher::new(1);
        dispatcher.enabled = 1;
        dispatcher.free(0, 1);
        assert_eq!((dispatcher.choose(None, true, true), dispatcher.take(0)), (None, None));
        dispatcher.declare(0, 3, 2048);
        assert_eq!([1, 2, 3].map(Some), [(); 3].map(|()| dispatcher.take(0)));
        for slot in [0, 4, 32, 33, 255] {
            dispatcher.free(0, slot);
            assert_eq!((dispatcher.choose(None, true, true), dispatcher.slots[0].held()), (None, 3), "slot {slot}");
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
        assert_eq!(dispatcher.choose(None, true, true), None);
    }

    #[test]
    fn a_closed_unit_stays_closed_until_it_declares_anew() {
        let mut dispatcher = Dispatcher::new(2);
        dispatcher.enabled = 0b11;
        dispatcher.declare(1, 3, 2048);
        for loopback in [false, true] {
            assert_eq!((dispatcher.take(1), dispatcher.choose(None, loopback, loopback)), (Some(1), Some(1)));
            dispatcher.close(1);
            dispatcher.free(1, 1);
            assert_eq!(
                (dispatcher.choose(None, loopback, loopback), dispatcher.choose(Some(1), loopback, loopback)),
                (None, None)
            );
            dispatcher.declare(1, 3, 2048);
        }
    }

    #[test]
    fn ports_leave_the_last_free_slot_to_loopback() {
        for (count, for_ports) in [(1, 1), (2, 1), (3, 2), (32, 31)] {
            let mut dispatcher = Dispatcher::new(2);
            dispatcher.enabled = 0b11;
            dispatcher.declare(1, count, 2048);
            let request = Request { to: Target::Policy, hash: 0, len: 60, loopback: false };
            let full = Decision::Full(None);
            for slot in 1..=for_ports {
                assert_eq!(dispatcher.decide(request), Decision::Place { unit: 1, slot });
            }
            assert_eq!(dispatcher.decide(request), full, "{count} slots");
            let over_loopback = Request { loopback: true, ..request };
            for slot in for_ports + 1..=count {
                assert_eq!(dispatcher.decide(over_loopback), Decision::Place { unit: 1, slot });
            }
            assert_eq!(dispatcher.decide(over_loopback), full);
            dispatcher.free(1, 1);
            assert_eq!(dispatcher.decide(request) == full, count > 1, "{count} slots");
        }
    }

    #[test]
    fn the_dispatcher_chooses_among_some() {
        let mut dispatcher = Dispatcher::new(4);
        (dispatcher.enabled, dispatcher.ingress) = (0b1111, 0b0101);
        (0..4).for_each(|unit| dispatcher.declare(unit, 2, 2048));
        let request = |to: Option<u8>, loopback| Request {
            to: to.map_or(Target::Policy, Target::Named),
            hash: 3,
            len: 60,
            loopback,
        };
        for policy in 0..4 {
            dispatcher.policy = Policy::from_code(policy);
            let is_by_hash = policy >= 2;
            dispatcher.reta[3] = 2;
            for loopback in [false, true] {
                let mut units = [(); 2].map(|()| match dispatcher.decide(request(None, loopback)) {
                    Decision::Place { unit, slot } => {
                        dispatcher.free(unit, slot);
                        unit
                    }
                    other => panic!("{other:?}"),
                });
                units.sort_unstable();
                assert!(units == [0, 2] && !is_by_hash || units == [2, 2] && is_by_hash, "{units:?}");
            }
            // One of the others is reached by number only, down to its last slot.
            let place = |slot| Decision::Place { unit: 1, slot };
            assert_eq!([(); 2].map(|()| dispatcher.decide(request(Some(1), true))), [place(1), place(2)]);
            assert_eq!((dispatcher.decide(request(Some(1), true)), dispatcher.full()), (Decision::Full(Some(1)), 0b10));
            dispatcher.free(1, 1);
            assert_eq!(dispatcher.full(), 0);
            dispatcher.free(1, 2);
            dispatcher.reta[3] = 1;
            let by_port = dispatcher.decide(request(None, false));
            assert_eq!(by_port == Decision::Closed, is_by_hash, "{by_port:?}");
            (0..4).for_each(|unit| dispatcher.declare(unit, 2, 2048));
        }
        dispatcher.policy = Policy::RoundRobin;
        dispatcher.enabled = 0b1010;
        assert_eq!(dispatcher.decide(request(None, true)), Decision::Closed);
        assert_eq!((dispatcher.decide(request(None, false)), dispatcher.open()), (Decision::Full(None), 0));
    }

    #[test]
    fn a_named_unit_without_slots_is_closed() {
        let mut dispatcher = Dispatcher::new(3);
        dispatcher.declare(1, 2, 100);
        dispatcher.declare(2, 2, 100);
        dispatcher.enabled = 0b011;
        dispatcher.reta[9] = 1;
        for policy in 0..4 {
            dispatcher.policy = Policy::from_code(policy);
            for loopback in [false, true] {
                for (to, hash, len, expected) in [
                    (Some(0), 0, 60, Decision::Closed),
                    (Some(2), 0, 60, Decision::Closed),
                    (Some(31), 0, 60, Decision::Closed),
                    (Some(1), 0, 101, Decision::Oversize),
                    (None, 9, 101, Decision::Oversize),
                ] {
                    assert_eq!(
                        dispatcher.decide(Request {
                            to: to.map_or(Target::Policy, Target::Named),
                            hash,
                            len,
                            loopback
                        }),
                        expected,
                        "policy {policy}"
                    );
                }
            }
            let by_reta = dispatcher.decide(Request { to: Target::Policy, hash: 128, len: 101, loopback: false });
            assert_eq!(by_reta, if policy < 2 { Decision::Oversize } else { Decision::Closed });
        }
    }
}
