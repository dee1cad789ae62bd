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

/// What a relocation asks for: its type in the BPF supplement of ELF.
pub(super) mod relocation {
    /// The address in a 64-bit immediate load.
    pub const ADDRESS: u32 = 1;
    /// The offset in a call.
    pub const CALL: u32 = 10;
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

/// What a symbol names.
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
    pub fn read(data: &[u8]) -> Result<Elf, ObjectError> {
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

    pub fn section(&self, id: SectionId) -> Option<&Section> {
        self.sections.iter().find(|section| section.id == id)
    }

    pub fn named(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// The symbols that a section defines, in the order of their places; without the one that names the section itself.
    pub fn symbols_of(&self, id: SectionId) -> Vec<&Symbol> {
        let defined = |symbol: &&Symbol| symbol.section == Some(id) && symbol.names != Names::Section;
        let mut symbols: Vec<_> = self.symbols.iter().filter(defined).collect();
        symbols.sort_by_key(|symbol| symbol.value);
        symbols
    }
}

impl Symbol {
    fn nothing() -> Symbol {
        Symbol { name: String::new(), section: None, value: 0, size: 0, names: Names::Other, local: true }
    }
}
