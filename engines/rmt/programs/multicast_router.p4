// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// A router of IPv4 multicast: a source's frames to a group come in at one port, and copies leave at the ports that the
// group has, each with the address of its port. Frames of unknown groups, those that come in at another port (RFC 4601,
// 4.2), and those whose time to live ends are dropped. Other frames are dropped, too.
#include <core.p4>
#include <v1model.p4>

const bit<16> TYPE_IPV4 = 0x0800;
const bit<32> MULTICAST_PREFIX = 0x01005e00; // RFC 1112, 6.4, and half a byte

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header ipv4_t {
    bit<4>  version;
    bit<4>  ihl;
    bit<8>  tos;
    bit<16> length;
    bit<16> id;
    bit<3>  flags;
    bit<13> offset;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> src;
    bit<32> dst;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
}

struct metadata_t { }

parser MulticastParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_IPV4: ipv4;
            default: accept;
        }
    }

    state ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }
}

control MulticastVerify(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.tos, hdr.ipv4.length, hdr.ipv4.id, hdr.ipv4.flags, hdr.ipv4.offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control MulticastIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    action drop() {
        mark_to_drop(standard_metadata);
    }

    action replicate(bit<16> group) {
        standard_metadata.mcast_grp = group;
    }

    // Sources and their groups, with the port that leads to the source
    table trees {
        key = {
            hdr.ipv4.src: exact;
            hdr.ipv4.dst: exact;
            standard_metadata.ingress_port: exact;
        }
        actions = { replicate; drop; }
        default_action = drop();
        size = 1024;
    }

    apply {
        // Headers with options are for routers that read them.
        if (hdr.ipv4.isValid() && hdr.ipv4.version == 4 && hdr.ipv4.ihl == 5 && hdr.ipv4.ttl > 1 && standard_metadata.checksum_error == 0) {
            trees.apply();
        } else {
            drop();
        }
    }
}

control MulticastEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    action from(bit<48> address) {
        hdr.ethernet.src = address;
    }

    action drop() {
        mark_to_drop(standard_metadata);
    }

    table ports {
        key = { standard_metadata.egress_port: exact; }
        actions = { from; drop; }
        default_action = drop();
        size = 64;
    }

    apply {
        hdr.ethernet.dst = MULTICAST_PREFIX[31:7] ++ hdr.ipv4.dst[22:0];
        hdr.ipv4.ttl -= 1;
        ports.apply();
        // A group may name all ports: none gets back what it has sent.
        if (standard_metadata.egress_port == standard_metadata.ingress_port) {
            drop();
        }
    }
}

control MulticastUpdate(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.tos, hdr.ipv4.length, hdr.ipv4.id, hdr.ipv4.flags, hdr.ipv4.offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control MulticastDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(MulticastParser(), MulticastVerify(), MulticastIngress(), MulticastEgress(), MulticastUpdate(), MulticastDeparser()) main;
