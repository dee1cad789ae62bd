// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Cuts a transfer of whole beats into AXI bursts that stay within a page of 4 KiB, one burst a cycle.
//
//   start ─> what is left ─> address register ─> AW or AR        2 cycles
module axi_bursts (
    input wire logic clk,
    input wire logic rst,

    input  wire logic        start,  // only while `ready`
    output logic             ready,
    input  wire logic [63:6] start_addr,
    input  wire logic [8:0]  start_beats,  // 1..257

    input  wire logic  go,    // a burst may be made
    output logic       made,  // one is made in this cycle,
    output logic       final_burst,  // the last of its transfer

    output logic        valid,
    input  wire logic   accept,
    output logic [63:0] addr,
    output logic [7:0]  len
);
  logic [63:6] addr_q;
  logic [8:0] left_q;
  logic busy_q;

  wire [6:0] in_page = 7'd64 - {1'b0, addr_q[11:6]};  // beats up to the end of the page
  wire [6:0] beats = final_burst ? left_q[6:0] : in_page;

  assign final_burst = left_q <= {2'b0, in_page};
  assign made = busy_q && go && (!valid || accept);
  assign ready = !busy_q;

  always_ff @(posedge clk) begin
    if (start) busy_q <= 1'b1;
    else if (made && final_burst) busy_q <= 1'b0;
    if (made) valid <= 1'b1;
    else if (accept) valid <= 1'b0;
    if (rst) begin
      busy_q <= 1'b0;
      valid  <= 1'b0;
    end
  end

  always_ff @(posedge clk) begin
    if (start) begin
      addr_q <= start_addr;
      left_q <= start_beats;
    end else if (made) begin
      addr_q <= {addr_q[63:12] + 52'd1, 6'd0};
      left_q <= left_q - {2'b0, beats};
    end
    if (made) begin
      addr <= {addr_q, 6'd0};
      len  <= {1'b0, beats - 7'd1};
    end
  end
endmodule

`default_nettype wire
