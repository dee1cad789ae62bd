// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What the inline chain of a card offers to the host, the same on every target.

use penstock_flow_compiler::limits::GLOBALS;
use penstock_flow_compiler::program::Program;
use penstock_shell::Inline;
use penstock_shell::flow::{Context, Event, EventKind};

use crate::flow::{FlowError, no_register};

/// Elements of a chain by their numbers, counted from 0, and their contexts by values of the key's fields. [`crate::flow`] works with them by names.
///
/// All that concerns one element fails when there is no such element, and what concerns contexts when it has no key.
pub trait FlowChain {
    /// What it runs.
    fn program(&self) -> &Program;

    /// The time that frames find, in µs.
    fn time(&mut self) -> Result<u64, FlowError>;

    /// It is so late, in µs. The clock never goes back; contexts whose time is over by then end.
    fn set_time(&mut self, time: u64) -> Result<(), FlowError>;

    /// Registers of an element.
    fn globals(&mut self, element: usize) -> Result<[u32; GLOBALS], FlowError>;

    /// Sets one of them, by its number below [`GLOBALS`], between two frames.
    fn set_global(&mut self, element: usize, register: usize, to: u32) -> Result<(), FlowError>;

    /// Contexts that there are; 0 for an element without a key.
    fn count(&mut self, element: usize) -> Result<usize, FlowError>;

    /// All of them, in the order of the table.
    fn contexts(&mut self, element: usize) -> Result<Vec<Context>, FlowError>;

    /// That of a flow, if there is one.
    fn context(&mut self, element: usize, key: &[u128]) -> Result<Option<Context>, FlowError>;

    /// Adds a context, or replaces that of the same flow.
    fn insert(&mut self, element: usize, context: &Context) -> Result<(), FlowError>;

    /// Removes that of a flow; whether there was one.
    fn remove(&mut self, element: usize, key: &[u128]) -> Result<bool, FlowError>;

    /// Removes all.
    fn clear(&mut self, element: usize) -> Result<(), FlowError>;

    /// Takes the oldest event that waits.
    fn event(&mut self) -> Result<Option<Event>, FlowError>;

    /// Of an element's events only those of these kinds are kept from now on; after a load all are.
    fn tell(&mut self, element: usize, kinds: &[EventKind]) -> Result<(), FlowError>;
}

impl FlowChain for Inline {
    fn program(&self) -> &Program {
        self.chain().program()
    }

    fn time(&mut self) -> Result<u64, FlowError> {
        Ok(Inline::time(self))
    }

    fn set_time(&mut self, time: u64) -> Result<(), FlowError> {
        Inline::set_time(self, time);
        Ok(())
    }

    fn globals(&mut self, element: usize) -> Result<[u32; GLOBALS], FlowError> {
        Ok(*self.chain_mut().globals(element)?)
    }

    fn set_global(&mut self, element: usize, register: usize, to: u32) -> Result<(), FlowError> {
        *self.chain_mut().globals(element)?.get_mut(register).ok_or_else(|| no_register(register))? = to;
        Ok(())
    }

    fn count(&mut self, element: usize) -> Result<usize, FlowError> {
        Ok(self.chain().count(element)?)
    }

    fn contexts(&mut self, element: usize) -> Result<Vec<Context>, FlowError> {
        Ok(self.chain().contexts(element)?)
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
}
