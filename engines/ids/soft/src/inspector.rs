// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The whole way of a frame: decoding, flow, stream, filter, rules, alerts. Both targets use it: on `soft` for every
//! frame, on `rtl` for frames that the card tells the host.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use penstock_ids_compiler::Program;
use penstock_ids_compiler::rule::{Action, Check, FlagTest, Protocol, Rule, Step};
use penstock_streams::{
    Chunk, Direction, Flow, FlowKey, Flows, Held, Limits, Packet, Tcp, Transport, Undecoded, Way, decode,
};

use crate::matching::Bytes;
use crate::report::{Alert, Signature, timestamp};
use crate::scan::{Scanner, Window};
use crate::stats::{DetectStats, FlowStats, FrameStats, Stats, StreamStats};

/// What a block may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Flows at a time.
    pub flows: usize,
    /// Bytes of each stream that are kept, for rules whose contents come in several segments.
    pub history: usize,
    /// Bytes that are kept of all streams together. If they are exceeded, the flows that were idle longest end.
    pub memory: usize,
    /// Segments that wait behind holes.
    pub limits: Limits,
    /// When the time of frames was 0, in ns since 1970 UTC: reports add it.
    pub epoch: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { flows: 1 << 16, history: 1 << 16, memory: 1 << 29, limits: Limits::default(), epoch: 0 }
    }
}

/// A rule whose key was found in a stream and that needs more than the key.
#[derive(Debug, Clone, Copy)]
struct Armed {
    rule: u32,
    /// The rule has matched in this direction: it matches again only with bytes that are new.
    alerted: bool,
    /// Position of the stream from which on the key says nothing more.
    until: u64,
}

/// What is kept of one direction.
#[derive(Debug, Clone, Default)]
struct Side {
    window: Window,
    /// The last bytes of the stream.
    history: Vec<u8>,
    /// Position of the first byte of `history`.
    base: u64,
    armed: Vec<Armed>,
}

impl Side {
    /// Position behind the last byte.
    fn end(&self) -> u64 {
        self.base + self.history.len() as u64
    }

    /// Has a rule evaluated from now on, whose key ends at `end` or before.
    fn arm(&mut self, number: u32, rule: &Rule, end: u64) {
        if !rule.looks.stream {
            return;
        }
        // A content alone ends before its length has passed again; the other contents of a rule may come at any time.
        let until = match &rule.steps[..] {
            [Step::Content(content)] => end + content.bytes.len() as u64,
            _ => u64::MAX,
        };
        match self.armed.iter_mut().find(|armed| armed.rule == number) {
            Some(armed) => armed.until = until,
            None => self.armed.push(Armed { rule: number, alerted: false, until }),
        }
    }
}

/// What is kept of a flow.
#[derive(Debug, Default)]
struct State {
    sides: [Side; 2],
    /// A rule has dropped the flow.
    dropped: bool,
}

/// What happens to a frame.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What was found.
    pub alerts: Vec<Alert>,
    /// The frame is dropped, where the block decides.
    pub drop: bool,
    /// Frames of this direction are wanted: rules wait for more bytes of it, or the flow is dropped.
    pub wanted: bool,
    /// With this frame the whole flow is dropped.
    pub drops_flow: bool,
}

/// How a card tells a frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Told {
    /// The card no longer has the frames between this one and the last one of its direction that it told.
    pub after_gap: bool,
    /// The frame has passed the card: it is told for what comes behind it.
    pub has_passed: bool,
}

/// What rules see of a packet beside its bytes.
struct Seen<'a> {
    time: u64,
    source: (IpAddr, u16),
    destination: (IpAddr, u16),
    protocol: u8,
    key: Option<FlowKey>,
    start: u64,
    way: Option<Way>,
    established: bool,
    tenant: u8,
    vlans: [u16; 2],
    packet: Option<&'a Packet<'a>>,
}

