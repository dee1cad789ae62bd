// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// An endpoint of segment routing over IPv6 (RFC 8754; RFC 8986, End): frames to one of its segments go on to the next
// segment of their list, all others to their destination as they are. Segment lists have up to three entries and no
// TLVs. Frames whose hop limit ends, whose list is wrong, or that have no segment left are dropped.
#include <core.p4>
#include <v1model.p4>

const bit<16> TYPE_VLAN = 0x8100;
const bit<16> TYPE_IPV6 = 0x86dd;
const bit<8> NEXT_ROUTING = 43;
const bit<8> ROUTING_SEGMENTS = 4;

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

header ipv6_t {
    bit<4>   version;
    bit<8>   traffic_class;
    bit<20>  flow_label;
    bit<16>  payload_length;
    bit<8>   next;
    bit<8>   hop_limit;
    bit<128> src;
    bit<128> dst;
}

header segments_t {
    bit<8>  next;
    bit<8>  length; // 8 bytes each, without the first 8
    bit<8>  type;
    bit<8>  left;
    bit<8>  last;
    bit<8>  flags;
    bit<16> tag;
}

header segment_t {
    bit<128> address;
}

struct headers_t {
    ethernet_t ethernet;
    vlan_t     vlan;
    ipv6_t     ipv6;
    segments_t segments;
    segment_t[3] list; // the last one of the way first
}

struct metadata_t { }

parser Srv6Parser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_VLAN: vlan;
            TYPE_IPV6: ipv6;
            default: accept;
        }
    }

    state vlan {
        packet.extract(hdr.vlan);
        transition select(hdr.vlan.type) {
            TYPE_IPV6: ipv6;
            default: accept;
        }
    }

    state ipv6 {
        packet.extract(hdr.ipv6);
        transition select(hdr.ipv6.next) {
            NEXT_ROUTING: segments;
            default: accept;
        }
    }

    state segments {
        packet.extract(hdr.segments);
        transition select(hdr.segments.type, hdr.segments.length) {
            (ROUTING_SEGMENTS, 2): last0;
            (ROUTING_SEGMENTS, 4): last1;
            (ROUTING_SEGMENTS, 6): last2;
            default: accept;
        }
    }

    state last0 {
        transition select(hdr.segments.last) {
            0: one;
            default: accept;
        }
    }

    state last1 {
        transition select(hdr.segments.last) {
            1: two;
            default: accept;
        }
    }

    state last2 {
        transition select(hdr.segments.last) {
            2: three;
            default: accept;
        }
    }

    state three {
        packet.extract(hdr.list.next);
        transition two;
    }

    state two {
        packet.extract(hdr.list.next);
        transition one;
    }

    state one {
        packet.extract(hdr.list.next);
        transition accept;
    }
}

control Srv6Verify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control Srv6Ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    action drop() {
        mark_to_drop(standard_metadata);
    }

    action to_first() {
        hdr.ipv6.dst = hdr.list[0].address;
        hdr.segments.left = 0;
    }

    action to_second() {
        hdr.ipv6.dst = hdr.list[1].address;
        hdr.segments.left = 1;
    }

    action to_third() {
        hdr.ipv6.dst = hdr.list[2].address;
        hdr.segments.left = 2;
    }

    action forward(bit<9> port) {
        hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
        standard_metadata.egress_spec = port;
    }

    // Addresses that are this endpoint
    table own {
        key = { hdr.ipv6.dst: exact; }
        actions = { NoAction; }
        default_action = NoAction();
        size = 16;
    }

    // The next segment, by the segments left and the list's last entry
    table next {
        key = { hdr.segments.left: exact; hdr.list[0].isValid(): exact; hdr.segments.last: range; }
        actions = { to_first; to_second; to_third; drop; }
        const default_action = drop();
        const entries = {
            (1, true, 0..2): to_first();
            (2, true, 1..2): to_second();
            (3, true, 2..2): to_third();
        }
    }

    table routes {
        key = { hdr.ipv6.dst: lpm; }
        actions = { forward; drop; }
        default_action = drop();
        size = 64;
    }

    apply {
        if (hdr.ipv6.isValid() && hdr.ipv6.version == 6 && hdr.ipv6.hop_limit > 1) {
            if (own.apply().hit) {
                next.apply();
            }
        }
        if (hdr.ipv6.isValid() && hdr.ipv6.version == 6 && hdr.ipv6.hop_limit > 1) {
            if (standard_metadata.egress_spec != 511) {
                routes.apply();
            }
        } else {
            drop();
        }
    }
}

control Srv6Egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control Srv6Update(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control Srv6Deparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(Srv6Parser(), Srv6Verify(), Srv6Ingress(), Srv6Egress(), Srv6Update(), Srv6Deparser()) main;
