// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// Longest prefixes of keys that the program computes: right ahead of the table, and in a table ahead of it.
#include <core.p4>
#include <v1model.p4>

header ask_t {
    bit<32> a;
    bit<32> b;
    bit<8>  how;
    bit<8>  found;
}
struct headers { ask_t ask; }
struct metadata { bit<32> key; }

parser Parse(packet_in b, out headers hdr, inout metadata meta, inout standard_metadata_t std) {
    state start {
        b.extract(hdr.ask);
        transition accept;
    }
}
control Verify(inout headers hdr, inout metadata meta) { apply {} }
control In(inout headers hdr, inout metadata meta, inout standard_metadata_t std) {
    action difference() { meta.key = hdr.ask.a - hdr.ask.b; }
    action either() { meta.key = hdr.ask.a | hdr.ask.b; }
    action found(bit<8> what) { hdr.ask.found = what; }
    table how {
        key = { hdr.ask.how: exact; }
        actions = { difference; either; NoAction; }
        default_action = NoAction();
        size = 4;
    }
    table routes {
        key = { meta.key: lpm; }
        actions = { found; NoAction; }
        default_action = NoAction();
        size = 128;
    }
    apply {
        std.egress_spec = 1;
        meta.key = hdr.ask.a + hdr.ask.b;
        how.apply();
        routes.apply();
    }
}
control Out(inout headers hdr, inout metadata meta, inout standard_metadata_t std) { apply {} }
control Compute(inout headers hdr, inout metadata meta) { apply {} }
control Deparse(packet_out b, in headers hdr) { apply { b.emit(hdr.ask); } }

V1Switch(Parse(), Verify(), In(), Out(), Compute(), Deparse()) main;
