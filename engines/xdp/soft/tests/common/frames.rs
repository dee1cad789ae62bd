// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Frames as programs like them: few addresses and ports, so that flows and tables are met again, and some that are cut
//! short.

use penstock_testing::Numbers;

/// The last bytes of addresses; the first are 10.0.
pub(crate) const HOSTS: usize = 12;
pub(crate) const PORTS: [u16; 4] = [53, 80, 443, 8080];

/// An IPv4 address of ours.
pub(crate) fn address(host: usize) -> [u8; 4] {
    [10, (host % 3) as u8, 0, host as u8]
}

/// An IPv6 address of ours.
pub(crate) fn long_address(host: usize) -> [u8; 16] {
    let mut address = [0; 16];
    (address[0], address[1], address[15]) = (0xFD, 7, host as u8);
    address
}

/// A frame.
pub(crate) fn any(numbers: &mut Numbers) -> Vec<u8> {
    let mut frame = numbers.bytes(12);
    for _ in 0..[0, 0, 0, 1, 2, 3][numbers.below(6)] {
        frame.extend([[0x81, 0], [0x88, 0xA8]][numbers.below(2)]);
        frame.extend(numbers.bytes(2));
    }
    match numbers.below(8) {
        0 => frame.extend(numbers.bytes(60)),
        1 | 2 => ipv6(&mut frame, numbers),
        _ => ipv4(&mut frame, numbers),
    }
    let payload = [0, 0, 10, 100, 700, 1300][numbers.below(6)];
    frame.extend(numbers.bytes(payload));
    if numbers.below(6) == 0 {
        frame.truncate(14 + numbers.below(50));
    }
    frame.resize(frame.len().max(14), 0);
    frame
}

fn ipv4(frame: &mut Vec<u8>, numbers: &mut Numbers) {
    let protocol = [6, 17, 1, 17, 6, 50][numbers.below(6)];
    let words = if numbers.below(10) == 0 { 6 } else { 5 };
    frame.extend([8, 0, 0x40 | words, 0]);
    frame.extend((numbers.below(1400) as u16).to_be_bytes());
    frame.extend(numbers.bytes(2));
    frame.extend([if numbers.below(10) == 0 { 0x20 } else { 0x40 }, 0]);
    frame.extend([[0, 1, 2, 64, 255][numbers.below(5)], protocol]);
    frame.extend(numbers.bytes(2));
    frame.extend(address(numbers.below(HOSTS)));
    frame.extend(address(numbers.below(HOSTS)));
    frame.extend(vec![1; usize::from(words - 5) * 4]);
    transport(frame, numbers);
}

fn ipv6(frame: &mut Vec<u8>, numbers: &mut Numbers) {
    frame.extend([0x86, 0xDD, 0x60, 0, 0, 0]);
    frame.extend((numbers.below(1400) as u16).to_be_bytes());
    frame.extend([[6, 17, 58, 44][numbers.below(4)], 64]);
    frame.extend(long_address(numbers.below(HOSTS)));
    frame.extend(long_address(numbers.below(HOSTS)));
    transport(frame, numbers);
}

fn transport(frame: &mut Vec<u8>, numbers: &mut Numbers) {
    for _ in 0..2 {
        frame.extend(PORTS[numbers.below(PORTS.len())].to_be_bytes());
    }
    frame.extend(numbers.bytes(16));
}
