// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Which addresses of the host answer, and which are errors: by the register description, and by the memory map.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::HashMap;

use common::*;
use penstock_rpu::accelerator::Kinds;
use penstock_shell::{Access, AccessError, Card, regs};

/// Value of what stands in `text` between `before` and the next character that is no digit of it.
fn number(text: &str, before: &str) -> Option<u32> {
    let rest = text.split_once(before)?.1;
    let rest = rest.strip_prefix("0x").map_or((rest, 10), |rest| (rest, 16));
    let digits: String = rest.0.chars().take_while(char::is_ascii_hexdigit).collect();
    u32::from_str_radix(&digits, rest.1).ok()
}

/// The access that the description gives each address: "r", "w" or "rw".
fn described() -> HashMap<u32, String> {
    let text = std::fs::read_to_string(root().join("shell/regs/card.rdl")).unwrap();
    let mut all = HashMap::new();
    let mut stream = Vec::new();
    let mut in_stream = false;
    for line in text.lines() {
        in_stream |= line.contains("regfile stream_t");
        if let Some((_, field)) = line.split_once("sw = ") {
            let access = field.split(';').next().unwrap().to_owned();
            let place = number(line, " @ ").unwrap();
            if in_stream {
                stream.push((place, access));
            } else {
                let (count, stride) = (number(line, "RETA[").unwrap_or(1), number(line, " += ").unwrap_or(4));
                all.extend((0..count).map(|index| (place + index * stride, access.clone())));
            }
        } else if line.contains("stream_t STREAM") {
            for index in 0..number(line, "STREAM[").unwrap() {
                let base = number(line, " @ ").unwrap() + index * number(line, " += ").unwrap();
                all.extend(stream.iter().map(|(place, access)| (base + place, access.clone())));
            }
        } else if line.trim() == "};" {
            in_stream = false;
        }
    }
    assert_eq!(all.len(), 34 + 128 + 6 * 14);
    all
}

#[test]
fn registers_answer_as_they_are_described() {
    let described = described();
    let mut card = Card::new(2, rpu_units(2, 3, Kinds::default()));
    for address in (0..0x2000).chain([0x3FFF_FFFC, 0x4400_0000, 0xFFFF_FFFC]) {
        let access = described.get(&address).map_or("", String::as_str);
        let expected = |letter| access.contains(letter);
        assert_eq!(card.read(address).is_ok(), expected('r'), "read of {address:#x}");
        assert_eq!(card.write(address, 1).is_ok(), expected('w'), "write of {address:#x}");
    }
}

fn small_card() -> Card {
    Card::new(2, rpu_units(2, 3, Kinds::default()))
}

#[test]
fn registers_that_can_be_written_keep_their_bits() {
    let mut card = small_card();
    assert_eq!(card.read(regs::CARD_UNIT_INGRESS), Ok(u32::MAX));
    assert_eq!(card.read(regs::CARD_EXIT_TIMEOUT), Ok(4096));
    assert_eq!(card.read(regs::CARD_UNIT_TIMEOUT), Ok(1 << 20));
    for (address, bits) in [
        (regs::CARD_UNIT_WRITE_MASK, u32::MAX),
        (regs::CARD_UNIT_READ, 31),
        (regs::CARD_PORT_ENABLE, 15),
        (regs::CARD_UNIT_ENABLE, u32::MAX),
        (regs::CARD_UNIT_INGRESS, u32::MAX),
        (regs::CARD_EXIT_TIMEOUT, 0xFF_FFFF),
        (regs::CARD_UNIT_TIMEOUT, 0xFF_FFFF),
        (regs::CARD_SLOTS_UNIT, 31),
        (regs::CARD_MEMORY_UNIT, 31),
        (regs::CARD_RETA + 4 * 127, 31),
    ] {
        for value in [u32::MAX, 0x5A5A_5A5A, 0] {
            card.write(address, value).unwrap();
            assert_eq!(card.read(address), Ok(value & bits), "{address:#x}");
        }
    }
    for value in 0..16 {
        card.write(regs::CARD_POLICY, value).unwrap();
        assert_eq!(card.read(regs::CARD_POLICY), Ok(value & 3));
    }
    assert_eq!(card.read(regs::CARD_INGRESS_BYTES), Ok(524_288));
}

