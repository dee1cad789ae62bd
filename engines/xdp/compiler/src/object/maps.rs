// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Maps as objects declare them: by types in `.maps`, by numbers in `maps`, and sections of global variables.

use std::collections::BTreeSet;

use super::ObjectError;
use super::elf::{Elf, Section, SectionId};
use crate::btf::{Btf, Field, Kind, Member, Shape, TypeId};
use crate::maps::{Contents, Map, MapKind, MapShape};

/// A map with the place that names it in the object.
#[derive(Debug)]
pub(super) struct Declared {
    pub map: Map,
    pub section: SectionId,
    /// None: every place of the section is in the map's value.
    pub offset: Option<u64>,
}

/// Array, as the kernel numbers it.
const ARRAY: u32 = 2;
/// Programs may only read it.
const READ_ONLY: u32 = 1 << 7;
/// Smallest legacy declaration: type, key, value, entries, flags.
const LEGACY_BYTES: u64 = 20;
/// A declaration of iproute2 (`struct bpf_elf_map`), which has an identity, pinning, the identity of inner maps and a
/// place in the outer one behind them.
const IPROUTE_BYTES: u64 = 36;
/// Place of an inner map that is in no outer map at the start.
const NOWHERE: u32 = u32::MAX;

/// All maps of an object, in the order of their sections.
pub(super) fn read(elf: &Elf, btf: &Btf, notes: &mut Vec<String>) -> Result<Vec<Declared>, ObjectError> {
    let mut all = Vec::new();
    for section in &elf.sections {
        match section.name.as_str() {
            ".maps" => typed(elf, section, btf, notes, &mut all)?,
            "maps" => legacy(elf, section, notes, &mut all)?,
            name => {
                if let Some(read_only) = holds_data(name).filter(|_| !section.bytes.is_empty() && !section.code) {
                    all.push(data(elf, section, btf, read_only));
                }
            }
        }
    }
    all.iter().try_for_each(|declared| inner(&declared.map, &all))?;
    Ok(all)
}

/// Checks the maps that a map of maps begins with.
fn inner(map: &Map, all: &[Declared]) -> Result<(), ObjectError> {
    let (Contents::Names(names), Some(wanted)) = (&map.contents, &map.inner) else { return Ok(()) };
    for (index, name) in names {
        let found = all.iter().find(|declared| declared.map.name == *name);
        let what = match found {
            Some(found) if wanted.takes(&found.map.shape) => continue,
            Some(_) => {
                "another shape than its maps: they need the same type, sizes and flags, arrays the same max_entries"
            }
            None => "no place in this object: it is to be a map",
        };
        let what = format!("its entry {index}, {name}, has {what}");
        return Err(ObjectError::Map { map: map.name.clone(), section: map.section.clone(), what });
    }
    Ok(())
}

/// Whether a section of that name holds global variables, and if so, whether they are constants.
fn holds_data(name: &str) -> Option<bool> {
    let family = |prefix: &str| name == prefix || name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('.'));
    if family(".rodata") { Some(true) } else { (family(".data") || family(".bss")).then_some(false) }
}

fn data(elf: &Elf, section: &Section, btf: &Btf, read_only: bool) -> Declared {
    let bytes = u32::try_from(section.bytes.len()).unwrap_or(u32::MAX);
    let flags = if read_only { READ_ONLY } else { 0 };
    let map = Map {
        name: section.name.clone(),
        section: section.name.clone(),
        shape: MapShape { number: ARRAY, key_bytes: 4, value_bytes: bytes, max_entries: 1, flags },
        inner: None,
        key_type: None,
        value_type: variables(elf, section, btf),
        contents: Contents::Data { bytes: section.bytes.clone(), read_only },
    };
    Declared { map, section: section.id, offset: None }
}

/// The global variables of a section as members of a struct, if the object has their types.
fn variables(elf: &Elf, section: &Section, btf: &Btf) -> Option<Shape> {
    let types = btf.section(&section.name);
    let member = |symbol: &super::elf::Symbol| {
        let (_, ty) = types.iter().find(|(name, _)| *name == symbol.name)?;
        let bit_offset = u32::try_from(symbol.value).ok()?.checked_mul(8)?;
        Some(Member { name: symbol.name.clone(), bit_offset, bits: None, shape: Shape::of(btf, *ty)? })
    };
    let members: Vec<_> = elf.symbols_of(section.id).into_iter().filter_map(member).collect();
    let bytes = u32::try_from(section.bytes.len()).ok()?;
    let name = section.name.clone();
    (!members.is_empty()).then_some(Shape::Record { name, bytes, union: false, members })
}

