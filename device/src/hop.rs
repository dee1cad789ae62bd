// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The places that a frame passed on its way through the card, cycle for cycle (device/rtl/trace/card_trace.sv).

use crate::rtl;

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

impl From<&rtl::ModelHop> for Hop {
    fn from(hop: &rtl::ModelHop) -> Self {
        let place = match hop.place {
            0 => Place::Ingress,
            1 => Place::Dispatched,
            2 => Place::UnitIn,
            3 => Place::UnitOut,
            4 => Place::Exit,
            5 => Place::SlotFree,
            6 => Place::Chain,
            7 => Place::StepIn,
            _ => Place::StepOut,
        };
        Self {
            cycle: hop.cycle,
            place: place(hop.index),
            source: hop.source,
            entered: hop.cycle - u64::from((hop.cycle as u32).wrapping_sub(hop.timestamp)),
            unit: hop.unit,
            slot: hop.slot,
        }
    }
}
