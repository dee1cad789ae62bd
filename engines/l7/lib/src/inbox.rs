// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Messages that arrive: puts them together from their packets, recognizes those that come again, and keeps whole ones
//! until the program takes them. Behind a card each message is one packet already.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::header::Header;
use crate::message::Message;

/// The limits of what an endpoint keeps of messages that arrive. A sender is an address with its UDP port, and an
/// application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Senders. A new one displaces the sender that was silent longest, with its unfinished messages.
    pub senders: usize,
    /// Numbers of the last messages of a sender, 4 bytes each. A message with one of these numbers comes again.
    pub known: usize,
    /// Bytes of a sender's messages that are unfinished or wait for the program, and of replies to it. An unfinished
    /// message takes 1,024 bytes beside its payload, a whole one or a reply 256. If room is short, the oldest replies
    /// are forgotten first, then unfinished messages.
    pub each: usize,
    /// Bytes of all senders' messages and replies, counted alike.
    pub all: usize,
    /// Time for the packets of a message to arrive.
    pub unfinished: Duration,
    /// Bytes of payload of the longest message.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            senders: 16_384,
            known: 1024,
            each: 1 << 20,
            all: 64 << 20,
            unfinished: Duration::from_secs(10),
            bytes: crate::message::LONGEST,
        }
    }
}

/// Bytes that an unfinished message takes beside its payload.
const UNFINISHED: usize = 1024;
/// Bytes that a whole message takes beside its payload, and a reply beside its datagrams.
const WHOLE: usize = 256;

/// Address and application.
type Key = (SocketAddr, u8);

/// A message of which packets are missing.
#[derive(Debug)]
struct Unfinished {
    /// Its place in the order of all.
    stamp: u64,
    began: Instant,
    id: u32,
    parts: Vec<Option<Vec<u8>>>,
    bytes: usize,
}

impl Unfinished {
    fn cost(&self) -> usize {
        UNFINISHED + self.bytes
    }

    fn arrived(&self) -> u32 {
        self.parts.iter().enumerate().fold(0, |bits, (at, part)| bits | u32::from(part.is_some()) << at)
    }
}

/// A reply to a message, to be sent again if the message comes again.
#[derive(Debug)]
struct Reply {
    /// Its place in the order of all.
    stamp: u64,
    id: u32,
    datagrams: Vec<Vec<u8>>,
}

impl Reply {
    fn cost(&self) -> usize {
        WHOLE + self.datagrams.iter().map(Vec::len).sum::<usize>()
    }
}

#[derive(Debug, Default)]
struct Sender {
    /// Its place in the order of senders.
    stamp: u64,
    /// Its stamp when it came: a sender that was displaced and comes again has another one.
    came: u64,
    /// Oldest first.
    unfinished: VecDeque<Unfinished>,
    /// Oldest first.
    known: VecDeque<u32>,
    /// Oldest first.
    replies: VecDeque<Reply>,
    cost: usize,
}

/// A whole message, as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Whole {
    pub from: SocketAddr,
    pub application: u8,
    pub of_type: u8,
    pub id: u32,
    pub acked: u32,
    pub quiet: bool,
    pub payload: Vec<u8>,
}

/// The effect of a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Added {
    /// Packets are missing; these have arrived, bit i for packet i.
    Waits(u32),
    /// The message is whole and waits for the program.
    Kept,
    /// The message is whole and was asked for.
    Asked(Whole),
    /// The message was whole before.
    Again,
    /// The packet contradicts those before it, its message is too long, or its fields are wrong.
    Wrong,
    /// There is no room for the message.
    Full,
}

/// What has arrived.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    limits: Limits,
    senders: HashMap<Key, Sender>,
    /// Senders by their stamp: the sender that was silent longest is first.
    silent: BTreeMap<u64, Key>,
    /// Unfinished messages by their stamp.
    oldest: BTreeMap<u64, Key>,
    /// Replies by their stamp.
    replies: BTreeMap<u64, Key>,
    stamp: u64,
    /// Messages that wait for the program, with their senders' `came`.
    ready: VecDeque<(u64, Whole)>,
    cost: usize,
    /// Unfinished messages that were given up.
    given_up: u64,
}

