// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A queue in block RAM with a registered output.
//
//   push ─┬─> RAM (Depth words) ─> RAM output ─> output register ─> pop
//         └────────── with Bypass: if it is empty ────^
//
// Latency 3 cycles, of an empty one with Bypass 1 cycle; one word a cycle. The writer keeps it from overflowing.
module fifo_block #(
    parameter int unsigned Width  = 8,
    parameter int unsigned Depth  = 512,  // a power of two
    parameter bit          Bypass = 1'b0
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic             push,
    input wire logic [Width-1:0] din,

    output logic             valid,
    input  wire logic        pop,    // ignored while !valid
    output logic [Width-1:0] dout
);
  localparam int unsigned AddrW = $clog2(Depth);

  logic [AddrW:0] wr_q, rd_q;
  logic mem_valid_q, valid_q, some, read, load, passes;
  logic [Width-1:0] mem_data, dout_q;

  assign some = wr_q != rd_q;
  assign load = mem_valid_q && (!valid_q || pop);
  assign read = some && (!mem_valid_q || load);
  assign passes = Bypass && push && !some && !mem_valid_q && (!valid_q || pop);

  ram_sdp #(
      .Width(Width),
      .Depth(Depth)
  ) i_ram (
      .clk,
      .we(push && !passes),
      .waddr(wr_q[AddrW-1:0]),
      .wdata(din),
      .re(read),
      .raddr(rd_q[AddrW-1:0]),
      .rdata(mem_data)
  );

  always_ff @(posedge clk) begin
    if (load || passes) dout_q <= passes ? din : mem_data;
    if (push && !passes) wr_q <= wr_q + 1'b1;
    if (read) rd_q <= rd_q + 1'b1;
    mem_valid_q <= read || (mem_valid_q && !load);
    valid_q     <= load || passes || (valid_q && !pop);
    if (rst) begin
      wr_q        <= '0;
      rd_q        <= '0;
      mem_valid_q <= 1'b0;
      valid_q     <= 1'b0;
    end
  end

  assign valid = valid_q;
  assign dout  = dout_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) assert (!push || (AddrW + 1)'(wr_q - rd_q) < (AddrW + 1)'(Depth))
      else $error("%m: push into a full queue");
`endif
endmodule

`default_nettype wire
