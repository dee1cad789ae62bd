// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Constructs of P4, in small programs on one frame. The expected bytes follow from the P4-16 specification. It leaves
//! three things open, which are the engine's own choice: the end of loops without end, messages, and invalid headers.

#![allow(clippy::expect_used, clippy::panic)]

use penstock_rmt::{Block, Tenant};
use penstock_unit::{Block as _, Entering, Verdict};

/// A program whose frames have the header `x` of four bytes and the stack `s` of two more such headers. `outer` stands
/// in front of the parser, `inner` in the ingress control, `apply` in its block.
fn source(outer: &str, inner: &str, apply: &str) -> String {
    format!(
        "#include <core.p4>
#include <v1model.p4>
header bytes_t {{ bit<8> a; bit<8> b; bit<8> c; bit<8> d; }}
struct headers_t {{ bytes_t x; bytes_t[2] s; }}
struct meta_t {{ bit<8> m; }}
{outer}
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {{
    state start {{
        packet.extract(hdr.x);
        for (bit<8> i in 0 .. 1) {{ packet.extract(hdr.s.next); }}
        transition accept;
    }}
}}
control V(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {{
    {inner}
    apply {{ {apply} }}
}}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {{ apply {{ }} }}
control U(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control D(packet_out packet, in headers_t hdr) {{ apply {{ packet.emit({{ hdr.x, hdr.s }}); }} }}
V1Switch(P(), V(), I(), E(), U(), D()) main;
"
    )
}

fn carried(text: &str, frame: &[u8]) -> (Verdict, Vec<u8>) {
    let compiled = penstock_rmt_compiler::compile("test.p4", text).unwrap_or_else(|faults| panic!("{faults}"));
    let mut block = Block::default();
    let mut tenant = Tenant::new(compiled.program.into()).expect("there is native code for it");
    tenant.keep_short_frames();
    block.put(0, tenant);
    let mut bytes = frame.to_vec();
    let verdict = block.carry(&mut bytes, &mut 0, Entering::default(), &mut Vec::new());
    (verdict, bytes)
}

/// Bytes of a frame: `x`, the two headers of `s`, and a payload.
const FRAME: [u8; 16] = [1, 2, 3, 4, 10, 11, 12, 13, 20, 21, 22, 23, 0xA0, 0xA1, 0xA2, 0xA3];

/// The bytes of `x` behind ingress; the rest of the frame must be as it was.
fn head(outer: &str, inner: &str, apply: &str) -> [u8; 4] {
    let (verdict, bytes) = carried(&source(outer, inner, apply), &FRAME);
    assert_eq!(verdict, Verdict::Port(0));
    assert_eq!(bytes[4..], FRAME[4..], "{apply}");
    [bytes[0], bytes[1], bytes[2], bytes[3]]
}

fn faults(outer: &str, apply: &str) -> String {
    faults_with(outer, "", apply)
}

fn faults_with(outer: &str, inner: &str, apply: &str) -> String {
    match penstock_rmt_compiler::compile("test.p4", &source(outer, inner, apply)) {
        Ok(_) => panic!("the program has no faults: {apply}"),
        Err(faults) => faults.to_string(),
    }
}

/// Each loop stands once with bounds that are constants, and once with a bound from the frame.
#[test]
fn loops_turn_as_their_conditions_say() {
    for bound in ["4", "hdr.x.d"] {
        let apply = |body: &str| body.replace("BOUND", bound);
        let sum = "hdr.x.a = 0; for (bit<8> i = 1; i <= BOUND; i += 1) { hdr.x.a = hdr.x.a + i; }";
        assert_eq!(head("", "", &apply(sum)), [10, 2, 3, 4]);
        let down = "hdr.x.a = 0; for (bit<8> i = BOUND; i != 0; i = i - 2) hdr.x.a = (hdr.x.a << 4) + i;";
        assert_eq!(head("", "", &apply(down)), [0x42, 2, 3, 4]);
        let never = "for (bit<8> i = 9; i < BOUND; i = i + 1) { hdr.x.a = 0; }";
        assert_eq!(head("", "", &apply(never)), [1, 2, 3, 4]);
        let left = "for (bit<8> i = 0; i < BOUND; i = i + 1) {
                        if (i == 1) { continue; }
                        hdr.x.b = hdr.x.b + 16;
                        if (i == 2) { break; }
                        hdr.x.c = hdr.x.c + i + 1;
                    }";
        assert_eq!(head("", "", &apply(left)), [1, 0x22, 4, 4]);
        let nested = "for (bit<8> i = 0; i < BOUND; i = i + 1) {
                          for (bit<8> j in i .. BOUND) { if (j == 3) { break; } hdr.x.a = hdr.x.a + 1; }
                          hdr.x.b = hdr.x.b + 1;
                      }";
        // 3 + 2 + 1 inner turns, and four outer ones.
        assert_eq!(head("", "", &apply(nested)), [7, 6, 3, 4]);
        let found = apply(
            "bit<8> first(in bit<8> of, in bit<8> most) {
                 for (bit<8> i = 0; i <= most; i = i + 1) { if (i * i >= of) { return i; } }
                 return 255;
             }",
        );
        let found = found.replace("hdr.x.d", "4");
        let most = bound;
        let calls = format!("hdr.x.a = first(9, {most}); hdr.x.b = first(17, {most}); hdr.x.c = 7;");
        assert_eq!(head(&found, "", &calls), [3, 255, 7, 4]);
        let exits = "for (bit<8> i = 0; i < BOUND; i = i + 1) { if (i == 2) { exit; } hdr.x.a = i; } hdr.x.b = 0;";
        assert_eq!(head("", "", &apply(exits)), [1, 2, 3, 4]);
    }
}