impl Inbox {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// The oldest message that waits for the program.
    pub(crate) fn take(&mut self) -> Option<Whole> {
        let (came, whole) = self.ready.pop_front()?;
        let cost = WHOLE + whole.payload.len();
        self.cost -= cost;
        if let Some(sender) = self.senders.get_mut(&(whole.from, whole.application)).filter(|one| one.came == came) {
            sender.cost -= cost;
        }
        Some(whole)
    }

    /// Keeps a reply to a message, if there is room.
    pub(crate) fn keep_reply(&mut self, from: SocketAddr, application: u8, id: u32, datagrams: Vec<Vec<u8>>) {
        let key = (from, application);
        if !self.senders.get(&key).is_some_and(|sender| sender.known.contains(&id)) {
            return;
        }
        self.stamp += 1;
        let reply = Reply { stamp: self.stamp, id, datagrams };
        if self.senders[&key].replies.len() >= self.limits.known {
            self.forget_reply(key);
        }
        if self.make_room(key, reply.cost(), None) {
            self.charge(key, reply.cost());
            self.replies.insert(reply.stamp, key);
            self.sender(key).replies.push_back(reply);
        }
    }

    /// The reply to a message, if it is known.
    pub(crate) fn reply(&self, from: SocketAddr, application: u8, id: u32) -> Option<&[Vec<u8>]> {
        let replies = &self.senders.get(&(from, application))?.replies;
        replies.iter().rev().find(|reply| reply.id == id).map(|reply| &reply.datagrams[..])
    }

    /// Forgets the oldest reply to a sender; returns whether there was one.
    fn forget_reply(&mut self, key: Key) -> bool {
        let sender = self.sender(key);
        let Some(reply) = sender.replies.pop_front() else { return false };
        sender.cost -= reply.cost();
        self.cost -= reply.cost();
        self.replies.remove(&reply.stamp);
        true
    }

    pub(crate) fn given_up(&self) -> u64 {
        self.given_up
    }

    /// Adds a packet. `asked`: the program waits for this message elsewhere, so it needs no room here.
    pub(crate) fn add(
        &mut self,
        now: Instant,
        from: SocketAddr,
        header: &Header,
        payload: &[u8],
        asked: bool,
    ) -> Added {
        while let Some((_, key)) = self.oldest.first_key_value()
            && let Some(first) = self.senders.get(key).and_then(|sender| sender.unfinished.front())
            && now.duration_since(first.began) >= self.limits.unfinished
        {
            self.give_up_oldest();
        }
        let key = (from, header.application);
        let sender = self.senders.get(&key);
        if sender.is_some_and(|sender| sender.known.contains(&header.id)) {
            self.touch(key);
            return Added::Again;
        }
        if header.count == 1 && !sender.is_some_and(|sender| sender.unfinished.iter().any(|one| one.id == header.id)) {
            return self.complete(key, header, payload.to_vec(), asked);
        }
        self.touch(key);
        self.add_part(now, key, header, payload, asked)
    }

    fn add_part(&mut self, now: Instant, key: Key, header: &Header, payload: &[u8], asked: bool) -> Added {
        let count = usize::from(header.count);
        let place = self.senders[&key].unfinished.iter().position(|one| one.id == header.id);
        if place.is_none() {
            if !self.make_room(key, UNFINISHED + payload.len(), None) {
                return Added::Full;
            }
            self.stamp += 1;
            let parts = vec![None; count];
            let new = Unfinished { stamp: self.stamp, began: now, id: header.id, parts, bytes: 0 };
            self.charge(key, UNFINISHED);
            self.oldest.insert(new.stamp, key);
            self.sender(key).unfinished.push_back(new);
        } else if !self.make_room(key, payload.len(), Some(header.id)) {
            return Added::Full;
        }
        let limit = self.limits.bytes;
        let sender = self.sender(key);
        let Some(at) = sender.unfinished.iter().position(|one| one.id == header.id) else { return Added::Full };
        let one = &mut sender.unfinished[at];
        // The first packet to arrive has the number of packets.
        let same = one.parts.len() == count;
        match one.parts.get_mut(usize::from(header.number)).filter(|_| same) {
            Some(Some(_)) => return Added::Waits(one.arrived()),
            Some(part) if one.bytes + payload.len() <= limit => *part = Some(payload.to_vec()),
            _ => return Added::Wrong,
        }
        one.bytes += payload.len();
        let (arrived, whole) = (one.arrived(), one.parts.iter().all(Option::is_some));
        self.charge(key, payload.len());
        if !whole {
            return Added::Waits(arrived);
        }
        let Some(done) = self.remove(key, at) else { return Added::Full };
        let payload: Vec<u8> = done.parts.into_iter().flatten().flatten().collect();
        self.complete(key, header, payload, asked)
    }

