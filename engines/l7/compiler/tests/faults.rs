// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The compiler's messages for sources with faults, and their places.

#![allow(clippy::unwrap_used)]

use std::fmt::Write;

use penstock_l7_compiler::{check_places, compile};

const MESSAGES: &str = "message M { option (type) = 1; string s = 1 [(dispatch) = true]; uint32 n = 2 [(dispatch) = true]; string t = 3; }\n";

/// The faults of rules for M, in line 3 of the source: column and message.
fn faults(rules: &str) -> Vec<(u32, String)> {
    let text = format!("{MESSAGES}application a = 1 {{ udp port 7000; on M {{\n{rules}\n}} }}");
    let faults = compile("test.l7", &text).err();
    let of_rules = faults.iter().flat_map(|faults| faults.iter()).map(|fault| {
        assert_eq!(fault.span.line, 3, "{fault:?}");
        (fault.span.column, fault.message.clone())
    });
    of_rules.collect()
}

#[test]
fn faults_of_rules_name_the_place_and_the_way_out() {
    for (rules, column, words) in [
        ("rule r { stuff = \"a\"; } => drop; default => drop;", 10, "`M` has no field `stuff`; there are: s, n, t"),
        (
            "rule r { t = \"a\"; } => drop; default => drop;",
            10,
            "the card does not see `t`: write `[(dispatch) = true]`",
        ),
        ("rule r { s = 7; } => drop; default => drop;", 14, "`s` is a string: write its bytes as \"text\""),
        ("rule r { n = \"7\"; } => drop; default => drop;", 14, "`n` is a uint32: write a number, or a range"),
        ("rule r { n = 7 8; } => drop; default => drop;", 14, "`n` is a uint32"),
        ("rule r { n = 8 ..= 7; } => drop; default => drop;", 14, "the range is empty: 8 is above 7"),
        (
            "rule r { n = 4294967296; } => drop; default => drop;",
            14,
            "`n` has 32 bits: its highest value is 4294967295",
        ),
        ("rule r { s = .. \"a\"; } => drop; default => drop;", 17, "nothing can come behind `..`"),
        ("rule r { s = until \"\" ..; } => drop; default => drop;", 14, "`until` needs at least one delimiter"),
        (
            "rule r { s = skip 255; } => drop; default => drop;",
            14,
            "needs 255 bytes or more, and a dispatch field has at most 254",
        ),
        (
            "rule r { s = \"a\"; s = \"b\"; } => drop; default => drop;",
            19,
            "there is a pattern for the field `s` in line 3 already",
        ),
        ("rule default { s = \"a\"; } => drop; default => drop;", 6, "a rule needs another name"),
        ("rule r { } => queue 65536; default => drop;", 21, "the number of a queue is 0 to 65535, not 65536"),
        ("rule r { } => unit 32; default => drop;", 20, "the number of a unit is 0 to 31, not 32"),
        ("rule r { } => queues 0 ..= 2 by s; default => drop;", 22, "2, 4, 8 or another power of two"),
        ("rule r { } => queues 3 ..= 2 by s; default => drop;", 22, "power of two"),
        ("rule r { } => units by t; default => drop;", 24, "the card does not see `t`"),
        (
            "rule r { s = \"a\"; } => drop; rule r { s = \"b\"; } => drop; default => drop;",
            35,
            "there is a rule `r` in line 3 already",
        ),
        (
            "rule r { s = \"a\" ..; } => drop; rule q { s = skip 2 \"b\"; } => queue 1; default => drop;",
            38,
            "`q` and `r` (line 3) have the same priority and both match s = \"axb\"",
        ),
        (
            "rule r { n = 1 ..= 5; } => drop; rule q { n = 5 ..= 9; } => queue 1; default => drop;",
            39,
            "both match n = 5:",
        ),
        ("rule r { } => drop; rule q { } => queue 1; default => drop;", 26, "both match every message"),
        (
            "rule r { s = \"ab\"; } => drop; rule q priority 1 { s = \"a\" ..; } => queue 1; default => drop;",
            6,
            "`r` never matches: `q` (line 3) takes its messages",
        ),
        (
            "rule r { n = 3; s = \"x\"; } => drop; rule q priority 1 { n = 1 ..= 9; } => queue 1; default => drop;",
            6,
            "`r` never matches",
        ),
    ] {
        let found = faults(rules);
        assert!(found.len() == 1 && found[0].0 == column && found[0].1.contains(words), "{rules}\n{found:?}");
    }
}

