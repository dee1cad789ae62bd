// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Values of variables: bytes of data memory as JSON, and back.

use penstock_rpu_compiler::{Field, Kind, TypeId, Variables};
use serde_json::{Map, Number, Value as Json, json};

/// A part of a variable: `table[3].count`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    /// Address of the first byte of the variable or struct that holds it.
    pub address: u32,
    /// Its type.
    pub of: TypeId,
    /// The first bit and the number of bits, if it is a bit field.
    pub bits: Option<(u32, u32)>,
}

impl Part {
    /// Bytes from the first one on that hold it.
    pub(crate) fn bytes(&self, all: &Variables) -> u32 {
        match self.bits {
            Some((first, width)) => (first + width).div_ceil(8),
            None => all.of_id(self.of).bytes,
        }
    }

    /// Its value.
    pub(crate) fn read(&self, all: &Variables, bytes: &[u8]) -> Json {
        read_field(all, self.of, self.bits, bytes)
    }

    /// Sets it.
    pub(crate) fn write(&self, all: &Variables, value: &Json, bytes: &mut [u8]) -> Result<(), String> {
        write_field(all, self.of, self.bits, value, bytes)
    }
}

/// Finds a variable, or a part of one.
pub(crate) fn find(all: &Variables, path: &str) -> Result<Part, String> {
    // The name of a static variable of a function also has a dot.
    let here = |name: &str| path.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
    let found = all.all.iter().filter_map(|variable| Some((variable, here(&variable.name)?)));
    let Some((variable, mut rest)) = found.max_by_key(|(variable, _)| variable.name.len()) else {
        let name = path.split('[').next().unwrap_or(path);
        let names = || all.all.iter().map(|variable| variable.name.as_str());
        return Err(match all.all.is_empty() {
            true => {
                format!("there is no variable `{name}`: the program has none in memory, or no debug information (`-g`)")
            }
            false => {
                let hint = penstock_engine::words::did_you_mean(name, names());
                let way_out = if hint.is_empty() { "; `var list` shows all that have a place in memory" } else { "" };
                format!("there is no variable `{name}`{hint}{way_out}")
            }
        });
    };
    if all.all.iter().filter(|other| other.name == variable.name).count() > 1 {
        return Err(format!("several source files have a variable `{}`; give them different names", variable.name));
    }
    let mut part = Part { address: variable.address, of: variable.of, bits: None };
    while !rest.is_empty() {
        let of = all.of_id(part.of);
        if let Some(inner) = rest.strip_prefix('[') {
            let (index, after) = inner.split_once(']').ok_or_else(|| format!("`{path}`: a `[` has no `]`"))?;
            let Kind::Array { item, count } = of.kind else {
                return Err(format!("`{path}`: {} is not an array", of.name));
            };
            let index: u32 =
                number(index)
                    .and_then(|index| u32::try_from(index).ok())
                    .filter(|index| *index < count)
                    .ok_or_else(|| format!("`{path}`: {} has the items 0..{}", of.name, i64::from(count) - 1))?;
            part = Part { address: part.address + index * all.of_id(item).bytes, of: item, bits: None };
            rest = after;
        } else {
            let inner = rest.strip_prefix('.').ok_or_else(|| format!("`{path}`: write NAME[INDEX].MEMBER"))?;
            let (name, after) = inner.split_at(inner.find(['.', '[']).unwrap_or(inner.len()));
            let field = member(all, part.of, name).map_err(|text| format!("`{path}`: {text}"))?;
            let offset = if field.bits.is_some() { 0 } else { field.offset };
            part = Part { address: part.address + offset, of: field.of, bits: field.bits };
            rest = after;
        }
    }
    Ok(part)
}

fn member<'a>(all: &'a Variables, of: TypeId, name: &str) -> Result<&'a Field, String> {
    let of = all.of_id(of);
    let Kind::Fields(fields) = &of.kind else { return Err(format!("{} has no members", of.name)) };
    fields.iter().find(|field| field.name == name).ok_or_else(|| {
        let hint = penstock_engine::words::did_you_mean(name, fields.iter().map(|field| field.name.as_str()));
        format!("{} has no member `{name}`{hint}", of.name)
    })
}

/// A decimal or hexadecimal number.
pub(crate) fn number(text: &str) -> Option<i128> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let number = match digits.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    number.ok().filter(|number| *number >= 0).map(|number| sign * number)
}

