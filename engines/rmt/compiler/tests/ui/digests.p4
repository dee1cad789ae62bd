// Digests that do not fit a record of the card.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<32> a;
    bit<32> b;
    bit<32> c;
    bit<32> d;
    bit<32> e;
    bit<32> f;
    bit<32> g;
    bit<32> i;
    bit<32> j;
    bit<32> k;
    bit<32> l;
}

struct headers {
    h_t h;
}

struct meta_t { }

parser P(packet_in b, out headers h, inout meta_t m, inout standard_metadata_t s) {
    state start {
        b.extract(h.h);
        transition accept;
    }
}

control V(inout headers h, inout meta_t m) { apply { } }

control I(inout headers h, inout meta_t m, inout standard_metadata_t s) {
    apply {
        digest(1, h.h);
    }
}

control E(inout headers h, inout meta_t m, inout standard_metadata_t s) { apply { } }
control U(inout headers h, inout meta_t m) { apply { } }
control D(packet_out b, in headers h) { apply { b.emit(h.h); } }

V1Switch(P(), V(), I(), E(), U(), D()) main;
