// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Frames that are copied, cut or started again: clones, multicast, resubmit, recirculate, truncate. The operations at
//! the end of ingress and of egress, and their order, are those of v1model's reference switch (docs/simple_switch.md of
//! behavioral-model).

use std::collections::VecDeque;

use penstock_rmt_compiler::ir::{PORT_DROP, Replica, Session, Standard};
use penstock_unit::{Entering, Made, Verdict};

use crate::frame::{MIN_FRAME, verdict};
use crate::machine::Machine;
use crate::operation::Pending;
use crate::tenant::{State, Tenant};
use crate::work::Frame;

/// Passes through ingress or egress of one frame and all of its copies. Copies that are left then are dropped, so no
/// program runs for ever.
const PASSES: usize = 1024;

/// Values of `instance_type`.
const NORMAL: u64 = 0;
const INGRESS_CLONE: u64 = 1;
const EGRESS_CLONE: u64 = 2;
const RECIRCULATED: u64 = 4;
const REPLICATION: u64 = 5;
const RESUBMITTED: u64 = 6;

/// Values that a frame keeps when it begins anew, by the number of the list of fields.
type Kept = Option<(usize, Vec<u128>)>;

/// A pass that is to be made.
enum Pass {
    /// Through parser and ingress.
    Ingress { bytes: Vec<u8>, kind: u64, kept: Kept },
    /// Through egress.
    Egress { saved: Box<Saved>, replica: Replica, kind: u64 },
}

/// A frame between ingress and egress.
#[derive(Clone)]
struct Saved {
    bytes: Vec<u8>,
    slots: Vec<u64>,
    truncate: Option<u64>,
}

impl Tenant {
    /// Carries a frame and all that becomes of it; `time` is in µs.
    #[cold]
    pub(crate) fn carry_copies(
        &mut self,
        bytes: &mut Vec<u8>,
        entering: Entering,
        (port, time): (u16, u64),
        made: &mut Vec<Made>,
    ) -> Verdict {
        let entered = bytes.len();
        let first = Pass::Ingress { bytes: std::mem::take(bytes), kind: NORMAL, kept: None };
        let mut work = Work {
            machine: &self.machine,
            state: &mut self.state,
            frame: &mut self.frame,
            at: (port, time),
            entered,
            passes: VecDeque::from([first]),
            left: Vec::new(),
        };
        for _ in 0..PASSES {
            match work.passes.pop_front() {
                Some(Pass::Ingress { bytes, kind, kept }) => work.ingress(bytes, kind, kept),
                Some(Pass::Egress { saved, replica, kind }) => work.egress(&saved, replica, kind),
                None => break,
            }
        }
        self.overruns += work.passes.len() as u64;
        let mut left = work.left;
        if self.has_controller {
            let (kept, sent): (Vec<_>, Vec<_>) = left.into_iter().partition(|(verdict, _)| *verdict != Verdict::Host);
            left = kept;
            let absorbed = !sent.is_empty();
            sent.into_iter().for_each(|(_, frame)| self.send_to_controller(frame));
            if left.is_empty() && absorbed {
                return Verdict::Absorb;
            }
        }
        let Some((verdict, last)) = left.pop() else {
            self.dropped += 1;
            return Verdict::Drop;
        };
        *bytes = last;
        let Entering { port, hash, tenant } = entering;
        let copies = left.into_iter().map(|(verdict, frame)| Made { port, frame, hash, tenant, mark: 0, verdict });
        made.extend(copies);
        verdict
    }
}

/// A frame at work, with all that becomes of it.
struct Work<'t> {
    machine: &'t Machine,
    state: &'t mut State,
    frame: &'t mut Frame,
    /// Port at which the frame entered, and time in µs.
    at: (u16, u64),
    /// Bytes of the frame as it entered.
    entered: usize,
    passes: VecDeque<Pass>,
    left: Vec<(Verdict, Vec<u8>)>,
}

