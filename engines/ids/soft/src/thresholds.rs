// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Matches that rules with a threshold have counted.

use std::net::IpAddr;

use lru::LruCache;
use penstock_ids_compiler::rule::{Rule, Threshold, ThresholdKind, Track};

/// Maximum number of counters; the one that was idle longest makes room.
const MOST: usize = 1 << 16;
const SECOND: u64 = 1_000_000_000;

/// The key of a count: gid and sid of the rule, and the addresses that it tracks.
type Key = (u32, u32, Option<IpAddr>, Option<IpAddr>);

/// Matches in the current period.
#[derive(Debug, Clone, Copy)]
struct Count {
    /// When the period began, in ns.
    since: u64,
    matches: u32,
}

/// Counters of all rules with a threshold.
#[derive(Debug)]
pub struct Thresholds(LruCache<Key, Count>);

impl Default for Thresholds {
    fn default() -> Self {
        Self(LruCache::unbounded())
    }
}

impl Thresholds {
    /// Counts a match of a rule in a packet at a time in ns; whether the rule reports it.
    pub fn is_due(&mut self, rule: &Rule, source: IpAddr, destination: IpAddr, now: u64) -> bool {
        let Some(Threshold { kind, track, count, seconds }) = rule.threshold else { return true };
        let (source, destination) = match track {
            Track::Source => (Some(source), None),
            Track::Destination => (None, Some(destination)),
            Track::Both => (Some(source), Some(destination)),
            Track::Rule => (None, None),
        };
        if self.0.len() >= MOST {
            self.0.pop_lru();
        }
        let key = (rule.gid, rule.sid, source, destination);
        let counted = self.0.get_or_insert_mut(key, || Count { since: now, matches: 0 });
        if now.saturating_sub(counted.since) >= u64::from(seconds) * SECOND {
            *counted = Count { since: now, matches: 0 };
        }
        counted.matches = counted.matches.saturating_add(1);
        match kind {
            ThresholdKind::Limit => counted.matches <= count,
            ThresholdKind::Both => counted.matches == count,
            ThresholdKind::Filter => counted.matches > count,
            ThresholdKind::Threshold => {
                let due = counted.matches >= count;
                counted.matches = if due { 0 } else { counted.matches };
                due
            }
        }
    }
}
