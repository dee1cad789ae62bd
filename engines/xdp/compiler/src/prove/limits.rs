// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The limits of a row, written independently from engines/xdp/core.md.

use crate::rows::{Alu, Asks, Do, Lane, Lanes, Row, Window};

/// Bytes of windows and of the stack; the unit in which windows are placed.
const PACKET_WINDOW: u32 = 56;
const STACK_WINDOW: u32 = 64;
const STACK: u32 = 512;
const WORD: u32 = 8;

/// A limit that a row breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Limit {
    #[error("lane {0} is guarded by a lane that is not there")]
    Guard(usize),
    #[error("lane {0} does what another lane does")]
    Lane(usize),
    #[error("lane {0} writes a register that its bank has not")]
    Register(usize),
    #[error("lane {0} reaches outside of its window, or there is none")]
    Window(usize),
    #[error("more than one lane moves the packet, or names the interface of a redirection, or has the same arguments")]
    Once,
}

/// Whether a row is within the limits of a core of that many lanes.
pub(super) fn within(row: &Row, lanes: Lanes) -> Result<(), Limit> {
    let count = lanes.count();
    let bank = match count {
        1 => 32,
        2 | 3 => 16,
        _ => 8,
    };
    let mut once = Vec::new();
    for (index, lane) in row.lanes.iter().enumerate() {
        let Some(lane) = lane else { continue };
        if lane.guard.is_some_and(|guard| usize::from(guard.lane) >= count) {
            return Err(Limit::Guard(index));
        }
        if usize::from(lane.dst) >= bank {
            return Err(Limit::Register(index));
        }
        if !its_lane(lane, index, count) {
            return Err(Limit::Lane(index));
        }
        if !in_window(row, lane) {
            return Err(Limit::Window(index));
        }
        let kind = match lane.op {
            Do::Adjust { .. } => 0,
            Do::Args { k, .. } => k,
            Do::Redirect { .. } => 3,
            _ => continue,
        };
        if once.contains(&kind) {
            return Err(Limit::Once);
        }
        once.push(kind);
    }
    Ok(())
}

/// Whether a lane of that number does such a thing.
fn its_lane(lane: &Lane, index: usize, count: usize) -> bool {
    match lane.op {
        Do::Alu { op: Alu::Mul, .. } => index + 1 == count,
        Do::Store { .. } => index < 2,
        Do::Request { .. } => index == 0,
        Do::Args { k, .. } => (k == 1 || k == 2) && index == usize::from(k) % count,
        _ => true,
    }
}

/// Whether all bytes of a lane's access are in the row's window, and that of the stack in the stack.
fn in_window(row: &Row, lane: &Lane) -> bool {
    let (window, first, bytes) = match &lane.op {
        Do::Load { window, place, bytes, .. } | Do::Store { window, place, bytes, .. } => {
            (*window, u32::from(place.0), u32::from(bytes.count))
        }
        Do::Request {
            asks: Asks::Lookup { key, .. } | Asks::Update { key, .. } | Asks::Delete { key, .. }, ..
        } => {
            let Some(key) = key else { return true };
            if u32::from(key.place.0) >= WORD {
                return false;
            }
            (key.window, u32::from(key.place.0), 1)
        }
        _ => return true,
    };
    let end = first + bytes;
    (1..=8).contains(&bytes)
        && match window {
            Window::Packet => row.packet.is_some() && end <= PACKET_WINDOW,
            Window::Stack => row.stack.is_some_and(|word| u32::from(word) * WORD + end <= STACK) && end <= STACK_WINDOW,
        }
}
