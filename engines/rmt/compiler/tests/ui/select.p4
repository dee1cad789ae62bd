#include <v1model.p4>
header eth_t { bit<48> dst; bit<48> src; bit<16> type; }
struct headers_t { eth_t eth; }
struct meta_t { }
parser P(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t std) {
    state start {
        p.extract(h.eth);
        transition select(h.eth.type, h.eth.src) {
            (0x800, _): ipv4;
            0x86DD: accept;
            default: acept;
        }
    }
}
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t std) { apply { } }
control V(inout headers_t h, inout meta_t m) { apply { } }
control C(inout headers_t h, inout meta_t m) { apply { } }
control D(packet_out p, in headers_t h) { apply { p.emit(h); } }
V1Switch(P(), V(), I(), I(), C(), D()) main;
