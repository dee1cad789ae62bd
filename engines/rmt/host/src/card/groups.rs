// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Multicast groups of a program on a card in hardware: rows of the memory GROUP.

use penstock_rmt_compiler::backend::{GROUP_COPIES, LAST_GROUP};
use penstock_rmt_compiler::ir::{PORT_HOST, Replica};
use penstock_rmt_p4runtime::Refusal;

use crate::card::window::{Memory, Row};

/// Queues for frames of which copies are made.
pub const QUEUES: u32 = 8;
/// Words of a group.
pub const GROUP_ROW: usize = 4;
/// Groups of a bank, group 0 among them.
const GROUPS: u32 = LAST_GROUP as u32 + 1;

/// The rows of a program in a bank, by the numbers of its groups.
pub fn rows(queue: u32, bank: u32) -> impl Iterator<Item = Row> {
    (0..GROUPS).map(move |group| Row::of(Memory::Group, 0, (2 * queue + bank) * GROUPS + group))
}

/// The row of a group.
pub fn row(queue: u32, bank: u32, group: u16) -> Row {
    Row::of(Memory::Group, 0, (2 * queue + bank) * GROUPS + u32::from(group))
}

/// The words of a group.
///
/// Copies to the host go to the controller of the program in bank `controller`, if there is one.
///
/// # Errors
/// The card has no such group, or no room for its copies.
pub fn words(group: u16, copies: &[Replica], controller: Option<u32>) -> Result<[u32; GROUP_ROW], Refusal> {
    if !(1..=LAST_GROUP).contains(&group) {
        return Err(Refusal::unsupported(format!("the card in hardware has multicast groups 1 to {LAST_GROUP}")));
    }
    if copies.len() > GROUP_COPIES {
        let count = copies.len();
        let text = format!("group {group} has {count} copies, and the card in hardware makes {GROUP_COPIES} at most");
        return Err(Refusal::unsupported(text));
    }
    let mut words = [0; GROUP_ROW];
    for (at, copy) in copies.iter().enumerate() {
        let to = match u32::from(copy.port) {
            port @ 0..=0xFF => port,
            port if u128::from(port) == PORT_HOST => controller.map_or(1 << 8, |bank| 1 << 9 | bank),
            port => {
                let text = format!(
                    "group {group}: the card in hardware sends no copy to {port}, only to ports 0 to 255 and {PORT_HOST}"
                );
                return Err(Refusal::unsupported(text));
            }
        };
        words[at / 2] |= (1 << 15 | to) << (16 * (at % 2));
    }
    Ok(words)
}