/// Maps of the section `maps`: a struct of numbers each, at the symbol's place. Structs are as long as their symbols,
/// or, where symbols have no size, as far apart as these.
fn legacy(elf: &Elf, section: &Section, notes: &mut Vec<String>, all: &mut Vec<Declared>) -> Result<(), ObjectError> {
    let symbols = elf.symbols_of(section.id);
    let ends: BTreeSet<u64> = symbols.iter().map(|symbol| symbol.value).chain([section.bytes.len() as u64]).collect();
    let mut read = Vec::new();
    for symbol in symbols {
        let wrong = |what: &str| ObjectError::Map {
            map: symbol.name.clone(),
            section: section.name.clone(),
            what: what.to_owned(),
        };
        let next = ends.range(symbol.value.saturating_add(1)..).next().copied().unwrap_or(symbol.value);
        let size = if symbol.size > 0 { symbol.size } else { next - symbol.value };
        if size < LEGACY_BYTES {
            return Err(wrong("a declaration has at least 20 bytes (struct bpf_map_def)"));
        }
        let end = symbol.value.checked_add(size).ok_or_else(|| wrong("its place is outside the section"))?;
        let bytes = usize::try_from(symbol.value)
            .ok()
            .and_then(|start| section.bytes.get(start..usize::try_from(end).ok()?))
            .ok_or_else(|| wrong("its place is outside the section"))?;
        let (words, _) = bytes.as_chunks::<4>();
        let word = |i: usize| words.get(i).map_or(0, |word| u32::from_le_bytes(*word));
        let shape = MapShape {
            number: word(0),
            key_bytes: word(1),
            value_bytes: word(2),
            max_entries: word(3),
            flags: word(4),
        };
        let of_maps = shape.kind().is_ok_and(MapKind::of_maps);
        let known = if size == IPROUTE_BYTES { &[5, 7, 8][..] } else { &[5][..usize::from(of_maps)] };
        if words.iter().enumerate().skip(5).any(|(at, word)| *word != [0; 4] && !known.contains(&at)) {
            notes.push(format!("map {}: the pinning and NUMA node of its declaration are ignored", symbol.name));
        }
        let map = Map {
            name: symbol.name.clone(),
            section: section.name.clone(),
            shape,
            inner: None,
            key_type: None,
            value_type: None,
            contents: Contents::Empty,
        };
        let inner = match (of_maps, size == IPROUTE_BYTES) {
            (false, _) => None,
            (true, true) => Some(Inner::Identity(word(7))),
            (true, false) => Some(Inner::Number(word(5))),
        };
        let identity = if size == IPROUTE_BYTES { word(5) } else { 0 };
        read.push(Legacy {
            declared: Declared { map, section: section.id, offset: Some(symbol.value) },
            inner,
            identity,
            place: word(8),
        });
    }
    read.sort_by_key(|map| map.declared.offset);
    for at in 0..read.len() {
        let found = match read[at].inner {
            None => continue,
            Some(Inner::Number(number)) => read.get(number as usize).filter(|_| number as usize != at),
            Some(Inner::Identity(identity)) => read.iter().find(|map| identity != 0 && map.identity == identity),
        };
        let Some(found) = found else {
            let Map { name, section, .. } = read[at].declared.map.clone();
            let what = "no other map of the section is the inner map that it names (inner_map_idx or inner_id)".into();
            return Err(ObjectError::Map { map: name, section, what });
        };
        let shape = found.declared.map.shape.clone();
        let first =
            (found.identity != 0 && found.place != NOWHERE).then(|| (found.place, found.declared.map.name.clone()));
        let map = &mut read[at].declared.map;
        map.inner = Some(shape);
        map.contents = first.map_or(Contents::Empty, |first| Contents::Names(vec![first]));
    }
    all.extend(read.into_iter().map(|map| map.declared));
    Ok(())
}

/// A map of the section `maps`.
struct Legacy {
    declared: Declared,
    /// For a map of maps: the map that gives the inner shape.
    inner: Option<Inner>,
    /// 0: none.
    identity: u32,
    /// The map's place in the outer map at the start.
    place: u32,
}

/// How a map of maps names its inner map.
enum Inner {
    /// The kernel's samples: by its number in the section.
    Number(u32),
    /// iproute2: by its identity.
    Identity(u32),
}

/// Maps of the section `.maps`: variables whose types describe them.
fn typed(
    elf: &Elf,
    section: &Section,
    btf: &Btf,
    notes: &mut Vec<String>,
    all: &mut Vec<Declared>,
) -> Result<(), ObjectError> {
    let types = btf.section(".maps");
    for symbol in elf.symbols_of(section.id) {
        let wrong = |what: String| ObjectError::Map { map: symbol.name.clone(), section: section.name.clone(), what };
        let ty = types
            .iter()
            .find(|(name, _)| *name == symbol.name)
            .ok_or_else(|| wrong("its type is not in the object; compile with -g".to_owned()))?
            .1;
        let mut reader = Typed { btf, name: &symbol.name, notes };
        let read = reader.read(ty, 0).map_err(wrong)?;
        let mut map = Map {
            name: symbol.name.clone(),
            section: section.name.clone(),
            shape: read.shape,
            inner: read.inner,
            key_type: read.key,
            value_type: read.value,
            contents: Contents::Empty,
        };
        if let Some(at) = read.values_at {
            let names =
                initial(elf, section, symbol.value.saturating_add(at), symbol.value.saturating_add(symbol.size));
            if !names.is_empty() {
                map.contents = Contents::Names(names);
            }
        }
        all.push(Declared { map, section: section.id, offset: Some(symbol.value) });
    }
    Ok(())
}

