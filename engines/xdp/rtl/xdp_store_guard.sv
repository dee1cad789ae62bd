// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Stores to the packet: the stores of a row become one, without bytes outside of metadata and packet. The compiler has
// proven that there is no such store; this guard ensures that a program which the compiler got wrong damages its own
// frame only.
//
//   MEM  ends of each store      TURN  compared with the packet's ends      WRITE  the store
module xdp_store_guard
  import xdp_pkg::*;
#(
    parameter int unsigned StoreLanes = 2
) (
    input wire logic clk,
    input wire logic rst,

    // MEM
    input wire offset_t    mem_place,               // of the window
    input wire logic [5:0] mem_first[StoreLanes],   // byte of it
    input wire logic [3:0] mem_count[StoreLanes],

    // TURN
    input wire buffer_t           turn_buffer,
    input wire offset_t           turn_place,
    input wire extent_t           turn_extent,
    // by place in the memory's row; none: the lane does not store
    input wire logic [Window-1:0] turn_be[StoreLanes],
    input wire logic [7:0][7:0]   turn_bytes[StoreLanes],  // of each group of 8 bytes

    // WRITE
    output logic                   store,
    output buffer_t                store_buffer,
    output offset_t                store_place,
    output logic [Window-1:0]      store_be,
    output logic [Window-1:0][7:0] store_data,
    output logic                   stray        // a store was left out, for one cycle
);
  offset_t first_q[StoreLanes];
  logic [StoreLanes-1:0] stores, fits;
  for (genvar l = 0; l < StoreLanes; l++) begin : gen_lane
    // `first` counts modulo the buffer, and later bytes count from there.
    wire [12:0] first = 13'(mem_place) + 13'(mem_first[l]);
    wire [12:0] behind = 13'(mem_place) + 13'(7'(mem_first[l]) + 7'(mem_count[l]));
    logic [12:0] behind_q;
    always_ff @(posedge clk) begin
      first_q[l] <= first[11:0];
      behind_q <= {behind[12] ^ first[12], behind[11:0]};
    end
    assign stores[l] = turn_be[l] != '0;
    assign fits[l] = first_q[l] >= turn_extent.meta && behind_q <= {1'b0, turn_extent.finish};
  end

  logic [Window-1:0] be;
  logic [Window-1:0][7:0] data;
  always_comb begin
    be = '0;
    data = '0;
    for (int unsigned l = 0; l < StoreLanes; l++) begin
      for (int unsigned b = 0; b < Window; b++) begin
        be[b] |= turn_be[l][b] && fits[l];
        if (turn_be[l][b]) data[b] |= turn_bytes[l][b%8];
      end
    end
  end

  always_ff @(posedge clk) begin
    store_buffer <= turn_buffer;
    store_place <= turn_place;
    store_be <= be;
    store_data <= data;
    store <= (stores & fits) != '0;
    stray <= (stores & ~fits) != '0;
    if (rst) {store, stray} <= '0;
  end

`ifndef SYNTHESIS
  extent_t extent_q;
  always_ff @(posedge clk) extent_q <= turn_extent;
  for (genvar b = 0; b < Window; b++) begin : gen_check
    wire offset_t at = store_place + offset_t'(6'(6'(b) - store_place[5:0]));
    always_ff @(posedge clk)
      if (!rst && store && store_be[b])
        assert (at >= extent_q.meta && at < extent_q.finish) else $error("%m: a store outside of the packet");
  end
`endif
endmodule

`default_nettype wire
