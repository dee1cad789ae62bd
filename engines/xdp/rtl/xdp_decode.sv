// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Decodes the number of an operation (engines/xdp/isa/isa.toml). Within READ.
module xdp_decode
  import xdp_pkg::*;
  import xdp_isa_pkg::*;
(
    input  wire logic [6:0] number,
    output op_t             op
);
  // Operations on 32 and 64 bits, and the three families of comparisons, differ in bit 4; the families in bits 6:5.
  wire [6:0] narrow = number & ~7'(OP_WIDE);
  wire [3:0] condition = number[3:0];
  wire compared = number[6:5] != 2'd0 && 32'(condition) <= CONDITION_SLE;

  function automatic compare_t comparison(logic [3:0] c);
    compare_t r;
    r = '0;
    unique case (32'(c))
      CONDITION_EQ: r.equal = 1'b1;
      CONDITION_NE: {r.equal, r.invert} = 2'b11;
      CONDITION_SET: r.common = 1'b1;
      CONDITION_GT, CONDITION_SGT: {r.less, r.equal, r.invert} = 3'b111;
      CONDITION_GE, CONDITION_SGE: {r.less, r.invert} = 2'b11;
      CONDITION_LT, CONDITION_SLT: r.less = 1'b1;
      CONDITION_LE, CONDITION_SLE: {r.less, r.equal} = 2'b11;
      default: ;
    endcase
    r.is_signed = 32'(c) >= CONDITION_SGT;
    return r;
  endfunction

  always_comb begin
    op = '0;
    op.kind = KindLogic;
    op.w64 = number[4];
    op.compare = comparison(condition);
    if (compared) begin
      op.compares = number[6];
      if (number[6:5] == 2'b01) {op.sets, op.writes} = 2'b11;
      if (number[6:5] == 2'b11) op.ending = EndBranch;
    end else begin
      unique case (32'(number))
        OP_FIELD: {op.kind, op.field, op.writes, op.w64} = {KindShift, 3'b111};
        OP_MOVHI: {op.logic_op, op.writes, op.w64} = {LogicMovHigh, 2'b11};
        OP_SEXT32: {op.logic_op, op.writes, op.w64} = {LogicSext32, 2'b11};
        OP_SWAP16: {op.logic_op, op.writes} = {LogicSwap16, 1'b1};
        OP_SWAP32: {op.logic_op, op.writes} = {LogicSwap32, 1'b1};
        OP_SWAP64: {op.logic_op, op.writes, op.w64} = {LogicSwap64, 2'b11};
        OP_LDP: {op.loads, op.writes} = 2'b11;
        OP_LDS: {op.loads, op.writes, op.on_stack} = 3'b111;
        OP_STP: op.stores = 1'b1;
        OP_STS: {op.stores, op.on_stack} = 2'b11;
        OP_ADJH: {op.adjusts, op.adjust, op.writes} = {1'b1, AdjustHead, 1'b1};
        OP_ADJM: {op.adjusts, op.adjust, op.writes} = {1'b1, AdjustMeta, 1'b1};
        OP_ADJT: {op.adjusts, op.adjust, op.writes} = {1'b1, AdjustTail, 1'b1};
        OP_REDIR: {op.redirects, op.writes} = 2'b11;
        OP_EXT: op.requests = 1'b1;
        OP_ARG: op.argues = 1'b1;
        OP_JMP: op.ending = EndJump;
        OP_EXIT: op.ending = EndExit;
        default: begin
          op.writes = number[6:5] == 2'd0 && number != 7'(OP_NOP);
          unique case (32'(narrow))
            OP_ADD: op.kind = KindAdd;
            OP_SUB: {op.kind, op.subtract} = {KindAdd, 1'b1};
            OP_AND: op.logic_op = LogicAnd;
            OP_OR: op.logic_op = LogicOr;
            OP_XOR: op.logic_op = LogicXor;
            OP_MOV: op.logic_op = LogicMov;
            OP_SEXT8: op.logic_op = LogicSext8;
            OP_SEXT16: op.logic_op = LogicSext16;
            OP_LSH: {op.kind, op.left} = {KindShift, 1'b1};
            OP_RSH: op.kind = KindShift;
            OP_ARSH: {op.kind, op.arithmetic} = {KindShift, 1'b1};
            OP_MUL: op.kind = KindMul;
            default: op.writes = 1'b0;
          endcase
        end
      endcase
    end
  end
endmodule

`default_nettype wire
