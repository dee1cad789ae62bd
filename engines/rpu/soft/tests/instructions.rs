// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The simulator against vectors.py: single instructions by the specification's formulas, random programs by Unicorn.
#![allow(clippy::unwrap_used)]

use std::{path::Path, process::Command};

use penstock_rpu::{Unit, accelerator::Kinds, regs};
use penstock_unit::{Answer, Departure, Destination, Identity, Outside, Unit as _};

const IMEM: u32 = 0x0200_0000;
const DMEM: u32 = 0x0080_0000;
/// Address of a program, as in vectors.py; instructions that load its registers precede it.
const CODE: u32 = 0x400;
const LOAD: u32 = CODE - 4 * 16;
/// Offsets in data memory of the registers before and after.
const BEFORE: u32 = 0x200;
const AFTER: u32 = 0x300;

/// A card that nothing happens on.
struct Nothing;

impl Outside for Nothing {
    fn send(&mut self, _departure: Departure, _bytes: &[u8]) -> Answer {
        Answer::Taken
    }
    fn generate(&mut self, _destination: Destination, _bytes: &[u8]) {}
    fn free(&mut self, _slot: u8) {}
    fn declare(&mut self, _count: u8, _bytes: u16) {}
}

struct Machine(Unit);

impl Machine {
    fn new() -> Self {
        let mut unit = Unit::new(Identity { unit: 0, units: 1, ports: 1 }, Kinds::default());
        let jump = |from: u32, to: u32| {
            let offset = to.wrapping_sub(from);
            (offset >> 20 & 1) << 31 | (offset >> 1 & 0x3FF) << 21 | (offset >> 11 & 1) << 20 | offset & 0xF_F000 | 0x6F
        };
        unit.host_write(IMEM, jump(0, LOAD));
        unit.host_write(IMEM + 4, jump(4, 4));
        // lui x31, 0x800; lw x1..x15
        unit.host_write(IMEM + LOAD, 0x0080_0FB7);
        for register in 1..16 {
            let lw = (BEFORE + 4 * register) << 20 | 31 << 15 | 2 << 12 | register << 7 | 0x03;
            unit.host_write(IMEM + LOAD + 4 * register, lw);
        }
        Self(unit)
    }

    /// Runs `words`; gives x1..x15 afterwards.
    fn run(&mut self, words: &[u32], before: &[u32]) -> Vec<u32> {
        let unit = &mut self.0;
        unit.host_write(regs::UNIT_RESET, 1);
        let mut at = IMEM + CODE;
        let mut emit = |unit: &mut Unit, word| {
            unit.host_write(at, word);
            at += 4;
        };
        for &word in words {
            emit(unit, word);
        }
        for register in 1..16 {
            let offset = AFTER + 4 * register;
            emit(unit, (offset >> 5) << 25 | register << 20 | 31 << 15 | 2 << 12 | (offset & 0x1F) << 7 | 0x23);
        }
        emit(unit, 0x0000_006F);
        for (register, &value) in (1..).zip(before) {
            unit.host_write(DMEM + BEFORE + 4 * register, value);
        }
        unit.host_write(regs::UNIT_RESET, 0);
        unit.run(&mut Nothing, 1000);
        (1..16).map(|register| unit.host_read(DMEM + AFTER + 4 * register).unwrap()).collect()
    }
}

fn hex(text: &str) -> u32 {
    u32::from_str_radix(text, 16).unwrap()
}

fn words(text: &str) -> Vec<u32> {
    text.split(',').map(hex).collect()
}

fn memory(text: &str) -> Vec<u32> {
    let bytes: Vec<u32> = (0..text.len()).step_by(2).map(|i| hex(&text[i..i + 2])).collect();
    bytes.chunks_exact(4).map(|b| b[0] | b[1] << 8 | b[2] << 16 | b[3] << 24).collect()
}

#[test]
fn instructions_and_programs_do_what_the_oracles_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors.py");
    let output = Command::new(root.join("build/venv/bin/python")).arg(script).arg("1").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut machine = Machine::new();
    let (mut instructions, mut programs) = (0, 0);
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        match fields[..] {
            ["i", word, a, b, result] => {
                let after = machine.run(&[hex(word)], &[hex(a), hex(b)]);
                assert_eq!(after[2], hex(result), "instruction {word}, a = {a}, b = {b}");
                assert_eq!(after[..2], [hex(a), hex(b)]);
                instructions += 1;
            }
            ["p", code, before, memory_before, after, memory_after] => {
                for (word, offset) in memory(memory_before).into_iter().zip((0..).step_by(4)) {
                    machine.0.host_write(DMEM + offset, word);
                }
                assert_eq!(machine.run(&words(code), &words(before)), words(after), "program {code}, from {before}");
                for (word, offset) in memory(memory_after).into_iter().zip((0..).step_by(4)) {
                    assert_eq!(machine.0.host_read(DMEM + offset), Some(word), "program {code}, data at {offset:#x}");
                }
                programs += 1;
            }
            _ => panic!("`{line}`"),
        }
    }
    assert!(instructions > 2000 && programs == 200, "{instructions} instructions, {programs} programs");
}
