// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! XDP objects as clang and gcc write them and Linux loads them: programs, maps, global variables, types, source lines.

mod core;
mod elf;
mod error;
mod link;
mod maps;
mod program;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

pub use self::core::CoreError;
pub use error::{EntriesError, LinkError, LinkErrorKind, ObjectError, Place};
pub use link::MAX_SLOTS;
pub use program::{Attach, Function, Program};

use self::elf::{Elf, Section, SectionId, relocation};
use crate::btf::{Btf, Ext};
use crate::insn::SLOT_BYTES;
use crate::maps::{Contents, Map};
use link::{CodeSection, Names};

/// A program that an object has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The function's name.
    pub name: String,
    /// The section that has it, such as `xdp`.
    pub section: String,
    /// Where the program runs, from the section's name.
    pub attach: Attach,
    id: (SectionId, usize),
}

/// An object. The default has nothing in it.
#[derive(Debug, Default)]
pub struct Object {
    /// In the order in which programs name them.
    pub maps: Vec<Map>,
    /// XDP programs, in the order of the file.
    pub entries: Vec<Entry>,
    /// The text of its section `license`.
    pub license: Option<String>,
    /// Parts of the object that were ignored, for messages to the user.
    pub notes: Vec<String>,
    btf: Btf,
    code: HashMap<SectionId, CodeSection>,
}

impl Object {
    /// Reads an object file.
    pub fn read(data: &[u8]) -> Result<Object, ObjectError> {
        let elf = Elf::read(data)?;
        let mut notes = Vec::new();
        let btf = match elf.named(".BTF") {
            Some(section) => {
                Btf::read(&section.bytes).map_err(|source| ObjectError::Btf { section: ".BTF", source })?
            }
            None => Btf::default(),
        };
        let ext = match elf.named(".BTF.ext") {
            Some(section) => {
                Ext::read(&section.bytes, &btf).map_err(|source| ObjectError::Btf { section: ".BTF.ext", source })?
            }
            None => Ext::default(),
        };
        let maps = maps::read(&elf, &btf, &mut notes)?;
        let mut code = HashMap::new();
        for section in elf.sections.iter().filter(|section| section.code && !section.bytes.is_empty()) {
            code.insert(section.id, code_section(&elf, section, &maps)?);
        }
        attribute(&mut code, &ext);
        let entries = entries(&elf, &code, &mut notes);
        if entries.is_empty() {
            let mut found: Vec<_> = code.values().map(|section| format!("`{}`", section.name)).collect();
            found.sort();
            return Err(ObjectError::NoProgram(found));
        }
        let license = elf.named("license").map(|section| {
            let text = section.bytes.split(|&byte| byte == 0).next().unwrap_or_default();
            String::from_utf8_lossy(text).into_owned()
        });
        let maps = maps.into_iter().map(|declared| declared.map).collect();
        Ok(Object { maps, entries, license, notes, btf, code })
    }

    /// Puts a program together.
    pub fn program(&self, entry: &Entry) -> Result<Program, LinkError> {
        link::link(&self.code, entry.id, entry.attach, |relocation| core::check(relocation, &self.btf))
    }

    /// Whether helpers that are reserved for free software may be called, as Linux reads the license.
    pub fn free_license(&self) -> bool {
        const FREE: [&str; 6] =
            ["GPL", "GPL v2", "GPL and additional rights", "Dual BSD/GPL", "Dual MIT/GPL", "Dual MPL/GPL"];
        self.license.as_deref().is_some_and(|license| FREE.contains(&license))
    }

    /// The map of that name, with its index.
    pub fn map(&self, name: &str) -> Option<(u32, &Map)> {
        self.maps.iter().zip(0..).find(|(map, _)| map.name == name).map(|(map, index)| (index, map))
    }

    /// Sets the number of entries of a map, as loaders do before they load an object. The check of the number comes
    /// with the programs that use the map.
    ///
    /// # Errors
    /// If the map does not exist, or holds global data, which is one entry.
    pub fn set_entries(&mut self, name: &str, entries: u32) -> Result<(), EntriesError> {
        match self.maps.iter_mut().find(|map| map.name == name) {
            Some(Map { contents: Contents::Data { .. }, .. }) => Err(EntriesError::Data(name.to_owned())),
            Some(map) => {
                map.shape.max_entries = entries;
                Ok(())
            }
            None => {
                let there = self.maps.iter().map(|map| map.name.clone()).collect();
                Err(EntriesError::NoMap { name: name.to_owned(), there })
            }
        }
    }

    /// The object's types.
    pub fn types(&self) -> &Btf {
        &self.btf
    }
}