/// Rules that only seem to contradict each other.
#[test]
fn rules_that_share_no_message_are_none_of_a_fault() {
    for rules in [
        "rule r { s = \"a\"; } => drop; rule q { s = \"a\" skip 1; } => queue 1; default => drop;",
        "rule r { s = \"a\"; n = 1; } => drop; rule q { s = \"a\"; n = 2; } => queue 1; default => drop;",
        "rule r { s = until \"/\" \"a\"; } => drop; rule q { s = until \"/\" \"b\"; } => queue 1; default => drop;",
        "rule r { s = \"ab\" ..; } => queue 1; rule q { s = \"a\" ..; } => queue 1; default => drop;",
        "rule r { s = \"ab\" | \"c\"; } => drop; rule q priority 1 { s = \"a\" ..; } => queue 1; default => drop;",
        "rule r { s = \"a\" ..; } => drop; rule q priority 1 { s = \"ab\" ..; } => queue 1; default => drop;",
    ] {
        assert_eq!(faults(rules), [], "{rules}");
    }
}

#[test]
fn faults_of_types_and_applications() {
    let on = "on M { default => drop; }";
    for (text, line, words) in [
        (String::new(), 1, "the file has no rules"),
        ("message M { }\n".to_owned(), 1, "this message type has no number: write `option (type) = NUMBER;`"),
        ("message M { option (type) = 16; }".to_owned(), 1, "the number of a message type is 1 to 15, not 16"),
        (
            "message M { option (type) = 1; int32 a = 1; }".to_owned(),
            1,
            "there is no type `int32`; there are string, bytes, uint32 and uint64",
        ),
        (
            "message M { option (type) = 1; string a = 16 [(dispatch) = true]; }".to_owned(),
            1,
            "the number of a dispatch field is 1 to 15, not 16",
        ),
        (
            "message M { option (type) = 1; string a = 1;\nstring b = 1; }".to_owned(),
            2,
            "another field has the number 1 in line 1",
        ),
        (format!("{MESSAGES}message N {{ option (type) = 1; }}"), 2, "another message type has the number 1 in line 1"),
        (
            format!("{MESSAGES}application a = 1 {{ {on} }}"),
            2,
            "this application has no port: write `udp port NUMBER;`",
        ),
        (format!("{MESSAGES}application a = 1 {{ udp port 65536; {on} }}"), 2, "a UDP port is 1 to 65535, not 65536"),
        (format!("{MESSAGES}application a = 1 {{ udp port 1; tenant 64; {on} }}"), 2, "a tenant is 0 to 63, not 64"),
        (
            format!("{MESSAGES}application a = 1 {{ udp port 1; on N {{ default => drop; }} }}"),
            2,
            "there is no message type `N`",
        ),
        (
            format!("{MESSAGES}application a = 1 {{ udp port 1; on M {{ }} }}"),
            2,
            "what happens to messages that match no rule? Write `default => ACTION;`",
        ),
        (
            format!("{MESSAGES}application a = 1 {{ udp port 1; {on} {on} }}"),
            2,
            "there is a part for messages of the type `M`",
        ),
        (
            format!("{MESSAGES}application a = 1 {{ udp port 1; {on} default => units by s; }}"),
            2,
            "`a message of any type` has no field `s`",
        ),
    ] {
        let faults = compile("test.l7", &text).unwrap_err();
        let found: Vec<_> = faults.iter().collect();
        assert!(found.iter().any(|fault| fault.span.line == line && fault.message.contains(words)), "{text}\n{faults}");
    }
    let mut three = MESSAGES.to_owned();
    for at in 1..4 {
        let _ = writeln!(three, "application a{at} = {at} {{ udp port {at}; {on} }}");
    }
    let faults = compile("test.l7", &three).unwrap_err().to_string();
    assert!(faults.starts_with("test.l7:4:13: a block has 2 applications"), "{faults}");
}

