// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// IPv4 multicast: a frame to a group's address goes to all ports that have listeners, which a multicast group says.
// Frames of streams from outside the group's source are dropped, and so are frames to addresses without a group, those
// with options, wrong checksums, and those whose time to live ends.
#include <core.p4>
#include <v1model.p4>

const bit<16> TYPE_VLAN = 0x8100;
const bit<16> TYPE_IPV4 = 0x0800;

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

struct headers_t {
    ethernet_t ethernet;
    vlan_t     vlan;
    ipv4_t     ipv4;
}

struct metadata_t { }

parser MulticastParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
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
            (4, 5): accept;
        }
    }
}

control MulticastVerify(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.diffserv, hdr.ipv4.total_length, hdr.ipv4.identification,
              hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control MulticastIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    action drop() {
        mark_to_drop(standard_metadata);
    }

    action replicate(bit<16> group) {
        standard_metadata.mcast_grp = group;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }

    table streams {
        key = { hdr.ipv4.src: exact; hdr.ipv4.dst: exact; }
        actions = { replicate; drop; }
        default_action = drop();
        size = 256;
    }

    apply {
        if (hdr.ipv4.isValid() && standard_metadata.parser_error == error.NoError
            && standard_metadata.checksum_error == 0 && hdr.ipv4.ttl > 1) {
            streams.apply();
        } else {
            drop();
        }
    }
}

control MulticastEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control MulticastUpdate(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.diffserv, hdr.ipv4.total_length, hdr.ipv4.identification,
              hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control MulticastDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(MulticastParser(), MulticastVerify(), MulticastIngress(), MulticastEgress(), MulticastUpdate(), MulticastDeparser()) main;
