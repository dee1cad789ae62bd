// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The whole way of a frame: decoding, flow, stream, filter, rules, alerts. Both targets use it: on `soft` for every
//! frame, on `rtl` for frames that the card tells the host.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use penstock_ids_compiler::Program;
use penstock_ids_compiler::rule::{Check, PacketEvent, Protocol, Rule, Spoken as Named};
use penstock_streams::{
    Chunk, Defrag, DefragCounters, DefragLimits, Direction, Flow, Flows, Held, Limits, Packet, Policy, StreamCounters,
    Systems, Tcp, Transport, Tunnels, Undecoded, Way, decode, fault, oddities,
};
use serde_json::json;

use crate::look::{Armed, Around, Look, Payload, Reported, Side};
use crate::memory::{FlowMemory, HostBits};
use crate::messages::{App, Piece, Spoken};
use crate::plan::Plan;
use crate::records;
use crate::report::{Alert, AlertFields, Ends, record_line, record_with};
use crate::seen::{Seen, flow_id, protocol_name};
use crate::stats::{DetectStats, FlowStats, FrameStats, Stats, StreamStats};
use crate::thresholds::Thresholds;

/// Whether segments with a wrong checksum belong to their stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Checksums {
    /// They do not: their receiver drops them.
    Check,
    /// They do: the network card of a sender fills in the checksums, after a capture.
    Ignore,
    /// As `Check`, and as `Ignore` if more than a tenth of the first 1,000 segments have a wrong one.
    #[default]
    Auto,
}

/// Segments by which [`Checksums::Auto`] decides, and the share of wrong ones among them: one in so many.
const SAMPLE: u64 = 1000;
const SHARE: u64 = 10;

/// The limits of a block, and its view of packets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    /// Flows at a time.
    pub flows: usize,
    /// Bytes of each stream that are kept, for rules whose contents come in several segments.
    pub history: usize,
    /// Bytes that are kept of all streams together. If they are exceeded, the flows that were idle longest end.
    pub memory: usize,
    /// Segments that wait behind holes.
    pub limits: Limits,
    /// Fragments that wait for others.
    pub fragments: DefragLimits,
    /// Systems of the hosts that receive streams.
    pub systems: Systems,
    /// Ports of tunnels.
    pub tunnels: Tunnels,
    /// The treatment of segments with a wrong checksum.
    pub checksums: Checksums,
    /// Rules whose key was found in a direction and that may still match there.
    pub armed: usize,
    /// Bytes of messages of application protocols.
    pub messages: penstock_app::Limits,
    /// When the time of frames was 0, in ns since 1970 UTC: reports add it.
    pub epoch: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            flows: 1 << 16,
            history: 1 << 16,
            memory: 1 << 29,
            limits: Limits::default(),
            fragments: DefragLimits::default(),
            systems: Systems::default(),
            tunnels: Tunnels::default(),
            checksums: Checksums::default(),
            armed: 1024,
            messages: penstock_app::Limits::default(),
            epoch: 0,
        }
    }
}

/// The records that are written beside the fixed fields of alerts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reports {
    /// More fields of alerts.
    pub fields: AlertFields,
    /// Messages of application protocols have records of their own.
    pub messages: bool,
    /// Flows that have ended, or that a run ends with.
    pub flows: bool,
    /// Files in messages.
    pub files: bool,
    /// Dropped packets.
    pub drops: bool,
    /// Frames, streams and messages that are not as they should be.
    pub anomalies: bool,
}

/// The state of a flow.
#[derive(Debug, Default)]
struct State {
    sides: [Side; 2],
    /// The rules' memory of it.
    memory: FlowMemory,
    /// What it speaks.
    app: Option<Box<App>>,
    /// A rule has dropped the flow.
    dropped: bool,
    /// A rule lets the flow pass.
    passed: bool,
    /// A rule has reported in it.
    alerted: bool,
    /// The protocol that it has shown.
    spoken: Option<Named>,
    /// Frames that its last record counted.
    logged: u64,
}

/// The outcome for a frame.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What was found.
    pub alerts: Vec<Alert>,
    /// Records of messages, as lines.
    pub records: Vec<String>,
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

/// A frame on its way: its bytes, tenant and time, and how a card tells it.
#[derive(Debug, Clone, Copy)]
struct Carried<'a> {
    frame: &'a [u8],
    tenant: u8,
    now: u64,
    told: Told,
}

/// Filter, matcher and all that they remember.
#[derive(Debug)]
pub struct Inspector {
    plan: Plan,
    flows: Flows<State>,
    defrag: Defrag,
    held: Held,
    bounds: Bounds,
    /// Segments whose checksum was looked at, and those of them with a wrong one.
    checked: [u64; 2],
    drops: bool,
    frames: FrameStats,
    detect: DetectStats,
    told: Reported,
    hosts: HostBits,
    reports: Reports,
    /// Bytes of streams that are kept now.
    kept: usize,
}

impl Inspector {
    /// An inspector with no flows. `drops`: rules with the action drop or reject drop frames.
    #[must_use]
    pub fn new(program: Arc<Program>, bounds: Bounds, drops: bool) -> Self {
        Self::reporting(program, bounds, drops, Reports::default())
    }

