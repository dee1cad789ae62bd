// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Random packets of the kinds that programs distinguish.

use penstock_testing::Numbers;

/// A packet: tags, IPv4 or IPv6 or something else, TCP or UDP or something else; some are cut off. Addresses and ports
/// are few, so that flows come back.
pub(crate) fn packet(numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..12).map(|_| numbers.next() as u8).collect();
    for _ in 0..[0, 0, 0, 1, 2, 3][numbers.below(6)] {
        bytes.extend([[0x81, 0x00], [0x88, 0xa8]][numbers.below(2)]);
        bytes.extend([0, numbers.next() as u8]);
    }
    let protocol = [1, 4, 6, 6, 17, 17, 41, 58][numbers.below(8)];
    let address = |numbers: &mut Numbers| [10, 0, numbers.below(2) as u8, numbers.below(3) as u8];
    let payload = [0, 8, 20, 40, 100, 700][numbers.below(6)];
    match numbers.below(8) {
        0..5 => {
            bytes.extend([0x08, 0x00]);
            let options = if numbers.below(8) == 0 { 1 + numbers.below(10) } else { 0 };
            let total = (20 + 4 * options + 20 + payload) as u16;
            bytes.extend([0x45 + options as u8, numbers.next() as u8]);
            bytes.extend(total.to_be_bytes());
            bytes.extend([numbers.next() as u8, 0, if numbers.below(8) == 0 { 0x20 } else { 0x40 }, 0]);
            bytes.extend([[0, 1, 2, 64][numbers.below(4)], protocol]);
            bytes.extend((numbers.next() as u16).to_be_bytes());
            bytes.extend(address(numbers));
            bytes.extend(address(numbers));
            bytes.extend((0..4 * options).map(|_| numbers.next() as u8));
        }
        5 | 6 => {
            bytes.extend([0x86, 0xdd, 0x60, 0, 0, 0]);
            bytes.extend(((20 + payload) as u16).to_be_bytes());
            bytes.extend([protocol, [0, 1, 64][numbers.below(3)]]);
            for _ in 0..2 {
                bytes.extend([0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0]);
                bytes.extend(address(numbers));
            }
        }
        _ => bytes.extend([numbers.next() as u8, numbers.next() as u8]),
    }
    for _ in 0..2 {
        bytes.extend([[0, 53], [0, 80], [0x1f, 0x90]][numbers.below(3)]);
    }
    bytes.extend((0..16 + payload).map(|_| numbers.next() as u8));
    if numbers.below(4) == 0 {
        let most = bytes.len().min(90);
        bytes.truncate(14 + numbers.below(most - 13));
    }
    bytes
}
