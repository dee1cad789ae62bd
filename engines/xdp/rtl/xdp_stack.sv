// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The stacks of all contexts: 512 bytes each in block RAM, in groups of 8 bytes. A window is 64 bytes from any group
// on. Bytes not written since `clear` or `forget` read as zero: each group has a bit for that.
//
//   EXEC  rows of the groups     MEM  memory -> output register     TURN  window, zeros put in; a store's strobes and
//   bytes
module xdp_stack
  import xdp_pkg::*;
(
    input wire logic clk,

    input wire logic clear,      // a context begins
    input wire ctx_t clear_ctx,
    input wire logic forget,     // in TURN: the context there begins another program

    // EXEC
    input wire ctx_t       ctx,
    input wire logic [5:0] word,  // the window's first group

    output window_t window,       // in TURN

    input wire logic [Window-1:0]      be,    // in TURN: a store of the same row, by place in the memory's row
    input wire logic [Window-1:0][7:0] data
);
  localparam int unsigned StackRows = StackBytes / Window;
  typedef logic [StackRows-1:0][Groups-1:0] written_t;

  // Row of group g of a window that begins in group `first`
  function automatic logic [2:0] row_of(logic [5:0] first, int unsigned g);
    return first[5:3] + 3'(g < 32'(first[2:0]));
  endfunction

  ctx_t mem_ctx_q, turn_ctx_q;
  logic [5:0] mem_word_q;

  always_ff @(posedge clk) begin
    mem_ctx_q <= ctx;
    mem_word_q <= word;
    turn_ctx_q <= mem_ctx_q;
  end

  // ---- what was written
  (* ram_style = "distributed" *) written_t written[Contexts];
  logic [Contexts-1:0] fresh_q;  // of the context nothing
  written_t groups, groups_q, stored;
  logic [2:0] turn_row_q[Groups];
  logic [Groups-1:0] known_q, store;
  assign groups = fresh_q[mem_ctx_q] ? '0 : written[mem_ctx_q];

  always_ff @(posedge clk) begin
    groups_q <= groups;
    for (int unsigned g = 0; g < Groups; g++) begin
      turn_row_q[g] <= row_of(mem_word_q, g);
      known_q[g] <= groups[row_of(mem_word_q, g)][g];
    end
    if (store != '0) begin
      written[turn_ctx_q] <= groups_q | stored;
      fresh_q[turn_ctx_q] <= 1'b0;
    end
    if (forget) fresh_q[turn_ctx_q] <= 1'b1;
    if (clear) fresh_q[clear_ctx] <= 1'b1;
  end

  // ---- memory
  always_comb begin
    stored = '0;
    for (int unsigned g = 0; g < Groups; g++) stored[turn_row_q[g]][g] = store[g];
  end

  for (genvar g = 0; g < Groups; g++) begin : gen_group
    (* ram_style = "block", no_rw_check *) logic [63:0] mem[Contexts*StackRows];
    logic [63:0] mem_q, read_q;
    logic [7:0] strobes;

    // A group that is stored to for the first time gets zeros in its other bytes.
    assign store[g] = be[g*8+:8] != 0;
    assign strobes = be[g*8+:8] | {8{store[g] && !known_q[g]}};

    always_ff @(posedge clk) begin
      mem_q <= mem[{ctx, row_of(word, g)}];
      for (int unsigned b = 0; b < 8; b++)
        if (strobes[b]) mem[{turn_ctx_q, turn_row_q[g]}][b*8+:8] <= be[g*8+b] ? data[g*8+b] : 8'd0;
    end
    always_ff @(posedge clk) read_q <= mem_q;

    assign window[g] = known_q[g] ? read_q : '0;
  end
endmodule

`default_nettype wire