    /// The same, with more in its reports.
    #[must_use]
    pub fn reporting(program: Arc<Program>, bounds: Bounds, drops: bool, reports: Reports) -> Self {
        let hits = vec![0; program.set.rules.len()];
        let plan = Plan::new(program, reports);
        let messages = penstock_app::Limits {
            files: plan.facts,
            hashes: plan.hashes,
            client_certificates: plan.client_certificates,
            ..bounds.messages
        };
        let bounds = Bounds { messages, ..bounds };
        Self {
            told: Reported { hits, thresholds: Thresholds::default() },
            plan,
            hosts: HostBits::default(),
            reports,
            flows: Flows::new(bounds.flows),
            defrag: Defrag::new(bounds.fragments),
            checked: [0; 2],
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

    /// Its limits.
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
        let set = &self.plan.program.set;
        let rules = set.rules.len() as u64;
        let missed_values = self.detect.missed_values + set.datasets.iter().map(|set| set.missed(false)).sum::<u64>();
        Stats {
            frames: self.frames,
            detect: DetectStats { rules, missed_values, ..self.detect },
            flows: FlowStats::of(self.flows.len(), self.flows.counters()),
            defrag: self.defrag.counters().into(),
            streams: StreamStats { waiting_bytes: self.held.bytes as u64, ..self.held.counters.into() },
        }
    }

    /// Exchanges the rules between two frames. Flows and streams stay. A rule with the same gid and sid in both sets
    /// goes on where it was; a rule that is new begins to look here.
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
                side.armed = side
                    .armed
                    .iter()
                    .filter_map(|armed| Some(Armed { rule: place(armed.rule)?, absent: None, ..*armed }))
                    .collect();
                self.kept -= side.memory();
                side.mixed.retain_mut(|mixed| match place(mixed.rule) {
                    Some(number) => {
                        let [before, behind] = [&old[mixed.rule as usize], &program.set.rules[number as usize]];
                        if before.rev != behind.rev {
                            // Its conditions may be others.
                            mixed.values.clear();
                        }
                        mixed.rule = number;
                        true
                    }
                    None => false,
                });
                self.kept += side.memory();
            }
            if let Some(app) = &mut flow.state.app {
                app.reload(&place);
            }
        }
        for old in &self.plan.program.set.datasets {
            let new = program.set.dataset(old.name());
            if new.is_none_or(|new| !new.is_kept_as(old)) {
                // No set writes these values later.
                self.detect.unsaved += u64::from(old.save().is_err());
            }
            if let Some(new) = new {
                new.take_from(old);
            }
            self.detect.missed_values += old.missed(true);
        }
        let mut hits = vec![0; program.set.rules.len()];
        for (number, count) in (0..).zip(&self.told.hits) {
            if let Some(to) = place(number) {
                hits[to as usize] = *count;
            }
        }
        self.told.hits = hits;
        self.plan = Plan::new(program, self.reports);
        self.bounds.messages.files = self.plan.facts;
        self.bounds.messages.hashes = self.plan.hashes;
        self.bounds.messages.client_certificates = self.plan.client_certificates;
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
        let mut outcome = Outcome::default();
        let carried = Carried { frame, tenant, now, told };
        match decode(frame) {
            Err(Undecoded::Malformed) => self.faulty(&carried, &mut outcome),
            packet => self.decoded(packet, &carried, &mut outcome),
        }
        while self.kept > self.bounds.memory && self.flows.evict() {
            self.end(&mut outcome.alerts, &mut outcome.records);
        }
        if self.flows.has_ended() {
            self.end(&mut outcome.alerts, &mut outcome.records);
        }
        outcome
    }

    /// Looks at a packet, and at those that follow from it: the one that it makes whole, and the one that it carries.
    fn decoded(&mut self, packet: Result<Packet<'_>, Undecoded>, carried: &Carried<'_>, outcome: &mut Outcome) {
        let packet = match packet {
            Ok(packet) => packet,
            Err(Undecoded::NotIp) => {
                self.frames.not_ip += 1;
                return;
            }
            Err(Undecoded::Malformed) => {
                self.frames.malformed += 1;
                let time = self.bounds.epoch.saturating_add(carried.now);
                outcome.records.extend(self.anomaly(time, None, "decode", "decoder.malformed"));
                return;
            }
        };
        self.count(&packet);
        let (before, fragments) = (self.held.counters, self.defrag.counters());
        let is_fragment = packet.fragment.is_some();
        let whole =
            if is_fragment { self.defrag.push(&packet, carried.tenant, carried.now, Policy::default()) } else { None };
        let defragged = self.fragment_events(fragments, packet.source.is_ipv4());
        self.packet(&packet, carried, event_bits("decode-event", &defragged), outcome);
        if self.reports.anomalies {
            self.anomalies(&packet, carried, before, outcome);
        }
        // The card's gaps are those of the stream that the frame itself belongs to.
        let carried = &Carried { told: Told { after_gap: false, ..carried.told }, ..*carried };
        if is_fragment {
            for event in defragged {
                let time = self.bounds.epoch.saturating_add(carried.now);
                let ends = ends_of(&packet, carried.tenant);
                outcome.records.extend(self.anomaly(time, Some(&ends), "decode", &format!("decoder.{event}")));
            }
            if let Some(whole) = whole {
                self.decoded(whole.packet(), carried, outcome);
            }
        } else if let Some(inner) = packet.inner(&self.bounds.tunnels) {
            self.frames.tunnels += 1;
            self.decoded(inner, carried, outcome);
        }
    }

    /// Events of a fragment, by what was counted before it.
    fn fragment_events(&self, before: DefragCounters, is_v4: bool) -> Vec<&'static str> {
        let after = self.defrag.counters();
        let [overlap, too_large] = match is_v4 {
            true => ["ipv4.frag_overlap", "ipv4.frag_pkt_too_large"],
            false => ["ipv6.frag_overlap", "ipv6.frag_pkt_too_large"],
        };
        let all = [(after.overlaps > before.overlaps, overlap), (after.too_large > before.too_large, too_large)];
        all.into_iter().filter(|(is, _)| *is).map(|(_, event)| event).collect()
    }

    /// Takes a frame that cannot be decoded: only rules about its fault may match.
    fn faulty(&mut self, carried: &Carried<'_>, outcome: &mut Outcome) {
        self.frames.malformed += 1;
        let time = self.bounds.epoch.saturating_add(carried.now);
        let fault = fault(carried.frame);
        let unknown = (IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
        let ends = fault.and_then(|fault| fault.ends);
        let (source, destination, protocol) = ends.unwrap_or(unknown);
        let events = fault.map_or(0, |fault| event_bits("decode-event", &[fault.event]));
        let seen = Seen {
            time,
            source: (source, 0),
            destination: (destination, 0),
            protocol,
            key: None,
            start: carried.now,
            begun: time,
            way: None,
            established: false,
            tenant: carried.tenant,
            vlans: [0; 3],
            packet: None,
            streams: [0; 2],
            spoken: Spoken::default(),
            frames: [0; 2],
            bytes: [0; 2],
            age: 0,
            events,
            frame: carried.frame,
        };
        let name = fault.map_or_else(|| "decoder.malformed".to_owned(), |fault| format!("decoder.{}", fault.event));
        let known = ends.map(|_| seen.ends());
        outcome.records.extend(self.anomaly(time, known.as_ref(), "decode", &name));
        if self.plan.events & events == 0 {
            return;
        }
        let Self { plan, bounds, drops, detect, told: reported, hosts, reports, kept, .. } = self;
        let drops = *drops && !carried.told.has_passed;
        let mut look = Look::new(Around { plan, detect, kept, hosts, armed: bounds.armed }, drops);
        look.evaluated = true;
        for number in &plan.event_rules {
            if fault_matches(plan.rule(*number), &seen) {
                look.found_in(&seen, *number, false, None);
            }
        }
        let blocked = look.drops().0;
        look.detect.host_frames += u64::from(look.evaluated);
        look.detect.blocked += u64::from(blocked);
        outcome.drop |= blocked;
        let alerts = look.report(&seen, blocked, reported, reports.fields);
        if reports.drops && blocked {
            // Only the length of the packet is known.
            let mut objects = vec![("drop", json!({"len": carried.frame.len(), "reason": "rules"}))];
            objects.extend(alerts.first().map(|alert| ("alert", json!(alert.alert))));
            outcome.records.push(record_with(time, known.as_ref(), "drop", objects));
        }
        outcome.alerts.extend(alerts);
    }

    /// A record of an anomaly, if they are asked for.
    fn anomaly(&self, time: u64, ends: Option<&Ends>, kind: &str, event: &str) -> Option<String> {
        let object = || vec![("anomaly", json!({"type": kind, "event": event}))];
        self.reports.anomalies.then(|| record_with(time, ends, "anomaly", object()))
    }

    /// Records of what a packet's stream and checksum show.
    fn anomalies(&self, packet: &Packet<'_>, carried: &Carried<'_>, before: StreamCounters, outcome: &mut Outcome) {
        let after = self.held.counters;
        let wrong = matches!(packet.transport, Transport::Tcp(_)) && packet.has_right_checksum() == Some(false);
        for (is, kind, event) in [
            (wrong, "stream", "stream.pkt_invalid_checksum"),
            (after.gaps > before.gaps, "stream", "stream.reassembly_seq_gap"),
            (after.overlaps > before.overlaps, "stream", "stream.reassembly_overlap"),
            (after.far > before.far, "stream", "stream.pkt_out_of_window"),
        ] {
            if is {
                let time = self.bounds.epoch.saturating_add(carried.now);
                let ends = ends_of(packet, carried.tenant);
                outcome.records.extend(self.anomaly(time, Some(&ends), kind, event));
            }
        }
    }

    /// Whether a segment belongs to its stream by its checksum.
    fn is_sound(&mut self, packet: &Packet<'_>) -> bool {
        let [checked, wrong] = &mut self.checked;
        let ignores = match self.bounds.checksums {
            Checksums::Check => false,
            Checksums::Ignore => true,
            Checksums::Auto => *checked >= SAMPLE && *wrong * SHARE > *checked,
        };
        if ignores || !matches!(packet.transport, Transport::Tcp(_)) {
            return true;
        }
        let right = packet.has_right_checksum() == Some(true);
        if *checked < SAMPLE {
            *checked += 1;
            *wrong += u64::from(!right);
        }
        self.frames.wrong_checksums += u64::from(!right);
        right
    }

    /// Looks at one packet.
    fn packet(&mut self, packet: &Packet<'_>, carried: &Carried<'_>, mut events: u64, outcome: &mut Outcome) {
        if self.plan.events != 0 {
            events |= event_bits("decode-event", &oddities(packet));
        }
        let sound = self.is_sound(packet);
        let Carried { frame, tenant, now, told } = *carried;
        let Self { plan, flows, held, bounds, drops, detect, told: reported, hosts, reports, kept, .. } = self;
        let drops = *drops && !told.has_passed;
        let malformed = detect.app.malformed;
        let mut look = Look::new(Around { plan, detect, kept, hosts, armed: bounds.armed }, drops);
        let source = (packet.source, packet.ports[0]);
        let destination = (packet.destination, packet.ports[1]);
        let mut seen = Seen {
            time: bounds.epoch.saturating_add(now),
            source,
            destination,
            protocol: packet.protocol,
            key: None,
            start: now,
            begun: bounds.epoch.saturating_add(now),
            way: None,
            established: false,
            tenant,
            vlans: packet.vlans,
            packet: Some(packet),
            streams: [0; 2],
            spoken: Spoken::default(),
            frames: [0; 2],
            bytes: [0; 2],
            age: 0,
            events,
            frame,
        };
        let (mut wanted, mut drops_flow) = (false, false);
        if packet.fragment.is_some() {
            look.packet(&seen, packet, Payload::Alone);
        } else {
            let (flow, way) = flows.enter_as(packet, tenant, now, sound);
            seen.key = Some(flow.key);
            seen.start = flow.start;
            seen.begun = bounds.epoch.saturating_add(flow.start);
            seen.way = Some(way);
            seen.established = flow.established;
            seen.frames = flow.frames;
            let whole =
                if packet.level == 0 && !packet.rebuilt { frame.len() } else { packet.ip.len() + packet.body.len() };
            flow.bytes[way as usize] += whole as u64;
            seen.bytes = flow.bytes;
            seen.age = flow.last - flow.start;
            let is_over = flow.is_over();
            let unopened = flow.flags.iter().all(|flags| flags & Tcp::SYN == 0);
            let Flow { state, streams, .. } = flow;
            look.memory = std::mem::take(&mut state.memory);
            look.passed = state.passed;
            if drops && state.dropped {
                look.detect.blocked += 1;
                state.memory = look.memory;
                outcome.drop = true;
                outcome.wanted = true;
                if reports.drops {
                    let object = vec![("drop", records::dropped(packet, "flow drop"))];
                    outcome.records.push(record_with(seen.time, Some(&seen.ends()), "drop", object));
                }
                return;
            }
            match &packet.transport {
                // The payload of a reset is no part of the stream (RFC 9293, 3.5.3).
                Transport::Tcp(tcp) if !sound || tcp.has(Tcp::RST) => {
                    seen.streams = [streams[0].position(), streams[1].position()];
                    // The segment is not part of the stream: only its flags decide.
                    let counted = held.counters;
                    seen.events |= event_bits("stream-event", &segment_events(tcp, unopened, counted, counted));
                    let side = &state.sides[way as usize];
                    wanted = !side.armed.is_empty() || !side.mixed.is_empty();
                    if let Some(app) = &state.app {
                        seen.spoken = app.layer(way as usize);
                        wanted |= app.is_wanted(way as usize, plan.every_http);
                    }
                    look.packet(&seen, packet, Payload::Alone);
                }
                Transport::Tcp(tcp) => {
                    let first = tcp.sequence.wrapping_add(u32::from(tcp.has(Tcp::SYN)));
                    let number = way as usize;
                    let (side, stream) = (&mut state.sides[number], &mut streams[number]);
                    if plan.reads && !packet.payload.is_empty() && state.app.is_none() {
                        state.app = Some(Box::new(App::new(packet.ports)));
                    }
                    let app = &mut state.app;
                    if let Some(app) = app.as_mut().filter(|_| told.after_gap) {
                        app.miss(number);
                    }
                    seen.spoken = app.as_ref().map(|app| app.layer(number)).unwrap_or_default();
                    let (mut whole, before) = (false, stream.position());
                    let counted = held.counters;
                    let mut emit = |chunk: Chunk<'_>| {
                        whole |= chunk.direct && chunk.bytes.len() == packet.payload.len();
                        look.take(&seen, side, chunk, before);
                        if let Some(app) = app {
                            let piece = Piece::Chunk(&chunk);
                            look.app(&seen, number, app, &piece, &bounds.messages, &mut side.mixed);
                        }
                    };
                    let limits = Limits { policy: bounds.systems.of(packet.destination), ..bounds.limits };
                    if told.after_gap {
                        stream.resume(first, packet.payload, &limits, held, &mut emit);
                    } else {
                        stream.push(first, packet.payload, &limits, held, &mut emit);
                    }
                    seen.streams = [streams[0].position(), streams[1].position()];
                    if plan.events != 0 {
                        seen.events |=
                            event_bits("stream-event", &segment_events(tcp, unopened, counted, held.counters));
                    }
                    if let Some(app) = app {
                        seen.spoken = app.layer(number);
                        wanted = app.is_wanted(number, plan.every_http);
                    }
                    look.stream(&seen, side, before, bounds.history, false);
                    wanted |= !side.armed.is_empty() || !side.mixed.is_empty();
                    look.packet(&seen, packet, if whole { Payload::Searched } else { Payload::InStream });
                }
                Transport::Udp => {
                    if plan.reads {
                        seen.spoken = look.datagram(&seen, packet.payload, packet.ports);
                    }
                    look.packet(&seen, packet, Payload::Alone);
                }
                _ => look.packet(&seen, packet, Payload::Alone),
            }
            state.memory = look.give_memory();
            if is_over {
                state.sides.iter_mut().for_each(|side| *look.kept -= side.release());
            }
            drops_flow = look.drops().1;
            state.dropped |= drops_flow;
            state.passed = look.passes_flow();
            state.alerted |= look.has_matched();
            state.spoken = seen.spoken.protocol.or(state.spoken);
        }
        look.detect.host_frames += u64::from(look.evaluated);
        look.detect.hit_frames += u64::from(look.hit);
        let blocked = look.drops().0;
        look.detect.blocked += u64::from(blocked && !outcome.drop);
        outcome.records.extend(lines(&seen, &mut look));
        if reports.anomalies && look.detect.app.malformed > malformed {
            let object = json!({"type": "applayer", "event": "malformed", "layer": "proto_parser"});
            let named = seen.spoken.protocol.map(|protocol| ("app_proto", protocol.name().into()));
            let objects = named.into_iter().chain([("anomaly", object)]).collect();
            outcome.records.push(record_with(seen.time, Some(&seen.ends()), "anomaly", objects));
        }
        let alerts = look.report(&seen, blocked, reported, reports.fields);
        if reports.drops && blocked {
            let mut objects = vec![("drop", records::dropped(packet, "rules"))];
            objects.extend(alerts.first().map(|alert| ("alert", json!(alert.alert))));
            outcome.records.push(record_with(seen.time, Some(&seen.ends()), "drop", objects));
        }
        outcome.alerts.extend(alerts);
        outcome.drop |= blocked;
        outcome.wanted |= wanted;
        outcome.drops_flow |= drops_flow;
    }

    /// Searches the bytes behind holes, as if the holes were given up here, and messages without an end, as if they
    /// ended here. Neither is final: the missing bytes may come with the next frames. Returns alerts, and records of
    /// messages as lines.
    pub fn finish(&mut self) -> (Vec<Alert>, Vec<String>) {
        let Self { plan, flows, held, bounds, detect, told: reported, hosts, reports, kept, .. } = self;
        let (mut alerts, mut records) = (Vec::new(), Vec::new());
        for flow in flows.iter_mut() {
            if needs_end(flow) {
                let before = (flow.streams.clone(), flow.state.sides.clone(), flow.state.memory.clone());
                let app = flow.state.app.as_ref().map(|app| Box::new(app.snapshot()));
                let app = std::mem::replace(&mut flow.state.app, app);
                let (mut held, mut kept) = (*held, *kept);
                let around = Around { plan, detect, kept: &mut kept, hosts, armed: bounds.armed };
                let (more, lines) = flush(around, flow, &mut held, bounds, reported, reports.fields);
                flow.state.alerted |= !more.is_empty();
                alerts.extend(more);
                records.extend(lines);
                (flow.streams, flow.state.sides, flow.state.memory) = before;
                flow.state.app = app;
            }
            // Behind the search: the record says whether a rule has reported.
            records.extend(flow_record(flow, reports, bounds.epoch));
        }
        let sets = &self.plan.program.set.datasets;
        self.detect.unsaved += sets.iter().filter(|set| set.save().is_err()).count() as u64;
        // The flows come in no order.
        alerts.sort_by(|left, right| {
            left.timestamp.cmp(&right.timestamp).then(left.ends.flow_id.cmp(&right.ends.flow_id))
        });
        records.sort();
        (alerts, records)
    }

    /// Searches what waits in flows that have ended.
    fn end(&mut self, alerts: &mut Vec<Alert>, records: &mut Vec<String>) {
        let Self { plan, flows, held, bounds, detect, told: reported, hosts, reports, kept, .. } = self;
        for mut flow in flows.take_ended() {
            if needs_end(&flow) {
                let around = Around { plan, detect, kept, hosts, armed: bounds.armed };
                let (more, lines) = flush(around, &mut flow, held, bounds, reported, reports.fields);
                flow.state.alerted |= !more.is_empty();
                alerts.extend(more);
                records.extend(lines);
            }
            records.extend(flow_record(&mut flow, reports, bounds.epoch));
            *kept -= flow.state.sides.iter().map(Side::memory).sum::<usize>();
            *kept -= flow.state.app.as_ref().map_or(0, |app| app.counted());
        }
    }

    fn count(&mut self, packet: &Packet<'_>) {
        let frames = &mut self.frames;
        if packet.source.is_ipv4() {
            frames.ipv4 += 1;
        } else {
            frames.ipv6 += 1;
        }
        match packet.transport {
            _ if packet.fragment.is_some() => frames.fragments += 1,
            Transport::Tcp(_) => frames.tcp += 1,
            Transport::Udp => frames.udp += 1,
            Transport::Icmp(..) => frames.icmp += 1,
            Transport::Other => {}
        }
    }
}

