// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The memory that rules share: bits and counters of flows, and bits of addresses.

use std::net::IpAddr;
use std::sync::Arc;

use lru::LruCache;
use penstock_ids_compiler::rule::{FlowBit, FlowCount, HostBit, HostBitDo, HostTrack, Rule};
use penstock_streams::Way;

/// Bits of addresses that are kept; the one that was idle longest makes room.
const MOST: usize = 1 << 16;
const SECOND: u64 = 1_000_000_000;

/// The rules' memory of a flow. It has no more names than the rules have.
#[derive(Debug, Clone, Default)]
pub(crate) struct FlowMemory {
    /// Names of the bits that are set.
    bits: Vec<Arc<str>>,
    counts: Vec<(Arc<str>, u32)>,
    /// Groups and numbers of the rules that match once and have matched, by direction.
    once: [Vec<(u32, u32)>; 2],
}

impl FlowMemory {
    /// Names of the bits that are set.
    pub(crate) fn bits(&self) -> impl Iterator<Item = &str> {
        self.bits.iter().map(|name| &**name)
    }

    fn count(&self, name: &Arc<str>) -> Option<u32> {
        self.counts.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    fn set(&mut self, name: &Arc<str>, value: u32) {
        match self.counts.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = value,
            None => self.counts.push((Arc::clone(name), value)),
        }
    }

    /// Whether a rule that matches once has matched in a direction.
    pub(crate) fn is_done(&self, rule: &Rule, way: Way) -> bool {
        rule.once && self.once[way as usize].contains(&(rule.gid, rule.sid))
    }

    /// Remembers that such a rule has matched.
    pub(crate) fn done(&mut self, rule: &Rule, way: Way) {
        if rule.once {
            self.once[way as usize].push((rule.gid, rule.sid));
        }
    }

    /// Whether the flow is as a rule asks.
    pub(crate) fn fits(&self, rule: &Rule) -> bool {
        let bits = rule.bits.iter().all(|bit| match bit {
            FlowBit::IsSet(names) => names.iter().any(|name| self.bits.contains(name)),
            FlowBit::IsNotSet(names) => !names.iter().any(|name| self.bits.contains(name)),
            _ => true,
        });
        bits && rule.counts.iter().all(|count| match count {
            FlowCount::Is(name, within) => self.count(name).is_some_and(|value| within.holds(value)),
            FlowCount::IsSet(name, set) => self.count(name).is_some() == *set,
            _ => true,
        })
    }

    /// Changes what a rule that matched says.
    pub(crate) fn change(&mut self, rule: &Rule) {
        for bit in &rule.bits {
            let (FlowBit::Set(name) | FlowBit::Unset(name) | FlowBit::Toggle(name)) = bit else { continue };
            let was = self.bits.iter().position(|known| known == name);
            match (bit, was) {
                (FlowBit::Set(_) | FlowBit::Toggle(_), None) => self.bits.push(Arc::clone(name)),
                (FlowBit::Unset(_) | FlowBit::Toggle(_), Some(at)) => drop(self.bits.remove(at)),
                _ => {}
            }
        }
        for count in &rule.counts {
            let now = |name| self.count(name).unwrap_or_default();
            match count {
                FlowCount::Set(name, value) => self.set(name, *value),
                FlowCount::Add(name, value) => self.set(name, now(name).saturating_add(*value)),
                FlowCount::Subtract(name, value) => self.set(name, now(name).saturating_sub(*value)),
                FlowCount::Is(..) | FlowCount::IsSet(..) => {}
            }
        }
    }
}

/// Name of a bit, and whose it is.
type Key = (Arc<str>, IpAddr, Option<IpAddr>);

/// Bits of addresses that are set, with the times in ns at which they stop being so.
#[derive(Debug)]
pub(crate) struct HostBits(LruCache<Key, u64>);

impl Default for HostBits {
    fn default() -> Self {
        Self(LruCache::unbounded())
    }
}

fn key(bit: &HostBit, source: IpAddr, destination: IpAddr) -> Key {
    let name = Arc::clone(&bit.name);
    match bit.track {
        HostTrack::Source => (name, source, None),
        HostTrack::Destination => (name, destination, None),
        HostTrack::Pair => (name, source.min(destination), Some(source.max(destination))),
    }
}

impl HostBits {
    fn is_set(&self, key: &Key, now: u64) -> bool {
        self.0.peek(key).is_some_and(|until| now < *until)
    }

    /// Whether the bits are as a rule asks.
    pub(crate) fn fit(&self, rule: &Rule, source: IpAddr, destination: IpAddr, now: u64) -> bool {
        rule.host_bits.iter().all(|bit| {
            let set = || self.is_set(&key(bit, source, destination), now);
            match bit.what {
                HostBitDo::IsSet => set(),
                HostBitDo::IsNotSet => !set(),
                _ => true,
            }
        })
    }

    /// Changes what a rule that matched says.
    pub(crate) fn change(&mut self, rule: &Rule, source: IpAddr, destination: IpAddr, now: u64) {
        for bit in &rule.host_bits {
            let key = key(bit, source, destination);
            let set = match bit.what {
                HostBitDo::Set => true,
                HostBitDo::Unset => false,
                HostBitDo::Toggle => !self.is_set(&key, now),
                HostBitDo::IsSet | HostBitDo::IsNotSet => continue,
            };
            if set {
                if self.0.len() >= MOST {
                    self.0.pop_lru();
                }
                self.0.put(key, now.saturating_add(u64::from(bit.expire) * SECOND));
            } else {
                self.0.pop(&key);
            }
        }
    }
}