/// The rules of a program by what they look at.
#[derive(Debug)]
struct Plan {
    program: Arc<Program>,
    scanner: Scanner,
    /// Rules without a key that look at streams, and at packets.
    always_stream: Vec<u32>,
    always_packets: Vec<u32>,
    /// There are rules with a key that look at packets of TCP.
    tcp_packets: bool,
    /// Rules look at streams.
    streams: bool,
}

/// Whether a rule looks at the payload of a packet of this protocol.
fn looks_at_packet(rule: &Rule, protocol: u8) -> bool {
    rule.looks.packets || protocol != 6
}

impl Plan {
    fn new(program: Arc<Program>) -> Self {
        let rules = &program.set.rules;
        let always = |stream: bool| {
            let fits = |number: &&u32| {
                let rule = &rules[**number as usize];
                if stream { rule.looks.stream } else { rule.looks.packets || rule.protocol == Protocol::Ip }
            };
            program.always.iter().filter(fits).copied().collect()
        };
        let of_tcp = |rule: &Rule| matches!(rule.protocol, Protocol::Tcp | Protocol::Ip) && rule.looks.packets;
        Self {
            always_stream: always(true),
            always_packets: always(false),
            tcp_packets: program.by_key.iter().flatten().any(|number| of_tcp(&rules[*number as usize])),
            streams: rules.iter().any(|rule| rule.looks.stream),
            scanner: Scanner::new(&program.filter),
            program,
        }
    }

    fn rule(&self, number: u32) -> &Rule {
        &self.program.set.rules[number as usize]
    }
}

/// Filter, matcher and all that they remember.
#[derive(Debug)]
pub struct Inspector {
    plan: Plan,
    flows: Flows<State>,
    held: Held,
    bounds: Bounds,
    drops: bool,
    frames: FrameStats,
    detect: DetectStats,
    hits: Vec<u64>,
    /// Bytes of streams that are kept now.
    kept: usize,
}

impl Inspector {
    /// An inspector with no flows. `drops`: rules with the action drop or reject drop frames.
    #[must_use]
    pub fn new(program: Arc<Program>, bounds: Bounds, drops: bool) -> Self {
        Self {
            hits: vec![0; program.set.rules.len()],
            plan: Plan::new(program),
            flows: Flows::new(bounds.flows),
            held: Held::default(),
            bounds,
            drops,
            frames: FrameStats::default(),
            detect: DetectStats::default(),
            kept: 0,
        }
    }

    /// The rules.
    #[must_use]
    pub fn program(&self) -> &Arc<Program> {
        &self.plan.program
    }

    /// What it may use.
    #[must_use]
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// Alerts of each rule, in the order of the rules.
    #[must_use]
    pub fn hits(&self) -> &[u64] {
        &self.hits
    }