    /// A message is whole. If there is no room for it, it is given up: its sender sends it again.
    fn complete(&mut self, key: Key, header: &Header, payload: Vec<u8>, asked: bool) -> Added {
        if payload.len() > self.limits.bytes || !Message::is_readable(&payload) {
            return Added::Wrong;
        }
        self.touch(key);
        let cost = WHOLE + payload.len();
        if !asked && !self.make_room(key, cost, None) {
            return Added::Full;
        }
        let known = self.limits.known;
        let sender = self.sender(key);
        if sender.known.len() >= known {
            sender.known.pop_front();
        }
        sender.known.push_back(header.id);
        let Header { application, of_type, id, acked, quiet, .. } = *header;
        let whole = Whole { from: key.0, application, of_type, id, acked, quiet, payload };
        if asked {
            return Added::Asked(whole);
        }
        self.charge(key, cost);
        let came = self.sender(key).came;
        self.ready.push_back((came, whole));
        Added::Kept
    }

    fn sender(&mut self, key: Key) -> &mut Sender {
        self.senders.entry(key).or_default()
    }

    fn charge(&mut self, key: Key, bytes: usize) {
        self.cost += bytes;
        self.sender(key).cost += bytes;
    }

    /// A packet of this sender came: it is the last one to be displaced. A new one displaces another.
    fn touch(&mut self, key: Key) {
        let new = !self.senders.contains_key(&key);
        if let Some(sender) = self.senders.get(&key) {
            self.silent.remove(&sender.stamp);
        } else if self.senders.len() >= self.limits.senders
            && let Some((_, other)) = self.silent.pop_first()
        {
            while self.senders.get(&other).is_some_and(|sender| !sender.unfinished.is_empty()) {
                self.given_up += 1;
                self.remove(other, 0);
            }
            while self.forget_reply(other) {}
            self.senders.remove(&other);
        }
        self.stamp += 1;
        let stamp = self.stamp;
        let sender = self.sender(key);
        sender.stamp = stamp;
        if new {
            sender.came = stamp;
        }
        self.silent.insert(stamp, key);
    }

    fn remove(&mut self, key: Key, at: usize) -> Option<Unfinished> {
        let sender = self.senders.get_mut(&key)?;
        let one = sender.unfinished.remove(at)?;
        sender.cost -= one.cost();
        self.cost -= one.cost();
        self.oldest.remove(&one.stamp);
        Some(one)
    }

    fn give_up_oldest(&mut self) {
        if let Some((_, key)) = self.oldest.pop_first() {
            self.given_up += 1;
            self.remove(key, 0);
        }
    }

