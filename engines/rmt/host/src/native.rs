// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rmt blocks of a card in native code.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use penstock_engine::Bus;
use penstock_rmt::{Block, TableError, Tenant};
use penstock_rmt_compiler::ir::{
    ActionCall, CounterId, DigestId, Entry, Match, MeterId, Program, Rates, RegisterId, TableId, ValueSetId,
};
use penstock_rmt_p4runtime::{Count, DigestConfig, EntryState, Object, ObjectKind, Reason, Refusal, Streamed};

use crate::answers::EventsAbout;
use crate::error::RmtError;
use crate::messages;
use crate::objects;
use crate::running::Running;

/// The native rmt block at this place of the design.
///
/// # Errors
/// The block has no program of this engine.
pub(crate) fn find(bus: &mut dyn Bus, block: usize) -> Result<&mut Block, RmtError> {
    let found = bus.native().and_then(|native| native.block(block));
    found.and_then(|found| (found as &mut dyn Any).downcast_mut()).ok_or(RmtError::NotLoaded(block))
}

fn refusal(error: &TableError) -> Refusal {
    let reason = match error {
        TableError::Exists(_) => Reason::Exists,
        TableError::Missing(_) => Reason::NotFound,
        TableError::Full(..) => Reason::Full,
    };
    Refusal::new(reason, error.to_string())
}

fn refused(error: TableError) -> RmtError {
    refusal(&error).into()
}

fn count(count: penstock_rmt::Count) -> Count {
    Count { packets: count.packets, bytes: count.bytes }
}

/// A tenant of a native block.
pub(crate) struct OnSoft<'a> {
    pub tenant: &'a mut Tenant,
    /// Kinds of messages that are sent to controllers, and how. Frames do not see it.
    pub digests: &'a mut BTreeMap<DigestId, DigestConfig>,
}

