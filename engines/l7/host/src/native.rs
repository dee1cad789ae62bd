// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! L7 blocks of a card in native code.

use std::any::Any;

use penstock_engine::Bus;
use penstock_l7::Block;
use penstock_l7_compiler::Compiled;

use crate::counters::AppCounters;
use crate::error::L7Error;
use crate::machine::Machine;

/// The native l7 block at this place of the design.
///
/// # Errors
/// The block has no program of this engine.
pub(crate) fn find(bus: &mut dyn Bus, block: usize) -> Result<&mut Block, L7Error> {
    let found = bus.native().and_then(|native| native.block(block));
    found.and_then(|found| (found as &mut dyn Any).downcast_mut()).ok_or(L7Error::NotLoaded(block))
}

impl Machine for Block {
    fn count(&mut self, app: usize) -> Result<(AppCounters, Vec<u64>), L7Error> {
        let (messages, pages) = self.in_flight(app);
        let counters =
            AppCounters { in_flight: messages as u64, pages: pages as u64, ..AppCounters::of(&self.counters(app)) };
        Ok((counters, self.hits(app).to_vec()))
    }

    fn set_rules(&mut self, app: usize, compiled: &Compiled) -> Result<(), L7Error> {
        if let Some(application) = compiled.program.applications.get(app) {
            Block::set_rules(self, app, application, &compiled.program);
        }
        Ok(())
    }
}
