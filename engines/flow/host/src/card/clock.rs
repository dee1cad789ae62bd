// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The card's time, as elements of hardware see it: in µs. Their times and deadlines have 32 bits.

use penstock_engine::window::INLINE_WINDOW;
use penstock_engine::{Bus, regs};

use super::block::CardBlock;
use super::window::PAST;
use crate::error::FlowError;

/// Registers of the card's time (shell/regs/inline.rdl): its ns, low and high word, and whether it stands still. A read
/// of the low word latches the high word; a write to the low word sets both.
pub(super) const TIME_L: u32 = INLINE_WINDOW + regs::INLINE_TIME_L;
pub(super) const TIME_H: u32 = INLINE_WINDOW + regs::INLINE_TIME_H;
const HOLD: u32 = INLINE_WINDOW + regs::INLINE_HOLD;

/// µs that the clock advances in one step. A deadline that passes in such a step stays in the past long enough for a
/// sweep to find it.
const LEAP: u64 = PAST as u64 / 2;
/// No deadline is further ahead, in µs.
const HORIZON: u64 = 1 << 32;
/// The latest time that can be set, in µs: the card's ns have room for 292 years more.
const LATEST: u64 = u64::MAX / 2000;

/// The clock of a card.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    /// Time at the last access, in µs.
    time: u64,
    /// The clock is stopped.
    held: bool,
    /// Frames that had entered all blocks at the load, until the clock is set.
    unset: Option<u64>,
    /// Time at the last sweep over all tables.
    swept: u64,
}

impl Clock {
    /// Sets the clock to 0 and lets it follow the card's cycles. The blocks have no contexts yet.
    pub(crate) fn begin(&mut self, bus: &mut dyn Bus, blocks: &mut [&mut CardBlock]) -> Result<(), FlowError> {
        bus.write(HOLD, 0)?;
        self.write(bus, 0)?;
        *self = Self { unset: Some(entered(bus, blocks)?), ..Self::default() };
        Ok(())
    }

    /// Reads the clock.
    pub(crate) fn now(&mut self, bus: &mut dyn Bus) -> Result<u64, FlowError> {
        let low = bus.read(TIME_L)?;
        let ns = u64::from(bus.read(TIME_H)?) << 32 | u64::from(low);
        self.time = ns / 1000;
        Ok(self.time)
    }

    fn write(&mut self, bus: &mut dyn Bus, time: u64) -> Result<(), FlowError> {
        self.time = time;
        bus.write(TIME_H, ((1000 * time) >> 32) as u32)?;
        Ok(bus.write(TIME_L, (1000 * time) as u32)?)
    }

    /// Sets the clock, unless it is later already. Contexts whose deadline has passed then expire.
    pub(crate) fn set(&mut self, bus: &mut dyn Bus, blocks: &mut [&mut CardBlock], time: u64) -> Result<(), FlowError> {
        self.unset = None;
        let time = time.min(LATEST);
        // Deadlines have 32 bits: after a larger step a deadline that has passed would seem to be ahead. Behind the
        // horizon no deadline is left.
        let mut steps = HORIZON / LEAP;
        while self.now(bus)? < time {
            let leap = if steps > 0 { LEAP } else { u64::MAX };
            steps = steps.saturating_sub(1);
            self.write(bus, time.min(self.time.saturating_add(leap)))?;
            self.sweep(bus, blocks)?;
        }
        Ok(())
    }

    /// Sets the clock as [`Self::set`] does, and holds it there until the next call or [`Self::release`]. Expired
    /// contexts may stay in the tables, where no frame finds them, until a table is full.
    pub(crate) fn hold(
        &mut self,
        bus: &mut dyn Bus,
        blocks: &mut [&mut CardBlock],
        time: u64,
    ) -> Result<(), FlowError> {
        if !self.held {
            bus.write(HOLD, 1)?;
            self.held = true;
            self.now(bus)?;
            if self.unset.take() == Some(entered(bus, blocks)?) {
                // No frame has seen the time that has passed since the load.
                self.write(bus, 0)?;
            }
        }
        if time >= self.swept.saturating_add(LEAP) {
            self.set(bus, blocks, time)?;
        } else if self.time < time {
            self.write(bus, time)?;
        }
        if self.swept < self.time {
            for block in blocks.iter_mut() {
                if block.is_full(bus)? {
                    return self.sweep(bus, blocks);
                }
            }
        }
        Ok(())
    }

    /// Lets the clock follow the card's cycles again.
    pub(crate) fn release(&mut self, bus: &mut dyn Bus) -> Result<(), FlowError> {
        if self.held {
            bus.write(HOLD, 0)?;
        }
        self.held = false;
        Ok(())
    }

    /// Expires all contexts whose deadline has passed.
    fn sweep(&mut self, bus: &mut dyn Bus, blocks: &mut [&mut CardBlock]) -> Result<(), FlowError> {
        for block in blocks {
            block.sweep(bus, self)?;
        }
        self.swept = self.time;
        Ok(())
    }
}

/// Frames that have entered blocks. The first element of a block gets all its frames.
fn entered(bus: &mut dyn Bus, blocks: &[&mut CardBlock]) -> Result<u64, FlowError> {
    blocks.iter().map(|block| block.entered(bus)).sum()
}

