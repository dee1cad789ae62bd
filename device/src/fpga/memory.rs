// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Card memory of a design, on a board.
//!
//! The card has eight channels for inline blocks and one for maps. Behind Corundum they are on the board's DDR4
//! (shell/cards/lib/card_memory.sv). OpenNIC's cards do not have them.

use std::fs;

use penstock_engine::{Fault, Part};

use super::Shell;
use crate::design::{Design, DesignError};

/// Boards of Corundum with DDR4, and its channels there. The controllers are at 300 MHz.
const DDR: [(&str, u32); 4] = [("au200", 4), ("au250", 4), ("au280", 2), ("vcu1525", 4)];

/// Channels of DDR4 on a board.
pub(super) fn of_board(board: &str) -> u32 {
    DDR.iter().find(|(name, _)| *name == board).map_or(0, |(_, channels)| *channels)
}

/// A sentence about the first key of a design that asks for card memory, if there is such a key.
fn asked(design: &Design) -> Option<Fault> {
    let parts = design.parts().map(|part| design.part(part));
    parts.chain(design.engines.iter().map(|part| &**part)).find_map(Part::without_memory)
}

/// Ports of a board's memory that a design uses, of the ports that there are.
pub(crate) fn ports(design: &Design, there: u32) -> u32 {
    let by_blocks = design.inline.iter().any(|inline| inline.part.without_memory().is_some());
    match asked(design) {
        Some(_) if by_blocks => there,
        // Maps have one channel.
        Some(_) => there.min(1),
        None => 0,
    }
}

/// Why a design cannot be on the card of a shell, or on one of its boards, because there is no memory for it.
pub(crate) fn refused(design: &Design, shell: Shell, board: Option<&str>) -> Option<DesignError> {
    let reason = match (shell, board) {
        (Shell::OpenNic, _) => "OpenNIC's box_322mhz has no port to a memory".to_owned(),
        (Shell::Corundum, Some(board)) if of_board(board) == 0 => {
            format!("the card uses DDR4, and {board} has none")
        }
        (Shell::Corundum, _) => return None,
    };
    let Fault { span, message } = asked(design)?;
    let boards = DDR.map(|(board, _)| board).join(", ");
    // Without a board the card may be a simulated one.
    let simulated = match board {
        Some(_) => "",
        None => ", or simulate it there: `--card sim-corundum`, of `fpga sim` `--shell corundum`",
    };
    let message = format!("{message}; or take the shell corundum on one of {boards}{simulated}: {reason}");
    let text = fs::read_to_string(&design.path).unwrap_or_default();
    Some(DesignError::at(&design.path, &text, Fault { span, message }))
}
