// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Placements of maps, against numbers worked out by hand from maps.md.

use super::bank::Bank;
use crate::ir::Banks;
use crate::maps::{MapKind, MapShape};

fn shape(key_bytes: u32, value_bytes: u32, max_entries: u32) -> MapShape {
    MapShape { number: 0, key_bytes, value_bytes, max_entries, flags: 0 }
}

#[test]
fn an_array_spreads_over_the_banks() {
    let mut bank = Bank::default();
    let (descriptor, array) = bank.array(33, 20).expect("there is room");
    // Three elements of two rows in a bank.
    assert_eq!(descriptor, [0x0014_0401, 33, 1, 0x0007_0001, 0x0002_0000]);
    assert_eq!((array.address, array.stride, array.entries), (0x8000_0010, 32, 33));
    assert_eq!(array.banks, Some(Banks { count: 16, bytes: 0x4_0000 }));
    let (descriptor, array) = bank.array(1, 300).expect("there is room");
    assert_eq!(descriptor[0], 0x401, "no update stores more than 256 bytes");
    assert_eq!(array.address, 0x8000_0070);
}

#[test]
fn a_map_with_keys_has_room_for_chance() {
    let mut bank = Bank::default();
    // 64 entries a bank and 56 for chance, 128 buckets in 16 rows; an entry has four.
    let descriptor = bank.keys(MapKind::Hash, &shape(17, 16, 1024)).expect("there is room");
    assert_eq!(descriptor, [0x0010_1102, 1024, 1 | 7 << 16, 17 | (17 + 480) << 16, 4 << 16]);
    // All of a small one may lie in one bank.
    let descriptor = bank.keys(MapKind::LruHash, &shape(4, 4, 3)).expect("there is room");
    assert_eq!(descriptor, [0x0004_0403, 3, 497 | 3 << 16, 498 | 507 << 16, 3 << 16]);
}

#[test]
fn what_has_no_room_says_so_and_takes_none() {
    let mut bank = Bank::default();
    let error = bank.array(1 << 20, 4).expect_err("65,536 rows");
    assert_eq!(error, "it takes 65536 rows of each of the card's banks, 16383 are left; give it fewer entries");
    assert!(bank.array(u32::MAX, 256).is_err());
    assert!(bank.array(16383 * 16, 16).is_ok(), "all of it");
    assert!(bank.array(1, 1).is_err());
}