/// Up to eight bytes as a number.
fn word(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// The number of these bits with its sign.
fn signed(word: u64, bits: u32) -> i64 {
    let unused = 64 - bits;
    (word << unused) as i64 >> unused
}

fn read_field(all: &Variables, of: TypeId, bits: Option<(u32, u32)>, bytes: &[u8]) -> Json {
    match bits {
        None => read(all, of, bytes),
        Some((first, width)) => {
            let wide = bytes.iter().skip(first as usize / 8).take(9).rev().fold(0, |w, b| w << 8 | u128::from(*b));
            let mask = u64::MAX >> (64 - width);
            scalar(all, of, (wide >> (first % 8)) as u64 & mask, width)
        }
    }
}

/// The value of bytes, as many as the type has.
fn read(all: &Variables, of: TypeId, bytes: &[u8]) -> Json {
    let size = |id: TypeId| all.of_id(id).bytes as usize;
    match &all.of_id(of).kind {
        Kind::Array { item, count } if matches!(all.of_id(*item).kind, Kind::Char) => {
            let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
            let is_rest_zero = bytes[end..].iter().all(|byte| *byte == 0);
            match std::str::from_utf8(&bytes[..end]) {
                Ok(text) if is_rest_zero && *count > 0 => text.into(),
                _ => bytes.into(),
            }
        }
        Kind::Array { item, .. } => {
            bytes.chunks_exact(size(*item).max(1)).map(|bytes| read(all, *item, bytes)).collect()
        }
        Kind::Fields(fields) => {
            let value = |field: &Field| {
                let from = if field.bits.is_some() { 0 } else { field.offset as usize };
                let bytes = if field.bits.is_some() { bytes } else { &bytes[from..from + size(field.of)] };
                (field.name.clone(), read_field(all, field.of, field.bits, bytes))
            };
            fields.iter().map(value).collect::<Map<_, _>>().into()
        }
        _ => scalar(all, of, word(bytes), 8 * all.of_id(of).bytes),
    }
}

/// The value of a number of so many bits.
fn scalar(all: &Variables, of: TypeId, word: u64, bits: u32) -> Json {
    let of = all.of_id(of);
    match &of.kind {
        Kind::Signed => signed(word, bits).into(),
        Kind::Bool if word <= 1 => (word == 1).into(),
        Kind::Float if of.bytes == 4 => {
            Number::from_f64(f32::from_bits(word as u32).into()).map_or(Json::Null, Json::Number)
        }
        Kind::Float if of.bytes == 8 => Number::from_f64(f64::from_bits(word)).map_or(Json::Null, Json::Number),
        Kind::Enum(names) => {
            let found = names.iter().find(|(_, value)| *value as u64 & u64::MAX >> (64 - bits) == word);
            found.map_or_else(|| word.into(), |(name, _)| name.as_str().into())
        }
        _ => word.into(),
    }
}

fn write_field(
    all: &Variables,
    of: TypeId,
    bits: Option<(u32, u32)>,
    value: &Json,
    bytes: &mut [u8],
) -> Result<(), String> {
    let Some((first, width)) = bits else { return write(all, of, value, bytes) };
    let word = pattern(all, of, value, width)?;
    for bit in 0..width {
        let (byte, mask) = (((first + bit) / 8) as usize, 1 << ((first + bit) % 8));
        if word >> bit & 1 == 1 { bytes[byte] |= mask } else { bytes[byte] &= !mask }
    }
    Ok(())
}

/// Sets bytes, as many as the type has. Members that an object leaves out stay as they are.
fn write(all: &Variables, of: TypeId, value: &Json, bytes: &mut [u8]) -> Result<(), String> {
    let about = all.of_id(of);
    let size = |id: TypeId| all.of_id(id).bytes as usize;
    match (&about.kind, value) {
        (Kind::Array { item, count }, Json::String(text)) if matches!(all.of_id(*item).kind, Kind::Char) => {
            if text.len() > *count as usize {
                return Err(format!("the text has {} bytes, and {} has room for {count}", text.len(), about.name));
            }
            bytes.fill(0);
            bytes[..text.len()].copy_from_slice(text.as_bytes());
            Ok(())
        }
        (Kind::Array { item, count }, Json::Array(values)) => {
            if values.len() != *count as usize {
                return Err(format!("{} has {count} items, and here are {}", about.name, values.len()));
            }
            let pieces = bytes.chunks_exact_mut(size(*item).max(1));
            values.iter().zip(pieces).try_for_each(|(value, bytes)| write(all, *item, value, bytes))
        }
        (Kind::Array { .. }, _) => Err(format!("{} takes a list: [1, 2, ...]", about.name)),
        (Kind::Fields(_), Json::Object(values)) => values.iter().try_for_each(|(name, value)| {
            let field = member(all, of, name)?;
            let from = if field.bits.is_some() { 0 } else { field.offset as usize };
            let to = if field.bits.is_some() { bytes.len() } else { from + size(field.of) };
            write_field(all, field.of, field.bits, value, &mut bytes[from..to])
        }),
        (Kind::Fields(_), _) => Err(format!("{} takes its members: {{\"name\": value}}", about.name)),
        _ => {
            let word = pattern(all, of, value, 8 * about.bytes)?;
            bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
            Ok(())
        }
    }
}

/// The bits of a scalar.
fn pattern(all: &Variables, of: TypeId, value: &Json, bits: u32) -> Result<u64, String> {
    let about = all.of_id(of);
    let mask = u64::MAX >> (64 - bits);
    let named = match (&about.kind, value) {
        (Kind::Float, value) => {
            let wrong = || format!("{} takes a number, not {value}", about.name);
            let number = value.as_f64().or_else(|| value.as_str()?.parse().ok()).ok_or_else(wrong)?;
            return Ok(if about.bytes == 4 { (number as f32).to_bits().into() } else { number.to_bits() });
        }
        (Kind::Enum(names), Json::String(text)) => {
            names.iter().find(|(name, _)| name == text).map(|(_, n)| (*n).into())
        }
        (Kind::Bool, Json::Bool(set)) => Some(i128::from(*set)),
        _ => None,
    };
    let plain = || match value {
        Json::Number(value) => value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from)),
        Json::String(text) => number(text),
        _ => None,
    };
    let wrong = || match &about.kind {
        Kind::Enum(names) => {
            let names: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
            format!("{} takes a number or one of {}, not {value}", about.name, names.join(", "))
        }
        _ => format!("{} takes a whole number, not {value}", about.name),
    };
    let number = named.or_else(plain).ok_or_else(wrong)?;
    let (low, high) = match &about.kind {
        Kind::Signed => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        Kind::Bool => (0, 1),
        Kind::Enum(_) => (-(1 << (bits - 1)), mask.into()),
        _ => (0, i128::from(mask)),
    };
    match (low..=high).contains(&number) {
        true => Ok(number as u64 & mask),
        false => Err(format!("{} holds {low}..{high}, not {number}", about.name)),
    }
}

