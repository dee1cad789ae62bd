// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Lines that programs print. On a card in RTL they are records (engines/xdp/compiler/src/helpers/print.rs).

use penstock_xdp_soft::{Log, render};

/// The line of a record; none when Linux would not print one. What `%s` names is shown as its address.
pub fn line(record: &[u8]) -> Option<String> {
    let (head, rest) = record.split_first_chunk()?;
    let (arguments, format) = rest.split_at_checked((u64::from_le_bytes(*head) >> 32) as usize)?;
    let arguments: Vec<u64> = arguments.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
    render(format, &arguments, &|address| Ok(format!("{address:#x}"))).ok()
}

/// A log as a run tells it.
pub fn told(Log { mut lines, lost }: Log) -> Vec<String> {
    lines.extend((lost > 0).then(|| format!("(lines lost since the load: {lost})")));
    lines
}
