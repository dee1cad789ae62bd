// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// Copies frames in each way that v1model has; the first byte of a frame says how. Egress writes into the frame what it
// sees.
#include <core.p4>
#include <v1model.p4>

header op_t {
    bit<8>  op;
    bit<8>  argument;
    bit<8>  kind;   // instance_type
    bit<8>  port;   // egress_port
    bit<8>  rid;    // egress_rid
    bit<8>  kept;   // metadata on the field list
    bit<8>  lost;   // metadata that is not
    bit<8>  rounds; // passes through ingress, less one
}
struct headers { op_t op; }
struct metadata {
    @field_list(1, 2) bit<8> kept;
    bit<8> lost;
}

parser Parse(packet_in b, out headers hdr, inout metadata meta, inout standard_metadata_t std) {
    state start {
        b.extract(hdr.op);
        transition accept;
    }
}
control Verify(inout headers hdr, inout metadata meta) { apply {} }
control In(inout headers hdr, inout metadata meta, inout standard_metadata_t std) {
    bit<8> before;
    apply {
        std.egress_spec = 1;
        before = meta.kept;
        if (hdr.op.op == 1) {
            meta.kept = 0x11;
            meta.lost = 0x22;
            hdr.op.argument = 0xff;
            clone_preserving_field_list(CloneType.I2E, (bit<32>)5, 1);
        } else if (hdr.op.op == 2) {
            std.mcast_grp = (bit<16>)hdr.op.argument;
        } else if (hdr.op.op == 3 && std.instance_type == 0) {
            meta.kept = 0x33;
            meta.lost = 0x44;
            hdr.op.argument = 0xff;
            std.mcast_grp = 1;
            resubmit_preserving_field_list(2);
        } else if (hdr.op.op == 7) {
            // Dropped, and cloned all the same
            clone(CloneType.I2E, 5);
            mark_to_drop(std);
        } else if (hdr.op.op == 8) {
            truncate((bit<32>)hdr.op.argument);
        } else if (hdr.op.op == 9) {
            resubmit_preserving_field_list(0);
        } else if (hdr.op.op == 10) {
            // The group is chosen after the drop, which it overrides.
            mark_to_drop(std);
            std.mcast_grp = 1;
        } else if (hdr.op.op == 11) {
            std.mcast_grp = 1;
            mark_to_drop(std);
        } else if (hdr.op.op == 12) {
            assert(hdr.op.argument != 0);
        }
        if (before != 0) { hdr.op.kept = before; }
    }
}
control Out(inout headers hdr, inout metadata meta, inout standard_metadata_t std) {
    apply {
        if (hdr.op.op == 4 && std.instance_type == 0) {
            meta.kept = 0x55;
            meta.lost = 0x66;
            clone_preserving_field_list(CloneType.E2E, 6, 1);
            meta.kept = 0x77;
        }
        if (hdr.op.op == 5 && hdr.op.rounds != hdr.op.argument) {
            hdr.op.rounds = hdr.op.rounds + 1;
            meta.kept = meta.kept + 2;
            recirculate_preserving_field_list(1);
        }
        if (hdr.op.op == 6) { clone(CloneType.E2E, 6); }
        if (std.instance_type != 0) {
            hdr.op.kept = meta.kept;
            hdr.op.lost = meta.lost;
        }
        hdr.op.kind = (bit<8>)std.instance_type;
        hdr.op.port = (bit<8>)std.egress_port;
        hdr.op.rid = (bit<8>)std.egress_rid;
        if (std.egress_rid == 9) { mark_to_drop(std); }
    }
}
control Compute(inout headers hdr, inout metadata meta) { apply {} }
control Deparse(packet_out b, in headers hdr) { apply { b.emit(hdr.op); } }

V1Switch(Parse(), Verify(), In(), Out(), Compute(), Deparse()) main;