/// The functions and relocations of a section with code.
fn code_section(elf: &Elf, section: &Section, maps: &[maps::Declared]) -> Result<CodeSection, ObjectError> {
    let slots = section.bytes.len() / SLOT_BYTES;
    if !section.bytes.len().is_multiple_of(SLOT_BYTES) {
        let what = "its length is no multiple of 8, the size of an instruction";
        return Err(ObjectError::Section { section: section.name.clone(), what });
    }
    let mut starts = BTreeMap::new();
    for symbol in elf.symbols_of(section.id).into_iter().filter(|symbol| symbol.names == elf::Names::Function) {
        let wrong = |what| ObjectError::Function { section: section.name.clone(), function: symbol.name.clone(), what };
        let start = usize::try_from(symbol.value).map_err(|_| wrong("it begins outside its section"))?;
        if !start.is_multiple_of(SLOT_BYTES) || start / SLOT_BYTES >= slots {
            return Err(wrong("it does not begin at an instruction of its section"));
        }
        let size = usize::try_from(symbol.size).map_err(|_| wrong("it ends outside its section"))?;
        if !size.is_multiple_of(SLOT_BYTES) || size / SLOT_BYTES > slots - start / SLOT_BYTES {
            return Err(wrong("it does not end at an instruction of its section"));
        }
        starts.insert(start / SLOT_BYTES, (symbol.name.clone(), size / SLOT_BYTES));
    }
    if starts.is_empty() && link::begins_with_insn(&section.bytes) {
        // Old compilers do not mark functions: then the section is one function.
        let named = elf.symbols_of(section.id).into_iter().find(|symbol| !symbol.local && symbol.value == 0);
        starts.insert(0, (named.map_or_else(|| section.name.clone(), |symbol| symbol.name.clone()), slots));
    }
    let ends: Vec<usize> = starts.keys().skip(1).copied().chain([slots]).collect();
    let functions = starts
        .into_iter()
        .zip(ends)
        // Assembly does not always give a size: then the function ends where the next begins.
        .map(|((start, (name, size)), end)| (name, start, if size == 0 { end - start } else { size }))
        .collect();
    let mut relocations = HashMap::new();
    for entry in &section.relocations {
        let slot = usize::try_from(entry.offset).unwrap_or(usize::MAX) / SLOT_BYTES;
        relocations.insert(slot, names(elf, entry, maps));
    }
    Ok(CodeSection {
        name: section.name.clone(),
        bytes: section.bytes.clone(),
        functions,
        relocations,
        core: HashMap::new(),
        lines: BTreeMap::new(),
    })
}

/// The target of an instruction's relocation.
fn names(elf: &Elf, entry: &elf::Relocation, maps: &[maps::Declared]) -> Names {
    let symbol = &elf.symbols[entry.symbol];
    let call = match entry.kind {
        relocation::ADDRESS => false,
        relocation::CALL => true,
        kind => return Names::Nothing(LinkErrorKind::Relocation(kind)),
    };
    let Some(section) = symbol.section else { return Names::Undefined(symbol.name.clone()) };
    if let Some(index) = maps.iter().position(|map| map.section == section && map.offset == Some(symbol.value)) {
        return Names::Map(index as u32);
    }
    if let Some(index) = maps.iter().position(|map| map.section == section && map.offset.is_none()) {
        return Names::Data { map: index as u32, offset: symbol.value };
    }
    match elf.section(section) {
        Some(found) if found.code => Names::Code { section, offset: symbol.value, call },
        found => Names::Nothing(LinkErrorKind::Target {
            symbol: symbol.name.clone(),
            section: found.map_or_else(String::new, |found| found.name.clone()),
        }),
    }
}

/// Gives each section its lines and CO-RE relocations.
fn attribute(code: &mut HashMap<SectionId, CodeSection>, ext: &Ext) {
    let by_name: HashMap<String, SectionId> = code.iter().map(|(id, section)| (section.name.clone(), *id)).collect();
    let slot = |offset: u32| offset as usize / SLOT_BYTES;
    for (section, offset, line) in &ext.lines {
        if let Some(section) = by_name.get(section).and_then(|id| code.get_mut(id)) {
            section.lines.insert(slot(*offset), Arc::new(line.clone()));
        }
    }
    for (section, offset, relocation) in &ext.core {
        if let Some(section) = by_name.get(section).and_then(|id| code.get_mut(id)) {
            section.core.insert(slot(*offset), relocation.clone());
        }
    }
}

/// The XDP programs among the functions. Those of `.text` are only called.
fn entries(elf: &Elf, code: &HashMap<SectionId, CodeSection>, notes: &mut Vec<String>) -> Vec<Entry> {
    let mut entries = Vec::new();
    for section in elf.sections.iter().filter(|section| section.name != ".text") {
        let Some(found) = code.get(&section.id) else { continue };
        let Some(attach) = Attach::of_section(&section.name) else {
            notes.push(format!("section `{}` holds no XDP program and is left out", section.name));
            continue;
        };
        for (index, (name, _, slots)) in found.functions.iter().enumerate() {
            if *slots > 0 {
                let id = (section.id, index);
                entries.push(Entry { name: name.clone(), section: section.name.clone(), attach, id });
            }
        }
    }
    entries
}
