// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// A VXLAN gateway (RFC 7348): frames to known addresses are put into a tunnel, with new Ethernet, IPv4, UDP and VXLAN
// headers in front of them; frames of known tunnels lose these headers. All other frames are dropped.
#include <core.p4>
#include <v1model.p4>

const bit<16> TYPE_IPV4 = 0x0800;
const bit<8> PROTOCOL_UDP = 17;
const bit<16> PORT_VXLAN = 4789;
const bit<48> OWN_MAC = 0x020000000001;
const bit<32> OWN_IPV4 = 0xc6336401; // 198.51.100.1

header ethernet_t {
    bit<48> dst;
    bit<48> src;
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

header udp_t {
    bit<16> src;
    bit<16> dst;
    bit<16> length;
    bit<16> checksum;
}

header vxlan_t {
    bit<8>  flags;
    bit<24> reserved;
    bit<24> vni;
    bit<8>  reserved2;
}

// The tunnel's headers in front of those of the frame itself
struct headers_t {
    ethernet_t outer_ethernet;
    ipv4_t     outer_ipv4;
    udp_t      outer_udp;
    vxlan_t    outer_vxlan;
    ethernet_t ethernet;
    ipv4_t     ipv4;
    udp_t      udp;
    vxlan_t    vxlan;
}

struct metadata_t { }

parser VxlanParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_IPV4: ipv4;
            default: accept;
        }
    }

    // A tunnel's packets have no options.
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.version, hdr.ipv4.ihl) {
            (4, 5): protocol;
            default: accept;
        }
    }

    state protocol {
        transition select(hdr.ipv4.protocol) {
            PROTOCOL_UDP: udp;
            default: accept;
        }
    }

    state udp {
        packet.extract(hdr.udp);
        transition select(hdr.udp.dst) {
            PORT_VXLAN: vxlan;
            default: accept;
        }
    }

    state vxlan {
        packet.extract(hdr.vxlan);
        transition accept;
    }
}

control VxlanVerify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control VxlanIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    action drop() {
        mark_to_drop(standard_metadata);
    }

    action into_tunnel(bit<32> endpoint, bit<48> next_hop, bit<24> vni, bit<9> port) {
        hdr.outer_ethernet.setValid();
        hdr.outer_ipv4.setValid();
        hdr.outer_udp.setValid();
        hdr.outer_vxlan.setValid();
        hdr.outer_ethernet.dst = next_hop;
        hdr.outer_ipv4.dst = endpoint;
        hdr.outer_vxlan.vni = vni;
        standard_metadata.egress_spec = port;
    }

    action out_of_tunnel(bit<9> port) {
        hdr.ethernet.setInvalid();
        hdr.ipv4.setInvalid();
        hdr.udp.setInvalid();
        hdr.vxlan.setInvalid();
        standard_metadata.egress_spec = port;
    }

    table addresses {
        key = { hdr.ethernet.dst: exact; }
        actions = { into_tunnel; drop; }
        const default_action = drop();
        size = 256;
    }

    table tunnels {
        key = { hdr.ipv4.dst: exact; hdr.vxlan.vni: exact; }
        actions = { out_of_tunnel; drop; }
        const default_action = drop();
        size = 256;
    }

    apply {
        if (hdr.vxlan.isValid()) {
            tunnels.apply();
        } else {
            addresses.apply();
        }

        // Headers that no entry makes valid do not leave.
        hdr.outer_ethernet.src = OWN_MAC;
        hdr.outer_ethernet.type = TYPE_IPV4;
        hdr.outer_ipv4.version = 4;
        hdr.outer_ipv4.ihl = 5;
        hdr.outer_ipv4.diffserv = 0;
        hdr.outer_ipv4.total_length = (bit<16>)standard_metadata.packet_length + 36;
        hdr.outer_ipv4.identification = 0;
        hdr.outer_ipv4.flags = 2;
        hdr.outer_ipv4.fragment_offset = 0;
        hdr.outer_ipv4.ttl = 64;
        hdr.outer_ipv4.protocol = PROTOCOL_UDP;
        hdr.outer_ipv4.src = OWN_IPV4;
        hdr.outer_udp.src = 49152;
        hdr.outer_udp.dst = PORT_VXLAN;
        hdr.outer_udp.length = (bit<16>)standard_metadata.packet_length + 16;
        hdr.outer_udp.checksum = 0;
        hdr.outer_vxlan.flags = 8;
    }
}

control VxlanEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control VxlanUpdate(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.outer_ipv4.isValid(),
            { hdr.outer_ipv4.version, hdr.outer_ipv4.ihl, hdr.outer_ipv4.diffserv, hdr.outer_ipv4.total_length,
              hdr.outer_ipv4.identification, hdr.outer_ipv4.flags, hdr.outer_ipv4.fragment_offset,
              hdr.outer_ipv4.ttl, hdr.outer_ipv4.protocol, hdr.outer_ipv4.src, hdr.outer_ipv4.dst },
            hdr.outer_ipv4.checksum, HashAlgorithm.csum16);
    }
}

control VxlanDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(VxlanParser(), VxlanVerify(), VxlanIngress(), VxlanEgress(), VxlanUpdate(), VxlanDeparser()) main;