    /// What was counted.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let rules = self.plan.program.set.rules.len() as u64;
        Stats {
            frames: self.frames,
            detect: DetectStats { rules, ..self.detect },
            flows: FlowStats::of(self.flows.len(), self.flows.counters()),
            streams: StreamStats { waiting_bytes: self.held.bytes as u64, ..self.held.counters.into() },
        }
    }

    /// Exchanges the rules between two frames. Flows and streams stay. A rule with the same gid and sid in both sets goes on
    /// where it was; a rule that is new begins to look here.
    pub fn reload(&mut self, program: Arc<Program>) {
        let places: HashMap<(u32, u32), u32> =
            (0..).zip(&program.set.rules).map(|(number, rule)| ((rule.gid, rule.sid), number)).collect();
        let old = &self.plan.program.set.rules;
        let place = |number: u32| {
            let rule = &old[number as usize];
            places.get(&(rule.gid, rule.sid)).copied()
        };
        for flow in self.flows.iter_mut() {
            for side in &mut flow.state.sides {
                side.armed =
                    side.armed.iter().filter_map(|armed| Some(Armed { rule: place(armed.rule)?, ..*armed })).collect();
            }
        }
        let mut hits = vec![0; program.set.rules.len()];
        for (number, count) in (0..).zip(&self.hits) {
            if let Some(to) = place(number) {
                hits[to as usize] = *count;
            }
        }
        self.hits = hits;
        self.plan = Plan::new(program);
        self.detect.reloads += 1;
    }

    /// Looks at a frame that came at a time in ns.
    pub fn carry(&mut self, frame: &[u8], tenant: u8, now: u64) -> Outcome {
        self.carry_told(frame, tenant, now, Told::default())
    }

    /// As [`Inspector::carry`] for a frame that a card tells.
    pub fn carry_told(&mut self, frame: &[u8], tenant: u8, now: u64, told: Told) -> Outcome {
        self.frames.frames += 1;
        self.frames.bytes += frame.len() as u64;
        let packet = match decode(frame) {
            Ok(packet) => packet,
            Err(Undecoded::NotIp) => {
                self.frames.not_ip += 1;
                return Outcome::default();
            }
            Err(Undecoded::Malformed) => {
                self.frames.malformed += 1;
                return Outcome::default();
            }
        };
        self.count(&packet);
        let Self { plan, flows, held, bounds, drops, detect, hits, kept, .. } = self;
        let drops = *drops && !told.has_passed;
        let mut look = Look::new(plan, detect, kept, drops);
        let source = (packet.source, packet.ports[0]);
        let destination = (packet.destination, packet.ports[1]);
        let mut seen = Seen {
            time: bounds.epoch.saturating_add(now),
            source,
            destination,
            protocol: packet.protocol,
            key: None,
            start: now,
            way: None,
            established: false,
            tenant,
            vlans: packet.vlans,
            packet: Some(&packet),
        };
        let (mut wanted, mut drops_flow) = (false, false);
        if packet.fragment {
            look.packet(&seen, &packet, false);
        } else {
            let (flow, way) = flows.enter(&packet, tenant, now);
            seen.key = Some(flow.key);
            seen.start = flow.start;
            seen.way = Some(way);
            seen.established = flow.established;
            let Flow { state, streams, .. } = flow;
            if drops && state.dropped {
                look.detect.blocked += 1;
                return Outcome { drop: true, wanted: true, ..Outcome::default() };
            }
            match &packet.transport {
                Transport::Tcp(tcp) => {
                    let first = tcp.sequence.wrapping_add(u32::from(tcp.has(Tcp::SYN)));
                    let (side, stream) = (&mut state.sides[way as usize], &mut streams[way as usize]);
                    let (mut whole, before) = (false, stream.position());
                    let mut emit = |chunk: Chunk<'_>| {
                        whole |= chunk.direct && chunk.bytes.len() == packet.payload.len();
                        look.take(&seen, side, chunk, before);
                    };
                    if told.after_gap {
                        stream.resume(first, packet.payload, &bounds.limits, held, &mut emit);
                    } else {
                        stream.push(first, packet.payload, &bounds.limits, held, &mut emit);
                    }
                    look.stream(&seen, side, before, bounds.history);
                    wanted = !side.armed.is_empty();
                    look.packet(&seen, &packet, whole);
                }
                _ => look.packet(&seen, &packet, false),
            }
            drops_flow = look.drops().1;
            state.dropped |= drops_flow;
        }
        look.detect.host_frames += u64::from(look.evaluated);
        look.detect.hit_frames += u64::from(look.hit);
        let blocked = look.drops().0;
        look.detect.blocked += u64::from(blocked);
        let mut alerts = look.report(&seen, blocked, hits);
        while self.kept > self.bounds.memory && self.flows.evict() {
            alerts.extend(self.end());
        }
        if self.flows.has_ended() {
            alerts.extend(self.end());
        }
        Outcome { alerts, drop: blocked, wanted, drops_flow }
    }

    /// Searches what waits behind holes, as if they were given up here. They are not: the missing segments may come with the next frames.
    pub fn finish(&mut self) -> Vec<Alert> {
        let Self { plan, flows, held, bounds, detect, hits, kept, .. } = self;
        let mut alerts = Vec::new();
        for flow in flows.iter_mut().filter(|flow| flow.streams.iter().any(Direction::waits)) {
            let before = (flow.streams.clone(), flow.state.sides.clone());
            let (mut held, mut kept) = (*held, *kept);
            alerts.extend(flush(plan, flow, &mut held, bounds, detect, &mut kept, hits));
            (flow.streams, flow.state.sides) = before;
        }
        // The flows come in no order.
        alerts.sort_by(|left, right| left.timestamp.cmp(&right.timestamp).then(left.flow_id.cmp(&right.flow_id)));
        alerts
    }

    /// Searches what waits in flows that have ended.
    fn end(&mut self) -> Vec<Alert> {
        let Self { plan, flows, held, bounds, detect, hits, kept, .. } = self;
        let mut alerts = Vec::new();
        for mut flow in flows.take_ended() {
            alerts.extend(flush(plan, &mut flow, held, bounds, detect, kept, hits));
            *kept -= flow.state.sides.iter().map(|side| side.history.len()).sum::<usize>();
        }
        alerts
    }

    fn count(&mut self, packet: &Packet<'_>) {
        let frames = &mut self.frames;
        if packet.source.is_ipv4() {
            frames.ipv4 += 1;
        } else {
            frames.ipv6 += 1;
        }
        match packet.transport {
            _ if packet.fragment => frames.fragments += 1,
            Transport::Tcp(_) => frames.tcp += 1,
            Transport::Udp => frames.udp += 1,
            Transport::Icmp(..) => frames.icmp += 1,
            Transport::Other => {}
        }
    }
}

