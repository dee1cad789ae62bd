// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The registers of a stage: one operation a cycle reads a register, and writes it in the next cycle. Operations of
// meters are rmt_meter's.
//
//   lanes' accesses ─> BOUNDS ─> memory ─> OPERATE ─> result      2 cycles, an operation a cycle
//                                   ^         │ write
//                                   └─────────┘ and to the next operation, which has read the same cycle
//
// The entry lets in one stateful frame a cycle, so the lanes never meet here. The host's access is an operation in its
// slot.
module rmt_register
  import rmt_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire logic  slot,
    input wire logic [3:0] stage,  // number, a constant
    input wire host_t host,
    output     word_t host_word,

    input wire access_t [Lanes-1:0] access,
    output     word_t               result  // 0 if there was no operation
);
  // ---- BOUNDS
  access_t chosen;
  logic selected, by_host, mine, valid1_q, do1_q, host1_q, is_new1_q;
  logic [16:0] place;  // place in the segment
  logic [3:0] op1_q;
  word_t x1_q;
  logic [RegisterW-1:0] addr, addr1_q;

  assign chosen = access[access[1].valid];
  assign place = 17'(chosen.offset) + 17'(chosen.index[15:0]);
  assign mine = chosen.valid && chosen.op != RegMeter;
  assign selected = host.memory == MemRegister && host.stage == 8'(stage);
  assign by_host = slot && selected;
  assign addr = by_host ? host.row[RegisterW-1:0] : chosen.segment.base[RegisterW-1:0] + place[RegisterW-1:0];

  always_ff @(posedge clk) begin
    host1_q   <= by_host;
    valid1_q  <= by_host || mine;
    do1_q     <= by_host || (mine && chosen.index < word_t'(chosen.length) && place < 17'(chosen.segment.size));
    op1_q     <= by_host ? (host.we ? RegWrite : RegRead) : chosen.op;
    is_new1_q <= chosen.is_new;
    x1_q      <= by_host ? host.data[0] : chosen.x;
    addr1_q   <= addr;
    if (rst) {do1_q, host1_q} <= '0;
  end

  // ---- memory
  logic write2_q;
  word_t read, value2_q, old_d, new_d;
  logic [RegisterW-1:0] addr2_q;

  ram_sdp #(
      .Width(32),
      .Depth(1 << RegisterW)
  ) i_registers (
      .clk,
      .we(do1_q),
      .waddr(addr1_q),
      .wdata(new_d),
      .re(1'b1),
      .raddr(addr),
      .rdata(read)
  );

  // ---- OPERATE
  // A program reads 0 behind the end of an array, and computes with it.
  assign old_d = !do1_q ? '0 : write2_q && addr2_q == addr1_q ? value2_q : read;

  always_comb begin
    case (op1_q)
      RegWrite: new_d = x1_q;
      RegAdd:   new_d = old_d + x1_q;
      RegSub:   new_d = old_d - x1_q;
      RegAnd:   new_d = old_d & x1_q;
      RegOr:    new_d = old_d | x1_q;
      RegXor:   new_d = old_d ^ x1_q;
      RegMax:   new_d = old_d > x1_q ? old_d : x1_q;
      RegMin:   new_d = old_d < x1_q ? old_d : x1_q;
      default:  new_d = old_d;
    endcase
  end

  word_t host_q;
  always_ff @(posedge clk) begin
    write2_q <= do1_q && !rst;
    addr2_q  <= addr1_q;
    value2_q <= new_d;
    result   <= !valid1_q ? '0 : is_new1_q ? new_d : old_d;
    if (host1_q) host_q <= host.word == '0 ? old_d : '0;
  end
  assign host_word = selected ? host_q : '0;

`ifndef SYNTHESIS
  segment_t segment_q;
  always_ff @(posedge clk) begin
    segment_q <= chosen.segment;
    if (!rst) begin
      assert (!(access[0].valid && access[1].valid)) else $error("%m: two operations at once");
      assert (!(by_host && (access[0].valid || access[1].valid))) else $error("%m: an operation in the host's slot");
      assert (!do1_q || host1_q || 16'(RegisterW'(addr1_q - segment_q.base[RegisterW-1:0])) < segment_q.size)
      else $error("%m: register %0d is not in its segment", addr1_q);
    end
  end
`endif
endmodule

`default_nettype wire
