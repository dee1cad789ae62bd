// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Placements of maps, against numbers worked out by hand from maps.md.

use super::bank::Bank;
use super::{ROWS, ring, routes};
use crate::ir::{Banks, Ring};
use crate::maps::{MapKind, MapShape};

fn shape(key_bytes: u32, value_bytes: u32, max_entries: u32) -> MapShape {
    MapShape { number: 0, key_bytes, value_bytes, max_entries, flags: 0 }
}

#[test]
fn an_array_spreads_over_the_banks() {
    let mut bank = Bank::new(ROWS);
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
    let mut bank = Bank::new(ROWS);
    // 64 entries a bank and 56 for chance, 128 buckets in 16 rows; an entry has four.
    let descriptor = bank.keys(MapKind::Hash, &shape(17, 16, 1024), 0).expect("there is room");
    assert_eq!(descriptor, [0x0010_1102, 1024, 1 | 7 << 16, 17 | (17 + 480) << 16, 4 << 16]);
    // A small map may be completely in one bank.
    let descriptor = bank.keys(MapKind::LruHash, &shape(4, 4, 3), 0).expect("there is room");
    assert_eq!(descriptor, [0x0004_0403, 3, 497 | 3 << 16, 498 | 507 << 16, 3 << 16]);
}

#[test]
fn each_processor_has_a_value() {
    let mut bank = Bank::new(ROWS);
    // Two processors in a row: 17 rows of values, one of key. All 8 entries may be in one bank.
    let descriptor = bank.keys(MapKind::PercpuHash, &shape(4, 8, 8), 33).expect("there is room");
    assert_eq!(descriptor, [0x0008_0402, 8, 1 | 3 << 16, 2 | (2 + 8 * 19) << 16, 1 | 19 << 16]);
    // Two rows for each.
    let descriptor = bank.keys(MapKind::LruPercpuHash, &shape(17, 20, 8), 32).expect("there is room");
    assert_eq!(descriptor, [0x0014_1103, 8, 154 | 3 << 16, 155 | (155 + 8 * 67) << 16, 4 | 67 << 16]);
    // The figures of maps.md for cards of 16 and 8 units.
    for (entries, processors) in [(1082, 256), (2600, 128)] {
        let keys = |entries| Bank::new(ROWS).keys(MapKind::PercpuHash, &shape(16, 8, entries), processors);
        assert!(keys(entries).is_ok() && keys(entries + 1).is_err());
    }
}

#[test]
fn what_has_no_room_says_so_and_takes_none() {
    let mut bank = Bank::new(ROWS);
    let error = bank.array(1 << 20, 4).expect_err("65,536 rows");
    assert_eq!(
        error,
        "it takes 65536 rows of each of the card's banks, 16383 are left; give it fewer entries ([units.xdp.entries]), or \
         the card more \
         memory for maps (xdp.map_mib in [card], up to 16)"
    );
    assert!(bank.array(u32::MAX, 256).is_err());
    assert!(bank.array(16383 * 16, 16).is_ok(), "all of it");
    assert!(bank.array(1, 1).is_err());
}

#[test]
fn rings_lie_beside_each_other() {
    let mut bank = Bank::new(ROWS);
    let (descriptor, rings) = ring::place(&mut bank, &[4096, 65536]).expect("there is room");
    // 32 bytes of counters, 64 KiB, and 8 KiB after them: 4,610 rows.
    assert_eq!(descriptor, [0x401, 2, 1, 4611 << 16 | 1, 4610 << 16]);
    assert_eq!(rings, [Ring { address: 0x8000_0010, bytes: 4096 }, Ring { address: 0x8004_0010, bytes: 65536 }]);
    let mut bank = Bank::new(ROWS);
    let (descriptor, _) = ring::place(&mut bank, &[4096]).expect("there is room");
    assert_eq!(descriptor[4], (2 + 256 + 256) << 16, "no record is longer than its ring");
    let error = ring::place(&mut bank, &[1 << 18]).expect_err("a bank has 256 KiB");
    assert!(error.ends_with("or the card more memory for maps (xdp.map_mib in [card], up to 16)"), "{error}");
    assert!(ring::place(&mut bank, &[1 << 31]).is_err());
}

#[test]
fn tables_of_routes() {
    let mut bank = Bank::new(ROWS);
    let (tables, descriptors) = routes::place(&mut bank, 61).expect("there is room");
    assert_eq!((tables.v4, tables.v6, tables.of_interfaces), (61, 62, 63));
    // 204 entries a bank, of 4 and 5 rows, after 32 rows of buckets; two rows of interfaces.
    assert_eq!(descriptors[0], [0x0020_0804, 2048, 8 << 16 | 1, 849 << 16 | 33, 4 << 16]);
    assert_eq!(descriptors[1], [0x0020_1404, 2048, 8 << 16 | 849, 1901 << 16 | 881, 5 << 16]);
    assert_eq!(descriptors[2], [0x0010_0401, 32, 1901, 1903 << 16 | 1901, 1 << 16]);
}
