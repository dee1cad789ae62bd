// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rows as bits and as text, and their effects: against words that were written by hand from engines/xdp/core.md.
#![allow(clippy::unwrap_used)]

mod common;

use penstock_testing::Numbers;
use penstock_xdp_compiler::ir::Memory;
use penstock_xdp_compiler::rows::rules::RowRule;
use penstock_xdp_compiler::rows::run::{Asked, Done, Fault, Machine, Outside, Surroundings};
use penstock_xdp_compiler::rows::{Lanes, Row, decode, encode, read, words_of_row};

/// Text and words, by hand.
const BY_HAND: [(&str, [u32; 9]); 5] = [
    // Nothing.
    ("- | - | - | -", [0; 9]),
    // add64 is 1 + 16; register 1 of lane 0 from register 2 of lane 1 (name 10) and len (68).
    ("add64 r0.1, r1.2, len | - | - | -", [0, 17 | 1 << 7 | 10 << 12 | 68 << 19, 0, 0, 0, 0, 0, 0, 0]),
    // A window from data (65) + 8 on; the two bytes at 12 are bytes 4 and 5 of it. br.ne32 is 96 + 1, exit with 2 in
    // {b, dst}.
    (
        "[p data+8] ldp r0.0, 4:2 | unless 2 br.ne32 r1.0, 17, exit:2 | cmp.eq32 r1.0, 6 | -",
        [
            1 | 65 << 1 | 1 << 8,
            43 | 64 << 12,
            4 | 2 << 6,
            97 | (0x802 & 31) << 7 | 8 << 12 | (0x802 >> 5) << 19 | 2 << 26 | 1 << 30 | 1 << 31,
            17,
            64 | 8 << 12 | 1 << 31,
            6,
            0,
            0,
        ],
    ),
    // A store of -1 to the two bytes of the stack window's end, in an offset window.
    (
        "[p r3.7-16] [s 56] - | sts -1, 62:2 swap | - | jmp @300",
        [
            1 | 31 << 1 | (0x1FE) << 8 | 1 << 17 | 56 << 18,
            0,
            0,
            46 | ((62 | 2 << 6 | 1 << 11) & 31) << 7 | 64 << 12 | (((62 | 2 << 6 | 1 << 11) >> 5) << 19) | 1 << 31,
            0xFFFF_FFFF,
            0,
            0,
            107 | 64 << 12,
            300,
        ],
    ),
    // A lookup in map 3 with the key at byte 4 of the stack window.
    (
        "[s 62] ext r0.5, lookup 3, zero, zero, key stack 4 | - | - | mul32 r3.0, r3.0, 3",
        [
            1 << 17 | 62 << 18,
            75 | 5 << 7 | 64 << 12 | 64 << 19,
            5 | 3 << 8 | 1 << 24 | 4 << 26,
            0,
            0,
            0,
            0,
            9 | 24 << 12 | 1 << 31,
            3,
        ],
    ),
];

#[test]
fn words() {
    for (text, words) in BY_HAND {
        let rows = read(text, Lanes::FOUR).unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].to_string(), text);
        let written = encode(&rows[0], Lanes::FOUR).unwrap();
        assert_eq!(written, words, "{text}\n{written:08x?}\n{words:08x?}");
        assert_eq!(decode(&words, Lanes::FOUR).as_ref(), Ok(&rows[0]));
    }
}

/// All bits that decode to a row print as text and read back as the same row.
#[test]
fn any_row_returns() {
    let mut numbers = Numbers(0x5EED_0003);
    let mut count = 0;
    for lanes in Lanes::ALL {
        for _ in 0..200_000 {
            // The fields of a lane, mostly small numbers, so that many of them form valid rows.
            let mut words = vec![0u32; words_of_row(lanes)];
            words[0] = [0, numbers.next() as u32 & 0x00FF_FFFF][numbers.below(2)];
            let lane = numbers.below(lanes.count());
            words[1 + 2 * lane] = numbers.next() as u32;
            words[2 + 2 * lane] = numbers.next() as u32 >> [0, 16, 20, 24][numbers.below(4)];
            let Ok(row) = decode(&words, lanes) else { continue };
            count += 1;
            assert_eq!(encode(&row, lanes).unwrap(), words, "{row}");
            let text = format!("12: {row} # a remark");
            assert_eq!(read(&text, lanes).as_deref(), Ok(&[row][..]), "{text}");
        }
    }
    assert!(count > 1_000, "{count}");
}