/// Whether a rule matches a frame of which only the fault, the addresses and the protocol are known.
fn fault_matches(rule: &Rule, seen: &Seen<'_>) -> bool {
    let protocol = match rule.protocol {
        Protocol::Ip => true,
        Protocol::Tcp => seen.protocol == 6,
        Protocol::Udp => seen.protocol == 17,
        Protocol::Icmp => matches!(seen.protocol, 1 | 58),
    };
    let ends = |from, to| rule.source.has(from) && rule.destination.has(to);
    let (source, destination) = (seen.source.0, seen.destination.0);
    protocol
        && (ends(source, destination) || rule.both && ends(destination, source))
        && rule.checks.iter().all(|check| matches!(check, Check::Event(event) if seen.events & event.bit() != 0))
        && rule.steps.is_empty()
        && rule.headers.is_empty()
        && rule.layers.is_empty()
        && rule.flow.is_empty()
        && !rule.tests_memory()
}

/// Events of a segment: `unopened`: no SYN of its connection was seen.
fn segment_events(tcp: &Tcp, unopened: bool, before: StreamCounters, after: StreamCounters) -> Vec<&'static str> {
    let all = [
        (tcp.has(Tcp::FIN) && tcp.has(Tcp::SYN), "fin_syn"),
        (tcp.acknowledged != 0 && !tcp.has(Tcp::ACK), "pkt_broken_ack"),
        (tcp.has(Tcp::FIN) && unopened, "fin_but_no_session"),
        (after.retransmitted > before.retransmitted, "pkt_retransmission"),
        (after.gaps > before.gaps, "reassembly_seq_gap"),
    ];
    all.into_iter().filter(|(is, _)| *is).map(|(_, event)| event).collect()
}

