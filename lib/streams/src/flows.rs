// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Flows: frames between the same two ends, with the state of both directions.

use std::hash::{Hash, Hasher};
use std::net::IpAddr;

use lru::LruCache;

use crate::decode::{Packet, Tcp, Transport};
use crate::stream::Direction;

/// Seconds without a frame after which a TCP flow has ended.
const TCP_IDLE: u64 = 3_600_000_000_000;
/// The same for other flows, and for connections that were closed or reset, in ns.
const OTHER_IDLE: u64 = 60_000_000_000;

/// The key of a flow; the same for both directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowKey {
    /// Both ends, address and port; the lower one first.
    pub ends: [(IpAddr, u16); 2],
    /// IP protocol number.
    pub protocol: u8,
    /// Ids of VLAN tags.
    pub vlans: [u16; 3],
    /// Number of tunnels around its packets.
    pub level: u8,
    /// Tenant of the frames.
    pub tenant: u8,
}

/// In few words: the derived form hashes most bytes one by one, for every frame.
impl Hash for FlowKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for (address, port) in self.ends {
            match address {
                IpAddr::V4(address) => state.write_u64(u64::from(address.to_bits()) << 16 | u64::from(port)),
                IpAddr::V6(address) => {
                    state.write_u128(address.to_bits());
                    state.write_u16(port);
                }
            }
        }
        let [a, b, c] = self.vlans.map(u64::from);
        state.write_u64(a << 48 | b << 32 | c << 16 | u64::from(self.protocol) << 8 | u64::from(self.level));
        state.write_u8(self.tenant);
    }
}

/// Direction of a frame in its flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From the client, which opened the flow.
    ToServer = 0,
    /// From the server.
    ToClient = 1,
}

impl Way {
    /// The other direction.
    #[must_use]
    pub fn back(self) -> Self {
        match self {
            Self::ToServer => Self::ToClient,
            Self::ToClient => Self::ToServer,
        }
    }
}

/// Why a flow has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// No frame arrived for long.
    Aged,
    /// It made room for others.
    Evicted,
    /// A new connection began between the same ends.
    Reopened,
}

/// A flow, with `S` kept for its owner.
#[derive(Debug)]
pub struct Flow<S> {
    /// Its key.
    pub key: FlowKey,
    /// Which of the ends of the key is the client.
    pub client: usize,
    /// Time of its first frame, in ns.
    pub start: u64,
    /// Time of its last frame, in ns.
    pub last: u64,
    /// Frames by direction.
    pub frames: [u64; 2],
    /// Bytes of these frames, which the owner counts.
    pub bytes: [u64; 2],
    /// A TCP connection whose handshake is over, or that was met after it; other flows once both ends have sent.
    pub established: bool,
    /// A TCP connection that was reset, or closed by both ends.
    pub closed: bool,
    /// Flags of all segments by direction, of TCP.
    pub flags: [u8; 2],
    /// Why it has ended; None: it has not.
    pub ending: Option<Ending>,
    /// Streams by direction, of TCP.
    pub streams: [Direction; 2],
    /// Number of the byte after the FIN, by direction.
    fin: [Option<u32>; 2],
    /// First sequence number of a SYN that may open a new connection between the same ends.
    reopening: Option<(Way, u32)>,
    /// The owner's state.
    pub state: S,
}

impl<S> Flow<S> {
    /// Address and port of the client and of the server.
    #[must_use]
    pub fn ends(&self) -> [(IpAddr, u16); 2] {
        [self.key.ends[self.client], self.key.ends[1 - self.client]]
    }