#[test]
fn loops_take_ranges_lists_and_stacks() {
    let last = "hdr.x.a = 0; hdr.x.b = 252 + (hdr.x.a); for (bit<8> i in hdr.x.b .. 255) { hdr.x.a = hdr.x.a + 1; }";
    assert_eq!(head("", "", last), [4, 252, 3, 4], "a range ends behind the largest number");
    let signed = "hdr.x.a = 0; for (int<8> i in -1 .. (int<8>)hdr.x.b) { hdr.x.a = hdr.x.a + (bit<8>)i; }";
    assert_eq!(head("", "", signed), [2, 2, 3, 4]);
    let list = "hdr.x.a = 0; for (bit<8> v in (list<bit<8>>){ 7, 30, 5 }) { hdr.x.a = hdr.x.a * 2 + v; }";
    assert_eq!(head("", "", list), [93, 2, 3, 4]);
    let stack = "hdr.x.a = 0; for (bytes_t h in hdr.s) { hdr.x.a = hdr.x.a + h.b; h.b = 0; }";
    assert_eq!(head("", "", stack), [32, 2, 3, 4], "the variable is a copy");
}

/// `for (;;)` has no end. A frame has 65,536 turns in all its loops together.
#[test]
fn a_loop_without_end_ends() {
    let apply = "bit<32> n = 0; for (;;) { n = n + 1; } hdr.x.a = n[23:16]; hdr.x.b = n[15:8]; hdr.x.c = n[7:0];
                 for (bit<8> i = 0; i < hdr.x.d; i = i + 1) { hdr.x.d = 0; }";
    assert_eq!(head("", "", apply), [1, 0, 0, 4]);
    let turns =
        |name: &str, inner: &str| format!("for (bit<8> {name} = 0; {name} < 255; {name} = {name} + 1) {{ {inner} }}");
    let many = turns("i", &turns("j", &turns("k", "hdr.x.a = 0;")));
    assert!(faults("", &many).contains("more than 131072 statements"));
}

#[test]
fn type_parameters_are_those_of_the_call_or_its_arguments() {
    let outer = "T larger<T>(in T a, in T b) { return a < b ? b : a; }
                 struct both<A, B> { A first; B second; }
                 header wrap_t<T> { T inside; }
                 B second<A, B>(in both<A, B> of) { return of.second; }
                 T top<T>(in tuple<T, T> of) { return of[0]; }";
    let apply = "int<8> below = -1; int<8> above = 1;
                 hdr.x.a = (bit<8>)larger(below, above);
                 hdr.x.b = larger<bit<8>>(200, hdr.x.c);
                 both<bit<4>, wrap_t<bit<16>>> pair = { 9, { 0x1234 } };
                 if (pair.second.isValid()) { hdr.x.c = pair.second.inside[7:0]; }
                 both<bit<8>, bit<8>> same = { 1, 77 };
                 hdr.x.d = second<bit<8>, bit<8>>(same);
                 tuple<bit<8>, bit<8>> two = { 5, 6 };
                 hdr.x.a = hdr.x.a + top(two);";
    assert_eq!(head(outer, "", apply), [6, 200, 0x34, 77]);
    assert!(faults(outer, "hdr.x.a = larger(1, 2);").contains("`T` of `larger` does not follow"));
    let endless = "struct longer<T> { longer<tuple<T, T>> next; }";
    assert!(faults(endless, "longer<bit<8>> of;").contains("has more than 4096 letters"));
}

