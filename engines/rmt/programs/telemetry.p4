// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// In-band telemetry: frames of watched services carry a report across the network. On the way out of port 0, UDP frames
// to a service get a header behind UDP's, with the switch's number, the port, the frame's length and a number that
// counts up for each service; the class 23 marks them. On the way in at port 1, marked frames lose the header, and a
// register keeps the last number of each service, from which a controller sees losses.
#include <core.p4>
#include <v1model.p4>

const bit<16> TYPE_VLAN = 0x8100;
const bit<16> TYPE_IPV4 = 0x0800;
const bit<8> PROTOCOL_TCP = 6;
const bit<8> PROTOCOL_UDP = 17;
const bit<6> MARKED = 23;
const bit<16> SWITCH = 7;
const bit<16> REPORT = 12; // bytes

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

header udp_t {
    bit<16> src;
    bit<16> dst;
    bit<16> length;
    bit<16> checksum;
}

header report_t {
    bit<16> switch_id;
    bit<16> port;
    bit<16> length;
    bit<16> service;
    bit<32> number;
}

struct headers_t {
    ethernet_t ethernet;
    vlan_t     vlan;
    ipv4_t     ipv4;
    udp_t      udp;
    report_t   report;
}

struct metadata_t { }

parser TelemetryParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
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
            PROTOCOL_UDP: first;
            default: accept;
        }
    }

    // The first fragment has the ports.
    state first {
        transition select(hdr.ipv4.fragment_offset) {
            0: udp;
            default: accept;
        }
    }

    state udp {
        packet.extract(hdr.udp);
        transition select(hdr.ipv4.dscp) {
            MARKED: report;
            default: accept;
        }
    }

    state report {
        packet.extract(hdr.report);
        transition accept;
    }
}

control TelemetryVerify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control TelemetryIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    register<bit<32>>(64) sent;
    register<bit<32>>(64) received;

    action watch(bit<16> service) {
        hdr.report.setValid();
        hdr.report.switch_id = SWITCH;
        hdr.report.port = (bit<16>)standard_metadata.ingress_port;
        hdr.report.service = service;
        hdr.ipv4.dscp = MARKED;
        hdr.ipv4.total_length = hdr.ipv4.total_length + REPORT;
        hdr.udp.length = hdr.udp.length + REPORT;
        hdr.udp.checksum = 0;
    }

    table services {
        key = { hdr.ipv4.dst: exact; hdr.udp.dst: exact; }
        actions = { watch; NoAction; }
        default_action = NoAction();
        size = 64;
    }

    apply {
        standard_metadata.egress_spec = standard_metadata.ingress_port ^ 1;
        if (standard_metadata.ingress_port == 0 && hdr.udp.isValid() && !hdr.report.isValid()) {
            if (services.apply().hit) {
                hdr.report.length = (bit<16>)standard_metadata.packet_length;
                sent.read(hdr.report.number, (bit<32>)hdr.report.service);
                hdr.report.number = hdr.report.number + 1;
                sent.write((bit<32>)hdr.report.service, hdr.report.number);
            }
        }
        if (standard_metadata.ingress_port == 1 && hdr.report.isValid()) {
            received.write((bit<32>)hdr.report.service, hdr.report.number);
            hdr.report.setInvalid();
            hdr.ipv4.dscp = 0;
            hdr.ipv4.total_length = hdr.ipv4.total_length - REPORT;
            hdr.udp.length = hdr.udp.length - REPORT;
        }
    }
}

control TelemetryEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control TelemetryUpdate(inout headers_t hdr, inout metadata_t meta) {
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

control TelemetryDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(TelemetryParser(), TelemetryVerify(), TelemetryIngress(), TelemetryEgress(), TelemetryUpdate(), TelemetryDeparser()) main;
