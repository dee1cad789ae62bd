// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rmt blocks of a card in native code.
// STUB until the soft block is there.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use penstock_engine::Bus;
use penstock_rmt_compiler::ir::{ActionCall, CounterId, Entry, Program, RegisterId, TableId};
use penstock_rmt_p4runtime::Count;
use penstock_unit::{Entering, Made, Verdict};
use serde_json::{Value as Json, json};

use crate::error::RmtError;
use crate::running::Running;
use crate::shadow::{Shadow, key};

pub struct Block {
    tenants: BTreeMap<u8, (Shadow, Vec<Vec<u128>>, Vec<Vec<Count>>)>,
}

impl penstock_unit::Block for Block {
    fn carry(&mut self, _: &mut Vec<u8>, _: &mut u32, _: Entering, _: &mut Vec<Made>) -> Verdict {
        Verdict::Onward
    }
    fn set_time(&mut self, _: u64) {}
}

pub fn new() -> Box<dyn penstock_unit::Block> {
    Box::new(Block { tenants: BTreeMap::new() })
}

/// The native rmt block at this place of the design.
///
/// # Errors
/// The block has no program of this engine.
pub fn find(bus: &mut dyn Bus, block: usize) -> Result<&mut Block, RmtError> {
    let found = bus.native().and_then(|native| native.block(block));
    found.and_then(|found| (found as &mut dyn Any).downcast_mut()).ok_or(RmtError::NotLoaded(block))
}

pub fn load(block: &mut Block, tenant: u8, program: &Arc<Program>) -> Result<(), RmtError> {
    let registers = program.registers.iter().map(|one| vec![0; one.size as usize]).collect();
    let counters = program.counters.iter().map(|one| vec![Count::default(); one.size.unwrap_or(0) as usize]).collect();
    block.tenants.insert(tenant, (Shadow::new(program.clone()), registers, counters));
    Ok(())
}

pub fn count(_: &mut Block) -> Json {
    json!({})
}

/// The program of a tenant.
pub struct Tenant<'a> {
    pub block: &'a mut Block,
    pub tenant: u8,
    pub program: Arc<Program>,
}

impl Tenant<'_> {
    fn it(&mut self) -> &mut (Shadow, Vec<Vec<u128>>, Vec<Vec<Count>>) {
        self.block.tenants.get_mut(&self.tenant).unwrap()
    }
}

impl Running for Tenant<'_> {
    fn program(&self) -> Arc<Program> {
        self.program.clone()
    }
    fn find(&mut self, table: TableId, like: &Entry) -> Result<Option<Entry>, RmtError> {
        Ok(self.it().0.find(table, like).cloned())
    }
    fn entries(&mut self, table: TableId) -> Result<Vec<(Entry, Count)>, RmtError> {
        Ok(self.it().0.tables[table].values().map(|one| (one.clone(), Count::default())).collect())
    }
    fn insert(&mut self, table: TableId, entry: &Entry) -> Result<(), RmtError> {
        self.it().0.tables[table].insert(key(entry), entry.clone());
        Ok(())
    }
    fn modify(&mut self, table: TableId, entry: &Entry) -> Result<(), RmtError> {
        self.insert(table, entry)
    }
    fn delete(&mut self, table: TableId, entry: &Entry) -> Result<(), RmtError> {
        self.it().0.tables[table].remove(&key(entry));
        Ok(())
    }
    fn default(&mut self, table: TableId) -> Result<ActionCall, RmtError> {
        Ok(self.it().0.defaults[table].clone())
    }
    fn set_default(&mut self, table: TableId, call: &ActionCall) -> Result<(), RmtError> {
        self.it().0.defaults[table] = call.clone();
        Ok(())
    }
    fn register(&mut self, register: RegisterId) -> Result<Vec<u128>, RmtError> {
        Ok(self.it().1[register].clone())
    }
    fn set_register(&mut self, register: RegisterId, index: u32, value: u128) -> Result<(), RmtError> {
        self.it().1[register][index as usize] = value;
        Ok(())
    }
    fn counter(&mut self, counter: CounterId) -> Result<Vec<Count>, RmtError> {
        Ok(self.it().2[counter].clone())
    }
    fn set_counter(&mut self, counter: CounterId, index: u32, value: Count) -> Result<(), RmtError> {
        self.it().2[counter][index as usize] = value;
        Ok(())
    }
}
