// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// Source routing: a frame brings the ports that it wants to leave at, one for each hop. Each switch takes the first hop
// off, and the last one gives the frame back the type of what it carries, IPv4. Frames without a route are dropped.
#include <core.p4>
#include <v1model.p4>

const bit<16> TYPE_IPV4 = 0x0800;
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

header hop_t {
    bit<1>  last;
    bit<15> port;
    bit<16> unused;
}

struct headers_t {
    ethernet_t ethernet;
    vlan_t     vlan;
    hop_t[4]   hops; // a switch looks at the first one only: routes may be longer
}

struct metadata_t { }

parser SourceRoutingParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_VLAN: vlan;
            TYPE_ROUTE: hops;
            default: accept;
        }
    }

    state vlan {
        packet.extract(hdr.vlan);
        transition select(hdr.vlan.type) {
            TYPE_ROUTE: hops;
            default: accept;
        }
    }

    state hops {
        packet.extract(hdr.hops.next);
        transition select(hdr.hops.last.last) {
            1: accept;
            default: hops;
        }
    }
}

control SourceRoutingVerify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control SourceRoutingIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    counter(2, CounterType.packets_and_bytes) hops; // those in between, last ones

    apply {
        if (hdr.hops[0].isValid()) {
            standard_metadata.egress_spec = (bit<9>)hdr.hops[0].port;
            hops.count((bit<32>)hdr.hops[0].last);
            if (hdr.hops[0].last == 1) {
                if (hdr.vlan.isValid()) {
                    hdr.vlan.type = TYPE_IPV4;
                } else {
                    hdr.ethernet.type = TYPE_IPV4;
                }
            }
            hdr.hops.pop_front(1);
        } else {
            mark_to_drop(standard_metadata);
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
