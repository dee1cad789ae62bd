#include <v1model.p4>
header byte_t { bit<8> a; bit<8> b; bit<8> c; }
struct headers_t { byte_t x; byte_t[2] s; }
struct meta_t { bit<8> m; }
bit<8> plus(in bit<8> a, in bit<8> b = 4) { return a + b; }
control st(inout bit<8> value)(register<bit<16>> cells) { apply { } }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t std) {
    register<bit<8>>(4) narrow;
    counter(4, CounterType.packets) seen;
    st(narrow) one;
    st(seen) two;
    action add(bit<8> by = h.x.b) { h.x.a = by; }
    action put(out bit<8> to, bit<8> value) { to = value; }
    action set(bit<8> value) { h.x.c = value; }
    table moved { actions = { put(h.x.a); } const default_action = put(h.x.b, 9); }
    table twice { actions = { put(h.x.a); put(h.x.b); } const default_action = put(h.x.b, 9); }
    table named { actions = { put(from = h.x.a); } const default_action = put(h.x.a, 9); }
    table first {
        key = { h.x.a : ternary; }
        actions = { set; }
        default_action = set(0);
        entries = { 1 : set(1); priority = 5 : _ : set(2); }
    }
    apply {
        h.x.a = plus(a = 1, zz = 100);
        h.x.a = plus(a = 1, a = 2);
        h.x.a = plus(1, b = 2);
        add();
        h.x = { ..., 2, 3 };
        for (bit<8> i in 5 .. 2) { unknown = 1; }
        for (bit<8> i in (bit<16>)1 .. (bit<16>)2) { h.x.a = i; }
        for (bit<8> i in 0 .. 3) { h.s[2].a = i; }
    }
}
parser P(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t std) {
    state start { p.extract(h.x); transition accept; }
}
control V(inout headers_t h, inout meta_t m) { apply { } }
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t std) { apply { } }
control C(inout headers_t h, inout meta_t m) { apply { } }
control D(packet_out p, in headers_t h) { apply { p.emit(h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