/// Section 8 of the specification: expressions are evaluated from left to right.
#[test]
fn lists_and_arguments_have_the_values_of_their_time() {
    let outer = "bit<8> bump(inout bit<8> value) { value = value + 1; return value; }
                 bit<8> digits(in bit<8> a, in bit<8> b, in bit<8> c) { return a * 100 + b * 10 + c; }
                 struct three { bit<8> one; bit<8> two; bit<8> also; }";
    let list = "bytes_t y = { hdr.x.a, bump(hdr.x.a), bump(hdr.x.a), hdr.x.a }; hdr.x = y;";
    assert_eq!(head(outer, "", list), [1, 2, 3, 3]);
    let record = "three y = { two = hdr.x.b, one = bump(hdr.x.b), also = hdr.x.b };
                  hdr.x.a = y.one; hdr.x.b = y.two; hdr.x.c = y.also;";
    assert_eq!(head(outer, "", record), [3, 2, 3, 4]);
    assert_eq!(head(outer, "", "hdr.x.d = digits(hdr.x.a, bump(hdr.x.a), hdr.x.a); hdr.x.a = 1;"), [1, 2, 3, 122]);
}

#[test]
fn slices_are_places() {
    let outer = "void swap(inout bit<4> a, inout bit<4> b) { bit<4> old = a; a = b; b = old; }
                 void ones(out bit<3> bits) { bits = 7; }";
    let apply = "hdr.x.a = 0xA5; swap(hdr.x.a[7:4], hdr.x.a[3:0]); ones(hdr.x.b[6:4]);
                 hdr.x.c[7:2][4:1][1:0] = 3; hdr.x.d[3:0] += 15;";
    assert_eq!(head(outer, "", apply), [0x5A, 0x72, 0x1B, 3]);
}

#[test]
fn wide_numbers_are_copied_compared_and_sliced() {
    let apply = "bit<300> one = 0; bit<300> two;
                 one[135:128] = 0xC3; one[130:127] = 9; one[299:292] = hdr.x.b;
                 hdr.x.a = one[134:127];
                 two = one;
                 hdr.x.c = two == one ? two[299:292] : 99;
                 two[0:0] = 1;
                 if (two != one) { hdr.x.d = two[7:0]; }";
    // 0xC3 from bit 128 on, of which bits 127 to 130 become 9: bits 134 to 127 are 1000 1001.
    assert_eq!(head("", "", apply), [0x89, 2, 2, 1]);
    // Bit 172 is the lowest one of the part with the highest bits.
    let crossing = "bit<300> one = 0; one[175:168] = 0xB7;
                    hdr.x.a = one[175:168]; hdr.x.b = one[179:172]; hdr.x.c = one[171:164];";
    assert_eq!(head("", "", crossing), [0xB7, 0x0B, 0x70, 4]);
    let integer = "bit<256> one = 0x1_00000000_00000000_00000000_00000000_00000002; hdr.x.a = one[7:0] + one[167:160];";
    assert_eq!(head("", "", integer), [3, 2, 3, 4]);
    assert!(faults("", "bit<256> one = 1; one = one + 1;").contains("operators on values of type `bit<256>`"));
}

#[test]
fn tables_bind_arguments_of_actions() {
    let inner =
        "action both(inout bit<8> to, in bit<8> from, bit<8> more) { to = to + from + more; if (more == 9) { exit; } }
                 action put(out bit<8> to, bit<8> value = 40) { to = value; }
                 table t { key = { hdr.x.b : exact; } actions = { both(hdr.x.a, hdr.x.c); put(hdr.x.d); }
                           const entries = { 2 : both(9); } default_action = put(hdr.x.d, 1); }
                 table u { actions = { put(hdr.x.b); } const default_action = put(hdr.x.b); }";
    assert_eq!(head("", inner, "u.apply(); t.apply();"), [1, 40, 3, 1]);
    assert_eq!(head("", inner, "t.apply(); u.apply();"), [13, 2, 3, 4], "exit comes behind the copy");
    let outer = "action leave(inout standard_metadata_t to) { mark_to_drop(to); }";
    let inner = "table t { actions = { leave(std); } const default_action = leave(std); }";
    assert_eq!(carried(&source(outer, inner, "t.apply();"), &FRAME).0, Verdict::Drop);
    let inner = "action leave(inout standard_metadata_t to) { mark_to_drop(to); }";
    assert_eq!(carried(&source("", inner, "leave(std);"), &FRAME).0, Verdict::Drop);
}

