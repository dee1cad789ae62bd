// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The parts of an element that programs use, and how they are shown.
#![allow(clippy::unwrap_used)]

use penstock_flow_compiler::edits::{EditSource, Write};
use penstock_flow_compiler::image::{Condition, Source, Word};
use penstock_flow_compiler::program::{Compare, Place};
use penstock_flow_compiler::{Compiled, compile};
use penstock_headers::Field;

fn element(rows: &str) -> Compiled {
    compile(
        "x.efsm",
        &format!(
            "element e {{ key ip.src\nstates A, B\nflow r, s\nglobal g\nin A {{ ip.ttl == 77 => goto B }}\n{rows}\n}}"
        ),
    )
    .unwrap()
}

#[test]
fn what_says_the_same_is_shared() {
    let image = &element("r <= s && udp => r = r + s\ns < r && tcp.syn == 1 => s = s + r\ntcp.flags & 2 == 2 => drop")
        .image
        .elements[0];
    let (r, s) = (Source::Register(Place::Flow(0)), Source::Register(Place::Flow(1)));
    assert_eq!(image.conditions, [Condition { a: s, compare: Compare::Less, b: r }]);
    assert_eq!(image.functions.len(), 1);
    // A flag is a bit of the flags.
    let words = [Field::IpTtl, Field::TcpFlags].map(|field| Word { field, word: 0 });
    assert_eq!(image.operands, words);
    assert_eq!(image.predicates.len(), 2);
    let conditions: Vec<_> = image.rows.iter().map(|row| (row.conditions.mask, row.conditions.value)).collect();
    assert_eq!(conditions, [(0, 0), (1, 0), (1, 1), (0, 0)]);
    assert!(!image.serial);
}

#[test]
fn long_fields_are_words() {
    let image = &element("eth.src == 02:00:00:00:00:01 => eth.dst = eth.src\nip.src in 10.0.0.0/9 => g = g * 3")
        .image
        .elements[0];
    let words = [(Field::IpTtl, 0), (Field::EthSrc, 0), (Field::EthSrc, 1), (Field::IpSrc, 0)];
    assert_eq!(image.operands, words.map(|(field, word)| Word { field, word }));
    let write = |word| Write { to: Word { field: Field::EthDst, word }, from: EditSource::Operand(word + 1) };
    assert_eq!(image.rows[1].edits.writes, [write(0), write(1)]);
    let masks: Vec<_> = image.predicates.iter().map(|one| (one.operand, one.mask, one.value)).collect();
    assert_eq!(masks, [(0, 0xFF, 77), (1, 0xFFFF_FFFF, 1), (2, 0xFFFF, 0x200), (3, 0xFF80_0000, 0x0A00_0000)]);
    assert!(image.serial);
}

#[test]
fn rows_are_counted_by_state() {
    let compiled = element("in A, B { tcp => drop }\nudp => host");
    let states: Vec<_> = compiled.image.elements[0].rows.iter().map(|row| row.state).collect();
    assert_eq!(states, [Some(0), Some(0), Some(1), None]);
    let json = compiled.json();
    assert_eq!(json["elements"][0]["parts"]["rows"]["used"], 4);
    assert_eq!(json["elements"][0]["parts"]["operands"]["list"][0], "ip.ttl");
}

#[test]
fn all_that_is_limited_is_counted() {
    let compiled = element("in A { tcp => keep for 5 s then B idle 7 s } udp => keep idle 7 s");
    let text = compiled.explain();
    assert!(text.contains("timeouts           2 of   8   5 s then B, 7 s"), "{text}");
    assert!(text.contains("key halves         2 of  20   ip.src"), "{text}");
}

#[test]
fn how_far_frames_of_a_flow_are_apart_is_said() {
    let of = |text: &str| compile("x.efsm", text).unwrap().explain().lines().next().unwrap().to_owned();
    let keeps = "element e { key ip.src flow n udp => n = n + 1 }";
    let said = "element e: key ip.src (32 bits), 1 states; frames of one flow 2 cycles apart, others every cycle";
    assert_eq!(of(keeps), said);
    let evicts = keeps.replace("udp", "table 9 evict lowest udp");
    assert!(
        of(&evicts).ends_with("others every cycle; frames of a flow without a context 6 cycles apart, as it evicts")
    );
}

#[test]
fn masks_are_shown_as_they_are() {
    for test in
        ["ip.src in 10.0.0.0/9", "ip.dst & 0xff == 0x7", "!ip.dst in 10.2.0.0/15", "eth.dst & 0x10000000000 != 0x0"]
    {
        let explained = element(&format!("{test} => drop")).explain();
        assert!(explained.contains(&format!("  {test} => drop")), "{explained}");
    }
}

#[test]
fn drawings() {
    let text = "element e { key ip.src states A, B in A { tcp.dport == 1 && !new => goto B for 3 s } in B { \"\" } }";
    assert!(compile("x.efsm", text).is_err());
    let text = "element e { key ip.src states A, B in A { tcp.dport < 9 => goto B for 3 s } in B { udp => forget } }";
    let compiled = compile("x.efsm", text).unwrap();
    let dot = compiled.dot();
    assert!(dot.contains("s0_0 -> s0_1 [label=\"tcp.dport < 9: pass\"]"), "{dot}");
    assert!(dot.contains("s0_1 -> s0_0 [label=\"after 3 s\\ludp: forget\"]"), "{dot}");
    let svg = compiled.svg();
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
    // Three boxes, including the background; two transitions; and all text is escaped.
    assert_eq!((svg.matches("<rect ").count(), svg.matches("marker-end").count()), (3, 2));
    assert!(svg.contains("tcp.dport &lt; 9: pass"), "{svg}");
    assert!(compiled.explain().contains("predicates         1 of  32   tcp.dport < 9"), "{}", compiled.explain());
}
