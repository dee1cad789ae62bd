#include <v1model.p4>
header eth_t { bit<48> dst; bit<48> src; bit<16> type; }
struct headers_t { eth_t eth; }
struct meta_t { bit<8> m; }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t std) {
    apply {
        m.m = 1;
    }
}
parser P(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t std) {
    state start {
        p.extract(h.eth);
        hash(m.m, HashAlgorithm.crc32, 8w0, { h.eth.dst }, 8w10);
        truncate(60);
        transition accept;
    }
}
control V(inout headers_t h, inout meta_t m) { apply { } }
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t std) { apply { } }
control C(inout headers_t h, inout meta_t m) { apply { } }
control D(packet_out p, in headers_t h) { apply { p.emit(h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
