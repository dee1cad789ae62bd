#include <core.p4>
#include <v1model.p4>
header eth_t { bit<48> dst; bit<48> src; bit<16> type; }
header label_t { bit<20> label; bit<3> tc; bit<1> last; bit<8> ttl; }
struct headers_t { eth_t eth; label_t[9] labels; }
struct meta_t { bit<8> m; }
parser P(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t std) {
    state start { p.extract(h.eth); transition labels; }
    state labels {
        p.extract(h.labels.next);
        transition select(h.labels.last.last) { 1: accept; default: labels; }
    }
}
control V(inout headers_t h, inout meta_t m) { apply { } }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t std) { apply { std.egress_spec = 1; } }
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t std) { apply { } }
control C(inout headers_t h, inout meta_t m) { apply { } }
control D(packet_out p, in headers_t h) { apply { p.emit(h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
