// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Longest prefix match, from the text of a list to the answer, against a plain loop over the list.
#![allow(clippy::unwrap_used)]

use penstock_rpu::{
    accelerator::Accelerator,
    ip_prefix::IpPrefix,
    prefix_table::{Prefix, TableError, compile, parse, read},
    regs,
};
use penstock_testing::Numbers;

/// The class of the longest prefix that holds `address`; of equal ones the last.
fn brute_force(prefixes: &[Prefix], address: u32) -> u8 {
    let holds = |p: &&Prefix| p.length == 0 || (p.address ^ address) >> (32 - p.length) == 0;
    prefixes.iter().filter(holds).max_by_key(|p| p.length).map_or(0, |p| p.class)
}

fn load(prefixes: &[Prefix]) -> IpPrefix {
    let mut accelerator = IpPrefix::new();
    for (offset, word) in compile("list", prefixes).unwrap() {
        accelerator.load(offset, word);
        assert_eq!(accelerator.table(offset), word);
    }
    accelerator
}

/// Looks at the ends of all prefixes and beside them, where mistakes show.
fn check(prefixes: &[Prefix]) {
    let mut accelerator = load(prefixes);
    let ends = prefixes.iter().flat_map(|p| {
        let last = p.address | u32::MAX.checked_shr(p.length.into()).unwrap_or(0);
        [p.address.wrapping_sub(1), p.address, p.address / 2 + last / 2, last, last.wrapping_add(1)]
    });
    for address in ends.chain([0, 1, u32::MAX, u32::MAX - 1, 1 << 31]) {
        let expected = brute_force(prefixes, address);
        accelerator.write(regs::IP_PREFIX_ADDR, address.swap_bytes(), &[]);
        assert_eq!(
            accelerator.read(regs::IP_PREFIX_CLASS),
            u32::from(expected),
            "{}",
            std::net::Ipv4Addr::from(address)
        );
        let mask = if expected == 0 { u32::MAX } else { 0xFFFF_0000 };
        assert_eq!(accelerator.read(regs::IP_PREFIX_PASS_MASK), mask);
    }
}

fn prefix(address: u32, length: u8, class: u8) -> Prefix {
    Prefix { address: address & !u32::MAX.checked_shr(length.into()).unwrap_or(0), length, class }
}

#[test]
fn random_lists() {
    let mut numbers = Numbers(11);
    for round in 0..60 {
        let count = [1, 2, 5, 50, 600][round % 5];
        // Few different upper bits make prefixes nest.
        let spread = [32, 24, 12, 6][round % 4];
        let list: Vec<Prefix> = (0..count)
            .map(|_| {
                let address = (numbers.next() as u32) >> (32 - spread) << numbers.below(33 - spread as usize);
                prefix(address, numbers.below(33) as u8, numbers.below(16) as u8)
            })
            .collect();
        check(&list);
    }
}

#[test]
fn awkward_lists() {
    let all_nested: Vec<Prefix> = (0..=32).map(|length| prefix(0x0A0B_0C0D, length, 1 + length % 15)).collect();
    let crowded: Vec<Prefix> = (0..4096).map(|i| prefix(0xC0A8_0000 + 16 * i, 32, 1 + (i % 3) as u8)).collect();
    let adjacent: Vec<Prefix> = (0..512).map(|i| prefix(0x0A00_0000 + 256 * i, 24, 1)).collect();
    let ends = [prefix(0, 32, 3), prefix(u32::MAX, 32, 4)];
    let exempt = [prefix(0, 0, 1), prefix(0x0A00_0000, 8, 0), prefix(0x0A01_0000, 16, 2)];
    let doubled = [prefix(0x0A00_0000, 8, 1), prefix(0x0A00_0000, 8, 2), prefix(0x0A00_0000, 8, 3)];
    let lists: [&[Prefix]; 8] = [&[], &all_nested, &crowded, &adjacent, &ends, &exempt, &doubled, &[prefix(0, 0, 15)]];
    for list in lists {
        check(list);
    }
    // Neighbours of one class are one interval.
    let starts = compile("list", &adjacent).unwrap().iter().filter(|(o, w)| *o < 0x8000 && *w != u32::MAX).count();
    assert_eq!(starts, 2);
}