    /// Whether both ends have closed a connection and every byte of it has come.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let whole = |way: usize| self.fin[way].is_some_and(|fin| self.streams[way].next() == Some(fin.wrapping_sub(1)));
        self.closed && whole(0) && whole(1)
    }

    fn idle(&self) -> u64 {
        if self.key.protocol == 6 && !self.closed { TCP_IDLE } else { OTHER_IDLE }
    }

    /// Follows the handshake and the end of a connection. The payload is pushed by the owner.
    fn follow(&mut self, way: Way, tcp: &Tcp, payload: usize) {
        let (own, other) = (way as usize, way.back() as usize);
        self.flags[own] |= tcp.flags;
        if tcp.has(Tcp::SYN) {
            self.streams[own].open(tcp.sequence.wrapping_add(1));
        } else {
            self.established |= tcp.has(Tcp::ACK);
        }
        if tcp.has(Tcp::RST) && self.streams[own].next().is_none_or(|next| next == tcp.sequence) {
            self.closed = true;
        }
        if tcp.has(Tcp::FIN) {
            self.fin[own] = Some(tcp.sequence.wrapping_add(payload as u32).wrapping_add(1));
        }
        if tcp.has(Tcp::ACK) && self.fin[own].is_some() && self.fin[other] == Some(tcp.acknowledged) {
            self.closed = true;
        }
    }

    /// Whether this SYN, or this answer to an earlier SYN, begins another connection between the same ends. A SYN alone
    /// does not end a connection that is open, because its receiver ignores it (RFC 5961): the answer tells.
    fn begins_again(&mut self, way: Way, tcp: &Tcp) -> bool {
        let first = tcp.sequence.wrapping_add(1);
        if !tcp.has(Tcp::SYN) || tcp.has(Tcp::RST) {
            return false;
        }
        if tcp.has(Tcp::ACK) {
            return self.reopening == Some((way.back(), tcp.acknowledged));
        }
        let same = self.streams[way as usize].first() == Some(first);
        let silent = self.streams[way.back() as usize].next().is_none();
        if !same && !self.closed && !silent {
            self.reopening = Some((way, first));
        }
        !same && (self.closed || silent)
    }
}

/// The counters of a set of flows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FlowCounters {
    /// Flows that began.
    pub begun: u64,
    /// Flows that ended because no frame arrived for long.
    pub aged: u64,
    /// Flows that made room for others before their time.
    pub evicted: u64,
    /// Flows that ended because a new connection began between the same ends.
    pub reopened: u64,
}

/// A bounded set of flows.
#[derive(Debug)]
pub struct Flows<S> {
    table: LruCache<FlowKey, Flow<S>>,
    most: usize,
    ended: Vec<Flow<S>>,
    counters: FlowCounters,
}

