// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rows that frames take by the design of a program in engines/xdp/bench/cards, at every number of lanes. Each frame is
//! the first of its flow.

use penstock_bench::{BenchError, traffic};
use penstock_device::{Port, Root};
use penstock_xdp_host::Lanes;
use penstock_xdp_host::executed::Executed;

use crate::programs;

/// Rows executed for a frame of this many bytes, on average.
pub(crate) fn rows_a_frame(root: &Root, name: &'static str, lanes: Lanes, size: usize) -> Result<f64, BenchError> {
    let failed = |what: String| BenchError::Wrong(name, what);
    let (program, contents) = programs::loaded(root, name, Some(lanes))?;
    let (compiled, placement) = program.translate().map_err(|error| failed(error.to_string()))?;
    let executed = Executed::new(program.object(), &compiled, lanes, &placement.layout);
    let mut executed = executed.map_err(|error| failed(error.to_string()))?;
    let ids: Vec<_> = contents.iter().map(|(map, _)| (map.name.clone(), executed.map(&map.name))).collect();
    let id_of = |map: &str| ids.iter().find(|(name, _)| name == map)?.1;
    programs::fill(name, executed.maps(), &contents, id_of)?;
    let traffic = traffic::clean(programs::ports(name), size);
    let mut rows = 0;
    for frame in &traffic.frames {
        let ifindex = if let Port::Ethernet(port) = frame.port { u32::from(port) + 1 } else { 0 };
        let done = executed.frame(&traffic.bytes[frame.range.clone()], ifindex);
        rows += done.map_err(|error| failed(error.to_string()))?.rows;
    }
    Ok(rows as f64 / traffic.frames.len() as f64)
}
