// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Messages that were sent and are not acknowledged: when their packets are sent, and sent again.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// How an endpoint sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// The time after which a message is given up, if the call that sends it names none.
    pub deadline: Duration,
    /// The time until a message is sent again for the first time, as long as no answer of its destination was measured;
    /// then it follows the measured times. It doubles with each repetition.
    pub first: Duration,
    /// The shortest such time. It is at least 1 ms and at most a day, whatever is set here.
    pub shortest: Duration,
    /// The longest such time. It is at least the shortest one and at most a day, whatever is set here.
    pub longest: Duration,
    /// Packets without an acknowledgement for each destination. A message is sent as a whole: if it has more packets,
    /// it is sent when no other message is on its way.
    pub window: usize,
    /// Bytes of messages without an acknowledgement, of all destinations.
    pub unsent: usize,
    /// Whether the endpoint acknowledges a message when it arrives. Otherwise [`crate::Endpoint::answer`] and
    /// [`crate::Endpoint::acknowledge`] do, and the endpoint itself if the message arrives again.
    pub acknowledge: bool,
    /// The limits of what the endpoint keeps of messages that arrive.
    pub limits: crate::Limits,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(5),
            first: Duration::from_millis(100),
            shortest: Duration::from_millis(10),
            longest: Duration::from_secs(1),
            window: 64,
            unsent: 64 << 20,
            acknowledge: true,
            limits: crate::Limits::default(),
        }
    }
}

const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

impl Settings {
    /// The time until a message is sent again, when it was sent again so often.
    fn wait(&self, times: Option<(Duration, Duration)>, repeats: u32) -> Duration {
        let shortest = self.shortest.clamp(SHORTEST, LONGEST);
        let longest = self.longest.clamp(shortest, LONGEST);
        let wait = times.map_or(self.first, |(mean, deviation)| mean.saturating_add(deviation.saturating_mul(4)));
        wait.max(shortest).saturating_mul(2_u32.saturating_pow(repeats.min(16))).min(longest)
    }
}

/// Messages to one destination that may begin behind the oldest one without an acknowledgement. With
/// [`crate::Limits::known`] of the receiver it keeps repetitions apart from new messages.
pub(crate) const AHEAD: u64 = 512;
/// Destinations without messages whose times are remembered.
const PEERS: usize = 4096;
/// Bytes that a message takes beside its datagrams.
const OVERHEAD: usize = 256;

/// More messages than an outbox with these settings has room for.
pub(crate) fn most_messages(settings: &Settings) -> usize {
    settings.unsent / OVERHEAD + 1
}

#[derive(Debug)]
struct Outgoing {
    to: SocketAddr,
    datagrams: Vec<Vec<u8>>,
    /// Packets that have arrived.
    arrived: u32,
    /// Place among the messages to its destination, when it has begun.
    place: u64,
    began: Option<Instant>,
    repeats: u32,
    /// Whether its answer ends it, and not an acknowledgement.
    call: bool,
    /// When it is sent again; without a meaning until it has begun.
    due: Instant,
    end: Option<Instant>,
    /// Its entry in the timers.
    timer: Option<Instant>,
}

impl Outgoing {
    fn cost(&self) -> usize {
        OVERHEAD + self.datagrams.iter().map(Vec::len).sum::<usize>()
    }
}

/// A destination.
#[derive(Debug, Default)]
struct Peer {
    /// Mean of the measured times, and their mean deviation.
    times: Option<(Duration, Duration)>,
    /// Messages that have not begun, oldest first.
    waiting: VecDeque<u32>,
    /// Messages among them that were removed since. They are at most half.
    gone: usize,
    /// Messages on their way, in the order in which they began.
    flying: VecDeque<u32>,
    packets: usize,
    begun: u64,
}

impl Peer {
    fn measured(&mut self, time: Duration) {
        // As TCP does (RFC 6298).
        self.times = Some(match self.times {
            None => (time, time / 2),
            Some((mean, deviation)) => (mean * 7 / 8 + time / 8, deviation * 3 / 4 + mean.abs_diff(time) / 4),
        });
    }
}

/// The datagrams that are due after [`Outbox::advance`], and the messages that it gave up.
#[derive(Debug, Default)]
pub(crate) struct Advance {
    /// Datagrams to be sent.
    pub send: Vec<(SocketAddr, Vec<u8>)>,
    /// How many of them are repetitions.
    pub repeated: u64,
    /// Messages that were given up.
    pub late: Vec<u32>,
}

