// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// A sequencer: requests of a chain get the next number of the chain and leave at the port of its head. Each chain has a
// number of its own, in a register. Requests of chains that nobody has set up, and all other frames, are dropped.
#include <core.p4>
#include <v1model.p4>

const bit<16> TYPE_VLAN = 0x8100;
const bit<16> TYPE_CHAIN = 0x1235;

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header vlan_t {
    bit<3>  priority;
    bit<1>  drop_eligible;
    bit<12> id;
    bit<16> type;
}

// The client's message; the switch fills in the number.
header chain_t {
    bit<16> id;
    bit<16> unused;
    bit<32> number;
}

struct headers_t {
    ethernet_t ethernet;
    vlan_t     vlan;
    chain_t    chain;
}

struct metadata_t { }

parser NetchainParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_VLAN: vlan;
            TYPE_CHAIN: chain;
            default: accept;
        }
    }

    state vlan {
        packet.extract(hdr.vlan);
        transition select(hdr.vlan.type) {
            TYPE_CHAIN: chain;
            default: accept;
        }
    }

    state chain {
        packet.extract(hdr.chain);
        transition accept;
    }
}

control NetchainVerify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control NetchainIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    register<bit<32>>(256) numbers;
    direct_counter(CounterType.packets) requests;

    action drop() {
        mark_to_drop(standard_metadata);
    }

    action sequence(bit<8> index, bit<9> port) {
        bit<32> number;
        numbers.read(number, (bit<32>)index);
        number = number + 1;
        numbers.write((bit<32>)index, number);
        hdr.chain.number = number;
        standard_metadata.egress_spec = port;
    }

    table chains {
        key = { hdr.chain.id: exact; }
        actions = { sequence; drop; }
        default_action = drop();
        counters = requests;
        size = 64;
    }

    apply {
        if (hdr.chain.isValid()) {
            chains.apply();
        } else {
            drop();
        }
    }
}

control NetchainEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control NetchainUpdate(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control NetchainDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(NetchainParser(), NetchainVerify(), NetchainIngress(), NetchainEgress(), NetchainUpdate(), NetchainDeparser()) main;
