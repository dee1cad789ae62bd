// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The parts of an ELF file that matter here, owned and checked.

use object::read::elf::ElfFile64;
use object::{
    Architecture, Endianness, Object as _, ObjectSection as _, ObjectSymbol as _, RelocationFlags, RelocationTarget,
    SectionFlags, SectionKind, SymbolKind, SymbolSection,
};

use super::ObjectError;

/// A section's number in the file.
pub(super) type SectionId = usize;

/// The type of a relocation in the BPF supplement of ELF.
pub(super) mod relocation {
    /// The address in a 64-bit immediate load.
    pub(crate) const ADDRESS: u32 = 1;
    /// The offset in a call.
    pub(crate) const CALL: u32 = 10;
}

/// A relocation.
#[derive(Debug, Clone)]
pub(super) struct Relocation {
    pub offset: u64,
    pub kind: u32,
    /// Index into [`Elf::symbols`].
    pub symbol: usize,
}

/// A section.
#[derive(Debug, Clone)]
pub(super) struct Section {
    pub id: SectionId,
    pub name: String,
    /// Zeros for one without contents.
    pub bytes: Vec<u8>,
    pub code: bool,
    pub relocations: Vec<Relocation>,
}

/// The target of a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    Function,
    Section,
    Other,
}

/// A symbol.
#[derive(Debug, Clone)]
pub(super) struct Symbol {
    pub name: String,
    /// None: it is not defined here.
    pub section: Option<SectionId>,
    pub value: u64,
    pub size: u64,
    pub names: Names,
    pub local: bool,
}

/// The file.
#[derive(Debug)]
pub(super) struct Elf {
    pub sections: Vec<Section>,
    /// By the file's own index.
    pub symbols: Vec<Symbol>,
}

/// No section without contents is longer: it has to be made.
const MAX_ZEROS: u64 = 1 << 24;

impl Elf {
    pub(super) fn read(data: &[u8]) -> Result<Elf, ObjectError> {
        let (found, wanted) = (data.len() as u64, extent(data));
        if wanted > found {
            return Err(ObjectError::CutOff { found, wanted });
        }
        let file = ElfFile64::<Endianness>::parse(data)?;
        if file.architecture() != Architecture::Bpf {
            return Err(ObjectError::Machine(file.architecture()));
        }
        if file.endianness() != Endianness::Little {
            return Err(ObjectError::BigEndian);
        }
        if file.kind() != object::ObjectKind::Relocatable {
            return Err(ObjectError::Linked);
        }
        let mut symbols = Vec::new();
        for symbol in file.symbols() {
            // Index 0 names nothing; the crate leaves it out.
            while symbols.len() < symbol.index().0 {
                symbols.push(Symbol::nothing());
            }
            symbols.push(Symbol {
                name: symbol.name().unwrap_or_default().to_owned(),
                section: match symbol.section() {
                    SymbolSection::Section(index) => Some(index.0),
                    _ => None,
                },
                value: symbol.address(),
                size: symbol.size(),
                names: match symbol.kind() {
                    SymbolKind::Text => Names::Function,
                    SymbolKind::Section => Names::Section,
                    _ => Names::Other,
                },
                local: symbol.is_local(),
            });
        }
        let mut sections = Vec::new();
        for section in file.sections() {
            let name = section.name()?.to_owned();
            let empty = matches!(section.kind(), SectionKind::UninitializedData);
            if empty && section.size() > MAX_ZEROS {
                return Err(ObjectError::Section { section: name, what: "it is larger than 16 MiB" });
            }
            let bytes = if empty { vec![0; section.size() as usize] } else { section.data()?.to_vec() };
            let code = match section.flags() {
                SectionFlags::Elf { sh_flags } => sh_flags & u64::from(object::elf::SHF_EXECINSTR) != 0,
                _ => false,
            };
            let mut relocations = Vec::new();
            for (offset, relocation) in section.relocations() {
                let (RelocationTarget::Symbol(symbol), RelocationFlags::Elf { r_type: kind }) =
                    (relocation.target(), relocation.flags())
                else {
                    continue;
                };
                if symbol.0 >= symbols.len() {
                    return Err(ObjectError::Section { section: name, what: "a relocation names no symbol" });
                }
                relocations.push(Relocation { offset, kind, symbol: symbol.0 });
            }
            sections.push(Section { id: section.index().0, name, bytes, code, relocations });
        }
        Ok(Elf { sections, symbols })
    }

    pub(super) fn section(&self, id: SectionId) -> Option<&Section> {
        self.sections.iter().find(|section| section.id == id)
    }

    pub(super) fn named(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// The symbols that a section defines, in the order of their places; without the symbol of the section itself.
    pub(super) fn symbols_of(&self, id: SectionId) -> Vec<&Symbol> {
        let defined = |symbol: &&Symbol| symbol.section == Some(id) && symbol.names != Names::Section;
        let mut symbols: Vec<_> = self.symbols.iter().filter(defined).collect();
        symbols.sort_by_key(|symbol| symbol.value);
        symbols
    }
}

/// The end of the last part of a file, by its own header and table of sections (ELF-64 Object File Format 1.5, sections
/// 3 and 6); 0 if the file is not 64-bit little-endian ELF.
fn extent(data: &[u8]) -> u64 {
    const HEADER: u64 = 64;
    const SECTION: u64 = 64;
    const NOBITS: u64 = 8;
    if !data.starts_with(b"\x7fELF\x02\x01") {
        return 0;
    }
    let number = |at: u64, bytes: usize| {
        let field = usize::try_from(at).ok().and_then(|at| data.get(at..)?.get(..bytes));
        field.map_or(0, |field| field.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    };
    let (table, count) = (number(0x28, 8), number(0x3C, 2));
    let sections = (0..count).map(|index| table.saturating_add(index * SECTION));
    let ends = sections.filter(|at| number(at.saturating_add(4), 4) != NOBITS).map(|at| {
        let (offset, bytes) = (number(at.saturating_add(0x18), 8), number(at.saturating_add(0x20), 8));
        offset.saturating_add(bytes)
    });
    ends.fold(HEADER.max(table.saturating_add(count * SECTION)), u64::max)
}

impl Symbol {
    fn nothing() -> Symbol {
        Symbol { name: String::new(), section: None, value: 0, size: 0, names: Names::Other, local: true }
    }
}
