// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Maps of one unit: per-CPU values, and read-only ones of which every unit has its own. Bytes in two banks of 8, so
// that an access of up to 8 bytes may begin anywhere. One access at a time, of the program or of the host:
//
//   0 ask ─> banks ─> 1 output register ─> 2 turned; a store ─> banks; done ─> 3 changed by an atomic operation ─>
//   banks; done
//
// No other access comes between the read and the write of an atomic operation.
module xdp_unit_maps
  import xdp_pkg::*;
  import xdp_isa_pkg::*;
#(
    parameter int unsigned Bytes = 65536
) (
    input wire logic clk,
    input wire logic rst,

    input  wire logic    ask,       // for one cycle; again in the cycle behind `done` at the earliest
    input  wire access_e what,
    input  wire logic [$clog2(Bytes)-1:0] at,
    input  wire logic [3:0] count,  // bytes: 1..8
    input  wire logic [2:0] atomic, // operation
    input  wire word_t   value,     // stored, or the atomic's operand
    input  wire word_t   expected,  // by compare-and-exchange
    output logic         done,      // for one cycle
    output word_t        old_value  // what was there: `count` bytes, the others 0; with `done`
);
  localparam int unsigned AddrW = $clog2(Bytes) - 4;

  logic [1:0] stage_q;
  access_e what_q;
  logic [3:0] at_q;
  logic [3:0] count_q;
  logic [2:0] atomic_q;
  word_t value_q, expected_q, old_q;
  logic [1:0][63:0] read_q, out_q;
  logic [1:0][AddrW-1:0] row, row_q;
  logic [15:0] be;
  logic [15:0][7:0] spread;

  assign done = stage_q == (what_q == AccessAtomic ? 2'd3 : 2'd2);
  wire change = done && what_q != AccessLoad;

  for (genvar b = 0; b < 2; b++) begin : gen_bank
    (* ram_style = "ultra", no_rw_check *) logic [63:0] mem[Bytes/16];
    // Bank 0 of an access that begins in bank 1 is that of the next row.
    assign row[b] = at[$clog2(Bytes)-1:4] + AddrW'(b == 0 && at[3]);
    // The request's valid bit arrives late; the data read without a request is not used.
    wire [AddrW-1:0] here = stage_q == 2'd0 ? row[b] : row_q[b];
    wire [7:0] strobes = be[8*b+:8] & {8{change}};
    always @(posedge clk) begin
      for (int unsigned i = 0; i < 8; i++) if (strobes[i]) mem[here][i*8+:8] <= spread[8*b+i];
      if (strobes == '0) read_q[b] <= mem[here];
    end
    always_ff @(posedge clk) begin
      out_q[b] <= read_q[b];
      if (ask) row_q[b] <= row[b];
    end
  end

  always_ff @(posedge clk) begin
    stage_q <= ask ? 2'd1 : stage_q == 2'd0 || done ? 2'd0 : stage_q + 1'b1;
    if (ask) begin
      what_q <= what;
      at_q <= at[3:0];
      count_q <= count;
      atomic_q <= atomic;
      value_q <= value;
      expected_q <= expected;
    end
    if (rst) stage_q <= 2'd0;
  end

  // ---- cycle 2, and of an atomic operation 3
  logic [15:0][7:0] circle;
  logic [7:0][7:0] found, changed;
  word_t old, mask_q, wanted_q;
  logic swaps;
  assign circle = out_q;

  // In cycle 1
  wire word_t mask = count_q[3] ? '1 : ~(64'hFFFFFFFFFFFFFFFF << {count_q[2:0], 3'd0});
  always_ff @(posedge clk) begin
    mask_q <= mask;
    wanted_q <= expected_q & mask;
    old_q <= old;
  end

  always_comb begin
    for (int unsigned i = 0; i < 8; i++) found[i] = circle[4'(i)+at_q];
    old = word_t'(found) & mask_q;
    swaps = old_q == wanted_q;
    changed = value_q;
    if (what_q == AccessAtomic) begin
      unique case (32'(atomic_q))
        ATOMIC_ADD: changed = old_q + value_q;
        ATOMIC_OR: changed = old_q | value_q;
        ATOMIC_AND: changed = old_q & value_q;
        ATOMIC_XOR: changed = old_q ^ value_q;
        ATOMIC_CMPXCHG: changed = swaps ? value_q : old_q;
        default: changed = value_q;
      endcase
    end
    for (int unsigned i = 0; i < 16; i++) begin
      spread[i] = changed[3'(4'(i)-at_q)];
      be[i] = 4'(4'(i) - at_q) < count_q;
    end
  end

  assign old_value = old;

`ifndef SYNTHESIS
  always_ff @(posedge clk) if (!rst) assert (!ask || stage_q == 2'd0) else $error("%m: asked again too early");
`endif
endmodule

`default_nettype wire
