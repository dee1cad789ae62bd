// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// A calculator in the network. A request is an Ethernet frame of type 0x1234, perhaps behind a VLAN tag: `P`, `4`,
// version 1, an operator and two numbers. The answer goes back to where the request came from, with the result and the
// number of requests so far. Operators that have no entry, and all other frames, are dropped.
#include <core.p4>
#include <v1model.p4>

const bit<16> TYPE_VLAN = 0x8100;
const bit<16> TYPE_CALCULATOR = 0x1234;

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header vlan_t {
    bit<3>  priority;
    bit<1>  drop_eligible;
    bit<12> id;
    bit<16> type;
}

header calculator_t {
    bit<8>  p;
    bit<8>  four;
    bit<8>  version;
    bit<8>  operator;
    bit<32> left;
    bit<32> right;
    bit<32> result;
    bit<32> count;
}

struct headers_t {
    ethernet_t   ethernet;
    vlan_t       vlan;
    calculator_t calculator;
}

struct metadata_t { }

parser CalculatorParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_VLAN: vlan;
            TYPE_CALCULATOR: check;
            default: accept;
        }
    }

    state vlan {
        packet.extract(hdr.vlan);
        transition select(hdr.vlan.type) {
            TYPE_CALCULATOR: check;
            default: accept;
        }
    }

    state check {
        transition select(packet.lookahead<bit<24>>()) {
            0x503401: calculator;
            default: accept;
        }
    }

    state calculator {
        packet.extract(hdr.calculator);
        transition accept;
    }
}

control CalculatorVerify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control CalculatorIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    register<bit<32>>(1) requests;

    action drop() {
        mark_to_drop(standard_metadata);
    }

    action answer(bit<32> result) {
        bit<48> asked_by = hdr.ethernet.src;
        bit<32> count;
        hdr.calculator.result = result;
        requests.read(count, 0);
        count = count + 1;
        requests.write(0, count);
        hdr.calculator.count = count;
        hdr.ethernet.src = hdr.ethernet.dst;
        hdr.ethernet.dst = asked_by;
        standard_metadata.egress_spec = standard_metadata.ingress_port;
    }

    action add() { answer(hdr.calculator.left + hdr.calculator.right); }
    action subtract() { answer(hdr.calculator.left - hdr.calculator.right); }
    action bit_and() { answer(hdr.calculator.left & hdr.calculator.right); }
    action bit_or() { answer(hdr.calculator.left | hdr.calculator.right); }
    action bit_xor() { answer(hdr.calculator.left ^ hdr.calculator.right); }

    table operators {
        key = { hdr.calculator.operator: exact; }
        actions = { add; subtract; bit_and; bit_or; bit_xor; drop; }
        const default_action = drop();
        size = 8;
        const entries = {
            0x2B: add();      // +
            0x2D: subtract(); // -
            0x26: bit_and();  // &
            0x7C: bit_or();   // |
            0x5E: bit_xor();  // ^
        }
    }

    apply {
        if (hdr.calculator.isValid()) {
            operators.apply();
        } else {
            drop();
        }
    }
}

control CalculatorEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control CalculatorUpdate(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control CalculatorDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(CalculatorParser(), CalculatorVerify(), CalculatorIngress(), CalculatorEgress(), CalculatorUpdate(),
         CalculatorDeparser()) main;
