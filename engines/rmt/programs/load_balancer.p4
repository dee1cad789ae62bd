// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// A load balancer: frames to a service leave at the port of one of its servers, with the server's Ethernet address; the
// servers have the service's IP address themselves and answer directly. A flow with its own entry stays with its
// server; all others are spread by bits of their source. Frames that belong to no service leave at the other port.
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

struct metadata_t { }

parser LoadBalancerParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
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

    // If the frame has no options, its first fragment has ports.
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.version, hdr.ipv4.ihl) {
            (4, 5): short;
            default: accept;
        }
    }

    state short {
        transition select(hdr.ipv4.protocol) {
            PROTOCOL_TCP: first;
            PROTOCOL_UDP: first;
            default: accept;
        }
    }

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

control LoadBalancerVerify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control LoadBalancerIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    direct_counter(CounterType.packets_and_bytes) of_flow;
    direct_counter(CounterType.packets_and_bytes) of_share;

    action to_server(bit<48> address, bit<9> port) {
        hdr.ethernet.dst = address;
        standard_metadata.egress_spec = port;
    }

    table flows {
        key = {
            hdr.ipv4.src: exact;
            hdr.ipv4.dst: exact;
            hdr.ports.src: exact;
            hdr.ports.dst: exact;
            hdr.ipv4.protocol: exact;
        }
        actions = { to_server; NoAction; }
        default_action = NoAction();
        counters = of_flow;
        size = 256;
    }

    table shares {
        key = { hdr.ipv4.dst: ternary; hdr.ports.dst: ternary; hdr.ipv4.src: ternary; }
        actions = { to_server; NoAction; }
        default_action = NoAction();
        counters = of_share;
        size = 8;
    }

    apply {
        standard_metadata.egress_spec = standard_metadata.ingress_port ^ 1;
        if (hdr.ports.isValid()) {
            if (!flows.apply().hit) {
                shares.apply();
            }
        }
    }
}

control LoadBalancerEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control LoadBalancerUpdate(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control LoadBalancerDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(LoadBalancerParser(), LoadBalancerVerify(), LoadBalancerIngress(), LoadBalancerEgress(), LoadBalancerUpdate(), LoadBalancerDeparser()) main;
