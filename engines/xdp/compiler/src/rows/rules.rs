// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The limits of a row, whatever its values are.

use super::op::Do;
use super::{Lanes, Row};

/// A rule that a row breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum RowRule {
    #[error("it has not as many lanes as the core")]
    Lanes,
    #[error("lane {0} is guarded by a lane that is not there")]
    Guard(usize),
    #[error("lane {0} does what only lane {1} does")]
    Place(usize, usize),
    #[error("lane {0} has arguments that no request takes")]
    Arguments(usize),
    #[error("lane {0} stores; only lanes 0 and 1 do")]
    Store(usize),
    #[error("more than one lane moves the packet")]
    Adjusts,
    #[error("lane {0} uses a window that the row does not have")]
    Window(usize),
    #[error("more than one lane names the interface of a redirection")]
    Redirects,
    #[error("it has no encoding")]
    Encoding,
}

/// Whether a row is one for a core of that many lanes.
///
/// # Errors
/// The first rule that it breaks.
pub fn legal(row: &Row, lanes: Lanes) -> Result<(), RowRule> {
    if row.lanes.len() != lanes.count() {
        return Err(RowRule::Lanes);
    }
    let (mut adjusts, mut redirects) = (0, 0);
    for (index, lane) in row.lanes.iter().enumerate() {
        let Some(lane) = lane else { continue };
        if lane.guard.is_some_and(|guard| usize::from(guard.lane) >= lanes.count()) {
            return Err(RowRule::Guard(index));
        }
        if let Some(only) = lane.op.lane(lanes).filter(|only| *only != index) {
            return Err(RowRule::Place(index, only));
        }
        let window = match &lane.op {
            Do::Args { k, .. } if !(1..=2).contains(k) => return Err(RowRule::Arguments(index)),
            Do::Request { asks, .. } => asks.key().map(|key| key.window),
            Do::Load { window, .. } => Some(*window),
            Do::Store { .. } if index >= Lanes::STORING => return Err(RowRule::Store(index)),
            Do::Store { window, .. } => Some(*window),
            Do::Adjust { .. } => {
                adjusts += 1;
                None
            }
            Do::Redirect { .. } => {
                redirects += 1;
                None
            }
            _ => None,
        };
        let there = match window {
            Some(super::Window::Packet) => row.packet.is_some(),
            Some(super::Window::Stack) => row.stack.is_some(),
            None => true,
        };
        if !there {
            return Err(RowRule::Window(index));
        }
    }
    if adjusts > 1 {
        return Err(RowRule::Adjusts);
    }
    if redirects > 1 {
        return Err(RowRule::Redirects);
    }
    super::encode(row, lanes).map(drop).map_err(|_| RowRule::Encoding)
}
