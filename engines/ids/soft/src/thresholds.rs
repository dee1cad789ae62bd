// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Matches that rules with a threshold have counted.

use std::net::IpAddr;

use lru::LruCache;
use penstock_ids_compiler::rule::{Rule, Threshold, ThresholdKind, Track};

use crate::seen::{Seen, flow_id};

/// Maximum number of counters; the one that was idle longest makes room.
const MOST: usize = 1 << 16;
const SECOND: u64 = 1_000_000_000;

/// The key of a count: gid and sid of the rule, whether it is the count of its `detection_filter`, and the addresses or
/// the flow that it tracks.
type Key = (u32, u32, bool, Option<IpAddr>, Option<IpAddr>, Option<u64>);

/// Matches in the current period.
#[derive(Debug, Clone, Copy)]
struct Count {
    /// When the period began, in ns.
    since: u64,
    matches: u32,
    /// The number of matches with which a rule that backs off reports next.
    next: u32,
}

/// Counters of all rules with a threshold.
#[derive(Debug)]
pub(crate) struct Thresholds(LruCache<Key, Count>);

impl Default for Thresholds {
    fn default() -> Self {
        Self(LruCache::unbounded())
    }
}

impl Thresholds {
    /// Counts a match of a rule in a packet; whether the rule reports it.
    pub(crate) fn is_due(&mut self, rule: &Rule, seen: &Seen<'_>) -> bool {
        // The threshold does not count matches that the filter holds back.
        let passes = rule.filter.is_none_or(|filter| self.counts(rule, filter, seen));
        passes && rule.threshold.is_none_or(|threshold| self.counts(rule, threshold, seen))
    }

    fn counts(&mut self, rule: &Rule, threshold: Threshold, seen: &Seen<'_>) -> bool {
        let Threshold { kind, track, count, seconds } = threshold;
        let (from, to, now) = (Some(seen.source.0), Some(seen.destination.0), seen.time);
        let (source, destination, flow) = match track {
            Track::Source => (from, None, None),
            Track::Destination => (None, to, None),
            Track::Both => (from, to, None),
            Track::Rule => (None, None, None),
            Track::Flow => (None, None, seen.key.map(|key| flow_id(&key, seen.start))),
        };
        if self.0.len() >= MOST {
            self.0.pop_lru();
        }
        let begin = Count { since: now, matches: 0, next: count };
        let key = (rule.gid, rule.sid, kind == ThresholdKind::Filter, source, destination, flow);
        let counted = self.0.get_or_insert_mut(key, || begin);
        if now.saturating_sub(counted.since) >= u64::from(seconds) * SECOND {
            *counted = begin;
        }
        counted.matches = counted.matches.saturating_add(1);
        match kind {
            ThresholdKind::Limit => counted.matches <= count,
            ThresholdKind::Both => counted.matches == count,
            ThresholdKind::Backoff(multiplier) => {
                let due = counted.matches == counted.next;
                counted.next = if due { counted.next.saturating_mul(multiplier) } else { counted.next };
                due
            }
            ThresholdKind::Filter => counted.matches > count,
            ThresholdKind::Threshold => {
                let due = counted.matches >= count;
                counted.matches = if due { 0 } else { counted.matches };
                due
            }
        }
    }
}
