// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Thousands of rules.

#![allow(clippy::panic, clippy::unwrap_used)]

use std::fmt::Write;

use penstock_l7_compiler::{Compiled, Faults, compile};

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn next(&mut self) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize
    }

    /// A name of so many small letters and digits.
    fn name(&mut self, length: usize) -> String {
        (0..length).map(|_| char::from(b"abcdefghijklmnopqrstuvwxyz0123456789"[self.next() % 36])).collect()
    }
}

fn rules(patterns: &[String]) -> Result<Compiled, Faults> {
    let mut text = "message M { option (type) = 1; string s = 1 [(dispatch) = true]; uint32 n = 2 [(dispatch) = true]; }\napplication a = 1 { udp port 7000; on M {\n".to_owned();
    for (at, pattern) in patterns.iter().enumerate() {
        let _ = writeln!(text, "rule r{at} {{ {pattern}; }} => queue {at};");
    }
    compile("many.l7", &(text + "default => drop; } }\n"))
}

/// So many patterns of a kind, all of which differ.
fn patterns(kind: &str, count: usize) -> Vec<String> {
    let mut random = Random(7);
    let mut pattern = |at: usize| {
        // Lengths of 7 to 26 bytes.
        let name = |random: &mut Random| random.name(7 + at % 20);
        match kind {
            "32 bytes" => format!("s = \"{}\"", random.name(32)),
            "names" => format!("s = \"{}\"", name(&mut random)),
            "prefixes" => format!("s = \"{}\" ..", name(&mut random)),
            "zones" => format!("s = \"\\x03com\\x{:02x}{}\" ..", 7 + at % 20, name(&mut random)),
            "behind delimiters" => format!("s = \"/\" until \"/;\" \"v1\" until \"/;\" \"{}\" ..", random.name(32)),
            "numbers" => format!("s = \"user:{at}\""),
            "integers" => format!("n = {}", 77 * at),
            "two fields" => format!("s = \"{}\"; n = {}", name(&mut random), at % 100),
            kind => panic!("{kind}"),
        }
    };
    (0..count).map(&mut pattern).collect()
}

/// 4,096 values of a field take less than half of the rows, so that others can replace them while they run.
#[test]
fn four_thousand_rules_fit_twice() {
    for (kind, least, most) in [
        ("32 bytes", 2, 4),
        ("names", 2, 4),
        ("prefixes", 2, 4),
        ("zones", 2, 4),
        ("numbers", 2, 4),
        ("integers", 2, 4),
        ("behind delimiters", 4, 6),
    ] {
        let compiled = rules(&patterns(kind, 4096)).unwrap();
        let image = &compiled.images[0];
        assert_eq!(image.decisions().len(), 4098);
        assert!((1024..1500).contains(&image.row_count()), "{kind}: {} rows", image.row_count());
        let mut steps = image.types[0].steps();
        steps.remove(&None);
        assert_eq!(steps.len(), 4096, "{kind}");
        let seen = steps.values().fold((usize::MAX, 0), |(least, most), one| (least.min(one.0), most.max(one.1)));
        assert_eq!(seen, (least, most), "{kind}");
    }
}

#[test]
fn what_does_not_fit_names_a_way_out() {
    assert!(rules(&patterns("32 bytes", 8190)).is_ok());
    for (kind, count, said) in [
        ("32 bytes", 8191, "8191 rules, and the card has room for 8190 beside the two defaults: leave rules out"),
        ("two fields", 4096, "rows of a block; most of them so far: `r"),
        ("two fields", 4096, "Write fewer fields and `|` in those rules, or leave rules out"),
    ] {
        let faults = rules(&patterns(kind, count)).unwrap_err().to_string();
        assert!(faults.contains(said), "{kind}: {faults}");
    }
    assert!(rules(&patterns("two fields", 2900)).is_ok());
}

/// A comparison precedes those that follow from it, so that prefixes of each other are told apart in one step.
#[test]
fn the_longest_prefix_is_compared_first() {
    let text = "message M { option (type) = 1; string s = 1 [(dispatch) = true]; }
        application a = 1 { udp port 7000; on M longest s {
            rule a { s = \"a\" ..; } => queue 1; rule abc { s = \"abc\" ..; } => queue 2;
            rule ab { s = \"ab\" ..; } => queue 3; rule abcd { s = \"abcd\" ..; } => queue 4; default => drop; } }";
    let steps = compile("prefixes.l7", text).unwrap().images[0].types[0].steps();
    assert_eq!(steps.len(), 5);
    assert!(steps.values().all(|steps| *steps == (1, 1)), "{steps:?}");
}
