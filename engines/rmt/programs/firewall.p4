// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// A firewall between ports 0 and 1: what enters one leaves the other, unless its IPv4 source address is blocked, or the
// TCP or UDP port that it goes to is closed. Frames whose headers are broken are dropped; other protocols pass.
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
    bit<8>  diffserv;
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

header options_t {
    varbit<320> options;
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
    options_t  options;
    ports_t    ports;
}

struct metadata_t { }

parser FirewallParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
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

    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.version, hdr.ipv4.ihl) {
            (4, 5): short;
            (4, 6 .. 15): long;
        }
    }

    state short {
        transition select(hdr.ipv4.protocol) {
            PROTOCOL_TCP: short_first;
            PROTOCOL_UDP: short_first;
            default: accept;
        }
    }

    // Only the first fragment has ports.
    state short_first {
        transition select(hdr.ipv4.fragment_offset) {
            0: ports;
            default: accept;
        }
    }

    state long {
        transition select(hdr.ipv4.protocol) {
            PROTOCOL_TCP: long_first;
            PROTOCOL_UDP: long_first;
            default: long_other;
        }
    }

    state long_first {
        packet.extract(hdr.options, ((bit<32>)hdr.ipv4.ihl - 5) << 5);
        transition select(hdr.ipv4.fragment_offset) {
            0: ports;
            default: accept;
        }
    }

    state long_other {
        packet.extract(hdr.options, ((bit<32>)hdr.ipv4.ihl - 5) << 5);
        transition accept;
    }

    state ports {
        packet.extract(hdr.ports);
        transition accept;
    }
}

control FirewallVerify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control FirewallIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    action drop() {
        mark_to_drop(standard_metadata);
    }

    table blocked {
        key = { hdr.ipv4.src: lpm; }
        actions = { drop; NoAction; }
        default_action = NoAction();
        size = 1024;
    }

    table closed {
        key = { hdr.ipv4.protocol: exact; hdr.ports.dst: exact; }
        actions = { drop; NoAction; }
        default_action = NoAction();
        size = 256;
    }

    apply {
        standard_metadata.egress_spec = standard_metadata.ingress_port ^ 1;
        if (standard_metadata.parser_error != error.NoError) {
            drop();
        } else if (hdr.ipv4.isValid()) {
            blocked.apply();
            if (hdr.ports.isValid()) {
                closed.apply();
            }
        }
    }
}

control FirewallEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control FirewallUpdate(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control FirewallDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(FirewallParser(), FirewallVerify(), FirewallIngress(), FirewallEgress(), FirewallUpdate(), FirewallDeparser()) main;
