// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// A firewall that remembers flows: port 0 is inside, port 1 outside. A flow of TCP or UDP over IPv4 passes from outside
// if a frame of it went out before. Two registers are a Bloom filter: a flow that never went out passes only if others
// have set both of its bits. Other IPv4 frames from outside are dropped; what is not IPv4 passes.
#include <core.p4>
#include <v1model.p4>

const bit<16> TYPE_VLAN = 0x8100;
const bit<16> TYPE_IPV4 = 0x0800;
const bit<8> PROTOCOL_TCP = 6;
const bit<8> PROTOCOL_UDP = 17;

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

header ipv4_t {
    bit<4>  version;
    bit<4>  ihl;
    bit<6>  dscp;
    bit<2>  ecn;
    bit<16> total_length;
    bit<16> identification;
    bit<3>  flags;
    bit<13> fragment_offset;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> src;
    bit<32> dst;
}

// TCP and UDP begin with the same two fields.
header ports_t {
    bit<16> src;
    bit<16> dst;
}

struct headers_t {
    ethernet_t ethernet;
    vlan_t     vlan;
    ipv4_t     ipv4;
    ports_t    ports;
}

// A flow as the inside sees it
struct metadata_t {
    bit<32> inner;
    bit<32> outer;
    bit<32> ports; // inside, then outside
    bit<32> goes_out; // 1 or 0
    bit<32> cell1;
    bit<32> cell2;
    bit<32> seen1;
    bit<32> seen2;
}

parser StatefulFirewallParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_VLAN: vlan;
            TYPE_IPV4: ipv4;
            default: accept;
        }
    }

    state vlan {
        packet.extract(hdr.vlan);
        transition select(hdr.vlan.type) {
            TYPE_IPV4: ipv4;
            default: accept;
        }
    }

    // Headers with options are not looked at.
    state ipv4 {
        transition select(packet.lookahead<bit<8>>()) {
            0x45: short;
            default: accept;
        }
    }

    state short {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.protocol) {
            PROTOCOL_TCP: first;
            PROTOCOL_UDP: first;
            default: accept;
        }
    }

    // The first fragment has the ports.
    state first {
        transition select(hdr.ipv4.fragment_offset) {
            0: ports;
            default: accept;
        }
    }

    state ports {
        packet.extract(hdr.ports);
        transition accept;
    }
}

control StatefulFirewallVerify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control StatefulFirewallIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    register<bit<32>>(4096) filter1;
    register<bit<32>>(4096) filter2;

    apply {
        standard_metadata.egress_spec = standard_metadata.ingress_port ^ 1;
        if (standard_metadata.ingress_port == 0) {
            meta.inner = hdr.ipv4.src;
            meta.outer = hdr.ipv4.dst;
            meta.ports = hdr.ports.src ++ hdr.ports.dst;
            meta.goes_out = 1;
        } else {
            meta.inner = hdr.ipv4.dst;
            meta.outer = hdr.ipv4.src;
            meta.ports = hdr.ports.dst ++ hdr.ports.src;
            meta.goes_out = 0;
        }
        hash(meta.cell1, HashAlgorithm.crc32, 32w0,
            { hdr.ipv4.protocol, meta.inner, meta.outer, meta.ports }, 32w4096);
        hash(meta.cell2, HashAlgorithm.crc16, 32w0,
            { hdr.ipv4.protocol, meta.inner, meta.outer, meta.ports }, 32w4096);
        if (hdr.ports.isValid()) {
            filter1.read(meta.seen1, meta.cell1);
            meta.seen1 = meta.seen1 | meta.goes_out;
            filter1.write(meta.cell1, meta.seen1);
        }
        if (hdr.ports.isValid()) {
            filter2.read(meta.seen2, meta.cell2);
            meta.seen2 = meta.seen2 | meta.goes_out;
            filter2.write(meta.cell2, meta.seen2);
        }
        if (hdr.ipv4.isValid() && meta.goes_out == 0) {
            if (meta.seen1 == 0 || meta.seen2 == 0) {
                mark_to_drop(standard_metadata);
            }
        }
    }
}

control StatefulFirewallEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control StatefulFirewallUpdate(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control StatefulFirewallDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(StatefulFirewallParser(), StatefulFirewallVerify(), StatefulFirewallIngress(), StatefulFirewallEgress(), StatefulFirewallUpdate(), StatefulFirewallDeparser()) main;
