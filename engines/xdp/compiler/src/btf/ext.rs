// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `.BTF.ext`: source lines of instructions, and the places where the compiler has left a field's offset to the loader
//! (CO-RE).

use super::reader::{header_length, part, word};
use super::{Btf, BtfError, TypeId};

/// The source place of an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The path that the compiler was given.
    pub file: String,
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1; 0 if the compiler did not record it.
    pub column: u32,
    /// The line's text, without its indentation.
    pub text: String,
}

/// A value in an instruction that depends on a type's layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoreRelocation {
    /// The type, as the object's BTF has it.
    pub ty: TypeId,
    /// Which member of which member: `0:1:2`.
    pub access: String,
    /// The field that the record asks about, by its number in the kernel's list.
    pub kind: u32,
}

/// The text of a record, with the section and the byte offset of its instruction.
pub(super) type Placed<T> = (String, u32, T);

/// The contents of `.BTF.ext`.
#[derive(Debug, Clone, Default)]
pub struct Ext {
    /// The source lines of instructions.
    pub lines: Vec<Placed<Line>>,
    /// The instructions to adapt.
    pub core: Vec<Placed<CoreRelocation>>,
}

impl Ext {
    /// Reads the section `.BTF.ext`.
    pub fn read(bytes: &[u8], btf: &Btf) -> Result<Ext, BtfError> {
        let header = header_length(bytes)?;
        let table = |at: usize| {
            if at + 8 > header {
                return Ok(&[][..]);
            }
            part(bytes, header.saturating_add(word(bytes, at)? as usize), word(bytes, at + 4)? as usize)
        };
        let lines = records(table(16)?, 16, btf, |record| {
            let place = word(record, 12)?;
            Ok(Line {
                file: btf.string(word(record, 4)?)?,
                line: place >> 10,
                column: place & 0x3ff,
                text: btf.string(word(record, 8)?)?.trim().to_owned(),
            })
        })?;
        let core = records(table(24)?, 16, btf, |record| {
            Ok(CoreRelocation {
                ty: TypeId(word(record, 4)?),
                access: btf.string(word(record, 8)?)?,
                kind: word(record, 12)?,
            })
        })?;
        Ok(Ext { lines, core })
    }
}

/// Reads a table: the size of its records, then for each section its name, how many there are, and they themselves.
fn records<T>(
    table: &[u8],
    at_least: u32,
    btf: &Btf,
    read: impl Fn(&[u8]) -> Result<T, BtfError>,
) -> Result<Vec<Placed<T>>, BtfError> {
    let mut all = Vec::new();
    if table.is_empty() {
        return Ok(all);
    }
    let size = word(table, 0)?;
    if size < at_least {
        return Err(BtfError::Record(size));
    }
    let mut at = 4;
    while at < table.len() {
        let section = btf.string(word(table, at)?)?;
        let count = word(table, at + 4)?;
        at += 8;
        for _ in 0..count {
            let record = part(table, at, size as usize)?;
            all.push((section.clone(), word(record, 0)?, read(record)?));
            at += size as usize;
        }
    }
    Ok(all)
}
