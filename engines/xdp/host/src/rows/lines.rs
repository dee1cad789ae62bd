// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Lines that programs print on a card in hardware, where they are records (engines/xdp/compiler/src/helpers/print.rs).

use penstock_xdp_soft::render;

/// The line of a record; None if Linux would refuse to print it. `%s` shows the address of its text.
pub(super) fn line(record: &[u8]) -> Option<String> {
    let (head, rest) = record.split_first_chunk()?;
    let (arguments, format) = rest.split_at_checked((u64::from_le_bytes(*head) >> 32) as usize)?;
    let arguments: Vec<u64> = arguments.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
    render(format, &arguments, &|address| Ok(format!("{address:#x}"))).ok()
}
