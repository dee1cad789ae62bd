// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A program: a function of a program section with all that it calls, in one list of instructions.

use std::ops::Range;
use std::sync::Arc;

use super::error::Place;
use crate::btf::Line;
use crate::insn::Code;

/// The hook in Linux at which a program would run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attach {
    /// On a received frame.
    Xdp,
    /// On a frame that is redirected to a device.
    Devmap,
    /// On a frame that is redirected to a processor.
    Cpumap,
}

impl Attach {
    /// The attachment that a section's name stands for, in the spelling of libbpf and of older loaders. None: the
    /// section holds no XDP programs.
    pub fn of_section(section: &str) -> Option<Attach> {
        let section = section.strip_prefix('?').unwrap_or(section);
        let family = |names: [&str; 3]| {
            names
                .iter()
                .any(|name| section.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
        };
        if family(["xdp/devmap", "xdp.frags/devmap", "xdp_devmap"]) {
            Some(Attach::Devmap)
        } else if family(["xdp/cpumap", "xdp.frags/cpumap", "xdp_cpumap"]) {
            Some(Attach::Cpumap)
        } else {
            (section.starts_with("xdp") || section == "prog").then_some(Attach::Xdp)
        }
    }
}

/// One of a program's functions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// The name of its symbol.
    pub name: String,
    /// The section that has it.
    pub section: String,
    /// Its slots in the program.
    pub slots: Range<usize>,
}

/// A program, ready to be checked. Maps are named by their index in the object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The name of its first function.
    pub name: String,
    /// The section that has it.
    pub section: String,
    /// Where the program runs.
    pub attach: Attach,
    /// Its instructions and those of the functions that it calls.
    pub code: Code,
    /// In the order of their slots. The first is the program's own, the others are those it calls.
    pub functions: Vec<Function>,
    /// The source line of each slot, if the object has it.
    pub lines: Vec<Option<Arc<Line>>>,
}

impl Program {
    /// The function that a slot belongs to.
    pub fn function(&self, slot: usize) -> &Function {
        let behind = self.functions.partition_point(|function| function.slots.start <= slot);
        &self.functions[behind.saturating_sub(1)]
    }

    /// The index of the function that begins at a slot.
    pub fn function_at(&self, slot: usize) -> Option<usize> {
        self.functions.binary_search_by_key(&slot, |function| function.slots.start).ok()
    }

    /// A slot as a user finds it.
    pub fn place(&self, slot: usize) -> Place {
        let function = self.function(slot);
        Place {
            section: function.section.clone(),
            function: function.name.clone(),
            slot: slot - function.slots.start,
            line: self.lines.get(slot).cloned().flatten(),
        }
    }
}
