// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Variables of a program with their types, from the debug information of its ELF file (DWARF 5, sections 4.1 and 5).
//!
//! Debug information can come from strangers: types that contain themselves, or lie outside data memory, are left
//! out, and a type is stored once however often others use it.

use std::collections::BTreeMap;

use addr2line::gimli::{
    self, AttributeValue, DebuggingInformationEntry, Dwarf, EndianSlice, Operation, RunTimeEndian, Unit, UnitOffset,
    constants as dw,
};
use object::{Object, ObjectSection};

use crate::firmware::{DMEM_BASE, DMEM_DATA_BYTES};

/// Types within types that are followed.
const DEPTH: u32 = 32;
/// Members of a struct that are read at most.
const FIELDS: usize = 4096;
/// Variables of a program, and types of a source file, that are read at most.
const MOST: usize = 16_384;

type Reader<'a> = EndianSlice<'a, RunTimeEndian>;
type Entry<'e, 'a> = DebuggingInformationEntry<'e, 'e, Reader<'a>>;

/// A variable that has its place in data memory for the whole run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Name as in the source. A static variable of a function is FUNCTION.NAME.
    pub name: String,
    /// Address of its first byte on the core's bus.
    pub address: u32,
    /// Its type.
    pub of: TypeId,
}

/// A type of [`Variables`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeId(usize);

/// A type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Type {
    /// Name as in the source.
    pub name: String,
    /// Bytes of a value.
    pub bytes: u32,
    /// Its form.
    pub kind: Kind,
}

/// The form of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// An integer that may be negative.
    Signed,
    /// An integer that is never negative.
    Unsigned,
    /// `char`.
    Char,
    /// `bool`.
    Bool,
    /// A number with a fraction.
    Float,
    /// An address.
    Pointer,
    /// An enum: its names with their values.
    Enum(Vec<(String, i64)>),
    /// An array.
    Array {
        /// Type of an item.
        item: TypeId,
        /// Number of items.
        count: u32,
    },
    /// A struct or a union. Members of a member without a name stand among the others.
    Fields(Vec<Field>),
}

/// A member of a struct or a union.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its first byte in the struct.
    pub offset: u32,
    /// Its type.
    pub of: TypeId,
    /// The first bit from the struct's first byte on and the number of bits, if it is a bit field.
    pub bits: Option<(u32, u32)>,
}

/// All variables of a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variables {
    /// By name.
    pub all: Vec<Variable>,
    types: Vec<Type>,
}

impl Variables {
    /// The variables in an ELF file; none if it has no debug information, those before the fault if it is damaged.
    #[must_use]
    pub fn of(elf: &[u8]) -> Self {
        let mut search = Search::default();
        if let Ok(file) = object::File::parse(elf) {
            // Variables that were read before a fault are valid.
            let _ = search.read(&file);
        }
        let mut variables = search.found;
        variables.all.sort_by(|one, other| (&one.name, one.address).cmp(&(&other.name, other.address)));
        variables.all.dedup();
        variables
    }

    /// A type.
    #[must_use]
    pub fn of_id(&self, id: TypeId) -> &Type {
        &self.types[id.0]
    }
}

/// The state while debug information is read.
#[derive(Default)]
struct Search {
    found: Variables,
    /// Types of the present unit that were met; None: not usable, or being read.
    known: BTreeMap<usize, Option<TypeId>>,
}

impl Search {
    fn read(&mut self, file: &object::File<'_>) -> Result<(), gimli::Error> {
        let load = |id: gimli::SectionId| -> Result<_, gimli::Error> {
            let data = file.section_by_name(id.name()).and_then(|section| section.data().ok()).unwrap_or(&[]);
            Ok(EndianSlice::new(data, RunTimeEndian::Little))
        };
        let dwarf = Dwarf::load(load)?;
        let mut headers = dwarf.units();
        while let Some(header) = headers.next()? {
            let unit = dwarf.unit(header)?;
            self.known.clear();
            self.unit(&dwarf, &unit)?;
        }
        Ok(())
    }