/// Rules beyond the rows of a block are refused, with the names of the largest ones.
#[test]
fn too_many_rows_name_their_rules() {
    let mut long = String::new();
    for at in 0..1200 {
        let patterns: Vec<_> = (0..5).map(|part| format!("\"{:04}\" until \"/\" \"{at}x\"", 5 * at + part)).collect();
        let _ = write!(long, "rule r{at} {{ s = {}; }} => queue {at}; ", patterns.join(" | "));
    }
    let text = format!("{MESSAGES}application a = 1 {{ udp port 7000; on M {{\n{long}\ndefault => drop; }} }}");
    let faults = compile("test.l7", &text).unwrap_err().to_string();
    assert!(
        faults.contains("these rules take more than the 4096 rows of a block; most of them so far: `r"),
        "{faults}"
    );
}

/// Sources of rules, `alternatives` for each, that overlap in many ways.
fn many(rules: usize, alternatives: usize, pattern: impl Fn(String) -> String) -> String {
    let rule = |rule: usize| {
        let of = (0..alternatives).map(|at| pattern(format!("x{rule}.{at}"))).collect::<Vec<_>>().join(" | ");
        format!("rule r{rule} priority {rule} {{ a = {of}; }} => queue 0;\n")
    };
    let all: String = (0..rules).map(rule).collect();
    format!(
        "message M {{ option (type) = 1; string a = 1 [(dispatch) = true]; }}\n\
         application m = 1 {{ udp port 7000; on M {{ {all} default => drop; }} }}\n"
    )
}

/// Each of these kept the compiler busy for minutes or for ever.
#[test]
fn rules_that_overlap_too_much_are_refused_at_once() {
    let until = |text| format!("until \"/\" \"{text}\" ..");
    // Each goes on from another place in a message.
    let tangled = |text| format!("until \"/{text}\" \"{text}\" ..");
    for (source, said) in [
        (many(9000, 1, until), "9000 rules, and the card has room for 8190 beside the two defaults"),
        (many(250, 256, until), "have 64000 combinations, and the card compares with 16384"),
        (many(250, 16, tangled), "overlap in too many ways to be compared"),
    ] {
        let faults = penstock_l7_compiler::compile("many.l7", &source).unwrap_err().to_string();
        assert!(faults.contains(said), "{faults}");
    }
    assert!(penstock_l7_compiler::compile("many.l7", &many(4096, 1, until)).is_ok());
}

/// `longest` divides the patterns of a rule by their length, and another rule may take one of them.
#[test]
fn a_rule_matches_if_one_of_its_lengths_does() {
    let of = |patterns: &str| {
        let rules = format!(
            "rule all priority 1 {{ s = \"a\" ..; }} => drop; rule some {{ s = {patterns}; }} => queue 1; default => drop;"
        );
        let text = format!("{MESSAGES}application a = 1 {{ udp port 7000; on M longest s {{ {rules} }} }}");
        compile("test.l7", &text).err().map(|faults| faults.to_string())
    };
    assert_eq!(of("\"abc\" | \"b\""), None);
    assert_eq!(of("\"b\" | \"abc\""), None);
    let fault = of("\"abc\" | \"ab\"").unwrap();
    assert!(fault.contains("`some` never matches: `all` (line 2) takes its messages"), "{fault}");
    assert_eq!(fault.matches("never matches").count(), 1, "{fault}");
}

#[test]
fn priorities_are_told_apart_up_to_the_highest() {
    let highest = u64::MAX;
    let rules = format!(
        "rule short priority {highest} {{ s = \"a\" ..; }} => drop; rule long priority {} {{ s = \"b\" .. | \"abc\"; }} => queue 1; default => drop;",
        highest - 1
    );
    let text = format!("{MESSAGES}application a = 1 {{ udp port 7000; on M longest s {{ {rules} }} }}");
    let program = compile("test.l7", &text).unwrap().program;
    assert_eq!(program.applications[0].types[0].rules[0].name, "short");
}