/// The variables as the service lists them.
pub(crate) fn listed(all: &Variables) -> Json {
    let about = |variable: &penstock_rpu_compiler::Variable| {
        let of = all.of_id(variable.of);
        json!({"name": variable.name, "type": of.name, "bytes": of.bytes, "address": variable.address})
    };
    all.all.iter().map(about).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use penstock_rpu_compiler::{DMEM_BASE, DMEM_DATA_BYTES, Options, compile};

    use super::*;

    /// Debug information comes with a program from anywhere. With any bytes in it, variables lie in data memory, and
    /// their values can be read and written.
    #[test]
    fn damaged_debug_information_does_no_harm() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap();
        let source = root.join("engines/rpu/tests/firmware/variables.c");
        let good = compile(&[source], &Options::new(root)).unwrap().elf;
        let mut state = 1_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let (mut kept, mut lost) = (0, 0);
        for _ in 0..3000 {
            let mut elf = good.clone();
            for _ in 0..=random(6) {
                let at = 52 + random(elf.len() - 52);
                elf[at] = random(256) as u8;
            }
            let all = Variables::of(&elf);
            for variable in &all.all {
                let part = Part { address: variable.address, of: variable.of, bits: None };
                let size = part.bytes(&all) as usize;
                assert!(variable.address >= DMEM_BASE);
                assert!((variable.address - DMEM_BASE) as usize + size <= DMEM_DATA_BYTES);
                let mut bytes = vec![0xA5; size];
                let value = part.read(&all, &bytes);
                // Values that their type does not have, such as other bools, are refused.
                let _ = part.write(&all, &value, &mut bytes);
            }
            kept += usize::from(all.all.len() >= 10);
            lost += usize::from(all.all.len() < 10);
        }
        assert!(kept > 100 && lost > 100, "{kept} {lost}");
    }
}