/// Events by name as bits.
fn event_bits(keyword: &str, names: &[&str]) -> u64 {
    let bit = |name: &&str| PacketEvent::named(keyword, name).map_or(0, PacketEvent::bit);
    names.iter().map(bit).fold(0, |all, bit| all | bit)
}

/// Records of the messages of a frame, and of the files in them.
fn lines(seen: &Seen<'_>, look: &mut Look<'_>) -> Vec<String> {
    if look.records.is_empty() && look.files.is_empty() {
        return Vec::new();
    }
    let ends = seen.ends();
    let messages = std::mem::take(&mut look.records).into_iter().map(|object| record_line(seen.time, &ends, object));
    let files = std::mem::take(&mut look.files).into_iter().map(|((protocol, message), file)| {
        let objects = vec![("app_proto", protocol.into()), (protocol, message), ("fileinfo", file)];
        record_with(seen.time, Some(&ends), "fileinfo", objects)
    });
    messages.chain(files).collect()
}

/// Ends of a packet that is not looked up in its flow.
fn ends_of(packet: &Packet<'_>, tenant: u8) -> Ends {
    let ports = matches!(packet.transport, Transport::Tcp(_) | Transport::Udp);
    Ends {
        flow_id: 0,
        vlan: packet.vlans.into_iter().take_while(|id| *id != 0).collect(),
        src_ip: packet.source,
        src_port: ports.then_some(packet.ports[0]),
        dest_ip: packet.destination,
        dest_port: ports.then_some(packet.ports[1]),
        proto: protocol_name(packet.protocol),
        icmp_type: None,
        icmp_code: None,
        direction: None,
        tenant,
    }
}

