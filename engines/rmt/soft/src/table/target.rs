// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The actions of entries, with their arguments beside them, so that a frame finds both in one cache line.

use std::sync::Arc;

use hashbrown::HashMap;

/// An action with its arguments.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// Action, by its index in the program.
    pub action: usize,
    /// Its arguments as words: the lower half first where there are two.
    pub args: Vec<u64>,
}

/// The actions of an entry.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// Its only action.
    pub call: Call,
    /// Actions of which each frame chooses one, as often as their weights say; never empty.
    pub choice: Option<Arc<[Call]>>,
}

/// Words of a record at most: a cache line.
const MOST_WORDS: usize = 8;
/// Stands for the action of entries whose actions are apart.
const APART: u64 = u64::MAX;

/// The actions of all entries of a table.
#[derive(Debug)]
pub(super) struct Targets {
    /// Words of a record.
    stride: usize,
    /// For each entry a record: action, arguments.
    records: Vec<u64>,
    /// Entries with several actions, or with more arguments than a record holds.
    apart: HashMap<usize, Target>,
}

impl Call {
    /// The action and its arguments.
    pub(crate) fn parts(&self) -> (usize, &[u64]) {
        (self.action, &self.args)
    }
}

impl Targets {
    /// For the actions of a program with parameters of so many bits.
    pub(super) fn new(params: &[Vec<u32>]) -> Self {
        let words = |params: &Vec<u32>| params.iter().map(|width| if *width > 64 { 2 } else { 1 }).sum::<usize>();
        let stride = (1 + params.iter().map(words).max().unwrap_or(0)).min(MOST_WORDS);
        Self { stride, records: Vec::new(), apart: HashMap::new() }
    }

    /// Gives an entry its actions.
    pub(super) fn set(&mut self, number: usize, target: Target) {
        self.apart.remove(&number);
        let start = number * self.stride;
        self.records.resize(self.records.len().max(start + self.stride), 0);
        let record = &mut self.records[start..start + self.stride];
        let (action, args) = target.call.parts();
        if target.choice.is_none() && args.len() < record.len() {
            record[0] = action as u64;
            record[1..=args.len()].copy_from_slice(args);
        } else {
            record[0] = APART;
            self.apart.insert(number, target);
        }
    }

    /// The number of an entry's actions, if each frame chooses one of them.
    #[inline]
    pub(super) fn choices(&self, number: usize) -> Option<usize> {
        match self.records.get(number * self.stride) {
            Some(&APART) => Some(self.apart.get(&number)?.choice.as_ref()?.len()),
            _ => None,
        }
    }

    /// The action of an entry and its arguments, of several actions that of a number.
    #[inline]
    pub(super) fn get(&self, number: usize, chosen: usize) -> Option<(usize, &[u64])> {
        let start = number * self.stride;
        let (action, args) = self.records.get(start..start + self.stride)?.split_first()?;
        if *action == APART {
            let target = self.apart.get(&number)?;
            let choice = target.choice.as_ref().and_then(|choice| choice.get(chosen));
            return Some(choice.unwrap_or(&target.call).parts());
        }
        Some((*action as usize, args))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_come_back_wherever_they_are_kept() {
        let mut targets = Targets::new(&[vec![], vec![8, 100], vec![128; 9]]);
        let call = |action, words: u64| Call { action, args: (0..words).map(|word| word + 1).collect() };
        let only = |call| Target { call, choice: None };
        targets.set(2, only(call(1, 3)));
        targets.set(0, only(call(2, 18)));
        assert_eq!(targets.get(0, 0), Some((2, &(1..=18).collect::<Vec<u64>>()[..])));
        assert_eq!(targets.get(2, 0).map(|(action, args)| (action, args[..3].to_vec())), Some((1, vec![1, 2, 3])));
        targets.set(0, Target { call: call(0, 0), choice: Some([call(0, 0), call(1, 3)].into()) });
        assert_eq!((targets.choices(0), targets.choices(2)), (Some(2), None));
        assert_eq!(targets.get(0, 1), Some((1, &[1, 2, 3][..])));
        targets.set(0, only(call(0, 0)));
        assert_eq!((targets.choices(0), targets.get(0, 0).map(|(action, _)| action)), (None, Some(0)));
    }
}