impl<S: Default> Flows<S> {
    /// An empty set that holds at most this many flows, at least one. The flow that was idle longest makes room.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { table: LruCache::unbounded(), most: most.max(1), ended: Vec::new(), counters: FlowCounters::default() }
    }

    /// Present flows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether there is no flow.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// What was counted.
    #[must_use]
    pub fn counters(&self) -> FlowCounters {
        self.counters
    }

    /// The flow of a packet at a time in ns, and the packet's direction. The first frame of a flow comes from its
    /// client, unless it is the answer to a SYN that was not seen.
    pub fn enter(&mut self, packet: &Packet<'_>, tenant: u8, now: u64) -> (&mut Flow<S>, Way) {
        self.enter_as(packet, tenant, now, true)
    }

    /// The same; a packet that is not `sound` changes no connection, because its receiver ignores it.
    pub fn enter_as(&mut self, packet: &Packet<'_>, tenant: u8, now: u64, sound: bool) -> (&mut Flow<S>, Way) {
        let from = (packet.source, packet.ports[0]);
        let to = (packet.destination, packet.ports[1]);
        let sender = usize::from(from > to);
        let ends = if sender == 0 { [from, to] } else { [to, from] };
        let key = FlowKey { ends, protocol: packet.protocol, vlans: packet.vlans, level: packet.level, tenant };
        self.age(now, &key);
        let tcp = match &packet.transport {
            Transport::Tcp(tcp) if sound => Some(tcp),
            _ => None,
        };
        let old = self.table.peek_mut(&key).is_some_and(|flow| {
            let way = if sender == flow.client { Way::ToServer } else { Way::ToClient };
            let aged = now.saturating_sub(flow.last) > flow.idle();
            let again = !aged && tcp.is_some_and(|tcp| flow.begins_again(way, tcp));
            self.counters.aged += u64::from(aged);
            self.counters.reopened += u64::from(again);
            flow.ending = if aged { Some(Ending::Aged) } else { again.then_some(Ending::Reopened) };
            aged || again
        });
        let before = if old { self.table.pop(&key) } else { None };
        let flow = self.table.get_or_insert_mut(key, || {
            self.counters.begun += 1;
            let answer = tcp.is_some_and(|tcp| tcp.has(Tcp::SYN) && tcp.has(Tcp::ACK));
            Flow {
                key,
                client: if answer { 1 - sender } else { sender },
                start: now,
                last: now,
                frames: [0; 2],
                bytes: [0; 2],
                established: false,
                closed: false,
                flags: [0; 2],
                ending: None,
                streams: [Direction::default(), Direction::default()],
                fin: [None; 2],
                reopening: None,
                state: S::default(),
            }
        });
        let way = if sender == flow.client { Way::ToServer } else { Way::ToClient };
        // The SYN of a connection that reopened was seen when the old one was still open.
        if let Some(Flow { reopening: Some((client, first)), .. }) = &before
            && *client != way
        {
            flow.streams[*client as usize].open(*first);
        }
        self.ended.extend(before);
        flow.last = now.max(flow.last);
        flow.frames[way as usize] += 1;
        match tcp {
            Some(tcp) => flow.follow(way, tcp, packet.payload.len()),
            None if packet.protocol == 6 => {}
            None => flow.established = flow.frames.iter().all(|frames| *frames > 0),
        }
        (flow, way)
    }

    /// Ends flows that are too old, and one if there is no room for this flow.
    fn age(&mut self, now: u64, key: &FlowKey) {
        while let Some((_, oldest)) = self.table.peek_lru() {
            let aged = now.saturating_sub(oldest.last) > TCP_IDLE;
            if !aged && (self.table.len() < self.most || self.table.contains(key)) {
                return;
            }
            self.counters.aged += u64::from(aged);
            self.counters.evicted += u64::from(!aged);
            let ending = Some(if aged { Ending::Aged } else { Ending::Evicted });
            self.ended.extend(self.table.pop_lru().map(|(_, flow)| Flow { ending, ..flow }));
        }
    }

    /// Ends the flow that was idle longest, unless it is the last one; whether there was one.
    pub fn evict(&mut self) -> bool {
        let oldest = if self.table.len() > 1 { self.table.pop_lru() } else { None };
        let there = oldest.is_some();
        self.counters.evicted += u64::from(there);
        self.ended.extend(oldest.map(|(_, flow)| Flow { ending: Some(Ending::Evicted), ..flow }));
        there
    }

    /// Takes the flows that have ended since the last call.
    pub fn take_ended(&mut self) -> Vec<Flow<S>> {
        std::mem::take(&mut self.ended)
    }

    /// Whether flows have ended since they were taken.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    /// All flows, in no order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Flow<S>> {
        self.table.iter_mut().map(|(_, flow)| flow)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use crate::stream::{Held, Limits};

    const SECOND: u64 = 1_000_000_000;

    /// A packet from one port to another; without flags it is UDP.
    fn packet(from: u16, to: u16, flags: Option<u8>, sequence: u32, acknowledged: u32) -> Packet<'static> {
        let address = |port: u16| IpAddr::V4(Ipv4Addr::new(10, 0, 0, if port == 80 { 1 } else { 9 }));
        Packet {
            vlans: [0; 3],
            level: 0,
            source: address(from),
            destination: address(to),
            protocol: if flags.is_some() { 6 } else { 17 },
            ttl: 64,
            ports: [from, to],
            transport: flags
                .map_or(Transport::Udp, |flags| Transport::Tcp(Tcp { sequence, acknowledged, flags, window: 100 })),
            fragment: None,
            rebuilt: false,
            ip: b"",
            body: b"",
            payload: b"",
            payload_at: 54,
        }
    }

    /// Sends packets of a connection between ports 5000 (the client) and 80; gives times at which flows began.
    fn starts(packets: &[(bool, u8, u32, u32)]) -> Vec<u64> {
        let mut flows = Flows::<()>::new(10);
        let enter = |(at, (to_server, flags, sequence, acknowledged)): (usize, &(bool, u8, u32, u32))| {
            let (from, to) = if *to_server { (5000, 80) } else { (80, 5000) };
            let (flow, way) = flows.enter(&packet(from, to, Some(*flags), *sequence, *acknowledged), 0, at as u64);
            assert_eq!(way == Way::ToServer, *to_server);
            flow.start
        };
        packets.iter().enumerate().map(enter).collect()
    }

    const OPEN: [(bool, u8, u32, u32); 3] =
        [(true, Tcp::SYN, 100, 0), (false, Tcp::SYN | Tcp::ACK, 700, 101), (true, Tcp::ACK, 101, 701)];

    #[test]
    fn connections_begin_again() {
        // Closed by both ends, then opened again.
        let close = [(true, 17, 101, 701), (false, 17, 701, 102), (true, Tcp::ACK, 102, 702)];
        let again = [(true, Tcp::SYN, 9000, 0)];
        assert_eq!(starts(&[&OPEN[..], &close, &again].concat()), [0, 0, 0, 0, 0, 0, 6]);
        // The server lost the connection, and answers the new SYN.
        let again = [(true, Tcp::SYN, 9000, 0), (false, Tcp::SYN | Tcp::ACK, 800, 9001), (true, Tcp::ACK, 9001, 801)];
        assert_eq!(starts(&[&OPEN[..], &again].concat()), [0, 0, 0, 0, 4, 4]);
        // A reset with the right number.
        assert_eq!(starts(&[&OPEN[..], &[(false, Tcp::RST, 701, 0)], &again[..1]].concat()), [0, 0, 0, 0, 4]);
    }

    /// A connection whose ends have closed it is over when nothing of it is missing.
    #[test]
    fn a_connection_is_over_when_all_of_it_has_come() {
        for (bytes, over) in [(&b"ab"[..], true), (b"a", false)] {
            let mut flows = Flows::<()>::new(10);
            let mut ends = Vec::new();
            let close = [(true, 17, 103, 701), (false, 17, 701, 104), (true, Tcp::ACK, 104, 702)];
            for (to_server, flags, sequence, acknowledged) in OPEN.into_iter().chain(close) {
                let (from, to) = if to_server { (5000, 80) } else { (80, 5000) };
                let (flow, _) = flows.enter(&packet(from, to, Some(flags), sequence, acknowledged), 0, 0);
                if flags == Tcp::ACK {
                    flow.streams[0].push(101, bytes, &Limits::default(), &mut Held::default(), &mut |_| ());
                }
                ends.push(flow.is_over());
            }
            assert_eq!((ends.pop(), ends[..4].contains(&true)), (Some(over), false));
        }
    }

    #[test]
    fn forged_frames_do_not_end_a_connection() {
        let forged = [(false, Tcp::RST, 702, 0), (true, Tcp::SYN, 9000, 0), (true, Tcp::ACK, 9001, 701)];
        assert_eq!(starts(&[&OPEN[..], &forged].concat()), [0; 6]);
        assert_eq!(starts(&[&OPEN[..], &OPEN].concat()), [0; 6]);
    }

    #[test]
    fn a_reopened_stream_begins_with_its_syn() {
        let mut flows = Flows::<()>::new(10);
        for (to_server, flags, sequence, acknowledged) in OPEN {
            let (from, to) = if to_server { (5000, 80) } else { (80, 5000) };
            flows.enter(&packet(from, to, Some(flags), sequence, acknowledged), 0, 0);
        }
        flows.enter(&packet(5000, 80, Some(Tcp::SYN), 9000, 0), 0, 0);
        let answer = packet(80, 5000, Some(Tcp::SYN | Tcp::ACK), 800, 9001);
        let (flow, way) = flows.enter(&answer, 0, 0);
        assert_eq!((way, flow.streams[0].next(), flow.streams[1].next()), (Way::ToClient, Some(9001), Some(801)));
        assert_eq!((flows.take_ended().len(), flows.counters().reopened), (1, 1));
    }

    #[test]
    fn flows_age_and_make_room() {
        let mut flows = Flows::<()>::new(2);
        for (port, time) in [(1, 0), (2, 1), (1, 2), (3, 3), (1, 4)] {
            flows.enter(&packet(port, 53, None, 0, 0), 0, time);
        }
        assert_eq!((flows.len(), flows.counters().evicted, flows.counters().begun), (2, 1, 3));
        let endings = |flows: &mut Flows<()>| flows.take_ended().iter().map(|flow| flow.ending).collect::<Vec<_>>();
        assert_eq!(endings(&mut flows), [Some(Ending::Evicted)]);
        assert!(!flows.enter(&packet(1, 53, None, 0, 0), 0, 5).0.established);
        let (flow, way) = flows.enter(&packet(53, 1, None, 0, 0), 0, 5);
        assert!(flow.established && way == Way::ToClient && flow.start == 0);
        assert_eq!(flows.enter(&packet(1, 53, None, 0, 0), 0, 66 * SECOND).0.start, 66 * SECOND);
        assert_eq!((flows.counters().aged, endings(&mut flows)), (1, vec![Some(Ending::Aged)]));
        flows.enter(&packet(9, 53, None, 0, 0), 0, 4000 * SECOND);
        assert_eq!(flows.len(), 1);
    }

    #[test]
    fn protocols_vlans_tunnels_and_tenants_part_flows() {
        let mut flows = Flows::<()>::new(100);
        let udp = packet(1, 53, None, 0, 0);
        let tcp = packet(1, 53, Some(Tcp::SYN), 0, 0);
        let tagged = Packet { vlans: [7, 0, 0], ..udp };
        let inner = Packet { level: 1, ..udp };
        for (packet, tenant) in [(udp, 0), (tcp, 0), (tagged, 0), (udp, 1), (inner, 0)] {
            flows.enter(&packet, tenant, 0);
        }
        assert_eq!(flows.len(), 5);
    }
}
