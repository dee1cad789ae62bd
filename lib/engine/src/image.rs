// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Compiled programs.

use std::any::Any;
use std::fmt::Debug;

/// What a part is loaded with: a program as its engine takes it. Drivers find their own by its type.
pub trait Image: Any + Debug + Send + Sync {
    /// What the compiler said.
    fn messages(&self) -> &str {
        ""
    }

    /// The program as an ELF file; empty when there is none.
    fn elf(&self) -> &[u8] {
        &[]
    }

    /// What the program is called in its file, where that holds several.
    fn name(&self) -> Option<&str> {
        None
    }

    /// Names of the tables that the program declares.
    fn tables(&self) -> Vec<String> {
        Vec::new()
    }

    /// Where in the program an address is: function, file and line.
    fn locate(&self, _pc: u32) -> Option<String> {
        None
    }

    /// The word that chooses the hardware for this program, where that follows from the program
    /// ([`crate::Part::parameter`]).
    fn parameter(&self) -> Option<u64> {
        None
    }
}