#[cfg(test)]
mod tests {
    use penstock_engine::{CardError, Native};

    use super::super::window::{ELEMENTS, SWEEP, base};
    use super::*;
    use crate::regs as own;

    /// A card with one block of one element. Its clock advances with each access unless it is held.
    #[derive(Default)]
    struct Card {
        ns: u64,
        high: u32,
        held: bool,
        frames: u64,
        contexts: u32,
        /// Times of sweeps.
        sweeps: Vec<u64>,
        reads: u32,
    }

    impl Bus for Card {
        fn read(&mut self, address: u32) -> Result<u32, CardError> {
            self.ns += if self.held { 0 } else { 4 };
            self.reads += 1;
            assert!(self.reads < 10_000, "the driver does not stop reading");
            Ok(match address.checked_sub(base(0) + ELEMENTS) {
                None if address == TIME_L => {
                    self.high = (self.ns >> 32) as u32;
                    self.ns as u32
                }
                None if address == TIME_H => self.high,
                Some(own::FLOW_HOST_FRAMES) => self.frames as u32,
                Some(own::FLOW_HOST_COUNT_H) => (self.frames >> 32) as u32,
                Some(own::FLOW_HOST_CONTEXTS) => self.contexts,
                Some(own::FLOW_HOST_ROOM) => 62,
                _ => 0,
            })
        }

        fn write(&mut self, address: u32, value: u32) -> Result<(), CardError> {
            match address.checked_sub(base(0) + ELEMENTS) {
                None if address == TIME_H => self.high = value,
                None if address == TIME_L => self.ns = u64::from(self.high) << 32 | u64::from(value),
                None if address == HOLD => self.held = value == 1,
                Some(own::FLOW_HOST_CHANGE) if value == SWEEP => self.sweeps.push(self.time()),
                _ => {}
            }
            Ok(())
        }

        fn pass(&mut self, _: u64) -> Result<(), CardError> {
            Ok(())
        }

        fn native(&mut self) -> Option<&mut dyn Native> {
            None
        }
    }

    impl Card {
        /// The time in µs.
        fn time(&self) -> u64 {
            self.ns / 1000
        }
    }

    /// A card after its load, 50 µs later.
    fn loaded() -> (Card, Clock, CardBlock) {
        let (mut card, mut clock, mut block) =
            (Card { ns: 99_000, held: true, ..Card::default() }, Clock::default(), CardBlock::one());
        clock.begin(&mut card, &mut [&mut block]).unwrap();
        assert!(card.time() == 0 && !card.held);
        card.ns = 50_000;
        (card, clock, block)
    }

    #[test]
    fn a_clock_that_was_never_set_starts_with_the_first_frame() {
        let (mut card, mut clock, mut block) = loaded();
        clock.hold(&mut card, &mut [&mut block], 7).unwrap();
        assert_eq!((card.ns, card.held), (7000, true));
        // An earlier time changes nothing.
        clock.hold(&mut card, &mut [&mut block], 3).unwrap();
        assert_eq!((card.time(), clock.now(&mut card)), (7, Ok(7)));
        clock.release(&mut card).unwrap();
        assert!(!card.held);
        // Frames have seen the time that has passed, as many as have no bit in the low word of their count.
        let (mut card, mut clock, mut block) = loaded();
        card.frames = 1 << 32;
        clock.hold(&mut card, &mut [&mut block], 7).unwrap();
        assert_eq!((card.time(), card.held), (50, true));
    }

    #[test]
    fn a_clock_that_is_not_held_is_left_alone() {
        let (mut card, mut clock, _) = loaded();
        card.held = true;
        clock.release(&mut card).unwrap();
        assert!(card.held);
    }

    #[test]
    fn deadlines_are_swept_before_they_seem_to_be_ahead() {
        let (mut card, mut clock, mut block) = loaded();
        (card.held, card.contexts) = (true, 1);
        let time = 3 * LEAP + 100;
        clock.set(&mut card, &mut [&mut block], time).unwrap();
        let largest = card.sweeps.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
        assert_eq!((card.sweeps.len(), card.time()), (4, time));
        assert!(largest <= LEAP, "{largest}");
        // Behind the horizon there is no deadline any more.
        card.sweeps.clear();
        clock.set(&mut card, &mut [&mut block], 1 << 40).unwrap();
        assert_eq!((card.sweeps.len() as u64, card.time()), (HORIZON / LEAP + 1, 1 << 40));
        clock.set(&mut card, &mut [&mut block], u64::MAX).unwrap();
        assert_eq!(card.time(), LATEST);
    }

    #[test]
    fn a_held_clock_is_swept_when_a_table_is_full() {
        let (mut card, mut clock, mut block) = loaded();
        card.contexts = 61;
        clock.hold(&mut card, &mut [&mut block], 100).unwrap();
        assert!(card.sweeps.is_empty());
        card.contexts = 62;
        clock.hold(&mut card, &mut [&mut block], 200).unwrap();
        clock.hold(&mut card, &mut [&mut block], 200).unwrap();
        assert_eq!(card.sweeps, [200]);
    }
}
