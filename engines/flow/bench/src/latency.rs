// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `flow-latency`: cycles of a frame's headers in an element of the flow engine, and of the frame in the whole inline
//! chain (FlowBlaze, section 5.2).
//!
//! An element's cycles are those from the one in which it takes a frame's headers to the one in which it gives them
//! back. The chain's are from a frame's first beat out of the ingress to its first beat on the way to its exit: header
//! parser, elements with the queues between them, and deparser; one element alone has no queue. Frames are alone in the
//! card; under load one may wait for those ahead, which is measured with one element at 40 Gb/s and 156.25 MHz, all
//! frames of 64 B.

use std::collections::BTreeMap;

use penstock_bench::five_tuple::Flow;
use penstock_bench::mix::{Mix, Trace};
use penstock_bench::row::{Better::Lower, Row};
use penstock_bench::{BenchError, Card, Lab, parameters as case, wire};
use penstock_device::rtl::RtlDevice;
use penstock_device::{Device, Hop, Override, Place, Rate, Run, Traffic};
use serde_json::json;

use crate::card::{self, Key, PAPER_GBPS, PAPER_MHZ, SMALLEST};

/// The bench's name in its rows.
const BENCH: &str = "flow-latency";

/// Cycles of a frame in an element of the paper, and the delay that it adds to a pipeline, ns.
const PAPER_CYCLES: f64 = 8.0;
const PAPER_ADDED_NS: f64 = 50.0;
/// Goal for an element, cycles.
const GOAL_CYCLES: f64 = 8.0;

/// Elements of the longer chain: engines/flow/bench/cards/chain.toml.
const LONG: usize = 6;
/// Sizes of frames that are alone.
const SIZES: [usize; 3] = [60, 128, 1500];
/// How many of each size, each of two flows twice: a context is made, and found.
const FRAMES: usize = 4;
/// Frames under load.
const LOADED: usize = 10_000;

/// Measures chains of one element and of six, and one element under load.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    let mut one = lab.rtl(&card::card(lab.root, Key::FiveTuple)?)?;
    let short = alone(&mut one, 1, lab)?;
    for key in [Key::FiveTuple, Key::OneFlow] {
        one.load(&card::card(lab.root, key)?.image)?;
        lab.report(&loaded(&mut one, key)?);
    }
    let chain = Card::read(lab.root, &lab.root.join("engines/flow/bench/cards/chain.toml"), Override::default())?;
    let long = alone(&mut lab.rtl(&chain)?, LONG, lab)?;
    let added = (long - short) as f64 / (LONG - 1) as f64;
    let case = case(&[("elements", json!(LONG)), ("load", json!("alone"))]);
    let row = |metric, unit, rates, value| Row::new(BENCH, &case, (metric, unit, Lower), rates, value);
    let added_ns = added * 1000.0 / wire::CLOCK_MHZ;
    lab.report(&[
        row("added_ns", "ns of a further element, with its queue", [Some(PAPER_ADDED_NS); 2], added_ns),
        row("added_cycles", "cycles of a further element, with its queue", [None, None], added),
    ]);
    Ok(())
}

/// Single frames on a card of this many elements; returns the cycles of the smallest in the chain.
fn alone(device: &mut RtlDevice, elements: usize, lab: &Lab) -> Result<u64, BenchError> {
    device.record_hops();
    let mut smallest = 0;
    for size in SIZES {
        let (mut in_elements, mut in_chain) = (Vec::new(), Vec::new());
        for number in 0..FRAMES {
            let port = 1024 + number as u16 % 2;
            let flow = Flow {
                tcp: false,
                source: 0xC612_0001,
                destination: 0xC000_0201,
                source_port: port,
                destination_port: size as u16,
            };
            let mut traffic = Traffic::default();
            card::push(&mut traffic, &flow, size);
            let run = carried(device, &traffic, Rate::Lossless)?;
            in_elements.extend(cycles_in_elements(&run.hops, elements)?);
            in_chain.extend(cycles_in_chain(&run.hops));
        }
        let (element, chain) = (most(&in_elements)?, most(&in_chain)?);
        let case = case(&[("elements", json!(elements)), ("load", json!("alone")), ("size", json!(size))]);
        let row = |metric, unit, rates, value: u64| Row::new(BENCH, &case, (metric, unit, Lower), rates, value as f64);
        lab.report(&[
            row("element_cycles", "cycles, the longest", [Some(PAPER_CYCLES), Some(GOAL_CYCLES)], element),
            row("chain_cycles", "cycles, the longest", [None, None], chain),
        ]);
        if size == SMALLEST {
            smallest = chain;
        }
    }
    Ok(smallest)
}

