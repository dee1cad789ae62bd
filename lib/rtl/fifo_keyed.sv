// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A queue in distributed RAM whose words have a small key, on which its user decides, and a wide body.
//
//   push ─┬─> RAM of keys ──> key register ─> valid, key ─> decision ─> pop
//         └─> RAM of bodies ────────────────────────────────────────> body register
//           1                2                                         3 cycles
//
// The body of a word stands in `body` in the cycle after its key was popped. So `pop` moves the key and a pointer only
// and may come late in its cycle, however wide the body is. One word a cycle. `ready` and `level` as in fifo_dist.
module fifo_keyed #(
    parameter int unsigned KeyW  = 4,
    parameter int unsigned BodyW = 8,
    parameter int unsigned Depth = 32,  // a power of two
    parameter int unsigned Room  = 1
) (
    input wire logic clk,
    input wire logic rst,

    input  wire logic             push,
    input  wire logic [ KeyW-1:0] key_in,
    input  wire logic [BodyW-1:0] body_in,
    output logic                  ready,

    output logic                  valid,
    output logic      [ KeyW-1:0] key,
    input  wire logic             pop,   // only while valid
    output logic      [BodyW-1:0] body,

    output logic [$clog2(Depth):0] level
);
  localparam int unsigned AddrW = $clog2(Depth);

  fifo_dist #(
      .Width(KeyW),
      .Depth(Depth),
      // One more: the body of the word in the key register is in its RAM still.
      .Room (Room + 1)
  ) i_keys (
      .clk,
      .rst,
      .push,
      .din (key_in),
      .ready,
      .valid,
      .pop,
      .dout(key),
      .level
  );

  (* ram_style = "distributed" *) logic [BodyW-1:0] mem[Depth];
  logic [AddrW-1:0] wr_q, rd_q;
  always_ff @(posedge clk) begin
    if (push) mem[wr_q] <= body_in;
    body <= mem[rd_q];
    if (push) wr_q <= wr_q + 1'b1;
    if (pop) rd_q <= rd_q + 1'b1;
    if (rst) begin
      wr_q <= '0;
      rd_q <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) if (!rst) assert (!pop || valid) else $error("%m: pop from an empty queue");
`endif
endmodule

`default_nettype wire
