// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A queue in distributed RAM with a registered output.
//
//   push ─> RAM (Depth words) ─> output register ─> pop
//
// Latency 2 cycles, one word a cycle. `ready` is registered and means that at least `Room` words are free: a writer with
// Room - 1 registers between `ready` and `push` need not look again (the room contract in penstock_pkg.sv).
module fifo_dist #(
    parameter int unsigned Width = 8,
    parameter int unsigned Depth = 32,  // a power of two
    parameter int unsigned Room  = 1
) (
    input wire logic clk,
    input wire logic rst,

    input  wire logic             push,
    input  wire logic [Width-1:0] din,
    output logic                  ready,

    output logic                  valid,
    input  wire logic             pop,    // ignored while !valid
    output logic      [Width-1:0] dout,

    output logic [$clog2(Depth):0] level  // words in the RAM; the output register is not among them
);
  localparam int unsigned AddrW = $clog2(Depth);

  (* ram_style = "distributed" *) logic [Width-1:0] mem[Depth];

  // `pop` may arrive late in its cycle: it moves the read pointer and the output register, and no sum follows it.
  logic [AddrW:0] wr_q, rd_q, level_now;
  logic ready_q, valid_q, load;
  logic [Width-1:0] dout_q;

  assign level_now = wr_q - rd_q;
  assign load = wr_q != rd_q && (!valid_q || pop);

  always_ff @(posedge clk) begin
    if (push) mem[wr_q[AddrW-1:0]] <= din;
    if (load) dout_q <= mem[rd_q[AddrW-1:0]];
  end

  always_ff @(posedge clk) begin
    if (push) wr_q <= wr_q + 1'b1;
    if (load) rd_q <= rd_q + 1'b1;
    ready_q <= level_now + (AddrW + 1)'(push) <= (AddrW + 1)'(Depth - Room);
    valid_q <= load || (valid_q && !pop);
    if (rst) begin
      wr_q    <= '0;
      rd_q    <= '0;
      ready_q <= 1'b0;
      valid_q <= 1'b0;
    end
  end

  assign ready = ready_q;
  assign valid = valid_q;
  assign dout  = dout_q;
  assign level = level_now;

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) assert (!push || level_now < (AddrW + 1)'(Depth) || load) else $error("%m: push into a full queue");
`endif
endmodule

`default_nettype wire