/// The record of a flow, if they are asked for and the last one did not count all of its frames.
fn flow_record(flow: &mut Flow<State>, reports: &Reports, epoch: u64) -> Option<String> {
    let frames = flow.frames.iter().sum();
    let is_new = std::mem::replace(&mut flow.state.logged, frames) != frames;
    (reports.flows && is_new).then(|| flow_line(flow, epoch))
}

/// The line of this record.
fn flow_line(flow: &Flow<State>, epoch: u64) -> String {
    let [client, server] = flow.ends();
    let ports = matches!(flow.key.protocol, 6 | 17);
    let ends = Ends {
        flow_id: flow_id(&flow.key, flow.start),
        vlan: flow.key.vlans.into_iter().take_while(|id| *id != 0).collect(),
        src_ip: client.0,
        src_port: ports.then_some(client.1),
        dest_ip: server.0,
        dest_port: ports.then_some(server.1),
        proto: protocol_name(flow.key.protocol),
        icmp_type: None,
        icmp_code: None,
        direction: None,
        tenant: flow.key.tenant,
    };
    let state = &flow.state;
    let action = if state.dropped { Some("drop") } else { state.passed.then_some("pass") };
    let (about, tcp) = records::flow(flow, epoch, state.alerted, action);
    let named = flow.state.spoken.map(|protocol| ("app_proto", protocol.name().into()));
    let objects = named.into_iter().chain([("flow", about)]).chain(tcp.map(|tcp| ("tcp", tcp))).collect();
    record_with(epoch.saturating_add(flow.last), Some(&ends), "flow", objects)
}

