// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Many rules at once against each of them alone.

#![allow(clippy::unwrap_used)]

use std::fmt::Write;

use penstock_l7::Rules;
use penstock_l7_compiler::compile;
use penstock_l7_compiler::program::Variant;

/// Rules with different priorities, over a text and an integer.
const RULES: u32 = 100;

#[test]
fn the_first_rule_that_matches_decides() {
    let mut text =
        "message M { option (type) = 1; string s = 1 [(dispatch) = true]; uint32 n = 2 [(dispatch) = true]; }
        application a = 1 { udp port 1; on M {\n"
            .to_owned();
    for rule in 0..RULES {
        let conditions = match rule % 20 {
            8.. => format!("s = \"/{rule:02}/\" ..;"),
            1 => format!("s = until \"/:\" skip 1 until \"/\" \"{rule:02}\" ..;"),
            2 => format!("s = skip 5 \"{rule:02}\" ..;"),
            3..8 => format!("s = \"/{rule:02}/a\" | \"/{rule:02}/b\";"),
            _ => format!("n = {} ..= {};", rule * 4, rule * 4 + 30),
        };
        let _ = writeln!(text, "rule r{rule} priority {} {{ {conditions} }} => queue {rule};", RULES - rule);
    }
    text += "default => drop; } }";
    let program = compile("many.l7", &text).unwrap_or_else(|faults| panic!("{faults}")).program;
    let application = &program.applications[0];
    let rules = &application.types[0].rules;
    let mut native = Rules::new(application, &program);
    let mut seen = vec![0; rules.len() + 1];
    for round in 0..20_000u32 {
        let mixed = round.wrapping_mul(2_654_435_761) >> 8;
        let (rule, other) = (mixed % 100, mixed / 100 % 100);
        let name = match mixed >> 12 & 3 {
            0 => format!("/{rule:02}/{}{other:02}", ["a", "b", "c"][(mixed >> 3) as usize % 3]),
            1 => format!("/{rule:02}/{}", ["a", "b", "c"][(mixed >> 3) as usize % 3]),
            2 => format!("x:y/{rule:02}{other:02}"),
            _ => format!("//{rule:02}"),
        };
        let number = (mixed >> 4) % 520;
        let mut payload = Vec::new();
        if round % 17 != 0 {
            payload.extend([1, name.len() as u8]);
            payload.extend(name.as_bytes());
        }
        if round % 13 != 0 {
            payload.extend([2, 4]);
            payload.extend(number.to_be_bytes());
        }
        let holds = |variant: &Variant| {
            variant.iter().all(|(field, condition)| match field {
                1 => round % 17 != 0 && condition.matches(name.as_bytes()),
                _ => round % 13 != 0 && condition.matches(&number.to_be_bytes()),
            })
        };
        let expected = rules.iter().position(|rule| rule.variants.iter().any(holds)).unwrap_or(rules.len());
        assert_eq!(native.decide(1, &payload).index, expected + 1, "{name} {number} {round}");
        seen[expected] += 1;
    }
    assert!(seen.iter().filter(|count| **count > 0).count() > 70, "{seen:?}");
    assert_eq!(native.decide(2, b"").index, 0);
}
