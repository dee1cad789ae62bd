// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Two applications whose messages enter at port 0 in turn at line rate. Those of `paths` leave at port 1, those of
//! `others` at port 0, so that each has its rate and latency. Each has two of the four matchers.

use penstock_bench::{BenchError, wire};
use penstock_device::rtl::RtlDevice;
use penstock_device::{Port, Rate, Traffic};
use penstock_l7_host::Ask;

use crate::card;
use crate::load::{App, Message, OTHERS, PATHS, Paths};

/// Messages of each application in the list that is repeated, a prime.
const MESSAGES: u32 = 31;
/// Looks at the counters before the measurement.
const WARMUP: usize = 4;

/// Measurements of an application.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Flow {
    /// Millions of messages a second that left.
    pub mrps: f64,
    /// Cycles from the first beat in to the last beat out: the longest, and their mean.
    pub longest: u64,
    pub mean: f64,
}

/// A measurement.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    /// Cycles of each request.
    pub cycles: Vec<u64>,
    /// Of `paths` and of `others`.
    pub flows: [Flow; 2],
    /// Packets that the card dropped: there was no room for them.
    pub dropped: u64,
}

/// Messages of both applications in turn, each for rules of so many steps.
fn traffic(steps: [usize; 2], size: usize) -> Traffic {
    let mut traffic = Traffic::default();
    let mut push = |app: App, steps, id| {
        for frame in (Message { app, path: &Paths::of(steps).path(0), id, size, packets: 1 }).frames() {
            traffic.push(Port::Ethernet(0), &frame, 0);
        }
    };
    for id in 0..MESSAGES {
        push(PATHS, steps[0], id);
        push(OTHERS, steps[1], id);
    }
    traffic
}

/// Looks at the counters, and then makes requests, while messages of `size` bytes enter at line rate, which need the
/// rules that the applications have. The looks are not measured: the card fills.
///
/// The latency of a message is from its first beat in to its last beat out. The messages of an application leave in
/// their order. If one of `paths` is lost, the later ones are taken for those before, and seem to be late; of `others`,
/// whose messages may exceed its room, only the rate is told then.
pub(crate) fn measure(
    bench: &'static str,
    device: &mut RtlDevice,
    steps: [usize; 2],
    size: usize,
    asks: &[Ask],
) -> Result<Measured, BenchError> {
    let asks = [looks(WARMUP).as_slice(), asks].concat();
    let requests = asks.iter().map(Ask::request).collect::<Vec<_>>();
    let seen = device.measure_changes(&traffic(steps, size), Rate::Line, 0, &requests)?;
    let cycles = seen.cycles[WARMUP..].to_vec();
    let warmup: u64 = seen.cycles[..WARMUP].iter().sum();
    let entered = seen.entered.first().filter(|entered| !entered.is_empty());
    let entered = entered.ok_or_else(|| BenchError::Wrong(bench, "no message entered".to_owned()))?;
    let start = entered[0] + warmup;
    let flow = |index: usize, app: App| -> Result<Flow, BenchError> {
        let own = entered.iter().skip(index).step_by(2);
        let left = seen.left.get(usize::from(app.exit)).into_iter().flatten();
        let late = left.zip(own).filter(|(left, _)| **left >= start);
        let of: Vec<u64> = late.map(|(left, entered)| left.saturating_sub(*entered)).collect();
        if of.is_empty() {
            return Err(BenchError::Wrong(bench, format!("no message of `{}` left", app.name)));
        }
        Ok(Flow {
            mrps: of.len() as f64 * wire::CLOCK_MHZ / cycles.iter().sum::<u64>() as f64,
            longest: of.iter().copied().max().unwrap_or(0),
            mean: of.iter().sum::<u64>() as f64 / of.len() as f64,
        })
    };
    let flows = [flow(0, PATHS)?, flow(1, OTHERS)?];
    Ok(Measured { cycles, flows, dropped: seen.drops.total() })
}

/// Gives both applications rules of so many steps.
pub(crate) fn load_rules(device: &mut RtlDevice, steps: [usize; 2]) -> Result<(), BenchError> {
    for (app, steps) in [PATHS, OTHERS].into_iter().zip(steps) {
        card::ask(device, &card::load(app, Paths::of(steps)))?;
    }
    Ok(())
}

/// Requests that change nothing.
pub(crate) fn looks(count: usize) -> Vec<Ask> {
    vec![Ask::Counters; count]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn applications_take_turns_on_the_wire() {
        let traffic = traffic([2, 48], 192);
        let ports: Vec<_> = traffic.frames.iter().map(|frame| traffic.bytes[frame.range.clone()][37]).collect();
        assert_eq!(ports.len(), 62);
        assert!(ports.chunks(2).all(|pair| pair == [0x58, 0x40]));
        assert!(traffic.frames.iter().all(|frame| frame.range.len() == 192));
    }
}
