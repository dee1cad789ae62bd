// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Puts a program together: its function, then each function that it reaches, once; calls and addresses are filled in.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::elf::SectionId;
use super::error::{LinkError, LinkErrorKind, Place};
use super::program::{Attach, Function, Program};
use crate::btf::{CoreRelocation, Line};
use crate::insn::{Code, Imm64, Insn, Reg, SLOT_BYTES, decode};

/// No program of Linux has more instructions.
pub const MAX_SLOTS: usize = 1_000_000;

/// The target of a relocated instruction.
#[derive(Debug, Clone)]
pub(super) enum Names {
    Map(u32),
    /// A byte of global data; the instruction's own offset is added.
    Data {
        map: u32,
        offset: u64,
    },
    /// A byte of a code section; the instruction's own offset is added.
    Code {
        section: SectionId,
        offset: u64,
        call: bool,
    },
    Undefined(String),
    /// A relocation that means nothing here.
    Nothing(LinkErrorKind),
}

/// A section with code.
#[derive(Debug)]
pub(super) struct CodeSection {
    pub name: String,
    pub bytes: Vec<u8>,
    /// Name, first slot, slots; in the order of their places.
    pub functions: Vec<(String, usize, usize)>,
    pub relocations: HashMap<usize, Names>,
    pub core: HashMap<usize, CoreRelocation>,
    /// By slot: each holds until the next.
    pub lines: BTreeMap<usize, Arc<Line>>,
}

impl CodeSection {
    /// The function that begins at a slot, by its index.
    fn function_at(&self, slot: usize) -> Option<usize> {
        self.functions.iter().position(|(_, start, _)| *start == slot)
    }

    /// The line of a slot of a function that begins at `start`.
    fn line(&self, start: usize, slot: usize) -> Option<Arc<Line>> {
        self.lines.range(start..=slot).next_back().map(|(_, line)| line.clone())
    }
}

/// A function, by section and index in it.
type FunctionId = (SectionId, usize);

/// The functions that a program has so far.
struct Linker<'a> {
    sections: &'a HashMap<SectionId, CodeSection>,
    bytes: Vec<u8>,
    placed: Vec<FunctionId>,
    starts: HashMap<FunctionId, usize>,
    functions: Vec<Function>,
    lines: Vec<Option<Arc<Line>>>,
    /// Slots that name a function: to be filled in when all have their places.
    open: Vec<(usize, FunctionId)>,
}

/// Links the program that begins with a function.
pub(super) fn link(
    sections: &HashMap<SectionId, CodeSection>,
    entry: FunctionId,
    attach: Attach,
    check_core: impl Fn(&CoreRelocation) -> Result<(), super::CoreError>,
) -> Result<Program, LinkError> {
    let mut linker = Linker {
        sections,
        bytes: Vec::new(),
        placed: vec![entry],
        starts: HashMap::new(),
        functions: Vec::new(),
        lines: Vec::new(),
        open: Vec::new(),
    };
    let mut next = 0;
    while let Some(&id) = linker.placed.get(next) {
        linker.place(id, &check_core)?;
        next += 1;
    }
    linker.fill()?;
    let first = &linker.functions[0];
    let mut program = Program {
        name: first.name.clone(),
        section: first.section.clone(),
        attach,
        code: Code::default(),
        functions: linker.functions,
        lines: linker.lines,
    };
    program.code = Code::decode(&linker.bytes).map_err(|source| LinkError {
        place: program.place(source.slot().unwrap_or(0)),
        kind: LinkErrorKind::Code(source),
    })?;
    Ok(program)
}

