// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Conditional jumps: the open ways, and the facts on each.

use super::compare::{decided, refined};
use super::error::Rule;
use super::facts::PacketCheck;
use super::paths::{Next, Paths};
use super::scalar::Scalar;
use super::state::State;
use super::value::{Gone, Pointer, Region, Value};
use crate::insn::{Cond, Operand, Reg, Width};

/// No packet is longer, for Linux' verifier.
pub(super) const MAX_PACKET: i64 = 0xffff;

impl Paths<'_> {
    pub(super) fn jump_if(
        &mut self,
        slot: usize,
        cond: Cond,
        width: Width,
        left: Reg,
        right: Operand,
    ) -> Result<Next, Rule> {
        let a = self.read(left)?;
        let b = self.operand(right)?;
        self.facts.operands(slot, Some(&a), matches!(right, Operand::Reg(_)).then_some(&b));
        let target = self.program.code.target(slot).unwrap_or(slot);
        let next = slot + 1;

        let way = way(cond, width, &a, &b);
        if let Some(taken) = way {
            self.facts.branch(slot, (taken, !taken), None, false);
            return Ok(Next::Slot(if taken { target } else { next }));
        }
        let mut there = Box::new(self.path.state.clone());
        let here = &mut self.path.state;
        let (mut packet, mut null_check) = (None, false);
        match (&a, &b) {
            (Value::Scalar(x, x_link), Value::Scalar(y, y_link)) => {
                for (state, holds) in [(&mut *there, true), (here, false)] {
                    let (x, y) = refined(cond, holds, width, x, y);
                    set(state, left, x, *x_link);
                    if let Operand::Reg(right) = right {
                        set(state, right, y, *y_link);
                    }
                }
            }
            (Value::Pointer(Pointer { nullable: true, id, .. }) | Value::Map(_, id @ 1..), Value::Scalar(zero, _))
                if zero.constant() == Some(0) && width == Width::W64 && matches!(cond, Cond::Eq | Cond::Ne) =>
            {
                null_check = true;
                let (null, found) = if cond == Cond::Eq { (&mut *there, here) } else { (here, &mut *there) };
                resolve(null, *id, true);
                resolve(found, *id, false);
            }
            _ if width == Width::W64 => {
                let check = packet_check(cond, &a, &b).or_else(|| packet_check(cond.swapped(), &b, &a));
                if let Some((pointer, bytes, when_taken)) = check {
                    let state = if when_taken { &mut *there } else { here };
                    prove(state, &pointer, bytes, slot);
                    if pointer.region == Region::Packet {
                        packet = Some(PacketCheck { bytes, when_taken, variable: pointer.id != 0 });
                    }
                }
            }
            _ => {}
        }
        self.facts.branch(slot, (true, true), packet, null_check);
        Ok(Next::Both(target, there))
    }
}

/// The way it goes, if there is only one.
fn way(cond: Cond, width: Width, a: &Value, b: &Value) -> Option<bool> {
    match (a, b) {
        (Value::Scalar(x, _), Value::Scalar(y, _)) => decided(cond, width, x, y),
        // The looked-up value is not null. (Linux does not conclude this for the packet and the stack: there both ways
        // must be valid.)
        (
            Value::Pointer(Pointer { nullable: false, region: Region::MapValue(_) | Region::Record(_), .. })
            | Value::Map(_, 0),
            Value::Scalar(zero, _),
        ) if zero.constant() == Some(0) && width == Width::W64 => match cond {
            Cond::Eq => Some(false),
            Cond::Ne => Some(true),
            _ => None,
        },
        _ => None,
    }
}

fn set(state: &mut State, reg: Reg, scalar: Scalar, link: u32) {
    if let Value::Scalar(known, _) = &mut state.frame_mut().regs[reg.index()] {
        *known = scalar;
    }
    state.relink(link, scalar);
}

/// All copies of the result of a lookup are null, or are not.
fn resolve(state: &mut State, id: u32, null: bool) {
    if null {
        state.records.retain(|(record, _)| *record != id);
    }
    state.change(|value| match value {
        Value::Pointer(pointer) if pointer.nullable && pointer.id == id => {
            if null {
                *value = Value::number(Scalar::of(0));
            } else {
                pointer.nullable = false;
            }
        }
        Value::Map(map, found) if *found == id => {
            *value = if null { Value::number(Scalar::of(0)) } else { Value::Map(*map, 0) };
        }
        _ => {}
    });
}

/// For a comparison of a pointer with the end of its region: the pointer, the number of bytes proven after its variable
/// part, and the result that proves them.
fn packet_check(cond: Cond, pointer: &Value, end: &Value) -> Option<(Pointer, u32, bool)> {
    let Value::Pointer(pointer) = pointer else { return None };
    let bounds = match (pointer.region, end) {
        (Region::Packet, Value::PacketEnd) => true,
        (Region::PacketMeta, Value::Pointer(data)) => data.region == Region::Packet && data.offset == 0 && data.id == 0,
        _ => false,
    };
    // `p > end` and `p >= end` prove bytes if they do not hold, `p < end` and `p <= end` if they do. If p cannot be the
    // end itself, one more byte is proven.
    let (when_taken, open) = match cond {
        Cond::Gt => (false, false),
        Cond::Ge => (false, true),
        Cond::Lt => (true, true),
        Cond::Le => (true, false),
        _ => return None,
    };
    let bytes = pointer.offset + i64::from(open);
    let far = pointer.variable.wide.umax > MAX_PACKET as u64
        || pointer.offset.saturating_add(pointer.variable.wide.umax as i64) > MAX_PACKET;
    let tells = bounds && !pointer.nullable && pointer.offset >= 0 && (pointer.offset > 0 || !open) && !far;
    tells.then(|| u32::try_from(bytes).ok().map(|bytes| (*pointer, bytes, when_taken))).flatten()
}

/// This many bytes are proven for all pointers with the same variable part.
fn prove(state: &mut State, pointer: &Pointer, bytes: u32, slot: usize) {
    state.change(|value| {
        if let Value::Pointer(other) = value
            && other.region == pointer.region
            && other.id == pointer.id
            && other.proven < bytes
        {
            other.proven = bytes;
            other.proof = Some(slot);
        }
    });
}

/// After the packet was moved no pointer into it is one.
pub(super) fn forget_packet(state: &mut State, helper: &'static str) {
    state.change(|value| match value {
        Value::PacketEnd => *value = Value::Gone(Gone::Moved(helper)),
        Value::Pointer(pointer) if pointer.in_packet() => *value = Value::Gone(Gone::Moved(helper)),
        _ => {}
    });
}
