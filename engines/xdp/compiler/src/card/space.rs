// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Memory with free gaps: a request gets the first gap that holds it.

use std::ops::Range;

#[derive(Debug, Clone)]
pub(super) struct Space {
    end: u32,
    /// In order, none in another.
    taken: Vec<Range<u32>>,
}

impl Space {
    pub(super) fn new(end: u32) -> Self {
        Self { end, taken: Vec::new() }
    }

    /// Takes a part that another owner already has; several may share it.
    pub(super) fn keep(&mut self, part: Range<u32>) {
        self.taken.push(part);
        self.taken.sort_by_key(|part| part.start);
        let mut apart: Vec<Range<u32>> = Vec::new();
        for part in self.taken.drain(..) {
            match apart.last_mut() {
                Some(last) if part.start <= last.end => last.end = last.end.max(part.end),
                _ => apart.push(part),
            }
        }
        self.taken = apart;
    }

    /// Takes this amount from a multiple of `step` on.
    ///
    /// # Errors
    /// How much the longest gap has.
    pub(super) fn take(&mut self, count: u64, step: u32) -> Result<Range<u32>, u32> {
        let starts = [0].into_iter().chain(self.taken.iter().map(|part| part.end.next_multiple_of(step)));
        let ends = self.taken.iter().map(|part| part.start).chain([self.end]);
        let gaps: Vec<Range<u32>> = starts.zip(ends).map(|(start, end)| start..end.max(start)).collect();
        let fits = |gap: &&Range<u32>| count <= u64::from(gap.end - gap.start);
        match gaps.iter().find(fits) {
            // It fits, so it is no longer than the gap.
            Some(gap) => {
                let part = gap.start..gap.start + count as u32;
                self.keep(part.clone());
                Ok(part)
            }
            None => Err(gaps.iter().map(|gap| gap.end - gap.start).max().unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_gap_that_holds_it() {
        let mut space = Space::new(100);
        space.keep(30..40);
        space.keep(0..1);
        space.keep(35..50);
        assert_eq!(space.take(30, 1), Ok(50..80));
        assert_eq!(space.take(29, 1), Ok(1..30));
        assert_eq!(space.take(21, 1), Err(20));
        assert_eq!(space.take(1, 16), Ok(80..81));
        assert_eq!(space.take(4, 16), Ok(96..100));
        assert_eq!(space.take(1, 16), Err(0));
    }
}
