// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rmt blocks of a card in native code.

use std::any::Any;
use std::sync::Arc;

use penstock_engine::Bus;
use penstock_rmt::{Block, TableError, Tenant};
use penstock_rmt_compiler::ir::{ActionCall, CounterId, Entry, Program, RegisterId, TableId};
use penstock_rmt_p4runtime::{Count, Reason, Refusal};

use crate::answers::EventsAbout;
use crate::error::RmtError;
use crate::running::Running;
use crate::value::Format;

/// The native rmt block at this place of the design.
///
/// # Errors
/// The block has no program of this engine.
pub fn find(bus: &mut dyn Bus, block: usize) -> Result<&mut Block, RmtError> {
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

impl Running for Tenant {
    fn program(&mut self) -> Result<Arc<Program>, RmtError> {
        Ok(Tenant::program(self).clone())
    }

    fn find(&mut self, table: TableId, like: &Entry) -> Result<Option<Entry>, RmtError> {
        Ok(Tenant::find(self, table, like))
    }

    fn entries(&mut self, table: TableId) -> Result<Vec<(Entry, Count)>, RmtError> {
        Ok(Tenant::entries(self, table).into_iter().map(|(entry, counted)| (entry, count(counted))).collect())
    }

    fn insert(&mut self, table: TableId, entry: &Entry) -> Result<(), RmtError> {
        Tenant::insert(self, table, entry).map_err(refused)
    }

    fn modify(&mut self, table: TableId, entry: &Entry) -> Result<(), RmtError> {
        Tenant::modify(self, table, entry).map_err(refused)
    }

    fn delete(&mut self, table: TableId, entry: &Entry) -> Result<(), RmtError> {
        Tenant::delete(self, table, entry).map_err(refused)
    }

    fn default(&mut self, table: TableId) -> Result<ActionCall, RmtError> {
        Ok(Tenant::default(self, table).clone())
    }

    fn set_default(&mut self, table: TableId, call: &ActionCall) -> Result<(), RmtError> {
        Tenant::set_default(self, table, call);
        Ok(())
    }

    fn register(&mut self, register: RegisterId) -> Result<Vec<u128>, RmtError> {
        Ok(Tenant::register(self, register).to_vec())
    }

    fn set_register(&mut self, register: RegisterId, index: u32, value: u128) -> Result<(), RmtError> {
        Tenant::set_register(self, register, index, value);
        Ok(())
    }

    fn counter(&mut self, counter: CounterId) -> Result<Vec<Count>, RmtError> {
        Ok(Tenant::counter(self, counter).into_iter().map(count).collect())
    }

    fn set_counter(&mut self, counter: CounterId, index: u32, value: Count) -> Result<(), RmtError> {
        let value = penstock_rmt::Count { packets: value.packets, bytes: value.bytes };
        Tenant::set_counter(self, counter, index, value);
        Ok(())
    }

    fn events(&mut self) -> Result<EventsAbout, RmtError> {
        let program = Tenant::program(self).clone();
        let (sent, asserted, overruns) = Tenant::events(self);
        let mut messages = Vec::new();
        while let Some(message) = self.take_message() {
            let digest = &program.digests[message.digest];
            let fields = digest.fields.iter().zip(message.values);
            let fields = fields.map(|((name, width), value)| (name.clone(), Format::of(*width, &[]).json(value)));
            messages.push((digest.name.clone(), fields.collect()));
        }
        Ok(EventsAbout { sent, asserted, overruns, messages })
    }
}