/// A rule whose fields just fit the first 256 bytes of a message is taken; with a byte more it would never match.
#[test]
fn fields_of_a_rule_fit_what_the_card_sees() {
    let rule = |skip: usize, more: &str| {
        let first = "a".repeat(120);
        format!("rule r {{ s = until \"/\" \"{first}\" skip {skip} ..; n = 7; {more} }} => drop; default => drop;")
    };
    // 2 + 1 + 120 + 125 bytes, and 2 + 4.
    assert_eq!(faults(&rule(127, "")), []);
    let [(column, message)] = &faults(&rule(128, ""))[..] else { panic!("one fault") };
    assert_eq!(*column, 6);
    assert!(
        message.contains("needs fields of 257 bytes or more") && message.contains("shorten its patterns"),
        "{message}"
    );
    // Each alternative must have room.
    let all = faults("rule r { s = \"a\" | skip 250; n = 7; } => drop; default => drop;");
    assert!(all[0].1.contains("needs fields of 258 bytes"), "{all:?}");
}

/// A query that the card sees whole has a name of up to 238 bytes: behind it stand its end, the type and the class.
#[test]
fn names_fit_what_the_card_sees() {
    for (bytes, fits) in [(238, true), (239, false), (249, false), (250, false)] {
        for kind in ["", "zone "] {
            let mut name = "a.".repeat(4) + &format!("{}.", "b".repeat(63)).repeat(3);
            name += &"c".repeat(bytes - name.len());
            let text = format!(
                "application a = 1 {{ udp port 53; protocol dns; on query {{\nrule r {{ name = {kind}\"{name}\"; }} => drop; default => drop; }} }}"
            );
            let faults = compile("test.l7", &text).err().map(|faults| faults.to_string());
            assert_eq!(faults.is_none(), fits, "{bytes} {faults:?}");
            if let Some(fault) = faults {
                assert!(fault.contains("up to 32 labels and 238 bytes") && fault.contains("write a zone"), "{fault}");
            }
        }
    }
}

/// The compiler prints and spends little on a source that is wrong everywhere, or has one endless line.
#[test]
fn faults_of_a_hostile_source_are_short() {
    let on =
        |rules: &str| format!("{MESSAGES}application a = 1 {{ udp port 7000; on M {{\n{rules}\ndefault => drop; }} }}");
    let many = |count: usize, text: &dyn Fn(usize) -> String| (0..count).map(text).collect::<String>();
    let long = "m".repeat(1_000_000);
    for (text, words) in [
        (on(&format!("rule {long} {{ }} => drop;")), "a name has up to 255 letters, and `mmmm"),
        (
            on(&format!("rule r {{ s = 1{}; }} => drop;", "2".repeat(1_000_000))),
            "...` is not a number of up to 64 bits",
        ),
        (on(&format!("rule r {{ s = \"{long}\"; }} => drop;")), "this pattern needs 1000000 bytes or more"),
        (
            on(&format!("rule r {{ s = {}; }} => drop;", "skip 255 ".repeat(100_000))),
            "this pattern needs 255 bytes or more",
        ),
        (on(&format!("rule r {{ {} }} => drop;", "s = \"a\"; ".repeat(100_000))), "test.l7: 99979 more faults"),
        (on(&format!("\"{long}\"")), "found \"mmmm"),
        (many(10_000, &|at| format!("application x{at} = {at} {{ }}\n")), " more faults"),
        (
            on(&format!("rule r {{ {} }} => drop;", many(2_000, &|at| format!("{}{at} = 1; ", "q".repeat(240))))),
            " more faults",
        ),
        ("{".repeat(1_000_000), "test.l7:1:1: expected `message NAME"),
        (" ".repeat(8 << 20) + " ", "the file has more than 8 MiB"),
    ] {
        let begun = std::time::Instant::now();
        let told = compile("test.l7", &text).unwrap_err().to_string();
        assert!(
            told.contains(words) && told.len() < 20_000,
            "{words}: {} bytes\n{}",
            told.len(),
            &told[..told.len().min(2000)]
        );
        // It takes well under a second where nothing else runs.
        assert!(begun.elapsed().as_secs() < 30, "{words}: {:?}", begun.elapsed());
    }
}

