// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The clock that a unit's programs see.

/// Time in ns, as the host sets it (TIME_L, TIME_H and TIME_RUN of shell/regs/unit.rdl). Before it is first set, and
/// from a time that was set on, it goes as fast as the unit's own time, which is a parameter here.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clock {
    /// Upper word of the time that is set next.
    high: u32,
    /// The time at which it stands.
    stands: Option<u64>,
    /// How much it is ahead of the unit's own time.
    ahead: u64,
}

impl Clock {
    /// The time when the unit's own is `own`.
    #[must_use]
    pub fn now(&self, own: u64) -> u64 {
        self.stands.unwrap_or_else(|| own.wrapping_add(self.ahead))
    }

    /// A write to TIME_H.
    pub fn set_high(&mut self, word: u32) {
        self.high = word;
    }

    /// A write to TIME_L: the time stands.
    pub fn set_low(&mut self, word: u32) {
        self.stands = Some(u64::from(self.high) << 32 | u64::from(word));
    }

    /// A write to TIME_RUN: the time goes on from where it stands.
    pub fn run(&mut self, own: u64) {
        if let Some(ns) = self.stands.take() {
            self.ahead = ns.wrapping_sub(own);
        }
    }

    /// The unit's own time, which was `own`, begins anew at 0; this one goes on.
    pub fn rebase(&mut self, own: u64) {
        self.ahead = self.ahead.wrapping_add(own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stands_where_it_is_set_and_goes_on_from_there() {
        let mut clock = Clock::default();
        assert_eq!(clock.now(12), 12);
        clock.set_high(2);
        clock.set_low(3);
        assert_eq!([12, 500].map(|own| clock.now(own)), [(2 << 32) + 3; 2]);
        clock.run(500);
        clock.run(700);
        assert_eq!(clock.now(504), (2 << 32) + 7);
        clock.rebase(504);
        assert_eq!(clock.now(4), (2 << 32) + 11);
        // Back to before the unit's own time.
        clock.set_high(0);
        clock.set_low(1);
        clock.run(1000);
        assert_eq!(clock.now(1004), 5);
    }
}
