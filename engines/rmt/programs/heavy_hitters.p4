// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// Heavy hitters by a count-min sketch (Cormode and Muthukrishnan, 2005): three rows of counters, of which a flow has one
// each. All three count the flow's frames and those of flows that share the counter, so a flow has sent at most as many
// as the smallest says. From the frame on that makes it more than THRESHOLD, the flow's frames leave with the class CS1
// (RFC 3662), behind all others. A controller clears the registers at the end of each interval.
#include <core.p4>
#include <v1model.p4>

const bit<16> TYPE_VLAN = 0x8100;
const bit<16> TYPE_IPV4 = 0x0800;
const bit<8> PROTOCOL_TCP = 6;
const bit<8> PROTOCOL_UDP = 17;
const bit<6> CS1 = 8;
const bit<32> THRESHOLD = 32;

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

struct metadata_t {
    bit<32> hash;
    bit<32> first;
    bit<32> second;
    bit<32> third;
}

parser HeavyHittersParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
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

control HeavyHittersVerify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control HeavyHittersIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    register<bit<32>>(1024) row1;
    register<bit<32>>(1024) row2;
    register<bit<32>>(1024) row3;

    apply {
        standard_metadata.egress_spec = standard_metadata.ingress_port ^ 1;
        if (hdr.ports.isValid()) {
            // A place in each row from the bits of one CRC
            hash(meta.hash, HashAlgorithm.crc32, 32w0,
                { hdr.ipv4.src, hdr.ipv4.dst, hdr.ipv4.protocol, hdr.ports.src, hdr.ports.dst }, 64w0x100000000);
            row1.read(meta.first, (bit<32>)meta.hash[9:0]);
            meta.first = meta.first + 1;
            row1.write((bit<32>)meta.hash[9:0], meta.first);
        }
        if (hdr.ports.isValid()) {
            row2.read(meta.second, (bit<32>)meta.hash[19:10]);
            meta.second = meta.second + 1;
            row2.write((bit<32>)meta.hash[19:10], meta.second);
        }
        if (hdr.ports.isValid()) {
            row3.read(meta.third, (bit<32>)meta.hash[29:20]);
            meta.third = meta.third + 1;
            row3.write((bit<32>)meta.hash[29:20], meta.third);
        }
        if (meta.first > THRESHOLD && meta.second > THRESHOLD && meta.third > THRESHOLD) {
            hdr.ipv4.dscp = CS1;
        }
    }
}

control HeavyHittersEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control HeavyHittersUpdate(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(
            hdr.ipv4.isValid(),
            {
                hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_length,
                hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl,
                hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst
            },
            hdr.ipv4.checksum,
            HashAlgorithm.csum16
        );
    }
}

control HeavyHittersDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(HeavyHittersParser(), HeavyHittersVerify(), HeavyHittersIngress(), HeavyHittersEgress(), HeavyHittersUpdate(), HeavyHittersDeparser()) main;
