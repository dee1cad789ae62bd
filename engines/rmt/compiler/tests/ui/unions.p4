#include <core.p4>
#include <v1model.p4>
header byte_t { bit<8> value; }
header_union wrong_t { bit<8> value; }
header_union none_t { }
struct headers_t { byte_t byte; }
struct meta_t { bit<8> m; }
parser P(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t std) {
    state start { transition accept; }
}
