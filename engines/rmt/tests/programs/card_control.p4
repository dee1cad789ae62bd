// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// Of each kind of object that a controller can set on a card in hardware one, under the names of control.p4, for the same
// jobs of controllers. Frames begin with four bytes: the operation, two arguments, and a byte for the answer.
#include <core.p4>
#include <v1model.p4>

const bit<9> CONTROLLER = 510;

@controller_header("packet_in")
header in_t {
    bit<9> port;
    bit<7> kind;
}

// Headers behind it begin at multiples of four bytes.
@controller_header("packet_out")
header out_t {
    bit<9> port;
    @padding bit<23> pad;
}

header op_t {
    bit<8> op;
    bit<8> key;
    bit<8> flow;
    bit<8> result;
}

struct learn_t {
    bit<8> key;
    bit<9> port;
}

struct headers {
    in_t  to;
    out_t from;
    op_t  op;
}

struct metadata { }

parser Parse(packet_in b, out headers hdr, inout metadata meta, inout standard_metadata_t std) {
    state start {
        transition select(std.ingress_port) {
            CONTROLLER: outgoing;
            default: plain;
        }
    }
    state outgoing {
        b.extract(hdr.from);
        transition plain;
    }
    state plain {
        b.extract(hdr.op);
        transition accept;
    }
}

control Verify(inout headers hdr, inout metadata meta) { apply { } }

control In(inout headers hdr, inout metadata meta, inout standard_metadata_t std) {
    meter(4, MeterType.packets) police;
    direct_meter<bit<8>>(MeterType.packets) of_entry;
    direct_counter(CounterType.packets_and_bytes) hits;

    action answer(bit<8> value) { hdr.op.result = value; }
    action colored() { of_entry.read(hdr.op.result); }

    table known {
        key = { hdr.op.key: exact; }
        actions = { answer; NoAction; }
        counters = hits;
        size = 128;
    }
    table metered {
        key = { hdr.op.key: exact; }
        actions = { colored; NoAction; }
        meters = of_entry;
        size = 128;
    }

    apply {
        std.egress_spec = std.ingress_port;
        if (hdr.from.isValid()) {
            std.egress_spec = hdr.from.port;
        } else if (hdr.op.op == 1) {
            hdr.to.setValid();
            hdr.to.port = std.ingress_port;
            hdr.to.kind = (bit<7>)hdr.op.key;
            std.egress_spec = CONTROLLER;
        }
        if (hdr.op.op == 2) {
            digest<learn_t>(1, { hdr.op.key, std.ingress_port });
        }
        if (hdr.op.op == 8) {
            std.mcast_grp = (bit<16>)hdr.op.key;
        }
        if (hdr.op.op == 9) {
            clone(CloneType.I2E, (bit<32>)hdr.op.key);
        }
        if (hdr.op.op == 3) {
            known.apply();
        }
        if (hdr.op.op == 4) {
            police.execute_meter((bit<32>)hdr.op.key, hdr.op.result);
        }
        if (hdr.op.op == 5) {
            metered.apply();
        }
    }
}

control Eg(inout headers hdr, inout metadata meta, inout standard_metadata_t std) { apply { } }
control Update(inout headers hdr, inout metadata meta) { apply { } }
control Deparse(packet_out b, in headers hdr) {
    apply {
        b.emit(hdr.to);
        b.emit(hdr.op);
    }
}

V1Switch(Parse(), Verify(), In(), Eg(), Update(), Deparse()) main;
