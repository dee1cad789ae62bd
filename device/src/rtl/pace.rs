// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! How fast frames move at the card's edges, in the fixed point of the clock loop.

use crate::design::CLOCK_MHZ;
use crate::rate::Rate;

/// A byte in the fixed point of rtl/driver.cpp.
const BYTE: f64 = (1u64 << 20) as f64;

/// Rate of one Ethernet port, Gb/s, preamble, gap and FCS included.
pub const LINE_GBPS: f64 = 100.0;

/// `struct Pace` of rtl/driver.cpp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Pace {
    /// Bytes a cycle inside a frame, 2^20 is one; 0 is as fast as the bus goes.
    pub wire: u64,
    /// Bytes a cycle on average; a lower rate than the wire's becomes gaps between frames.
    pub rate: u64,
    /// 1: no frame starts while the card raises rx_pause.
    pub honour_pause: u32,
    /// 1: the queued frames are sent again and again.
    pub repeat: u32,
}

impl Pace {
    /// The pace of an Ethernet port at `rate`.
    pub fn of(rate: Rate, repeat: bool) -> Self {
        let (wire, gbps, pause) = match rate {
            Rate::Lossless | Rate::Turns => (LINE_GBPS, LINE_GBPS, true),
            Rate::Line | Rate::Captured => (LINE_GBPS, LINE_GBPS, false),
            Rate::Gbps(gbps) => (LINE_GBPS, gbps, false),
            Rate::Ports(gbps) => (gbps, gbps, false),
        };
        Self { wire: bytes_a_cycle(wire), rate: bytes_a_cycle(gbps), honour_pause: pause.into(), repeat: repeat.into() }
    }

    /// The pace at which such a port takes frames: never less than its wire carries.
    pub fn out_of(rate: Rate) -> Self {
        match rate {
            Rate::Ports(_) => Self::of(rate, false),
            Rate::Lossless | Rate::Turns | Rate::Line | Rate::Captured | Rate::Gbps(_) => Self::of(Rate::Line, false),
        }
    }

    /// The pace of a receiver that takes nothing: the beat after the first comes due in 100 million cycles.
    pub fn stopped() -> Self {
        Self { wire: 1, ..Self::default() }
    }

    /// As fast as the other side takes beats: the host queues.
    pub fn unlimited(repeat: bool) -> Self {
        Self { repeat: repeat.into(), ..Self::default() }
    }
}

/// Wire bytes a clock cycle at `gbps`, in fixed point.
fn bytes_a_cycle(gbps: f64) -> u64 {
    (gbps * 1000.0 / 8.0 / f64::from(CLOCK_MHZ) * BYTE).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_rate_is_fifty_bytes_a_cycle() {
        assert_eq!(Pace::of(Rate::Line, false), Pace { wire: 50 << 20, rate: 50 << 20, honour_pause: 0, repeat: 0 });
        assert_eq!(Pace::of(Rate::Lossless, true), Pace { wire: 50 << 20, rate: 50 << 20, honour_pause: 1, repeat: 1 });
        assert_eq!(
            Pace::of(Rate::Gbps(10.0), false),
            Pace { wire: 50 << 20, rate: 5 << 20, honour_pause: 0, repeat: 0 }
        );
        assert_eq!(Pace::of(Rate::Gbps(1.0), false).rate, 1 << 19);
    }

    #[test]
    fn a_slower_port_is_slow_inside_a_frame_and_at_the_exit() {
        // 40 Gb/s at 156.25 MHz are 32 bytes a cycle, as 64 Gb/s are at 250.
        let pace = Pace { wire: 32 << 20, rate: 32 << 20, honour_pause: 0, repeat: 0 };
        assert_eq!(Pace::of(Rate::Ports(64.0), false), pace);
        assert_eq!(Pace::out_of(Rate::Ports(64.0)), pace);
        assert_eq!(Pace::out_of(Rate::Gbps(10.0)).wire, 50 << 20);
    }
}
