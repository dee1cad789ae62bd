// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The cycles in which frames enter that are sent at the times of their captures ([`Rate::Captured`](crate::Rate)).

use crate::design::CLOCK_MHZ;

/// The longest silence that a card in hardware runs through, in cycles: a minute.
const SILENCE: u64 = 60_000_000 * CLOCK_MHZ as u64;

/// The times of captures on a card's clock.
#[derive(Debug, Default)]
pub(crate) struct Replay {
    /// A cycle, and the time of captures in it, ns: of the first frame that has a time.
    base: Option<(u64, u64)>,
    /// The last cycle in which a frame is due that was handed over.
    pub last: u64,
}

/// The cycle in which a frame is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    /// Not before this cycle.
    At(u64),
    /// After a silence that is too long to run through, of this many seconds.
    Late(u64),
}

impl Replay {
    /// Captures begin in the cycle `now`, if they have not begun; `oldest` is the time of the first frame, ns, if one
    /// has a time.
    pub(crate) fn begin(&mut self, now: u64, oldest: Option<u64>) {
        self.base = self.base.or(oldest.map(|ns| (now, ns)));
    }

    /// When a frame of this time enters. One without a time (0), and one whose time is over, is due at once.
    pub(crate) fn due(&self, time_ns: u64, now: u64) -> Due {
        let Some((cycle, ns)) = self.base.filter(|_| time_ns != 0) else { return Due::At(0) };
        let after = u128::from(time_ns.saturating_sub(ns)) * u128::from(CLOCK_MHZ) / 1000;
        let at = u128::from(cycle) + after;
        match u64::try_from(at) {
            Ok(at) if at <= now.saturating_add(SILENCE) => Due::At(at),
            _ => Due::Late(((at - u128::from(now)) / u128::from(SILENCE / 60)) as u64),
        }
    }

    /// The time of captures in a cycle, ns.
    pub(crate) fn time(&self, cycle: u64) -> Option<u64> {
        let (base, ns) = self.base?;
        Some(ns + cycle.saturating_sub(base) * 1000 / u64::from(CLOCK_MHZ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_due_as_long_after_the_first_as_in_their_captures() {
        let mut replay = Replay::default();
        assert_eq!(replay.due(5, 70), Due::At(0));
        replay.begin(100, None);
        replay.begin(200, Some(1_000));
        replay.begin(300, Some(2_000));
        assert_eq!(replay.due(1_000, 200), Due::At(200));
        assert_eq!(replay.due(5_000, 200), Due::At(1_200));
        // A frame without a time, and one before the first.
        assert_eq!((replay.due(0, 200), replay.due(10, 200)), (Due::At(0), Due::At(200)));
        assert_eq!(replay.time(1_200), Some(5_000));
    }

    #[test]
    fn a_silence_of_more_than_a_minute_is_none_to_run_through() {
        let mut replay = Replay::default();
        replay.begin(0, Some(1));
        let minute = 60_000_000_000;
        assert_eq!(replay.due(minute + 1, 0), Due::At(SILENCE));
        assert_eq!(replay.due(minute + 1001, 0), Due::Late(60));
        // The frames between let time pass.
        assert_eq!(replay.due(minute + 1001, 250), Due::At(SILENCE + 250));
        assert_eq!(replay.due(u64::MAX, 0), Due::Late(18_446_744_073));
    }
}
