// Two keys of a table with the same bits: an entry could ask for two values of them.
#include <v1model.p4>
header eth_t { bit<48> dst; bit<48> src; bit<16> type; }
struct headers { eth_t eth; }
struct metadata { }
parser P(packet_in b, out headers hdr, inout metadata meta, inout standard_metadata_t std) {
    state start { b.extract(hdr.eth); transition accept; }
}
control V(inout headers hdr, inout metadata meta) { apply { } }
control I(inout headers hdr, inout metadata meta, inout standard_metadata_t std) {
    action drop() { mark_to_drop(std); }
    table twice {
        key = { hdr.eth.type: exact; hdr.eth.src: exact; hdr.eth.type: exact @name("again"); }
        actions = { drop; NoAction; }
        default_action = NoAction;
    }
    apply { twice.apply(); }
}
control E(inout headers hdr, inout metadata meta, inout standard_metadata_t std) { apply { } }
control C(inout headers hdr, inout metadata meta) { apply { } }
control D(packet_out b, in headers hdr) { apply { b.emit(hdr.eth); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