#[test]
fn a_new_list_replaces_the_old() {
    let mut accelerator = load(&[prefix(0, 0, 5)]);
    for (offset, word) in compile("list", &[prefix(0x0100_0000, 8, 1)]).unwrap() {
        accelerator.load(offset, word);
    }
    assert_eq!([0, 0x0100_0000, 0x0200_0000, u32::MAX].map(|a| accelerator.class_of(a)), [0, 1, 0, 0]);
}

#[test]
fn lists_are_read_line_by_line() {
    let text = "# a comment\n10.0.0.0/8\n\n 192.0.2.1 7 # one host\n0.0.0.0/0\t0\r\n255.255.255.255/32 15";
    let expected = [prefix(0x0A00_0000, 8, 1), prefix(0xC000_0201, 32, 7), prefix(0, 0, 0), prefix(u32::MAX, 32, 15)];
    assert_eq!(parse("list", text).unwrap(), expected);
    assert!(parse("list", "").unwrap().is_empty());
}

#[test]
fn a_bad_line_is_named() {
    for (line, what) in [
        ("10.0.0.0/33", "`33` is no prefix length"),
        ("10.0.0.0/", "`` is no prefix length"),
        ("10.0.0.0/-1", "`-1` is no prefix length"),
        ("10.0.0.0/+8", "`+8` is no prefix length"),
        ("10.0.0/8", "`10.0.0` is no IPv4 address"),
        ("10.0.0.256", "`10.0.0.256` is no IPv4 address"),
        ("::1/128", "`::1` is no IPv4 address"),
        ("10.0.0.1/8", "the network is 10.0.0.0/8"),
        ("10.0.0.0/8 16", "`16` is no class"),
        ("10.0.0.0/8 x", "`x` is no class"),
        ("10.0.0.0/8 1 2", "`2` after prefix and class"),
    ] {
        let error = parse("block.txt", &format!("1.0.0.0/8\n{line}\n")).unwrap_err();
        assert!(error.to_string().starts_with("block.txt:2: ") && error.to_string().contains(what), "{error}");
    }
    let error = read("/nowhere/list".as_ref()).unwrap_err();
    assert!(matches!(error, TableError::Read { .. }) && error.to_string().contains("/nowhere/list"));
}

#[test]
fn a_prefix_has_one_class() {
    let text = "10.0.0.0/8\n# fine\n10.0.0.0/8 1\n10.0.0.0/9 2\n";
    assert_eq!(parse("block.txt", text).unwrap().len(), 3);
    let error = parse("block.txt", &format!("{text}10.0.0.0/8 0\n")).unwrap_err().to_string();
    assert_eq!(error, "block.txt:5: 10.0.0.0/8 has class 0 here and class 1 in line 1; drop one of the two lines");
}

#[test]
fn what_is_no_text_does_not_reach_the_terminal() {
    let error = parse("block.txt", "\x7fELF\x01\x01\0\0").unwrap_err();
    assert!(matches!(error, TableError::NotText { .. }) && error.to_string().contains("not a text file"), "{error}");
    let error = parse("block.txt", &format!("\x1b[31m{}", "x".repeat(500))).unwrap_err().to_string();
    assert!(error.contains("`\\u{1b}[31mxxx") && error.contains("xxx...`"), "{error}");
    assert!(error.len() < 250 && !error.contains('\x1b'), "{error}");
}

#[test]
fn no_text_makes_the_parser_fall() {
    let mut numbers = Numbers(3);
    let pieces = ["10.", "0", "255", "/", "33", "8", " ", "\t", "#", "\n", "-", "é", ".", "99999999999", "0x1", "\r\n"];
    for _ in 0..20_000 {
        let count = numbers.below(12);
        let text: String = (0..count).map(|_| numbers.of(&pieces)).collect();
        if let Ok(prefixes) = parse("list", &text) {
            assert!(prefixes.iter().all(|p| p.length <= 32 && p.class <= 15));
        }
    }
}

#[test]
fn what_does_not_fit_is_told_in_numbers() {
    let hosts = |count: u32| (0..count).map(|i| prefix(2 * i + 1, 32, 1)).collect::<Vec<_>>();
    assert!(compile("list", &hosts(4096)).is_ok());
    let error = compile("list", &hosts(4097)).unwrap_err().to_string();
    assert!(error.contains("4097 prefixes") && error.contains("8194 intervals"), "{error}");
}
