// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// Clones frames that an entry chooses, as they came. With OF_EGRESS it clones them as they leave. The frame itself goes to
// the port that it names, with another type and a counted byte; port 255 drops it. A frame with the flag is longer.
#include <core.p4>
#include <v1model.p4>

header eth_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header ask_t {
    bit<16> key;
    bit<8>  port;
    bit<8>  count;
}

header more_t {
    bit<32> value;
}

struct headers {
    eth_t  eth;
    more_t more;
    ask_t  ask;
}

struct metadata {
    bit<16> session;
}

parser Parse(packet_in b, out headers hdr, inout metadata meta, inout standard_metadata_t std) {
    state start {
        b.extract(hdr.eth);
        b.extract(hdr.ask);
        transition accept;
    }
}

control Verify(inout headers hdr, inout metadata meta) { apply { } }

control In(inout headers hdr, inout metadata meta, inout standard_metadata_t std) {
    action watch(bit<32> session) {
#ifdef OF_EGRESS
        meta.session = (bit<16>)session;
#else
        clone_preserving_field_list(CloneType.I2E, session, 1);
#endif
    }
    table watched {
        key = { hdr.ask.key: exact; }
        actions = { watch; NoAction; }
        size = 64;
    }

    apply {
        watched.apply();
        std.egress_spec = (bit<9>)hdr.ask.port;
        if (hdr.ask.port == 255) {
            mark_to_drop(std);
        }
        hdr.ask.count = hdr.ask.count + 1;
        if (hdr.eth.type == 0x1234) {
            hdr.more.setValid();
            hdr.more.value = 0xA1B2C3D4;
        }
    }
}

control Eg(inout headers hdr, inout metadata meta, inout standard_metadata_t std) {
    apply {
        if (std.instance_type == 0) {
            hdr.eth.type = 0x9999;
#ifdef OF_EGRESS
            clone(CloneType.E2E, (bit<32>)meta.session);
#endif
        }
    }
}

control Update(inout headers hdr, inout metadata meta) { apply { } }
control Deparse(packet_out b, in headers hdr) {
    apply {
        b.emit(hdr.eth);
        b.emit(hdr.more);
        b.emit(hdr.ask);
    }
}

V1Switch(Parse(), Verify(), In(), Eg(), Update(), Deparse()) main;
