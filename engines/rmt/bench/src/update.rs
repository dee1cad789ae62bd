// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `rmt-update`: a tenant's program is swapped, and entries are added and removed, while both ports run at line rate
//! with 64-byte frames of eight tenants.
//!
//! The bench counts the frames that are lost, and compares the longest latency of all frames meanwhile with the longest
//! without a change. Frames of the tenant that changes always meet the old or the new program, both of which forward
//! them. The paper drops that tenant's frames meanwhile.

use penstock_bench::row::{Better::Lower, Row};
use penstock_bench::{BenchError, Lab, parameters, rates, wire};
use penstock_device::Rate;
use penstock_device::rtl::RtlDevice;
use penstock_rmt_host::{Ask, NamedItem};
use serde_json::json;

use crate::card::{self, ROUTER, STAGES};
use crate::load;

/// The bench's name in its rows.
const BENCH: &str = "rmt-update";
const SIZE: usize = 64;
const TENANTS: u16 = 8;
/// Goal for a swap, us.
const SWAP_GOAL_US: f64 = 1_000.0;
/// Entries that are added and removed.
const ENTRIES: u32 = 8;
/// Cycles of the window without a change.
const WINDOW: u64 = 40_000;

/// Measures a swap and changes of entries.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    let mut device = card::open(lab, STAGES, ROUTER, TENANTS)?;
    let swap = Ask::Swap {
        tenant: Some("t1".into()),
        file: format!("{}.p4", ROUTER.name),
        source: card::source(lab.root, ROUTER)?,
        cookie: 0,
        check: false,
        keep: true,
    };
    measure(lab, &mut device, "swap", &[swap], Some(SWAP_GOAL_US))?;
    let entries = (0..ENTRIES).map(entry).collect::<Result<Vec<_>, _>>()?;
    let insert = entries.iter().map(|entry| Ask::Insert { tenant: Some("t1".into()), entry: entry.clone() });
    let delete = entries.iter().map(|entry| Ask::Delete { tenant: Some("t1".into()), entry: entry.clone() });
    let changes = insert.chain(delete).collect::<Vec<_>>();
    measure(lab, &mut device, "entries", &changes, None)
}

/// A route that no frame meets.
fn entry(n: u32) -> Result<NamedItem, BenchError> {
    let route =
        json!({"table": "routes", "match": {"hdr.ipv4.dst": format!("172.{}.0.0/16", 16 + n)}, "action": "drop"});
    serde_json::from_value(route).map_err(|error| BenchError::Wrong(BENCH, error.to_string()))
}

fn measure(
    lab: &Lab,
    device: &mut RtlDevice,
    change: &str,
    asks: &[Ask],
    goal_us: Option<f64>,
) -> Result<(), BenchError> {
    let traffic = load::traffic(ROUTER, 2, TENANTS, SIZE);
    let quiet = device.measure(&traffic, Rate::Line, rates::warmup(SIZE), WINDOW)?;
    let requests = asks.iter().map(Ask::request).collect::<Vec<_>>();
    let seen = device.measure_changes(&traffic, Rate::Line, rates::warmup(SIZE), &requests)?;
    let longest = |latencies: &mut dyn Iterator<Item = u64>| latencies.max().unwrap_or(0) as f64;
    let before = longest(&mut quiet.latencies.iter().copied());
    let meanwhile = longest(&mut seen.latencies.iter().flatten().copied());
    let each = seen.cycles.iter().sum::<u64>() as f64 / seen.cycles.len() as f64 / wire::CLOCK_MHZ;
    let case = parameters(&[("change", json!(change))]);
    let row = |metric, goal, value| Row::new(BENCH, &case, metric, [None, goal], value);
    lab.report(&[
        row(("us", "us for a change", Lower), goal_us, each),
        row(("lost", "frames", Lower), Some(0.0), seen.drops.total() as f64),
        row(("longer", "cycles, longest latency beside that without a change", Lower), Some(0.0), meanwhile - before),
    ]);
    Ok(())
}
