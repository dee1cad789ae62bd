// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// What the Rust tests ask of single statements. A frame leaves at the port with the number of the
// parser's error.
#include <core.p4>
#include <v1model.p4>

header first_t {
    bit<8>   kind;
    bit<8>   length;
    bit<128> wide;
}

// As long as the first header, whose place it takes.
header other_t {
    bit<128> wide;
    bit<16>  rest;
}

header long_t {
    varbit<64> data;
    bit<4>     above;
    bit<8>     inside;
    bit<4>     below;
}

struct headers_t {
    first_t first;
    other_t other;
    long_t  long;
}

struct metadata_t { }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.first);
        transition select(hdr.first.kind) {
            9: again;
            default: long;
        }
    }

    state again {
        packet.advance(0);
        transition again;
    }

    state long {
        packet.extract(hdr.long, (bit<32>)hdr.first.length);
        transition accept;
    }
}

control V(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action set(bit<8> mark, bit<128> value) {
        hdr.first.wide = value;
        hdr.long.inside = mark;
    }

    action stop() {
        exit;
    }

    action replace() {
        hdr.first.setInvalid();
        hdr.other.setValid();
        hdr.other.wide = 1;
        hdr.other.rest = 0xABCD;
    }

    action leave() { }

    table kinds {
        key = { hdr.first.kind: exact; }
        actions = { set; stop; replace; leave; }
        default_action = leave();
    }

    apply {
        std.egress_spec = 0;
        if (std.parser_error == error.PacketTooShort) std.egress_spec = 1;
        if (std.parser_error == error.HeaderTooShort) std.egress_spec = 4;
        if (std.parser_error == error.ParserTimeout) std.egress_spec = 5;
        if (std.parser_error == error.ParserInvalidArgument) std.egress_spec = 6;
        switch (kinds.apply().action_run) {
            set: { hdr.first.length = hdr.first.length | 0x40; }
            leave: { hdr.first.length = hdr.first.length | 0x80; }
            default: { hdr.first.length = hdr.first.length | 0x20; }
        }
        hdr.first.kind = 0xEE;
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { }
}

control U(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control D(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(P(), V(), I(), E(), U(), D()) main;
