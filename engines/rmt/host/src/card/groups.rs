// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Multicast groups and clone sessions of a program on a card in hardware: rows of the memories GROUP and CLONE.

use penstock_rmt_compiler::backend::{GROUP_COPIES, LAST_GROUP};
use penstock_rmt_compiler::ir::{PORT_HOST, Replica, Session};
use penstock_rmt_p4runtime::Refusal;

use crate::card::window::{Memory, Row};

/// Queues for frames of which copies are made.
pub(super) const QUEUES: u32 = 8;
/// Words of a group or session.
pub(super) const GROUP_ROW: usize = 4;
/// Groups or sessions of a bank, number 0 among them.
const GROUPS: u32 = LAST_GROUP as u32 + 1;

/// The rows of a program in a bank, by the numbers of its groups or sessions.
pub(super) fn rows(memory: Memory, queue: u32, bank: u32) -> impl Iterator<Item = Row> {
    (0..GROUPS).map(move |number| Row::of(memory, 0, (2 * queue + bank) * GROUPS + number))
}

/// The row of a group or session.
pub(super) fn row(memory: Memory, queue: u32, bank: u32, number: u16) -> Row {
    Row::of(memory, 0, (2 * queue + bank) * GROUPS + u32::from(number))
}

/// The words of a clone session, as [`words`] of a group.
///
/// # Errors
/// The card has no such session, or cannot do what it asks for.
pub(super) fn session_words(
    number: u16,
    session: &Session,
    controller: Option<u32>,
) -> Result<[u32; GROUP_ROW], Refusal> {
    if session.length != 0 {
        let text = format!("clone session {number}: the card in hardware does not cut clones, so the length is 0");
        return Err(Refusal::unsupported(text));
    }
    if session.group.is_some() {
        let text = format!(
            "clone session {number}: the card in hardware sends clones to ports, not to a multicast group: name its ports"
        );
        return Err(Refusal::unsupported(text));
    }
    words("clone session", number, &session.copies, controller)
}

/// The words of a group; `what` is its kind in messages.
///
/// Copies to the host go to the controller of the program in bank `controller`, if there is one.
///
/// # Errors
/// The card has no such group, or no room for its copies.
pub(super) fn words(
    what: &str,
    number: u16,
    copies: &[Replica],
    controller: Option<u32>,
) -> Result<[u32; GROUP_ROW], Refusal> {
    if !(1..=LAST_GROUP).contains(&number) {
        return Err(Refusal::unsupported(format!("the card in hardware has {what}s 1 to {LAST_GROUP}")));
    }
    if copies.len() > GROUP_COPIES {
        let count = copies.len();
        let text = format!("{what} {number} has {count} copies, and the card in hardware makes {GROUP_COPIES} at most");
        return Err(Refusal::unsupported(text));
    }
    let mut words = [0; GROUP_ROW];
    for (at, copy) in copies.iter().enumerate() {
        let to = match u32::from(copy.port) {
            port @ 0..=0xFF => port,
            port if u128::from(port) == PORT_HOST => controller.map_or(1 << 8, |bank| 1 << 9 | bank),
            port => {
                let text = format!(
                    "{what} {number}: the card in hardware sends no copy to {port}, only to ports 0 to 255 and {PORT_HOST}"
                );
                return Err(Refusal::unsupported(text));
            }
        };
        words[at / 2] |= (1 << 15 | to) << (16 * (at % 2));
    }
    Ok(words)
}
