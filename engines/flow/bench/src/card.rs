// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The card of the benches of the flow engine in RTL: two ports and one element with a table of 65,536 places, whose
//! program counts frames by a key and sends them to the other port (engines/flow/bench/cards). All that the paper's
//! card does to a state is in that: a flow's frame reads what the one before has written.

use penstock_bench::five_tuple::Flow;
use penstock_bench::{BenchError, Card, wire};
use penstock_device::rtl::RtlDevice;
use penstock_device::{Device, ForGroup, Override, Port, Rate, Root, Traffic};
use penstock_flow_host::{Ask, BlockCounters, ElementAbout, ElementCounters};
use serde::de::DeserializeOwned;

/// Line rate of the paper's card, Gb/s: four ports of 10.
pub(crate) const PAPER_GBPS: f64 = 40.0;
/// Its clock, MHz.
pub(crate) const PAPER_MHZ: f64 = 156.25;
/// The smallest frame without FCS, which the paper calls 64 B.
pub(crate) const SMALLEST: usize = 60;

/// The definition of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    /// Everything: all frames share one state, and each waits for the one before.
    OneFlow,
    Source,
    Pair,
    FiveTuple,
}

impl Key {
    /// Those of the paper's figures.
    pub(crate) const ALL: [Self; 4] = [Self::OneFlow, Self::Source, Self::Pair, Self::FiveTuple];

    /// As the paper calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OneFlow => "1-flow",
            Self::Source => "IP src",
            Self::Pair => "IP src/dst",
            Self::FiveTuple => "5-tuple",
        }
    }

    /// Its program in engines/flow/bench/cards.
    fn program(self) -> &'static str {
        match self {
            Self::OneFlow => "one_flow.efsm",
            Self::Source => "source.efsm",
            Self::Pair => "pair.efsm",
            Self::FiveTuple => "five_tuple.efsm",
        }
    }
}

/// The card with the program of a key; its hardware is the same for all.
pub(crate) fn card(root: &Root, key: Key) -> Result<Card, BenchError> {
    let folder = root.join("engines/flow/bench/cards");
    let program = ForGroup { group: Some("flow".to_string()), value: folder.join(key.program()) };
    let change = Override { programs: vec![program], ..Override::default() };
    Card::read(root, &folder.join("card.toml"), change)
}

/// Bytes that a port of this many Gb/s brings in a cycle of a card's clock.
pub(crate) fn bytes_a_cycle(gbps: f64, mhz: f64) -> f64 {
    gbps * 1000.0 / 8.0 / mhz
}

/// The rate for this card, whose cycles count as those of 250 MHz, that equals ports of this many Gb/s at another
/// clock: the same number of bytes a cycle.
pub(crate) fn ports(gbps: f64, mhz: f64) -> Rate {
    Rate::Ports(gbps * wire::CLOCK_MHZ / mhz)
}

/// Adds a frame that enters at port 0.
pub(crate) fn push(traffic: &mut Traffic, flow: &Flow, size: usize) {
    let mut bytes = Vec::with_capacity(size);
    flow.write(&mut bytes, size, traffic.frames.len() as u64);
    traffic.push(Port::Ethernet(0), &bytes, 0);
}

/// The counters of the first element, after a check that it did the measured work: each frame found its key, a row, and
/// room for its context.
pub(crate) fn counters(bench: &'static str, device: &mut RtlDevice) -> Result<ElementCounters, BenchError> {
    let wrong = |text: String| BenchError::Wrong(bench, text);
    let block = device.counters()?.inline.and_then(|inline| inline.blocks.into_iter().next());
    let block: Option<BlockCounters> = block.map(|block| serde_json::from_value(block.own)).transpose()?;
    let element = block
        .and_then(|block| block.elements.into_iter().next())
        .ok_or_else(|| wrong("it has no element".to_string()))?;
    let ElementCounters { keyless, unmatched, unkept, .. } = element;
    if keyless + unmatched + unkept > 0 {
        let text = format!("{keyless} frames had no key, {unmatched} no row, and {unkept} found the table full");
        return Err(wrong(text));
    }
    Ok(element)
}

/// Asks the service of the engine.
pub(crate) fn ask<T: DeserializeOwned>(device: &mut RtlDevice, ask: &Ask) -> Result<T, BenchError> {
    Ok(serde_json::from_value(device.call(&ask.request())?)?)
}

/// The name of the first element.
pub(crate) fn element(bench: &'static str, device: &mut RtlDevice) -> Result<String, BenchError> {
    let elements: Vec<ElementAbout> = ask(device, &Ask::List)?;
    let none = || BenchError::Wrong(bench, "it has no element".to_string());
    elements.into_iter().next().map(|element| element.name).ok_or_else(none)
}

/// The percentile: the smallest value that this many percent of all do not exceed.
pub(crate) fn percentile(bench: &'static str, cycles: &[u64], percent: usize) -> Result<u64, BenchError> {
    let mut sorted = cycles.to_vec();
    sorted.sort_unstable();
    let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(at).copied().ok_or_else(|| BenchError::Wrong(bench, "no frame came by".to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_says_how_many_bytes_a_cycle_brings() {
        assert_eq!(bytes_a_cycle(PAPER_GBPS, PAPER_MHZ), 32.0);
        assert_eq!(bytes_a_cycle(wire::LINE_GBPS, wire::CLOCK_MHZ), wire::LINE_BYTES_A_CYCLE as f64);
        assert_eq!(ports(PAPER_GBPS, PAPER_MHZ), Rate::Ports(64.0));
        assert_eq!(ports(PAPER_GBPS, wire::CLOCK_MHZ), Rate::Ports(40.0));
    }

    #[test]
    fn percentiles() {
        let cycles: Vec<u64> = (1..=200).rev().collect();
        let some = [50, 99, 100].map(|percent| percentile("flow", &cycles, percent).ok());
        assert_eq!(some, [Some(100), Some(198), Some(200)]);
        assert!(percentile("flow", &[], 50).is_err());
    }
}
