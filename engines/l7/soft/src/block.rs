// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The engine as an inline block of a card.

use penstock_l7_compiler::limits::SEEN;
use penstock_l7_compiler::program::{Action, Application, Program};
use penstock_unit::{Entering, Made, Verdict};

use crate::counters::Counters;
use crate::message::deliver;
use crate::packet::{Packet, Parsed, parse};
use crate::rules::{Decision, Rules};
use crate::table::{Accepted, First, InFlight, Key, LONGEST_PAYLOAD, Limits};

/// An application at work.
struct App {
    application: Application,
    rules: Rules,
    in_flight: InFlight,
    counters: Counters,
    /// Messages by their decision.
    hits: Vec<u64>,
}

/// A block: its applications and the messages in flight.
pub struct Block {
    apps: Vec<App>,
    /// In ns.
    time: u64,
}

impl Block {
    /// A block that runs a program, at time 0.
    #[must_use]
    pub fn new(program: &Program, limits: Limits) -> Self {
        let app = |application: &Application| {
            let rules = Rules::new(application, program);
            let hits = vec![0; rules.decisions()];
            let in_flight = InFlight::new(limits);
            App { application: application.clone(), rules, in_flight, counters: Counters::default(), hits }
        };
        Self { apps: program.applications.iter().map(app).collect(), time: 0 }
    }

    /// Gives an application other rules. Messages whose first packet is there keep their decision.
    pub fn set_rules(&mut self, app: usize, application: &Application, program: &Program) {
        if let Some(app) = self.apps.get_mut(app) {
            app.rules = Rules::new(application, program);
            app.hits = vec![0; app.rules.decisions()];
            app.application = application.clone();
        }
    }

    /// What an application has counted.
    #[must_use]
    pub fn counters(&self, app: usize) -> Counters {
        self.apps.get(app).map_or(Counters::default(), |app| app.counters)
    }

    /// Messages of an application by their decision.
    #[must_use]
    pub fn hits(&self, app: usize) -> &[u64] {
        self.apps.get(app).map_or(&[], |app| &app.hits)
    }

    /// Messages and pages of an application that are in flight.
    #[must_use]
    pub fn in_flight(&self, app: usize) -> (usize, usize) {
        self.apps.get(app).map_or((0, 0), |app| (app.in_flight.len(), app.in_flight.pages()))
    }

    /// The time that the block knows, in ns.
    #[must_use]
    pub fn time(&self) -> u64 {
        self.time
    }
}

impl App {
    fn takes(&self, parsed: &Parsed, tenant: u8) -> bool {
        let Application { port, number, tenant: own, .. } = &self.application;
        parsed.is_data && (parsed.port, parsed.application, tenant) == (*port, *number, *own)
    }

    /// Takes a packet; false: it is dropped.
    fn packet(&mut self, parsed: &Parsed, frame: &[u8], entering: Entering, time: u64, made: &mut Vec<Made>) -> bool {
        let Some(packet) = parsed.packet else {
            self.counters.malformed += 1;
            return false;
        };
        let Self { rules, hits, in_flight, counters, .. } = self;
        let mut first = || {
            let decision = decide(rules, parsed.of_type, frame, &packet);
            hits[decision.index] += 1;
            let Entering { port, hash, tenant } = entering;
            First { frame: frame[..packet.end].to_vec(), packet, decision, port, hash, tenant }
        };
        let accepted = match packet.count {
            1 if packet.length() > LONGEST_PAYLOAD => Accepted::Oversize,
            1 => Accepted::Whole(first(), Vec::new()),
            _ => {
                let key = Key { source: parsed.source, port: parsed.source_port, id: parsed.id };
                in_flight.add(key, &packet, frame, time, first)
            }
        };
        let dropped = match accepted {
            Accepted::Waits => None,
            Accepted::Whole(first, rest) => {
                match whole(first, &rest) {
                    Some(one) => {
                        counters.delivered += 1;
                        made.push(one);
                    }
                    None => counters.denied += 1,
                }
                None
            }
            Accepted::Malformed => Some(&mut counters.malformed),
            Accepted::Duplicate => Some(&mut counters.duplicates),
            Accepted::Oversize => Some(&mut counters.oversize),
            Accepted::Refused => Some(&mut counters.refused),
        };
        let accepted = dropped.is_none();
        *dropped.unwrap_or(&mut counters.packets) += 1;
        accepted
    }
}

/// Decides a message by its first packet.
fn decide(rules: &mut Rules, of_type: u8, frame: &[u8], packet: &Packet) -> Decision {
    let payload = &frame[packet.payload..packet.end];
    let seen = packet.dispatch.unwrap_or(SEEN).min(payload.len());
    rules.decide(of_type, &payload[..seen])
}

/// The frame of a message that is whole; None if its rule drops it.
fn whole(first: First, rest: &[Vec<u8>]) -> Option<Made> {
    let First { mut frame, packet, decision, port, hash, tenant } = first;
    let number = u32::from(decision.number);
    let verdict = match decision.action {
        Action::Drop => return None,
        Action::Queue(_) | Action::QueuesBy { .. } => Verdict::Host,
        Action::Unit(_) => Verdict::Unit(number),
        Action::UnitsBy(_) => Verdict::Dispatch(number),
    };
    deliver(&mut frame, &packet, rest.iter().map(Vec::as_slice));
    Some(Made { port, frame, hash, tenant, mark: number | u32::from(port) << 16, verdict })
}

impl penstock_unit::Block for Block {
    /// Frames that are no packets of messages go on. Packets are absorbed or dropped, and messages that are whole are
    /// made.
    fn carry(&mut self, frame: &mut Vec<u8>, _mark: &mut u32, entering: Entering, made: &mut Vec<Made>) -> Verdict {
        let Some(parsed) = parse(frame) else { return Verdict::Onward };
        let Some(app) = self.apps.iter_mut().find(|app| app.takes(&parsed, entering.tenant)) else {
            return Verdict::Onward;
        };
        match app.packet(&parsed, frame, entering, self.time, made) {
            true => Verdict::Absorb,
            false => Verdict::Drop,
        }
    }

    /// Messages of which no packet came for the timeout expire.
    fn set_time(&mut self, ns: u64) {
        self.time = self.time.max(ns);
        for app in &mut self.apps {
            app.counters.expired += app.in_flight.expire(self.time);
        }
    }
}
