// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The elements of a block, the same on every target.

use penstock_flow::{Context, Event, EventKind, Slice};
use penstock_flow_compiler::limits::GLOBALS;
use penstock_flow_compiler::program::Program;

use crate::answers::TableUse;
use crate::counters::BlockCounters;
use crate::error::FlowError;

/// The elements of a block by their numbers, counted from 0. Contexts are named by the values of their key's fields.
/// [`crate::contexts`] works with them by names.
///
/// A method that names an element fails if the block has no such element; a method about contexts fails if the element
/// has no key.
pub trait Elements {
    /// The program, with the names of its elements as the service has them.
    fn program(&self) -> &Program;

    /// The time that frames see, in µs.
    ///
    /// # Errors
    /// The card refuses.
    fn time(&mut self) -> Result<u64, FlowError>;

    /// Registers of an element.
    ///
    /// # Errors
    /// The errors of the trait, or the card refuses.
    fn globals(&mut self, element: usize) -> Result<[u32; GLOBALS], FlowError>;

    /// Sets a register of an element, by its number below [`GLOBALS`], between two frames.
    ///
    /// # Errors
    /// The errors of the trait, or the register does not exist.
    fn set_global(&mut self, element: usize, register: usize, to: u32) -> Result<(), FlowError>;

    /// Number of contexts; 0 for an element without a key.
    ///
    /// # Errors
    /// The errors of the trait, or the card refuses.
    fn count(&mut self, element: usize) -> Result<usize, FlowError>;

    /// A slice of the contexts, from 0 or the [`Slice::next`] of the slice before ([`penstock_flow::Chain::slice`]).
    /// Hardware gives all contexts in the first slice, because a walk over its table finds contexts that move only if it
    /// can go round again.
    ///
    /// # Errors
    /// The errors of the trait, or contexts of hardware move too fast to be listed.
    fn slice(&mut self, element: usize, from: usize) -> Result<Slice, FlowError>;

    /// The context of a flow, if it has one.
    ///
    /// # Errors
    /// The errors of the trait, or the values are not those of the key.
    fn context(&mut self, element: usize, key: &[u128]) -> Result<Option<Context>, FlowError>;

    /// Adds a context, or replaces the one of the same flow.
    ///
    /// # Errors
    /// The errors of the trait, or the context is not valid for the element, or the table has no place for it.
    fn insert(&mut self, element: usize, context: &Context) -> Result<(), FlowError>;

    /// Removes the context of a flow; false if the flow has no context.
    ///
    /// # Errors
    /// The errors of the trait, or the values are not those of the key.
    fn remove(&mut self, element: usize, key: &[u128]) -> Result<bool, FlowError>;

    /// Removes all contexts.
    ///
    /// # Errors
    /// The errors of the trait, or the card refuses.
    fn clear(&mut self, element: usize) -> Result<(), FlowError>;

    /// Takes the oldest event.
    ///
    /// # Errors
    /// The card refuses.
    fn event(&mut self) -> Result<Option<Event>, FlowError>;

    /// Keeps only events of these kinds of an element from now on. A load keeps all kinds again.
    ///
    /// # Errors
    /// The errors of the trait, or the card refuses.
    fn tell(&mut self, element: usize, kinds: &[EventKind]) -> Result<(), FlowError>;

    /// All counters.
    ///
    /// # Errors
    /// The card refuses.
    fn counters(&mut self) -> Result<BlockCounters, FlowError>;

    /// Places and stash of an element's table in hardware. With `forget`, [`TableUse::most`] starts again afterwards.
    ///
    /// # Errors
    /// The errors of the trait, or the table is not one of hardware.
    fn table(&mut self, element: usize, forget: bool) -> Result<TableUse, FlowError>;
}