/// No maps, a stopped clock.
struct Nothing;

impl Outside for Nothing {
    fn time(&mut self) -> u64 {
        7
    }

    fn random(&mut self) -> u32 {
        9
    }

    fn load(&mut self, _: u64, _: u8) -> u64 {
        0
    }

    fn store(&mut self, _: u64, _: u8, _: u64) {}

    fn call(&mut self, _: &Asked, _: &mut Memory) -> u64 {
        0
    }
}

fn run(text: &str, packet: &[u8]) -> (Result<Done, Fault>, Vec<u8>) {
    let rows: Vec<Row> = read(text, Lanes::FOUR).unwrap();
    let mut nothing = Nothing;
    let mut machine = Machine::new(&rows, Lanes::FOUR, Memory::new(packet), Surroundings::default(), &mut nothing);
    let done = machine.run().map_err(|error| error.fault);
    (done, machine.memory.packet().to_vec())
}

#[test]
fn runs() {
    let packet: Vec<u8> = (0..64).collect();
    // If two branches are taken, the lower lane's counts; the other lanes still act.
    let text = "[p data+0] ldp r0.0, 2:2 swap | - | - | -
        [p data+8] stp r0.0, 0:4 | stp 258, 8:2 | br.eq32 r0.0, 515, @3 | br.eq32 zero, 0, exit:1
        exit zero | - | - | -
        [p data+8] ldp r0.1, 0:4 swap | exit r0.0 | - | -";
    let (done, after) = run(text, &packet);
    assert_eq!(done, Ok(Done { verdict: 0, rows: 3, next: None }));
    assert_eq!(after[8..20], [3, 2, 0, 0, 12, 13, 14, 15, 2, 1, 18, 19]);
    // A guard lets the right operations through, and all lanes see the state before the row.
    let text = "mov64 r0.0, 5 | mov64 r1.0, 6 | mov64 r2.0, 1 | -
        if 3 mov64 r0.0, r1.0 | if 3 mov64 r1.0, r0.0 | unless 3 mov64 r2.0, 9 | cmp.lt64 r0.0, r1.0
        sub64 r0.0, r0.0, r1.0 | - | - | -
        add64 r0.0, r0.0, r2.0 | - | - | -
        exit r0.0 | - | - | -";
    assert_eq!(run(text, &packet).0, Ok(Done { verdict: 2, rows: 5, next: None }));
}

#[test]
fn strict() {
    let short = [0u8; 14];
    let cases = [
        // Bytes that are not there may be loaded, but nothing may hang on them.
        ("[p data+8] ldp r0.0, 8:2 | - | - | -\n br.lt64 len, 30, exit:1 | br.eq32 r0.0, 0, exit:2 | - | -", None),
        ("[p data+8] ldp r0.0, 8:2 | - | - | -\n br.eq32 r0.0, 0, exit:2 | - | - | -", Some(Fault::NotThere(0))),
        ("[p data+8] - | stp 1, 6:1 | - | -", Some(Fault::Outside(1))),
        ("[s 1] sts 1, 6:2 | sts 1, 7:2 | - | jmp exit:1", Some(Fault::TwoStores(0x2_000F))),
        ("[s 1] - | - | sts 1, 6:2 | jmp exit:1", Some(Fault::Rule(RowRule::Store(2)))),
        // A context that ends has no memory left for a request to read; if it goes on, the request of the same row is
        // like any other.
        ("ext silent, update 0, stack, stack | jmp exit:1 | - | -", Some(Fault::Ends)),
        ("ext r0.0, lookup 0, stack, zero | br.eq32 len, 14, exit:1 | - | -", Some(Fault::Ends)),
        ("unless 1 ext r0.0, lookup 0, stack, zero | br.eq32 len, 14, exit:1 | - | -", None),
        ("unless 1 ext r0.0, lookup 0, stack, zero | br.eq32 len, 15, exit:1 | - | -\n jmp exit:1 | - | - | -", None),
        ("exit r0.0 | - | - | -", Some(Fault::NotThere(0))),
        ("- | - | - | -", Some(Fault::NoRow)),
    ];
    for (text, wanted) in cases {
        assert_eq!(run(text, &short).0.err(), wanted, "{text}");
    }
}
