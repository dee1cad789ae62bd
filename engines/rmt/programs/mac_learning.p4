// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// A switch that learns: a frame whose source is not known at its port becomes a message to the controller, which then adds
// entries to both tables. Frames to unknown addresses leave at all ports of group 1 but the one that they came from.
#include <core.p4>
#include <v1model.p4>

const bit<16> ALL_PORTS = 1;

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

struct headers_t {
    ethernet_t ethernet;
}

struct metadata_t {
    bit<9> port; // at which the frame came
}

struct learn_t {
    bit<48> address;
    bit<9>  port;
}

parser LearningParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control LearningVerify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control LearningIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    action learn() {
        digest<learn_t>(1, { hdr.ethernet.src, standard_metadata.ingress_port });
    }

    // Addresses and the ports at which they were seen; the controller removes those that are idle.
    table sources {
        key = {
            hdr.ethernet.src: exact;
            meta.port: exact;
        }
        actions = { NoAction; learn; }
        const default_action = learn();
        size = 1024;
        support_timeout = true;
    }

    action forward(bit<9> port) {
        standard_metadata.egress_spec = port;
    }

    action flood() {
        standard_metadata.mcast_grp = ALL_PORTS;
    }

    table destinations {
        key = { hdr.ethernet.dst: exact; }
        actions = { forward; flood; }
        const default_action = flood();
        size = 1024;
    }

    apply {
        // A card in hardware has a key's bits side by side, and this one's only in metadata.
        meta.port = standard_metadata.ingress_port;
        // The first bit of an address on the wire marks groups, which are no source (IEEE 802).
        if (hdr.ethernet.src[40:40] == 0) {
            sources.apply();
        }
        destinations.apply();
    }
}

control LearningEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (standard_metadata.egress_port == standard_metadata.ingress_port) {
            mark_to_drop(standard_metadata);
        }
    }
}

control LearningUpdate(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control LearningDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(LearningParser(), LearningVerify(), LearningIngress(), LearningEgress(), LearningUpdate(), LearningDeparser()) main;
