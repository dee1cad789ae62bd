// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Flow blocks of a card in native code.

use std::any::Any;

use penstock_engine::Bus;
use penstock_flow::{Block, Context, Event, EventKind, Slice};
use penstock_flow_compiler::limits::GLOBALS;
use penstock_flow_compiler::program::{Element, Program};

use crate::answers::TableUse;
use crate::counters::{BlockCounters, ElementCounters, rows};
use crate::elements::Elements;
use crate::error::FlowError;

/// The native flow block at this place of the design.
///
/// # Errors
/// The block has no program of this engine.
pub(crate) fn find(bus: &mut dyn Bus, block: usize) -> Result<&mut Block, FlowError> {
    let found = bus.native().and_then(|native| native.block(block));
    found.and_then(|found| (found as &mut dyn Any).downcast_mut()).ok_or(FlowError::NotLoaded(block))
}

impl Elements for Block {
    fn program(&self) -> &Program {
        self.chain().program()
    }

    fn time(&mut self) -> Result<u64, FlowError> {
        Ok(Block::time(self))
    }

    fn globals(&mut self, element: usize) -> Result<[u32; GLOBALS], FlowError> {
        Ok(*self.chain_mut().globals(element)?)
    }

    fn set_global(&mut self, element: usize, register: usize, to: u32) -> Result<(), FlowError> {
        let registers = self.chain_mut().globals(element)?;
        *registers.get_mut(register).ok_or(FlowError::Register { number: register })? = to;
        Ok(())
    }

    fn count(&mut self, element: usize) -> Result<usize, FlowError> {
        Ok(self.chain().count(element)?)
    }

    fn slice(&mut self, element: usize, from: usize) -> Result<Slice, FlowError> {
        Ok(self.chain().slice(element, from)?)
    }

    fn context(&mut self, element: usize, key: &[u128]) -> Result<Option<Context>, FlowError> {
        Ok(self.chain().context(element, key)?)
    }

    fn insert(&mut self, element: usize, context: &Context) -> Result<(), FlowError> {
        Ok(self.chain_mut().insert(element, context)?)
    }

    fn remove(&mut self, element: usize, key: &[u128]) -> Result<bool, FlowError> {
        Ok(self.chain_mut().remove(element, key)?)
    }

    fn clear(&mut self, element: usize) -> Result<(), FlowError> {
        Ok(self.chain_mut().clear(element)?)
    }

    fn event(&mut self) -> Result<Option<Event>, FlowError> {
        Ok(self.chain_mut().event())
    }

    fn tell(&mut self, element: usize, kinds: &[EventKind]) -> Result<(), FlowError> {
        Ok(self.chain_mut().tell(element, kinds)?)
    }

    fn counters(&mut self) -> Result<BlockCounters, FlowError> {
        let chain = self.chain();
        let element = |(number, element): (usize, &Element)| {
            let counters = chain.counters(number)?;
            Ok(ElementCounters {
                name: element.name.clone(),
                frames: counters.frames,
                keyless: counters.keyless,
                unmatched: counters.unmatched,
                unkept: counters.unkept,
                expired: counters.expired,
                evicted: counters.evicted,
                contexts: chain.count(number)? as u64,
                rows: rows(element, &counters.rows),
            })
        };
        Ok(BlockCounters {
            events_lost: chain.events_lost(),
            changes: chain.changes(),
            elements: chain.program().elements.iter().enumerate().map(element).collect::<Result<_, FlowError>>()?,
        })
    }

    fn table(&mut self, _element: usize, _forget: bool) -> Result<TableUse, FlowError> {
        Err(FlowError::NoHardware)
    }
}
