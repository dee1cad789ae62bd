// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// A table with every kind of key, a table without keys, a register, and counters of both kinds.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8>  a;
    bit<32> b;
    bit<16> c;
    bit<16> d;
    bit<9>  e;
    bit<7>  rest;
}

struct headers_t { h_t h; }
struct metadata_t { }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}

control V(inout headers_t hdr, inout metadata_t meta) { apply { } }

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    register<bit<48>>(4) last;
    counter(8, CounterType.packets) seen;
    direct_counter(CounterType.packets_and_bytes) hits;

    action drop() { mark_to_drop(standard_metadata); }
    action to(bit<9> port, bit<16> mark) {
        standard_metadata.egress_spec = port;
        hdr.h.c = mark;
        seen.count((bit<32>)port);
        last.write(0, 7);
    }

    table all {
        key = {
            hdr.h.a: exact;
            hdr.h.c: ternary;
            hdr.h.d: range;
            hdr.h.e: optional;
        }
        actions = { to; drop; @defaultonly NoAction; }
        default_action = NoAction();
        counters = hits;
        size = 64;
    }

    @id(77) table routes {
        key = { hdr.h.b: lpm @name("dst"); }
        actions = { to; @tableonly drop; }
        const default_action = to(1, 2);
    }

    apply {
        all.apply();
        routes.apply();
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) { apply { } }
control U(inout headers_t hdr, inout metadata_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }

V1Switch(P(), V(), I(), E(), U(), D()) main;
