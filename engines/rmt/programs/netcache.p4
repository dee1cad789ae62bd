// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// A cache in front of a server at the other port: it answers a request for a cached key with the value, at the
// request's port; a write changes the value here and goes on to the server. All other frames go on as well. The table
// has the cached keys and their places; each counts its requests.
#include <core.p4>
#include <v1model.p4>

const bit<16> TYPE_VLAN = 0x8100;
const bit<16> TYPE_CACHE = 0x1236;
const bit<8> OP_GET = 1;
const bit<8> OP_PUT = 2;
const bit<8> OP_VALUE = 3;

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

header cache_t {
    bit<8>  op;
    bit<24> unused;
    bit<32> key;
    bit<32> value;
}

struct headers_t {
    ethernet_t ethernet;
    vlan_t     vlan;
    cache_t    cache;
}

struct metadata_t { }

parser NetcacheParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_VLAN: vlan;
            TYPE_CACHE: cache;
            default: accept;
        }
    }

    state vlan {
        packet.extract(hdr.vlan);
        transition select(hdr.vlan.type) {
            TYPE_CACHE: cache;
            default: accept;
        }
    }

    state cache {
        packet.extract(hdr.cache);
        transition accept;
    }
}

control NetcacheVerify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control NetcacheIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    register<bit<32>>(1024) values;
    direct_counter(CounterType.packets) requests;

    action get(bit<10> index) {
        values.read(hdr.cache.value, (bit<32>)index);
        hdr.cache.op = OP_VALUE;
        standard_metadata.egress_spec = standard_metadata.ingress_port;
    }

    action put(bit<10> index) {
        values.write((bit<32>)index, hdr.cache.value);
    }

    table cached {
        key = { hdr.cache.op: exact; hdr.cache.key: exact; }
        actions = { get; put; NoAction; }
        default_action = NoAction();
        counters = requests;
        size = 256;
    }

    apply {
        standard_metadata.egress_spec = standard_metadata.ingress_port ^ 1;
        if (hdr.cache.isValid()) {
            cached.apply();
        }
    }
}

control NetcacheEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control NetcacheUpdate(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control NetcacheDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(NetcacheParser(), NetcacheVerify(), NetcacheIngress(), NetcacheEgress(), NetcacheUpdate(), NetcacheDeparser()) main;