/// Whether something of a flow waits for its end.
fn needs_end(flow: &Flow<State>) -> bool {
    flow.streams.iter().any(Direction::waits)
        || flow.state.sides.iter().any(Side::is_behind)
        || flow.state.app.as_ref().is_some_and(|app| app.waits())
}

/// Searches what waits behind the holes of a flow, and in its messages.
fn flush(
    around: Around<'_>,
    flow: &mut Flow<State>,
    held: &mut Held,
    bounds: &Bounds,
    reported: &mut Reported,
    fields: AlertFields,
) -> (Vec<Alert>, Vec<String>) {
    let (mut alerts, mut records) = (Vec::new(), Vec::new());
    let [client, server] = flow.ends();
    let Around { plan, detect, kept, hosts, armed } = around;
    for way in [Way::ToServer, Way::ToClient] {
        let (source, destination) = if way == Way::ToServer { (client, server) } else { (server, client) };
        let mut seen = Seen {
            time: bounds.epoch.saturating_add(flow.last),
            source,
            destination,
            protocol: flow.key.protocol,
            key: Some(flow.key),
            start: flow.start,
            begun: bounds.epoch.saturating_add(flow.start),
            way: Some(way),
            established: flow.established,
            tenant: flow.key.tenant,
            vlans: flow.key.vlans,
            packet: None,
            streams: [flow.streams[0].position(), flow.streams[1].position()],
            spoken: Spoken::default(),
            frames: flow.frames,
            bytes: flow.bytes,
            age: flow.last - flow.start,
            events: 0,
            frame: &[],
        };
        let number = way as usize;
        // Its frames are gone: nothing can be dropped.
        let mut look = Look::new(Around { plan, detect, kept, hosts, armed }, false);
        look.memory = std::mem::take(&mut flow.state.memory);
        look.passed = flow.state.passed;
        let side = &mut flow.state.sides[number];
        let app = &mut flow.state.app;
        seen.spoken = app.as_ref().map(|app| app.layer(number)).unwrap_or_default();
        let before = flow.streams[number].position();
        flow.streams[number].flush(held, &mut |chunk| {
            look.take(&seen, side, chunk, before);
            if let Some(app) = app {
                look.app(&seen, number, app, &Piece::Chunk(&chunk), &bounds.messages, &mut side.mixed);
            }
        });
        if let Some(app) = app {
            look.app(&seen, number, app, &Piece::End, &bounds.messages, &mut side.mixed);
            seen.spoken = app.layer(number);
        }
        look.stream(&seen, side, before, bounds.history, true);
        records.extend(lines(&seen, &mut look));
        flow.state.memory = look.give_memory();
        alerts.extend(look.report(&seen, false, reported, fields));
    }
    (alerts, records)
}

