// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Damaged objects are refused, or taken through checker and compiler, but end nothing: no panic, no case that takes
//! long, none that takes much memory. Damage is done to bytes anywhere, and to what they mean: headers of sections,
//! symbols, relocations, types, instructions.
//!
//! Each case follows from its number. `PENSTOCK_FUZZ_SECONDS` sets the time for new cases, `PENSTOCK_SEED` the first
//! number.
#![allow(clippy::print_stdout, reason = "a program for developers, which prints what it finds")]
#![allow(clippy::unwrap_used)]

mod common;

use std::time::Duration;

use common::{compile, programs, root};
use penstock_testing::{Campaign, Counting, Numbers, alone, most_held};
use penstock_xdp_compiler::card::place;
use penstock_xdp_compiler::check::check;
use penstock_xdp_compiler::ir::CONTEXTS;
use penstock_xdp_compiler::object::Object;
use penstock_xdp_compiler::rows::Lanes;
use penstock_xdp_compiler::translate::translate;

/// Bytes that a case may hold at a time: the checker keeps up to a million states.
const MOST_BYTES: usize = 1 << 30;
/// Cases without `PENSTOCK_FUZZ_SECONDS`.
const CASES: u64 = 3000;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// An object file that is being damaged (ELF for 64 bits, little-endian).
struct Victim {
    data: Vec<u8>,
    numbers: Numbers,
}

/// The place of a section's header, its kind, and the section's bytes.
#[derive(Clone, Copy)]
struct Section {
    header: usize,
    kind: u32,
    from: usize,
    bytes: usize,
}

const HEADER_BYTES: usize = 64;
const SYMBOLS: u32 = 2;
const RELOCATIONS: [u32; 2] = [4, 9];

impl Victim {
    fn word(&self, at: usize, bytes: usize) -> usize {
        let found = self.data.get(at..at + bytes).unwrap_or_default();
        found.iter().rev().fold(0, |word, byte| word << 8 | usize::from(*byte))
    }

    fn set(&mut self, at: usize, bytes: usize, value: u64) {
        if let Some(place) = self.data.get_mut(at..at + bytes) {
            place.copy_from_slice(&value.to_le_bytes()[..bytes]);
        }
    }

    fn sections(&self) -> Vec<Section> {
        let (table, count) = (self.word(0x28, 8), self.word(0x3C, 2).min(64));
        let section = |index: usize| {
            let header = table.saturating_add(index * HEADER_BYTES).min(self.data.len());
            let (from, bytes) = (self.word(header + 24, 8), self.word(header + 32, 8));
            let from = from.min(self.data.len());
            Section { header, kind: self.word(header + 4, 4) as u32, from, bytes: bytes.min(self.data.len() - from) }
        };
        (0..count).map(section).collect()
    }

    /// A number at which readers tend to fail, or a neighbour of the present one.
    fn number(&mut self, was: usize) -> u64 {
        let near = [1, 2, 4, 8, 16][self.numbers.below(5)];
        match self.numbers.below(8) {
            0 => 0,
            1 => u64::MAX,
            2 => 1 << self.numbers.below(64),
            3 => (was as u64).wrapping_add(near),
            4 => (was as u64).wrapping_sub(near),
            5 => self.data.len() as u64 - near.min(self.data.len() as u64),
            6 => self.numbers.below(64) as u64,
            _ => self.numbers.next(),
        }
    }

    /// Changes a field of 1, 2, 4 or 8 bytes.
    fn field(&mut self, at: usize, bytes: usize) {
        let was = self.word(at, bytes);
        let number = self.number(was);
        self.set(at, bytes, number);
    }