impl Running for OnSoft<'_> {
    fn program(&mut self) -> Result<Arc<Program>, RmtError> {
        Ok(self.tenant.program().clone())
    }

    fn find(&mut self, table: TableId, like: &Entry) -> Result<Option<Entry>, RmtError> {
        Ok(self.tenant.find(table, like))
    }

    fn entries(&mut self, table: TableId) -> Result<Vec<(Entry, Count)>, RmtError> {
        Ok(self.tenant.entries(table).into_iter().map(|(entry, counted)| (entry, count(counted))).collect())
    }

    fn insert(&mut self, table: TableId, entry: &Entry) -> Result<(), RmtError> {
        self.tenant.insert(table, entry).map_err(refused)
    }

    fn modify(&mut self, table: TableId, entry: &Entry) -> Result<(), RmtError> {
        self.tenant.modify(table, entry).map_err(refused)
    }

    fn delete(&mut self, table: TableId, entry: &Entry) -> Result<(), RmtError> {
        self.tenant.delete(table, entry).map_err(refused)
    }

    fn default(&mut self, table: TableId) -> Result<ActionCall, RmtError> {
        Ok(self.tenant.default(table).clone())
    }

    fn set_default(&mut self, table: TableId, call: &ActionCall) -> Result<(), RmtError> {
        self.tenant.set_default(table, call);
        Ok(())
    }

    fn register(&mut self, register: RegisterId) -> Result<Vec<u128>, RmtError> {
        Ok(self.tenant.register(register).to_vec())
    }

    fn set_register(&mut self, register: RegisterId, index: u32, value: u128) -> Result<(), RmtError> {
        self.tenant.set_register(register, index, value);
        Ok(())
    }

    fn counter(&mut self, counter: CounterId) -> Result<Vec<Count>, RmtError> {
        Ok(self.tenant.counter(counter).into_iter().map(count).collect())
    }

    fn set_counter(&mut self, counter: CounterId, index: u32, value: Count) -> Result<(), RmtError> {
        let value = penstock_rmt::Count { packets: value.packets, bytes: value.bytes };
        self.tenant.set_counter(counter, index, value);
        Ok(())
    }

    fn events(&mut self) -> Result<EventsAbout, RmtError> {
        let program = self.tenant.program().clone();
        let (sent, asserted, overruns) = self.tenant.events();
        let messages = messages::named(&program, self.tenant.take_messages(|_| true));
        Ok(EventsAbout {
            sent,
            asserted,
            overruns,
            lost_packets: self.tenant.lost_packets(),
            lost_digests: 0,
            lost_clones: 0,
            messages,
        })
    }

    fn size(&mut self, table: TableId) -> Result<usize, RmtError> {
        Ok(self.tenant.size(table))
    }

    fn entry_state(&mut self, table: TableId, like: &Entry) -> Result<EntryState, RmtError> {
        let (rates, idle_ns) = self.tenant.entry_state(table, like).unwrap_or_default();
        Ok(EntryState { count: count(self.tenant.entry_count(table, like)), rates, idle_ns })
    }

    fn set_entry_counter(&mut self, table: TableId, like: &Entry, value: Count) -> Result<(), RmtError> {
        let value = penstock_rmt::Count { packets: value.packets, bytes: value.bytes };
        self.tenant.set_entry_counter(table, like, value);
        Ok(())
    }

    fn set_entry_meter(&mut self, table: TableId, like: &Entry, rates: Option<Rates>) -> Result<(), RmtError> {
        self.tenant.set_entry_meter(table, like, rates);
        Ok(())
    }

    fn meter(&mut self, meter: MeterId) -> Result<Vec<Option<Rates>>, RmtError> {
        Ok(self.tenant.meter(meter))
    }

    fn set_meter(&mut self, meter: MeterId, index: u32, rates: Option<Rates>) -> Result<(), RmtError> {
        self.tenant.set_meter(meter, index, rates);
        Ok(())
    }

    fn value_set(&mut self, set: ValueSetId) -> Result<Vec<Vec<Match>>, RmtError> {
        Ok(self.tenant.value_set(set).to_vec())
    }

    fn set_value_set(&mut self, set: ValueSetId, members: &[Vec<Match>]) -> Result<(), RmtError> {
        self.tenant.set_value_set(set, members.to_vec());
        Ok(())
    }

    fn objects(&mut self, kind: ObjectKind) -> Result<Vec<Object>, RmtError> {
        Ok(match kind {
            ObjectKind::Groups => {
                self.tenant.groups().into_iter().map(|(group, copies)| Object::Group(group, copies)).collect()
            }
            ObjectKind::Sessions => {
                self.tenant.sessions().into_iter().map(|(number, of)| Object::Session(number, of)).collect()
            }
            ObjectKind::Members(profile) => {
                let all = self.tenant.members(profile).members.iter();
                all.map(|(member, call)| Object::Member(profile, *member, call.clone())).collect()
            }
            ObjectKind::MemberGroups(profile) => {
                let all = self.tenant.members(profile).groups.iter();
                all.map(|(group, of)| Object::MemberGroup(profile, *group, of.clone())).collect()
            }
            ObjectKind::Digests => {
                self.digests.iter().map(|(digest, config)| Object::Digest(*digest, *config)).collect()
            }
        })
    }

    fn object(&mut self, like: &Object) -> Result<Option<Object>, RmtError> {
        // There may be thousands of these.
        Ok(match like {
            Object::Member(profile, member, _) => {
                let call = self.tenant.members(*profile).members.get(member).cloned();
                call.map(|call| Object::Member(*profile, *member, call))
            }
            Object::MemberGroup(profile, group, _) => {
                let of = self.tenant.members(*profile).groups.get(group).cloned();
                of.map(|of| Object::MemberGroup(*profile, *group, of))
            }
            _ => self.objects(objects::kind(like))?.into_iter().find(|one| objects::is_same(one, like)),
        })
    }

    fn put(&mut self, object: &Object, is_there: bool) -> Result<(), RmtError> {
        match object {
            Object::Group(group, copies) if is_there => self.tenant.set_group(*group, copies.clone()),
            Object::Group(group, _) => self.tenant.remove_group(*group),
            Object::Session(session, of) => self.tenant.set_session(*session, is_there.then(|| of.clone())),
            Object::Member(profile, member, call) => {
                self.tenant.set_member(*profile, *member, is_there.then(|| call.clone()));
            }
            Object::MemberGroup(profile, group, of) => {
                self.tenant.set_member_group(*profile, *group, is_there.then(|| of.clone()));
            }
            Object::Digest(digest, config) if is_there => {
                self.digests.insert(*digest, *config);
            }
            Object::Digest(digest, _) => {
                self.digests.remove(digest);
            }
        }
        Ok(())
    }

    fn stream(&mut self) -> Result<Streamed, RmtError> {
        let messages = self.tenant.take_messages(|digest| self.digests.contains_key(&digest));
        Ok(Streamed {
            digests: messages::by_kind(self.digests, messages),
            packets: self.tenant.take_packets(),
            idle: self.tenant.take_idle(),
        })
    }

    fn send(&mut self, frame: Vec<u8>) -> Result<(), RmtError> {
        self.tenant.send(frame);
        Ok(())
    }

    fn is_atomic(&self) -> bool {
        true
    }
}