    fn unit(&mut self, dwarf: &Dwarf<Reader<'_>>, unit: &Unit<Reader<'_>>) -> Result<(), gimli::Error> {
        let mut entries = unit.entries();
        let mut depth = 0;
        // Functions around the entry, with their depths.
        let mut functions: Vec<(isize, String)> = Vec::new();
        while let Some((down, entry)) = entries.next_dfs()? {
            depth += down;
            while functions.last().is_some_and(|(outer, _)| *outer >= depth) {
                functions.pop();
            }
            match entry.tag() {
                dw::DW_TAG_subprogram => functions.push((depth, name(dwarf, unit, entry)?)),
                dw::DW_TAG_variable if self.found.all.len() < MOST => {
                    let Some(address) = place(dwarf, unit, entry)? else { continue };
                    let Some(of) = self.type_of(dwarf, unit, entry, DEPTH)? else { continue };
                    let mut name = name(dwarf, unit, entry)?;
                    let size = self.found.of_id(of).bytes as usize;
                    let offset = (address as usize).wrapping_sub(DMEM_BASE as usize);
                    if name.is_empty() || offset >= DMEM_DATA_BYTES || size > DMEM_DATA_BYTES - offset {
                        continue;
                    }
                    if let Some((_, function)) = functions.last() {
                        name = format!("{function}.{name}");
                    }
                    self.found.all.push(Variable { name, address, of });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The type that an entry refers to.
    fn type_of(
        &mut self,
        dwarf: &Dwarf<Reader<'_>>,
        unit: &Unit<Reader<'_>>,
        entry: &Entry<'_, '_>,
        depth: u32,
    ) -> Result<Option<TypeId>, gimli::Error> {
        let Some(AttributeValue::UnitRef(at)) = entry.attr_value(dw::DW_AT_type)? else { return Ok(None) };
        if let Some(known) = self.known.get(&at.0) {
            return Ok(*known);
        }
        self.known.insert(at.0, None);
        let id = match depth {
            0 => None,
            _ if self.known.len() > MOST => None,
            _ => self.read_type(dwarf, unit, at, depth - 1)?.map(|of| {
                self.found.types.push(of);
                TypeId(self.found.types.len() - 1)
            }),
        };
        self.known.insert(at.0, id);
        Ok(id)
    }

    fn read_type(
        &mut self,
        dwarf: &Dwarf<Reader<'_>>,
        unit: &Unit<Reader<'_>>,
        at: UnitOffset,
        depth: u32,
    ) -> Result<Option<Type>, gimli::Error> {
        let entry = unit.entry(at)?;
        let own_name = name(dwarf, unit, &entry)?;
        let bytes = number(&entry, dw::DW_AT_byte_size)?.and_then(|bytes| u32::try_from(bytes).ok());
        let simple = |kind, bytes| Some(Type { name: own_name.clone(), bytes, kind });
        let inner = |search: &mut Self| search.type_of(dwarf, unit, &entry, depth);
        Ok(match entry.tag() {
            dw::DW_TAG_base_type => {
                let kind = match entry.attr_value(dw::DW_AT_encoding)? {
                    Some(AttributeValue::Encoding(dw::DW_ATE_boolean)) => Kind::Bool,
                    Some(AttributeValue::Encoding(dw::DW_ATE_float)) => Kind::Float,
                    Some(AttributeValue::Encoding(dw::DW_ATE_signed)) => Kind::Signed,
                    Some(AttributeValue::Encoding(dw::DW_ATE_unsigned)) => Kind::Unsigned,
                    _ if own_name == "char" => Kind::Char,
                    Some(AttributeValue::Encoding(dw::DW_ATE_signed_char)) => Kind::Signed,
                    Some(AttributeValue::Encoding(dw::DW_ATE_unsigned_char)) => Kind::Unsigned,
                    _ => return Ok(None),
                };
                bytes.filter(|bytes| matches!(bytes, 1 | 2 | 4 | 8)).and_then(|bytes| simple(kind, bytes))
            }
            dw::DW_TAG_pointer_type => Some(Type { name: "pointer".to_owned(), bytes: 4, kind: Kind::Pointer }),
            dw::DW_TAG_typedef => inner(self)?.map(|id| Type { name: own_name, ..self.found.of_id(id).clone() }),
            dw::DW_TAG_const_type | dw::DW_TAG_volatile_type | dw::DW_TAG_atomic_type | dw::DW_TAG_restrict_type => {
                inner(self)?.map(|id| self.found.of_id(id).clone())
            }
            dw::DW_TAG_enumeration_type => {
                let mut names = Vec::new();
                let mut tree = unit.entries_tree(Some(at))?;
                let mut children = tree.root()?.children();
                while let Some(child) = children.next()? {
                    let value = child.entry().attr(dw::DW_AT_const_value)?.and_then(|value| value.sdata_value());
                    if let Some(value) = value {
                        names.push((name(dwarf, unit, child.entry())?, value));
                    }
                }
                let name = if own_name.is_empty() { "enum".to_owned() } else { format!("enum {own_name}") };
                let bytes = bytes.filter(|bytes| matches!(bytes, 1 | 2 | 4 | 8));
                bytes.map(|bytes| Type { name, bytes, kind: Kind::Enum(names) })
            }
            dw::DW_TAG_array_type => {
                let Some(item) = inner(self)? else { return Ok(None) };
                self.array(unit, at, item)?
            }
            dw::DW_TAG_structure_type | dw::DW_TAG_union_type => {
                let Some(bytes) = bytes else { return Ok(None) };
                let fields = self.fields(dwarf, unit, at, bytes, depth)?;
                let word = if entry.tag() == dw::DW_TAG_union_type { "union" } else { "struct" };
                let name = if own_name.is_empty() { word.to_owned() } else { format!("{word} {own_name}") };
                Some(Type { name, bytes, kind: Kind::Fields(fields) })
            }
            _ => None,
        })
    }

    /// An array of one dimension or several.
    fn array(
        &mut self,
        unit: &Unit<Reader<'_>>,
        at: UnitOffset,
        mut item: TypeId,
    ) -> Result<Option<Type>, gimli::Error> {
        let mut counts = Vec::new();
        let mut tree = unit.entries_tree(Some(at))?;
        let mut children = tree.root()?.children();
        while let Some(child) = children.next()? {
            let count = match number(child.entry(), dw::DW_AT_count)? {
                Some(count) => Some(count),
                None => number(child.entry(), dw::DW_AT_upper_bound)?.map(|last| last.saturating_add(1)),
            };
            // An array without a size at the end of a struct has no items.
            counts.push(u32::try_from(count.unwrap_or(0)).unwrap_or(u32::MAX));
        }
        let mut made = None;
        let of_item = self.found.of_id(item).name.clone();
        let mut sizes = String::new();
        for (index, count) in counts.into_iter().rev().enumerate() {
            if let (Some(made), 1..) = (made.take(), index) {
                self.found.types.push(made);
                item = TypeId(self.found.types.len() - 1);
            }
            let bytes = self.found.of_id(item).bytes.checked_mul(count);
            let Some(bytes) = bytes.filter(|bytes| (*bytes > 0 || count == 0) && *bytes as usize <= DMEM_DATA_BYTES)
            else {
                return Ok(None);
            };
            sizes = format!("[{count}]{sizes}");
            made = Some(Type { name: format!("{of_item}{sizes}"), bytes, kind: Kind::Array { item, count } });
        }
        Ok(made)
    }

    /// The members of a struct or union of this size.
    fn fields(
        &mut self,
        dwarf: &Dwarf<Reader<'_>>,
        unit: &Unit<Reader<'_>>,
        at: UnitOffset,
        bytes: u32,
        depth: u32,
    ) -> Result<Vec<Field>, gimli::Error> {
        let mut fields = Vec::new();
        let mut tree = unit.entries_tree(Some(at))?;
        let mut children = tree.root()?.children();
        while let Some(child) = children.next()? {
            let entry = child.entry();
            if entry.tag() != dw::DW_TAG_member || fields.len() > FIELDS {
                continue;
            }
            let Some(of) = self.type_of(dwarf, unit, entry, depth)? else { continue };
            let small = |number: Option<u64>| number.map_or(Some(0), |number| u32::try_from(number).ok());
            let Some(offset) = small(number(entry, dw::DW_AT_data_member_location)?) else { continue };
            let bits = match number(entry, dw::DW_AT_bit_size)? {
                Some(width @ 1..=64) => {
                    let Some(first) = small(number(entry, dw::DW_AT_data_bit_offset)?) else { continue };
                    Some((first, width as u32))
                }
                Some(_) => continue,
                None => None,
            };
            let end = match bits {
                Some((first, width)) => u64::from(first) + u64::from(width),
                None => 8 * (u64::from(offset) + u64::from(self.found.of_id(of).bytes)),
            };
            if end > 8 * u64::from(bytes) {
                continue;
            }
            let name = name(dwarf, unit, entry)?;
            match &self.found.of_id(of).kind {
                Kind::Fields(inner) if name.is_empty() => {
                    let moved = inner.iter().map(|field| Field {
                        offset: field.offset + offset,
                        bits: field.bits.map(|(first, width)| (first + 8 * offset, width)),
                        ..field.clone()
                    });
                    fields.extend(moved);
                }
                _ if name.is_empty() => {}
                _ => fields.push(Field { name, offset, of, bits }),
            }
        }
        Ok(fields)
    }
}

fn name(dwarf: &Dwarf<Reader<'_>>, unit: &Unit<Reader<'_>>, entry: &Entry<'_, '_>) -> Result<String, gimli::Error> {
    let Some(value) = entry.attr_value(dw::DW_AT_name)? else { return Ok(String::new()) };
    Ok(dwarf.attr_string(unit, value)?.to_string_lossy().into_owned())
}

fn number(entry: &Entry<'_, '_>, attribute: gimli::DwAt) -> Result<Option<u64>, gimli::Error> {
    Ok(entry.attr(attribute)?.and_then(|value| value.udata_value()))
}

/// The fixed address of a variable, if it has one.
fn place(
    dwarf: &Dwarf<Reader<'_>>,
    unit: &Unit<Reader<'_>>,
    entry: &Entry<'_, '_>,
) -> Result<Option<u32>, gimli::Error> {
    let Some(AttributeValue::Exprloc(expression)) = entry.attr_value(dw::DW_AT_location)? else { return Ok(None) };
    let mut operations = expression.operations(unit.encoding());
    let mut address = match operations.next()? {
        Some(Operation::Address { address }) => address,
        Some(Operation::AddressIndex { index }) => dwarf.address(unit, index)?,
        _ => return Ok(None),
    };
    // The compiler reaches several variables from the address of one.
    while let Some(operation) = operations.next()? {
        let Operation::PlusConstant { value } = operation else { return Ok(None) };
        address = address.wrapping_add(value);
    }
    Ok(u32::try_from(address).ok())
}
