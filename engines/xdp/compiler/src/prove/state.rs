// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The state of a context except its registers, and the effects of operations on it.

use super::Why;
use super::memory::{Extent, Memory};
use super::value::{Operation, Place, Term, Val, Values, When};
use crate::ir::Special;
use crate::rows::{Asks, Do, Window};

/// Memory that a request reaches by itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Touched {
    pub window: Window,
    pub extent: Extent,
    pub writes: bool,
}

/// Requests and other outputs since the start of the block, each linked to the one before.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub packet: Memory,
    pub stack: Memory,
    /// The last move of the packet.
    adjusted: Val,
    /// The last request.
    asked: Val,
    /// The value that names the interface of a redirection.
    target: Val,
    /// Arguments 2 and 3, 4 and 5 of the next request.
    args: [Val; 2],
    /// Looks at the clock so far.
    looks: u32,
}

impl State {
    /// The beginning of a block.
    pub(super) fn begin(values: &mut Values) -> State {
        let mut part = |number| values.of(Term::Begin(number));
        State {
            packet: Memory::default(),
            stack: Memory::default(),
            adjusted: part(0),
            asked: part(1),
            target: part(2),
            args: [part(3), part(4)],
            looks: 0,
        }
    }

    pub(super) fn memory(&self, window: Window) -> &Memory {
        match window {
            Window::Packet => &self.packet,
            Window::Stack => &self.stack,
        }
    }

    fn memory_mut(&mut self, window: Window) -> &mut Memory {
        match window {
            Window::Packet => &mut self.packet,
            Window::Stack => &mut self.stack,
        }
    }

    /// The current value of a special, except the clock.
    pub(super) fn special(&self, special: Special, values: &mut Values) -> Result<Val, Why> {
        match special {
            Special::Time | Special::Random => Err(Why::Clock),
            Special::Data | Special::DataEnd | Special::DataMeta | Special::Len => {
                Ok(values.of(Term::Special(special, Some(self.adjusted))))
            }
            _ => Ok(values.of(Term::Special(special, None))),
        }
    }

    /// A read of the clock.
    pub(super) fn look(&mut self, special: Special, values: &mut Values) -> Val {
        self.looks += 1;
        values.of(Term::Clock(special, self.looks, self.asked))
    }

    /// The present result of an operation without side effects.
    pub(super) fn result(&self, op: Operation, values: &mut Values) -> Val {
        let seen = match extent(&op) {
            Some((window, extent)) => vec![self.memory(window).seen(extent, values)],
            None => vec![],
        };
        values.of(Term::Result(op, seen))
    }

    pub(super) fn store(&mut self, op: Operation, when: Option<When>, values: &mut Values) {
        if let Some((window, extent)) = extent(&op) {
            let id = values.of(Term::Done(op, when, vec![]));
            self.memory_mut(window).write(id, extent);
        }
    }

    /// Arguments for the next request.
    pub(super) fn argue(&mut self, k: u8, op: Operation, values: &mut Values) {
        self.args[usize::from(k == 2)] = values.of(Term::Done(op, None, vec![]));
    }

    /// Names the interface; gives the result.
    pub(super) fn redirect(&mut self, op: Operation, when: Option<When>, values: &mut Values) -> Val {
        let named = values.of(Term::Done(op, None, vec![]));
        self.target = values.either(when, named, self.target);
        values.of(Term::Result(op, vec![]))
    }

    /// Moves the packet and returns the result. Bytes may move and be cleared, so all earlier stores count, and nothing
    /// is known afterwards.
    pub(super) fn adjust(&mut self, op: Operation, values: &mut Values) -> Val {
        let seen = self.packet.seen(Extent(None), values);
        let id = values.of(Term::Done(op, None, vec![self.adjusted, self.asked, seen]));
        self.adjusted = id;
        self.packet.replace(id);
        id
    }

    /// Sends a request; gives the answer.
    pub(super) fn request(&mut self, op: Operation, touched: &[Touched], values: &mut Values) -> Val {
        let mut before = vec![self.asked, self.adjusted, self.target, self.args[0], self.args[1]];
        for touched in touched {
            before.push(self.memory(touched.window).seen(touched.extent, values));
        }
        let asks = if let Do::Request { asks, .. } = op { Some(asks) } else { None };
        if let Some(Asks::TailCall) = asks {
            // The other program finds the packet unchanged.
            before.push(self.packet.seen(Extent(None), values));
        }
        let id = values.of(Term::Done(op, None, before));
        self.asked = id;
        if let Some(Asks::Helper { .. }) = asks {
            self.target = id;
        }
        for touched in touched.iter().filter(|touched| touched.writes) {
            self.memory_mut(touched.window).write(id, touched.extent);
        }
        id
    }
}

/// The target of a load or store.
pub(super) fn extent(op: &Operation) -> Option<(Window, Extent)> {
    match op {
        Do::Load { window, place, bytes, .. } | Do::Store { window, place, bytes, .. } => {
            let place = Place { ..*place };
            Some((*window, Extent(Some((place, bytes.count.into())))))
        }
        _ => None,
    }
}

impl Values {
    /// Whether both have had the same external effects; `on`: the program goes on, and will see its stack and arguments
    /// again.
    pub(super) fn same_outside(&mut self, a: &State, b: &State, on: bool) -> Result<(), Why> {
        let all = Extent(None);
        if a.packet.seen(all, self) != b.packet.seen(all, self)
            || on && a.stack.seen(all, self) != b.stack.seen(all, self)
        {
            return Err(Why::Memory);
        }
        if (a.adjusted, a.asked, a.target) != (b.adjusted, b.asked, b.target) {
            return Err(Why::Outside);
        }
        if on && a.args != b.args { Err(Why::Arguments) } else { Ok(()) }
    }
}
