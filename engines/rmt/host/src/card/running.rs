// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The program of a tenant on a card in hardware, and the changes that it takes.

use std::collections::VecDeque;
use std::sync::Arc;

use penstock_engine::Bus;
use penstock_rmt_compiler::ir::{ActionCall, CounterId, Entry, MeterId, Program, Rates, RegisterId, Session, TableId};
use penstock_rmt_p4runtime::{Count, EntryState, Object, ObjectKind, Reason, Refusal, Streamed};

use crate::answers::EventsAbout;
use crate::card::block::CardBlock;
use crate::card::packets;
use crate::error::RmtError;
use crate::messages;
use crate::running::{Running, soft_only};
use crate::shadow::{Shadow, key};

/// A tenant of a block, and how the block is reached.
pub(crate) struct OnCard<'a> {
    pub card: &'a mut CardBlock,
    pub bus: &'a mut dyn Bus,
    pub tenant: u8,
}

impl OnCard<'_> {
    fn shadow(&mut self) -> Result<&mut Shadow, RmtError> {
        Ok(&mut self.card.at_work(self.tenant)?.shadow)
    }

    /// Changes an entry of the shadow and then of the card. If the card refuses, the shadow is as before.
    fn change(&mut self, table: TableId, entry: &Entry, to: Option<Entry>) -> Result<(), RmtError> {
        let key = key(entry);
        let put = |shadow: &mut Shadow, entry: Option<Entry>| match entry {
            Some(entry) => shadow.tables[table].insert(key.clone(), entry),
            None => shadow.tables[table].remove(&key),
        };
        let before = put(self.shadow()?, to);
        let done = self.card.bring(self.bus, self.tenant, table, entry);
        if done.is_err() {
            put(self.shadow()?, before);
        }
        done
    }
}