/// Searches what waits behind the holes of a flow.
fn flush(
    plan: &Plan,
    flow: &mut Flow<State>,
    held: &mut Held,
    bounds: &Bounds,
    detect: &mut DetectStats,
    kept: &mut usize,
    hits: &mut [u64],
) -> Vec<Alert> {
    let mut alerts = Vec::new();
    let [client, server] = flow.ends();
    for way in [Way::ToServer, Way::ToClient] {
        if !flow.streams[way as usize].waits() {
            continue;
        }
        let (source, destination) = if way == Way::ToServer { (client, server) } else { (server, client) };
        let seen = Seen {
            time: bounds.epoch.saturating_add(flow.last),
            source,
            destination,
            protocol: flow.key.protocol,
            key: Some(flow.key),
            start: flow.start,
            way: Some(way),
            established: flow.established,
            tenant: flow.key.tenant,
            vlans: flow.key.vlans,
            packet: None,
        };
        // Its frames are gone: nothing can be dropped.
        let mut look = Look::new(plan, detect, kept, false);
        let side = &mut flow.state.sides[way as usize];
        let before = flow.streams[way as usize].position();
        flow.streams[way as usize].flush(held, &mut |chunk| look.take(&seen, side, chunk, before));
        look.stream(&seen, side, before, bounds.history);
        alerts.extend(look.report(&seen, false, hits));
    }
    alerts
}

/// A rule that matched.
struct Match {
    rule: u32,
    in_stream: bool,
}

/// One frame on its way through the rules.
struct Look<'a> {
    plan: &'a Plan,
    detect: &'a mut DetectStats,
    kept: &'a mut usize,
    drops: bool,
    matched: Vec<Match>,
    /// Numbers of the keys that the filter found last.
    keys: Vec<u16>,
    /// Numbers of those that it found in the bytes of this frame.
    own: Vec<u16>,
    evaluated: bool,
    hit: bool,
}