/// Messages without an acknowledgement.
#[derive(Debug)]
pub(crate) struct Outbox {
    settings: Settings,
    messages: HashMap<u32, Outgoing>,
    peers: HashMap<SocketAddr, Peer>,
    timers: BTreeSet<(Instant, u32)>,
    cost: usize,
}

impl Outbox {
    pub(crate) fn new(settings: Settings) -> Self {
        Self { settings, messages: HashMap::new(), peers: HashMap::new(), timers: BTreeSet::new(), cost: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.messages.len()
    }

    pub(crate) fn contains(&self, id: u32) -> bool {
        self.messages.contains_key(&id)
    }

    /// Adds a message; [`Outbox::begin`] sends it. Returns whether there is room for it.
    pub(crate) fn add(
        &mut self,
        id: u32,
        to: SocketAddr,
        datagrams: Vec<Vec<u8>>,
        now: Instant,
        end: Option<Instant>,
    ) -> bool {
        let one = Outgoing {
            to,
            datagrams,
            arrived: 0,
            place: 0,
            began: None,
            repeats: 0,
            call: false,
            due: now,
            end,
            timer: None,
        };
        if self.cost + one.cost() > self.settings.unsent {
            return false;
        }
        self.cost += one.cost();
        self.messages.insert(id, one);
        self.peers.entry(to).or_default().waiting.push_back(id);
        self.set_timer(id);
        true
    }

    /// The message is sent again until it is answered: its answer may be lost, and the receiver sends it again then.
    pub(crate) fn expect_answer(&mut self, id: u32) {
        if let Some(one) = self.messages.get_mut(&id) {
            one.call = true;
        }
    }

    /// A datagram from this address acknowledges packets of a message, or all of it (0), or is its answer. Returns
    /// whether it was one that was sent there.
    pub(crate) fn acknowledge(&mut self, now: Instant, from: SocketAddr, id: u32, arrived: u32, answer: bool) -> bool {
        let Some(one) = self.messages.get_mut(&id) else { return false };
        if one.to != from || one.began.is_none() {
            return false;
        }
        if arrived != 0 {
            // The receiver may have given the message up, so packets can be missing again.
            one.arrived = arrived;
            return true;
        }
        if one.call && !answer {
            return true;
        }
        // A repeated message does not tell which of its packets was answered.
        let time = one.began.filter(|_| one.repeats == 0).map(|began| now.duration_since(began));
        if let (Some(time), Some(peer)) = (time, self.peers.get_mut(&from)) {
            peer.measured(time);
        }
        self.remove(id);
        true
    }

    /// Forgets a message; returns its destination, for which [`Outbox::begin`] may have something to send now.
    pub(crate) fn remove(&mut self, id: u32) -> Option<SocketAddr> {
        let one = self.messages.remove(&id)?;
        self.cost -= one.cost();
        if let Some(timer) = one.timer {
            self.timers.remove(&(timer, id));
        }
        let many = self.peers.len() > PEERS;
        if let Some(peer) = self.peers.get_mut(&one.to) {
            if one.began.is_some() {
                peer.packets -= one.datagrams.len();
                peer.flying.retain(|other| *other != id);
            } else {
                peer.gone += 1;
                if 2 * peer.gone > peer.waiting.len() {
                    peer.waiting.retain(|other| self.messages.contains_key(other));
                    peer.gone = 0;
                }
            }
            if many && peer.flying.is_empty() && peer.waiting.is_empty() {
                self.peers.remove(&one.to);
            }
        }
        Some(one.to)
    }

    /// When [`Outbox::advance`] has something to do.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.timers.first().map(|(at, _)| *at)
    }

    /// Begins messages of a destination for which its window has room.
    pub(crate) fn begin(&mut self, to: SocketAddr, now: Instant, advance: &mut Advance) {
        loop {
            let Some(peer) = self.peers.get_mut(&to) else { return };
            let Some(&id) = peer.waiting.front() else { return };
            if !self.messages.contains_key(&id) {
                peer.waiting.pop_front();
                peer.gone -= 1;
                continue;
            }
            let oldest = peer.flying.front().and_then(|oldest| self.messages.get(oldest)).map(|one| one.place);
            let Some(one) = self.messages.get_mut(&id) else { return };
            let packets = one.datagrams.len();
            let full = peer.packets > 0 && peer.packets + packets > self.settings.window;
            if full || oldest.is_some_and(|oldest| peer.begun - oldest >= AHEAD) {
                return;
            }
            peer.waiting.pop_front();
            peer.flying.push_back(id);
            peer.packets += packets;
            one.place = peer.begun;
            peer.begun += 1;
            one.began = Some(now);
            one.due = now + self.settings.wait(peer.times, 0);
            advance.send.extend(one.datagrams.iter().map(|datagram| (to, datagram.clone())));
            self.set_timer(id);
        }
    }