impl Running for OnCard<'_> {
    fn program(&mut self) -> Result<Arc<Program>, RmtError> {
        Ok(self.shadow()?.program.clone())
    }

    fn find(&mut self, table: TableId, like: &Entry) -> Result<Option<Entry>, RmtError> {
        Ok(self.shadow()?.find(table, like).cloned())
    }

    fn entries(&mut self, table: TableId) -> Result<Vec<(Entry, Count)>, RmtError> {
        let entries: Vec<Entry> = self.shadow()?.tables[table].values().cloned().collect();
        let counted = |entry: Entry| Ok((entry.clone(), self.card.hits(self.bus, self.tenant, table, &entry)?));
        entries.into_iter().map(counted).collect()
    }

    fn insert(&mut self, table: TableId, entry: &Entry) -> Result<(), RmtError> {
        let shadow = self.shadow()?;
        let about = &shadow.program.tables[table];
        if shadow.tables[table].len() >= about.size as usize {
            let text = format!("{} is full: it has {} entries", about.name, about.size);
            return Err(Refusal::new(Reason::Full, text).into());
        }
        self.change(table, entry, Some(entry.clone()))
    }

    fn modify(&mut self, table: TableId, entry: &Entry) -> Result<(), RmtError> {
        self.change(table, entry, Some(entry.clone()))
    }

    fn delete(&mut self, table: TableId, entry: &Entry) -> Result<(), RmtError> {
        self.change(table, entry, None)?;
        self.shadow()?.entry_rates[table].remove(&key(entry));
        Ok(())
    }

    fn entry_state(&mut self, table: TableId, like: &Entry) -> Result<EntryState, RmtError> {
        let rates = self.shadow()?.entry_rates[table].get(&key(like)).copied();
        Ok(EntryState { count: self.card.hits(self.bus, self.tenant, table, like)?, rates, ..EntryState::default() })
    }

    fn set_entry_counter(&mut self, table: TableId, like: &Entry, value: Count) -> Result<(), RmtError> {
        self.card.set_hits(self.bus, self.tenant, table, like, value)
    }

    fn set_entry_meter(&mut self, table: TableId, like: &Entry, rates: Option<Rates>) -> Result<(), RmtError> {
        self.card.set_entry_meter(self.bus, self.tenant, table, like, rates.as_ref())?;
        let all = &mut self.shadow()?.entry_rates[table];
        match rates {
            Some(rates) => all.insert(key(like), rates),
            None => all.remove(&key(like)),
        };
        Ok(())
    }

    fn meter(&mut self, meter: MeterId) -> Result<Vec<Option<Rates>>, RmtError> {
        Ok(self.shadow()?.meters[meter].clone())
    }

    fn set_meter(&mut self, meter: MeterId, index: u32, rates: Option<Rates>) -> Result<(), RmtError> {
        self.card.set_meter(self.bus, self.tenant, meter, index, rates.as_ref())?;
        if let Some(cell) = self.shadow()?.meters[meter].get_mut(index as usize) {
            *cell = rates;
        }
        Ok(())
    }

    fn default(&mut self, table: TableId) -> Result<ActionCall, RmtError> {
        Ok(self.shadow()?.defaults[table].clone())
    }

    fn set_default(&mut self, table: TableId, call: &ActionCall) -> Result<(), RmtError> {
        self.shadow()?.defaults[table] = call.clone();
        self.card.bring_default(self.bus, self.tenant, table)
    }

    fn register(&mut self, register: RegisterId) -> Result<Vec<u128>, RmtError> {
        self.card.register(self.bus, self.tenant, register)
    }

    fn set_register(&mut self, register: RegisterId, index: u32, value: u128) -> Result<(), RmtError> {
        self.card.set_register(self.bus, self.tenant, register, index, value)
    }

    fn counter(&mut self, counter: CounterId) -> Result<Vec<Count>, RmtError> {
        self.card.counter(self.bus, self.tenant, counter)
    }

    fn set_counter(&mut self, counter: CounterId, index: u32, value: Count) -> Result<(), RmtError> {
        self.card.set_counter(self.bus, self.tenant, counter, index, value)
    }

    fn objects(&mut self, kind: ObjectKind) -> Result<Vec<Object>, RmtError> {
        let shadow = self.shadow()?;
        Ok(match kind {
            ObjectKind::Groups => {
                shadow.groups.iter().map(|(group, copies)| Object::Group(*group, copies.clone())).collect()
            }
            ObjectKind::Sessions => {
                shadow.sessions.iter().map(|(number, session)| Object::Session(*number, session.clone())).collect()
            }
            ObjectKind::Digests => {
                shadow.digests.iter().map(|(digest, config)| Object::Digest(*digest, *config)).collect()
            }
            _ => Vec::new(),
        })
    }

    fn put(&mut self, object: &Object, is_there: bool) -> Result<(), RmtError> {
        match object {
            Object::Group(group, copies) => {
                let copies = is_there.then_some(copies);
                self.card.bring_group(self.bus, self.tenant, *group, copies.map_or(&[], |copies| copies))?;
                let groups = &mut self.shadow()?.groups;
                match copies {
                    Some(copies) => groups.insert(*group, copies.clone()),
                    None => groups.remove(group),
                };
            }
            Object::Session(number, session) => {
                let none = Session::default();
                let to = if is_there { session } else { &none };
                self.card.bring_session(self.bus, self.tenant, *number, to)?;
                let sessions = &mut self.shadow()?.sessions;
                match is_there {
                    true => sessions.insert(*number, session.clone()),
                    false => sessions.remove(number),
                };
            }
            Object::Digest(digest, config) => {
                let digests = &mut self.shadow()?.digests;
                match is_there {
                    true => digests.insert(*digest, *config),
                    false => digests.remove(digest),
                };
            }
            _ => return soft_only("there are no action profiles and value sets"),
        }
        Ok(())
    }

    fn events(&mut self) -> Result<EventsAbout, RmtError> {
        self.card.drain(self.bus)?;
        let lost = self.card.lost(self.bus)?;
        let lost_on_card = self.card.lost_packets(self.bus)?;
        let lost_clones = self.card.lost_clones(self.bus)?;
        let at = self.card.at_work(self.tenant)?;
        let lost_clones = lost_clones.saturating_sub(at.clones_lost_before);
        let lost_packets = at.packets.lost + lost_on_card.saturating_sub(at.packets.lost_before);
        let lost_digests = lost.saturating_sub(at.messages.lost_before);
        let messages = messages::named(&at.shadow.program, at.messages.waiting.drain(..));
        let sent = at.messages.sent;
        Ok(EventsAbout { sent, lost_packets, lost_digests, lost_clones, messages, ..EventsAbout::default() })
    }

    fn stream(&mut self) -> Result<Streamed, RmtError> {
        self.card.drain(self.bus)?;
        let at = self.card.at_work(self.tenant)?;
        let kinds = &at.shadow.digests;
        let all = std::mem::take(&mut at.messages.waiting);
        let (wanted, others) = all.into_iter().partition(|message| kinds.contains_key(&message.digest));
        at.messages.waiting = others;
        let wanted: VecDeque<_> = wanted;
        let packets = at.packets.waiting.drain(..).collect();
        Ok(Streamed { packets, digests: messages::by_kind(kinds, wanted), ..Streamed::default() })
    }

    fn send(&mut self, frame: Vec<u8>) -> Result<(), RmtError> {
        packets::send(self.bus, self.card.block, self.tenant, &frame)
    }
}
