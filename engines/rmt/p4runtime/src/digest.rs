// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Lists of messages for controllers: when a list is sent, and which messages are not sent again until the controller acknowledges them.

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

use penstock_rmt_compiler::ir::DigestId;

use crate::bits;
use crate::proto::p4::v1::{P4Data, P4StructLike, p4_data};
use crate::switch::DigestConfig;

/// A message: a value for each field.
type Message = Vec<u128>;

/// A list that was sent and is not acknowledged.
struct Sent {
    list: u64,
    messages: HashSet<Message>,
    /// Its messages may be sent again from then on.
    until: Instant,
}

/// Messages of one kind.
#[derive(Default)]
struct Kind {
    waiting: Vec<Message>,
    /// When the first message that waits came.
    since: Option<Instant>,
    sent: Vec<Sent>,
}

/// Messages of a device.
#[derive(Default)]
pub(crate) struct Digests {
    kinds: BTreeMap<DigestId, Kind>,
    /// Number of the last list.
    last: u64,
}

impl Digests {
    /// Takes new messages of a kind; gives lists that are to be sent now, with their numbers.
    pub(crate) fn take(
        &mut self,
        digest: DigestId,
        config: DigestConfig,
        new: Vec<Message>,
        now: Instant,
    ) -> Vec<(u64, Vec<Message>)> {
        let kind = self.kinds.entry(digest).or_default();
        kind.sent.retain(|list| now < list.until);
        for message in new {
            let known =
                kind.waiting.contains(&message) || kind.sent.iter().any(|list| list.messages.contains(&message));
            if !known {
                kind.waiting.push(message);
                kind.since.get_or_insert(now);
            }
        }
        let most = if config.max_list == 0 { usize::MAX } else { config.max_list as usize };
        let wait = Duration::from_nanos(config.max_wait_ns);
        let mut lists = Vec::new();
        while !kind.waiting.is_empty()
            && (kind.waiting.len() >= most || kind.since.is_some_and(|since| now.duration_since(since) >= wait))
        {
            let messages: Vec<Message> = kind.waiting.drain(..most.min(kind.waiting.len())).collect();
            self.last += 1;
            if config.ack_wait_ns != 0 {
                let until = now + Duration::from_nanos(config.ack_wait_ns);
                kind.sent.push(Sent { list: self.last, messages: messages.iter().cloned().collect(), until });
            }
            lists.push((self.last, messages));
        }
        if kind.waiting.is_empty() {
            kind.since = None;
        }
        lists
    }

    /// Notes that a controller has acknowledged a list. One that is not known was acknowledged before, or its time is over.
    pub(crate) fn acknowledge(&mut self, digest: DigestId, list: u64) {
        if let Some(kind) = self.kinds.get_mut(&digest) {
            kind.sent.retain(|sent| sent.list != list);
        }
    }

    /// Forgets messages of kinds that are not sent any more.
    pub(crate) fn keep(&mut self, digests: &[DigestId]) {
        self.kinds.retain(|digest, _| digests.contains(digest));
    }
}

/// A message as data of P4Runtime: a struct.
pub(crate) fn data(values: &[u128]) -> P4Data {
    let member = |value: &u128| P4Data { data: Some(p4_data::Data::Bitstring(bits::write(*value))) };
    let members = values.iter().map(member).collect();
    P4Data { data: Some(p4_data::Data::Struct(P4StructLike { members })) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn lists_are_sent_when_they_are_full_or_old() {
        let mut digests = Digests::default();
        let config = DigestConfig { max_wait_ns: 10 * MS, max_list: 2, ack_wait_ns: 0 };
        let start = Instant::now();
        let mut take = |new: Vec<Message>, ms| digests.take(0, config, new, start + Duration::from_millis(ms));
        assert_eq!(take(vec![vec![1]], 0), []);
        assert_eq!(take(vec![], 9), []);
        assert_eq!(take(vec![], 10), [(1, vec![vec![1]])]);
        assert_eq!(take(vec![vec![1], vec![2], vec![3]], 11), [(2, vec![vec![1], vec![2]])]);
        // The third one has waited since then.
        assert_eq!(take(vec![], 20), []);
        assert_eq!(take(vec![], 21), [(3, vec![vec![3]])]);
    }

    #[test]
    fn messages_come_once_until_they_are_acknowledged() {
        let mut digests = Digests::default();
        let config = DigestConfig { max_wait_ns: 0, max_list: 0, ack_wait_ns: 100 * MS };
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        assert_eq!(digests.take(0, config, vec![vec![1], vec![1]], at(0)), [(1, vec![vec![1]])]);
        assert_eq!(digests.take(0, config, vec![vec![1], vec![2]], at(1)), [(2, vec![vec![2]])]);
        digests.acknowledge(0, 2);
        digests.acknowledge(0, 99);
        digests.acknowledge(7, 1);
        assert_eq!(digests.take(0, config, vec![vec![1], vec![2]], at(2)), [(3, vec![vec![2]])]);
        // The first list was never acknowledged.
        assert_eq!(digests.take(0, config, vec![vec![1]], at(99)), []);
        assert_eq!(digests.take(0, config, vec![vec![1]], at(100)), [(4, vec![vec![1]])]);
        digests.keep(&[]);
        assert_eq!(digests.take(0, config, vec![vec![1]], at(101)), [(5, vec![vec![1]])]);
    }
}
