// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The operations of a lane, for any kind of operand: registers in a row, variables before register allocation.

use super::{Lanes, Second, isa};
use crate::insn::{AtomicOp, Cond, Width};
use crate::ir::Adjust;

/// Arithmetic of two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Alu {
    /// Sum, modulo the width.
    Add,
    /// Difference, modulo the width.
    Sub,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Shift left, by the second operand modulo the width.
    Lsh,
    /// Shift right with zeros, by the second operand modulo the width.
    Rsh,
    /// Shift right with copies of the sign, by the second operand modulo the width.
    Arsh,
    /// Product, modulo the width.
    Mul,
}

/// A memory with windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Window {
    /// The packet and its metadata.
    Packet,
    /// The stack.
    Stack,
}

/// How many bytes, 1 to 8, and whether their order is turned round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bytes {
    /// The number of bytes.
    pub count: u8,
    /// Whether their order is turned round.
    pub swap: bool,
}

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Test<S> {
    /// The relation that is tested.
    pub cond: Cond,
    /// The bits that are compared.
    pub width: Width,
    /// The left operand.
    pub a: S,
    /// The right operand.
    pub b: Second<S>,
}

/// The place of a key's first bytes, so that the map need not wait for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key<P> {
    /// The memory that has the key.
    pub window: Window,
    /// The key's first byte.
    pub place: P,
}

/// The kind of a request. The numbers are of helpers and maps; no number: argument 3 is the map's pointer
/// ([`crate::ir::map_pointer`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants' comments speak of their fields")]
pub enum Asks<P> {
    /// Reads `bytes` outside of the core, with their sign if `signed`.
    Load { bytes: Bytes, signed: bool },
    /// Writes `bytes` outside of the core.
    Store { bytes: Bytes },
    /// An atomic operation on `count` bytes, 4 or 8.
    Atomic { op: AtomicOp, count: u8 },
    /// Divides; `remainder` asks for the remainder.
    Divide { signed: bool, remainder: bool, width: Width },
    /// Calls the helper `number`.
    Helper { number: u16 },
    /// Looks the key up.
    Lookup { map: Option<u16>, key: Option<Key<P>> },
    /// Writes the entry of the key.
    Update { map: Option<u16>, key: Option<Key<P>> },
    /// Deletes the entry of the key.
    Delete { map: Option<u16>, key: Option<Key<P>> },
    /// The program that begins with the row in `a` takes over.
    TailCall,
}

/// The operation of a lane. `S` is an input, `P` a place in memory, `T` the target of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants' comments speak of their fields")]
pub enum Do<S, P, T> {
    /// `a op b`.
    Alu { op: Alu, width: Width, a: S, b: Second<S> },
    /// `from`, to `width`.
    Move { width: Width, from: Second<S> },
    /// `imm` in the upper half, the lower half of `a`.
    MoveHigh { a: S, imm: u32 },
    /// The lower `bits` with their sign, to `width`.
    Extend { bits: u8, width: Width, a: S },
    /// Order of the lower `bytes` turned round, the others 0.
    Swap { bytes: u8, a: S },
    /// `bits` (1 to 32) bits of `a` from `shift` (0 to 63) on, moved left by `left` (0 to 7).
    Field { shift: u8, bits: u8, left: u8, a: S },
    /// 1 or 0.
    Set(Test<S>),
    /// An outcome for guards.
    Compare(Test<S>),
    /// Continues at the target if the test is true.
    Branch(Test<S>, T),
    /// Continues at the target.
    Jump(T),
    /// The program ends with this verdict.
    Exit(S),
    /// Reads `bytes` at `place`, with their sign if `signed`, else with zeros.
    Load { window: Window, place: P, bytes: Bytes, signed: bool },
    /// Writes `bytes` of `value` at `place`.
    Store { window: Window, place: P, bytes: Bytes, value: Second<S> },
    /// Moves an end of the packet by `by`; the result is 0, or −22 if it cannot move.
    Adjust { what: Adjust, by: S },
    /// The interface that the verdict XDP_REDIRECT means; the result is that verdict.
    Redirect { to: S },
    /// `answer`: the context waits for it.
    Request { asks: Asks<P>, answer: bool, a: S, b: S },
    /// Arguments 2·k and 2·k + 1 of the next request; k is 1 or 2.
    Args { k: u8, a: S, b: Second<S> },
}

impl<S: Copy, P, T> Do<S, P, T> {
    /// Whether it leaves a result in a register.
    pub fn has_result(&self) -> bool {
        !matches!(
            self,
            Do::Compare(_)
                | Do::Branch(..)
                | Do::Jump(_)
                | Do::Exit(_)
                | Do::Store { .. }
                | Do::Args { .. }
                | Do::Request { answer: false, .. }
        )
    }

    /// Whether it may end the row's straight run.
    pub fn leaves(&self) -> bool {
        matches!(self, Do::Branch(..) | Do::Jump(_) | Do::Exit(_))
    }

    /// The comparison in it that gives an outcome.
    pub fn test(&self) -> Option<&Test<S>> {
        match self {
            Do::Compare(test) | Do::Branch(test, _) => Some(test),
            _ => None,
        }
    }

