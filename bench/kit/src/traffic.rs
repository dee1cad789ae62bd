// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The frames of the benches: UDP over IPv4, many flows, repeated endlessly.

use penstock_device::{Port, Traffic};

use crate::five_tuple::Flow;
use crate::rates;

/// Frames of a port's list. A prime, so that a unit does not always get the same ones.
const FRAMES: u32 = 61;

/// One in this many frames of a firewall's list comes from a blocked source.
const BLOCKED_EVERY: u32 = 16;

/// Clean sources: 198.18.0.0/15 belongs to benchmarks (RFC 2544).
pub const CLEAN: u32 = 0xC612_0000;

/// A list of clean frames of `size` bytes for each of `ports` ports.
pub fn clean(ports: u32, size: usize) -> Traffic {
    mixed(ports, size, &[])
}

/// The same with some sources from `blocked`.
pub fn mixed(ports: u32, size: usize, blocked: &[u32]) -> Traffic {
    let mut traffic = Traffic::default();
    let mut bytes = Vec::new();
    for port in 0..ports {
        for index in 0..FRAMES {
            let number = port * FRAMES + index;
            let source = match blocked.len() {
                0 => CLEAN + number,
                _ if index % BLOCKED_EVERY != 0 => CLEAN + number,
                count => blocked[number as usize % count],
            };
            let flow = Flow {
                tcp: false,
                source,
                destination: 0xC000_0200 + index % 256,
                source_port: 1024 + number as u16,
                destination_port: 53,
            };
            bytes.clear();
            flow.write(&mut bytes, size, u64::from(number));
            traffic.push(Port::Ethernet(port as u8), &bytes, 0);
        }
    }
    traffic
}

/// Share of the frames of [`mixed`] that are clean.
pub fn clean_share() -> f64 {
    1.0 - f64::from(FRAMES.div_ceil(BLOCKED_EVERY)) / f64::from(FRAMES)
}

/// Cycles of a port at line rate in which its list passes a whole number of times, at least `cycles`: in such a window
/// the share of clean frames is [`clean_share`], wherever in the list it begins.
pub fn whole_lists(size: usize, cycles: u64) -> u64 {
    rates::whole_frames(size, cycles.div_ceil(u64::from(FRAMES))) * u64::from(FRAMES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clean_share_is_that_of_the_list() {
        let blocked = [0x0102_0304];
        let traffic = mixed(2, 64, &blocked);
        let clean = (0..traffic.frames.len()).filter(|i| traffic.frame(*i)[26..30] != [1, 2, 3, 4]).count();
        assert_eq!(traffic.frames.len(), 122);
        assert!((clean as f64 / 122.0 - clean_share()).abs() < 1e-12);
    }

    #[test]
    fn a_window_of_whole_lists_has_their_share_of_clean_frames() {
        for size in [64, 1500, 9000] {
            let window = whole_lists(size, 40_000);
            let bytes = window * crate::wire::LINE_BYTES_A_CYCLE;
            assert!(window >= 40_000 && bytes.is_multiple_of(u64::from(FRAMES) * crate::wire::bytes(size)), "{size}");
        }
    }
}
