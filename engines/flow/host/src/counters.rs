// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Counters of flow blocks.

use penstock_flow_compiler::program::Element;
use serde::{Deserialize, Serialize};

/// Counters of a block.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BlockCounters {
    /// Events that were lost because too many waited for the host.
    pub events_lost: u64,
    /// Number of times that the rows were changed. Counters of rows start again at each change.
    pub changes: u64,
    /// Its elements, in their order.
    pub elements: Vec<ElementCounters>,
}

/// Counters of an element.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ElementCounters {
    /// Its name, BLOCK.ELEMENT if the design has several flow blocks.
    pub name: String,
    /// Frames that reached the element.
    pub frames: u64,
    /// Frames that lack a field of the key.
    pub keyless: u64,
    /// Frames that match no row.
    pub unmatched: u64,
    /// Frames whose row would have made a context when there was no room.
    pub unkept: u64,
    /// Contexts that expired.
    pub expired: u64,
    /// Contexts that were evicted in favour of new ones.
    pub evicted: u64,
    /// Contexts in the table now.
    pub contexts: u64,
    /// Frames by the row that they took.
    pub rows: Vec<RowCounter>,
}

/// A row of a program, and the frames that took it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RowCounter {
    /// Its line in the program.
    pub line: u32,
    /// Frames.
    pub frames: u64,
}

/// Counters of an element's rows, from the frames of each.
pub(crate) fn rows(element: &Element, frames: &[u64]) -> Vec<RowCounter> {
    let counter = |(row, frames): (&penstock_flow_compiler::program::Row, &u64)| RowCounter {
        line: row.span.line,
        frames: *frames,
    };
    element.rows.iter().zip(frames).map(counter).collect()
}

impl BlockCounters {
    /// The difference to `earlier`, which was read before.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let same_rows = self.changes == earlier.changes;
        let elements = self.elements.iter().zip(&earlier.elements);
        Self {
            events_lost: self.events_lost.saturating_sub(earlier.events_lost),
            changes: self.changes.saturating_sub(earlier.changes),
            elements: elements.map(|(now, then)| now.since(then, same_rows)).collect(),
        }
    }
}

impl ElementCounters {
    fn since(&self, earlier: &Self, same_rows: bool) -> Self {
        let rows = self.rows.iter().enumerate().map(|(at, now)| {
            let then = earlier.rows.get(at).filter(|_| same_rows).map_or(0, |then| then.frames);
            RowCounter { frames: now.frames.saturating_sub(then), ..*now }
        });
        Self {
            name: self.name.clone(),
            frames: self.frames.saturating_sub(earlier.frames),
            keyless: self.keyless.saturating_sub(earlier.keyless),
            unmatched: self.unmatched.saturating_sub(earlier.unmatched),
            unkept: self.unkept.saturating_sub(earlier.unkept),
            expired: self.expired.saturating_sub(earlier.expired),
            evicted: self.evicted.saturating_sub(earlier.evicted),
            contexts: self.contexts,
            rows: rows.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(frames: u64, rows: &[u64], changes: u64) -> BlockCounters {
        let rows = rows.iter().map(|frames| RowCounter { line: 3, frames: *frames }).collect();
        let element = ElementCounters { name: "one".into(), frames, contexts: frames, rows, ..Default::default() };
        BlockCounters { changes, elements: vec![element], ..Default::default() }
    }

    #[test]
    fn a_run_counts_from_its_start() {
        let since = |now: BlockCounters, then| now.since(&then).elements.remove(0);
        let element = since(counters(17, &[4, 5], 1), counters(10, &[1, 5], 1));
        assert_eq!((element.frames, element.contexts), (7, 17));
        assert_eq!([element.rows[0].frames, element.rows[1].frames], [3, 0]);
        // Rows that were changed in between started at 0.
        let element = since(counters(17, &[4, 5, 6], 2), counters(10, &[9, 9], 1));
        assert_eq!(element.rows.iter().map(|row| row.frames).collect::<Vec<_>>(), [4, 5, 6]);
    }

    #[test]
    fn counters_have_64_bits() {
        let since = counters(5 << 32, &[3 << 32], 1).since(&counters((1 << 32) - 1, &[1 << 32], 1));
        let element = &since.elements[0];
        assert_eq!((element.frames, element.rows[0].frames), ((4 << 32) + 1, 2 << 32));
    }
}