    /// Its source operands, except addresses of windows.
    pub fn sources(&self) -> impl Iterator<Item = S> {
        let second = |second: &Second<S>| match second {
            Second::Source(source) => Some(*source),
            Second::Imm(_) => None,
        };
        let pair = match self {
            Do::Alu { a, b, .. } | Do::Args { a, b, .. } => [Some(*a), second(b)],
            Do::Set(test) | Do::Compare(test) | Do::Branch(test, _) => [Some(test.a), second(&test.b)],
            Do::Move { from: value, .. } | Do::Store { value, .. } => [None, second(value)],
            Do::Request { a, b, .. } => [Some(*a), Some(*b)],
            Do::MoveHigh { a, .. }
            | Do::Extend { a, .. }
            | Do::Swap { a, .. }
            | Do::Field { a, .. }
            | Do::Exit(a)
            | Do::Adjust { by: a, .. }
            | Do::Redirect { to: a } => [Some(*a), None],
            Do::Jump(_) | Do::Load { .. } => [None, None],
        };
        pair.into_iter().flatten()
    }

    /// The same with other operands, places and targets.
    pub fn map<S2: Copy, P2, T2>(
        self,
        source: impl Fn(S) -> S2,
        place: impl Fn(Window, P) -> P2,
        target: impl Fn(T) -> T2,
    ) -> Do<S2, P2, T2> {
        let second = |b: Second<S>| match b {
            Second::Source(b) => Second::Source(source(b)),
            Second::Imm(imm) => Second::Imm(imm),
        };
        let test = |test: Test<S>| Test { cond: test.cond, width: test.width, a: source(test.a), b: second(test.b) };
        match self {
            Do::Alu { op, width, a, b } => Do::Alu { op, width, a: source(a), b: second(b) },
            Do::Move { width, from } => Do::Move { width, from: second(from) },
            Do::MoveHigh { a, imm } => Do::MoveHigh { a: source(a), imm },
            Do::Extend { bits, width, a } => Do::Extend { bits, width, a: source(a) },
            Do::Swap { bytes, a } => Do::Swap { bytes, a: source(a) },
            Do::Field { shift, bits, left, a } => Do::Field { shift, bits, left, a: source(a) },
            Do::Set(it) => Do::Set(test(it)),
            Do::Compare(it) => Do::Compare(test(it)),
            Do::Branch(it, to) => Do::Branch(test(it), target(to)),
            Do::Jump(to) => Do::Jump(target(to)),
            Do::Exit(a) => Do::Exit(source(a)),
            Do::Load { window, place: at, bytes, signed } => {
                Do::Load { window, place: place(window, at), bytes, signed }
            }
            Do::Store { window, place: at, bytes, value } => {
                Do::Store { window, place: place(window, at), bytes, value: second(value) }
            }
            Do::Adjust { what, by } => Do::Adjust { what, by: source(by) },
            Do::Redirect { to } => Do::Redirect { to: source(to) },
            Do::Request { asks, answer, a, b } => {
                Do::Request { asks: asks.map(place), answer, a: source(a), b: source(b) }
            }
            Do::Args { k, a, b } => Do::Args { k, a: source(a), b: second(b) },
        }
    }
}

/// The verdict XDP_REDIRECT.
pub const REDIRECT: u8 = 4;

impl Window {
    /// Bytes of a row's window.
    pub fn bytes(self) -> u32 {
        match self {
            Window::Packet => isa::SIZE_PACKET_WINDOW,
            Window::Stack => isa::SIZE_STACK_WINDOW,
        }
    }
}

impl<S, P, T> Do<S, P, T> {
    /// The required lane of an operation, if it has one.
    pub fn lane(&self, lanes: Lanes) -> Option<usize> {
        match self {
            Do::Request { .. } => Some(0),
            Do::Args { k, .. } => Some(usize::from(*k) % lanes.count()),
            Do::Alu { op: Alu::Mul, .. } => Some(lanes.multiplier()),
            _ => None,
        }
    }
}

impl<P> Asks<P> {
    /// The same with other places.
    pub fn map<P2>(self, place: impl Fn(Window, P) -> P2) -> Asks<P2> {
        let key = |key: Option<Key<P>>| key.map(|key| Key { window: key.window, place: place(key.window, key.place) });
        match self {
            Asks::Load { bytes, signed } => Asks::Load { bytes, signed },
            Asks::Store { bytes } => Asks::Store { bytes },
            Asks::Atomic { op, count } => Asks::Atomic { op, count },
            Asks::Divide { signed, remainder, width } => Asks::Divide { signed, remainder, width },
            Asks::Helper { number } => Asks::Helper { number },
            Asks::Lookup { map, key: at } => Asks::Lookup { map, key: key(at) },
            Asks::Update { map, key: at } => Asks::Update { map, key: key(at) },
            Asks::Delete { map, key: at } => Asks::Delete { map, key: key(at) },
            Asks::TailCall => Asks::TailCall,
        }
    }

    /// Whether it reads key or value from where a program that has ended has nothing any more.
    pub fn reads_later(&self) -> bool {
        match self {
            Asks::Update { .. } => true,
            Asks::Lookup { key, .. } | Asks::Delete { key, .. } => key.is_none(),
            _ => false,
        }
    }

    /// The place of the key's first bytes.
    pub fn key(&self) -> Option<&Key<P>> {
        match self {
            Asks::Lookup { key, .. } | Asks::Update { key, .. } | Asks::Delete { key, .. } => key.as_ref(),
            _ => None,
        }
    }
}
