#include <core.p4>
#include <v1model.p4>
header byte_t { bit<8> value; }
header long_t { bit<8> size; varbit<80> rest; }
header_union either_t { byte_t one; long_t two; }
struct headers_t { byte_t[3] bytes; long_t[2] longs; either_t either; }
struct meta_t { bit<8> m; int<8> s; }
parser P(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t std) {
    state start {
        p.extract(h.bytes.next);
        h.bytes.push_front(1);
        p.extract(h.longs[m.m], 80);
        switch (m.m) { 1: { m.m = 2; } }
        digest<meta_t>(1, m);
        transition accept;
    }
}
control V(inout headers_t h, inout meta_t m) { apply { } }
control Ends(inout byte_t one) {
    action leave() { exit; }
    table t { actions = { leave; } const default_action = leave(); }
    apply { t.apply(); }
}
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t std) {
    Ends() ends;
    apply {
        m.m = h.bytes.last.value;
        m.m = h.bytes[3].value;
        m.m = h.bytes[m.s].value;
        h.bytes.pop_front(m.m);
        h.bytes.shift(1);
        h.either = { { 1 }, { 2 } };
        m.m += true;
        ends.apply(h.bytes[0]);
        ends.apply(h.bytes[1]);
    }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t std) { apply { } }
bit<16> twice(in bit<8> value) { bit<16> both = value ++ value; return both; }
control C(inout headers_t h, inout meta_t m) {
    apply {
        update_checksum(true, { twice(h.bytes[0].value) }, h.bytes[1].value, HashAlgorithm.crc16);
    }
}
control D(packet_out p, in headers_t h) {
    apply {
        p.emit(h.bytes);
        h.bytes.pop_front(1);
        switch (h.bytes[0].value) { 1: { p.emit(h.longs); } }
    }
}
V1Switch(P(), V(), I(), E(), C(), D()) main;
