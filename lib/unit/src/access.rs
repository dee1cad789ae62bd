// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Accesses to the host's address space that a card refuses.

use std::fmt;

/// The kind of the host's access to an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// To read it.
    Read,
    /// To write it.
    Write,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
        })
    }
}

/// An access to the host's address space that the card answers with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the card refused a {access} of register 0x{address:08x}: shell/regs/card.rdl lists those that there are; \
     from 0x40000000 on {} must name units that the card has",
    match access { Access::Read => "UNIT_READ", Access::Write => "UNIT_WRITE_MASK" }
)]
pub struct AccessError {
    /// What was wanted.
    pub access: Access,
    /// Where.
    pub address: u32,
}
