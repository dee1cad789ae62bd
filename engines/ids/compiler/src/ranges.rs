// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Sets of numbers: addresses and ports of rule headers.

/// A set of numbers, as ranges that neither overlap nor touch, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ranges(Vec<(u128, u128)>);

impl Ranges {
    /// The numbers from `first` to `last`, both included.
    #[must_use]
    pub fn of(first: u128, last: u128) -> Self {
        if first > last { Self::default() } else { Self(vec![(first, last)]) }
    }

    /// Whether the set has no number.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The ranges.
    #[must_use]
    pub fn list(&self) -> &[(u128, u128)] {
        &self.0
    }

    /// Whether the set has this number.
    #[must_use]
    pub fn has(&self, number: u128) -> bool {
        let behind = self.0.partition_point(|(first, _)| *first <= number);
        behind > 0 && number <= self.0[behind - 1].1
    }

    /// Whether the set has every port.
    #[must_use]
    pub fn has_all_ports(&self) -> bool {
        self.0.iter().any(|(first, last)| *first == 0 && *last >= u128::from(u16::MAX))
    }

    /// Adds the numbers of another set.
    pub fn add(&mut self, other: &Self) {
        let mut all = std::mem::take(&mut self.0);
        all.extend_from_slice(&other.0);
        all.sort_unstable();
        for (first, last) in all {
            match self.0.last_mut() {
                Some(before) if first <= before.1.saturating_add(1) => before.1 = before.1.max(last),
                _ => self.0.push((first, last)),
            }
        }
    }

    /// Removes the numbers of another set.
    pub fn remove(&mut self, other: &Self) {
        for (from, to) in &other.0 {
            let before = std::mem::take(&mut self.0);
            for (first, last) in before {
                if first < *from {
                    self.0.push((first, last.min(from - 1)));
                }
                if last > *to {
                    self.0.push((first.max(to + 1), last));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation agrees with the same operation on sets of single numbers.
    #[test]
    fn ranges_are_sets() {
        let set = |bits: u32| {
            let mut set = Ranges::default();
            (0..8).filter(|at| bits >> at & 1 == 1).for_each(|at| set.add(&Ranges::of(at, at)));
            set
        };
        let bits = |set: &Ranges| (0..8).filter(|at| set.has(*at)).fold(0, |bits, at| bits | 1 << at);
        for left in 0..256 {
            for right in 0..256 {
                let (mut sum, mut rest) = (set(left), set(left));
                sum.add(&set(right));
                rest.remove(&set(right));
                assert_eq!((bits(&sum), bits(&rest)), (left | right, left & !right));
                assert_eq!((sum, rest), (set(left | right), set(left & !right)));
            }
        }
        let mut all = Ranges::of(0, u128::MAX);
        all.remove(&Ranges::of(0, 0));
        all.remove(&Ranges::of(u128::MAX, u128::MAX));
        assert_eq!(all.list(), [(1, u128::MAX - 1)]);
    }
}