impl<'a> Look<'a> {
    fn new(plan: &'a Plan, detect: &'a mut DetectStats, kept: &'a mut usize, drops: bool) -> Self {
        let (matched, keys, own) = (Vec::new(), Vec::new(), Vec::new());
        Self { plan, detect, kept, drops, matched, keys, own, evaluated: false, hit: false }
    }

    /// Takes bytes of a stream in order: finds their keys and keeps them. Bytes from `before` on are of this frame.
    fn take(&mut self, seen: &Seen<'_>, side: &mut Side, chunk: Chunk<'_>, before: u64) {
        let plan = self.plan;
        if chunk.gap > 0 {
            // No match has bytes on both sides of a gap.
            self.evaluate(seen, side, before);
            *self.kept -= side.history.len();
            *side = Side { base: chunk.at, armed: std::mem::take(&mut side.armed), ..Side::default() };
        }
        self.filter(&mut side.window, chunk.bytes);
        if chunk.direct {
            self.own.clone_from(&self.keys);
        }
        if plan.streams {
            side.history.extend_from_slice(chunk.bytes);
            *self.kept += chunk.bytes.len();
            let end = side.end();
            for key in &self.keys {
                for number in &plan.program.by_key[usize::from(*key)] {
                    side.arm(*number, plan.rule(*number), end);
                }
            }
        }
    }

    /// Evaluates rules on a stream whose bytes from `before` on are of this frame.
    fn evaluate(&mut self, seen: &Seen<'_>, side: &mut Side, before: u64) {
        let (plan, end) = (self.plan, side.end());
        if end <= before {
            return;
        }
        for number in &plan.always_stream {
            side.arm(*number, plan.rule(*number), end);
        }
        let new = usize::try_from(end - before).unwrap_or(usize::MAX);
        for armed in &mut side.armed {
            let rule = plan.rule(armed.rule);
            if !header_matches(rule, seen) {
                continue;
            }
            self.detect.evaluated += 1;
            self.evaluated = true;
            let fresh = if armed.alerted { before } else { 0 };
            // A content alone has a byte of this frame, or it was found before.
            let skip = match &rule.steps[..] {
                [Step::Content(content)] => {
                    side.history.len().saturating_sub(new.saturating_add(content.bytes.len() - 1))
                }
                _ => 0,
            };
            let bytes = Bytes { bytes: &side.history[skip..], base: side.base + skip as u64, fresh };
            if bytes.matches(&rule.steps, &mut self.detect.limited) {
                armed.alerted = true;
                self.matched.push(Match { rule: armed.rule, in_stream: true });
            }
        }
    }

    /// Ends the stream's part of a frame: evaluates rules, and forgets what is too old.
    fn stream(&mut self, seen: &Seen<'_>, side: &mut Side, before: u64, keep: usize) {
        self.evaluate(seen, side, before);
        let (plan, end) = (self.plan, side.end());
        // A rule for other ends or the other direction never matches here; one that waits for the handshake may.
        side.armed.retain(|armed| {
            let rule = plan.rule(armed.rule);
            end < armed.until && (rule.flow.established.is_some() || header_matches(rule, seen))
        });
        // Twice as much as is kept may stay, so that bytes are moved seldom.
        if side.history.len() > 2 * keep {
            let gone = side.history.len() - keep;
            side.history.drain(..gone);
            side.base += gone as u64;
            *self.kept -= gone;
            self.detect.forgotten_bytes += gone as u64;
        }
    }

