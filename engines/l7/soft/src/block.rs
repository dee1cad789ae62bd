// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The engine as an inline block of a card.

use penstock_l7_compiler::limits::SEEN;
use penstock_l7_compiler::program::{Action, Application, Program, Protocol};
use penstock_unit::{Entering, Made, Verdict};

use crate::counters::Counters;
use crate::message::deliver;
use crate::packet::{Datagram, Packet, datagram};
use crate::protocol::Window;
use crate::rules::{Decision, Rules};
use crate::table::{Accepted, First, InFlight, Key, Limits};

/// An application at work.
struct App {
    application: Application,
    rules: Rules,
    in_flight: InFlight,
    counters: Counters,
    /// Messages by their decision.
    hits: Vec<u64>,
    /// The fields of a message of another protocol than QNP, which rules see.
    window: Window,
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
            App {
                application: application.clone(),
                rules,
                in_flight,
                counters: Counters::default(),
                hits,
                window: Window::default(),
            }
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

    /// The counters of an application.
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
    /// Takes a frame with a datagram to the application's port; None if it is no packet of a message, false if it is dropped.
    fn take(
        &mut self,
        datagram: &Datagram,
        frame: &mut Vec<u8>,
        entering: Entering,
        time: u64,
        made: &mut Vec<Made>,
    ) -> Option<bool> {
        let (of_type, id, packet) = match self.application.protocol {
            Protocol::Qnp => {
                let parsed = datagram.qnp(frame)?;
                if !parsed.is_data || parsed.application != self.application.number {
                    return None;
                }
                (parsed.of_type, parsed.id, parsed.packet)
            }
            _ => (0, 0, datagram.plain()),
        };
        let Some(packet) = packet else {
            self.counters.malformed += 1;
            return Some(false);
        };
        let accepted = if packet.count == 1 {
            match self.in_flight.accepts_single(&packet) {
                Some(refused) => refused,
                None => {
                    let decision = Some(self.decide(of_type, frame, &packet));
                    // The message leaves in the memory of its frame.
                    Accepted::Whole(First::new(std::mem::take(frame), packet, of_type, decision, entering), Vec::new())
                }
            }
        } else {
            let key = Key { source: datagram.source, port: datagram.source_port, id };
            match self.in_flight.accepts(&key, &packet) {
                Some(refused) => refused,
                None => {
                    let first = (packet.number == 0).then(|| {
                        let decision = (!self.in_flight.limits().in_card).then(|| self.decide(of_type, frame, &packet));
                        First::new(frame[..packet.end].to_vec(), packet, of_type, decision, entering)
                    });
                    self.in_flight.add(key, &packet, frame, time, first)
                }
            }
        };
        let dropped = match accepted {
            Accepted::Waits => None,
            Accepted::Whole(first, rest) => {
                let decision =
                    first.decision.unwrap_or_else(|| self.decide(first.of_type, &first.frame, &first.packet));
                let counters = &mut self.counters;
                match whole(first, decision, &rest) {
                    Some(one) => {
                        counters.delivered += 1;
                        made.push(one);
                    }
                    None => counters.denied += 1,
                }
                None
            }
            Accepted::Malformed => Some(&mut self.counters.malformed),
            Accepted::Duplicate => Some(&mut self.counters.duplicates),
            Accepted::Oversize => Some(&mut self.counters.oversize),
            Accepted::Refused => Some(&mut self.counters.refused),
        };
        let accepted = dropped.is_none();
        *dropped.unwrap_or(&mut self.counters.packets) += 1;
        Some(accepted)
    }

    /// Decides a message by its first packet.
    fn decide(&mut self, of_type: u8, frame: &[u8], packet: &Packet) -> Decision {
        let payload = &frame[packet.payload..packet.end];
        let mut decision = match self.application.protocol {
            Protocol::Qnp => {
                let seen = packet.dispatch.unwrap_or(SEEN).min(payload.len());
                self.rules.decide(of_type, &payload[..seen])
            }
            protocol => {
                let of_type = self.window.read(protocol, self.application.id_bytes, payload);
                self.rules.decide(of_type, self.window.fields())
            }
        };
        let hits = &mut self.hits[decision.index];
        if let Action::QueuesInTurn { bits, .. } = decision.action {
            decision.number = decision.number.wrapping_add(*hits as u16 & ((1 << bits) - 1));
        }
        *hits += 1;
        decision
    }
}

/// The frame of a message that is whole; None if its rule drops it.
fn whole(first: First, decision: Decision, rest: &[Vec<u8>]) -> Option<Made> {
    let First { mut frame, packet, port, hash, tenant, .. } = first;
    let number = u32::from(decision.number);
    let verdict = match decision.action {
        Action::Drop => return None,
        Action::Queue(_) | Action::QueuesBy { .. } | Action::QueuesInTurn { .. } => Verdict::Host,
        Action::Unit(_) => Verdict::Unit(number),
        Action::UnitsBy(_) => Verdict::Dispatch(number),
        Action::Port(_) => Verdict::Port(number),
    };
    deliver(&mut frame, &packet, rest.iter().map(Vec::as_slice));
    Some(Made { port, frame, hash, tenant, mark: number | u32::from(port) << 16, verdict })
}

impl penstock_unit::Block for Block {
    /// Frames that are no packets of messages go on. Packets are absorbed or dropped, and messages that are whole are
    /// made.
    fn carry(&mut self, frame: &mut Vec<u8>, _mark: &mut u32, entering: Entering, made: &mut Vec<Made>) -> Verdict {
        let Some(datagram) = datagram(frame) else { return Verdict::Onward };
        let is_own =
            |app: &&mut App| (app.application.port, app.application.tenant) == (datagram.port, entering.tenant);
        let taken = self.apps.iter_mut().find(is_own);
        match taken.and_then(|app| app.take(&datagram, frame, entering, self.time, made)) {
            None => Verdict::Onward,
            Some(true) => Verdict::Absorb,
            Some(false) => Verdict::Drop,
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