impl Linker<'_> {
    fn error(&self, id: FunctionId, slot: usize, kind: LinkErrorKind) -> LinkError {
        let section = &self.sections[&id.0];
        let (function, start, _) = &section.functions[id.1];
        let place = Place {
            section: section.name.clone(),
            function: function.clone(),
            slot,
            line: section.line(*start, start + slot),
        };
        LinkError { place, kind }
    }

    /// Appends a function and asks for those it names.
    fn place(
        &mut self,
        id: FunctionId,
        check_core: &impl Fn(&CoreRelocation) -> Result<(), super::CoreError>,
    ) -> Result<(), LinkError> {
        let section = &self.sections[&id.0];
        let (name, start, slots) = section.functions[id.1].clone();
        let base = self.bytes.len() / SLOT_BYTES;
        if base + slots > MAX_SLOTS {
            return Err(self.error(id, 0, LinkErrorKind::TooLong(MAX_SLOTS)));
        }
        self.starts.insert(id, base);
        self.bytes.extend(&section.bytes[start * SLOT_BYTES..(start + slots) * SLOT_BYTES]);
        self.functions.push(Function { name, section: section.name.clone(), slots: base..base + slots });
        self.lines.extend((start..start + slots).map(|slot| section.line(start, slot)));
        let mut slot = 0;
        while slot < slots {
            let wide = self.wide(base + slot);
            if let Some(relocation) = section.core.get(&(start + slot)) {
                check_core(relocation).map_err(|kind| self.error(id, slot, kind.into()))?;
            }
            let result = match section.relocations.get(&(start + slot)) {
                Some(names) => self.relocate(base + slot, names),
                None => self.local(id.0, base + slot, start + slot),
            };
            result.map_err(|kind| self.error(id, slot, kind))?;
            slot += if wide { 2 } else { 1 };
        }
        Ok(())
    }

    fn slot(&mut self, slot: usize) -> &mut [u8] {
        &mut self.bytes[slot * SLOT_BYTES..(slot + 1) * SLOT_BYTES]
    }

    fn wide(&mut self, slot: usize) -> bool {
        self.slot(slot)[0] == 0x18
    }

    fn imm(&mut self, slot: usize) -> i64 {
        let slot = self.slot(slot);
        i32::from_le_bytes([slot[4], slot[5], slot[6], slot[7]]).into()
    }

    fn set_imm(&mut self, slot: usize, imm: i32) {
        self.slot(slot)[4..8].copy_from_slice(&imm.to_le_bytes());
    }

    /// Resolves a relocation.
    fn relocate(&mut self, slot: usize, names: &Names) -> Result<(), LinkErrorKind> {
        match names {
            Names::Map(map) => self.set_address(slot, Imm64::Map(*map)),
            Names::Data { map, offset } => {
                let offset = i64::try_from(*offset).ok().and_then(|offset| offset.checked_add(self.imm(slot)));
                let offset = offset.and_then(|offset| u32::try_from(offset).ok()).ok_or(LinkErrorKind::NoAddress)?;
                self.set_address(slot, Imm64::MapValue { map: *map, offset })
            }
            Names::Code { section, offset, call } => {
                // A call holds the distance in slots less one, an address the distance in bytes.
                let added = if *call { (self.imm(slot) + 1) * SLOT_BYTES as i64 } else { self.imm(slot) };
                let offset = i64::try_from(*offset).unwrap_or(i64::MAX).saturating_add(added);
                if *call {
                    self.require_call(slot)?;
                } else {
                    self.set_address(slot, Imm64::Function(0))?;
                }
                self.name_function(slot, *section, offset)
            }
            Names::Undefined(symbol) => Err(LinkErrorKind::Undefined(symbol.clone())),
            Names::Nothing(kind) => Err(kind.clone()),
        }
    }

    /// A call of a function in the same section, or the address of one, needs no relocation.
    fn local(&mut self, section: SectionId, slot: usize, in_section: usize) -> Result<(), LinkErrorKind> {
        let is_call = self.slot(slot)[0] == 0x85 && self.slot(slot)[1] == 0x10;
        let is_address = self.wide(slot) && self.slot(slot)[1] >> 4 == 4;
        if !is_call && !is_address {
            return Ok(());
        }
        let target = in_section as i64 + 1 + self.imm(slot);
        self.name_function(slot, section, target.saturating_mul(SLOT_BYTES as i64))
    }

    fn require_call(&mut self, slot: usize) -> Result<(), LinkErrorKind> {
        if self.slot(slot)[0] != 0x85 {
            return Err(LinkErrorKind::NoAddress);
        }
        // Old compilers leave the kind of call to the loader.
        self.slot(slot)[1] = 0x10;
        Ok(())
    }

    /// Makes a 64-bit immediate load give that address.
    fn set_address(&mut self, slot: usize, imm: Imm64) -> Result<(), LinkErrorKind> {
        if !self.wide(slot) || (slot + 2) * SLOT_BYTES > self.bytes.len() {
            return Err(LinkErrorKind::NoAddress);
        }
        let dst = Reg::new(self.slot(slot)[1] & 0xf).ok_or(LinkErrorKind::NoAddress)?;
        let (first, second) = Insn::LoadImm64 { dst, imm }.encode();
        self.slot(slot).copy_from_slice(&first);
        if let Some(second) = second {
            self.slot(slot + 1).copy_from_slice(&second);
        }
        Ok(())
    }

    fn name_function(&mut self, slot: usize, section: SectionId, offset: i64) -> Result<(), LinkErrorKind> {
        let nowhere = |section: &str, what| LinkErrorKind::Nowhere { section: section.to_owned(), offset, what };
        let Some(code) = self.sections.get(&section) else { return Err(nowhere("?", "there is no code")) };
        let begins = usize::try_from(offset).ok().filter(|offset| offset.is_multiple_of(SLOT_BYTES));
        let function = begins.and_then(|offset| code.function_at(offset / SLOT_BYTES));
        let id = (section, function.ok_or_else(|| nowhere(&code.name, "no function begins"))?);
        if !self.placed.contains(&id) {
            self.placed.push(id);
        }
        self.open.push((slot, id));
        Ok(())
    }

    /// Fills in the distances to functions.
    fn fill(&mut self) -> Result<(), LinkError> {
        for (slot, id) in std::mem::take(&mut self.open) {
            let distance = self.starts[&id] as i64 - (slot as i64 + 1);
            let distance = i32::try_from(distance).map_err(|_| self.error(id, 0, LinkErrorKind::TooLong(MAX_SLOTS)))?;
            self.set_imm(slot, distance);
        }
        Ok(())
    }
}

/// Whether the first slot of some bytes is an instruction by itself: a cheap check of the beginning of a function.
pub(super) fn begins_with_insn(bytes: &[u8]) -> bool {
    let (slots, _) = bytes.as_chunks::<SLOT_BYTES>();
    slots.first().is_some_and(|first| decode(*first, slots.get(1).copied()).is_ok())
}