    /// Takes the payload of a packet. `searched`: the filter has just searched it as a part of a stream.
    fn packet(&mut self, seen: &Seen<'_>, packet: &Packet<'_>, searched: bool) {
        let plan = self.plan;
        let tcp = packet.protocol == 6 && !packet.fragment;
        let keys = if !tcp {
            self.filter(&mut Window::default(), packet.payload);
            std::mem::take(&mut self.keys)
        } else if !plan.tcp_packets {
            Vec::new()
        } else if searched {
            std::mem::take(&mut self.own)
        } else {
            self.filter(&mut Window::default(), packet.payload);
            // The bytes count once, with the stream.
            self.detect.searched_bytes -= packet.payload.len() as u64;
            std::mem::take(&mut self.keys)
        };
        let of_keys = keys.iter().flat_map(|key| &plan.program.by_key[usize::from(*key)]);
        for number in of_keys.chain(&plan.always_packets) {
            let rule = plan.rule(*number);
            let known = || self.matched.iter().any(|known| known.rule == *number);
            if !looks_at_packet(rule, packet.protocol)
                || !header_matches(rule, seen)
                || known()
                || !rule.checks.iter().all(|check| check_holds(check, packet))
            {
                continue;
            }
            self.detect.evaluated += 1;
            self.evaluated = true;
            let bytes = Bytes { bytes: packet.payload, base: 0, fresh: 0 };
            if bytes.matches(&rule.steps, &mut self.detect.limited) {
                self.matched.push(Match { rule: *number, in_stream: false });
            }
        }
    }

    /// Runs the filter; `keys` has what it found.
    fn filter(&mut self, window: &mut Window, bytes: &[u8]) {
        let keys = &mut self.keys;
        keys.clear();
        self.detect.searched_bytes += bytes.len() as u64;
        *window = self.plan.scanner.scan(*window, bytes, &mut |key, _| {
            if !keys.contains(&key) {
                keys.push(key);
            }
        });
        self.hit |= !keys.is_empty();
    }

    /// Whether a rule lets the frame pass whatever others say.
    fn passes(&self) -> bool {
        self.matched.iter().any(|known| self.plan.rule(known.rule).action == Action::Pass)
    }

    /// Whether rules drop the frame, and the flow: a match in a stream is more than this frame.
    fn drops(&self) -> (bool, bool) {
        let drops =
            |known: &&Match| self.drops && matches!(self.plan.rule(known.rule).action, Action::Drop | Action::Reject);
        if self.passes() {
            return (false, false);
        }
        let mut all = self.matched.iter().filter(drops).peekable();
        (all.peek().is_some(), all.any(|known| known.in_stream))
    }

    /// The alerts: rules that drop come first, otherwise the order is that of the rules.
    fn report(self, seen: &Seen<'_>, blocked: bool, hits: &mut [u64]) -> Vec<Alert> {
        if self.matched.is_empty() || self.passes() {
            return Vec::new();
        }
        let mut rules: Vec<u32> = self.matched.iter().map(|known| known.rule).collect();
        rules.sort_by_key(|number| (self.plan.rule(*number).action, *number));
        rules.dedup();
        self.detect.alerts += rules.len() as u64;
        let alert = |number: u32| {
            hits[number as usize] += 1;
            seen.alert(self.plan.rule(number), blocked)
        };
        rules.into_iter().map(alert).collect()
    }
}

impl Seen<'_> {
    fn alert(&self, rule: &Rule, blocked: bool) -> Alert {
        let ports = matches!(self.protocol, 6 | 17) && self.key.is_some();
        let icmp = match self.packet.map(|packet| packet.transport) {
            Some(Transport::Icmp(kind, code)) => Some((kind, code)),
            _ => None,
        };
        Alert {
            timestamp: timestamp(self.time),
            flow_id: self.key.map_or(0, |key| flow_id(&key, self.start)),
            event_type: "alert".to_owned(),
            vlan: self.vlans.into_iter().take_while(|id| *id != 0).collect(),
            src_ip: self.source.0,
            src_port: ports.then_some(self.source.1),
            dest_ip: self.destination.0,
            dest_port: ports.then_some(self.destination.1),
            proto: match self.protocol {
                6 => "TCP".to_owned(),
                17 => "UDP".to_owned(),
                1 => "ICMP".to_owned(),
                58 => "IPv6-ICMP".to_owned(),
                other => format!("{other:03}"),
            },
            icmp_type: icmp.map(|(kind, _)| kind),
            icmp_code: icmp.map(|(_, code)| code),
            direction: self.way.map(|way| match way {
                Way::ToServer => "to_server".to_owned(),
                Way::ToClient => "to_client".to_owned(),
            }),
            tenant: self.tenant,
            alert: Signature::of(rule, blocked),
        }
    }
}