impl Work<'_> {
    fn standard(&mut self, field: Standard) -> &mut u64 {
        self.frame.standard(self.machine, field)
    }

    /// The values that the fields of a list have now.
    fn values(&self, keep: usize) -> Kept {
        let places = &self.machine.kept[keep];
        Some((keep, places.iter().map(|place| place.load(&self.frame.slots)).collect()))
    }

    fn parse(&mut self, bytes: &[u8], kind: u64, kept: &Kept) {
        let machine = self.machine;
        self.frame.enter(machine, self.state, bytes, self.at, |frame| {
            keep(machine, &mut frame.slots, kept);
            *frame.standard(machine, Standard::InstanceType) = kind;
        });
    }

    fn ingress(&mut self, bytes: Vec<u8>, kind: u64, kept: Kept) {
        self.parse(&bytes, kind, &kept);
        self.frame.run(self.machine, self.state, self.machine.native.ingress, &bytes);
        let pending = std::mem::take(&mut self.frame.pending);
        if pending.failed {
            return;
        }
        if let Some((session, list)) = pending.clones[0]
            && let Some(session) = self.state.sessions.get(&session).cloned()
        {
            let (after, kept) = (self.save(Vec::new(), &pending), self.values(list));
            // The clone is the frame as it entered.
            self.parse(&bytes, INGRESS_CLONE, &None);
            self.clone_to(bytes.clone(), &session, kept, INGRESS_CLONE);
            self.restore(&after);
        }
        if let Some(list) = pending.resubmit {
            let kept = self.values(list);
            return self.passes.push_back(Pass::Ingress { bytes, kind: RESUBMITTED, kept });
        }
        let group = *self.standard(Standard::McastGrp) as u16;
        let spec = *self.standard(Standard::EgressSpec);
        if group != 0 {
            *self.standard(Standard::EgressSpec) = 0;
            let saved = self.save(bytes, &pending);
            return self.copies(&saved, group, REPLICATION);
        }
        if u128::from(spec) == PORT_DROP {
            return;
        }
        let saved = Box::new(self.save(bytes, &pending));
        let replica = Replica { port: spec as u16, instance: 0 };
        self.passes.push_back(Pass::Egress { saved, replica, kind: NORMAL });
    }

    fn egress(&mut self, saved: &Saved, replica: Replica, kind: u64) {
        self.restore(saved);
        for (field, value) in [
            (Standard::EgressPort, replica.port.into()),
            (Standard::EgressRid, replica.instance.into()),
            (Standard::InstanceType, kind),
        ] {
            *self.standard(field) = value;
        }
        self.frame.run(self.machine, self.state, self.machine.native.egress, &saved.bytes);
        let mut pending = std::mem::take(&mut self.frame.pending);
        pending.truncate = pending.truncate.or(saved.truncate);
        if pending.failed {
            return;
        }
        if let Some((session, list)) = pending.clones[1]
            && let Some(session) = self.state.sessions.get(&session).cloned()
        {
            let (after, kept) = (self.save(Vec::new(), &pending), self.values(list));
            self.clone_to(saved.bytes.clone(), &session, kept, EGRESS_CLONE);
            self.restore(&after);
        }
        if u128::from(*self.standard(Standard::EgressSpec)) == PORT_DROP {
            return;
        }
        let kept = pending.recirculate.and_then(|list| self.values(list));
        let mut bytes = saved.bytes.clone();
        self.frame.run(self.machine, self.state, self.machine.native.update, &bytes);
        self.frame.deparse(self.machine, &mut bytes);
        if let Some(length) = pending.truncate {
            bytes.truncate(usize::try_from(length).unwrap_or(usize::MAX));
        }
        match pending.recirculate {
            Some(_) => self.passes.push_back(Pass::Ingress { bytes, kind: RECIRCULATED, kept }),
            None if self.machine.keeps_short || bytes.len() >= MIN_FRAME.min(self.entered) => {
                self.left.push((verdict(replica.port.into()), bytes));
            }
            None => {}
        }
    }

    /// Makes the clones of a session from the frame as it stands, with its metadata 0 but for the fields that it keeps.
    fn clone_to(&mut self, bytes: Vec<u8>, session: &Session, kept: Kept, kind: u64) {
        let (port, length) = (*self.standard(Standard::IngressPort), *self.standard(Standard::PacketLength));
        for place in &self.machine.metadata {
            place.store(&mut self.frame.slots, 0);
        }
        *self.standard(Standard::IngressPort) = port;
        *self.standard(Standard::PacketLength) = length;
        for field in [Standard::IngressGlobalTimestamp, Standard::EgressGlobalTimestamp] {
            *self.standard(field) = self.at.1 & crate::bits::mask(48);
        }
        keep(self.machine, &mut self.frame.slots, &kept);
        *self.standard(Standard::EgressSpec) = 0;
        let mut saved = self.save(bytes, &Pending::default());
        saved.truncate = (session.length != 0).then_some(session.length.into());
        if let Some(group) = session.group {
            self.copies(&saved, group, kind);
        }
        for replica in &session.copies {
            self.passes.push_back(Pass::Egress { saved: Box::new(saved.clone()), replica: *replica, kind });
        }
    }

    /// Makes the copies of a multicast group.
    fn copies(&mut self, saved: &Saved, group: u16, kind: u64) {
        for replica in self.state.groups.get(&group).into_iter().flatten() {
            self.passes.push_back(Pass::Egress { saved: Box::new(saved.clone()), replica: *replica, kind });
        }
    }

    fn save(&self, bytes: Vec<u8>, pending: &Pending) -> Saved {
        Saved { bytes, slots: self.frame.slots[..self.machine.slots.changing].to_vec(), truncate: pending.truncate }
    }

    fn restore(&mut self, saved: &Saved) {
        self.frame.slots[..self.machine.slots.changing].copy_from_slice(&saved.slots);
    }
}

/// Gives the fields of a list their values.
fn keep(machine: &Machine, slots: &mut [u64], kept: &Kept) {
    if let Some((list, values)) = kept {
        for (place, value) in machine.kept[*list].iter().zip(values) {
            place.store(slots, *value);
        }
    }
}
