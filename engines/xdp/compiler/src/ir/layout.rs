// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Places of map values that need no search: a lookup in an array is then arithmetic, and a global variable a load.

use std::collections::BTreeMap;

use super::{Arg, BinOp, Op, Special};
use crate::insn::Width;
use crate::maps::{Contents, MapKind};
use crate::object::Object;

/// The values of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Array {
    /// Address of the first value.
    pub address: u32,
    /// From one value to the next.
    pub stride: u32,
    /// The number of values.
    pub entries: u32,
    /// Distance between the values of two contexts of a unit; 0: all share them.
    pub per_context: u32,
    /// Neighbours are in different banks; None: one after the other.
    pub banks: Option<Banks>,
}

/// Value `n` is in bank `n` modulo `count`, and `n / count` strides from its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Banks {
    /// A power of two.
    pub count: u32,
    /// From one bank to the next: a power of two.
    pub bytes: u32,
}

/// Maps of the card that `bpf_fib_lookup` asks, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Routes {
    /// Prefixes of IPv4 and of IPv6.
    pub v4: u32,
    /// Prefixes of IPv6.
    pub v6: u32,
    /// State, MTU and MAC address of each interface.
    pub of_interfaces: u32,
    /// An entry for each interface, by its number.
    pub interfaces: Array,
}

impl Routes {
    /// Their numbers.
    pub fn maps(&self) -> [u32; 3] {
        [self.v4, self.v6, self.of_interfaces]
    }
}

/// A ring of records for the host (card/ring.rs defines its format).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ring {
    /// The address of its counters.
    pub address: u32,
    /// Bytes for records, a power of two.
    pub bytes: u32,
}

/// A target's memory outside of the core.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layout {
    /// By index of the map, the number by which the target knows it; none: its index. Hidden maps (card/mod.rs) have
    /// numbers above all indices; the program names them by these numbers from the start.
    pub numbers: Vec<u32>,
    /// By index of the map, its values. None: it must be asked by a call.
    pub arrays: Vec<Option<Array>>,
    /// By index of the map, its records.
    pub rings: BTreeMap<u32, Ring>,
    /// Lines that programs print.
    pub log: Option<Ring>,
    /// The table of routes, if there is one.
    pub routes: Option<Routes>,
}

impl Array {
    /// Computes the address of the value with an index that is in range.
    pub fn address_of(&self, index: Arg, value: &mut impl FnMut(Op) -> Arg) -> Arg {
        let bin = |op, a, b: u32| Op::Bin { op, width: Width::W64, a, b: Arg::Const(b.into()) };
        let sum = |a, b| Op::Bin { op: BinOp::Add, width: Width::W64, a, b };
        // The parts that do not depend on the index are separate: they are known earlier.
        let mut first = Arg::Const(self.address.into());
        if self.per_context > 0 {
            let context = value(bin(BinOp::And, Arg::Special(Special::Cpu), CONTEXTS - 1));
            let own = value(bin(BinOp::Mul, context, self.per_context));
            first = value(bin(BinOp::Add, own, self.address));
        }
        let mut in_bank = index;
        if let Some(banks) = self.banks.filter(|_| self.entries > 1) {
            let bank = value(bin(BinOp::And, index, banks.count - 1));
            let bank = value(bin(BinOp::Lsh, bank, banks.bytes.ilog2()));
            first = value(sum(bank, first));
            in_bank = value(bin(BinOp::Rsh, index, banks.count.ilog2()));
        }
        let distance = value(bin(BinOp::Mul, in_bank, self.stride));
        value(sum(distance, first))
    }

    /// The same of an index that is known before the program runs; `None` outside of it. For values of contexts: the
    /// address of the first one's.
    pub fn address_at(&self, index: u32) -> Option<u32> {
        let (bank, in_bank) = match self.banks {
            Some(banks) => ((index & (banks.count - 1)) * banks.bytes, index / banks.count),
            None => (0, index),
        };
        (index < self.entries).then(|| self.address + bank + in_bank * self.stride)
    }
}

/// Contexts of a unit (engines/xdp/core.md).
pub const CONTEXTS: u32 = 16;
/// Memory of the unit, and of the card.
const UNIT: u32 = 0x4000_0000;
const CARD: u32 = 0x8000_0000;
/// The unit's memory, for values of contexts.
const UNIT_BYTES: u32 = 1 << 16;

impl Layout {
    /// One array after the other, on lines of 64 bytes: in the unit's memory what each context has for itself, while
    /// there is room, the others in the card's.
    pub fn plain(object: &Object) -> Layout {
        let (mut unit, mut card) = (u64::from(UNIT), u64::from(CARD));
        let place = |map: &crate::maps::Map| {
            let kind = map.shape.kind().ok()?;
            use MapKind::{Array as Plain, ArrayOfMaps, Cpumap, Devmap, PercpuArray, ProgArray, Xskmap};
            let numbered = matches!(kind, Plain | PercpuArray | ArrayOfMaps | Devmap | Cpumap | Xskmap | ProgArray);
            if !numbered && !matches!(map.contents, Contents::Data { .. }) {
                return None;
            }
            let stride = map.shape.value_bytes.next_multiple_of(8);
            let bytes = (u64::from(stride) * u64::from(map.shape.max_entries)).next_multiple_of(64);
            let per_context = kind == MapKind::PercpuArray;
            let all = bytes * u64::from(if per_context { CONTEXTS } else { 1 });
            let in_unit = per_context && unit + all <= u64::from(UNIT + UNIT_BYTES);
            let next = if in_unit { &mut unit } else { &mut card };
            let address = u32::try_from(*next).ok().filter(|_| in_unit || *next + all <= 1 << 32)?;
            // Per-CPU values outside of the unit would need an address for each unit as well.
            if per_context && !in_unit {
                return None;
            }
            *next += all;
            let per_context = if per_context { u32::try_from(bytes).ok()? } else { 0 };
            Some(Array { address, stride, entries: map.shape.max_entries, per_context, banks: None })
        };
        Layout { arrays: object.maps.iter().map(place).collect(), ..Layout::default() }
    }

    /// The number by which the target knows a map.
    pub fn number(&self, map: u32) -> u32 {
        self.numbers.get(map as usize).copied().unwrap_or(map)
    }

    /// The index of the object's map that has this number.
    pub fn index(&self, number: u32) -> Option<usize> {
        let by_index = || Some(number as usize).filter(|index| *index < self.arrays.len());
        if self.numbers.is_empty() { by_index() } else { self.numbers.iter().position(|own| *own == number) }
    }

    /// The place of a map's values.
    pub fn array(&self, map: u32) -> Option<Array> {
        self.arrays.get(map as usize).copied().flatten()
    }
}
