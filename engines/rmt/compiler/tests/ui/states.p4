#include <v1model.p4>
header odd_t { bit<7> a; }
header eth_t { bit<48> dst; bit<48> src; bit<16> type; varbit<33> rest; }
struct headers_t { eth_t eth; }
struct meta_t { }
