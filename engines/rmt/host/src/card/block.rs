// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! STUB.
use penstock_engine::Bus;
use crate::error::RmtError;
use crate::image::Source;
use crate::running::Running;
use penstock_rmt_p4runtime::{Change, Count};
use penstock_rmt_compiler::ir::{ActionCall, CounterId, Entry, Program, RegisterId, TableId};
use std::sync::Arc;
use serde_json::Value as Json;
pub struct CardBlock;
pub struct OnCard<'a> { pub card: &'a mut CardBlock, pub bus: &'a mut dyn Bus, pub tenant: u8 }
fn no<T>() -> Result<T, RmtError> { Err(RmtError::Unsupported("rmt blocks run on soft only yet; use target soft".into())) }
impl CardBlock {
    pub fn begin(_: &mut dyn Bus, _: usize) -> Result<Self, RmtError> { no() }
    pub fn load(&mut self, _: &mut dyn Bus, _: u8, _: &Arc<Program>, _: &Source, _: &[Change]) -> Result<(), RmtError> { no() }
    pub fn fits(&self, _: u8, _: &Source) -> Result<(), RmtError> { no() }
    pub fn count(&self, _: &mut dyn Bus) -> Result<Json, RmtError> { no() }
}
impl Running for OnCard<'_> {
    fn program(&self) -> Arc<Program> { unreachable!() }
    fn find(&mut self, _: TableId, _: &Entry) -> Result<Option<Entry>, RmtError> { no() }
    fn entries(&mut self, _: TableId) -> Result<Vec<(Entry, Count)>, RmtError> { no() }
    fn insert(&mut self, _: TableId, _: &Entry) -> Result<(), RmtError> { no() }
    fn modify(&mut self, _: TableId, _: &Entry) -> Result<(), RmtError> { no() }
    fn delete(&mut self, _: TableId, _: &Entry) -> Result<(), RmtError> { no() }
    fn default(&mut self, _: TableId) -> Result<ActionCall, RmtError> { no() }
    fn set_default(&mut self, _: TableId, _: &ActionCall) -> Result<(), RmtError> { no() }
    fn register(&mut self, _: RegisterId) -> Result<Vec<u128>, RmtError> { no() }
    fn set_register(&mut self, _: RegisterId, _: u32, _: u128) -> Result<(), RmtError> { no() }
    fn counter(&mut self, _: CounterId) -> Result<Vec<Count>, RmtError> { no() }
    fn set_counter(&mut self, _: CounterId, _: u32, _: Count) -> Result<(), RmtError> { no() }
}
