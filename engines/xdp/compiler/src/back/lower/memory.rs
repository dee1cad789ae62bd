// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Loads and stores: by a window where the packet or a known place of the stack is meant, else by a request.

use super::Lower;
use crate::back::code::{At, Src, Touch, Var};
use crate::insn::{AtomicOp, Width};
use crate::ir::{Arg, BinOp, Op, Place, Space, Special, ValueId};
use crate::rows::{Alu, Asks, Bytes, Do, Second, Window, isa};

/// The largest distance of a window from its base, in bytes.
const REACH: i64 = 2040;

impl Lower<'_> {
    /// An address as a base and a distance: sums with constants are followed to where they begin.
    fn base(&self, mut arg: Arg) -> (Arg, i64) {
        let mut offset = 0i64;
        while let Arg::Value(value) = arg {
            let (next, by) = match self.defs.get(&value) {
                Some(Op::Bin { op: BinOp::Add, width: Width::W64, a, b: Arg::Const(by) }) => (*a, by.cast_signed()),
                Some(Op::Bin { op: BinOp::Add, width: Width::W64, a: Arg::Const(by), b }) => (*b, by.cast_signed()),
                Some(Op::Bin { op: BinOp::Sub, width: Width::W64, a, b: Arg::Const(by) }) => {
                    (*a, by.cast_signed().wrapping_neg())
                }
                _ => break,
            };
            let sum = offset.wrapping_add(by);
            // The distance would be too large: the sum stays.
            if sum.abs() > 1 << 20 {
                break;
            }
            (arg, offset) = (next, sum);
        }
        let special = match arg {
            Arg::Value(value) => self.specials.get(&value).copied(),
            _ => None,
        };
        (special.map_or(arg, Arg::Special), offset)
    }

    /// The place of a window that reaches a place, if one does.
    pub(super) fn window(&mut self, place: &Place) -> Option<(Window, At)> {
        let (base, offset) = self.base(place.base);
        let offset = offset + i64::from(place.offset);
        match (place.space, base) {
            (Space::Stack, Arg::Special(Special::Stack)) => {
                let offset = offset + i64::from(isa::SIZE_STACK);
                let end = offset + i64::from(place.bytes);
                let inside = offset >= 0 && end <= i64::from(isa::SIZE_STACK);
                inside.then_some((Window::Stack, At { base: Src::Zero, offset: offset as i32 }))
            }
            (Space::Packet, base) if offset.abs() < REACH => {
                let base = self.src(base);
                Some((Window::Packet, At { base, offset: offset as i32 }))
            }
            (Space::Packet, _) => {
                let base = self.address(place);
                Some((Window::Packet, At { base, offset: 0 }))
            }
            _ => None,
        }
    }

    /// The address of a place, in a register.
    pub(super) fn address(&mut self, place: &Place) -> Src {
        let base = self.src(place.base);
        if place.offset == 0 {
            return base;
        }
        self.value(Do::Alu { op: Alu::Add, width: Width::W64, a: base, b: Second::Imm(place.offset) })
    }

    /// Packet and stack bytes that a request or call may access.
    pub(super) fn touch(&mut self, place: &Place, writes: bool) -> Vec<Touch> {
        if matches!(place.space, Space::Map(_) | Space::Record | Space::Shared) {
            return vec![];
        }
        let (base, offset) = self.base(place.base);
        let offset = offset + i64::from(place.offset);
        let known = |base, offset: i64| i32::try_from(offset).ok().map(|offset| (At { base, offset }, place.bytes));
        match (place.space, base) {
            (Space::Stack, Arg::Special(Special::Stack)) => {
                vec![Touch { window: Window::Stack, at: known(Src::Zero, offset + i64::from(isa::SIZE_STACK)), writes }]
            }
            (Space::Stack, _) => vec![Touch { window: Window::Stack, at: None, writes }],
            (Space::Packet, Arg::Special(special)) => {
                vec![Touch { window: Window::Packet, at: known(Src::Special(special), offset), writes }]
            }
            (Space::Packet, Arg::Value(ValueId(value))) => {
                vec![Touch { window: Window::Packet, at: known(Src::Var(Var(value)), offset), writes }]
            }
            (Space::Packet, _) => vec![Touch { window: Window::Packet, at: None, writes }],
            _ => [Window::Packet, Window::Stack].map(|window| Touch { window, at: None, writes }).to_vec(),
        }
    }

    pub(super) fn load(&mut self, place: &Place, signed: bool, swap: bool, result: Option<ValueId>) {
        let bytes = Bytes { count: place.bytes as u8, swap };
        if let Some((window, at)) = self.window(place) {
            self.give(Do::Load { window, place: at, bytes, signed }, result);
            return;
        }
        let a = self.address(place);
        let reach = self.touch(place, false);
        self.give(Do::Request { asks: Asks::Load { bytes, signed }, answer: true, a, b: Src::Zero }, result);
        self.reaching(reach);
    }

    pub(super) fn store(&mut self, place: &Place, swap: bool, value: Arg) {
        let bytes = Bytes { count: place.bytes as u8, swap };
        if let Some((window, at)) = self.window(place) {
            match self.known(value) {
                Arg::Const(number) => self.store_number(window, at, bytes, number),
                value => {
                    let value = Second::Source(self.src(value));
                    self.push(Do::Store { window, place: at, bytes, value }, None);
                }
            }
            return;
        }
        let (a, b) = (self.address(place), self.src(value));
        let reach = self.touch(place, true);
        self.ask(Asks::Store { bytes }, (a, b), None, reach);
    }

    /// Stores a number: as an operand, in two parts where it is none. It needs no register, and two operations instead
    /// of three.
    fn store_number(&mut self, window: Window, place: At, bytes: Bytes, number: u64) {
        let above = 64 - 8 * u32::from(bytes.count);
        let number = if bytes.swap { number.swap_bytes() >> above } else { number };
        let signed = (number << above).cast_signed() >> above;
        let mut store = |offset: u8, count: u8, value: i32| {
            let place = At { offset: place.offset + i32::from(offset), ..place };
            let bytes = Bytes { count, swap: false };
            self.push(Do::Store { window, place, bytes, value: Second::Imm(value) }, None);
        };
        match i32::try_from(signed) {
            Ok(value) => store(0, bytes.count, value),
            Err(_) => {
                store(0, 4, signed as i32);
                store(4, bytes.count - 4, (signed >> 32) as i32);
            }
        }
    }

    pub(super) fn atomic(
        &mut self,
        op: AtomicOp,
        place: &Place,
        value: Arg,
        expected: Option<Arg>,
        result: Option<ValueId>,
    ) {
        let (a, b) = (self.address(place), self.src(value));
        if let Some(expected) = expected {
            let a = self.src(expected);
            self.push(Do::Args { k: 1, a, b: Second::Imm(0) }, None);
        }
        let reach = self.touch(place, true);
        self.ask(Asks::Atomic { op, count: place.bytes as u8 }, (a, b), result, reach);
    }

    /// A request whose answer is only awaited if it is used, or if the request's effect would be visible.
    fn ask(&mut self, asks: Asks<At>, (a, b): (Src, Src), result: Option<ValueId>, reach: Vec<Touch>) {
        let answer = result.is_some() || !reach.is_empty();
        self.give(Do::Request { asks, answer, a, b }, result);
        self.reaching(reach);
    }

    /// Sets the target of the last node. If a request does not read the base variable, that variable may already hold
    /// another value, so the place is unknown.
    pub(super) fn reaching(&mut self, touches: Vec<Touch>) {
        let Some(node) = self.nodes.last_mut() else { return };
        let reads = node.reads();
        let lasts = |base: Src| !matches!(base, Src::Var(_)) || reads.contains(&base);
        node.reach =
            touches.into_iter().map(|touch| Touch { at: touch.at.filter(|(at, _)| lasts(at.base)), ..touch }).collect();
    }
}
