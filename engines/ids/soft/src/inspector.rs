// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The whole way of a frame: decoding, flow, stream, filter, rules, alerts. Both targets use it: on `soft` for every
//! frame, on `rtl` for frames that the card tells the host.

use std::collections::HashMap;
use std::sync::Arc;

use penstock_ids_compiler::Program;
use penstock_streams::{Chunk, Direction, Flow, Flows, Held, Limits, Packet, Tcp, Transport, Undecoded, Way, decode};

use crate::look::{Armed, Look, Reported, Side};
use crate::plan::Plan;
use crate::report::Alert;
use crate::seen::Seen;
use crate::stats::{DetectStats, FlowStats, FrameStats, Stats, StreamStats};
use crate::thresholds::Thresholds;

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

/// What is kept of a flow.
#[derive(Debug, Default)]
struct State {
    sides: [Side; 2],
    /// Names of the bits that are set.
    bits: Vec<Arc<str>>,
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
    told: Reported,
    /// Bytes of streams that are kept now.
    kept: usize,
}

impl Inspector {
    /// An inspector with no flows. `drops`: rules with the action drop or reject drop frames.
    #[must_use]
    pub fn new(program: Arc<Program>, bounds: Bounds, drops: bool) -> Self {
        Self {
            told: Reported { hits: vec![0; program.set.rules.len()], thresholds: Thresholds::default() },
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
        &self.told.hits
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
        for (number, count) in (0..).zip(&self.told.hits) {
            if let Some(to) = place(number) {
                hits[to as usize] = *count;
            }
        }
        self.told.hits = hits;
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
        let Self { plan, flows, held, bounds, drops, detect, told: reported, kept, .. } = self;
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
            look.bits = std::mem::take(&mut state.bits);
            if drops && state.dropped {
                look.detect.blocked += 1;
                state.bits = look.bits;
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
            state.bits = std::mem::take(&mut look.bits);
            drops_flow = look.drops().1;
            state.dropped |= drops_flow;
        }
        look.detect.host_frames += u64::from(look.evaluated);
        look.detect.hit_frames += u64::from(look.hit);
        let blocked = look.drops().0;
        look.detect.blocked += u64::from(blocked);
        let mut alerts = look.report(&seen, blocked, reported);
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
        let Self { plan, flows, held, bounds, detect, told: reported, kept, .. } = self;
        let mut alerts = Vec::new();
        for flow in flows.iter_mut().filter(|flow| flow.streams.iter().any(Direction::waits)) {
            let before = (flow.streams.clone(), flow.state.sides.clone());
            let (mut held, mut kept) = (*held, *kept);
            alerts.extend(flush(plan, flow, &mut held, bounds, detect, &mut kept, reported));
            (flow.streams, flow.state.sides) = before;
        }
        // The flows come in no order.
        alerts.sort_by(|left, right| left.timestamp.cmp(&right.timestamp).then(left.flow_id.cmp(&right.flow_id)));
        alerts
    }

    /// Searches what waits in flows that have ended.
    fn end(&mut self) -> Vec<Alert> {
        let Self { plan, flows, held, bounds, detect, told: reported, kept, .. } = self;
        let mut alerts = Vec::new();
        for mut flow in flows.take_ended() {
            alerts.extend(flush(plan, &mut flow, held, bounds, detect, kept, reported));
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
    reported: &mut Reported,
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
        look.bits.clone_from(&flow.state.bits);
        let side = &mut flow.state.sides[way as usize];
        let before = flow.streams[way as usize].position();
        flow.streams[way as usize].flush(held, &mut |chunk| look.take(&seen, side, chunk, before));
        look.stream(&seen, side, before, bounds.history);
        alerts.extend(look.report(&seen, false, reported));
    }
    alerts
}