    /// Changes a field of a section.
    fn meaning(&mut self) {
        let sections = self.sections();
        if sections.is_empty() {
            return;
        }
        let Section { header, kind, from, bytes } = sections[self.numbers.below(sections.len())];
        if self.numbers.below(6) == 0 {
            // Name, kind, flags, address, offset, size, link, info, alignment, bytes of an entry.
            let (at, width) = [(0, 4), (4, 4), (8, 8), (16, 8), (24, 8), (32, 8), (40, 4), (44, 4), (48, 8), (56, 8)]
                [self.numbers.below(10)];
            return self.field(header + at, width);
        }
        if bytes == 0 {
            return;
        }
        // Fields of a symbol, of a relocation; words of types, lines, maps, strings; halves of instructions.
        let (entry, fields): (usize, &[(usize, usize)]) = match kind {
            SYMBOLS => (24, &[(0, 4), (4, 1), (5, 1), (6, 2), (8, 8), (16, 8)]),
            kind if RELOCATIONS.contains(&kind) => (16, &[(0, 8), (8, 4), (12, 4)]),
            _ => (4, &[(0, 4), (0, 1), (2, 2), (3, 1)]),
        };
        let at = from + self.numbers.below(bytes.div_ceil(entry)) * entry;
        if self.numbers.below(8) == 0 {
            // The entry once more, somewhere else in the section.
            let to = from + self.numbers.below(bytes.div_ceil(entry)) * entry;
            if at.max(to) + entry <= self.data.len() {
                self.data.copy_within(at..at + entry, to);
            }
            return;
        }
        let (offset, width) = fields[self.numbers.below(fields.len())];
        self.field(at + offset, width);
    }

    /// Changes bytes anywhere, whatever they mean.
    fn bytes(&mut self) {
        let at = self.numbers.below(self.data.len());
        match self.numbers.below(10) {
            0 => self.data.truncate(at + 1),
            1 => drop(self.data.drain(at..(at + 1 + self.numbers.below(64)).min(self.data.len()))),
            2..5 => self.data[at] = [0, 0xff, 0x7f, 0x80][self.numbers.below(4)],
            _ => self.data[at] ^= 1 << self.numbers.below(8),
        }
    }

    fn damage(&mut self) {
        for _ in 0..1 + self.numbers.below(4) {
            if self.data.is_empty() {
                return;
            }
            if self.numbers.below(3) == 0 { self.bytes() } else { self.meaning() }
        }
    }
}

/// The progress of a case: objects read, programs linked, checked, compiled to rows.
type Reached = [u64; 4];

fn try_object(data: &[u8], lanes: Lanes, reached: &mut Reached) {
    let Ok(object) = Object::read(data) else { return };
    reached[0] += 1;
    for map in &object.maps {
        let _ = map.check();
        map.shape.memory();
    }
    for entry in &object.entries {
        let Ok(program) = object.program(entry) else { continue };
        reached[1] += 1;
        let Ok(checked) = check(&object, &program) else { continue };
        reached[2] += 1;
        let layout = place(&object, &checked.facts.helpers, CONTEXTS).layout;
        reached[3] += u64::from(translate(&object, &program, &checked.facts, lanes, &layout).is_ok());
    }
}

#[test]
fn damaged_objects() {
    let alone = alone();
    let own = ["all.c", "maps.c"].map(|name| root().join("engines/xdp/compiler/tests/objects").join(name));
    let sources = programs().into_iter().chain(own);
    let objects: Vec<Vec<u8>> = sources.map(|path| compile(&path, &[])).collect();
    // Sections that claim to be large, with and without contents in the file.
    for (data, section) in objects.iter().flat_map(|data| (0..24).map(move |section| (data, section))) {
        const WITHOUT: u64 = 8;
        let mut victim = Victim { data: data.clone(), numbers: Numbers(1) };
        let Some(Section { header, .. }) = victim.sections().get(section).copied() else { continue };
        victim.set(header + 32, 8, 1 << 32);
        for _ in 0..2 {
            let bytes = most_held(&alone, || try_object(&victim.data, Lanes::FOUR, &mut Reached::default()));
            assert!(bytes < MOST_BYTES, "section {section} takes {bytes} bytes");
            victim.set(header + 4, 4, WITHOUT);
        }
    }
    let mut reached = Reached::default();
    let campaign =
        Campaign { cases: CASES, most_bytes: MOST_BYTES, most_left: 4 << 20, longest: Duration::from_secs(30) };
    let tried = campaign.run(&alone, |numbers| {
        let data = objects[numbers.below(objects.len())].clone();
        let mut victim = Victim { data, numbers: numbers.clone() };
        victim.damage();
        let lanes = victim.numbers.of(&Lanes::ALL);
        try_object(&victim.data, lanes, &mut reached);
    });
    println!("objects: {tried}; read, put together, checked, compiled: {reached:?}");
    // Otherwise the test would only try the first check of the reader.
    let enough = |part: usize, share: u64| reached[part] * share > tried.cases;
    assert!(enough(0, 4) && enough(1, 8) && enough(2, 10) && enough(3, 10), "{reached:?} of {tried}");
}