/// Frames at the paper's line rate.
fn loaded(device: &mut RtlDevice, key: Key) -> Result<Vec<Row>, BenchError> {
    let mut traffic = Traffic::default();
    Mix::new(Trace::Chi15, 1).take(LOADED).for_each(|(flow, _)| card::push(&mut traffic, &flow, SMALLEST));
    let run = carried(device, &traffic, card::ports(PAPER_GBPS, PAPER_MHZ))?;
    let in_element = cycles_in_elements(&run.hops, 1)?;
    let in_chain = cycles_in_chain(&run.hops);
    let load = json!("64 B at 40 Gb/s and 156.25 MHz");
    let case = case(&[("elements", json!(1)), ("key", json!(key.name())), ("load", load)]);
    let row = |metric, value: u64| Row::new(BENCH, &case, (metric, "cycles", Lower), [None, None], value as f64);
    Ok(vec![
        row("element_median", card::percentile(BENCH, &in_element, 50)?),
        row("element_p99", card::percentile(BENCH, &in_element, 99)?),
        row("element_most", most(&in_element)?),
        row("chain_p99", card::percentile(BENCH, &in_chain, 99)?),
    ])
}

/// A run in which all frames left.
fn carried(device: &mut RtlDevice, traffic: &Traffic, rate: Rate) -> Result<Run, BenchError> {
    device.send(traffic, rate)?;
    let run = device.run(&mut |_| {})?;
    if run.departures.len() == traffic.frames.len() {
        return Ok(run);
    }
    Err(wrong(format!("{} of {} frames left", run.departures.len(), traffic.frames.len())))
}

fn wrong(text: String) -> BenchError {
    BenchError::Wrong(BENCH, text)
}

/// Cycles of each frame in each element: headers leave an element in their order of arrival.
fn cycles_in_elements(hops: &[Hop], elements: usize) -> Result<Vec<u64>, BenchError> {
    let at = |place| hops.iter().filter(move |hop| hop.place == place).map(|hop| hop.cycle).collect::<Vec<_>>();
    let mut all = Vec::new();
    for element in 0..elements as u8 {
        let (came, left) = (at(Place::StepIn(element)), at(Place::StepOut(element)));
        if came.is_empty() || came.len() != left.len() {
            return Err(wrong(format!("{} frames came to element {element}, {} left", came.len(), left.len())));
        }
        all.extend(came.iter().zip(left).map(|(came, left)| left - came));
    }
    Ok(all)
}

/// Cycles of each frame between ingress and exit: its first beat on either side of the chain.
fn cycles_in_chain(hops: &[Hop]) -> Vec<u64> {
    let came: BTreeMap<(u8, u64), u64> = hops
        .iter()
        .filter(|hop| matches!(hop.place, Place::Chain(_)))
        .map(|hop| ((hop.source, hop.entered), hop.cycle))
        .collect();
    let left = hops.iter().filter(|hop| matches!(hop.place, Place::Exit(_)));
    left.filter_map(|hop| Some(hop.cycle - came.get(&(hop.source, hop.entered))?)).collect()
}

fn most(cycles: &[u64]) -> Result<u64, BenchError> {
    card::percentile(BENCH, cycles, 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hop(cycle: u64, place: Place, entered: u64) -> Hop {
        Hop { cycle, place, source: 0, entered, unit: 0, slot: 0 }
    }

    #[test]
    fn frames_leave_elements_in_their_order() {
        let hops = [
            hop(20, Place::StepIn(0), 0),
            hop(21, Place::StepIn(0), 0),
            hop(28, Place::StepOut(0), 0),
            hop(30, Place::StepIn(1), 0),
            hop(31, Place::StepOut(0), 0),
            hop(39, Place::StepOut(1), 0),
        ];
        assert_eq!(cycles_in_elements(&hops, 2).unwrap(), [8, 10, 9]);
        assert!(cycles_in_elements(&hops, 3).is_err() && cycles_in_elements(&hops[..5], 2).is_err());
    }

    #[test]
    fn the_chain_is_between_ingress_and_exit() {
        let hops = [
            hop(10, Place::Chain(0), 1),
            hop(12, Place::Chain(0), 2),
            hop(40, Place::Exit(1), 1),
            hop(43, Place::Exit(1), 2),
        ];
        assert_eq!(cycles_in_chain(&hops), [30, 31]);
    }
}