/// The range of host memory of a unit, as the registers show it.
fn range(card: &mut Card, unit: u32) -> [u32; 4] {
    card.write(regs::CARD_MEMORY_UNIT, unit).unwrap();
    RANGE.map(|register| card.read(register).unwrap())
}

const RANGE: [u32; 4] =
    [regs::CARD_MEMORY_BASE_L, regs::CARD_MEMORY_BASE_H, regs::CARD_MEMORY_LIMIT_L, regs::CARD_MEMORY_LIMIT_H];
const NO_RANGE: [u32; 4] = [u32::MAX, u32::MAX, 0, 0];

#[test]
fn a_range_of_host_memory_takes_effect_as_a_whole() {
    let mut card = small_card();
    for unit in 0..32 {
        assert_eq!(range(&mut card, unit), NO_RANGE);
    }
    card.write(regs::CARD_MEMORY_UNIT, 2).unwrap();
    for (register, word) in RANGE.into_iter().zip([1, 2, 3, 4]) {
        assert_eq!(range(&mut card, 2), NO_RANGE, "before {register:#x} is written");
        card.write(register, word).unwrap();
    }
    assert_eq!(range(&mut card, 2), [1, 2, 3, 4]);
    assert_eq!((range(&mut card, 1), range(&mut card, 3)), (NO_RANGE, NO_RANGE));
    // The next unit also gets the words that were written last.
    card.write(regs::CARD_MEMORY_LIMIT_H, 7).unwrap();
    assert_eq!((range(&mut card, 3), range(&mut card, 2)), ([1, 2, 3, 7], [1, 2, 3, 4]));
}

#[test]
fn the_unit_window_answers_where_a_unit_has_something() {
    let mut card = Card::new(2, rpu_units(2, 3, Kinds::default()));
    card.write(regs::CARD_UNIT_READ, 2).unwrap();
    card.write(regs::CARD_UNIT_WRITE_MASK, 0b101).unwrap();
    // First and last words of registers, data, packet and instruction memory, and tables.
    let regions =
        [(0, 0x100), (0x080_0000, 0x8000), (0x100_0000, 0x10_0000), (0x200_0000, 0x1_0000), (0x300_0000, 0x100_0000)];
    for (base, bytes) in regions {
        for (offset, is_there) in [(base, true), (base + bytes - 4, true), (base + bytes, false)] {
            assert_eq!(card.read(WINDOW + offset).is_ok(), is_there, "read of {offset:#x}");
            assert_eq!(card.write(WINDOW + offset, 0).is_ok(), is_there, "write of {offset:#x}");
            assert!(card.read(WINDOW + offset + 2).is_err() && card.write(WINDOW + offset + 2, 0).is_err());
        }
        if base > 0 {
            assert!(card.read(WINDOW + base - 4).is_err() && card.write(WINDOW + base - 4, 0).is_err());
        }
    }
    for (reader, mask, reads, writes) in
        [(2, 0b1000, true, false), (3, 1 << 31 | 1, false, true), (31, 0, false, false)]
    {
        card.write(regs::CARD_UNIT_READ, reader).unwrap();
        card.write(regs::CARD_UNIT_WRITE_MASK, mask).unwrap();
        assert_eq!((card.read(WINDOW).is_ok(), card.write(WINDOW, 1).is_ok()), (reads, writes), "{reader}, {mask:#x}");
    }
}

#[test]
fn an_error_says_where_and_what_to_do() {
    let mut card = Card::new(2, rpu_units(2, 16, Kinds::default()));
    let error = card.read(0x4000_0100).unwrap_err();
    assert_eq!(error, AccessError { access: Access::Read, address: 0x4000_0100 });
    let text = error.to_string();
    assert!(text.starts_with("the card refused a read of register 0x40000100") && text.contains("UNIT_READ"), "{text}");
    let text = card.write(0, 1).unwrap_err().to_string();
    assert!(text.contains("a write of register 0x00000000") && text.contains("card.rdl"), "{text}");
}
