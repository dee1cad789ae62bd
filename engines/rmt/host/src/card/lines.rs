// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Places of entries in the rows of a ternary table. Among the rows that match a frame the first one wins, so entries
//! have the order of their ranks. An entry that finds no row between its neighbours moves others away.

use std::ops::Range;

/// The rows of a tenant's partition: the rank of what stands there, and the entry that it is of.
#[derive(Debug, Clone)]
pub(super) struct Lines<K> {
    rows: Vec<Option<(i32, K)>>,
}

/// How a row is freed for an entry: these moves in their order, each from a row to a free one; then the row itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    pub moves: Vec<(usize, usize)>,
    pub row: usize,
}

impl<K: Clone + PartialEq> Lines<K> {
    /// An empty partition.
    pub(super) fn new(rows: usize) -> Self {
        Self { rows: vec![None; rows] }
    }

    /// Rows that are free.
    pub(super) fn free(&self) -> usize {
        self.rows.iter().filter(|row| row.is_none()).count()
    }

    /// The rows of an entry.
    pub(super) fn rows(&self, key: &K) -> Vec<usize> {
        let own = |row: &usize| self.rows[*row].as_ref().is_some_and(|(_, other)| other == key);
        (0..self.rows.len()).filter(own).collect()
    }

    /// A way to place a row of this rank behind all of its rank and above, with as few moves as possible; None if no
    /// row is free.
    pub(super) fn plan(&self, rank: i32) -> Option<Plan> {
        let above = |row: &Option<(i32, K)>| row.as_ref().is_some_and(|(other, _)| *other >= rank);
        let below = |row: &Option<(i32, K)>| row.as_ref().is_some_and(|(other, _)| *other < rank);
        // Rows from `first` to `last` are free, and between its neighbours.
        let first = self.rows.iter().rposition(above).map_or(0, |row| row + 1);
        let last = self.rows.iter().position(below).unwrap_or(self.rows.len());
        if first < last {
            return Some(Plan { moves: Vec::new(), row: middle(first..last) });
        }
        let down = (last..self.rows.len()).find(|row| self.rows[*row].is_none());
        let up = (0..first).rev().find(|row| self.rows[*row].is_none());
        let steps_down = down.map_or(usize::MAX, |free| free - last);
        let steps_up = up.map_or(usize::MAX, |free| first - 1 - free);
        match (down, up) {
            (Some(free), _) if steps_down <= steps_up => {
                Some(Plan { moves: (last..free).rev().map(|row| (row, row + 1)).collect(), row: last })
            }
            (_, Some(free)) => {
                Some(Plan { moves: (free + 1..first).map(|row| (row, row - 1)).collect(), row: first - 1 })
            }
            _ => None,
        }
    }

    /// Notes that a row has moved to a free one.
    pub(super) fn moved(&mut self, from: usize, to: usize) {
        self.rows[to] = self.rows[from].take();
    }

    /// Notes what stands in a row.
    pub(super) fn set(&mut self, row: usize, rank: i32, key: K) {
        self.rows[row] = Some((rank, key));
    }

    /// Notes that a row is free.
    pub(super) fn clear(&mut self, row: usize) {
        self.rows[row] = None;
    }
}

/// Rows that come later find room on both sides.
fn middle(rows: Range<usize>) -> usize {
    rows.start + (rows.end - rows.start) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Carries a plan out; a move may overwrite what has moved already, and nothing else.
    fn place(lines: &mut Lines<u32>, rank: i32, key: u32) -> bool {
        let Some(plan) = lines.plan(rank) else { return false };
        for (from, to) in plan.moves {
            assert!(lines.rows[from].is_some() && lines.rows[to].is_none());
            lines.moved(from, to);
        }
        assert!(lines.rows[plan.row].is_none());
        lines.set(plan.row, rank, key);
        true
    }

    #[test]
    fn rows_stand_in_the_order_of_their_ranks_until_all_are_taken() {
        let mut lines = Lines::new(32);
        let mut state = 1u32;
        for key in 0..200 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let rank = (state >> 24).cast_signed() % 7;
            assert_eq!(place(&mut lines, rank, key), lines.free() > 0 || lines.rows(&key).len() == 1);
            let ranks: Vec<i32> = lines.rows.iter().flatten().map(|(rank, _)| *rank).collect();
            assert!(ranks.is_sorted_by(|a, b| a >= b), "{ranks:?}");
            if key % 3 == 2 {
                let there = state as usize >> 8 & 31;
                lines.clear(there);
            }
        }
        while lines.free() > 0 {
            assert!(place(&mut lines, 3, 1000));
        }
        assert!(!place(&mut lines, 3, 1001));
        let ranks: Vec<i32> = lines.rows.iter().flatten().map(|(rank, _)| *rank).collect();
        assert!(ranks.len() == 32 && ranks.is_sorted_by(|a, b| a >= b));
    }

    #[test]
    fn the_shorter_way_is_taken() {
        let mut lines = Lines::new(5);
        for (row, rank) in [(1, 9), (2, 5), (3, 3)] {
            lines.set(row, rank, row);
        }
        assert_eq!(lines.plan(4).unwrap(), Plan { moves: vec![(3, 4)], row: 3 });
        assert_eq!(lines.plan(9).unwrap(), Plan { moves: vec![(1, 0)], row: 1 });
        assert_eq!(lines.plan(10).unwrap(), Plan { moves: vec![], row: 0 });
        assert_eq!((lines.rows(&2), lines.free()), (vec![2], 2));
    }
}