/// Bits of a flow id: JSON readers with floating-point numbers keep them.
const ID_BITS: u32 = 51;

/// The number of a flow: FNV-1a over its key and, of TCP, the time at which it began. A card does not tell the host when other flows begin.
fn flow_id(key: &FlowKey, start: u64) -> u64 {
    let mut bytes = Vec::with_capacity(64);
    for (address, port) in key.ends {
        match address {
            IpAddr::V4(address) => bytes.extend(address.octets()),
            IpAddr::V6(address) => bytes.extend(address.octets()),
        }
        bytes.extend(port.to_be_bytes());
    }
    bytes.extend([key.protocol, key.tenant]);
    bytes.extend(key.vlans.iter().flat_map(|id| id.to_be_bytes()));
    bytes.extend(if key.protocol == 6 { start } else { 0 }.to_be_bytes());
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3);
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, mix) >> (u64::BITS - ID_BITS)
}

/// Whether protocol, ends and flow are those of the rule.
fn header_matches(rule: &Rule, seen: &Seen<'_>) -> bool {
    let with_ports = seen.key.is_some() && matches!(seen.protocol, 6 | 17);
    let protocol = match rule.protocol {
        Protocol::Ip => true,
        Protocol::Tcp => with_ports && seen.protocol == 6,
        Protocol::Udp => with_ports && seen.protocol == 17,
        Protocol::Icmp => matches!(seen.protocol, 1 | 58),
    };
    let ends = |(from, from_port): (IpAddr, u16), (to, to_port): (IpAddr, u16)| {
        (!with_ports || rule.source_ports.has(from_port.into()) && rule.destination_ports.has(to_port.into()))
            && rule.source.has(from)
            && rule.destination.has(to)
    };
    let flow = |asked: Option<bool>, is: Option<bool>| asked.is_none() || asked == is;
    protocol
        && (ends(seen.source, seen.destination) || rule.both && ends(seen.destination, seen.source))
        && flow(rule.flow.established, seen.way.map(|_| seen.established))
        && flow(rule.flow.to_server, seen.way.map(|way| way == Way::ToServer))
}

/// Whether a condition on headers holds.
fn check_holds(check: &Check, packet: &Packet<'_>) -> bool {
    let tcp = match &packet.transport {
        Transport::Tcp(tcp) => Some(tcp),
        _ => None,
    };
    let icmp = match packet.transport {
        Transport::Icmp(kind, code) => Some((kind, code)),
        _ => None,
    };
    match check {
        Check::Size(within) => within.holds(packet.payload.len() as u32),
        Check::Ttl(within) => within.holds(packet.ttl.into()),
        Check::Number(within) => within.holds(packet.protocol.into()),
        Check::IcmpType(within) => icmp.is_some_and(|(kind, _)| within.holds(kind.into())),
        Check::IcmpCode(within) => icmp.is_some_and(|(_, code)| within.holds(code.into())),
        Check::Sequence(number) => tcp.is_some_and(|tcp| tcp.sequence == *number),
        Check::Acknowledged(number) => tcp.is_some_and(|tcp| tcp.acknowledged == *number),
        Check::Window(within) => tcp.is_some_and(|tcp| within.holds(tcp.window.into())),
        Check::Flags(test, flags, ignored) => tcp.is_some_and(|tcp| {
            let set = tcp.flags & !ignored;
            match test {
                FlagTest::Exactly => set == *flags,
                FlagTest::All => set & flags == *flags,
                FlagTest::Any => set & flags != 0,
                FlagTest::None => set & flags == 0,
            }
        }),
    }
}
