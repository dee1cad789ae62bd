// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! BPF Type Format: the types of an object (`.BTF`) and the information about its instructions (`.BTF.ext`).

mod ext;
mod reader;
mod shape;
mod text;
mod value;

pub use ext::{CoreRelocation, Ext, Line};
pub use shape::{Member, Shape};
pub use value::{Value, ValueError};

use reader::{header_length, part, string, word};

/// An error in type information.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum BtfError {
    #[error("it ends in the middle")]
    Short,
    #[error("it does not begin with BTF's magic number")]
    Magic,
    #[error("its version is {0}; only version 1 is known")]
    Version(u8),
    #[error("a name at {0} is outside its strings")]
    String(u32),
    #[error("type {id} is of the unknown kind {kind}")]
    Kind { id: usize, kind: u32 },
    #[error("records of {0} bytes are too short")]
    Record(u32),
}

/// A type's number. 0 is void.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub u32);

/// A type and its name, which may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Type {
    /// Empty for types without a name.
    pub name: String,
    /// The parts of the type.
    pub kind: Kind,
}

/// A member of a struct or union.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Empty for an anonymous struct or union.
    pub name: String,
    /// The member's type.
    pub ty: TypeId,
    /// Bits from the beginning of the struct.
    pub bit_offset: u32,
    /// The width of a bit field.
    pub bits: Option<u8>,
}

/// The kind of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants' comments speak of their fields")]
pub enum Kind {
    /// C's `void`.
    Void,
    /// An integer of `bytes` bytes.
    Int { bytes: u32, signed: bool },
    /// A pointer to the type.
    Pointer(TypeId),
    /// `count` values of the type `element`.
    Array { element: TypeId, count: u32 },
    /// Struct or union.
    Record { bytes: u32, fields: Vec<Field>, union: bool },
    /// Named constants in an integer of `bytes` bytes.
    Enum { bytes: u32, values: Vec<(String, i64)> },
    /// A floating-point number of `bytes` bytes.
    Float { bytes: u32 },
    /// Typedef, const, volatile, restrict or a tag: another type by another name.
    Alias(TypeId),
    /// A global variable of the type.
    Variable(TypeId),
    /// A section and its variables.
    Section(Vec<TypeId>),
    /// Kinds that do not describe data: functions, forward declarations, remarks.
    Other,
}

/// The types of an object.
#[derive(Debug, Clone, Default)]
pub struct Btf {
    types: Vec<Type>,
    strings: Vec<u8>,
}

/// No chain of typedefs and qualifiers is longer.
const MAX_ALIASES: usize = 64;

impl Btf {
    /// Reads the section `.BTF`.
    pub fn read(bytes: &[u8]) -> Result<Btf, BtfError> {
        let header = header_length(bytes)?;
        let field = |at| Ok::<_, BtfError>(word(bytes, at)? as usize);
        let types = part(bytes, header.saturating_add(field(8)?), field(12)?)?;
        let strings = part(bytes, header.saturating_add(field(16)?), field(20)?)?.to_vec();
        let mut btf = Btf { types: vec![Type { name: String::new(), kind: Kind::Void }], strings };
        let mut at = 0;
        while at < types.len() {
            at += btf.read_type(&types[at..])?;
        }
        Ok(btf)
    }

