// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Compiled programs.

use std::any::Any;
use std::fmt::Debug;

/// The image of a part: a program in its engine's form. Drivers find their own images by type.
pub trait Image: Any + Debug + Send + Sync {
    /// The compiler's messages.
    fn messages(&self) -> &str {
        ""
    }

    /// The program as an ELF file; empty if it has no such file.
    fn elf(&self) -> &[u8] {
        &[]
    }

    /// The program's name in its file, if the file holds several.
    fn name(&self) -> Option<&str> {
        None
    }

    /// Names of the tables that the program declares.
    fn tables(&self) -> Vec<String> {
        Vec::new()
    }

    /// The place of an address in the program: function, file and line.
    fn locate(&self, _pc: u32) -> Option<String> {
        None
    }

    /// The word that chooses the hardware for this program, where that follows from the program
    /// ([`crate::Part::parameter`]).
    fn parameter(&self) -> Option<u64> {
        None
    }
}
