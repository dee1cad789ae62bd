// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// Source routing: a frame brings the ports that it wants to leave at, one for each hop, and the number of the hop that
// is next. Frames whose route has ended, and those without one, are dropped.
#include <core.p4>
#include <v1model.p4>

const bit<16> TYPE_VLAN = 0x8100;
const bit<16> TYPE_ROUTE = 0x1237;

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

header route_t {
    bit<8> next;
    bit<8> hops;
    bit<8> port0;
    bit<8> port1;
    bit<8> port2;
    bit<8> port3;
    bit<16> unused;
}

struct headers_t {
    ethernet_t ethernet;
    vlan_t     vlan;
    route_t    route;
}

struct metadata_t { }

parser SourceRoutingParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_VLAN: vlan;
            TYPE_ROUTE: route;
            default: accept;
        }
    }

    state vlan {
        packet.extract(hdr.vlan);
        transition select(hdr.vlan.type) {
            TYPE_ROUTE: route;
            default: accept;
        }
    }

    state route {
        packet.extract(hdr.route);
        transition accept;
    }
}

control SourceRoutingVerify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control SourceRoutingIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    counter(4, CounterType.packets_and_bytes) hops;

    action drop() {
        mark_to_drop(standard_metadata);
    }

    action hop0() {
        standard_metadata.egress_spec = (bit<9>)hdr.route.port0;
        hdr.route.next = 1;
        hops.count(0);
    }

    action hop1() {
        standard_metadata.egress_spec = (bit<9>)hdr.route.port1;
        hdr.route.next = 2;
        hops.count(1);
    }

    action hop2() {
        standard_metadata.egress_spec = (bit<9>)hdr.route.port2;
        hdr.route.next = 3;
        hops.count(2);
    }

    action hop3() {
        standard_metadata.egress_spec = (bit<9>)hdr.route.port3;
        hdr.route.next = 4;
        hops.count(3);
    }

    table steps {
        key = { hdr.route.next: exact; hdr.route.hops: range; }
        actions = { hop0; hop1; hop2; hop3; drop; }
        const default_action = drop();
        const entries = {
            (0, 1 .. 4): hop0();
            (1, 2 .. 4): hop1();
            (2, 3 .. 4): hop2();
            (3, 4 .. 4): hop3();
        }
    }

    apply {
        if (hdr.route.isValid()) {
            steps.apply();
        } else {
            drop();
        }
    }
}

control SourceRoutingEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control SourceRoutingUpdate(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control SourceRoutingDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(SourceRoutingParser(), SourceRoutingVerify(), SourceRoutingIngress(), SourceRoutingEgress(), SourceRoutingUpdate(), SourceRoutingDeparser()) main;