    /// Sends packets again and gives messages up, as far as it is time.
    pub(crate) fn advance(&mut self, now: Instant) -> Advance {
        let mut advance = Advance::default();
        let mut freed = HashSet::new();
        while let Some(&(at, id)) = self.timers.first()
            && at <= now
        {
            let Some(one) = self.messages.get_mut(&id) else {
                self.timers.pop_first();
                continue;
            };
            let to = one.to;
            if one.end.is_some_and(|end| end <= now) {
                self.remove(id);
                advance.late.push(id);
                freed.insert(to);
                continue;
            }
            one.repeats += 1;
            // Packet 0 of a call asks for its reply.
            let again: Vec<_> = one
                .datagrams
                .iter()
                .enumerate()
                .filter(|(at, _)| one.arrived >> at & 1 == 0 || *at == 0 && one.call)
                .map(|(_, datagram)| (to, datagram.clone()))
                .collect();
            // All of them have arrived, but the acknowledgement of the message has not: one asks for it.
            let again = if again.is_empty() { vec![(to, one.datagrams[0].clone())] } else { again };
            advance.repeated += again.len() as u64;
            advance.send.extend(again);
            let times = self.peers.get(&to).and_then(|peer| peer.times);
            one.due = now + self.settings.wait(times, one.repeats);
            self.set_timer(id);
        }
        // When all that are late are gone: they would begin otherwise.
        for to in freed {
            self.begin(to, now, &mut advance);
        }
        advance
    }

    /// Forgets all messages.
    pub(crate) fn clear(&mut self) {
        self.messages.clear();
        self.peers.clear();
        self.timers.clear();
        self.cost = 0;
    }