#[cfg(test)]
mod tests {
    use penstock_ids_compiler::{Options, RuleFile, Ruleset};

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// A segment of a client.
    fn segment(port: u8, sequence: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
        let mut frame = vec![2; 12];
        let length = (40 + payload.len()) as u8;
        frame.extend([8, 0, 0x45, 0, 0, length, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        frame.extend([0x10, port, 0, 80, 0, 0, 0, sequence, 0, 0, 0, 0, 0x50, flags, 1, 0, 0, 0, 0, 0]);
        frame.extend(payload);
        frame
    }

    /// A segment of the server.
    fn answer(sequence: u8, payload: &[u8]) -> Vec<u8> {
        let mut frame = segment(1, sequence, Tcp::ACK, payload);
        frame[26..34].rotate_left(4);
        frame[34..38].rotate_left(2);
        frame
    }

    fn inspector(rules: &str) -> Inspector {
        let file = RuleFile { name: "r".into(), text: rules.into() };
        let set = Ruleset::read(&[file], &Options::default()).unwrap();
        let bounds = Bounds { checksums: Checksums::Ignore, flows: 1, ..Bounds::default() };
        let reports = Reports { flows: true, ..Reports::default() };
        Inspector::reporting(Arc::new(Program::new(set)), bounds, false, reports)
    }

    /// Bytes behind a hole are searched when the run ends, or the flow: rules report them in both cases, and one record
    /// counts each frame and says that a rule has reported.
    #[test]
    fn a_flow_that_ends_has_one_record() {
        let rules = "alert tcp any any -> any any (flow:no_frag; content:\"word\"; sid:1;)\n\
            alert tcp any any -> any any (flow:only_frag; content:\"word\"; sid:2;)\n";
        let sids = |alerts: &[Alert]| alerts.iter().map(|alert| alert.alert.signature_id).collect::<Vec<_>>();
        let alerted =
            |records: &[String]| records.iter().map(|record| record.contains("\"alerted\":true")).collect::<Vec<_>>();
        for finishes in [true, false] {
            let mut inspector = inspector(rules);
            inspector.carry(&segment(1, 0, Tcp::SYN, b""), 0, SECOND);
            assert_eq!(sids(&inspector.carry(&segment(1, 5, Tcp::ACK, b"wo"), 0, SECOND).alerts), [0; 0]);
            assert_eq!(sids(&inspector.carry(&segment(1, 7, Tcp::ACK, b"rd"), 0, SECOND).alerts), [0; 0]);
            if finishes {
                let (alerts, records) = inspector.finish();
                assert_eq!((sids(&alerts), alerted(&records)), (vec![1], vec![true]));
                assert_eq!(inspector.finish().1, [""; 0]);
            }
            // Another flow takes its place.
            let outcome = inspector.carry(&segment(2, 0, Tcp::SYN, b""), 0, 2 * SECOND);
            assert!(sids(&outcome.alerts).iter().all(|sid| *sid == 1));
            assert_eq!(alerted(&outcome.records), if finishes { vec![] } else { vec![true] });
        }
    }

    /// The host wants the frames of a response from the key or the encoding on that announces it up to its end; it wants
    /// all responses if a rule may match one without either.
    #[test]
    fn responses_are_wanted() {
        let keyed = "alert http any any -> any any (flow:to_client; file_data; content:\"word\"; sid:1;)\n";
        let any = "alert http any any -> any any (flow:to_client; http.header_names; content:\"|0d 0a|\"; bsize:99; sid:2;)\n";
        for all in [false, true] {
            let mut inspector = inspector(&[keyed, if all { any } else { "" }].concat());
            inspector.carry(&segment(1, 0, Tcp::SYN, b""), 0, SECOND);
            let mut sequence = 1;
            for (payload, wanted, alerts) in [
                (&b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"[..], false, 0),
                (b"wo", false, 0),
                (b"rd", true, 0),
                (b".", false, 1),
                (b"HTT", false, 0),
                (b"P/1.1 200 OK\r\nTransfer-Encod", true, 0),
                (b"ing: chunked\r\n\r\n2\r\nwo\r\n", true, 0),
                (b"2\r\nrd\r\n0\r\n", true, 0),
                (b"\r\n", false, 1),
                (b"HTTP/1.1 200 OK\r\n", false, 0),
            ] {
                let outcome = inspector.carry(&answer(sequence, payload), 0, SECOND);
                sequence += payload.len() as u8;
                assert_eq!((outcome.wanted, outcome.alerts.len()), (wanted || all, alerts), "{sequence}");
            }
        }
    }

    /// A connection that both ends have closed keeps no bytes, also if a rule still misses a content.
    #[test]
    fn closed_connections_keep_no_bytes() {
        let rule = "alert tcp any any -> any any (content:\"word\"; fast_pattern; content:\"never\"; sid:1;)\n";
        let mut inspector = inspector(rule);
        let with = |mut frame: Vec<u8>, flags: u8, acknowledged: u8| {
            (frame[45], frame[47]) = (acknowledged, flags);
            frame
        };
        let mut kept = Vec::new();
        for frame in [
            segment(1, 0, Tcp::SYN, b""),
            segment(1, 1, Tcp::ACK, b"word"),
            answer(1, b"x"),
            segment(1, 5, Tcp::FIN | Tcp::ACK, b""),
            with(answer(2, b""), Tcp::FIN | Tcp::ACK, 6),
            with(segment(1, 6, Tcp::ACK, b""), Tcp::ACK, 3),
        ] {
            inspector.carry(&frame, 0, SECOND);
            kept.push(inspector.kept);
        }
        assert_eq!(kept, [0, 4, 5, 5, 0, 0]);
    }

    /// A response whose body is a piece of the stream.
    const PLAIN: [&[u8]; 3] = [b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\na wo", b"rd or", b" t"];

    /// Alerts of these pieces of a response; other rules are loaded before the last one.
    fn alerts(mut inspector: Inspector, pieces: &[&[u8]], reloaded: Option<Arc<Program>>) -> Vec<u32> {
        inspector.carry(&segment(1, 0, Tcp::SYN, b""), 0, SECOND);
        let (mut sequence, mut sids) = (1, Vec::new());
        for (number, piece) in pieces.iter().enumerate() {
            if let Some(program) = reloaded.clone().filter(|_| number + 1 == pieces.len()) {
                inspector.reload(program);
            }
            let outcome = inspector.carry(&answer(sequence, piece), 0, SECOND);
            sids.extend(outcome.alerts.iter().map(|alert| alert.alert.signature_id));
            sequence += piece.len() as u8;
        }
        sids
    }

    /// Rules about such a body have their candidates from the stream, also if their keys get other numbers before it
    /// ends.
    #[test]
    fn plain_bodies_are_searched_in_the_stream() {
        let word = "alert http any any -> any any (file_data; content:\"word\"; sid:1;)\n";
        let other = "alert http any any -> any any (file_data; content:\"nothing\"; sid:2;)\n";
        let program = |rules: &str| Arc::clone(inspector(rules).program());
        assert_eq!(alerts(inspector(word), &PLAIN, None), [1]);
        assert_eq!(alerts(inspector(other), &PLAIN, None), [0; 0]);
        assert_eq!(alerts(inspector(word), &PLAIN, Some(program(&[other, word].concat()))), [1]);
    }

    /// If the filter of streams has no place for a key, bodies are searched for it.
    #[test]
    fn bodies_are_searched_for_keys_without_a_place() {
        let word = |sid: u8| char::from(b'a' + sid).to_string().repeat(6);
        let rule =
            |sid: u8| format!("alert http any any -> any any (file_data; content:\"{}\"; sid:{sid};)\n", word(sid));
        let rules: String = (1..26).map(rule).collect();
        let program = Arc::new(inspector(&rules).program().sized(1));
        assert!(program.searches_bodies);
        let bounds = Bounds { checksums: Checksums::Ignore, ..Bounds::default() };
        for sid in 1..26 {
            let body = ["HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n", &word(sid)].concat();
            let inspector = Inspector::new(Arc::clone(&program), bounds.clone(), false);
            assert_eq!(alerts(inspector, &[body.as_bytes()], None), [u32::from(sid)]);
        }
    }

    /// A key may come before the protocol shows: the bytes that show it are wanted.
    #[test]
    fn undecided_directions_are_wanted() {
        let rule = "alert http any any -> any any (http.uri.raw; content:\"word\"; sid:1;)\n";
        let mut inspector = inspector(rule);
        inspector.carry(&segment(1, 0, Tcp::SYN, b""), 0, SECOND);
        let mut sequence = 1;
        for (payload, wanted, alerts) in
            [(&b"BREW /word HT"[..], true, 0), (b"TP/1.1\r\n", true, 1), (b"\r\n", false, 0)]
        {
            let outcome = inspector.carry(&segment(1, sequence, Tcp::ACK, payload), 0, SECOND);
            sequence += payload.len() as u8;
            assert_eq!((outcome.wanted, outcome.alerts.len()), (wanted, alerts), "{sequence}");
        }
    }
}