/// Section 14.2.1.4 of the specification, and the annotation of bmv2.
#[test]
fn entries_have_their_priorities() {
    let table = |properties: &str, entries: &str| {
        let inner = format!(
            "action put(bit<8> value) {{ hdr.x.d = value; }}
             table t {{ key = {{ hdr.x.a : ternary; }} actions = {{ put; }} default_action = put(0); {properties}
                       {entries} }}"
        );
        head("", &inner, "t.apply();")[3]
    };
    let entries = "entries = { priority = 20 : 1 : put(1); 1 &&& 3 : put(2); priority = 15 : _ : put(3); }";
    assert_eq!(table("", entries), 1);
    assert_eq!(table("largest_priority_wins = false;", entries), 3);
    assert_eq!(table("largest_priority_wins = false; priority_delta = 5;", &entries.replace("= 20", "= 9")), 1);
    // The second entry has 20 - 10, and then 15 - 10.
    let later = "entries = { priority = 20 : 8 : put(1); 1 &&& 3 : put(2); priority = 15 : 9 : put(3); _ : put(4); }";
    assert_eq!(table("priority_delta = 10;", later), 2);
    let between = "entries = { priority = 20 : 8 : put(1); 1 &&& 3 : put(2); priority = 15 : _ : put(3); }";
    assert_eq!(table("priority_delta = 10;", between), 3);
    assert_eq!(table("priority_delta = 4;", between), 2);
    assert_eq!(table("", "const entries = { _ : put(1); 1 : put(2) @priority(1); 1 &&& 1 : put(3); }"), 1);
    assert_eq!(table("", "const entries = { _ : put(1) @priority(4); 1 : put(2) @priority(3); 1 &&& 1 : put(3); }"), 2);
}

