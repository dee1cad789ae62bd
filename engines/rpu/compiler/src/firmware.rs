// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A program as the host loads it into a unit: the contents of instruction and data memory.

use std::{fmt, path::Path};

use addr2line::gimli;
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol};

use crate::variables::Variables;

/// Bytes of a unit's instruction memory, which starts at address 0.
pub const IMEM_BYTES: usize = 64 * 1024;
/// Address of data memory on the core's data bus.
pub const DMEM_BASE: u32 = 0x0080_0000;
/// Bytes of data memory that a program may use; header copies and the broadcast region follow.
pub const DMEM_DATA_BYTES: usize = 16 * 1024;

/// Why a file is not firmware.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum FirmwareError {
    #[error("not an ELF file ({0}); give a .c file, or an .elf that `penstock compile rpu` wrote")]
    NotElf(#[from] object::Error),
    #[error("ELF for {0}, but a unit's core is a 32-bit RISC-V; compile with `penstock compile rpu`")]
    OtherMachine(String),
    #[error(
        "{bytes} bytes at {address:#x} lie outside a unit's memories \
         (instructions 0..{:#x}, data {DMEM_BASE:#x}..{:#x}); link with engines/rpu/compiler/start/link.ld",
        IMEM_BYTES,
        DMEM_BASE as usize + DMEM_DATA_BYTES
    )]
    Outside { address: u64, bytes: u64 },
    #[error("starts at {0:#x}, but a core starts at 0; link with engines/rpu/compiler/start/link.ld")]
    Entry(u64),
}

/// A function or a variable of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Address of its first byte.
    pub address: u32,
    /// Bytes; 0 if the ELF does not have them.
    pub size: u32,
    /// Name as in the source.
    pub name: String,
}

/// Bytes that a program takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Instructions.
    pub text: usize,
    /// Initialised and constant data.
    pub data: usize,
    /// Zeroed data.
    pub bss: usize,
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "instructions {} of {IMEM_BYTES} bytes, data {} of {DMEM_DATA_BYTES} bytes \
             ({} initialised, {} zeroed; the rest is stack)",
            self.text,
            self.data + self.bss,
            self.data,
            self.bss
        )
    }
}

/// A linked program.
#[derive(Debug, Clone)]
pub struct Firmware {
    /// Contents of instruction memory from address 0 on; a multiple of 4 bytes.
    pub imem: Vec<u8>,
    /// Contents of data memory from [`DMEM_BASE`] on; a multiple of 4 bytes.
    pub dmem: Vec<u8>,
    /// The reset address of the core: always 0.
    pub entry: u32,
    /// Functions, by address.
    pub symbols: Vec<Symbol>,
    /// Variables that a reload leaves as they are (`PN_KEPT`), all in `dmem`.
    pub kept: Vec<Symbol>,
    /// Its variables with their types, if the ELF has debug information.
    pub variables: Variables,
    /// Bytes that it takes of the memories.
    pub sizes: Sizes,
    /// Warnings of the compiler, as it wrote them.
    pub messages: String,
    /// The ELF file itself.
    pub elf: Vec<u8>,
}

