#include <v1model.p4>
header eth_t { bit<48> dst; bit<48> src; bit<16> type; }
struct headers_t { eth_t eth; }
struct meta_t { bit<8> m; }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t std) {
    action f(bit<9> port) { std.egress_spec = port; }
    action drop() { mark_to_drop(std); }
    table a {
        key = { h.eth.dst: exakt; }
        actions = { f; }
    }
    table b {
        key = { h.eth.dst: exact; }
        actions = { f; }
        default_action = drop();
    }
    table c {
        key = { h.eth.dst: lpm; h.eth.src: lpm; }
        actions = { f; }
    }
    table d {
        key = { h.eth.dst: lpm; }
        actions = { f; }
        const entries = {
            0x0A0000000000 &&& 0x0F0000000000: f(1);
        }
    }
    apply {
        b.apply();
    }
}
parser P(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t std) {
    state start { p.extract(h.eth); transition accept; }
}
control V(inout headers_t h, inout meta_t m) { apply { } }
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t std) { apply { } }
control C(inout headers_t h, inout meta_t m) { apply { } }
control D(packet_out p, in headers_t h) { apply { p.emit(h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
