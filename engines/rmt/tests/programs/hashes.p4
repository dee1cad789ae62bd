// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// Hashes the first 13 bytes of a frame, and 3 bits more, in each way that v1model has; sums the payload by CRC.
#include <core.p4>
#include <v1model.p4>

header data_t {
    bit<32> a;
    bit<48> b;
    bit<16> c;
    bit<8>  d;
    bit<3>  e;
    bit<5>  rest;
}
header sums_t {
    bit<32> crc32;
    bit<16> crc16;
    bit<16> csum16;
    bit<16> xor16;
    bit<64> identity;
    bit<32> bounded;
    bit<32> none;
    bit<8>  random;
    bit<32> over_payload;
    bit<8>  color;
}
struct headers {
    data_t data;
    sums_t sums;
}
struct metadata {}
struct seen_t {
    bit<32> who;
    bit<8>  what;
}

parser Parse(packet_in b, out headers hdr, inout metadata meta, inout standard_metadata_t std) {
    state start {
        b.extract(hdr.data);
        b.extract(hdr.sums);
        transition accept;
    }
}
control Verify(inout headers hdr, inout metadata meta) { apply {} }
control In(inout headers hdr, inout metadata meta, inout standard_metadata_t std) {
    meter(4, MeterType.packets) m;
    apply {
        std.egress_spec = 2;
        hash(hdr.sums.crc32, HashAlgorithm.crc32, 32w0, { hdr.data.a, hdr.data.b, hdr.data.c, hdr.data.d, hdr.data.e }, 33w0x100000000);
        hash(hdr.sums.crc16, HashAlgorithm.crc16, 16w0, { hdr.data.a, hdr.data.b, hdr.data.c, hdr.data.d, hdr.data.e }, 17w0x10000);
        hash(hdr.sums.csum16, HashAlgorithm.csum16, 16w0, { hdr.data.a, hdr.data.b, hdr.data.c, hdr.data.d, hdr.data.e }, 17w0x10000);
        hash(hdr.sums.xor16, HashAlgorithm.xor16, 16w0, { hdr.data.a, hdr.data.b, hdr.data.c, hdr.data.d, hdr.data.e }, 17w0x10000);
        hash(hdr.sums.identity, HashAlgorithm.identity, 64w0, { hdr.data.a, hdr.data.b, hdr.data.c, hdr.data.d, hdr.data.e }, 65w0x10000000000000000);
        hash(hdr.sums.bounded, HashAlgorithm.crc32_custom, 32w1000, { hdr.data.a }, 32w77);
        hash(hdr.sums.none, HashAlgorithm.crc32, 32w1000, { hdr.data.a }, 32w0);
        random(hdr.sums.random, 8w40, 8w43);
        m.execute_meter((bit<32>)hdr.data.d, hdr.sums.color);
        digest<seen_t>(1, { hdr.data.a, hdr.data.d });
    }
}
control Out(inout headers hdr, inout metadata meta, inout standard_metadata_t std) { apply {} }
control Compute(inout headers hdr, inout metadata meta) {
    apply {
        update_checksum_with_payload(true, { hdr.data.a, hdr.data.e }, hdr.sums.over_payload, HashAlgorithm.crc32);
    }
}
control Deparse(packet_out b, in headers hdr) {
    apply {
        b.emit(hdr.data);
        b.emit(hdr.sums);
    }
}

V1Switch(Parse(), Verify(), In(), Out(), Compute(), Deparse()) main;