    fn set_timer(&mut self, id: u32) {
        let Some(one) = self.messages.get_mut(&id) else { return };
        if let Some(timer) = one.timer.take() {
            self.timers.remove(&(timer, id));
        }
        let due = one.began.map(|_| one.due);
        one.timer = due.into_iter().chain(one.end).min();
        if let Some(timer) = one.timer {
            self.timers.insert((timer, id));
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn at(port: u16) -> SocketAddr {
        SocketAddr::from(([10, 0, 0, 1], port))
    }

    /// Adds a message of so many packets; returns how many datagrams are sent.
    fn add(all: &mut Outbox, id: u32, port: u16, packets: u8, now: Instant) -> usize {
        assert!(all.add(id, at(port), (0..packets).map(|number| vec![number]).collect(), now, Some(now + 2000 * MS)));
        let mut advance = Advance::default();
        all.begin(at(port), now, &mut advance);
        advance.send.len()
    }

    fn settings() -> Settings {
        Settings { window: 4, ..Settings::default() }
    }

    #[test]
    fn packets_that_arrived_are_not_sent_again() {
        let (mut all, now) = (Outbox::new(settings()), Instant::now());
        assert_eq!(add(&mut all, 1, 7, 3, now), 3);
        assert!(all.acknowledge(now, at(7), 1, 0b101, false));
        assert!(all.advance(now + 99 * MS).send.is_empty());
        assert_eq!(all.next(), Some(now + 100 * MS));
        let again = all.advance(now + 100 * MS);
        assert_eq!((again.send, again.repeated), (vec![(at(7), vec![1])], 1));
        // The receiver gave up all but the last one.
        assert!(all.acknowledge(now, at(7), 1, 0b100, false));
        assert_eq!(all.next(), Some(now + 300 * MS));
        assert_eq!(all.advance(now + 300 * MS).send, [(at(7), vec![0]), (at(7), vec![1])]);
        assert!(all.acknowledge(now, at(7), 1, 0b111, false));
        assert_eq!(all.advance(now + 700 * MS).send.len(), 1);
        assert!(all.acknowledge(now, at(7), 1, 0, false));
        assert_eq!((all.len(), all.next(), all.cost), (0, None, 0));
    }

    #[test]
    fn an_acknowledgement_comes_from_the_destination() {
        let (mut all, now) = (Outbox::new(settings()), Instant::now());
        add(&mut all, 1, 7, 1, now);
        assert!(!all.acknowledge(now, at(8), 1, 0, false) && !all.acknowledge(now, at(8), 1, 1, false));
        assert!(!all.acknowledge(now, at(7), 2, 0, false));
        assert!(all.acknowledge(now, at(7), 1, 0, false) && !all.acknowledge(now, at(7), 1, 0, false));
        // A message that waits for its window was not sent at all.
        for id in 2..=6 {
            add(&mut all, id, 7, 1, now);
        }
        assert!(!all.acknowledge(now, at(7), 6, 0, false));
    }

    #[test]
    fn the_window_counts_packets_of_a_destination() {
        let (mut all, now) = (Outbox::new(settings()), Instant::now());
        assert_eq!((add(&mut all, 1, 7, 2, now), add(&mut all, 2, 7, 2, now), add(&mut all, 3, 7, 2, now)), (2, 2, 0));
        assert_eq!(add(&mut all, 4, 7, 1, now), 0);
        // Another destination has a window of its own, where a message that is longer begins alone.
        assert_eq!((add(&mut all, 5, 8, 12, now), add(&mut all, 6, 8, 1, now)), (12, 0));
        all.acknowledge(now, at(7), 2, 0, false);
        let mut advance = Advance::default();
        all.begin(at(7), now, &mut advance);
        assert_eq!(advance.send.len(), 2);
        // Packets that are reported do not make room: the message is on its way until it is whole.
        all.acknowledge(now, at(7), 1, 0b11, false);
        all.begin(at(7), now, &mut advance);
        assert_eq!(advance.send.len(), 2);
        assert_eq!(all.remove(1), Some(at(7)));
        all.begin(at(7), now, &mut advance);
        assert_eq!(advance.send.len(), 3);
    }

    #[test]
    fn so_many_messages_begin_behind_the_oldest() {
        let (mut all, now) = (Outbox::new(Settings { window: 10_000, ..settings() }), Instant::now());
        let sent: usize = (1..=600).map(|id| add(&mut all, id, 7, 1, now)).sum();
        assert_eq!(sent, 512);
        for id in 2..=512 {
            all.acknowledge(now, at(7), id, 0, false);
        }
        let mut advance = Advance::default();
        all.begin(at(7), now, &mut advance);
        assert!(advance.send.is_empty());
        all.acknowledge(now, at(7), 1, 0, false);
        all.begin(at(7), now, &mut advance);
        assert_eq!(advance.send.len(), 88);
    }

    #[test]
    fn messages_are_given_up_and_others_begin() {
        let (mut all, now) = (Outbox::new(settings()), Instant::now());
        add(&mut all, 1, 7, 4, now);
        assert_eq!(add(&mut all, 2, 7, 4, now + MS), 0);
        let mut repeats = Vec::new();
        let mut late = Vec::new();
        while let Some(at) = all.next() {
            let step = all.advance(at);
            repeats.push((at.duration_since(now).as_millis(), step.send.len()));
            late.extend(step.late);
        }
        assert_eq!(late, [1, 2]);
        // It doubles up to a second. The second message begins at 2,000 and ends a millisecond later.
        assert_eq!(repeats, [(100, 4), (300, 4), (700, 4), (1500, 4), (2000, 4), (2001, 0)]);
        assert_eq!((all.cost, all.peers[&at(7)].packets), (0, 0));
    }

    #[test]
    fn repetitions_follow_the_measured_time() {
        let (mut all, now) = (Outbox::new(settings()), Instant::now());
        add(&mut all, 1, 7, 1, now);
        all.acknowledge(now + 20 * MS, at(7), 1, 0, false);
        add(&mut all, 2, 7, 1, now);
        // 20 ms and four times half of it
        assert_eq!(all.next(), Some(now + 60 * MS));
        all.advance(now + 60 * MS);
        assert_eq!(all.next(), Some(now + 180 * MS));
        // A message that was sent again is not measured.
        all.acknowledge(now + 61 * MS, at(7), 2, 0, false);
        assert_eq!(all.peers[&at(7)].times, Some((20 * MS, 10 * MS)));
        add(&mut all, 3, 7, 1, now);
        all.acknowledge(now + 36 * MS, at(7), 3, 0, false);
        assert_eq!(all.peers[&at(7)].times, Some((22 * MS, Duration::from_micros(11_500))));
        add(&mut all, 4, 8, 1, now);
        all.acknowledge(now + MS, at(8), 4, 0, false);
        add(&mut all, 5, 8, 1, now);
        assert_eq!(all.next(), Some(now + 10 * MS));
    }

    #[test]
    fn what_waits_is_bounded() {
        let (mut all, now) = (Outbox::new(Settings { unsent: 3 * (OVERHEAD + 1000), ..settings() }), Instant::now());
        let message = || vec![vec![0; 500]; 2];
        assert!((1..=3).all(|id| all.add(id, at(7), message(), now, None)));
        assert!(!all.add(4, at(8), message(), now, None));
        all.remove(2);
        assert!(all.add(4, at(8), message(), now, None));
        // Destinations are forgotten when nothing is on its way there.
        for port in 1..=5000 {
            let mut advance = Advance::default();
            all.remove(4);
            assert!(all.add(4, at(port), message(), now, None));
            all.begin(at(port), now, &mut advance);
        }
        assert!(all.peers.len() <= PEERS + 2, "{}", all.peers.len());
    }

    #[test]
    fn settings_that_cannot_be_are_made_safe() {
        let day = 24 * 60 * 60 * 1000;
        for (first, shortest, longest, waits) in [
            (0, 0, 0, [1, 1]),
            (0, 0, 1000, [1, 2]),
            (100, 50, 10, [50, 50]),
            (u64::MAX, u64::MAX, u64::MAX, [day, day]),
        ] {
            let time = Duration::from_millis;
            let (first, shortest, longest) = (time(first), time(shortest), time(longest));
            let mut all = Outbox::new(Settings { first, shortest, longest, ..settings() });
            let now = Instant::now();
            assert!(all.add(1, at(7), vec![vec![1]], now, None));
            all.begin(at(7), now, &mut Advance::default());
            let mut time = now;
            for wait in waits {
                let next = all.next().unwrap();
                assert_eq!(next - time, Duration::from_millis(wait));
                time = next;
                assert_eq!(all.advance(time).send.len(), 1);
            }
        }
    }

    /// 200,000 messages to a host that is not there expire, or are cancelled, in a time that grows with their number
    /// and not with its square, which would be a minute. Those that are late are not sent once more.
    #[test]
    fn many_messages_expire_in_little_time() {
        let count = 200_000;
        let mut all = Outbox::new(Settings { unsent: 1 << 30, ..settings() });
        let now = Instant::now();
        let check = || assert!(now.elapsed() < Duration::from_secs(8), "{:?}", now.elapsed());
        for id in 1..=count {
            add(&mut all, id, 7, 1, now);
        }
        for id in (5..=count).rev() {
            assert!(all.remove(id).is_some());
            assert!(all.peers[&at(7)].waiting.len() <= 2 * all.len());
            check();
        }
        // Those that were removed do not begin.
        for id in count + 1..=count + 4 {
            add(&mut all, id, 7, 1, now);
        }
        all.remove(count + 1);
        for id in 1..=4 {
            all.acknowledge(now, at(7), id, 0, false);
        }
        let mut advance = Advance::default();
        all.begin(at(7), now, &mut advance);
        assert_eq!((advance.send.len(), all.peers[&at(7)].gone, all.peers[&at(7)].waiting.len()), (3, 0, 0));
        for id in 1..=count {
            add(&mut all, id, 8, 1, now);
        }
        assert_eq!(all.advance(now + 2000 * MS).send.len(), 0);
        assert_eq!((all.len(), all.cost), (0, 0));
        check();
    }

    #[test]
    fn a_call_ends_with_its_answer() {
        let (mut all, now) = (Outbox::new(settings()), Instant::now());
        add(&mut all, 1, 7, 2, now);
        all.expect_answer(1);
        // An acknowledgement does not end it, and packet 0 asks for the reply, even if it has arrived.
        assert!(all.acknowledge(now + 20 * MS, at(7), 1, 0, false));
        all.acknowledge(now, at(7), 1, 0b01, false);
        assert_eq!(all.advance(now + 100 * MS).send.len(), 2);
        assert!(all.acknowledge(now + 1200 * MS, at(7), 1, 0, true));
        assert_eq!((all.len(), all.next()), (0, None));
    }
}
