// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// Polices customers by their sources, and classes of traffic by an indirect meter: red frames are dropped, and both colors
// of the others stand in a byte of the address of Ethernet.
#include <core.p4>
#include <v1model.p4>

header eth_t { bit<32> to; bit<8> customer; bit<8> class; bit<48> from; bit<16> type; }
header ip_t { bit<8> version; bit<8> tos; bit<16> length; bit<64> rest; bit<32> source; bit<32> target; }
header vlan_t { bit<16> tag; bit<16> type; }
struct headers_t { eth_t eth; vlan_t vlan; ip_t ip; }
struct meta_t { bit<8> own; bit<8> shared; }

parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    state start {
        b.extract(hdr.eth);
        transition select(hdr.eth.type) { 0x8100: vlan; default: accept; }
    }
    state vlan {
        b.extract(hdr.vlan);
        transition select(hdr.vlan.type) { 0x0800: ip; default: accept; }
    }
    state ip { b.extract(hdr.ip); transition accept; }
}

control V(inout headers_t hdr, inout meta_t meta) { apply { } }

control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    direct_meter<bit<8>>(MeterType.bytes) of_customer;
    direct_counter(CounterType.packets) frames;
    meter(4, MeterType.packets) of_class;
    action police() { of_customer.read(meta.own); }
    action other() { of_customer.read(meta.own); }
    table customers {
        key = { hdr.ip.source: exact; }
        actions = { police; other; }
        default_action = other();
        size = 16;
        meters = of_customer;
        counters = frames;
    }
    apply {
        std.egress_spec = 1;
        customers.apply();
        of_class.execute_meter((bit<32>)hdr.ip.tos, meta.shared);
        if (meta.own == 2) { mark_to_drop(std); }
        if (meta.shared == 2) { mark_to_drop(std); }
        hdr.eth.customer = meta.own;
        hdr.eth.class = meta.shared;
    }
}

control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) { apply { } }
control U(inout headers_t hdr, inout meta_t meta) { apply { } }
control D(packet_out b, in headers_t hdr) { apply { b.emit(hdr); } }

V1Switch(P(), V(), I(), E(), U(), D()) main;
