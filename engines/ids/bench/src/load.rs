// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! TCP at line rate: many flows, each opened and in order, whose payload no rule is about.

use penstock_bench::five_tuple::{Random, checksum};
use penstock_bench::wire;
use penstock_device::{Port, Traffic};

/// Bytes of the headers of Ethernet, IPv4 and TCP.
pub(crate) const HEADERS: usize = 54;
/// Flows of a port.
pub(crate) const FLOWS: u32 = 100;
/// Flags of segments.
pub(crate) const SYN: u8 = 2;
pub(crate) const ACK: u8 = 16;

/// Sizes of frames without FCS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sizes {
    /// All the same.
    One(usize),
    /// Twelve frames in turn: seven have 64 bytes, four 576 and one 1,500.
    Mix,
}

impl Sizes {
    /// In rows.
    pub(crate) fn name(self) -> String {
        match self {
            Self::One(size) => size.to_string(),
            Self::Mix => "mix".to_owned(),
        }
    }

    /// The size of a frame by its number.
    fn of(self, number: usize) -> usize {
        match self {
            Self::One(size) => size,
            Self::Mix => [64, 576, 64, 64, 576, 64, 1500, 64, 576, 64, 64, 576][number % 12],
        }
    }

    /// The mean.
    pub(crate) fn mean(self) -> f64 {
        (0..12).map(|number| self.of(number) as f64).sum::<f64>() / 12.0
    }
}

/// A frame of TCP of a port.
fn frame(port: u8, flow: u32, sequence: u32, flags: u8, payload: &[u8]) -> Vec<u8> {
    // 198.18.0.0/15 is for benchmarks (RFC 2544).
    segment(0xC612_0000 | u32::from(port) << 16 | flow, 1024 + flow as u16, sequence, flags, payload)
}

/// A frame of TCP from this address and port.
pub(crate) fn segment(address: u32, port: u16, sequence: u32, flags: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0];
    frame.extend((40 + payload.len() as u16).to_be_bytes());
    frame.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
    frame.extend(address.to_be_bytes());
    frame.extend([192, 0, 2, 1]);
    let sum = checksum(&frame[14..], 0);
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
    frame.extend(port.to_be_bytes());
    frame.extend([0x20, 0xFB]);
    frame.extend(sequence.to_be_bytes());
    frame.extend([0, 0, 0, 1, 0x50, flags, 0xFF, 0xFF, 0, 0, 0, 0]);
    frame.extend(payload);
    let halves = |at: usize| u32::from(frame[at]) << 8 | u32::from(frame[at + 1]);
    let pseudo = (26..34).step_by(2).map(halves).sum::<u32>() + 6 + 20 + payload.len() as u32;
    let sum = checksum(&frame[34..], pseudo);
    frame[50..52].copy_from_slice(&sum.to_be_bytes());
    frame
}

/// Frames for so many cycles of `ports` ports at line rate. Each port opens its flows, then they take turns. `first` is
/// the number of the first flow: flows of other numbers are other flows. The payload is random bytes.
pub(crate) fn traffic(ports: u8, sizes: Sizes, first: u32, cycles: u64) -> Traffic {
    let mut random = Random(u64::from(first) + 1);
    let mut traffic = Traffic::default();
    for port in 0..ports {
        let mut bytes = 0;
        for flow in 0..FLOWS {
            let frame = frame(port, first + flow, 0, SYN, b"");
            bytes += wire::bytes(frame.len().max(60));
            traffic.push(Port::Ethernet(port), &[frame, vec![0; 6]].concat(), 0);
        }
        let mut sent = vec![1_u32; FLOWS as usize];
        let mut number = 0;
        while bytes < cycles * wire::LINE_BYTES_A_CYCLE {
            let size = sizes.of(number);
            let flow = number % FLOWS as usize;
            let payload: Vec<u8> = (HEADERS..size).map(|_| random.next() as u8).collect();
            traffic.push(Port::Ethernet(port), &frame(port, first + flow as u32, sent[flow], ACK, &payload), 0);
            sent[flow] = sent[flow].wrapping_add(payload.len() as u32);
            bytes += wire::bytes(size);
            number += 1;
        }
    }
    traffic
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use penstock_ids::{Bounds, Inspector};

    use super::*;
    use crate::input::{program, sample};

    /// Every segment is in order and right, no rule is met, and there are frames for all cycles.
    #[test]
    fn streams_are_in_order() {
        let program = program(&sample(100)).unwrap();
        for sizes in [Sizes::One(64), Sizes::One(256), Sizes::Mix] {
            let traffic = traffic(2, sizes, 0, 3_000);
            let mut inspector = Inspector::new(Arc::clone(&program), Bounds::default(), false);
            let mut alerts = 0;
            for number in 0..traffic.frames.len() {
                alerts += inspector.carry(traffic.frame(number), 0, 0).alerts.len();
            }
            let stats = inspector.stats();
            assert_eq!((alerts, stats.frames.malformed, stats.streams.out_of_order), (0, 0, 0));
            let all: usize = traffic.frames.iter().map(|frame| frame.range.len() - HEADERS).sum();
            assert_eq!(stats.detect.searched_bytes as usize, all - 2 * FLOWS as usize * 6, "{sizes:?}");
            let wire: u64 = traffic.frames.iter().map(|frame| wire::bytes(frame.range.len())).sum();
            assert!(wire >= 2 * 3_000 * wire::LINE_BYTES_A_CYCLE);
        }
    }

    #[test]
    fn a_mix_has_its_mean() {
        assert_eq!((Sizes::Mix.mean() * 12.0).round(), 7.0 * 64.0 + 4.0 * 576.0 + 1500.0);
        assert_eq!(Sizes::One(800).mean(), 800.0);
    }
}
