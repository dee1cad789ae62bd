// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
#include <core.p4>
#include <v1model.p4>
header byte_t { bit<8> value; }
struct pair<A, B> { A first; B second; }
struct headers_t { byte_t byte; byte_t[2] more; }
struct meta_t { bit<8> m; }
T same<T>(in T value, in bit<8> other) { return value; }
parser P(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t std) {
    state start {
        p.extract(h.byte);
        for (bit<8> i = 0; i < h.byte.value; i = i + 1) { m.m = m.m + i; }
        for (bit<8> i in 0 .. 1) { if (h.byte.value == i) { break; } }
        for (bit<16> i in 0 .. 1000) { m.m = 0; }
        p.extract(_);
        transition accept;
    }
}
control V(inout headers_t h, inout meta_t m) { apply { } }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t std) {
    apply {
        break;
        for (bit<8> i in m) { m.m = i; }
        pair<bit<8>> one;
        m.m = same(1, 2);
        m.m = same<bit<8>, bit<8>>(1, 2);
        tuple<bit<8>, bit<8>> two = { 1, ... };
        m.m = two[2];
        m.m = ...;
        bit<200> wide = h.byte.value;
    }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t std) { apply { } }
control U(inout headers_t h, inout meta_t m) { apply { } }
control D(packet_out p, in headers_t h) { apply { p.emit(h.byte); } }
V1Switch(P(), V(), I(), E(), U(), D()) main;