impl Firmware {
    /// Takes a linked ELF apart.
    ///
    /// # Errors
    /// If it is no ELF, is for another machine, or reaches outside a unit's memories.
    pub fn from_elf(elf: Vec<u8>) -> Result<Self, FirmwareError> {
        let file = object::File::parse(&*elf)?;
        if file.architecture() != object::Architecture::Riscv32 {
            return Err(FirmwareError::OtherMachine(format!("{:?}", file.architecture())));
        }
        if file.entry() != 0 {
            return Err(FirmwareError::Entry(file.entry()));
        }
        let (mut imem, mut dmem) = (Vec::new(), Vec::new());
        let mut sizes = Sizes::default();
        for segment in file.segments() {
            let (address, data) = (segment.address(), segment.data()?);
            let bytes = segment.size().max(data.len() as u64);
            if bytes == 0 {
                continue;
            }
            let dmem_base = u64::from(DMEM_BASE);
            let end = address.saturating_add(bytes);
            let (memory, offset) = if end <= IMEM_BYTES as u64 {
                sizes.text += data.len();
                (&mut imem, address as usize)
            } else if address >= dmem_base && end <= dmem_base + DMEM_DATA_BYTES as u64 {
                sizes.data += data.len();
                sizes.bss += bytes as usize - data.len();
                (&mut dmem, (address - dmem_base) as usize)
            } else {
                return Err(FirmwareError::Outside { address, bytes });
            };
            place(memory, offset, data);
        }
        let named = |s: &object::Symbol| {
            let name = s.name().ok().filter(|n| !n.is_empty())?;
            Some(Symbol { address: s.address() as u32, size: s.size() as u32, name: name.to_owned() })
        };
        let defined = || file.symbols().filter(|s| s.is_definition());
        let mut symbols: Vec<Symbol> = defined()
            .filter(|s| s.kind() == object::SymbolKind::Text && s.address() < IMEM_BYTES as u64)
            .filter_map(|s| named(&s))
            .collect();
        symbols.sort_by(|a, b| (a.address, &a.name).cmp(&(b.address, &b.name)));
        let mark = |name: &str| file.symbol_by_name(name).map_or(0, |s| s.address());
        let marked = mark("__kept_start")..mark("__kept_end");
        let in_dmem = u64::from(DMEM_BASE)..=u64::from(DMEM_BASE) + dmem.len() as u64;
        let kept = defined()
            .filter(|s| s.kind() == object::SymbolKind::Data && marked.contains(&s.address()))
            .filter(|s| in_dmem.contains(&s.address()) && in_dmem.contains(&s.address().saturating_add(s.size())))
            .filter_map(|s| named(&s))
            .collect();
        drop(file);
        let variables = Variables::of(&elf);
        Ok(Self { imem, dmem, entry: 0, symbols, kept, variables, sizes, messages: String::new(), elf })
    }

    /// The source place of the instruction at `pc`: `file:line (function)`, as far as the ELF has it.
    #[must_use]
    pub fn locate(&self, pc: u32) -> Option<String> {
        match (self.line_at(pc), self.function(pc)) {
            (Some(line), Some(function)) => Some(format!("{line} ({function})")),
            (Some(line), None) => Some(line),
            (None, function) => function.map(str::to_owned),
        }
    }

    /// Name of the function that holds the instruction at `pc`.
    #[must_use]
    pub fn function(&self, pc: u32) -> Option<&str> {
        self.function_at(pc).map(|symbol| symbol.name.as_str())
    }

    fn function_at(&self, pc: u32) -> Option<&Symbol> {
        self.symbols
            .iter()
            .rev()
            .filter(|s| !s.name.starts_with(['.', '$']))
            .find(|s| s.address <= pc && (s.size == 0 || pc - s.address < s.size))
    }

    fn line_at(&self, pc: u32) -> Option<String> {
        let file = object::File::parse(&*self.elf).ok()?;
        let endian = gimli::RunTimeEndian::Little;
        let load = |id: gimli::SectionId| -> Result<_, gimli::Error> {
            let data = file.section_by_name(id.name()).and_then(|s| s.data().ok()).unwrap_or(&[]);
            Ok(gimli::EndianSlice::new(data, endian))
        };
        let context = addr2line::Context::from_dwarf(gimli::Dwarf::load(load).ok()?).ok()?;
        // The frame of the program itself, if the instruction comes from an inlined function of the kit.
        let mut frames = context.find_frames(u64::from(pc)).skip_all_loads().ok()?;
        let mut place = None;
        while let Ok(Some(frame)) = frames.next() {
            let Some(location) = frame.location else {
                continue;
            };
            let (Some(file), Some(line)) = (location.file, location.line) else {
                continue;
            };
            let name = Path::new(file).file_name()?.to_str()?;
            let is_kit = file.contains("compiler/include/") || file.contains("compiler/compat/");
            if place.is_none() || !is_kit {
                place = Some(format!("{name}:{line}"));
            }
            if !is_kit {
                break;
            }
        }
        place
    }
}

/// Copies `data` to `offset`, growing `memory` with zeros to whole words.
fn place(memory: &mut Vec<u8>, offset: usize, data: &[u8]) {
    let end = offset + data.len();
    if memory.len() < end {
        memory.resize(end.next_multiple_of(4), 0);
    }
    memory[offset..end].copy_from_slice(data);
}