/// The initial elements of `values`, by index.
fn initial(elf: &Elf, section: &Section, start: u64, end: u64) -> Vec<(u32, String)> {
    let element = |relocation: &super::elf::Relocation| {
        let index = u32::try_from(relocation.offset.checked_sub(start)? / 8).ok()?;
        (relocation.offset < end).then(|| (index, elf.symbols[relocation.symbol].name.clone()))
    };
    section.relocations.iter().filter_map(element).collect()
}

/// The attributes in a map's type.
struct Read {
    shape: MapShape,
    inner: Option<MapShape>,
    key: Option<Shape>,
    value: Option<Shape>,
    /// The offset of its initial elements, in bytes.
    values_at: Option<u64>,
}

/// Reads the types of maps.
struct Typed<'a> {
    btf: &'a Btf,
    name: &'a str,
    notes: &'a mut Vec<String>,
}

impl Typed<'_> {
    fn read(&mut self, ty: TypeId, depth: usize) -> Result<Read, String> {
        let Some(Kind::Record { fields, union: false, .. }) = self.btf.resolve(ty).map(|ty| &ty.kind) else {
            return Err("its type is no struct".into());
        };
        let shape = MapShape { number: 0, key_bytes: 0, value_bytes: 0, max_entries: 0, flags: 0 };
        let mut read = Read { shape, inner: None, key: None, value: None, values_at: None };
        for field in fields {
            self.attribute(field, depth, &mut read)?;
        }
        if read.shape.number == 0 {
            return Err("it has no type; declare it with __uint(type, BPF_MAP_TYPE_…)".into());
        }
        Ok(read)
    }

    fn attribute(&mut self, field: &Field, depth: usize, read: &mut Read) -> Result<(), String> {
        match field.name.as_str() {
            "type" => read.shape.number = self.number(field)?,
            "max_entries" => read.shape.max_entries = self.number(field)?,
            "map_flags" => read.shape.flags = self.number(field)?,
            "key_size" => read.shape.key_bytes = self.number(field)?,
            "value_size" => read.shape.value_bytes = self.number(field)?,
            "key" => (read.shape.key_bytes, read.key) = self.pointee(field)?,
            "value" => (read.shape.value_bytes, read.value) = self.pointee(field)?,
            "values" => {
                read.values_at = Some(u64::from(field.bit_offset / 8));
                self.values(field, depth, read)?;
            }
            "pinning" | "numa_node" => self.notes.push(format!("map {}: {} is ignored", self.name, field.name)),
            "map_extra" if self.number(field)? == 0 => {}
            other => return Err(format!("its attribute `{other}` is not known")),
        }
        Ok(())
    }

    /// `__uint(name, N)` is a pointer to an array of N.
    fn number(&self, field: &Field) -> Result<u32, String> {
        match self.target(field).and_then(|ty| self.btf.resolve(ty)).map(|ty| &ty.kind) {
            Some(Kind::Array { count, .. }) => Ok(*count),
            _ => Err(format!("`{0}` is not written as __uint({0}, …)", field.name)),
        }
    }

    /// `__type(name, T)` is a pointer to T.
    fn pointee(&self, field: &Field) -> Result<(u32, Option<Shape>), String> {
        let sized = self.target(field).and_then(|ty| Some((ty, u32::try_from(self.btf.size(ty)?).ok()?)));
        let (ty, bytes) = sized.ok_or_else(|| format!("`{0}` is not written as __type({0}, …)", field.name))?;
        Ok((bytes, Shape::of(self.btf, ty)))
    }

    fn target(&self, field: &Field) -> Option<TypeId> {
        match self.btf.resolve(field.ty)?.kind {
            Kind::Pointer(ty) => Some(ty),
            _ => None,
        }
    }

    /// `__array(values, T)` is an array of pointers to T: to the maps inside, or to programs.
    fn values(&mut self, field: &Field, depth: usize, read: &mut Read) -> Result<(), String> {
        if depth > 0 {
            return Err("maps nest only once".into());
        }
        let Some(Kind::Array { element, .. }) = self.btf.resolve(field.ty).map(|ty| &ty.kind) else {
            return Err("`values` is not written as __array(values, …)".into());
        };
        let Some(Kind::Pointer(inner)) = self.btf.resolve(*element).map(|ty| &ty.kind) else {
            return Err("the elements of `values` are no pointers".into());
        };
        if matches!(self.btf.resolve(*inner).map(|ty| &ty.kind), Some(Kind::Record { .. })) {
            read.inner = Some(self.read(*inner, depth + 1)?.shape);
        }
        if read.shape.value_bytes == 0 {
            read.shape.value_bytes = 4;
        }
        if read.shape.key_bytes == 0 {
            read.shape.key_bytes = 4;
        }
        Ok(())
    }
}
