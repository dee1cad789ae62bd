// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The stacks of all contexts: 512 bytes each in distributed memory, in groups of 8 bytes. A window is 64 bytes from any group on.
// What was not written since `clear` or `forget` reads as zero: a bit for each group says whether it was.
//
//   EXEC  word     MEM  rows of the groups; memory -> register     TURN  window, zeros put in; a store's strobes and bytes
module stack
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

  ctx_t mem_ctx_q, turn_ctx_q;
  logic [5:0] mem_word_q;

  always_ff @(posedge clk) begin
    mem_ctx_q <= ctx;
    mem_word_q <= word;
    turn_ctx_q <= mem_ctx_q;
  end

  window_t read_q;
  logic [Groups-1:0] known_q, store;

  for (genvar g = 0; g < Groups; g++) begin : gen_group
    (* ram_style = "distributed" *) logic [7:0][7:0] mem[Contexts*StackRows];
    logic [Contexts-1:0][StackRows-1:0] written_q;
    wire [2:0] row = mem_word_q[5:3] + 3'(4'(g) < {1'b0, mem_word_q[2:0]});
    logic [2:0] row_q;
    logic [7:0] strobes;

    // A group that is stored to for the first time gets zeros in its other bytes.
    assign store[g] = be[g*8+:8] != 0;
    assign strobes = be[g*8+:8] | {8{store[g] && !known_q[g]}};

    always_ff @(posedge clk) begin
      row_q <= row;
      read_q[g] <= mem[{mem_ctx_q, row}];
      known_q[g] <= written_q[mem_ctx_q][row];
      for (int unsigned b = 0; b < 8; b++)
        if (strobes[b]) mem[{turn_ctx_q, row_q}][b] <= be[g*8+b] ? data[g*8+b] : 8'd0;
      if (store[g]) written_q[turn_ctx_q][row_q] <= 1'b1;
      if (forget) written_q[turn_ctx_q] <= '0;
      if (clear) written_q[clear_ctx] <= '0;
    end

    assign window[g] = known_q[g] ? read_q[g] : '0;
  end
endmodule

`default_nettype wire