    /// Forgets replies and then gives up unfinished messages, the oldest first, until there is room: those of the
    /// sender if it has used its share, otherwise those of all. Message `keep` of the sender stays.
    fn make_room(&mut self, key: Key, bytes: usize, keep: Option<u32>) -> bool {
        while self.sender(key).cost + bytes > self.limits.each {
            if self.forget_reply(key) {
                continue;
            }
            let Some(at) = self.sender(key).unfinished.iter().position(|one| Some(one.id) != keep) else {
                return false;
            };
            self.given_up += 1;
            self.remove(key, at);
        }
        while self.cost + bytes > self.limits.all {
            if let Some((_, other)) = self.replies.pop_first() {
                self.forget_reply(other);
                continue;
            }
            let kept = |stamp: u64, other: Key| {
                let one = self.senders[&other].unfinished.iter().find(|one| one.stamp == stamp);
                other == key && one.is_some_and(|one| Some(one.id) == keep)
            };
            let Some((&stamp, &other)) = self.oldest.iter().find(|(stamp, other)| !kept(**stamp, **other)) else {
                return false;
            };
            let at = self.senders[&other].unfinished.iter().position(|one| one.stamp == stamp);
            self.given_up += 1;
            self.remove(other, at.unwrap_or(0));
        }
        true
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn header(id: u32, count: u8, number: u8) -> Header {
        Header { id, count, number, ..Header::default() }
    }

    fn host(number: u16) -> SocketAddr {
        SocketAddr::from(([10, 0, (number >> 8) as u8, number as u8], 1))
    }

    impl Inbox {
        fn put(&mut self, from: SocketAddr, header: &Header, payload: &[u8]) -> Added {
            let added = self.add(Instant::now(), from, header, payload, false);
            self.check();
            added
        }

        /// The sums are those of what is kept, and within the limits.
        fn check(&self) {
            let cost = |whole: &Whole| WHOLE + whole.payload.len();
            let mut all = self.ready.iter().map(|(_, whole)| cost(whole)).sum::<usize>();
            for sender in self.senders.values() {
                let unfinished = sender.unfinished.iter().map(Unfinished::cost).sum::<usize>();
                let ready = self.ready.iter().filter(|(came, _)| *came == sender.came).map(|(_, whole)| cost(whole));
                let replies = sender.replies.iter().map(Reply::cost).sum::<usize>();
                assert_eq!(sender.cost, unfinished + replies + ready.sum::<usize>());
                all += replies;
                assert!(sender.replies.len() <= self.limits.known);
                assert!(sender.cost <= self.limits.each);
                assert!(sender.known.len() <= self.limits.known);
                all += unfinished;
            }
            assert_eq!(self.cost, all);
            assert!(self.cost <= self.limits.all && self.senders.len() <= self.limits.senders);
            assert_eq!(self.silent.len(), self.senders.len());
            assert_eq!(self.replies.len(), self.senders.values().map(|sender| sender.replies.len()).sum::<usize>());
            assert_eq!(self.oldest.len(), self.senders.values().map(|sender| sender.unfinished.len()).sum::<usize>());
        }
    }

    #[test]
    fn packets_come_in_any_order() {
        let (a, b) = (host(1), host(2));
        let mut all = Inbox::new(Limits::default());
        assert_eq!(all.put(a, &header(1, 2, 1), b"\0"), Added::Waits(2));
        assert_eq!(all.put(b, &header(1, 2, 0), b"\x01\x01"), Added::Waits(1));
        assert_eq!(all.put(a, &header(1, 2, 1), b"xx"), Added::Waits(2));
        assert_eq!(all.put(a, &header(1, 3, 2), b"xx"), Added::Wrong);
        assert_eq!(all.put(a, &header(1, 3, 0), b"xx"), Added::Wrong);
        assert_eq!(all.put(a, &header(1, 2, 0), b"\x01"), Added::Kept);
        assert_eq!(all.put(b, &header(1, 2, 1), b"b"), Added::Kept);
        assert_eq!(
            (all.take().unwrap().payload, all.take().unwrap().payload),
            (b"\x01\0".to_vec(), b"\x01\x01b".to_vec())
        );
        assert_eq!(all.put(a, &header(1, 2, 0), b"\x01"), Added::Again);
        assert_eq!(all.put(a, &header(2, 3, 0), &[0; 16_000]), Added::Waits(1));
        assert_eq!(all.put(a, &header(2, 3, 1), &[0; 257]), Added::Wrong);
        // Numbers of applications are numbers of their own.
        assert_eq!(all.put(a, &Header { application: 1, ..header(1, 1, 0) }, b"\x01\0"), Added::Kept);
    }

    #[test]
    fn wrong_fields_are_no_message() {
        let mut all = Inbox::new(Limits::default());
        assert_eq!(all.put(host(1), &header(1, 1, 0), b"\x01\x05abc"), Added::Wrong);
        assert_eq!(all.put(host(1), &header(2, 2, 0), b"\x01\x05abc"), Added::Waits(1));
        assert_eq!(all.put(host(1), &header(2, 2, 1), b"d"), Added::Wrong);
        assert_eq!(all.put(host(1), &header(1, 1, 0), &[0; 16_257]), Added::Wrong);
        assert!(all.take().is_none());
        assert_eq!(all.put(host(1), &header(1, 1, 0), b"\x01\x03abc"), Added::Kept);
    }

    #[test]
    fn a_repetition_is_known_as_long_as_its_sender_may_send_it() {
        let mut all = Inbox::new(Limits::default());
        let ahead = crate::outbox::AHEAD as u32;
        assert_eq!(all.put(host(1), &header(7, 1, 0), b"x"), Added::Kept);
        // Messages that began before it and arrive later, and those that may begin behind it.
        for id in 1000..1000 + 2 * (ahead - 1) {
            assert_eq!(all.put(host(1), &header(id, 1, 0), b"x"), Added::Kept);
            all.take().unwrap();
        }
        assert_eq!(all.put(host(1), &header(7, 1, 0), b"x"), Added::Again);
    }

    #[test]
    fn a_sender_takes_its_share_and_not_more() {
        let limits = Limits { each: 4 * UNFINISHED + 100, all: 8 * UNFINISHED, ..Limits::default() };
        let mut all = Inbox::new(limits);
        assert_eq!(all.put(host(2), &header(1, 2, 0), b"\0"), Added::Waits(1));
        for id in 0..100 {
            assert_eq!(all.put(host(1), &header(id, 2, 0), b"\0"), Added::Waits(1));
            assert!(all.senders[&(host(1), 0)].unfinished.len() <= 4);
        }
        assert_eq!(all.given_up(), 96);
        // Its oldest were given up, those of others were not.
        assert_eq!(all.put(host(1), &header(99, 2, 1), b"\0"), Added::Kept);
        assert_eq!(all.put(host(1), &header(0, 2, 1), b"\0"), Added::Waits(2));
        assert_eq!(all.put(host(2), &header(1, 2, 1), b"\0"), Added::Kept);
        // Whole messages wait as long as there is room, and are taken in their order.
        let mut ids = 200..;
        let full = ids.find(|id| all.put(host(1), &header(*id, 1, 0), &[0; 300]) == Added::Full).unwrap();
        assert_eq!(all.senders[&(host(1), 0)].unfinished.len(), 0);
        let taken: Vec<u32> = std::iter::from_fn(|| all.take().map(|whole| whole.id)).collect();
        assert_eq!(taken, [99, 1].into_iter().chain(200..full).collect::<Vec<_>>());
        assert_eq!(all.put(host(1), &header(full, 1, 0), &[0; 300]), Added::Kept);
    }

    #[test]
    fn all_senders_take_their_limit_and_not_more() {
        let limits = Limits { senders: 50, all: 20 * UNFINISHED, known: 2, ..Limits::default() };
        let mut all = Inbox::new(limits);
        for sender in 0..200 {
            assert_eq!(all.put(host(sender), &header(1, 2, 0), b"\0"), Added::Waits(1));
        }
        assert_eq!(all.senders.len(), 50);
        assert_eq!(all.oldest.len(), 19);
        // The messages of the last ones are there, the others were given up.
        assert_eq!(all.put(host(199), &header(1, 2, 1), b"\0"), Added::Kept);
        assert_eq!(all.put(host(170), &header(1, 2, 1), b"\0"), Added::Waits(2));
        // 48 other senders beside the last one come, and the one after that displaces the sender.
        for (sender, wanted) in [(1000..1048, Added::Again), (1500..1549, Added::Again), (2000..2050, Added::Kept)] {
            for other in sender {
                assert_eq!(all.put(host(other), &header(1, 1, 0), b"\0"), Added::Kept);
                all.take().unwrap();
            }
            assert_eq!(all.put(host(199), &header(1, 1, 0), b"\0"), wanted);
        }
        for id in 200..300 {
            assert_eq!(all.put(host(199), &header(id, 1, 0), b"\0"), Added::Kept);
            all.take().unwrap();
        }
        assert_eq!(all.put(host(199), &header(298, 1, 0), b"\0"), Added::Again);
        assert_eq!(all.put(host(199), &header(297, 1, 0), b"\0"), Added::Kept);
    }

    #[test]
    fn an_unfinished_message_has_its_time() {
        let mut all = Inbox::new(Limits::default());
        let now = Instant::now();
        assert_eq!(all.add(now, host(1), &header(1, 2, 0), b"\0", false), Added::Waits(1));
        let later = now + Duration::from_millis(9_999);
        assert_eq!(all.add(later, host(2), &header(1, 2, 0), b"\0", false), Added::Waits(1));
        assert_eq!(all.given_up(), 0);
        let later = now + Duration::from_secs(10);
        assert_eq!(all.add(later, host(1), &header(1, 2, 1), b"\0", false), Added::Waits(2));
        assert_eq!(all.given_up(), 1);
        all.check();
    }

    /// Packets at random, most of them hostile, within small limits.
    #[test]
    fn sums_hold_under_random_packets() {
        let mut random = 88_172_645_463_325_252_u64;
        let mut number = |below: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random >> 20) % below
        };
        let limits = Limits { senders: 6, known: 3, each: 6000, all: 14_000, ..Limits::default() };
        let mut all = Inbox::new(limits);
        let (mut whole, mut replies) = (0, 0);
        for _ in 0..200_000 {
            let count = 1 + number(4) as u8;
            let header = header(number(12) as u32, count, number(u64::from(count)) as u8);
            let payload = vec![0; 2 * number(800) as usize + 2];
            whole += u32::from(all.put(host(number(9) as u16), &header, &payload) == Added::Kept);
            if number(8) == 0
                && let Some(whole) = all.take()
            {
                all.keep_reply(whole.from, whole.application, whole.id, vec![vec![0; number(1000) as usize]]);
                all.check();
                replies += u32::from(all.reply(whole.from, whole.application, whole.id).is_some());
            }
        }
        assert!(replies > 100, "{replies}");
        assert!(whole > 1000 && all.given_up() > 1000, "{whole} {}", all.given_up());
    }

    #[test]
    fn replies_are_kept_for_their_messages() {
        let limits = Limits { each: 2000, known: 3, ..Limits::default() };
        let mut all = Inbox::new(limits);
        let ask = |all: &mut Inbox, id: u32, bytes: usize| {
            assert_eq!(all.put(host(1), &header(id, 1, 0), b"\0"), Added::Kept);
            all.take().unwrap();
            all.keep_reply(host(1), 0, id, vec![vec![id as u8; bytes]]);
            all.check();
        };
        ask(&mut all, 1, 10);
        assert_eq!(all.reply(host(1), 0, 1), Some(&[vec![1; 10]][..]));
        assert_eq!((all.reply(host(2), 0, 1), all.reply(host(1), 1, 1), all.reply(host(1), 0, 2)), (None, None, None));
        // A message that nobody sent has no reply.
        all.keep_reply(host(1), 0, 9, vec![vec![0]]);
        all.keep_reply(host(2), 0, 1, vec![vec![0]]);
        assert_eq!((all.reply(host(1), 0, 9), all.senders.len()), (None, 1));
        for id in 2..=4 {
            ask(&mut all, id, 10);
        }
        assert_eq!((all.reply(host(1), 0, 1), all.reply(host(1), 0, 2).is_some()), (None, true));
        // A long one displaces older ones, and so does a message.
        ask(&mut all, 5, 1300);
        assert_eq!((all.reply(host(1), 0, 3), all.reply(host(1), 0, 4).is_some()), (None, true));
        assert_eq!(all.put(host(1), &header(6, 1, 0), &[0; 1600]), Added::Kept);
        assert_eq!(all.reply(host(1), 0, 5), None);
        all.check();
    }
}
