// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The 32 buffers of a unit, 4 KiB each: rows of 64 bytes in block RAM, in groups of 8 bytes with an address each. Both
// ports therefore reach 57 bytes from any byte on, and 64 from a multiple of 8. The core reads on port A; port B serves
// its stores, frames that arrive and frames that leave, one of them a cycle.
//
//   EXEC address     MEM memory -> output register     TURN groups
module xdp_packet_memory
  import xdp_pkg::*;
(
    input wire logic clk,

    // Port A: a window
    input  wire buffer_t a_buffer,
    input  wire offset_t  a_place,
    output window_t      a_window,

    // Port B: a window, read where no byte is written
    input  wire buffer_t               b_buffer,
    input  wire offset_t                b_place,
    input  wire logic [Window-1:0]     b_be,     // by place in the row
    input  wire logic [Window-1:0][7:0] b_data,
    output window_t                    b_window
);
  localparam int unsigned MemRows = Buffers * BufferBytes / Window;

  // Whether group g of a window that begins in group `first` is in the next row.
  function automatic logic behind(logic [2:0] first, int unsigned g);
    return g < 32'(first);
  endfunction

  for (genvar g = 0; g < Groups; g++) begin : gen_group
    /* verilator lint_off MULTIDRIVEN */
    (* ram_style = "block", no_rw_check *) logic [63:0] mem[MemRows];
    /* verilator lint_on MULTIDRIVEN */

    wire [$clog2(MemRows)-1:0] a_row = {a_buffer, a_place[11:6] + 6'(behind(a_place[5:3], g))};
    wire [$clog2(MemRows)-1:0] b_row = {b_buffer, b_place[11:6] + 6'(behind(b_place[5:3], g))};
    logic [63:0] a_q, b_q;

    always @(posedge clk) a_q <= mem[a_row];

    always @(posedge clk) begin
      for (int unsigned b = 0; b < 8; b++) if (b_be[g*8+b]) mem[b_row][b*8+:8] <= b_data[g*8+b];
      if (b_be[g*8+:8] == '0) b_q <= mem[b_row];
    end

    always_ff @(posedge clk) begin
      a_window[g] <= a_q;
      b_window[g] <= b_q;
    end
  end
endmodule

`default_nettype wire