#[test]
fn constants_have_parts_and_lists_a_rest() {
    let outer = "struct pair { bit<8> left; bytes_t right; }
                 const pair P1 = { 9, { 5, 6, 7, 8 } };
                 const tuple<bit<8>, bool> T1 = { 33, true };
                 const bit<8> m = 12;
                 const bool held = static_assert(P1.left == 9, \"the constant\" ++ \" differs\");";
    let apply = "bit<8> m = 1; hdr.x = { P1.right.c, .m, ... }; if (T1[1]) { hdr.x.d = T1[0]; }
                 pair p = { left = m, ... };
                 if (!p.right.isValid()) { hdr.x.c = p.left; }";
    assert_eq!(head(outer, "", apply), [7, 12, 1, 33]);
    let equal = "if (hdr.x == { 1, 2, 3, 4 }) { hdr.x.a = 50; } if (hdr.x != { 1, 2, 3, 4 }) { hdr.x.b = 60; }
                 bytes_t y = {#}; if (y == (bytes_t){#}) { hdr.x.c = 70; } if (y == { 0, 0, 0, 0 }) { hdr.x.d = 80; }";
    assert_eq!(head("", "", equal), [50, 60, 70, 4]);
    let choice = "bytes_t y = hdr.x.a == 1 ? { 9, 8, 7, 6 } : hdr.x; hdr.x = hdr.x.b == 0 ? hdr.x : y;";
    assert_eq!(head("", "", choice), [9, 8, 7, 6]);
    assert!(faults("const bool b = static_assert(1 > 2, \"no\");", "").contains("does not hold: \"no\""));
}

#[test]
fn controls_have_objects_and_defaults() {
    let outer = "control store(inout bit<8> value, in bit<8> add = 1)(register<bit<8>> cells, bit<8> at) {
                     apply { cells.write((bit<32>)at, value + add); cells.read(value, (bit<32>)at); }
                 }
                 bit<8> plus(in bit<8> a, in bit<8> b = 20) { return a + b; }";
    let inner = "register<bit<8>>(4) kept; store(kept, 2) first; store(kept, 3) second;";
    let apply = "first.apply(hdr.x.a); second.apply(hdr.x.b, 5); hdr.x.c = plus(hdr.x.c);
                 kept.read(hdr.x.d, 2); hdr.x.d = hdr.x.d + 1;";
    assert_eq!(head(outer, inner, apply), [2, 7, 23, 3]);
    let outer = "bit<8> bump(inout bit<8> value) { value = value + 1; return value; }";
    let inner = "action hit() { hdr.x.d = 88; } action miss() { hdr.x.d = 11; }
                 table t { key = { hdr.x.a : exact; bump(hdr.x.a) : exact @name(\"bumped\"); }
                           actions = { hit; miss; } const entries = { (1, 2) : hit; } default_action = miss; }";
    assert_eq!(head(outer, inner, "t.apply();"), [2, 2, 3, 88], "a key has the value from before the next one's call");
}

/// A parameter whose type is a control without a body takes each control with these parameters.
#[test]
fn controls_take_controls_of_a_type() {
    let outer = "control work(inout bit<8> value);
                 control change<T>(inout T value);
                 control add(inout bit<8> value)(bit<8> by) { apply { value = value + by; } }
                 control wide(inout bit<16> value) { apply { } }
                 control twice(inout bit<8> value)(work of) { apply { of.apply(value); of.apply(value); } }
                 control once(inout bit<8> value)(change<bit<8>> of) { apply { of.apply(value); } }";
    let inner = "add(3) three; twice(three) a; twice(twice(add(5))) b; once(three) c;";
    let apply = "a.apply(hdr.x.a); b.apply(hdr.x.b); c.apply(hdr.x.c);";
    assert_eq!(head(outer, inner, apply), [7, 22, 6, 4]);
    assert!(faults_with(outer, "twice(wide()) a;", "").contains("mismatched types: `work` is expected"));
    assert!(faults_with(outer, "once(wide()) a;", "").contains("mismatched types: `change<bit<8>>` is expected"));
}

/// A frame that is too short for a lookahead is an error, whatever the program uses of it.
#[test]
fn lookaheads_need_all_their_bits() {
    let port = |statement: &str, frame: &[u8]| {
        let text = format!(
            "#include <core.p4>
#include <v1model.p4>
struct three_t {{ bit<8> first; bit<16> rest; }}
struct headers_t {{ }}
struct meta_t {{ bit<8> seen; }}
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {{
    state start {{ {statement} transition accept; }}
}}
control V(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {{
    apply {{ std.egress_spec = std.parser_error == error.PacketTooShort ? 9w9 : (bit<9>)meta.seen; }}
}}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {{ apply {{ }} }}
control U(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control D(packet_out packet, in headers_t hdr) {{ apply {{ }} }}
V1Switch(P(), V(), I(), E(), U(), D()) main;
"
        );
        carried(&text, frame).0
    };
    for (statement, seen) in [
        ("packet.lookahead<bit<24>>();", 0),
        ("packet.lookahead<three_t>();", 0),
        ("meta.seen = packet.lookahead<three_t>().first;", 5),
        ("three_t three = packet.lookahead<three_t>(); meta.seen = three.first;", 5),
    ] {
        assert_eq!(port(statement, &[5, 6, 7]), Verdict::Port(seen), "{statement}");
        assert_eq!(port(statement, &[5, 6]), Verdict::Port(9), "{statement}");
    }
}

#[test]
fn numbers_divide_by_powers_of_two() {
    let apply = "hdr.x.a = (hdr.x.d + 97) / 8; hdr.x.b = (hdr.x.d + 97) % 8; hdr.x.c = 0 / hdr.x.c; hdr.x.d = 7 % 4;";
    assert_eq!(head("", "", apply), [12, 5, 0, 3]);
    assert!(faults("", "hdr.x.a = hdr.x.b / 3;").contains("by powers of two"));
}

#[test]
fn indices_are_numbers_of_any_kind() {
    let outer = "enum int<4> place { one = 0, two = 1, none = -1 }";
    let apply = "place p = (place)(int<4>)hdr.x.a[3:0]; hdr.x.b = hdr.s[p].a; p = place.none; hdr.x.c = hdr.s[p].a;
                 int<8> i = 0; hdr.x.d = hdr.s[i].d;";
    assert_eq!(head(outer, "", apply), [1, 20, 0, 13]);
}

/// Two varbits are equal if they have the same length and the same bits. Structs in headers, stacks in lookaheads.
#[test]
fn headers_of_parts_and_of_variable_length() {
    let text = "#include <core.p4>
#include <v1model.p4>
struct half_t { bit<4> high; bit<4> low; }
header lead_t { bit<8> length; half_t half; bit<160> wide; }
header tail_t { varbit<32> rest; }
header byte_t { bit<8> value; }
struct headers_t { lead_t lead; tail_t one; tail_t two; }
struct meta_t { bit<8> ahead; }
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    state start {
        bit<144> wide = packet.lookahead<bit<144>>();
        packet.extract<byte_t>(_);
        packet.extract(hdr.lead);
        byte_t[2] next = packet.lookahead<byte_t[2]>();
        verify(wide[135:128] == hdr.lead.length && wide[7:0] == 14, error.NoMatch);
        meta.ahead = next[1].value;
        packet.extract(hdr.one, (bit<32>)hdr.lead.length * 8);
        packet.extract(hdr.two, 16);
        transition accept;
    }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    varbit<32> kept;
    bit<8> beside;
    apply {
        beside = 5;
        kept = hdr.one.rest;
        if (hdr.one.rest == hdr.two.rest) { std.egress_spec = 1; }
        if (hdr.one == hdr.two && kept == hdr.two.rest) { std.egress_spec = std.egress_spec + 2; }
        hdr.lead.half.low = beside[3:0];
        hdr.lead.wide[159:152] = meta.ahead;
        hdr.lead.length = (bit<8>)(hdr.lead.minSizeInBytes() + hdr.one.maxSizeInBytes());
    }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) { apply { } }
control U(inout headers_t hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), U(), D()) main;
";
    let frame = |length: u8, one: &[u8], two: [u8; 2]| {
        let mut frame = vec![0xEE, length, 0x97];
        frame.extend(0..20);
        [&frame[..], one, &two].concat()
    };
    let left = |one: &[u8], two: [u8; 2]| {
        let mut bytes = frame(26, one, two);
        bytes.remove(0);
        (bytes[1], bytes[2]) = (0x95, if one.len() > 1 { one[1] } else { two[0] });
        bytes
    };
    for (one, two, port) in [(&[7, 8][..], [7, 8], 3), (&[7, 8], [7, 9], 0), (&[7], [7, 8], 0), (&[], [0, 0], 0)] {
        let wanted = match one {
            [] => {
                let mut bytes = left(one, two);
                bytes[2] = two[1];
                bytes
            }
            _ => left(one, two),
        };
        assert_eq!(carried(text, &frame(one.len() as u8, one, two)), (Verdict::Port(port), wanted));
    }
}

/// Programs ask for the names that guard the library's files.
#[test]
fn the_library_has_the_names_that_programs_ask_for() {
    let outer = "#ifdef _CORE_P4_
#if defined(_V1_MODEL_P4_) && V1MODEL_VERSION >= 20180101
# 7 \"elsewhere.p4\"
#line 9
@pragma unknown ( to this {{ compiler
const bit<8> given = 66;
#endif
#endif";
    assert_eq!(head(outer, "", "@atomic { hdr.x.a = given; } { hdr.x.b = 1; }"), [66, 1, 3, 4]);
}

#[test]
fn loops_in_actions_and_over_what_they_change() {
    let go = "action go() { for (bit<8> i = 0; i < hdr.x.d; i = i + 1) { hdr.x.a = hdr.x.a + 1; } }";
    assert_eq!(head("", go, "go();"), [5, 2, 3, 4]);
    let bump = "bit<8> bump(inout bit<8> value) { value = value + 1; return value; }";
    let range = "hdr.x.d = 0; for (bit<8> i in hdr.x.a .. bump(hdr.x.a)) { hdr.x.d = hdr.x.d + 1; }";
    assert_eq!(head(bump, "", range), [2, 2, 3, 2], "the lower bound is the one from before the call");
    let list = "hdr.x.d = 0; for (bit<8> v in { hdr.x.a, hdr.x.b }) { hdr.x.b = 9; hdr.x.d = hdr.x.d + v; }";
    assert_eq!(head("", "", list), [1, 9, 3, 3]);
    let stack = "hdr.x.a = 0; for (bytes_t h in hdr.s) { hdr.x.a = hdr.x.a + h.a; hdr.s[1].a = 1; } hdr.s[1].a = 20;";
    assert_eq!(head("", "", stack), [30, 2, 3, 4]);
    let long = "bit<16> n = 0; for (bit<16> i in 0 .. 299) { n = n + 1; } hdr.x.a = n[15:8]; hdr.x.b = n[7:0];";
    assert_eq!(head("", "", long), [1, 0x2C, 3, 4]);
    assert_eq!(head("", "", "for (bit<8> i; i < 3; i = i + 1) { hdr.x.a = i; }"), [2, 2, 3, 4]);
    let wide = faults("", "for (bit<8> i in (bit<16>)1 .. (bit<16>)2) { hdr.x.a = i; }");
    assert!(wide.contains("mismatched types: `bit<8>` is expected"), "{wide}");
}

#[test]
fn turns_choose_elements_of_stacks() {
    let guarded = "for (bit<8> i in 0 .. 3) { if (i < 2) { hdr.s[i].a = hdr.s[i].a; hdr.x.a = i; } }";
    assert_eq!(head("", "", guarded), [1, 2, 3, 4]);
    let beyond = "hdr.x.a = 0; for (bit<8> i in 1 .. 2) { hdr.x.a = hdr.x.a + hdr.s[i].b; hdr.s[i].b = 21; }";
    assert_eq!(head("", "", beyond), [21, 2, 3, 4], "behind the end, fields read as 0 and nothing is written");
    assert!(faults("", "for (bit<8> i in 0 .. 3) { hdr.s[2].a = i; }").contains("the stack has 2 elements"));
    let next = "bit<1> next(inout bit<8> v) { v = v + 1; return v[0:0]; }";
    let target = "for (bit<8> i = 0; i < 4; i = i + 1) { hdr.s[next(i)].a = hdr.s[0].a; hdr.x.a = i; }
                  hdr.s[0].a = 10; hdr.s[1].a = 20;";
    assert_eq!(head(next, "", target), [3, 2, 3, 4]);
}

#[test]
fn bodies_without_turns_are_checked() {
    assert!(faults("", "for (bit<8> i in 5 .. 2) { unknown = 1; }").contains("there is no `unknown`"));
    assert!(faults("", "for (bit<8> i = 0; i < 0; i = i + 1) { hdr.x.zz = 1; }").contains("no field `zz`"));
    let plain = "for (bit<8> i in 5 .. 2) { if (i == 5) { break; } hdr.x.a = hdr.s[i].a + (bit<8>)i[7:1]; }";
    assert_eq!(head("", "", plain), [1, 2, 3, 4]);
}

#[test]
fn default_values_are_constants_of_their_declaration() {
    let outer = "const bit<8> m = 12; bit<8> plus(in bit<8> a, in bit<8> b = m) { return a + b; }";
    assert_eq!(head(outer, "", "bit<8> m = 100; hdr.x.a = plus(1); hdr.x.b = plus(b = m, a = 1);"), [13, 101, 3, 4]);
    assert!(faults(outer, "hdr.x.a = plus(a = 1, zz = 100);").contains("`plus` has no parameter `zz`"));
    assert!(faults(outer, "hdr.x.a = plus(a = 1, a = 2);").contains("the argument `a` is given twice"));
    assert!(faults(outer, "hdr.x.a = plus(1, b = 2);").contains("this one has none"));
    let inner = "action add(bit<8> by = hdr.x.b) { hdr.x.a = by; }";
    assert!(faults_with("", inner, "add();").contains("not a constant"));
}

#[test]
fn sides_of_comparisons_are_evaluated_from_the_left() {
    let outer = "bit<8> bump(inout bit<8> v) { v = v + 1; return v; }
                 bytes_t more(inout bytes_t h) { h.b = h.b + 1; return h; }
                 bytes_t gone(inout bytes_t h) { h.setInvalid(); return h; }";
    let list = "if (hdr.x == { 1, bump(hdr.x.b), 3, 4 }) { hdr.x.d = 9; }";
    assert_eq!(head(outer, "", list), [1, 3, 3, 4]);
    assert_eq!(head(outer, "", "if (hdr.x == more(hdr.x)) { hdr.x.d = 9; }"), [1, 3, 3, 4]);
    assert_eq!(head(outer, "", "bytes_t y = hdr.x; if (y == gone(y)) { hdr.x.d = 9; }"), [1, 2, 3, 4]);
}

#[test]
fn local_varbits_are_compared() {
    let apply = "varbit<32> v; bit<64> k = 0x1122334455667788; varbit<32> w; if (v == w) { hdr.x.a = k[7:0]; }";
    assert_eq!(head("", "", apply), [0x88, 2, 3, 4]);
}

#[test]
fn arguments_in_lists_of_actions_are_those_of_their_parameters() {
    let put = "action put(out bit<8> to, bit<8> value = 40) { to = value; }";
    let entries = format!(
        "{put} table t {{ key = {{ hdr.x.b : exact; }} actions = {{ put(hdr.x.d); NoAction; }}
                           const entries = {{ 2 : put(7); }} default_action = NoAction; }}"
    );
    assert_eq!(head("", &entries, "t.apply();"), [1, 2, 3, 7], "an entry gives `value`");
    let named = "action both(inout bit<8> to, in bit<8> from) { to = from + 10; }
                 table t { actions = { both(from = hdr.x.c, to = hdr.x.a); }
                           const default_action = both(to = hdr.x.a, from = hdr.x.c); }";
    assert_eq!(head("", named, "t.apply();"), [13, 2, 3, 4]);
    let other = format!("{put} table t {{ actions = {{ put(hdr.x.a); }} const default_action = put(hdr.x.b, 9); }}");
    assert!(faults_with("", &other, "t.apply();").contains("`to` has another argument in `actions`"));
    let twice = format!(
        "{put} table t {{ actions = {{ put(hdr.x.a); put(hdr.x.b); }} const default_action = put(hdr.x.b, 9); }}"
    );
    assert!(faults_with("", &twice, "t.apply();").contains("the table has this action already"));
    let two = "action two(inout bit<8> a, inout bit<8> b) { a = a + 1; b = b + 1; }";
    let table = "table t { actions = { two(hdr.x.a, hdr.x.a); } const default_action = two(hdr.x.a, hdr.x.a); }";
    assert_eq!(head(two, table, "t.apply();"), [2, 2, 3, 4]);
    assert_eq!(head(two, table, "two(hdr.x.a, hdr.x.a);"), [2, 2, 3, 4]);
}

/// A controller sees one action, whatever arguments tables give it.
#[test]
fn an_action_with_several_arguments_has_one_number() {
    let inner = "action put(out bit<8> to, bit<8> value) { to = value; }
                 table t { actions = { put(hdr.x.a); } const default_action = put(hdr.x.a, 8); }
                 table u { actions = { put(hdr.x.b); } const default_action = put(hdr.x.b, 9); }";
    assert_eq!(head("", inner, "t.apply(); u.apply();"), [8, 9, 3, 4]);
    let compiled = penstock_rmt_compiler::compile("test.p4", &source("", inner, "t.apply(); u.apply();"));
    let compiled = compiled.unwrap_or_else(|faults| panic!("{faults}"));
    let ids: Vec<u32> =
        compiled.program.actions.iter().filter(|of| of.name == "I.put").map(|action| action.id).collect();
    assert!(ids.len() == 2 && ids[0] == ids[1], "{ids:?}");
}

#[test]
fn what_no_program_may_say_has_messages() {
    let table = "action put(bit<8> v) { hdr.x.d = v; }
                 table t { key = { hdr.x.a : ternary; } actions = { put; } default_action = put(0);
                           entries = { 1 : put(1); priority = 5 : _ : put(2); } }";
    assert!(faults_with("", table, "t.apply();").contains("the first entry has no priority"));
    let store = |cells: &str| {
        format!(
            "control st(inout bit<8> value)(register<{cells}> cells) {{ apply {{ {cells} z; cells.read(z, 1); }} }}"
        )
    };
    let counter = "counter(4, CounterType.packets) k; st(k) one;";
    assert!(faults_with(&store("bit<8>"), counter, "one.apply(hdr.x.a);").contains("`register<bit<8>>` is expected"));
    let narrow = "register<bit<8>>(4) k; st(k) one;";
    assert!(faults_with(&store("bit<16>"), narrow, "one.apply(hdr.x.a);").contains("`register<bit<16>>` is expected"));
    assert!(faults("", "hdr.x = { ..., 2, 3, 4 };").contains("`...` stands behind the other values"));
    let doubled = |first: &str, of: &dyn Fn(usize) -> String| {
        (1..40).map(of).fold(format!("{first} T0;"), |text, more| text + &more)
    };
    let tuples = doubled("typedef bit<8>", &|n| format!("typedef tuple<T{0}, T{0}> T{n};\n", n - 1));
    assert!(faults(&tuples, "").contains("more than 4096 parts"));
    let pairs = doubled("typedef bit<8>", &|n| format!("typedef P<T{0}, T{0}> T{n};\n", n - 1));
    assert!(faults(&format!("struct P<A, B> {{ A a; B b; }} {pairs}"), "").contains("more than 4096 letters"));
}

#[test]
fn wide_numbers_are_constants() {
    let outer = "const bit<256> X = 5;";
    let apply =
        "bit<256> y = X; if (y == 5) { hdr.x.a = y[7:0]; } if (y != 5) { hdr.x.b = 0; } if (6 == y) { hdr.x.c = 0; }";
    assert_eq!(head(outer, "", apply), [5, 2, 3, 4]);
}