    /// Reads the type at the beginning of `bytes`, and returns its length.
    fn read_type(&mut self, bytes: &[u8]) -> Result<usize, BtfError> {
        let (name, info, third) = (word(bytes, 0)?, word(bytes, 4)?, word(bytes, 8)?);
        let count = (info & 0xffff) as usize;
        let flag = info >> 31 != 0;
        let (kind, extra) = match info >> 24 & 0x1f {
            1 => (Kind::Int { bytes: third, signed: word(bytes, 12)? >> 24 & 1 != 0 }, 4),
            2 => (Kind::Pointer(TypeId(third)), 0),
            3 => (Kind::Array { element: TypeId(word(bytes, 12)?), count: word(bytes, 20)? }, 12),
            kind @ (4 | 5) => {
                let fields = (0..count).map(|i| self.field(bytes, 12 + 12 * i, flag)).collect::<Result<_, _>>()?;
                (Kind::Record { bytes: third, fields, union: kind == 5 }, 12 * count)
            }
            6 => {
                let value = |i: usize| {
                    let raw = word(bytes, 16 + 8 * i)?;
                    let value = if flag { raw.cast_signed().into() } else { raw.into() };
                    Ok((string(&self.strings, word(bytes, 12 + 8 * i)?)?, value))
                };
                (Kind::Enum { bytes: third, values: (0..count).map(value).collect::<Result<_, _>>()? }, 8 * count)
            }
            8..=11 | 18 => (Kind::Alias(TypeId(third)), 0),
            7 | 12 => (Kind::Other, 0),
            13 => (Kind::Other, 8 * count),
            14 => (Kind::Variable(TypeId(third)), 4),
            15 => {
                let variable = |i: usize| Ok(TypeId(word(bytes, 12 + 12 * i)?));
                (Kind::Section((0..count).map(variable).collect::<Result<_, _>>()?), 12 * count)
            }
            16 => (Kind::Float { bytes: third }, 0),
            17 => (Kind::Other, 4),
            19 => {
                let value = |i: usize| {
                    let (low, high) = (word(bytes, 16 + 12 * i)?, word(bytes, 20 + 12 * i)?);
                    let value = (u64::from(high) << 32 | u64::from(low)).cast_signed();
                    Ok((string(&self.strings, word(bytes, 12 + 12 * i)?)?, value))
                };
                (Kind::Enum { bytes: third, values: (0..count).map(value).collect::<Result<_, _>>()? }, 12 * count)
            }
            kind => return Err(BtfError::Kind { id: self.types.len(), kind }),
        };
        part(bytes, 0, 12 + extra)?;
        self.types.push(Type { name: string(&self.strings, name)?, kind });
        Ok(12 + extra)
    }

    fn field(&self, bytes: &[u8], at: usize, bit_fields: bool) -> Result<Field, BtfError> {
        let offset = word(bytes, at + 8)?;
        let (bit_offset, bits) = if bit_fields { (offset & 0xff_ffff, (offset >> 24) as u8) } else { (offset, 0) };
        Ok(Field {
            name: string(&self.strings, word(bytes, at)?)?,
            ty: TypeId(word(bytes, at + 4)?),
            bit_offset,
            bits: (bits != 0).then_some(bits),
        })
    }

    /// The type of that number.
    pub fn get(&self, id: TypeId) -> Option<&Type> {
        self.types.get(id.0 as usize)
    }

    /// The type without typedefs and qualifiers.
    pub fn resolve(&self, id: TypeId) -> Option<&Type> {
        let mut found = self.get(id)?;
        for _ in 0..MAX_ALIASES {
            match found.kind {
                Kind::Alias(next) => found = self.get(next)?,
                _ => return Some(found),
            }
        }
        None
    }

    /// Bytes of a value of that type, when it has a size.
    pub fn size(&self, id: TypeId) -> Option<u64> {
        let mut count: u64 = 1;
        let mut id = id;
        for _ in 0..MAX_ALIASES {
            let bytes = match &self.resolve(id)?.kind {
                Kind::Array { element, count: elements } => {
                    count = count.checked_mul((*elements).into())?;
                    id = *element;
                    continue;
                }
                Kind::Int { bytes, .. }
                | Kind::Record { bytes, .. }
                | Kind::Enum { bytes, .. }
                | Kind::Float { bytes } => (*bytes).into(),
                Kind::Pointer(_) => 8,
                _ => return None,
            };
            return count.checked_mul(bytes);
        }
        None
    }

    /// The variables of a section, by name, with their types.
    pub fn section(&self, name: &str) -> Vec<(&str, TypeId)> {
        let Some(Kind::Section(variables)) =
            self.types.iter().find(|ty| ty.name == name && matches!(ty.kind, Kind::Section(_))).map(|ty| &ty.kind)
        else {
            return Vec::new();
        };
        let variable = |id: &TypeId| match self.get(*id)? {
            Type { name, kind: Kind::Variable(ty) } => Some((name.as_str(), *ty)),
            _ => None,
        };
        variables.iter().filter_map(variable).collect()
    }

    /// The string at an offset, as `.BTF.ext` names them.
    pub(crate) fn string(&self, offset: u32) -> Result<String, BtfError> {
        string(&self.strings, offset)
    }
}
