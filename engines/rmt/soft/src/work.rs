// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The state of a frame in its program, and how native code gets it.

use crate::machine::Machine;
use crate::native::Entry;
use crate::operation::Pending;
use crate::tenant::State;

/// The program's state of the present frame. It is reused from frame to frame, so that no frame needs an allocation.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    pub slots: Vec<u64>,
    /// The frame that is being put together.
    pub scratch: Vec<u8>,
    /// The fate of the frame at the end of ingress or egress.
    pub pending: Pending,
}

/// The data of native code and of the Rust code that it calls. Native code knows the offsets of the first fields.
#[repr(C)]
pub(crate) struct Work<'f> {
    /// Bytes of the frame.
    pub length: u64,
    /// 1 if the last lookup found an entry.
    pub hit: u64,
    /// The action that the last lookup gave, by its number, and its arguments.
    pub action: u64,
    pub args: *const u64,
    pub machine: &'f Machine,
    pub state: &'f mut State,
    pub pending: &'f mut Pending,
    pub bytes: &'f [u8],
    /// The slots, to which native code has a pointer of its own.
    slots: *mut [u64],
}

/// Offset of [`Work::length`].
pub(crate) const LENGTH_AT: i32 = std::mem::offset_of!(Work<'static>, length) as i32;
/// Offset of [`Work::hit`].
pub(crate) const HIT_AT: i32 = std::mem::offset_of!(Work<'static>, hit) as i32;
/// Offset of [`Work::action`].
pub(crate) const ACTION_AT: i32 = std::mem::offset_of!(Work<'static>, action) as i32;
/// Offset of [`Work::args`].
pub(crate) const ARGS_AT: i32 = std::mem::offset_of!(Work<'static>, args) as i32;

impl Work<'_> {
    /// The slots of the frame.
    pub(crate) fn slots(&mut self) -> &mut [u64] {
        // SAFETY: they are those of the frame that `Frame::run` borrows; native code does not run while Rust code does.
        unsafe { &mut *self.slots }
    }
}

impl Frame {
    /// Begins with a new frame.
    pub(crate) fn begin(&mut self, machine: &Machine) {
        self.slots.resize(machine.slots.count, 0);
        self.slots[..machine.slots.changing].fill(0);
        self.pending = Pending::default();
    }

    /// Runs native code that reads the bytes of the frame at most.
    pub(crate) fn run(&mut self, machine: &Machine, state: &mut State, code: Entry, bytes: &[u8]) {
        let slots: *mut [u64] = &mut self.slots[..];
        let mut work = Work {
            length: bytes.len() as u64,
            hit: 0,
            action: 0,
            args: std::ptr::null(),
            machine,
            state,
            pending: &mut self.pending,
            bytes,
            slots,
        };
        // SAFETY: the code is that of the machine, made for slots and `Work` of this shape, and only writes slots and
        // `work`.
        unsafe { code(&raw mut work, slots.cast(), bytes.as_ptr().cast_mut()) };
    }

    /// Writes the headers into the frame. Says whether that is possible where they stand.
    pub(crate) fn patch(&mut self, machine: &Machine, bytes: &mut [u8]) -> bool {
        let slots = self.slots.as_mut_ptr();
        // SAFETY: the code is that of the machine's deparser, which calls no Rust code and therefore needs no `Work`.
        // It writes headers that the parser has extracted from these bytes.
        unsafe { (machine.native.deparse)(std::ptr::null_mut(), slots, bytes.as_mut_ptr()) != 0 }
    }
}
