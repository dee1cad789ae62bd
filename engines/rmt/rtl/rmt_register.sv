// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The registers of a stage: one operation a cycle reads a register, and writes it in the next cycle.
//
//   lanes' accesses ─> BOUNDS ─> memory ─> OPERATE ─> result      3 cycles, an operation a cycle
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
    output     word_t               old_value,  // both 0 if no register was touched
    output     word_t               new_value
);
  // ---- BOUNDS
  access_t chosen;
  logic selected, by_host, do1_q, host1_q;
  logic [16:0] place;  // place in the segment
  logic [3:0] op1_q;
  word_t x1_q;
  logic [RegisterW-1:0] addr1_q;

  assign chosen = access[access[1].valid];
  assign place = 17'(chosen.offset) + 17'(chosen.index[15:0]);
  assign selected = host.memory == MemRegister && host.stage == 8'(stage);
  assign by_host = slot && selected;

  always_ff @(posedge clk) begin
    host1_q <= by_host;
    do1_q   <= by_host || (chosen.valid && chosen.index < word_t'(chosen.length) && place < 17'(chosen.segment.size));
    op1_q   <= by_host ? (host.we ? RegWrite : RegRead) : chosen.op;
    x1_q    <= by_host ? host.data[0] : chosen.x;
    addr1_q <= by_host ? host.row[RegisterW-1:0] : chosen.segment.base[RegisterW-1:0] + place[RegisterW-1:0];
    if (rst) {do1_q, host1_q} <= '0;
  end

  // ---- memory
  logic do2_q, host2_q, write3_q;
  logic [3:0] op2_q;
  word_t x2_q, read, value3_q, old_d, new_d;
  logic [RegisterW-1:0] addr2_q, addr3_q;

  ram_sdp #(
      .Width(32),
      .Depth(1 << RegisterW)
  ) i_registers (
      .clk,
      .we(do2_q),
      .waddr(addr2_q),
      .wdata(new_d),
      .re(1'b1),
      .raddr(addr1_q),
      .rdata(read)
  );

  always_ff @(posedge clk) begin
    {host2_q, op2_q, x2_q, addr2_q} <= {host1_q, op1_q, x1_q, addr1_q};
    do2_q <= do1_q && !rst;
  end

  // ---- OPERATE
  assign old_d = write3_q && addr3_q == addr2_q ? value3_q : read;

  always_comb begin
    case (op2_q)
      RegWrite: new_d = x2_q;
      RegAdd:   new_d = old_d + x2_q;
      RegSub:   new_d = old_d - x2_q;
      RegAnd:   new_d = old_d & x2_q;
      RegOr:    new_d = old_d | x2_q;
      RegXor:   new_d = old_d ^ x2_q;
      RegMax:   new_d = old_d > x2_q ? old_d : x2_q;
      RegMin:   new_d = old_d < x2_q ? old_d : x2_q;
      default:  new_d = old_d;
    endcase
  end

  word_t host_q;
  always_ff @(posedge clk) begin
    write3_q  <= do2_q && !rst;
    addr3_q   <= addr2_q;
    value3_q  <= new_d;
    old_value <= do2_q ? old_d : '0;
    new_value <= do2_q ? new_d : '0;
    if (host2_q) host_q <= host.word == '0 ? old_d : '0;
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
