// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The places that a frame passed on its way through the card, cycle for cycle (device/rtl/trace/card_trace.sv).

/// A place between two blocks of the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// From the ingress of a stream (ports first, then the host), or from the inline chain, to the dispatcher.
    Ingress(u8),
    /// From the dispatcher, or for the stream after the host from the loopback, to the switch.
    Dispatched(u8),
    /// From the switch to a unit.
    UnitIn(u8),
    /// From a unit to the switch.
    UnitOut(u8),
    /// From the switch to an exit: ports, host, loopback, host memory.
    Exit(u8),
    /// A slot of a unit is free again; only the slot identifies the frame.
    SlotFree(u8),
    /// From the ingress of a port to the inline chain.
    Chain(u8),
    /// Into a step of an inline block: headers of a frame, at most one's a cycle. All frames go through all steps in one
    /// order; only that says of which frame they are.
    StepIn(u8),
    /// Out of a step, in order of arrival.
    StepOut(u8),
}

/// A frame's first beat at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hop {
    /// When.
    pub cycle: u64,
    /// Where.
    pub place: Place,
    /// The frame's port of entry or, if it has been over loopback, loopback: the port byte of its descriptor.
    pub source: u8,
    /// When its first beat did.
    pub entered: u64,
    /// The unit that it is for, or that it leaves for elsewhere than over loopback.
    pub unit: u8,
    /// Its slot there.
    pub slot: u8,
}
