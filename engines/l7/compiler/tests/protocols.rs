// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rules of applications whose protocol is not QNP.

#![allow(clippy::unwrap_used)]

use penstock_l7_compiler::compile;
use penstock_l7_compiler::pattern::Condition;
use penstock_l7_compiler::program::{Action, TypeRules};

fn application(protocol: &str, of_type: &str, rules: &str) -> String {
    format!("application a = 1 {{ udp port 53; protocol {protocol}; on {of_type} {{\n{rules}\ndefault => drop; }} }}")
}

fn rules(of_type: &str, rules: &str) -> TypeRules {
    let protocol = match of_type {
        "query" => "dns",
        "access" => "radius",
        "request" => "coap",
        _ => "memcached",
    };
    let text = application(protocol, of_type, rules);
    compile("test.l7", &text).unwrap().program.applications[0].types[0].clone()
}

/// The action for a field 1 with these bytes.
fn action(rules: &TypeRules, field: &[u8]) -> Action {
    let matches = |condition: &(u8, Condition)| condition.0 == 1 && condition.1.matches(field);
    let rule = rules.rules.iter().find(|rule| rule.variants.iter().any(|variant| variant.iter().all(matches)));
    rule.map_or(rules.default, |rule| rule.action)
}

#[test]
fn the_longest_zone_wins() {
    let rules = rules(
        "query",
        "rule far { name = zone \"Example\" | zone \"deep.b.Example.\"; } => port 1;
         rule near { name = zone \"b.example\"; } => port 2;
         rule one { name = \"b.example\"; } => port 3;
         rule root { name = zone \".\"; } => port 0;",
    );
    for (name, port) in [
        (&b"\x07example"[..], 1),
        (b"\x07example\x01a", 1),
        (b"\x07example\x01b", 3),
        (b"\x07example\x01b\x03www", 2),
        (b"\x07example\x01b\x04deep\x01x", 1),
        (b"\x07example\x02bb", 1),
        (b"\x08examples", 0),
        (b"", 0),
    ] {
        assert_eq!(action(&rules, name), Action::Port(port), "{}", name.escape_ascii());
    }
}

#[test]
fn the_longest_prefix_wins_if_a_source_says_so() {
    let text = "rule all { key = ..; } => queue 0; rule user { key = \"user:\" ..; } => queue 1;
        rule one { key = \"user:1\"; } => queue 2; rule first priority 1 { key = \"user:7\" ..; } => queue 3;";
    let fault = compile("test.l7", &application("memcached", "get", text)).unwrap_err().to_string();
    assert!(fault.contains("have the same priority"), "{fault}");
    let rules = rules("get longest key", &text.replace(" priority 1 { key = \"user:7\"", " { key = \"us\""));
    for (key, queue) in [(&b"user:1"[..], 2), (b"user:12", 1), (b"use", 3), (b"x", 0)] {
        assert_eq!(action(&rules, key), Action::Queue(queue), "{}", key.escape_ascii());
    }
}

#[test]
fn keys_are_matched_behind_a_delimiter() {
    let rules = rules(
        "get",
        "rule user { key = until \":\" \"user\" ..; } => queue 1; rule other { key = until \":/\" \"x\"; } => queue 2;",
    );
    for (key, queue) in [(&b"a:user7"[..], Some(1)), (b":user", Some(1)), (b"long/x", Some(2)), (b"user", None)] {
        assert_eq!(action(&rules, key), queue.map_or(Action::Drop, Action::Queue), "{}", key.escape_ascii());
    }
}

#[test]
fn faults_say_what_a_protocol_has() {
    let query = |rules: &str| application("dns", "query", rules);
    for (text, words) in [
        (
            application("dsn", "query", ""),
            "there is no protocol `dsn`; there are: dns, memcached, coap, radius, quic\n",
        ),
        (application("dns", "get", ""), "there is no message type `get`"),
        (
            query("rule r { name = until \".\" ..; } => drop;"),
            "`name` is a domain name: write \"name\", `zone \"name\"`",
        ),
        (query("rule r { name = \"a..b\"; } => drop;"), "stand 1 to 63 bytes"),
        (
            query(&format!("rule r {{ name = zone \"{}\"; }} => drop;", "a.".repeat(33))),
            "up to 32 labels and 238 bytes",
        ),
        (query("rule r { type = 65536; } => drop;"), "`type` has 16 bits"),
        (query("rule r { name = \"a\"; } => port 4;"), "the number of an Ethernet port is 0 to 3, not 4"),
        (application("memcached", "get", "rule r { key = zone \"a\"; } => drop;"), "`key` is no domain name"),
        (query("rule r { name = \"a\"; } => queues 0 ..= 2 in turn;"), "another power of two"),
    ] {
        let faults = compile("test.l7", &text).unwrap_err().to_string();
        assert!(faults.contains(words), "{faults}");
    }
}

#[test]
fn realms_are_zones_and_the_longest_wins() {
    let rules = rules(
        "access",
        "rule campus { realm = zone \"campus.example\"; } => queue 1;
         rule exam { realm = \"exam.campus.example\"; } => queue 2;
         rule bob { user = \"bob@exam.campus.example\"; } => queue 3;",
    );
    let action = |realm: &[u8]| {
        let matches = |(number, condition): &(u8, Condition)| match number {
            1 => condition.matches(b"bob@exam.campus.example"),
            3 => condition.matches(realm),
            _ => false,
        };
        let rule = rules.rules.iter().find(|rule| rule.variants.iter().any(|variant| variant.iter().all(matches)));
        rule.map_or(rules.default, |rule| rule.action)
    };
    // A rule without a realm has the shortest pattern.
    assert_eq!(action(b"\x07example\x06campus\x04exam"), Action::Queue(2));
    assert_eq!(action(b"\x07example\x06campus"), Action::Queue(1));
    assert_eq!(action(b"\x07example"), Action::Queue(3));
}

#[test]
fn integers_of_a_byte_are_compared() {
    let rules = rules("request", "rule get { method = 1; } => queue 1; rule write { method = 2 ..= 255; } => queue 2;");
    let action = |method: &[u8]| {
        let matches = |condition: &(u8, Condition)| condition.0 == 2 && condition.1.matches(method);
        let rule = rules.rules.iter().find(|rule| rule.variants.iter().all(|variant| variant.iter().all(matches)));
        rule.map_or(rules.default, |rule| rule.action)
    };
    assert_eq!(action(b"\x01"), Action::Queue(1));
    assert_eq!(action(b"\xFF"), Action::Queue(2));
    assert_eq!(action(b"\0"), Action::Drop);
    assert_eq!(action(b"\0\x01"), Action::Drop);
}

#[test]
fn quic_needs_the_length_of_its_connection_ids() {
    let faults = |protocol: &str, of_type: &str| {
        compile("test.l7", &application(protocol, of_type, ""))
            .map(|compiled| compiled.program.applications[0].id_bytes)
    };
    assert_eq!(faults("quic id 20", "short").unwrap(), 20);
    assert_eq!(faults("quic id 0", "long").unwrap(), 0);
    assert_eq!(faults("coap", "request").unwrap(), 0);
    for (protocol, of_type, words) in [
        ("quic", "short", "test.l7:1:43: a packet with a short header does not tell how long its connection ID is"),
        ("quic id 21", "short", "the number of bytes of a connection ID is 0 to 20, not 21"),
        ("coap id 8", "request", "only messages of QUIC have connection IDs: leave `id` out"),
        ("quic id", "short", "the number of bytes of a connection ID"),
        ("radius", "login", "there is no message type `login`; there are: access, accounting, other"),
    ] {
        let text = faults(protocol, of_type).unwrap_err().to_string();
        assert!(text.contains(words), "{text}");
    }
    for (rule, words) in [
        ("rule r { method = 256; } => drop;", "`method` has 8 bits: its highest value is 255"),
        ("rule r { method = \"GET\"; } => drop;", "`method` is a uint8: write a number"),
        ("rule r { path = zone \"a\"; } => drop;", "`path` is no domain name"),
    ] {
        let text = compile("test.l7", &application("coap", "request", rule)).unwrap_err().to_string();
        assert!(text.contains(words), "{text}");
    }
}
