// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Programs of tenants as an inline block of a card.

use std::sync::Arc;

use penstock_rmt_compiler::ir::Program;
use penstock_unit::{Entering, Made, Record, Verdict};

use crate::native::NativeError;
use crate::tenant::Tenant;

/// Tenants of a card; tenant 0 is the system.
const TENANTS: usize = 64;

/// A block: for each tenant at most one program. Frames of a tenant without program pass unchanged.
#[derive(Debug)]
pub struct Block {
    tenants: Vec<Option<Box<Tenant>>>,
    /// The time, in ns.
    time: u64,
}

impl Default for Block {
    fn default() -> Self {
        Self { tenants: (0..TENANTS).map(|_| None).collect(), time: 0 }
    }
}

impl Block {
    /// Gives a tenant a program, which begins anew: nothing is left of the one before. A tenant above 63 has no frames.
    ///
    /// # Errors
    /// There is no native code for it; the one before goes on.
    pub fn load(&mut self, tenant: u8, program: Arc<Program>) -> Result<(), NativeError> {
        self.put(tenant, Tenant::new(program)?);
        Ok(())
    }

    /// Takes a tenant's program away.
    pub fn remove(&mut self, tenant: u8) {
        if let Some(place) = self.tenants.get_mut(usize::from(tenant)) {
            *place = None;
        }
    }

    /// The program of a tenant at work.
    #[must_use]
    pub fn tenant(&self, tenant: u8) -> Option<&Tenant> {
        self.tenants.get(usize::from(tenant))?.as_deref()
    }

    /// The program of a tenant, for changes between two frames.
    pub fn tenant_mut(&mut self, tenant: u8) -> Option<&mut Tenant> {
        let time = self.time;
        let tenant = self.tenants.get_mut(usize::from(tenant))?.as_deref_mut()?;
        tenant.set_time(time);
        Some(tenant)
    }

    /// Puts a program that is prepared to its place, between two frames.
    pub fn put(&mut self, tenant: u8, program: Tenant) {
        if let Some(place) = self.tenants.get_mut(usize::from(tenant)) {
            *place = Some(Box::new(program));
        }
    }
}

impl penstock_unit::Block for Block {
    fn carry(&mut self, frame: &mut Vec<u8>, _mark: &mut u32, entering: Entering, made: &mut Vec<Made>) -> Verdict {
        let time = self.time;
        match self.tenants.get_mut(usize::from(entering.tenant)).and_then(Option::as_deref_mut) {
            Some(tenant) => tenant.carry(frame, entering, time, made),
            None => Verdict::Onward,
        }
    }

    /// A record of the driver says whose frames from the controller are to enter ([`Tenant::send`]).
    fn give_record(&mut self, record: &Record, made: &mut Vec<Made>) {
        if let Some(tenant) = self.tenant_mut(record.tenant) {
            tenant.carry_outgoing(record.tenant, made);
        }
    }

    fn set_time(&mut self, ns: u64) {
        self.time = self.time.max(ns);
    }
}