#[test]
fn a_long_line_is_shown_around_the_place_of_its_fault() {
    let before = "/* rules of the shop */".repeat(20);
    let text = format!(
        "{MESSAGES}application a = 1 {{ udp port 7000; on M {{\n{before}rule r {{ stuff = \"a\"; }} => drop; {before}\n}} }}"
    );
    let told = compile("test.l7", &text).unwrap_err().to_string();
    let lines: Vec<&str> = told.lines().collect();
    let at = lines.iter().position(|line| line.contains("has no field `stuff`")).unwrap();
    let begin = lines[at + 1].find("stuff").unwrap();
    assert!(lines[at + 1].starts_with(" 3 | ... ") && lines[at + 1].ends_with(" ..."), "{told}");
    assert_eq!(lines[at + 2], format!("   | {}^^^^^", " ".repeat(begin - 5)), "{told}");
}

#[test]
fn a_mark_in_front_of_the_text_is_none_of_it() {
    let text = format!("\u{feff}{MESSAGES}application a = 1 {{ udp port 7000; on M {{ default => drop; }} }}");
    assert!(compile("test.l7", &text).is_ok());
}

/// Rules of equal priority that share messages only of which a rule of higher priority takes all.
#[test]
fn a_rule_above_two_decides_what_they_share() {
    let two = "rule a { s = \"x\" ..; } => queue 0; rule b { n = 7; } => queue 1; default => drop;";
    for (above, words) in [
        ("rule c priority 1 { s = \"x\" ..; n = 7; } => queue 2;", None),
        ("rule c priority 1 { s = \"x\" .. | \"y\"; n = 1 ..= 9; } => queue 2;", None),
        ("", Some("both match s = \"x\", n = 7: write `priority N`")),
        ("rule c { s = \"x\" ..; n = 7; } => queue 0;", Some("same priority")),
        ("rule c priority 1 { s = \"xy\" ..; n = 7; } => queue 2;", Some("both match s = \"x\", n = 7: write")),
        (
            "rule c priority 1 { s = \"x\"; n = 7; } => queue 2;",
            Some("both match s = \"x\", n = 7 (which `c` in line 3 takes), and others: write `priority N`"),
        ),
    ] {
        let found = faults(&format!("{above} {two}"));
        let right = words.map_or(found.is_empty(), |words| found.iter().any(|(_, text)| text.contains(words)));
        assert!(right, "{above}\n{found:?}");
    }
}

/// Patterns for which the walker of a protocol reads too little of a message.
#[test]
fn patterns_are_as_long_as_walkers_read() {
    for (protocol, of_type, field, most) in [
        ("memcached", "get", "key", 243),
        ("memcached", "set", "key", 243),
        ("memcached", "change", "key", 242),
        ("coap", "request", "path", 251),
        ("coap", "request", "host", 248),
        ("radius", "access", "user", 234),
        ("radius", "other", "nas", 234),
        ("quic id 8", "long", "id", 20),
    ] {
        for (bytes, fits) in [(most, true), (most + 1, false)] {
            let rule = format!("rule r {{ {field} = \"{}\"; }} => drop; default => drop;", "k".repeat(bytes));
            let text = format!("application a = 1 {{ udp port 7000; protocol {protocol}; on {of_type} {{ {rule} }} }}");
            let told = compile("test.l7", &text).err().map(|faults| faults.to_string()).unwrap_or_default();
            let words = format!("needs {bytes} bytes or more, and the card sees at most {most} of `{field}`");
            assert_eq!((told.is_empty(), told.contains(&words)), (fits, !fits), "{field} {bytes}\n{told}");
        }
    }
}

#[test]
fn places_that_a_card_lacks_have_their_lines() {
    let text = format!(
        "{MESSAGES}application a = 1 {{ udp port 7000; on M {{\nrule r {{ s = \"a\"; }} => unit 2;\ndefault => port 1;\n}}\ndefault => port 3; }}"
    );
    compile("test.l7", &text).unwrap();
    assert_eq!(check_places("test.l7", &text, 3, 4), Ok(()));
    let told = check_places("test.l7", &text, 2, 1).unwrap_err().to_string();
    for words in [
        "test.l7:3:29: there is no unit 2: the card's last unit is 1",
        "test.l7:4:17: there is no port 1: the card's last port is 0",
        "test.l7:6:17: there is no port 3",
    ] {
        assert!(told.contains(words), "{told}");
    }
    assert!(check_places("test.l7", &text, 0, 4).unwrap_err().to_string().contains("the card has no unit"));
}
